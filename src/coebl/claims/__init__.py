"""Claims of a paper, held against results: reading, checking, judging and reporting are the same for any paper."""

"""Claims of a paper, held against results: what is read, checked, judged and told is the same for any paper."""

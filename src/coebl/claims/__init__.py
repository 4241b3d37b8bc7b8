"""Claims of a paper, held against results."""

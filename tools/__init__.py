"""Scripts that regenerate this repository's documents from results/: run from the root, python -m tools.NAME."""

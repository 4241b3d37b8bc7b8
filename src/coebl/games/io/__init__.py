"""Games in files, and in other libraries."""

"""Studies: many matches over many seeds, described by one file, stored cell by cell, run here or on a cluster."""

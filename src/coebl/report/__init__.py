"""The page of a study, from its results and the verdicts on them."""

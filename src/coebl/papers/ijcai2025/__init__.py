"""The paper: its experiments as a study, its figures, and a verdict on each of its claims."""

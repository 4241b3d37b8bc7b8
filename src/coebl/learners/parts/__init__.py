"""Parts that several learners share: beliefs about the payoffs, and responses."""

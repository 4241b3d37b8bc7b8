"""What several learners are made of: beliefs about the payoffs, bonuses, responses, projections onto the simplex."""

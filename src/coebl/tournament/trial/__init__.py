"""The test of one learner, the subject, by the statements of a suite: judged, reported, written and drawn."""

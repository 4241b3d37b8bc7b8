"""The test of one learner, the subject, by the statements of a suite: judged, told, written, drawn, published."""

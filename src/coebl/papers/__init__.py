"""Papers, reproduced."""

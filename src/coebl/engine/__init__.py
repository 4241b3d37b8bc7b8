"""The engine: streams of random numbers, the loop over rounds, what a run leaves behind."""

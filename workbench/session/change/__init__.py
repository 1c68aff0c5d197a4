"""Tries changes of the catalogue: by replay, and by a new run on the simulated card."""

"""Changes of the catalogue tried: by replay, and again on the simulated card."""

"""The window's frame: what stands around every mode."""

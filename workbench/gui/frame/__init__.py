"""The window's frame: what is around every mode."""

"""The window's frame: the parts around every mode."""

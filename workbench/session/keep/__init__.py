"""Existing runs: finished, opened, compared, exchanged, and predictions kept with them."""

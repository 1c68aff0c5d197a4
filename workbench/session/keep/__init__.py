"""Runs that are there: ended, opened, compared, exchanged, predictions kept beside them."""

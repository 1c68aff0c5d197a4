"""Runs asked in a language of their own."""

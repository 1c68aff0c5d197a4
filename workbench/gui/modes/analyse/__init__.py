"""Analyse mode: blocks, findings and what to do about them."""

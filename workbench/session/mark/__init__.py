"""Pragmas in sources: proposed, checked, written and removed again."""

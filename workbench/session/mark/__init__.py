"""Marks in sources: proposed, checked, written and taken out again."""

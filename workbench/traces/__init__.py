"""Traces: every block's states over time, and what is found quickly in them. No Qt."""

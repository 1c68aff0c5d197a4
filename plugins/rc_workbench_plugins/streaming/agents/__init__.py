"""Agents: what counts a query's measures while the application runs (Lancaster 2011, chapter 4)."""

"""Begins projects and platform templates from sources and headers."""

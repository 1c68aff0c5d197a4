"""Measures transfer tables with a generated project that makes only transfers."""

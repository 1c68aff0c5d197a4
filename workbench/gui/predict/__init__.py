"""Predict mode: RATSS and density models edited, drawn, swept and held against measurements."""

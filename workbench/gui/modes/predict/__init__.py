"""Predict mode: models edited, drawn, swept and held against measurements."""

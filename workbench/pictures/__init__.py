"""Pictures without a window: palettes, layouts and descriptions, and their SVG."""

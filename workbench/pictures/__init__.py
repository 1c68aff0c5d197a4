"""What the program draws, without a window: palettes, layouts and descriptions, and the SVG they become."""

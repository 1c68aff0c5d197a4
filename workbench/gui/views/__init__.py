"""Views that draw: the canvas, plots and pages."""

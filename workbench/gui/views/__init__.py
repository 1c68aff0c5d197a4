"""What draws: the canvas, plots, pages."""

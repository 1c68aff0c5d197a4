"""Documents being edited, with their undo and what is unsaved."""

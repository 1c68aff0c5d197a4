"""Documents in the editor, with undo and unsaved changes."""

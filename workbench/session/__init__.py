"""An open project: what the window and the command line both do."""

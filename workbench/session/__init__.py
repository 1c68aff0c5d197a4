"""An open project: the functions that the window and the command line share."""

"""The command line: thin commands over `workbench.session`."""

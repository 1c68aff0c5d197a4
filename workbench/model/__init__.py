"""Plain, frozen data. Nothing here reads a file, starts a process or knows of a window."""

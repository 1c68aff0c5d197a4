"""The program itself: settings, keys, plugins, log, files."""

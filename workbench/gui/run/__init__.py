"""Jobs and runs: in threads of their own, with progress, log and cancel."""

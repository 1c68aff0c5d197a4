"""Whether an instrumented design behaves as the original: proved module by module, or simulated side by side."""

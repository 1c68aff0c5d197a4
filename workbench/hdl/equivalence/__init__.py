"""Checks that an instrumented design behaves as the original: by proof of each module, or by simulation."""

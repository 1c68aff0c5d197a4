"""From an open project to runs: instrumented, built, run, proved, studied."""

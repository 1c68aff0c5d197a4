"""Timeline mode: a traced run against time."""

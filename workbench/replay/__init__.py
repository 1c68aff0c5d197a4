"""Replays a traced run as a graph of who waits for whom, and predicts what changes of the catalogue would gain."""

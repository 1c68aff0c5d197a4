"""Replays a traced run as a graph of waits between host and FPGA, and predicts the gain of changes of the catalogue."""

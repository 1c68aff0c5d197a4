"""RC Workbench: where an FPGA application spends its time, and what a fix would gain."""

__version__ = "0.3.0"

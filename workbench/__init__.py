"""RC Workbench: where an FPGA application's time goes, and what mending it would gain."""

__version__ = "0.1.0"

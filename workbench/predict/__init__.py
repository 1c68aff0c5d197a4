"""Models that need no run: multi-FPGA prediction (RATSS 2011) and computational density (Steffen 2007)."""

"""Designs in VHDL and Verilog: each half is read in its language, and what is here joins the two."""

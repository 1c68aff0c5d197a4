"""Designs in Verilog and SystemVerilog, as slang reads them: the user's own, and what is simulated of any language."""

"""VHDL: read with tree-sitter, elaborated and synthesised by GHDL, instrumented as text."""

"""Nothing: designs in both languages are read by `vhdl`. An installation of before may still name this plugin."""

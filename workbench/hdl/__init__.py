"""What all hardware languages share: instances, layout, monitors, streams, and the Verilog that is simulated."""

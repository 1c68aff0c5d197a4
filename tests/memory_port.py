"""The port that the Verilog of these tests has: memory style, one cycle from a read's request to its data."""

from workbench.model.platform import HardwarePort, Platform, PortDirection

PORT = HardwarePort(
    address_bits=16,
    incoming=PortDirection(data_signal="wr_data", address_signal="addr", condition_hdl="wr_en"),
    outgoing=PortDirection(data_signal="rd_data", address_signal="addr", condition_hdl="rd_en", delay_cycles=1),
    clock="clk",
    clock_hz=100e6,
    reset="rst",
)
PLATFORM = Platform(schema_version=1, name="test", hardware=PORT)

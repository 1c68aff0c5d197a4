"""The port that the Verilog of these tests has: memory style, one cycle from a read's request to its data."""

from rc_workbench_plugins.ports.memory import MemoryPort

from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform

CLOCK = Clock(name="clk", frequency_hz=100e6, reset="rst")
PORT = MemoryPort(
    address_bits=16,
    incoming=PortDirection(data_signal="wr_data", address_signal="addr", condition_hdl="wr_en"),
    outgoing=PortDirection(data_signal="rd_data", address_signal="addr", condition_hdl="rd_en", delay_cycles=1),
    write_enable="wr_en",
    read_enable="rd_en",
)
HARDWARE = Hardware(clocks=(CLOCK,), ports=(PORT,))
PLATFORM = Platform(schema_version=2, name="test", hardware=HARDWARE)

"""What the simulated card asks of a platform's port, before anything is built."""

from __future__ import annotations

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import Platform, PortStyle


def check_port(platform: Platform) -> None:
    """Raise WorkbenchError for a port that the card cannot stand behind, or a table that is faster than the port."""
    port = platform.hardware
    assert port is not None
    problems = []
    if port.style is not PortStyle.MEMORY:
        problems.append(Diagnostic("only memory-style ports can be simulated so far", "Set hardware.style to memory."))
    if port.word_bits not in (8, 16, 32, 64):
        problems.append(Diagnostic(f"a port of {port.word_bits} bits cannot be simulated", "Use 8, 16, 32 or 64."))
    word_bytes, unit = port.word_bits // 8, port.address_unit_bytes
    if word_bytes % unit:
        problems.append(Diagnostic(f"words of {word_bytes} bytes do not start at whole addresses of {unit} bytes"))
    cycle_s = 1 / port.clock_hz
    for name, table in platform.transfer_tables.items():
        for point in table.points:
            words = max(1, point.bytes * 8 // port.word_bits)
            cycles = point.time_s / cycle_s - max(0, port.outgoing.delay_cycles - 1)
            if cycles < words * (1 - 1e-9):
                problems.append(
                    Diagnostic(
                        f"transfer table {name}: {point.bytes} bytes in {point.time_s:g} s is more than one "
                        f"{port.word_bits}-bit word a cycle at {port.clock_hz / 1e6:g} MHz",
                        f"The port moves them in {words * cycle_s:g} s at best.",
                    )
                )
                break
    if problems:
        raise WorkbenchError(*problems)

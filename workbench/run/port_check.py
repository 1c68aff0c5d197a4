"""What the simulated card asks of a platform's ports, before anything is built."""

from __future__ import annotations

from workbench.api.ports import HardwarePort
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import Platform


def driven_port(platform: Platform) -> HardwarePort:
    """The port that the card stands behind. WorkbenchError where there is none, or no plugin brings its kind."""
    if platform.hardware is None:
        raise WorkbenchError(
            Diagnostic(f"platform {platform.name} describes no hardware port", "Without one nothing can be simulated.")
        )
    port = platform.hardware.ports[0]
    if not isinstance(port, HardwarePort):
        raise WorkbenchError(Diagnostic(f"no plugin brings ports of the kind '{port.kind}', as '{port.name}' is"))
    return port


def check_port(platform: Platform) -> None:
    """Raise WorkbenchError for a port that the card cannot stand behind, or a table that is faster than the port."""
    port = driven_port(platform)
    assert platform.hardware is not None
    problems = [Diagnostic(problem.message, problem.hint) for problem in port.undrivable()]
    clock_hz = platform.hardware.clock_of(port).frequency_hz
    cycle_s = 1 / clock_hz
    for name, table in platform.transfer_tables.items():
        for point in table.points:
            words = max(1, point.bytes * 8 // port.word_bits)
            cycles = point.time_s / cycle_s - port.lead_cycles(table.direction == "receive")
            if cycles < words * (1 - 1e-9):
                problems.append(
                    Diagnostic(
                        f"transfer table {name}: {point.bytes} bytes in {point.time_s:g} s is more than one "
                        f"{port.word_bits}-bit word a cycle at {clock_hz / 1e6:g} MHz",
                        f"The port moves them in {words * cycle_s:g} s at best.",
                    )
                )
                break
    if problems:
        raise WorkbenchError(*problems)

"""What the simulated card asks of a platform's ports, before anything is built."""

from collections.abc import Iterator

from workbench.api import Clock, Diagnostic, HardwarePort, HdlBuild, Platform, WorkbenchError, time_text
from workbench.api.unstable import TransferTable
from workbench.hdl.own_port import own_port


def driven_ports(platform: Platform) -> tuple[HardwarePort, ...]:
    """The ports that the card stands behind. WorkbenchError where there are none, or no plugin brings a kind."""
    if platform.hardware is None:
        raise WorkbenchError(
            Diagnostic(f"platform {platform.name} describes no hardware port", "Add one under hardware.ports.")
        )
    ports = platform.hardware.ports
    unknown = [port for port in ports if not isinstance(port, HardwarePort)]
    if unknown:
        raise WorkbenchError(
            *(Diagnostic(f"port '{port.name}' is of kind '{port.kind}', which no plugin provides") for port in unknown)
        )
    return tuple(port for port in ports if isinstance(port, HardwarePort))


def all_ports(platform: Platform, hdl: HdlBuild) -> tuple[HardwarePort, ...]:
    """The platform's ports, then the one that a design's monitors may have for themselves."""
    return (*driven_ports(platform), *([own_port(*hdl.simulation.own_port)[0]] if hdl.simulation.own_port[0] else []))


def all_clocks(platform: Platform, hdl: HdlBuild) -> tuple[Clock, ...]:
    """The clocks of a run: the platform's, then those of the designs' PLLs whose frequency is known."""
    return (
        *(platform.hardware.clocks if platform.hardware else ()),
        *{c.name: c for c in hdl.simulation.made.values()}.values(),
    )


def port_of(table: TransferTable, ports: tuple[HardwarePort, ...]) -> int:
    """Which of the ports a table's transfers go through: the first that takes any, where it names none."""
    for number, port in enumerate(ports):
        if port.name == table.port or (not table.port and port.takes_transfers):
            return number
    raise WorkbenchError(
        Diagnostic(f"transfers go through a port '{table.port}' that does not exist", f"Ports are: {_names(ports)}.")
    )


def _names(ports: tuple[HardwarePort, ...]) -> str:
    return ", ".join(port.name for port in ports)


def check_port(platform: Platform) -> None:
    """Raise WorkbenchError for a port that the card cannot stand behind, or a table that is faster than its port."""
    problems = [*_ports(platform), *_tables(platform)]
    if problems:
        raise WorkbenchError(*problems)


def _ports(platform: Platform) -> Iterator[Diagnostic]:
    ports = driven_ports(platform)
    for port in ports:
        yield from (Diagnostic(problem.message, problem.hint) for problem in port.undrivable())
        if port.served_by() and port.served_by() not in [other.name for other in ports]:
            message = f"port '{port.name}' accesses '{port.served_by()}', which does not exist"
            yield Diagnostic(message, f"Ports are: {_names(ports)}.")


def _tables(platform: Platform) -> Iterator[Diagnostic]:
    ports = driven_ports(platform)
    assert platform.hardware is not None
    for name, table in platform.transfer_tables.items():
        port = ports[port_of(table, ports)]
        clock_hz = platform.hardware.clock_of(port).frequency_hz
        cycle_s = 1 / clock_hz
        for point in table.points:
            words = max(1, point.bytes * 8 // port.word_bits)
            cycles = point.time_s / cycle_s - port.lead_cycles(table.direction == "receive")
            if cycles < words * (1 - 1e-9):
                yield Diagnostic(
                    f"transfer table {name}: {point.bytes} bytes in {time_text(point.time_s)} is more than one "
                    f"{port.word_bits}-bit word a cycle at {clock_hz / 1e6:g} MHz",
                    f"The port moves them in {time_text(words * cycle_s)} at best.",
                )
                break

"""Inputs of a design that nothing outside would drive: they are told before a run, which would take them for zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.api import PortKind
from workbench.api.instrument.port_finder import find_ports, template_entry
from workbench.api.ports import HardwarePort
from workbench.model.diagnostic import Diagnostic
from workbench.model.hardware import Hardware
from workbench.model.platform import Platform
from workbench.model.scan import HdlPort
from workbench.model.text import listed


def undriven_inputs(
    ports: Sequence[HdlPort], platform: Platform, kinds: Mapping[str, PortKind]
) -> tuple[Diagnostic, ...]:
    """An error for each interface, and each other input, that the design reads and the platform does not drive."""
    if platform.hardware is None:
        return ()
    driven = set(_driven(platform.hardware))
    left = [p for p in ports if p.direction == "input" and p.used and (p.port or p.name) not in driven]
    if not left:
        return ()
    names = {p.name for p in left}
    found: list[Diagnostic] = []
    for port in find_ports(ports, kinds.values()).ports:
        if mine := [p for p in left if p.name in port.names and p.name in names]:
            names -= port.names
            shown = f"{port.title} {port.side}{f' {port.name}' if port.name else ''}"
            message = f"nothing drives the {shown}: {listed([p.name for p in mine])}"
            entry = template_entry(port, kinds)
            hint = f"Describe it among the ports of the platform's hardware{f': {entry}' if entry else ''}."
            found.append(Diagnostic(message, hint, file=mine[0].file, line=mine[0].line))
    for whole in dict.fromkeys(p.port or p.name for p in left if p.name in names):
        place = next(p for p in left if whole in (p.port, p.name))
        hint = "Name it in a port of the platform's hardware, or put a module around the top that gives it its value."
        found.append(Diagnostic(f"nothing drives the input '{whole}'", hint, file=place.file, line=place.line))
    return tuple(found)


def _driven(hardware: Hardware) -> Iterator[str]:
    for clock in hardware.clocks:
        yield clock.pin
        yield clock.reset
    for port in hardware.ports:
        if isinstance(port, HardwarePort):
            yield from (signal.name for signal in port.signals().values())

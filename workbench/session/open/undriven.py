"""Inputs of a design that nothing drives, reported before a run, which would use zero for them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from workbench.api import PortKind
from workbench.api.instrument.port_finder import find_ports, template_entry
from workbench.api.instrument.wrapper import lacking_ports, wrong_widths
from workbench.api.ports import HardwarePort
from workbench.model.diagnostic import Diagnostic, near
from workbench.model.hardware import Hardware
from workbench.model.platform import Platform
from workbench.model.scan import HdlPort
from workbench.model.text import counted, listed

_MOST_BITS = 64  # of a constant


def undriven_inputs(
    top: str, ports: Sequence[HdlPort], platform: Platform, kinds: Mapping[str, PortKind], constants: Collection[str]
) -> tuple[Diagnostic, ...]:
    """An error for each interface, and one for all other inputs, that the design reads and neither the platform nor the
    project's `constants` drive, and for each port of a wrong width; if the `top` does not fit the platform, an error
    for that instead."""
    if platform.hardware is None or not ports:
        return ()
    if lacking := lacking_ports(top, [p.port or p.name for p in ports], platform.hardware):
        return (replace(lacking, file=ports[0].file, line=ports[0].line),)
    driven = {*_driven(platform.hardware), *constants}
    undriven = [p for p in ports if p.direction == "input" and p.used and (p.port or p.name) not in driven]
    problems = list(wrong_widths(ports, platform.hardware))
    if not undriven:
        return tuple(problems)
    names = {p.name for p in undriven}
    at_top = find_ports(ports, kinds.values())
    for clock in [p for p in undriven if p.name in at_top.clocks]:
        names.discard(clock.name)
        problems.append(undriven_clock(clock))
    for port in at_top.ports:
        if mine := [p for p in undriven if p.name in port.names and p.name in names]:
            names -= port.names
            input_names = f"{port.title} {port.side}{f' {port.name}' if port.name else ''}"
            message = f"nothing drives the {input_names}: {listed([p.name for p in mine])}"
            entry = template_entry(port, kinds, ports)
            hint = f"Describe it among the ports of the platform's hardware{f': {entry}' if entry else ''}."
            problems.append(Diagnostic(message, hint, file=mine[0].file, line=mine[0].line))
    if wholes := list(dict.fromkeys(p.port or p.name for p in undriven if p.name in names)):
        place = next(p for p in undriven if wholes[0] in (p.port, p.name))
        input_names = ", ".join(f"'{whole}'" for whole in wholes)
        message = f"nothing drives the input{'s' if len(wholes) > 1 else ''} {input_names}"
        whose, them = ("their values", "them") if len(wholes) > 1 else ("its value", "it")
        hint = (
            f"Set {whose} under hardware in the project: constants: {{{', '.join(f'{one}: 0' for one in wholes)}}}. Or "
            f"name {them} in a port of the platform's hardware."
        )
        problems.append(Diagnostic(message, hint, file=place.file, line=place.line))
    return tuple(problems)


def undriven_clock(clock: HdlPort) -> Diagnostic:
    """The error for a clock of the top that the platform does not provide."""
    hint = (
        "Add it to the clocks of the platform's hardware, with its frequency and reset: "
        f"{{name: {clock.name}, frequency_hz: 100 MHz}}."
    )
    return Diagnostic(f"nothing drives the clock '{clock.name}'", hint, file=clock.file, line=clock.line)


def wrong_constants(
    ports: Sequence[HdlPort], platform: Platform, constants: Mapping[str, int]
) -> Iterator[tuple[str, Diagnostic]]:
    """The invalid constants, each with its error."""
    bits: dict[str, int] = {}
    for port in ports:
        if port.direction == "input":
            input_name = port.port or port.name
            bits[input_name] = max(bits.get(input_name, 0), port.lsb + port.bits)
    driven = set(_driven(platform.hardware)) if platform.hardware else set()
    for name, value in constants.items():
        if name not in bits:
            yield name, Diagnostic(f"the top module has no input '{name}'", near(name, bits, "Its inputs are"))
        elif name in driven:
            yield name, Diagnostic(f"the platform drives '{name}'", "Remove it from constants.")
        elif bits[name] > _MOST_BITS:
            hint = "Write a module around the top that drives it."
            yield (
                name,
                Diagnostic(f"'{name}' has {counted(bits[name], 'bit')}; a constant has at most {_MOST_BITS}", hint),
            )
        elif value >> bits[name]:
            largest = (1 << bits[name]) - 1
            message = f"{value} does not fit into the {counted(bits[name], 'bit')} of '{name}'"
            yield name, Diagnostic(message, f"The largest value there is {largest}.")


def _driven(hardware: Hardware) -> Iterator[str]:
    for clock in hardware.clocks:
        yield clock.pin
        yield clock.reset
    for port in hardware.ports:
        if isinstance(port, HardwarePort):
            yield from (signal.name for signal in port.signals().values())

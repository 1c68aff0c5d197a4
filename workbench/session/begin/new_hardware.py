"""Adds the board's hardware to a new platform template: clock, ports and transfer times, from the names in the folder's
design, and a list of what is missing.

Nothing in a header or a design says how long a transfer lasts, or how fast the clock is: those figures are assumed,
and marked so.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.api import PortKind
from workbench.api.instrument.port_finder import RESET_LOW, describe, find_ports, port_entry
from workbench.formats import yaml_edit
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.hardware import Clock, Hardware
from workbench.model.scan import HdlTop
from workbench.model.text import listed
from workbench.session.begin.new_addresses import counts_bytes
from workbench.session.begin.new_platform import Notes
from workbench.session.begin.new_project import design_tops, files_below
from workbench.session.begin.port_match import interrupt_of, match_port
from workbench.session.edit.port_entries import Entry, read_port, served
from workbench.session.open.hdl_language import languages_of
from workbench.session.program.plugins import Plugins

_CLOCK_HZ, _CYCLE_NS = "100 MHz", 10
#: Latency and time per byte of a PCI Express transfer: an order of magnitude, not a measurement.
_BEGINS_NS, _BYTE_NS = {"send": 500, "receive": 1000}, 1


def with_hardware(text: str, file: Path, plugins: Plugins) -> tuple[str, tuple[Diagnostic, ...]]:
    """A template's text with its missing hardware and transfer tables, for the file that will hold it."""
    marked, _ = read_marked(text)
    document = marked.data if marked is not None and isinstance(marked.data, Mapping) else {}
    diagnostics: list[Diagnostic] = []
    ports: Sequence[Entry] = (document.get("hardware") or {}).get("ports") or ()
    if not document.get("hardware"):
        hardware, origin = _hardware(file.absolute().parent, plugins)
        diagnostics.append(origin)
        text = yaml_edit.set_value(text, ("hardware",), hardware) if hardware else text
        ports = hardware.get("ports", ())
    if not document.get("transfer_tables"):
        text = yaml_edit.set_value(text, ("transfer_tables",), dict(_tables(ports, plugins.port_kinds)))
        hint = f"Write the times of your board under transfer_tables: `workbench template bench {file}` measures them."
        diagnostics.append(Diagnostic("the transfer times are assumed", hint, Severity.WARNING, str(file)))
    return text, tuple(diagnostics)


def _hardware(folder: Path, plugins: Plugins) -> tuple[dict[str, Any], Diagnostic]:
    """Clock, reset and ports of the top in a folder that has most of them, and a text on what was found or must be
    added."""
    try:
        files = files_below(folder, Notes())
        languages = plugins.hdl_languages
        designs = [(languages[name], own_files) for name, own_files in languages_of(files, languages).items()]
        tops = design_tops(designs, folder, "", {})
        if names := [name for top in tops for name in top.unknown_macros]:
            tops = design_tops(designs, folder, "", dict.fromkeys(names, 1))
    except WorkbenchError as error:
        return {}, error.diagnostics[0]
    candidates = [(_ports(top, plugins.port_kinds), top) for top in tops]
    ports, top = max(candidates, key=lambda one: (bool(one[0]), len(one[1].sources)), default=((), None))
    if top is None or not ports:
        return {}, _lacking(folder, top, plugins.port_kinds)
    ports, units = _with_units(folder, top, ports, plugins.port_kinds)
    hardware: dict[str, Any] = {"clocks": [_clock(top, plugins.port_kinds)], "ports": list(ports)}
    outputs = [port for port in top.ports if port.direction == "output" and port.bits == 1]
    if interrupt := interrupt_of(outputs):
        hardware["interrupt"] = interrupt
    port_list = listed([f"{port['name']} ({port['kind']})" for port in ports])
    message = (
        f"clock and ports come from {top.name} in {top.file}: {port_list}; the clock frequency, {_CLOCK_HZ}, is "
        f"assumed{units}"
    )
    return hardware, Diagnostic(message, "Check them under hardware.", Severity.WARNING, str(folder / top.file))


def _ports(top: HdlTop, kinds: Mapping[str, PortKind]) -> tuple[Entry, ...]:
    """The top's interfaces as entries, with the memories that they access; none if the host reaches none of them."""
    entries: list[Entry] = []
    for port in find_ports(top.ports, kinds.values(), [clock for clock, _ in top.clocks]).ports:
        if entry := port_entry(port, kinds, top.ports):
            names = [str(one["name"]) for one in entries]
            schema = kinds[port.kind].port()
            unique_name = {"name": entry["name"] if entry["name"] not in names else f"{entry['name']}_{len(names)}"}
            first = {name: value for name, value in schema.first_fields().items() if name not in entry}
            full_entry = {**entry, **unique_name, **first}
            signals = parsed.signals() if (parsed := read_port(schema, full_entry)) else {}
            spare = {role for role, signal in signals.items() if signal.instead in entry and role not in entry}
            entries += served(kinds, {name: value for name, value in full_entry.items() if name not in spare}, entries)
    if not entries:
        return tuple(_port_of_single_signals(top, kinds))
    reached = any(kinds[str(one["kind"])].port().takes_transfers and not kinds[str(one["kind"])].initiator
                  for one in entries)  # fmt: skip
    return tuple(entries) if reached else ()


def _with_units(
    folder: Path, top: HdlTop, ports: Sequence[Entry], kinds: Mapping[str, PortKind]
) -> tuple[tuple[Entry, ...], str]:
    """The ports with the unit of their addresses, if their kind leaves it open, and a text on it."""
    with_units, unit_words = [], ""
    for port in ports:
        unit = kinds[str(port["kind"])].port().model_fields.get("address_unit_bytes")
        word_bytes = int(port.get("word_bits", 32)) // 8
        if unit is not None and unit.default == word_bytes > 1:
            evidence = counts_bytes(folder, top.sources, word_bytes)
            unit_words = f"; addresses count {f'bytes ({evidence})' if evidence else f'words of {word_bytes} bytes'}"
            port = {**port, "address_unit_bytes": 1} if evidence else port
        with_units.append(port)
    return tuple(with_units), unit_words


def _port_of_single_signals(top: HdlTop, kinds: Mapping[str, PortKind]) -> Iterator[Entry]:
    """A port of the first kind all of whose signals the top has under other names; the project then names each of
    them."""
    words = sorted({port.bits for port in top.ports if port.bits > 1}, key=lambda bits: bits != 32)
    for name, kind in kinds.items():
        if kind.style is None or kind.initiator or not kind.port().first_fields():
            continue
        for bits in words:
            wide = {"word_bits": bits} if bits != 32 else {}
            entry = {"name": "host", "kind": name, **kind.port().first_fields(), **wide}
            port = read_port(kind.port(), entry)
            if port is None:
                continue
            match = match_port(top, Hardware(clocks=(Clock(name="clk", frequency_hz=1),), ports=(port,)), kinds)
            if all(one.what == "clock" for one in match.missing):
                width = {one.name: one.bits for one in top.ports}
                address = next((width[one] for one in match.address_signals if one in width), 32)
                yield entry | ({"address_bits": address} if address != 32 else {})
                return


def _clock(top: HdlTop, kinds: Mapping[str, PortKind]) -> dict[str, object]:
    interfaces = find_ports(top.ports, kinds.values(), [clock for clock, _ in top.clocks])
    name = max(top.clocks, key=lambda clock: clock[1], default=((interfaces.clocks or ("clk",))[0], 0))[0]
    clock: dict[str, object] = {"name": name, "frequency_hz": _CLOCK_HZ}
    if resets := list(dict(top.resets)) or list(interfaces.resets):
        reset = resets[0]
        clock["reset"] = reset
        if dict(top.resets).get(reset, bool(RESET_LOW.fullmatch(reset.lower()))):
            clock["reset_hdl"] = f"!{reset}"
    return clock


def _tables(ports: Sequence[Entry], kinds: Mapping[str, PortKind]) -> Iterator[tuple[str, dict[str, object]]]:
    """A transfer table for sends and one for receives; separate ones for registers that have a port of their own."""
    bits = {str(port["name"]): int(port.get("word_bits", 32)) for port in ports}
    kind_of_port = {str(port["name"]): kinds[str(port["kind"])] for port in ports if str(port["kind"]) in kinds}
    reached = {name: kind for name, kind in kind_of_port.items() if kind.port().takes_transfers}
    addressed = [name for name, kind in reached.items() if kind.port().addressed and not kind.initiator]
    addressed.sort(key=lambda name: reached[name].name.endswith("lite"))
    for table, direction in (("write", "send"), ("read", "receive")):
        streams = [name for name, kind in reached.items()
                   if not kind.port().addressed and kind.initiator == (direction == "receive")]  # fmt: skip
        of_port = [{"port": name} if len(reached) > 1 else {} for name in (*streams[:1], *addressed)] or [{}]
        words = [bits[name] for name in (*streams[:1], *addressed)] or [32]
        yield table, {"direction": direction, **of_port[0], "points": _points(direction, words[0])}
        if len(of_port) > 1:
            yield f"{table}_reg", {"direction": direction, **of_port[-1], "points": _points(direction, words[-1])[:1]}


def _points(direction: str, word_bits: int) -> list[dict[str, object]]:
    """Two table points, one word and 4 KiB, at most as fast as one word in a cycle."""
    byte_ns = max(_BYTE_NS, _CYCLE_NS / max(1, word_bits // 8))
    times = {4: _BEGINS_NS[direction], 4096: _BEGINS_NS[direction] + round(4096 * byte_ns)}
    return [{"bytes": size, "time_s": f"{time} ns", "source": "assumed"} for size, time in times.items()]


def _lacking(folder: Path, top: HdlTop | None, kinds: Mapping[str, PortKind]) -> Diagnostic:
    """The diagnostic for a design without a known port."""
    add = "Add hardware.clocks and hardware.ports, in Platform mode or by hand"
    if top is None:
        hint = f"Run the command in the folder of your sources, or {add[0].lower()}{add[1:]}."
        return Diagnostic("no hardware port: there is no design in this folder", hint, Severity.WARNING, str(folder))
    interfaces = [describe(port) for port in find_ports(top.ports, kinds.values()).ports]
    port_list = [port.name if port.bits == 1 else f"{port.name} ({port.bits} bits)" for port in top.ports]
    has = f"It has {listed(interfaces)}" if interfaces else f"Its ports are {listed(port_list, 12)}"
    message = f"no hardware port: no port of {top.name} has a name that a host interface would have"
    return Diagnostic(message, f"{has}. {add}: the port kinds are {listed(list(kinds), len(kinds))}.", Severity.WARNING,
                      str(folder / top.file), top.line)  # fmt: skip

"""Chooses the top module, platform and ports of a new project, and values for its remaining addresses and inputs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.api import PortKind
from workbench.api.brought import brought
from workbench.api.instrument.port_finder import RESET_LOW, FoundPort, describe, find_ports, template_entry
from workbench.api.languages import either
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, unknown_name
from workbench.model.hardware import Hardware
from workbench.model.platform import Platform
from workbench.model.scan import HdlTop, HostFile
from workbench.model.text import counted, listed
from workbench.session.begin.new_choice import Choice
from workbench.session.begin.new_platform import Notes, PlatformFound, say_platform
from workbench.session.begin.port_match import Missing, PortMatch, match_port
from workbench.session.begin.project_text import Decision
from workbench.session.open.undriven import undriven_clock, wrong_constants

_READ_OUT_WORDS = 16
_NO_PORT = 4  # missing signals: with this many the rest of a port is accidental
_MOST_ROWS = 4096  # rows of addresses to examine, from the port's last
_MOST_NAMES = 4  # names shown of an interface
_MOST_CANDIDATES = 8  # candidates shown for a signal
_HIGHEST_BITS = 28  # a port of 32 bits rarely decodes all of them, and a lower end is as good


def find_top(
    tops: Sequence[HdlTop], platforms: Sequence[PlatformFound], host: Sequence[HostFile], kinds: Mapping[str, PortKind],
    choice: Choice, root: Path, notes: Notes,
) -> tuple[HdlTop, PlatformFound, PortMatch | None]:  # fmt: skip
    """The best pair of top and platform: the host calls the platform's API, and the top has its port."""
    possible = tops
    if choice.top:
        possible = [top for top in tops if choice.top in (top.name, top.file)]
        if not possible:
            raise WorkbenchError(unknown_name("top module", choice.top, [top.name for top in tops], root))
    if not possible:
        hint = "A top module or entity has ports, and no other instantiates it."
        none = Diagnostic(f"no top module was found here, in {either(brought('hdl_languages'))}", hint, file=str(root))
        raise WorkbenchError(none, *notes.problems)
    words = frozenset(word for file in host for word in file.words)
    alike = set(re.findall(r"\w+", host[0].file if host else ""))  # of several variants, the one with the host's name
    pairs = []
    requested = [one for one in platforms if one.key == choice.platform]
    for top in possible:
        for one in requested or platforms:
            match = match_port(top, one.platform.hardware, kinds) if one.platform.hardware else None
            lacking = sum(one.signals for one in match.missing) if match else 99
            exact = bool(match and not (match.missing or match.renames))
            shared = len(alike & set(re.findall(r"\w+", top.file)))
            near = min(lacking, _NO_PORT)
            rank = (not one.calls(words), near, not exact, -shared, -len(top.sources), lacking)
            pairs.append((rank, (top, one, match)))
    top, chosen, match = min(pairs, key=lambda pair: pair[0])[1]
    others = tuple(dict.fromkeys(t.name if t.name != top.name else t.file for t in tops if t is not top))
    reason = f"no other module instantiates it; it is in {top.file}:{top.line}"
    notes.decisions.append(Decision("top", top.name, reason, others))
    notes.decisions.append(
        Decision("hardware sources", ", ".join(top.sources), "the files that the top needs, in order of their use")
    )
    for file, _ in top.made:
        why = "gives the top plain ports in place of interfaces or structs; it is written with the project"
        notes.decisions.append(Decision("module around the top", file, why))
    if top.parameters:
        parameters = ", ".join(f"{name} = {value}" for name, value in top.parameters)
        notes.decisions.append(Decision("parameters", parameters, "the top's own values"))
    say_platform(chosen, host, platforms, notes)
    _say_port(top, chosen.platform, match, kinds, notes)
    notes.problems += [d if not d.file else replace(d, file=str(root / d.file)) for d in top.diagnostics]
    return top, chosen, match


def _say_port(
    top: HdlTop, platform: Platform, match: PortMatch | None, kinds: Mapping[str, PortKind], notes: Notes
) -> None:
    """Add decisions for the top's clock, reset and ports that match the platform, and for its other interfaces; for a
    platform without ports, all of them."""
    match, without_port = match or PortMatch(), match is None
    blocks = dict(top.clocks)
    if without_port:
        match.clock = max(top.clocks, key=lambda clock: clock[1], default=("", 0))[0]
    if match.clock:
        why = f"drives {blocks.get(match.clock, 0)} of {sum(blocks.values())} clocked blocks"
        notes.decisions.append(Decision("clock", match.clock, why))
    if match.reset:
        how = "the design uses it" if match.reset in dict(top.resets) else "its name says"
        why = f"low means reset, as {how}" if match.reset_low else "the reset of the platform's port"
        notes.decisions.append(Decision("reset", match.reset, why))
    why = "matched by names, directions and widths; kept under hardware.signals of the project"
    if port_list := ", ".join(f"{name}: {role_text}" for name, role_text in match.shown.items() if role_text):
        notes.decisions.append(Decision("port", port_list, why if match.renames else "as the platform names them"))
    interfaces = find_ports(top.ports, kinds.values(), [clock for clock, _ in top.clocks]).ports
    for port in interfaces:
        if not port.names & match.names:
            notes.decisions.append(_interface(port, kinds, top))
    if match.missing:
        notes.problems.append(_lacking(top, platform, match.missing, [describe(port) for port in interfaces]))


def _lacking(top: HdlTop, platform: Platform, missing: Sequence[Missing], interfaces: Sequence[str]) -> Diagnostic:
    """One problem for all of the platform's signals that the top lacks, with candidates and other remedies."""
    whose = "their names" if len(missing) > 1 else "its name"
    problem = (
        f"the top module {top.name} has no {listed([one.what for one in missing], 5)} that could be found by {whose}"
    )
    candidates = [
        f"{f'For the {one.what}, its' if len(missing) > 1 else 'Its'} {one.of}: "
        f"{listed(one.candidates, _MOST_CANDIDATES) or 'none that fits'}."
        for one in missing
    ]
    if all(one.candidates and one.of != "interfaces" for one in missing):
        hint = " ".join((*candidates, "Name the matching signals under hardware.signals."))
    else:
        has = f"It has {listed(interfaces)}." if interfaces else "None of its ports is a known interface."
        hint = (
            f"{has} Choose a platform that has its interfaces, describe one of "
            f"your own (`workbench template new`), or write a module around {top.name} that has the signals of "
            f"{platform.name}, and choose that as the top."
        )
        hint = hint if len(missing) > 2 or interfaces else f"{' '.join(candidates)} {hint}"
    return Diagnostic(problem, hint, Severity.ERROR, top.file, top.line)


def _interface(port: FoundPort, kinds: Mapping[str, PortKind], top: HdlTop) -> Decision:
    """Describe an interface of the top beside the platform's port."""
    names = [name for _, name in port.signals]
    more = len(names) - _MOST_NAMES
    signal_names = ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    question = f"; what are {', '.join(port.ask)} for?" if port.ask else ""
    entry = template_entry(port, kinds, top.ports)
    offer = f"; in a template's ports: {entry}" if entry else ""
    return Decision("interface", f"{describe(port)}: {signal_names}", f"by its signals' names{question}{offer}")


def find_constants(
    top: HdlTop, match: PortMatch, platform: Platform, kinds: Mapping[str, PortKind], choice: Choice, notes: Notes
) -> dict[str, int]:
    """Values of the inputs that the design reads and the platform does not drive: 0 unless chosen otherwise; resets are
    inactive. Interfaces and clocks have no constant value."""
    at_top = find_ports(top.ports, kinds.values(), [clock for clock, _ in top.clocks])
    named = [name for one in platform.hardware.clocks for name in (one.pin, one.reset)] if platform.hardware else []
    driven = {match.clock, match.reset, *match.names, *at_top.clocks, *(n for port in at_top.ports for n in port.names)}
    driven.update(named)
    clocks = [p for p in top.ports if p.name in at_top.clocks and p.name not in (match.clock, *named) and p.used]
    notes.problems += map(undriven_clock, clocks)
    undriven = [p for p in top.ports if p.direction == "input" and p.used and p.name not in driven]
    values: dict[str, int] = {}
    if wrong := [message for _, message in wrong_constants(top.ports, platform, choice.constants)]:
        raise WorkbenchError(*wrong)
    names = dict.fromkeys(p.port or p.name for p in undriven)
    unknown = [name for name in names if name not in choice.constants and name not in at_top.resets]
    for name in names:
        low = name in at_top.resets and dict(top.resets).get(name, bool(RESET_LOW.fullmatch(name.lower())))
        values[name] = choice.constants.get(name, int(low))
        why = "nothing drives it: a reset that is not active"
        if name not in at_top.resets:
            one = next(port for port in undriven if name in (port.port, port.name))
            place = f" in {one.file}:{one.line}" if one.file else ""
            why = f"an input{place} that nothing of the platform drives: its value is what your board gives it"
        notes.decisions.append(Decision("constant", f"{name} = {values[name]}", why, unknown=name in unknown))
    if unknown:
        message = f"nothing drives the input{'s' if len(unknown) > 1 else ''} {', '.join(map(repr, unknown))}"
        whose = "Their right values are" if len(unknown) > 1 else "Its right value is"
        hint = f"{whose} unknown: the project file sets 0 under hardware.constants. Change it there."
        notes.problems.append(Diagnostic(message, hint, Severity.WARNING, top.file, top.line))
    return values


def address_room(hardware: Hardware | None) -> tuple[int, int, int]:
    """For the first port with addresses: the usable address bits, the number of addresses of the counter read-out, and
    the bytes in an address step."""
    ports = [first_port.model_dump() for first_port in hardware.ports] if hardware else []
    first_port = next(
        (first_port for first_port in ports if "address_bits" in first_port), {"address_bits": 32, "word_bits": 32}
    )
    unit_bytes = first_port.get("address_unit_bytes", 4)
    step = _READ_OUT_WORDS * max(1, first_port["word_bits"] // 8 // unit_bytes)
    return min(first_port["address_bits"], _HIGHEST_BITS), step, unit_bytes


def find_read_out(
    top: HdlTop, match: PortMatch | None, platform: Platform, numbers: set[int], notes: Notes
) -> tuple[int, int]:
    """Unused addresses for the counter read-out: the last ones of the port without a number that occurs in the
    sources."""
    widths = {p.name: p.bits for p in top.ports}
    address_bits = [widths[name] for name in match.address_signals if name in widths] if match else []
    bits, step, _ = address_room(platform.hardware)
    bits = min([*address_bits, bits])
    end = 1 << bits
    if end < 2 * step:
        problem = f"the {end} addresses of the port have no room for the {step} of the counter read-out"
        hint = "Widen the address port: if a parameter of the top does so, set it and `read_out` in the project file."
        notes.problems.append(Diagnostic(problem, hint, Severity.ERROR, top.file, top.line))
    lasts = range(end - 1, max(step - 1, end - 1 - _MOST_ROWS * step), -step)
    numbers_within = {last: [n for n in numbers if last - step < n <= last] for last in lasts}
    last = min(numbers_within, key=lambda one: len(numbers_within[one]), default=end - 1)
    first, inside = max(0, last - step + 1), numbers_within.get(last, [])
    largest = max((n for n in numbers if n < first), default=0)
    why = f"no number in the sources lies in it, the largest below it is {largest:#x}"
    if inside:
        number_list = listed([f"{n:#x}" for n in sorted(inside)], _MOST_NAMES)
        why = f"each row of {step} addresses has a number of the sources in it, this one the fewest: {number_list}"
        problem = f"the addresses {first:#x} to {last:#x} may be in use: the sources name {number_list}"
        hint = "If these are addresses, write another range under hardware.read_out."
        notes.problems.append(Diagnostic(problem, hint, Severity.WARNING, top.file, top.line))
    meaning = "read-out addresses" if inside else "unused addresses"
    notes.decisions.append(Decision(meaning, f"{first:#x} to {last:#x}", f"{counted(bits, 'address bit')}; {why}"))
    return first, last

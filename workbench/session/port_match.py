"""Which ports of a top module are a platform's hardware port: by the platform's own names, else by what names tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.api.instrument.port_finder import RESET, RESET_LOW, FoundPort, describe, find_ports
from workbench.api.ports import HardwarePort
from workbench.model.scan import HdlPort, HdlTop

if TYPE_CHECKING:
    from workbench.model.hardware import Hardware

_WRITE = re.compile(r"(.*_)?(we|wen|wr|wren|write|wr_?en|write_?en(able)?|wr_?(valid|strobe|stb))(_i)?")
_READ = re.compile(r"(.*_)?(re|ren|rd|rden|read|rd_?en|read_?en(able)?|rd_?(valid|strobe|stb))(_i)?")
_ADDRESS = re.compile(r"(.*_)?(w|r|wr_?|rd_?|write_?|read_?)?(a|adr|addr|address)(_i)?")
_IRQ = re.compile(r"(.*_)?(irq|interrupt|intr)(_o)?")


@dataclass(frozen=True)
class Role:
    """What a signal of the port is for: its key below the template's `hardware`, and what it can be."""

    title: str
    path: tuple[str, ...]
    direction: str
    one_bit: bool = False
    word: bool = False
    pattern: re.Pattern[str] | None = None
    optional: bool = False


ROLES = (
    Role("clock", ("clock",), "input", one_bit=True),
    Role("reset", ("reset",), "input", one_bit=True, pattern=RESET),
    Role("write enable", ("write_enable",), "input", one_bit=True, pattern=_WRITE),
    Role("read enable", ("read_enable",), "input", one_bit=True, pattern=_READ),
    Role("write address", ("incoming", "address_signal"), "input", pattern=_ADDRESS),
    Role("written data", ("incoming", "data_signal"), "input", word=True),
    Role("read address", ("outgoing", "address_signal"), "input", pattern=_ADDRESS),
    Role("read data", ("outgoing", "data_signal"), "output", word=True),
    Role("interrupt", ("interrupt",), "output", one_bit=True, pattern=_IRQ, optional=True),
)


@dataclass(frozen=True)
class PortMatch:
    """The top's port for each role; `missing` are the roles that no port fits, with those that could be meant."""

    signals: dict[Role, str]
    exact: bool  # all of them as the platform names them
    reset_low: bool
    missing: tuple[tuple[Role, tuple[str, ...]], ...]
    renames: dict[str, str]  # what the platform's signals are called here, where that is something else
    interfaces: dict[str, FoundPort]  # by the names of the platform's ports

    @property
    def fits(self) -> bool:
        return not self.missing

    def signal(self, title: str) -> str:
        return next((name for role, name in self.signals.items() if role.title == title), "")

    @property
    def address_signals(self) -> tuple[str, ...]:
        """Those of memory ports and of interfaces."""
        own = [name for role, name in self.signals.items() if "address" in role.title]
        pairs = (pair for port in self.interfaces.values() for pair in port.signals)
        return tuple(dict.fromkeys([*own, *(name for role, name in pairs if role in ("awaddr", "araddr", "address"))]))


def match_port(top: HdlTop, port: Hardware) -> PortMatch:
    """Find the platform's port in the top module."""
    inputs = [p for p in top.ports if p.direction == "input"]
    signals: dict[Role, str] = {}
    missing: list[tuple[Role, tuple[str, ...]]] = []
    exact = True
    for role in ROLES:
        own = _named(port, role)
        if not own and not role.optional:
            continue  # another style of port, which has no such signal
        possible = [p for p in top.ports if p.direction == role.direction and _fits(p, role, port)]
        if any(p.name == own for p in possible):
            signals[role] = own
            continue
        taken = set(signals.values()) if not role.title.endswith("address") else set()
        left = [p for p in possible if p.name not in taken]
        found = _guess(role, left, top, inputs)
        before = next((name for other, name in signals.items() if _named(port, other) == own), found)
        if found and found == before:
            signals[role], exact = found, False
        elif not role.optional:
            missing.append((role, tuple(p.name for p in left)))
    interfaces, others = _match_interfaces(top, port, missing)
    exact = exact and not others
    reset = next((name for role, name in signals.items() if role.title == "reset"), "")
    low = reset != port.clocks[0].reset and dict(top.resets).get(reset, bool(RESET_LOW.fullmatch(reset.lower())))
    renames = {_named(port, role): name for role, name in signals.items()}
    renames[port.clocks[0].reset] = f"!{reset}" if low else reset
    others |= {own: name for own, name in renames.items() if own and own != name}
    return PortMatch(signals, exact and not missing, low, tuple(missing), others, interfaces)


def _match_interfaces(
    top: HdlTop, hardware: Hardware, missing: list[tuple[Role, tuple[str, ...]]]
) -> tuple[dict[str, FoundPort], dict[str, str]]:
    """The ports that are told by their interface as a whole, and what the platform's signals are called here."""
    names = {p.name for p in top.ports}
    free = list(find_ports(top.ports, [clock for clock, _ in top.clocks]).ports)
    interfaces: dict[str, FoundPort] = {}
    renames: dict[str, str] = {}
    for port in hardware.ports:
        prefix = getattr(port, "prefix", None)
        if not isinstance(port, HardwarePort) or prefix is None:
            continue
        own = {role: signal.name for role, signal in port.signals().items()}
        needed = [signal.name for signal in port.signals().values() if not signal.optional]
        told = {dict(one.signals).get(role): one for one in free for role in own}
        found = next((told[name] for name in own.values() if name in told), None)
        if not (names.issuperset(needed) and names & set(own.values())):
            found = next((one for one in free if one.kind == port.kind), None)
            if found is None:
                left = tuple(describe(one) for one in free)
                what = f"interface for the port '{port.name}' of kind {port.kind}"
                missing.append((Role(what, (), "interface"), left))
                continue
            here = {role: name for role, name in found.signals if role in own}
            begin = next(name.removesuffix(role) for role, name in here.items())
            if all(name == begin + role for role, name in here.items()) and prefix:
                renames[prefix] = begin
            else:
                renames |= {own[role]: name for role, name in here.items() if own[role] != name}
        if found is not None:
            free.remove(found)
            interfaces[port.name] = found
    return interfaces, renames


def _named(hardware: Hardware, role: Role) -> str:
    clock = hardware.clocks[0]
    of_all = {"clock": clock.pin, "reset": clock.reset, "interrupt": hardware.interrupt}
    value: object = of_all.get(role.path[0], hardware.ports[0])
    for part in role.path if role.path[0] not in of_all else ():
        value = getattr(value, part, "")
    return str(value)


def _fits(port: HdlPort, role: Role, hardware: Hardware) -> bool:
    if role.one_bit:
        return port.bits == 1
    return port.bits == hardware.ports[0].word_bits if role.word else port.bits > 1


def _guess(role: Role, possible: Sequence[HdlPort], top: HdlTop, inputs: Sequence[HdlPort]) -> str:
    if role.title == "clock":
        clocks = [name for name, _ in top.clocks if any(p.name == name for p in possible)]
        return clocks[0] if clocks else ""
    if role.word:
        data = [p for p in possible if not _ADDRESS.fullmatch(p.name.lower())]
        named = [p for p in data if re.search(r"da?t|din|dout|wd|rd|q", p.name.lower())]
        best = named if len(named) == 1 else data
        return best[0].name if len(best) == 1 else ""
    assert role.pattern is not None
    named = [p for p in possible if role.pattern.fullmatch(p.name.lower())]
    if len(named) > 1 and "address" in role.title:
        wanted = "w" if role.title.startswith("write") else "r"
        named = [p for p in named if re.search(rf"(^|_){wanted}", p.name.lower())]
    return named[0].name if len(named) == 1 else ""

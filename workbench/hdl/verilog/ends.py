"""The handshakes at an instance's ports, recognised like a top's (`api/instrument/port_finder.py`)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from workbench.api import PortKind
from workbench.api.brought import brought
from workbench.api.instrument.port_finder import FoundPort, find_ports, plain_name
from workbench.api.port_styles import GRANT, OTHERS, Handshake, PortStyle
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.expressions import Bit
from workbench.hdl.verilog.ports import ports_of
from workbench.model.scan import HdlPort

#: A parameter of modules of which no word goes with tlast: it marks the end alone.
END_MARK = "END_MARK"
_MOST_PORTS = 2000  # of an instance whose ports are looked at


@dataclass(frozen=True)
class End:
    """A handshake at an instance's ports. `offers`: the instance drives valid; `bits` are those of its data, `carried`
    the ports that go with them. `several`: its signals hold others, too. With `mark` no word is passed, but the end.
    `data` is the signal of its words, below the top; empty where that is not one."""

    path: str
    offers: bool
    name: str
    style: str
    bits: int
    valid: Bit
    ready: Bit
    place: tuple[str, int]
    valid_name: str
    ready_name: str
    carried: tuple[str, ...]
    several: bool
    mark: Bit | None = None
    data: str = ""


@lru_cache(1)
def _styles(kinds: tuple[PortKind, ...]) -> Mapping[str, PortStyle]:
    return {style.name: style for style in (*(kind.style for kind in kinds), *OTHERS) if style}


@lru_cache(10_000)
def _ports_found(ports: tuple[HdlPort, ...], kinds: tuple[PortKind, ...]) -> tuple[FoundPort, ...]:
    return find_ports(ports, kinds).ports


def ends_of(design: Design, path: str, body: Any) -> Iterator[End]:
    leaves = {port.name: (port, symbol) for port, symbol in ports_of(design, body)}
    if len(leaves) > _MOST_PORTS:
        return
    kinds = brought("port_kinds")
    for end in _ports_found(tuple(port for port, _ in leaves.values()), kinds):
        signals, shakes = dict(end.signals), _styles(kinds)[end.style].handshakes
        for shake in shakes:
            if shake.valid not in signals or shake.ready not in signals:
                continue
            (valid, valid_symbol), (ready, ready_symbol) = leaves[signals[shake.valid]], leaves[signals[shake.ready]]
            if valid_symbol is None or ready_symbol is None or valid.direction == ready.direction:
                continue
            data = [signals[role] for role in shake.data if role in signals] or end.payload
            bits = sum(leaves[name][0].bits for name in data) // end.count
            others = [*signals.values(), *end.payload] if len(shakes) == 1 else data
            carried = tuple(
                name for name in others if leaves[name][0].direction == valid.direction and name != valid.name
            )
            if end.style == GRANT.name and not carried:
                continue  # an arbiter's: nothing passes
            last = leaves[signals[shake.last]][1] if shake.last in signals and body.find(END_MARK) is not None else None
            mark = Bit(last, 0, False) if last is not None else None
            words = [leaves[name][1] for name in data if leaves[name][1] is not None and leaves[name][1].name == name]
            alone = len(data) == len(words) == end.count == 1
            for number in range(end.count):
                yield End(
                    path,
                    valid.direction == "output",
                    _label(end, shake, valid.name, several=len(shakes) > 2) + (f"[{number}]" if end.count > 1 else ""),
                    end.style,
                    bits,
                    Bit(valid_symbol, valid.lsb + number, shake.valid_low ^ plain_name(valid).endswith("_n")),
                    Bit(ready_symbol, ready.lsb + number, shake.ready_low ^ plain_name(ready).endswith("_n")),
                    (valid.file, valid.line),
                    valid.name,
                    ready.name,
                    carried,
                    end.count > 1,
                    mark,
                    str(words[0].hierarchicalPath).partition(".")[2] if alone else "",
                )


def _label(port: FoundPort, shake: Handshake, valid: str, *, several: bool) -> str:
    """The port's name, with the channel's where it has several. Where that is just the direction of its signals, as in
    `i_tvalid`, it is `i`."""
    channel = shake.valid.removesuffix("valid") if several else ""
    direction = valid.removesuffix(shake.valid).strip("_") if valid.endswith(shake.valid) else ""
    return "_".join(part for part in (port.name or direction, channel) if part) or {"empty": "out", "write": "in"}.get(
        shake.valid, shake.valid
    )

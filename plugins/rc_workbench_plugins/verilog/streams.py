"""The streams of an elaborated design: every valid and ready, told by the names of its instances' ports.

Each instance's ports are told as a top's are (`api/instrument/port_finder.py`); then both signals are followed to
what drives them. Ends at which both are the same are one edge, from the deepest instance that offers to the deepest
that takes; where there is none, the logic that drives the signal is the end.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from rc_workbench_plugins.ports import workbench_port_kinds
from rc_workbench_plugins.verilog.design import Design
from rc_workbench_plugins.verilog.instances import Instance
from rc_workbench_plugins.verilog.labels import Label, is_nameless, labels_for
from rc_workbench_plugins.verilog.nets import Bit, Kind, Nets
from rc_workbench_plugins.verilog.ports import ports_of
from workbench.api.instrument.port_finder import FoundPort, find_ports, plain_name
from workbench.api.port_styles import GRANT, OTHERS, Handshake, PortStyle
from workbench.model.application import HardwareSources, StreamSignals
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.scan import HdlPort
from workbench.model.streams import Fifo, Stream, StreamWait
from workbench.model.text import listed

_MOST_PORTS = 2000  # of an instance whose ports are looked at
_MOST_SHARING = 8  # edges whose signals are bits of one vector, and are still told apart by it
_FIFO = re.compile(r"fifo|queue|buf|skid", re.IGNORECASE)
_NAME = re.compile(r"(?P<low>!?)\s*(?P<path>[\w.$\[\]]+?)(?:\[(?P<index>\d+)\])?")


@dataclass(frozen=True)
class End:
    """A handshake at an instance's ports. `offers`: the instance drives valid; `bits` are those of its data, `carried`
    the ports that go with them. `several`: its signals hold others, too."""

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


@dataclass(frozen=True)
class FoundStreams:
    streams: tuple[Stream, ...] = ()
    fifos: tuple[Fifo, ...] = ()
    ends: Mapping[str, tuple[End, End]] = field(default_factory=dict)  # of each FIFO by its id: what it takes, gives
    labels: Mapping[str, Label] = field(default_factory=dict)  # of generate blocks without a name, by their path
    idle: tuple[str, ...] = ()  # signals below the top on which none of them, nor what is outside, ever depends
    diagnostics: tuple[Diagnostic, ...] = ()


class _Key(NamedTuple):
    valid: Bit
    ready: Bit


@dataclass
class _Edge:
    key: _Key
    ends: list[End] = field(default_factory=list)
    pointed: StreamSignals | None = None

    def end(self, offers: bool) -> End | None:
        """The deepest instance on a side."""
        return max((e for e in self.ends if e.offers == offers), key=lambda e: e.path.count("."), default=None)


def find_streams(
    design: Design, top: Instance | None, hardware: HardwareSources, outside: Iterable[str] = ()
) -> FoundStreams:
    """The edges and FIFOs below an elaborated top, with those that the project points at. `outside` are the top's ports
    that something outside goes by, besides the streams."""
    if design.top is None or top is None:
        return FoundStreams()
    instances = {instance.path: instance for instance in top.walk()}
    places, nets = _Places(instances), Nets(design.top)
    edges: dict[_Key, _Edge] = {}
    for path, instance in instances.items():
        for end in _ends(design, path, instance.body):
            key = _key(nets, end.valid, end.ready)
            edges.setdefault(key, _Edge(key)).ends.append(end)
    problems = []
    for signals in hardware.streams:
        offered, taken = (_bit_named(design.top, name) for name in (signals.valid, signals.ready))
        if offered is None or taken is None:
            problems.append(_no_signal(signals, signals.valid if offered is None else signals.ready))
        else:
            key = _key(nets, offered, taken)
            edges.setdefault(key, _Edge(key)).pointed = signals
    found = list(edges.values())
    streams = tuple(_with_own_names([_stream(nets, edge, places) for edge in found]))
    streams = tuple(replace(s, waits=w) for s, w in zip(streams, _waits(nets, found), strict=True))
    problems += [_no_fifo(name) for name in hardware.fifos if f"{places.top}.{name}" not in instances]
    fifos = tuple(_fifos(design, instances, streams, hardware.fifos))
    ends = {bit.symbol for edge in found for bit in edge.key}
    ends |= {symbol for name in outside if (symbol := design.top.body.find(name)) is not None}
    idle = (str(symbol.hierarchicalPath).partition(".")[2] for symbol in nets.without_effect(ends))
    at = {f.id: (_at(found[f.input], f.id, False), _at(found[f.output], f.id, True)) for f in fifos}
    told = {id_: (into, out) for id_, (into, out) in at.items() if into and out}
    labels = labels_for(design, nets.nameless)
    return FoundStreams(streams, fifos, told, labels, tuple(sorted(idle)), tuple(problems))


def _at(edge: _Edge, path: str, offers: bool) -> End | None:
    return next((end for end in edge.ends if end.path == path and end.offers == offers), None)


def counted(found: FoundStreams, top: str, clock_of: Mapping[str, str]) -> FoundStreams:
    """Those that can be counted: on the platform's clocks, which `clock_of` names by the top's pins, and where the
    simulator finds their signals. A stream is held by streams of its own clock."""
    on_clock = [number for number, stream in enumerate(found.streams) if stream.clock in clock_of]
    seen = {n: (found.streams[n].valid, found.streams[n].ready) for n in on_clock}
    kept = [n for n in on_clock if not any(is_nameless(signal, top, found.labels) for signal in seen[n])]
    hidden = [found.streams[number] for number in on_clock if number not in kept]
    new = {number: place for place, number in enumerate(kept)}
    streams = tuple(
        replace(
            stream,
            clock=clock_of[stream.clock],
            waits=tuple(
                replace(wait, other=new[wait.other])
                for wait in stream.waits
                if wait.other in new and found.streams[wait.other].clock == stream.clock
            ),
        )
        for stream in (found.streams[number] for number in kept)
    )
    fifos = tuple(
        replace(fifo, input=new[fifo.input], output=new[fifo.output])
        for fifo in found.fifos
        if fifo.input in new and fifo.output in new
    )
    notes = () if not hidden else (_hidden(hidden),)
    return replace(found, streams=streams, fifos=fifos, diagnostics=(*found.diagnostics, *notes))


def _hidden(streams: Sequence[Stream]) -> Diagnostic:
    names = listed([stream.id for stream in streams])
    return Diagnostic(
        f"not counted, as they stand in a generate block without a name: {names}",
        "Give that block a name: `begin : name`.",
        Severity.NOTE,
        streams[0].file,
        streams[0].line,
    )


class _Places:
    """Which instance a signal is driven in, and which clocks an instance runs on."""

    def __init__(self, instances: Mapping[str, Instance]) -> None:
        self.top = next(iter(instances), "")
        self._instances = instances
        self._slang_path = {str(instance.body.hierarchicalPath): path for path, instance in instances.items()}
        self._given: dict[Any, str] = {}  # inputs: what drives them stands around the instance
        for path, instance in instances.items():
            around = "" if path == self.top else next(p for p in _outer(path) if p in instances)
            for port in instance.body.portList:
                if port.kind == Kind.Port and str(port.direction).endswith("In") and port.internalSymbol is not None:
                    self._given[port.internalSymbol] = around

    def of(self, symbol: Any) -> str:
        """The instance whose logic drives a signal; empty outside of the design."""
        if symbol in self._given:
            return self._given[symbol]
        paths = _outer(str(symbol.hierarchicalPath))
        return next((self._slang_path[path] for path in paths if path in self._slang_path), self.top)

    def clock(self, *paths: str) -> str:
        """The top's clock that most of the first instance runs on, and the others too if one does."""
        counts = [Counter(use.root_clock for one in self._instances[path].walk() for use in one.blocks)
                  for path in paths if path in self._instances]  # fmt: skip
        counts = [count for count in counts if count] or [
            Counter(use.root_clock for one in self._instances[self.top].walk() for use in one.blocks)
        ]
        shared = counts[0] & counts[-1] or counts[0]
        return shared.most_common(1)[0][0] if shared else ""


def _outer(path: str) -> Iterator[str]:
    while "." in path:
        path = path.rpartition(".")[0]
        yield path


_PORT_KINDS = tuple(workbench_port_kinds())
_STYLES: Mapping[str, PortStyle] = {
    style.name: style for style in (*(kind.style for kind in _PORT_KINDS), *OTHERS) if style
}


@lru_cache(10_000)
def _told(ports: tuple[HdlPort, ...]) -> tuple[FoundPort, ...]:
    return find_ports(ports, _PORT_KINDS).ports


def _ends(design: Design, path: str, body: Any) -> Iterator[End]:
    leaves = {port.name: (port, symbol) for port, symbol in ports_of(design, body)}
    if len(leaves) > _MOST_PORTS:
        return
    for found in _told(tuple(port for port, _ in leaves.values())):
        signals = dict(found.signals)
        for shake in _STYLES[found.style].handshakes:
            if shake.valid not in signals or shake.ready not in signals:
                continue
            (valid, valid_symbol), (ready, ready_symbol) = leaves[signals[shake.valid]], leaves[signals[shake.ready]]
            if valid_symbol is None or ready_symbol is None or valid.direction == ready.direction:
                continue
            data = [signals[role] for role in shake.data if role in signals] or found.payload
            bits = sum(leaves[name][0].bits for name in data) // found.count
            one = len(_STYLES[found.style].handshakes) == 1
            others = [*signals.values(), *found.payload] if one else data
            carried = tuple(
                name for name in others if leaves[name][0].direction == valid.direction and name != valid.name
            )
            if found.style == GRANT.name and not carried:
                continue  # an arbiter's: nothing passes
            for number in range(found.count):
                yield End(
                    path,
                    valid.direction == "output",
                    _label(found, shake) + (f"[{number}]" if found.count > 1 else ""),
                    found.style,
                    bits,
                    Bit(valid_symbol, valid.lsb + number, shake.valid_low ^ plain_name(valid).endswith("_n")),
                    Bit(ready_symbol, ready.lsb + number, shake.ready_low ^ plain_name(ready).endswith("_n")),
                    (valid.file, valid.line),
                    valid.name,
                    ready.name,
                    carried,
                    found.count > 1,
                )


def _label(found: FoundPort, shake: Handshake) -> str:
    """The port's name, with the channel's where it has several."""
    channel = shake.valid.removesuffix("valid") if len(_STYLES[found.style].handshakes) > 2 else ""
    return "_".join(part for part in (found.name, channel) if part) or {"empty": "out", "write": "in"}.get(
        shake.valid, shake.valid
    )


def _key(nets: Nets, valid: Bit, ready: Bit) -> _Key:
    """What drives both. An offer that is made only when it is taken (`push = want & !full`) is what it is made of, and
    so is what is taken only when it is there."""
    whole = _Key(nets.root(valid), nets.root(ready))
    offered = [term for term in nets.terms(valid) if term != whole.ready]
    taken = [term for term in nets.terms(ready) if term != whole.valid]
    return _Key(offered[0] if len(offered) == 1 else whole.valid, taken[0] if len(taken) == 1 else whole.ready)


def _stream(nets: Nets, edge: _Edge, places: _Places) -> Stream:
    source, target, pointed = edge.end(True), edge.end(False), edge.pointed
    first = source or target
    ends = ((source, edge.key.valid), (target, edge.key.ready))
    from_, to = (
        end.path if end and (end.path != places.top or places.of(bit.symbol)) else places.of(bit.symbol)
        for end, bit in ends
    )
    valid = _seen_at(nets, edge.key.valid, [end.valid for end in (source, target, *edge.ends) if end])
    ready = _seen_at(nets, edge.key.ready, [end.ready for end in (target, source, *edge.ends) if end])
    bits = max((end.bits for end in edge.ends), default=0)
    name, style, place = (f"{first.path}.{first.name}", first.style, first.place) if first else ("", "", ("", 0))
    if pointed:
        from_ = f"{places.top}.{pointed.source}" if pointed.source else from_
        to = f"{places.top}.{pointed.target}" if pointed.target else to
        name, style, bits = f"{places.top}.{pointed.name}", style or "pointed", pointed.bits or bits
    clock = places.clock(*(path for path in (from_, to) if path))
    return Stream(name, from_, to, style, bits, clock, hdl_name(valid), hdl_name(ready), *place)


def _seen_at(nets: Nets, root: Bit, ports: Sequence[Bit]) -> Bit:
    """Where a signal is looked at: at the first of the ports that have it whole, else where it is driven."""
    return next((bit for bit in ports if nets.root(bit) == root), root)


def _with_own_names(streams: Sequence[Stream]) -> Iterator[Stream]:
    """Those that have the name of another with a number behind it."""
    seen: Counter[str] = Counter()
    for stream in streams:
        seen[stream.id] += 1
        yield stream if seen[stream.id] == 1 else replace(stream, id=f"{stream.id}~{seen[stream.id]}")


def hdl_name(bit: Bit) -> str:
    """A bit as Verilog reads it from outside, below the top."""
    path, kind = str(bit.symbol.hierarchicalPath).partition(".")[2], bit.symbol.type.canonicalType
    index = bit.index
    while kind.bitWidth > 1 and kind.isPackedArray and kind.hasFixedRange:
        bounds, step = kind.fixedRange, kind.bitWidth // kind.fixedRange.width
        number, index = divmod(index, step)
        path = f"{path}[{bounds.right + number if bounds.left >= bounds.right else bounds.right - number}]"
        kind = (kind.elementType if step > 1 else kind).canonicalType
        if step == 1:
            break
    else:
        path += f"[{index}]" if kind.bitWidth > 1 else ""  # of a struct
    return f"!{path}" if bit.low else path


def _waits(nets: Nets, edges: Sequence[_Edge]) -> Iterator[tuple[StreamWait, ...]]:
    """Which other streams hold each one's valid or ready low, through logic alone."""
    drives: dict[Any, list[tuple[int, str]]] = defaultdict(list)
    for number, edge in enumerate(edges):
        for signal in ("valid", "ready"):
            drives[getattr(edge.key, signal).symbol].append((number, signal))
    ends = set(drives)
    for number, edge in enumerate(edges):
        found: dict[StreamWait, None] = {}
        for signal in ("valid", "ready"):
            for symbol in nets.reached(getattr(edge.key, signal).symbol, ends):
                others = [one for one in drives[symbol] if one[0] != number]
                if len(drives[symbol]) <= _MOST_SHARING:
                    found |= {StreamWait(signal, other, held_by): None for other, held_by in others}
        yield tuple(found)


def _fifos(
    design: Design, instances: Mapping[str, Instance], streams: Sequence[Stream], pointed: Sequence[str]
) -> Iterator[Fifo]:
    """The instances with one stream in and one out, as wide, that are called a FIFO or are pointed at. (Other blocks
    have memories between their streams, too: only their names tell them apart.)"""
    into: dict[str, list[int]] = defaultdict(list)
    out: dict[str, list[int]] = defaultdict(list)
    for number, stream in enumerate(streams):
        into[stream.target].append(number)
        out[stream.source].append(number)
    for path, instance in instances.items():
        if len(into[path]) != 1 or len(out[path]) != 1 or into[path] == out[path]:
            continue
        first, last = streams[into[path][0]], streams[out[path][0]]
        if (first.bits and last.bits and first.bits != last.bits) or first.clock != last.clock:
            continue
        if _FIFO.search(instance.module) or path.partition(".")[2] in pointed:
            file, line, _ = design.place(instance.body.definition.location)
            depth = _memory_words(instance, first.bits)
            yield Fifo(path, instance.module, into[path][0], out[path][0], depth, design.name_of(file), line)


def _memory_words(instance: Instance, bits: int) -> int:
    """The words of the largest memory below an instance that are wide enough for its data."""
    words = 0

    def look(scope: Any) -> None:
        nonlocal words
        for member in scope:
            if member.kind in (Kind.Variable, Kind.Net):
                kind = member.type.canonicalType
                if kind.isUnpackedArray and kind.hasFixedRange and kind.elementType.bitWidth >= max(bits, 1):
                    words = max(words, int(kind.fixedRange.width))
            elif member.kind == Kind.GenerateBlock and not member.isUninstantiated:
                look(member)
            elif member.kind == Kind.GenerateBlockArray:
                for entry in member.entries:
                    look(entry)

    for one in instance.walk():
        look(one.body)
    return words if words > 1 else 0


def _bit_named(top: Any, name: str) -> Bit | None:
    """The bit that a project names below the top."""
    match = _NAME.fullmatch(name.strip())
    symbol = None
    if match:
        symbol = top.body.lookupName(match["path"]) or top.body.lookupName(f"{match['path']}[{match['index']}]")
    if match is None or symbol is None or symbol.kind not in (Kind.Net, Kind.Variable):
        return None
    return Bit(symbol, int(match["index"] or 0), bool(match["low"]))


def _no_signal(signals: StreamSignals, name: str) -> Diagnostic:
    return Diagnostic(
        f"hardware.streams: the stream '{signals.name}' names the signal '{name}', which the design does not have",
        "Signals are named below the top, such as core.fetch.valid; !NAME is active when low.",
        Severity.ERROR,
    )


def _no_fifo(name: str) -> Diagnostic:
    return Diagnostic(
        f"hardware.fifos: the design has no instance '{name}'",
        "Instances are named below the top, such as core.lines[0].store.",
        Severity.ERROR,
    )

"""The streams of an elaborated design: every valid and ready, recognised by the names of its instances' ports.

Both signals of each handshake at an instance's ports (`ends.py`) are followed to what drives them. Ends at which both
are the same are one edge, from the deepest instance that sends to the deepest that takes; where there is none, the
logic that drives the signal is the end.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from workbench.hdl.instances import Instance
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.ends import End, ends_of
from workbench.hdl.verilog.expressions import Bit, Part, part_of
from workbench.hdl.verilog.fifos import find_fifos
from workbench.hdl.verilog.labels import Label, is_nameless, labels_for
from workbench.hdl.verilog.nets import Nets, net_name
from workbench.hdl.verilog.places import Places
from workbench.hdl.verilog.pointed import bit_named, no_instance, no_signal
from workbench.model.application import HardwareSources, StreamSignals
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.streams import Fifo, Stream, StreamWait
from workbench.model.text import listed

_MOST_SHARING = 8  # edges whose signals are bits of one vector, and are still told apart by it


@dataclass(frozen=True)
class FoundStreams:
    streams: tuple[Stream, ...] = ()
    fifos: tuple[Fifo, ...] = ()
    ends: Mapping[str, tuple[End, End]] = field(default_factory=dict)  # of each FIFO by its id: what it takes, gives
    labels: Mapping[str, Label] = field(default_factory=dict)  # of generate blocks without a name, by their path
    pll_nets: Mapping[str, str] = field(default_factory=dict)  # of clocks by their names, below the top as simulated
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
    design: Design,
    top: Instance | None,
    hardware: HardwareSources,
    pll_nets: Mapping[str, str],
    outside: Iterable[str] = (),
) -> FoundStreams:
    """The edges and FIFOs below an elaborated top, with those that the project points at. `pll_nets` has
    the nets of clocks that PLLs make, below the top, by the clocks' names. `outside` are the top's ports that something
    outside goes by, besides the streams."""
    if design.top is None or top is None:
        return FoundStreams()
    instances = {instance.path: instance for instance in top.walk()}
    places, nets = Places(instances), design.nets
    edges: dict[_Key, _Edge] = {}
    for path, instance in instances.items():
        for end in ends_of(design, path, instance.body):
            key = _key(nets, end.valid, end.ready)
            edges.setdefault(key, _Edge(key)).ends.append(end)
    problems = []
    for number, signals in enumerate(hardware.streams):
        offered, taken = (bit_named(design.top, name) for name in (signals.valid, signals.ready))
        if offered is None:
            problems.append(no_signal(design.top, signals.valid, ("hardware", "streams", number, "valid")))
        if taken is None:
            problems.append(no_signal(design.top, signals.ready, ("hardware", "streams", number, "ready")))
        if offered is not None and taken is not None:
            key = _key(nets, offered, taken)
            edges.setdefault(key, _Edge(key)).pointed = signals
    by_order = list(edges.values())
    bits = {name: bit_named(design.top, net) for name, net in pll_nets.items()}
    clock_of_net = {net_name(nets.root(bit)): name for name, bit in bits.items() if bit}
    streams = tuple(_with_own_names([_stream(nets, edge, places, clock_of_net) for edge in by_order]))
    streams = tuple(replace(s, waits=w) for s, w in zip(streams, _waits(nets, by_order, streams), strict=True))
    named: dict[tuple[str | int, ...], str] = {
        ("hardware", "fifos", number): name for number, name in enumerate(hardware.fifos)
    }
    named |= {("hardware", "names", name): name for name in hardware.names if name}
    for number, signals in enumerate(hardware.streams):
        sides = (("source", signals.source), ("target", signals.target))
        named |= {("hardware", "streams", number, side): name for side, name in sides if name}
    below = [path.partition(".")[2] for path in instances]
    problems += [no_instance(name, below, at) for at, name in named.items() if name not in below]
    fifos = tuple(find_fifos(design, instances, streams, hardware.fifos))
    ends = {bit.symbol for edge in by_order for bit in (*edge.key, *(end.mark for end in edge.ends if end.mark))}
    ends |= {symbol for name in outside if (symbol := design.top.body.find(name)) is not None}
    idle = (str(symbol.hierarchicalPath).partition(".")[2] for symbol in nets.without_effect(ends))
    at = {f.id: (_at(by_order[f.input], f.id, False), _at(by_order[f.output], f.id, True)) for f in fifos}
    of_fifos = {id_: (into, out) for id_, (into, out) in at.items() if into and out}
    labels = labels_for(design, nets.nameless)
    return FoundStreams(streams, fifos, of_fifos, labels, pll_nets, tuple(sorted(idle)), tuple(problems))


def _at(edge: _Edge, path: str, offers: bool) -> End | None:
    return next((end for end in edge.ends if end.path == path and end.offers == offers), None)


def counted(all_streams: FoundStreams, top: str, clock_of: Mapping[str, str]) -> FoundStreams:
    """The streams that can be counted: on clocks of which `clock_of` says by which they are counted, and where the
    simulator finds their signals. A stream is held by streams of its own clock."""
    on_clock = [number for number, stream in enumerate(all_streams.streams) if stream.clock in clock_of]
    seen = {n: (all_streams.streams[n].valid, all_streams.streams[n].ready) for n in on_clock}
    kept = [n for n in on_clock if not any(is_nameless(signal, top, all_streams.labels) for signal in seen[n])]
    hidden = [all_streams.streams[number] for number in on_clock if number not in kept]
    seen_only = only(all_streams, kept)
    streams = tuple(
        replace(
            stream,
            clock=clock_of[stream.clock],
            waits=tuple(wait for wait in stream.waits if seen_only.streams[wait.other].clock == stream.clock),
        )
        for stream in seen_only.streams
    )
    notes = [_hidden(hidden)] if hidden else []
    if others := [stream for stream in all_streams.streams if stream.clock not in clock_of]:
        notes.append(_on_another_clock(others))
    return replace(seen_only, streams=streams, diagnostics=(*all_streams.diagnostics, *notes))


def only(all_streams: FoundStreams, kept: Sequence[int]) -> FoundStreams:
    """The streams of these numbers, with what they wait for among them, and the FIFOs that both are ends of."""
    new = {number: place for place, number in enumerate(kept)}
    streams = tuple(
        replace(stream, waits=tuple(replace(w, other=new[w.other]) for w in stream.waits if w.other in new))
        for stream in (all_streams.streams[number] for number in kept)
    )
    fifos = tuple(
        replace(fifo, input=new[fifo.input], output=new[fifo.output])
        for fifo in all_streams.fifos
        if fifo.input in new and fifo.output in new
    )
    return replace(all_streams, streams=streams, fifos=fifos)


def _hidden(streams: Sequence[Stream]) -> Diagnostic:
    names = listed([stream.id for stream in streams])
    return Diagnostic(
        f"not counted, as they are in a generate block without a name: {names}",
        "Give that block a name: `begin : name`.",
        Severity.NOTE,
        streams[0].file,
        streams[0].line,
    )


def _on_another_clock(streams: Sequence[Stream]) -> Diagnostic:
    return Diagnostic(
        f"not counted, as their clock is neither the platform's nor a PLL's: {listed([one.id for one in streams])}",
        "A clock that the design gates or divides counts no streams.", Severity.NOTE, streams[0].file, streams[0].line,
    )  # fmt: skip


def _key(nets: Nets, valid: Bit, ready: Bit) -> _Key:
    """What drives both. An offer that is made only when it is taken (`push = want & !full`) is what it is made of, and
    so is what is taken only when it is there."""
    whole = _Key(nets.root(valid), nets.root(ready))
    offered = [term for term in nets.terms(valid) if term != whole.ready]
    taken = [term for term in nets.terms(ready) if term != whole.valid]
    return _Key(offered[0] if len(offered) == 1 else whole.valid, taken[0] if len(taken) == 1 else whole.ready)


def _stream(nets: Nets, edge: _Edge, places: Places, clock_of_net: Mapping[str, str]) -> Stream:
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
    offered, taken = nets.clocks(edge.key.valid), nets.clocks(edge.key.ready)
    registers = offered & taken or offered + taken
    clock = registers.most_common(1)[0][0] if registers else places.clock(*(path for path in (from_, to) if path))
    clock = clock_of_net.get(clock, "" if "." in clock else clock)
    mark = next((hdl_name(end.mark) for end in edge.ends if end.mark), "")
    whole = (end for end in (source, target, *edge.ends) if end and nets.root(end.valid) == edge.key.valid)
    pairs = dict.fromkeys(
        (hdl_name(end.valid), hdl_name(end.ready)) for end in whole if nets.root(end.ready) == edge.key.ready
    )
    data = tuple(dict.fromkeys(end.data for end in (source, target, *edge.ends) if end and end.data))
    return Stream(
        name, from_, to, style, bits, clock, hdl_name(valid), hdl_name(ready), *place, mark=mark, pairs=tuple(pairs),
        data=data,
    )  # fmt: skip


def _seen_at(nets: Nets, root: Bit, ports: Sequence[Bit]) -> Bit:
    """Where a signal is looked at: at the first of the ports that have it whole, else where it is driven."""
    return next((bit for bit in ports if nets.root(bit) == root), root)


def _with_own_names(streams: Sequence[Stream]) -> Iterator[Stream]:
    """The streams named like another with a number after it."""
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


def _waits(nets: Nets, edges: Sequence[_Edge], streams: Sequence[Stream]) -> Iterator[tuple[StreamWait, ...]]:
    """Which other streams hold each one's valid or ready low, through logic alone: those signals that other instances
    drive. (What an instance remembers itself makes several of its own signals.)"""
    drives: dict[Part, list[tuple[int, str]]] = defaultdict(list)
    driven: dict[str, set[Part]] = defaultdict(set)  # by the instance that does
    for number, (edge, stream) in enumerate(zip(edges, streams, strict=True)):
        for bit, signal, driver in ((edge.key.valid, "valid", stream.source), (edge.key.ready, "ready", stream.target)):
            driven[driver].add(part_of(bit))
            for part in {part_of(bit), Part(bit.symbol)}:
                drives[part].append((number, signal))
    ends = set().union(*driven.values())
    for number, (edge, stream) in enumerate(zip(edges, streams, strict=True)):
        waits: set[StreamWait] = set()
        for bit, signal, driver in ((edge.key.valid, "valid", stream.source), (edge.key.ready, "ready", stream.target)):
            for part in nets.reached(part_of(bit), ends - driven[driver]):
                others = [one for one in drives[part] if one[0] != number]
                if len(drives[part]) <= _MOST_SHARING:
                    waits |= {StreamWait(signal, other, held_by) for other, held_by in others}
        yield tuple(sorted(waits, key=lambda wait: (wait.signal, wait.other, wait.held_by)))

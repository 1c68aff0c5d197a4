"""Streams and FIFOs of an ordinary design as edges that a query asks about: those that the port finder found in it.

A stream is an edge from an instance to another, which holds nothing: a transfer is push and pop. A FIFO is one more, by
its instance's name: what passes its input are pushes, what passes its output pops. What is outside of the design is
`OUTSIDE`. A traced run has every transfer; of others there is what was counted of the whole run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rc_workbench_plugins.streaming.query.measures import FrameValue, Measure, MeasureResult, Metric, Statistic, Tap
from rc_workbench_plugins.streaming.query.states import OF_COUNTERS, no_trace
from rc_workbench_plugins.streaming.query.statistics import with_statistic
from workbench.api import PS_PER_S, Run
from workbench.api.stream_events import EdgeEvents, Events, Times
from workbench.api.unstable import (
    At,
    BlockKind,
    End,
    Fifo,
    MappedTo,
    Resource,
    Stream,
    StreamBlock,
    StreamEdge,
    Topology,
    as_target,
    cycle_starts_ps,
)

OUTSIDE = ("host", "to host")
_FPGA = Resource("FPGA", MappedTo.FPGA)
_QUEUE = "queue"  # what ends a FIFO's own block, between its input and its output


def rtl_topology(run: Run) -> Topology:
    """The streams that were counted in a run of the design, and its FIFOs; no edges where none were."""
    manifest = run.manifest
    if "streams" not in run.tables:
        return Topology(manifest.name, (), ())
    fifos = [replace(fifo, depth=max(fifo.depth, _most_held(run, fifo))) for fifo in fifos_of(run)]
    return design_topology(manifest.name, manifest.streams, fifos)


def design_topology(name: str, streams: Sequence[Stream], fifos: Sequence[Fifo]) -> Topology:
    """A design's streams, and those of its FIFOs; it is called by its top, or by `name` where there are several."""
    edges = tuple(map(_edge, streams)) + tuple(_queue(fifo, streams[fifo.input]) for fifo in fifos)
    names = dict.fromkeys(end.block for edge in edges for end in (edge.source, edge.sink))
    places = {as_target(fifo.id): At(fifo.file, fifo.line) for fifo in fifos}
    blocks = tuple(StreamBlock(name, BlockKind("", ()), at=places.get(name, At())) for name in names)
    tops = {edge.label.partition(".")[0] for edge in edges}
    name = tops.pop() if len(tops) == 1 else name
    mapping = {block: _FPGA.name for block in names if block not in OUTSIDE}
    return Topology(name, blocks, edges, (_FPGA,), mapping)


def is_queue(edge: StreamEdge) -> bool:
    """Whether an edge is what a FIFO holds, and no stream."""
    return edge.source.block == edge.sink.block and edge.source.port == _QUEUE


def fifos_of(run: Run) -> list[Fifo]:
    """The FIFOs that gave what they took."""
    table = run.tables.get("occupancy")
    sound = set() if table is None else set(np.asarray(table["fifo"]).tolist())
    return [fifo for number, fifo in enumerate(run.manifest.fifos) if number in sound]


def _edge(stream: Stream) -> StreamEdge:
    label, source, target = (as_target(name) for name in (stream.id, stream.source, stream.target))
    port = label.rpartition(".")[2] if source else "out"
    ends = End(source or OUTSIDE[0], port), End(target or OUTSIDE[1], "in")
    return StreamEdge(label, *ends, _type(stream), 0, At(stream.file, stream.line), stream.bits)


def _most_held(run: Run, fifo: Fifo) -> int:
    table = run.tables["occupancy"]
    return int(np.asarray(table["words"])[np.asarray(table["fifo"]) == run.manifest.fifos.index(fifo)].max(initial=0))


def _queue(fifo: Fifo, into: Stream) -> StreamEdge:
    label = as_target(fifo.id)
    end = End(f"{label}.{_QUEUE}", _QUEUE)
    return StreamEdge(label, end, end, _type(into), fifo.depth, At(fifo.file, fifo.line), into.bits)


def _type(stream: Stream) -> str:
    return f"{stream.bits} bits" if stream.bits else "words"


def rtl_events(run: Run) -> Events:
    """Every transfer of a traced run; no edges of others."""
    topology, manifest, table = rtl_topology(run), run.manifest, run.tables.get("stream_transfers")
    if table is None or not topology.edges:
        return Events(manifest.name, {}, manifest.time_ps)
    numbers = np.asarray(table["stream"])
    order = np.argsort(numbers, kind="stable")
    cuts = np.searchsorted(numbers[order], np.arange(len(manifest.streams) + 1))
    cycles, early = np.asarray(table["cycle"])[order], np.asarray(table["early"])[order].astype(np.int64)
    streams = []
    for number, stream in enumerate(manifest.streams):
        part = slice(cuts[number], cuts[number + 1])
        streams.append(_of_stream(run, stream, topology.edges[number], cycles[part], early[part]))
    edges = {one.edge.label: one for one in streams}
    for edge, fifo in zip(topology.edges[len(streams) :], fifos_of(run), strict=True):
        into, out = streams[fifo.input], streams[fifo.output]
        pops = out.pop_ps[: len(into.push_ps)]
        tick_ps = max(into.tick_ps, out.tick_ps)
        edges[edge.label] = EdgeEvents(
            edge, into.push_ps, pops, blocked_ps=into.blocked_ps, waiting_ps=out.waiting_ps, tick_ps=tick_ps
        )
    stands = dict.fromkeys(topology.mapping, _FPGA)
    return Events(topology.name, edges, manifest.time_ps, stands=stands)


def _of_stream(run: Run, stream: Stream, edge: StreamEdge, cycles: Times, early: Times) -> EdgeEvents:
    """A transfer takes effect at its cycle's end. It was held up from when it was offered, or the sink waited from when
    it would have taken it, until its cycle."""
    clocks = {clock.name: clock for clock in run.manifest.clocks}
    clock = clocks.get(stream.clock) or next(iter(clocks.values()), None)
    hz = clock.frequency_hz if clock else run.manifest.clock_hz

    def starts(of: Times) -> Times:
        return cycle_starts_ps(of, hz, clock.drift_ppm_per_s if clock else 0.0) + (clock.start_ps if clock else 0)

    def spells(lasting: Times) -> Times:
        some = lasting > 0
        return np.stack((starts(cycles[some] - lasting[some]), starts(cycles[some])), axis=1)

    at = starts(cycles + 1)
    uncertain = clock.uncertainty_ps if clock else 0
    return EdgeEvents(
        edge, at, at, blocked_ps=spells(early), waiting_ps=spells(-early), tick_ps=PS_PER_S / hz,
        uncertain_ps=uncertain,
    )  # fmt: skip


def counted_edge(run: Run, measure: Measure) -> MeasureResult:
    """What was counted of a stream or a FIFO in a whole run. WorkbenchError where that does not show the measure."""
    if measure.when is not None or measure.frame.time_ps or measure.frame.elements:
        raise no_trace("a condition" if measure.when is not None else "a frame", _COUNTED)
    streams = {as_target(one.id): number for number, one in enumerate(run.manifest.streams)}
    fifos = {as_target(fifo.id): fifo for fifo in fifos_of(run)}
    (label,), fifo, end_ps = measure.edges[-1:], fifos.get(measure.edges[-1]), run.manifest.time_ps
    frame = FrameValue(0, end_ps, end_ps)
    if measure.metric is Metric.OCCUPANCY and fifo and measure.statistic is not Statistic.TRACE:
        return MeasureResult(measure, (_held(run, fifo, measure, frame),), OF_COUNTERS)
    number = streams.get(label)
    if fifo:
        number = fifo.output if measure.tap is Tap.POP else fifo.input
    counts = _row(run.tables["streams"], "stream", number)
    transfers, cycles = counts["transfers"], sum(counts[name] for name in _CYCLES)
    values = {
        Metric.RATE: transfers * PS_PER_S / end_ps if end_ps else None,
        Metric.UTIL: transfers / cycles if cycles else None,
        Metric.BACKPRESSURE: counts["sink_stalls"] / cycles if cycles else None,
    }
    if measure.metric not in values:
        raise no_trace(f"'{measure.metric}'", _COUNTED)
    one = FrameValue(0, end_ps, end_ps, transfers, values[measure.metric])
    return MeasureResult(measure, (one,), OF_COUNTERS)


_CYCLES = ("transfers", "source_stalls", "sink_stalls", "idle")
_COUNTED = "rate, util and backpressure of streams, and the occupancy of FIFOs"


def _row(table: Mapping[str, Times], key: str, number: int | None) -> dict[str, int]:
    mine = np.asarray(table[key]) == number
    return {name: int(np.asarray(column)[mine].sum()) for name, column in table.items()}


def _held(run: Run, fifo: Fifo, measure: Measure, frame: FrameValue) -> FrameValue:
    """How many words a FIFO held, weighed by time."""
    table, stream = run.tables["occupancy"], run.manifest.streams[fifo.input]
    mine = np.asarray(table["fifo"]) == run.manifest.fifos.index(fifo)
    hz = {clock.name: clock.frequency_hz for clock in run.manifest.clocks}.get(stream.clock, run.manifest.clock_hz)
    words, cycles = np.asarray(table["words"])[mine], np.asarray(table["cycles"])[mine]
    lasting = np.rint(cycles * (PS_PER_S / hz)).astype(np.int64)
    return with_statistic(frame, measure, np.zeros(len(words), np.int64), words, lasting)

"""The query language for the window: what can be asked of a run, what is wrong, what came of it."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rc_workbench_plugins.streaming.composer import read_topology
from rc_workbench_plugins.streaming.limit_finding import limits
from rc_workbench_plugins.streaming.query import read
from rc_workbench_plugins.streaming.query.command import recorded
from rc_workbench_plugins.streaming.query.counted import beside, counted, histogram, of_agents, thinned
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.frames import frame_of
from rc_workbench_plugins.streaming.query.limits import BUSY
from rc_workbench_plugins.streaming.query.measures import (
    COUNTED,
    UNITS,
    AssertResult,
    FrameLength,
    MeasureResult,
    Metric,
    Statistic,
)
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.targets import names
from rc_workbench_plugins.streaming.query.words import assert_words, result_words, value_words
from workbench.api import (
    PS_PER_S,
    Composition,
    Diagnostic,
    Explained,
    QueriedBlock,
    QueriedEdge,
    Reply,
    Run,
    Subject,
    WorkbenchError,
    has_errors,
    percent_text,
)
from workbench.api.stream_events import Events, events_of, head_of
from workbench.api.unstable import ANY_CORE, At, MappedTo, StreamBlock, StreamEdge, Topology, prefixed

_PLACES = {MappedTo.CORE: "core", MappedTo.FPGA: "FPGA"}
MENU = (
    ("Rate", "measure rate at {}"),
    ("Utilisation", "measure util at {}"),
    ("Occupancy, histogram", "measure hist occupancy at {}"),
    ("Occupancy, mean", "measure mean occupancy at {}"),
    ("Latency, mean", "measure mean latency at {}"),
    ("Latency, histogram", "measure hist latency at {}"),
    ("Intervals, histogram", "measure hist interval at {}"),
    ("Backpressure", "measure backpressure at {}"),
    ("Values", "measure trace value at {}"),
)


def subject(run: Run) -> Subject | None:
    head = head_of(run.tables, str(run.path or ""))
    if head is None:
        return _subject(Topology(run.manifest.name, (), ()), {}, frozenset()) if counted(run) else None
    time_s = max(head.end_ps - head.start_ps, 1) / PS_PER_S
    rates = {label: pushes / time_s for label, pushes in head.pushes.items()}
    words = {
        label: (prefixed(rate, "/s"), prefixed(rate, "/s", 2), prefixed(rate, "", 2)) for label, rate in rates.items()
    }
    return _subject(head.topology, words, head.valued)


def planned(composition: Composition) -> Subject | None:
    if composition.project.streaming is None:
        return None
    topology = read_topology(composition)
    labels = {edge.label: (f"{edge.depth} deep", str(edge.depth)) for edge in topology.edges}
    return _subject(topology, labels, frozenset(labels))


def _subject(topology: Topology, words: Mapping[str, Sequence[str]], valued: Collection[str]) -> Subject:
    """`words` stand on edges, by label: the first of each, or a shorter one where there is little room. Of edges that
    are `valued` values can be asked."""
    return Subject(
        topology.name,
        tuple(_block(topology, block) for block in topology.blocks),
        tuple(_edge(topology, edge, words[edge.label], edge.label in valued) for edge in topology.edges),
        read.RESERVED,
        tuple(names(topology)),
        lambda text: read_query(text, topology).diagnostics if topology.edges else (),
    )


def _block(topology: Topology, block: StreamBlock) -> QueriedBlock:
    resource, place = topology.mapping.get(block.name, ""), topology.place(block.name)
    stands = "any core" if resource == ANY_CORE else f"{_PLACES[place]} {resource}" if resource else ""
    return QueriedBlock(block.name, stands, place is MappedTo.FPGA, _place(block.at))


def _place(at: At) -> tuple[str, int] | None:
    return (at.file, at.line) if at.line else None


def ask(run: Run, text: str, frame: str) -> Sequence[Reply]:
    told = counted(run)
    if told and (not text.strip() or head_of(run.tables) is None):
        return beside((), told)
    events = recorded(run.tables, str(run.path or ""))
    query = read_query(text, events.topology, frame=_frame(frame))
    if has_errors(query.diagnostics):
        raise WorkbenchError(*query.diagnostics)
    results, asserts = evaluate(query, events)
    return beside([*map(_reply, results), *map(_assert_reply, asserts)], told)


def explain(run: Run) -> Sequence[Explained]:
    events = _events(run)
    if events is None:
        return of_agents(run)
    walked = limits(events)
    busy = {block.name: f"{percent_text(block.busy)} busy" for block in walked.blocks}
    first = walked.answers[-2:]  # what limits the throughput, and what would then: what one came for
    return [
        Explained(one.question, one.words, one.evidence, busy if one.question == BUSY else {})
        for one in (*first, *walked.answers[:-2])
    ] + of_agents(run)


def _events(run: Run) -> Events | None:
    return events_of(run.tables, str(run.path or ""))


def _frame(text: str) -> FrameLength:
    try:
        return frame_of(text) if text.strip() else FrameLength()
    except ArgumentTypeError as error:
        raise WorkbenchError(Diagnostic(f"the length of a frame: {error}")) from None


def _edge(topology: Topology, edge: StreamEdge, words: Sequence[str], valued: bool) -> QueriedEdge:
    short = topology.short(edge)
    menu = tuple((title, text.format(short)) for title, text in MENU if "value" not in text or valued)
    return QueriedEdge(
        edge.label, edge.source.block, edge.sink.block, words[0], menu, _place(edge.at), tuple(words[1:])
    )


def _reply(result: MeasureResult) -> Reply:
    measure, frames = result.measure, result.frames
    unit, factor = UNITS[measure.metric]
    words = "; ".join(line.strip() for line in result_words(result).splitlines()[1:])
    times = [frame.start_ps / PS_PER_S for frame in frames[:1]] + [frame.end_ps / PS_PER_S for frame in frames]
    unsure_ps = max((frame.uncertainty_ps for frame in frames), default=0)
    made = Reply(measure.label, measure.text, words, measure.line, unit, tuple(times), unsure_s=unsure_ps / PS_PER_S)
    if measure.statistic is Statistic.HIST:
        low = [value_words(measure, bound) for bound in measure.bins]
        bins = (f"below {low[0]}", *low[:-1], f"{low[-1]} or more")
        counts = [frame.histogram or (0,) * len(bins) for frame in frames]
        return histogram(made, bins, counts, "" if result.trust == COUNTED else f"; {result.trust}")
    if measure.statistic is Statistic.TRACE and not measure.single:
        samples = [frame.samples for frame in frames if frame.samples]
        moments, values = thinned(np.concatenate([t for t, _ in samples]), np.concatenate([v for _, v in samples]))
        stays = measure.metric is Metric.OCCUPANCY
        shown = tuple((values / factor).tolist()), tuple((moments / PS_PER_S).tolist())
        return replace(made, values=shown[0], moments_s=shown[1], stays=stays)
    off = tuple(frame.uncertainty / factor for frame in frames)
    numbers = tuple(None if f.value is None else f.value / factor for f in frames)
    return replace(made, values=numbers, uncertain=off if any(off) else ())


def _assert_reply(result: AssertResult) -> Reply:
    words = "; ".join(line.strip() for line in assert_words(result).splitlines()[1:])
    asserted = result.asserted
    return Reply(asserted.label, asserted.text, words, asserted.line, holds=result.holds and result.known)

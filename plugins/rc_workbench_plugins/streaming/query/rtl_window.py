"""Streams and FIFOs of an ordinary design for the window: their labels and the measures that can be asked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rc_workbench_plugins.streaming.query.blocks import written
from rc_workbench_plugins.streaming.query.host_queues import ELEMENTS, HOST
from rc_workbench_plugins.streaming.query.measures import MeasureResult
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.rtl import is_queue
from rc_workbench_plugins.streaming.query.seen import Seen
from rc_workbench_plugins.streaming.query.words import value_words
from workbench.api import PS_PER_S, Explained, ExplainedBar, QueueFill, Subject
from workbench.api.unstable import as_target, prefixed, significant

_OF_STREAM = (
    ("Rate", "measure rate at {}"),
    ("Utilisation", "measure util at {}"),
    ("Backpressure", "measure backpressure at {}"),
    ("Intervals, histogram", "measure hist interval at {}"),
)
_OF_FIFO = (
    ("Occupancy, histogram", "measure hist occupancy at {}"),
    ("Occupancy, mean", "measure mean occupancy at {}"),
    ("Latency, mean", "measure mean latency at {}"),
    ("Latency, histogram", "measure hist latency at {}"),
)


def stream_words(there: Seen) -> dict[str, Sequence[str]]:
    """At which rate words pass each stream, and elements each queue, as `subject` says it; nothing at FIFOs."""
    run = there.run
    time_s = max(run.manifest.time_ps, 1) / PS_PER_S
    table = run.tables.get("streams", {"stream": (), "transfers": ()})
    passed = dict(zip(np.asarray(table["stream"]).tolist(), np.asarray(table["transfers"]).tolist(), strict=True))
    words: dict[str, Sequence[str]] = {as_target(fifo.id): ("",) for fifo in run.manifest.fifos}
    for number, stream in enumerate(run.manifest.streams):
        rate = passed.get(number, 0) / time_s
        words[as_target(stream.id)] = _rate_words(rate)
    for label, one in there.host.edges.items() if there.host else ():
        words[label] = _rate_words(len(one.push_ps) / time_s)
    return words


def _rate_words(rate: float) -> tuple[str, str, str]:
    return prefixed(rate, "/s"), prefixed(rate, "/s", 2), prefixed(rate, "", 2)


def rtl_subject(there: Seen, subject: Subject) -> Subject:
    """The streams as edges; a FIFO is a block of which its queue is asked."""
    topology = there.topology
    queues = {edge.label: topology.short(edge) for edge in topology.edges if is_queue(edge)}
    hidden = {edge.source.block for edge in topology.edges if is_queue(edge)}
    blocks = tuple(
        replace(
            one,
            stands="FPGA" if one.in_hardware else "host" if topology.mapping.get(one.name) == HOST.name else "",
            statements=(*(_filled(_OF_FIFO, queues[one.name]) if one.name in queues else ()), *one.statements),
        )
        for one in subject.blocks
        if one.name not in hidden
    )
    shorts: Mapping[str, str] = {edge.label: topology.short(edge) for edge in topology.edges}
    edges = tuple(
        one
        if there.host and one.label in there.host.edges
        else replace(one, statements=_filled(_OF_STREAM, shorts[one.label]))
        for one in subject.edges
        if one.label not in queues
    )
    names = tuple(name for name in subject.names if not any(name in (h, topology.within(h)) for h in _ends(there)))
    return replace(subject, blocks=blocks, edges=edges, names=names, of_design=True)


def _ends(there: Seen) -> list[str]:
    return [str(edge.source) for edge in there.topology.edges if is_queue(edge)]


def _filled(menu: Sequence[tuple[str, str]], name: str) -> tuple[tuple[str, str], ...]:
    return tuple((title, text.format(written(name))) for title, text in menu)


def rtl_explained(there: Seen) -> list[Explained]:
    """Rates, stalls and FIFOs of the whole run."""
    topology = there.topology
    of_host = there.host.edges if there.host else {}
    streams = [edge for edge in topology.edges if not is_queue(edge) and edge.label not in of_host]
    fifos = [edge for edge in topology.edges if is_queue(edge)]
    host = [one.edge for one in of_host.values() if one.edge.type == ELEMENTS]
    asked = (
        ("At what rate is data moving?", "rate at {}", streams),
        ("Which streams are held up, and for which share of the time?", "backpressure at {}", streams),
        ("How full is each FIFO?", "mean occupancy at {}", fifos),
        ("How full is each queue of the host?", "mean occupancy at {}", host),
        ("For which share of the time do producers of the host wait for room?", "backpressure at {}", host),
    )
    explained, values = [], dict[str, dict[str, float]]()
    for question, text, edges in asked:
        statements = [f"measure {text.format(written(topology.short(edge)))}" for edge in edges]
        results, _ = there.answer(read_query("\n".join(statements), topology, blocks=there.blocks))
        said = [f"{topology.short(edge)} {_value(one)}" for edge, one in zip(edges, results, strict=True)]
        values.setdefault(text, {}).update(
            (edge.label, one.frames[0].value or 0.0) for edge, one in zip(edges, results, strict=True) if one.frames
        )
        if said:
            depth = {edge.label: float(edge.depth) for edge in edges}
            bars = tuple(
                ExplainedBar(topology.short(edge), one.frames[0].value or 0.0, _value(one), statement,
                             0.0 if "rate" in text else 1.0 if "backpressure" in text else depth[edge.label])
                for edge, one, statement in zip(edges, results, statements, strict=True) if one.frames
            )  # fmt: skip
            explained.append(Explained(question, f"{'; '.join(said)}.", tuple(statements), bars=bars))
    rates, stalls, fills = values.values()
    blocks = {edge.label: f"{significant(fills[edge.label])} of {edge.depth}" for edge in fifos if edge.label in fills}
    queues = {label: QueueFill(rate, stalls.get(label, 0.0)) for label, rate in rates.items()}
    time_s = max(there.run.manifest.time_ps, 1) / PS_PER_S
    for edge in host:
        rate = len(of_host[edge.label].push_ps) / time_s
        queues[edge.label] = QueueFill(rate, stalls[edge.label], fills[edge.label], edge.depth)
    return [replace(explained[0], blocks=blocks, queues=queues), *explained[1:]] if explained else []


def _value(result: MeasureResult) -> str:
    return value_words(result.measure, result.frames[0].value)

"""Metrics of the design's streams and FIFOs in a run, and their words."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.api.results import FifoMetrics, Held, StreamMetrics
from workbench.api.views import Column, Table
from workbench.model.blocks import below_top
from workbench.model.finding import Place
from workbench.model.run import Run
from workbench.model.text import percent_text, rate_text, significant, thousands


def stream_metrics(run: Run) -> tuple[StreamMetrics, ...]:
    """The counted streams, in order; none if the run has no such table."""
    table, streams = run.tables.get("streams"), run.manifest.streams
    if table is None:
        return ()
    hz = {clock.name: clock.frequency_hz for clock in run.manifest.clocks}
    held_by_stream: dict[int, list[Held]] = defaultdict(list)
    waits = run.tables.get("stream_waits", {"stream": (), "wait": (), "cycles": ()})
    for number, wait, cycles in zip(waits["stream"], waits["wait"], waits["cycles"], strict=True):
        waited = streams[number].waits[wait]
        held_by_stream[int(number)].append(Held(streams[waited.other].id, waited.signal, waited.held_by, int(cycles)))
    numbers = table["stream"].tolist()
    counts = zip(*(table[name].tolist() for name in ("transfers", "source_stalls", "sink_stalls", "idle")), strict=True)
    metrics = []
    for number, (transfers, by_source, by_sink, idle) in zip(numbers, counts, strict=True):
        clock_hz = hz.get(streams[number].clock, run.manifest.clock_hz)
        holds = tuple(sorted(held_by_stream[number], key=lambda one: -one.cycles))
        metrics.append(StreamMetrics(streams[number], transfers, by_source, by_sink, idle, clock_hz, holds))
    return tuple(metrics)


def fifo_metrics(run: Run, streams: tuple[StreamMetrics, ...]) -> tuple[FifoMetrics, ...]:
    """The FIFOs whose both sides were counted, in order."""
    table = run.tables.get("occupancy")
    if table is None or not streams:
        return ()
    of_id = {metrics.stream.id: metrics for metrics in streams}
    fifos_measured = []
    for number, fifo in enumerate(run.manifest.fifos):
        rows = np.flatnonzero(table["fifo"] == number)
        if len(rows):
            into, out = (of_id[run.manifest.streams[at].id] for at in (fifo.input, fifo.output))
            occupancy = tuple(zip(table["words"][rows].tolist(), table["cycles"][rows].tolist(), strict=True))
            fifos_measured.append(FifoMetrics(fifo, into, out, occupancy))
    return tuple(fifos_measured)


def stream_names(streams: Sequence[StreamMetrics]) -> dict[str, str]:
    """The streams' names by id: the id without the top's name."""
    return {one.stream.id: below_top(one.stream.id) for one in streams}


def rate_words(metrics: StreamMetrics) -> str:
    """The mean rate of words over the run."""
    rate = metrics.bytes_per_s
    return rate_text(rate) if rate is not None else f"{significant(metrics.words_per_s, 3)} words/s"


def held_words(metrics: StreamMetrics, names: Mapping[str, str]) -> str:
    """The stream that holds this one up longest, with the share of cycles; "" if none does."""
    if not metrics.held:
        return ""
    holder = metrics.held[0]
    return f"{names.get(holder.other, holder.other)}, {percent_text(holder.cycles / metrics.cycles)}"


def fifo_words(metrics: FifoMetrics) -> str:
    """The most words that a FIFO held, its depth, and its share of full cycles."""
    depth = f" of {metrics.fifo.depth}" if metrics.fifo.depth else ""
    return f"{metrics.most}{depth}, full {percent_text(metrics.full_share)}"


Row = tuple[StreamMetrics, FifoMetrics | None]


def stream_table(streams: Sequence[StreamMetrics], fifos: Sequence[FifoMetrics]) -> Table:
    """Transfers, stalls and the FIFO behind each stream; most stalls first."""
    names = stream_names(streams)
    behind = {fifo.input.stream.id: fifo for fifo in fifos}
    ranked = sorted(streams, key=lambda one: -(one.sink_stalls + one.source_stalls))
    columns = (
        Column("Stream", lambda row: names[row[0].stream.id], share=0.34, elide_middle=True,
               key=lambda row: row[0].stream.id,
               tip_of=lambda row: f"{row[0].stream.source or 'the host'} to {row[0].stream.target or 'the host'}"),
        Column("Transfers", lambda row: thousands(row[0].transfers), width_px=96, right=True,
               key=lambda row: row[0].transfers, tip="Cycles in which a word was offered and taken"),
        Column("Rate", lambda row: rate_words(row[0]), width_px=116, right=True,
               key=lambda row: row[0].words_per_s, tip="Over the whole run"),
        _share("Source stalls", lambda row: row[0].source_stalls, "The receiver was ready, and no word was offered"),
        _share("Sink stalls", lambda row: row[0].sink_stalls, "A word was offered, and not taken"),
        Column("Held by", lambda row: held_words(row[0], names), share=0.33, elide_middle=True,
               key=lambda row: row[0].held[0].cycles if row[0].held else 0, ink=lambda row: ("second", 13, 400),
               tip="The stream that holds it up longest through logic only"),
        Column("FIFO behind it", lambda row: fifo_words(row[1]) if row[1] else "", share=0.33,
               key=lambda row: row[1].full_share if row[1] else -1.0,
               tip="Words that it held at most, of how many it has room for; its share of cycles full"),
    )  # fmt: skip
    return Table("Streams", columns, [(one, behind.get(one.stream.id)) for one in ranked], place=_place)


def _place(row: Row) -> Place | None:
    stream = row[0].stream
    return Place(stream.file, stream.line) if stream.file and stream.line else None


def _share(title: str, cycles: Callable[[Row], int], tip: str) -> Column:
    """A column with a share of all cycles."""

    def share(row: Row) -> float:
        return cycles(row) / max(row[0].cycles, 1)

    return Column(title, lambda row: percent_text(share(row)), width_px=104, right=True, key=share, tip=tip)

"""What a traced run recorded of its edges, as events (`resources/streaming/record.hpp`, `resources/card/records.h`).

On a real machine nobody records what happens in an FPGA: of an edge that crosses a bus there are the events of its
queue on the processor, of an edge within an FPGA none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.cores import Lived, block_threads, covered_ps, idle_ps, joined, recorded_threads
from rc_workbench_plugins.streaming.edge_queues import arrival, capacity, depths
from workbench.api import Manifest, RunStatus, Table
from workbench.api.records import Records, read_end, read_records
from workbench.api.stream_events import (
    NO_SPELLS,
    Crossing,
    EdgeEvents,
    Events,
    Pool,
    Times,
    of_topology,
    tables,
    value_kind,
)
from workbench.api.unstable import End, StreamEdge, Streaming, Topology, cycle_starts_ps, period_ps

#: Since when (and one ps) a thread waits for room, and one for an element, by edge; 0 where none does.
NOW = np.dtype([("room_ps", "<i8"), ("element_ps", "<i8")])
NOBODY = np.zeros(1, NOW)[0]
#: When all blocks had ended, and all that moves data over a bus; agents may go on.
END = np.dtype([("at_ps", "<i8")])
HOST = np.dtype(
    [("edge", "<i4"), ("event", "<i2"), ("thread", "<i2"), ("at_ps", "<i8"), ("since_ps", "<i8"), ("bits", "<u8")]
)
CARD = np.dtype([("cycle", "<i8"), ("edge", "<i4"), ("event", "<i4"), ("bits", "<u8")])
#: Of each thread of blocks on cores, in the topology's order: when it began and ended, and how long others had its
#: core. On a machine itself; all 0 of one that did not begin, and no end of one that was killed.
LIFE = np.dtype([("began_ps", "<i8"), ("ended_ps", "<i8"), ("ready_ps", "<i8")])
PUSH, POP, BLOCKED, WAITING = range(4)
ON_PROCESSOR = "its queue on the processor"


def recorded(topology: Topology, section: Streaming, raw: Path, run: Manifest) -> Mapping[str, Table]:
    """The run's tables of its edges; none of a run that was not traced."""
    if not run.traced:
        return {}
    host, card = read_records(raw / "stream_host.bin", HOST), read_records(raw / "stream_card.bin", CARD)
    host = host[(host["at_ps"] != 0) | (host["since_ps"] != 0)]  # others were never written
    if run.status is not RunStatus.COMPLETE:
        run = replace(run, time_ps=max(run.time_ps, _end_ps(host, card, raw, run)))
    end_ps = int(read_records(raw / "stream_end.bin", END)["at_ps"].max(initial=0)) or run.time_ps
    now = read_records(raw / "stream_now.bin", NOW)
    by_edge = {}
    for number, edge in enumerate(topology.edges):
        on_host = _Host(host[host["edge"] == number], now[number] if number < len(now) else NOBODY, run)
        on_card = _Card(card[card["edge"] == number], run)
        source, sink = topology.fpga(edge.source.block), topology.fpga(edge.sink.block)
        if not run.simulated:
            if not source or source != sink:
                by_edge[edge.label] = _of_processor(topology, section, edge, on_host)
            continue
        producer, consumer = (on_card if fpga else on_host for fpga in (source, sink))
        if source and sink and source != sink:
            consumer = _Card(card[card["edge"] == arrival(topology, number)], run)
        pushes, pops = producer.times(PUSH), consumer.times(POP)
        taken = delivered = crossing = None
        if producer is not consumer:
            there = on_host if source else consumer  # where the transfer ends that the producer's side begins
            taken = _begun(producer.times(POP), there.times(PUSH), gathered=producer is on_host)
            delivered = consumer.times(PUSH)
            count = min(len(taken), len(delivered))
            taken, delivered = taken[:count], delivered[:count]
            if on_host in (producer, consumer):
                crossing = _crossing(topology, edge, section, into=producer is on_host)
        by_edge[edge.label] = EdgeEvents(
            replace(edge, depth=capacity(topology, edge, section)),
            pushes,
            pops[: len(pushes)],
            producer.values(edge),
            producer.spells(BLOCKED),
            consumer.spells(WAITING),
            float(period_ps(run.clock_hz)) if producer is on_card and consumer is on_card else 0.0,
            taken_ps=taken,
            delivered_ps=delivered,
            crossing=crossing,
            declared=edge.depth,
            push_by=_movers(topology, edge.source, on_host, PUSH),
            pop_by=_movers(topology, edge.sink, on_host, POP),
        )
    bulk, flush_ps = section.bulk_elements, round(1e6 * max(1, round(section.flush_us)))
    events = replace(of_topology(topology, by_edge, end_ps), bulk=bulk, flush_ps=flush_ps)
    lived = recorded_threads(topology, raw) if run.simulated else {}
    ready = {} if run.simulated else _lives(topology, raw, end_ps, lived)
    return tables(_with_lives(events, topology, lived, ready, host, run))


def _movers(topology: Topology, end: End, host: _Host, event: int) -> Times | None:
    """Which thread moved each element, at an end that several share."""
    return host.threads(event) if topology.block_by_name[end.block].threads > 1 else None


def _with_lives(
    events: Events, topology: Topology, lived: Mapping[tuple[str, int], Lived], ready_ps: Mapping[tuple[str, int], int],
    host: Records, run: Manifest,
) -> Events:  # fmt: skip
    """With what is known of the threads of blocks: of a block of one thread its life, of one of several their sums."""
    several = {block.name: block.threads for block in topology.blocks if block.threads > 1}
    single = {name: one for (name, _), one in lived.items() if name not in several}
    pools = {}
    for name, threads in several.items():
        busy = queued = 0
        for number in range(threads):
            one = lived.get((name, number))
            if one is None or one.life_ps is None:
                continue
            spells = []
            for edge_number, edge in enumerate(topology.edges):
                mine = _Host(host[(host["edge"] == edge_number) & (host["thread"] == number)], NOBODY, run)
                if edge.sink.block == name:
                    spells.append(mine.spells(WAITING))
                if edge.source.block == name:
                    spells.append(mine.spells(BLOCKED))
            idle, ready = idle_ps(events, one.life_ps, [*spells, one.queued_ps]), ready_ps.get((name, number), 0)
            busy += max(events.end_ps - events.start_ps - idle - ready, 0)
            queued += covered_ps(one.queued_ps) + ready
        pools[name] = Pool(threads, busy, queued)
    return replace(
        events,
        queued_ps={name: one.queued_ps for name, one in single.items() if run.simulated},
        lives_ps={name: one.life_ps for name, one in single.items() if one.life_ps is not None},
        ready_ps={name: ready for (name, _), ready in ready_ps.items() if name not in several},
        pools=pools,
    )


def _of_processor(topology: Topology, section: Streaming, edge: StreamEdge, host: _Host) -> EdgeEvents:
    crosses = topology.crosses(edge)
    depth = depths(topology, edge, section)[0]
    pushes = host.times(PUSH)
    return EdgeEvents(
        replace(edge, depth=depth),
        pushes,
        host.times(POP)[: len(pushes)],
        host.values(edge),
        host.spells(BLOCKED),
        host.spells(WAITING),
        part=ON_PROCESSOR if crosses else "",
        push_by=_movers(topology, edge.source, host, PUSH),
        pop_by=_movers(topology, edge.sink, host, POP),
    )


def _lives(
    topology: Topology, raw: Path, end_ps: int, into: dict[tuple[str, int], Lived]
) -> dict[tuple[str, int], int]:
    """Write the threads' lives that a machine itself recorded `into` a folder; return how long each thread was ready
    while others had its core."""
    ready_ps = {}
    records = read_records(raw / "stream_lives.bin", LIFE).tolist()
    for (block, number, _), (began, ended, ready) in zip(block_threads(topology), records, strict=False):
        if began:
            into[block.name, number] = Lived(NO_SPELLS, (began, ended or end_ps))
            ready_ps[block.name, number] = ready
    return ready_ps


def _crossing(topology: Topology, edge: StreamEdge, section: Streaming, into: bool) -> Crossing:
    host, fpga = depths(topology, edge, section)
    rooms = (host, fpga) if into else (fpga, host)
    return Crossing(section.bulk_elements, round(1e6 * section.flush_us), rooms, into)


def _end_ps(host: Records, card: Records, raw: Path, run: Manifest) -> int:
    """Until when a run went on that was ended."""
    cycles_text = read_end(raw / "card_end.txt").get("cycles", "0").split()[0]
    cycles = np.array([max(int(cycles_text), int(card["cycle"].max(initial=-1)) + 1)])
    return max(int(host["at_ps"].max(initial=0)), *cycle_starts_ps(cycles, run.clock_hz, run.drift_ppm_per_s).tolist())


def _begun(left: Times, there: Times, gathered: bool) -> Times:
    """When the transfer began that carried each element, of the times at which elements left one side's queue and
    entered the other's. One transfer is over before another is begun. The processor gathers elements
    before it begins; a transfer out of the FPGA begins with its first."""
    count = min(len(left), len(there))
    left, there = left[:count], there[:count]
    begins = np.flatnonzero(np.concatenate([[True], left[1:] >= there[:-1]])) if count else np.empty(0, np.intp)
    sizes = np.diff(begins, append=count)
    return np.repeat(left[begins + sizes - 1 if gathered else begins], sizes)


class _Host:
    """An edge's records on the processor."""

    def __init__(self, records: Records, now: np.void, run: Manifest) -> None:
        self._of = {event: records[records["event"] == event] for event in (PUSH, POP, WAITING)}
        self._now, self._end_ps = now, run.time_ps

    def times(self, event: int) -> Times:
        return np.asarray(self._of[event]["at_ps"])

    def values(self, edge: StreamEdge) -> NDArray[np.generic]:
        return np.ascontiguousarray(self._of[PUSH]["bits"]).view(value_kind(edge.type))

    def spells(self, event: int) -> Times:
        waited = self._of[PUSH if event == BLOCKED else POP]
        waited = waited[(waited["since_ps"] >= 0) & (waited["since_ps"] < waited["at_ps"])]
        spells = np.stack((waited["since_ps"], waited["at_ps"]), axis=1)
        to_the_end = self._of[WAITING]["at_ps"].tolist() if event == WAITING else []  # a reader that gets no more
        if since := int(self._now["room_ps" if event == BLOCKED else "element_ps"]):
            to_the_end = [since - 1]
        all_spells = np.concatenate([spells, *([[at, max(at, self._end_ps)]] for at in to_the_end)])
        return joined(all_spells) if (waited["thread"] > 0).any() else all_spells

    def threads(self, event: int) -> Times:
        return self._of[event]["thread"].astype(np.int64)


class _Card:
    """An edge's records on the FPGA: what is seen in a cycle takes effect at its end."""

    def __init__(self, records: Records, run: Manifest) -> None:
        self._of = {event: records[records["event"] == event] for event in range(4)}
        self._hz, self._drift, self._end_ps = run.clock_hz, run.drift_ppm_per_s, run.time_ps

    def times(self, event: int) -> Times:
        return cycle_starts_ps(self._of[event]["cycle"] + 1, self._hz, self._drift)

    def values(self, edge: StreamEdge) -> NDArray[np.generic]:
        bits = np.ascontiguousarray(self._of[PUSH]["bits"])
        if edge.type == "float32":
            return bits.astype("u4").view("f4").astype("f8")
        return bits.view(value_kind(edge.type))

    def spells(self, event: int) -> Times:
        """They begin and end in turn; the last may last to the run's end."""
        moments = cycle_starts_ps(self._of[event]["cycle"], self._hz, self._drift)
        if len(moments) % 2:
            moments = np.append(moments, max(self._end_ps, int(moments[-1])))
        return moments.reshape(-1, 2)

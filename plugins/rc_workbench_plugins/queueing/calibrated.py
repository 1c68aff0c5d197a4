"""A queueing model calibrated from a run of a streaming application (Lancaster 2011, sections 7.1 and 7.4).

A station is a block with the queues before it; a job is an element that it takes. What crosses a bus comes when it is
delivered, as many together as the transfer carried: the bus is no station. Rates are those of the dissertation's
queries: `measure mean rate at STAGE.in`, and the same while elements wait and nothing holds the block up. The latter is
taken of the times that the block worked on each element, since a rate over such times is too high where services are
not exponentially distributed (a time of waiting begins amid a service). What is measured of the same run stands beside
the model: utilisation, jobs waiting, and their distribution.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.api import PS_PER_S, Diagnostic, Run, Severity, WorkbenchError, listed, percent_text
from workbench.api.stream_events import NO_SPELLS, EdgeEvents, Events, events_of
from workbench.api.virtual_queue import mean, memory, services, shares_of_time, worked

SLIGHT = 0.01  # of a run
LEAST = 50  # jobs, for a station to be told of
LOOKS = 4096  # at the queue, at even moments, to find for how long its occupancies depend on one another
CHANCE = 3.0  # standard errors of the variation of a Poisson process's intervals, 2 / sqrt(n)


@dataclass(frozen=True)
class Calibrated:
    """A block as a station. `routes` are jobs at another for each one served here; `batch` jobs arrive together, as an
    average job sees it, and `arrival_variation` is the variance of the times between these arrivals over their mean
    squared (1, that of a Poisson process, where chance alone takes it as far from 1)."""

    name: str
    outside_per_s: float
    service_per_s: float
    variation: float
    batch: int
    arrival_variation: float
    places: int
    routes: Mapping[str, float]
    utilisation: float
    occupancy: NDArray[np.float64]
    observations: float


def model_of(run: Run) -> tuple[str, Sequence[Diagnostic]]:
    """The model's document, and what its arrivals are not. WorkbenchError where the run tells nothing of streams."""
    file = str(run.path) if run.path else None
    events = events_of(run.tables, file or "")
    if events is None:
        hint = "Run a streaming application with --trace."
        raise WorkbenchError(Diagnostic("this run has no stream events", hint, file=file))
    stations = calibrated(events)
    if not stations:
        hint = f"Run with more data: a block that takes time must receive at least {LEAST} elements."
        raise WorkbenchError(Diagnostic("too few elements passed this run's streams", hint, file=file))
    known = {f"{events.name}.{station.name}" for station in stations}
    return document(events.name, run.manifest.name, stations), (*_held_up(events, known), *_left_out(events, known))


def _left_out(events: Events, stations: Collection[str]) -> Iterator[Diagnostic]:
    """What a run has that its model does not: blocks that take few elements, and buses."""
    edges = events.edges.values()
    sinks = dict.fromkeys(edge.edge.sink.block for edge in edges)
    if few := [_short(events, block) for block in sinks if block not in stations]:
        message = f"the model leaves out {listed(few)}: fewer than {LEAST} elements or no time for them was recorded"
        hint = "`workbench query RUN --limits` has these blocks too."
        yield Diagnostic(message, hint, Severity.WARNING)
    if crossing := [_short(events, edge.edge.label) for edge in edges if edge.taken_ps is not None]:
        message = f"the model leaves out the bus, which {listed(crossing)} cross"
        hint = "If the bus limits the throughput (see `workbench query RUN --limits`), the model's rates are too high."
        yield Diagnostic(message, hint, Severity.NOTE)


def _held_up(events: Events, stations: Collection[str]) -> Iterator[Diagnostic]:
    """A warning for each block before the stations that waited for room: its rate is limited by the queue, which a
    queueing network does not model."""
    for edge in events.edges.values():
        source, held_up_ps = edge.edge.source.block, int(np.diff(edge.blocked_ps).sum())
        share = held_up_ps / max(events.end_ps - events.start_ps, 1)
        if source in stations or edge.edge.sink.block not in stations or share < SLIGHT:
            continue
        waited = f"{_short(events, source)} waited for room in {_short(events, edge.edge.label)}"
        message = f"{waited} for {percent_text(share)} of the run: it sent as fast as the queue allowed"
        hint = "The model does not show this wait: set arrivals_per_s to a rate that the stations can serve."
        yield Diagnostic(message, hint, Severity.WARNING)


def calibrated(events: Events) -> tuple[Calibrated, ...]:
    """Every block that takes elements and works on them, in the order of the data's edges. Elements of a block that is
    no station, such as a source, come from outside."""
    edges = events.edges.values()
    blocks = dict.fromkeys(edge.edge.sink.block for edge in edges)
    stations = {}
    for block in blocks:
        station = _station(events, block, [e for e in edges if e.edge.sink.block == block],
                           [e for e in edges if e.edge.source.block == block])  # fmt: skip
        if station:
            stations[block] = station
    span_s = (events.end_ps - events.start_ps) / PS_PER_S
    outside = dict.fromkeys(stations, 0)
    for edge in edges:
        if edge.edge.sink.block in stations and edge.edge.source.block not in stations:
            outside[edge.edge.sink.block] += len(edge.push_ps)
    return tuple(replace(station, outside_per_s=outside[block] / span_s) for block, station in stations.items())


def _station(events: Events, block: str, into: Sequence[EdgeEvents], out: Sequence[EdgeEvents]) -> Calibrated | None:
    there = [edge.push_ps if edge.delivered_ps is None else edge.delivered_ps for edge in into]
    pushes = np.sort(np.concatenate(there))
    order = np.argsort(np.concatenate([edge.pop_ps for edge in into]), kind="stable")
    pops = np.concatenate([edge.pop_ps for edge in into])[order]
    if len(pops) < LEAST:
        return None
    span_s = (events.end_ps - events.start_ps) / PS_PER_S
    held_up = [edge.blocked_ps for edge in out]
    waits = [edge.waiting_ps[edge.waiting_ps[:, 1] <= pops[-1]] for edge in into]  # not those after a stream's end
    if any(map(len, waits)):
        service = worked(pops, _united(held_up + waits))
    else:  # the block's waiting was not seen: times that began with another element there
        ready = np.concatenate([t[: len(e.pop_ps)] for t, e in zip(there, into, strict=True)])[order]
        service = np.where(np.isnan(services(ready, pops)), np.nan, worked(pops, _united(held_up)))
    service = service[~np.isnan(service)] / PS_PER_S
    if len(service) < LEAST or not service.mean() > 0:
        return None
    if block in events.pools:  # as one server at the joint rate of its threads
        pool = events.pools[block]
        service *= pool.busy_ps / PS_PER_S / pool.threads / len(pops) / service.mean()
    routes: dict[str, float] = {}
    for edge in out:
        name = _short(events, edge.edge.sink.block)
        routes[name] = routes.get(name, 0.0) + len(edge.push_ps) / len(pops)
    arrivals, together = np.unique(np.concatenate([_arrivals(edge) for edge in into]), return_counts=True)
    between = np.diff(arrivals)
    irregular = float(between.var() / between.mean() ** 2) if between.any() else 1.0
    moments = np.linspace(events.start_ps, events.end_ps, LOOKS)
    looked = (pushes.searchsorted(moments) - pops.searchsorted(moments)).astype(np.float64)
    return Calibrated(
        _short(events, block),
        0.0,
        1 / service.mean(),
        float(service.var() / service.mean() ** 2),
        round(float((together**2).sum() / together.sum())),
        irregular if abs(irregular - 1) > CHANCE * 2 / np.sqrt(len(arrivals)) else 1.0,
        sum(edge.edge.depth for edge in into) + 1,
        routes,
        len(pops) * service.mean() / span_s,
        shares_of_time(pushes.astype(np.float64), pops.astype(np.float64), events.start_ps, events.end_ps),
        min(LOOKS, len(pops)) / memory(looked),
    )


def _arrivals(edge: EdgeEvents) -> NDArray[np.int64]:
    """When each element came, those of a transfer at one time."""
    if edge.taken_ps is None or edge.delivered_ps is None:
        return edge.push_ps
    _, sizes = np.unique(edge.taken_ps[: len(edge.delivered_ps)], return_counts=True)
    return edge.delivered_ps[sizes.cumsum() - 1].repeat(sizes)


def _short(events: Events, block: str) -> str:
    return block.removeprefix(f"{events.name}.")


def _united(parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Spells in which any of the parts' spells is."""
    spells = np.concatenate([NO_SPELLS, *parts])
    spells = spells[np.argsort(spells[:, 0], kind="stable")]
    if not len(spells):
        return spells
    ends = np.maximum.accumulate(spells[:, 1])
    first = np.concatenate([[True], spells[1:, 0] > ends[:-1]])
    return np.stack([spells[first, 0], ends[np.concatenate([first[1:], [True]])]], axis=1)


def document(application: str, run: str, stations: Sequence[Calibrated]) -> str:
    """The model as YAML. Routes to blocks that are not stations are left out."""
    known = {station.name for station in stations}
    said = f"Calibrated from run {run}: working times of blocks for each element, elements received and sent."
    lines = [
        "schema_version: 1",
        f"name: {json.dumps(application)}",
        f"title: {json.dumps(f'{application}, calibrated from a run')}",
        f"description: {json.dumps(said)}",
        "",
        "stations:",
    ]
    for station in stations:
        lines.append(f"  - name: {json.dumps(station.name)}")
        if station.outside_per_s:
            lines.append(f"    arrivals_per_s: {station.outside_per_s:.9g}")
        lines.append(f"    service_per_s: {station.service_per_s:.9g}")
        lines.append(f"    variation: {station.variation:.6g}")
        if station.batch > 1:
            lines.append(f"    batch: {station.batch}")
        if station.arrival_variation != 1:
            lines.append(f"    arrival_variation: {station.arrival_variation:.6g}")
        lines.append(f"    places: {station.places}")
        routes = [f"{{station: {json.dumps(name)}, jobs: {jobs:.9g}}}" for name, jobs in station.routes.items()
                  if name in known and jobs]  # fmt: skip
        if routes:
            lines.append(f"    to: [{', '.join(routes)}]")
    lines += ["", "measured:"]
    for station in stations:
        shares = ", ".join(f"{share:.6g}" for share in station.occupancy)
        lines += [
            f"  - station: {json.dumps(station.name)}",
            f"    utilisation: {station.utilisation:.6g}",
            f"    waiting: {mean(station.occupancy):.6g}",
            f"    observations: {station.observations:.6g}",
            f"    source: {json.dumps(f'run {run}')}",
            f"    occupancy: [{shares}]",
        ]
    return "\n".join(lines) + "\n"

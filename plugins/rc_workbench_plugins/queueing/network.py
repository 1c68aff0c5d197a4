"""A network of stations: what arrives at each, and what that makes of its server and its queue.

Stations are independent of one another (Jackson's theorem): exact where service is exponential and nothing is lost,
else the usual approximation. What is said of a station is what is asked of it: a station that is asked for more than it
serves has no steady state, and those behind it get less than stands there (`notes` says so).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.queueing.model import QueueingModel, Station
from rc_workbench_plugins.queueing.station import at_least, full, limited_jobs, waiting
from workbench.api import Diagnostic, ModelValues, Severity, Values, WorkbenchError, listed
from workbench.api.predictions import Cell
from workbench.api.unstable import prefixed, significant

Model = ModelValues[QueueingModel]
_ROUNDS, _CLOSE = 500, 1e-13  # of what lossy stations in loops let through


@dataclass(frozen=True)
class StationState:
    """A station in the network. `utilisation` is lambda / mu as asked, `busy` the share of the time in which it serves,
    `jobs` with and `waiting` without the one being served. `full` is P[N >= places], or the share lost where the
    station is limited; None where it has no places, or nothing is known of the distribution (other than M/M/1)."""

    name: str
    arrivals_per_s: Values
    service_per_s: Values
    utilisation: Values
    busy: Values
    jobs: Values
    waiting: Values
    time_s: Values
    full: Values | None
    lost_per_s: Values


@dataclass(frozen=True)
class Network:
    """`latency_s` is the time in all stations of each job that comes from outside (Little); `most_per_s` are the jobs
    from outside that the busiest station could keep up with, at the same mixture."""

    stations: tuple[StationState, ...]
    outside_per_s: Values
    utilisation: Values
    busiest: str
    jobs: Values
    latency_s: Values
    most_per_s: Values


def network(values: Model, load: Values | None = None) -> Network:
    """The network, at `load` times its arrivals from outside. Raises WorkbenchError where jobs go round without end, or
    a number is none that its field may have."""
    stations = values.model.stations
    given = [
        np.asarray(values.of("stations", n, field), np.float64)
        for n, _ in enumerate(stations)
        for field in ("arrivals_per_s", "service_per_s", "variation", "batch", "arrival_variation")
    ]
    routes = {
        (n, m): np.asarray(values.of("stations", n, "to", m, "jobs"), np.float64)
        for n, station in enumerate(stations)
        for m, _ in enumerate(station.to)
    }
    places = [
        np.asarray(values.of("stations", n, "places"), np.float64) if station.places is not None else None
        for n, station in enumerate(stations)
    ]
    load = np.asarray(1.0 if load is None else load)
    every = (load, *given, *routes.values(), *(p for p in places if p is not None))
    shape = np.broadcast_shapes(*(np.shape(one) for one in every))
    outside, service, *shapes = (
        np.stack([np.broadcast_to(v, shape) for v in given[first::5]], axis=-1) for first in range(5)
    )
    outside = outside * load[..., None]
    numbers = {station.name: n for n, station in enumerate(stations)}
    passes = np.zeros((*shape, len(stations), len(stations)))
    for (n, m), jobs in routes.items():
        passes[..., numbers[stations[n].to[m].station], n] += jobs
    limits = [p if station.limited else None for station, p in zip(stations, places, strict=True)]
    arrivals = _arrivals(values, outside, service, passes, limits)
    states = tuple(
        _station(station, arrivals[..., n], service[..., n], [of[..., n] for of in shapes], places[n])
        for n, station in enumerate(stations)
    )
    asked = arrivals / service
    whole, jobs = outside.sum(axis=-1), np.stack([np.asarray(state.jobs) for state in states]).sum(axis=0)
    highest = asked.max(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        latency_s = np.where(whole > 0, jobs / whole, 0.0)
        most_per_s = np.where(highest > 0, whole / highest, np.inf)
    busiest = stations[int(np.argmax(asked.reshape(-1, len(stations)).mean(axis=0)))].name
    return Network(states, whole, highest, busiest, jobs, latency_s, most_per_s)


def _arrivals(
    values: Model,
    outside: NDArray[np.float64],
    service: NDArray[np.float64],
    passes: NDArray[np.float64],
    limits: Sequence[NDArray[np.float64] | None],
) -> NDArray[np.float64]:
    """lambda = outside + passes (lambda not lost), the equations of section 7.3 for any network: jobs a second."""
    served = np.ones_like(outside)
    identity = np.eye(outside.shape[-1])
    for _ in range(_ROUNDS):
        try:
            rates = np.linalg.solve(identity - passes * served[..., None, :], outside[..., None])[..., 0]
        except np.linalg.LinAlgError:
            raise WorkbenchError(_round_and_round(values)) from None
        if not np.isfinite(rates).all() or (rates < -1e-9 * np.abs(rates).max(initial=0.0)).any():
            raise WorkbenchError(_round_and_round(values))
        arrivals: NDArray[np.float64] = np.maximum(rates, 0.0)
        through = [
            np.ones_like(served[..., n]) if limit is None else 1 - full(arrivals[..., n] / service[..., n], limit)
            for n, limit in enumerate(limits)
        ]
        before, served = served, np.stack(through, axis=-1)
        if np.abs(served - before).max(initial=0.0) <= _CLOSE:
            return arrivals
    message = "the computed throughput of the limited stations does not converge"
    raise WorkbenchError(values.problem(("stations",), message, "Remove the loop of routes, or `limited`."))


def _round_and_round(values: Model) -> Diagnostic:
    message = "jobs enter a loop of routes faster than they leave it"
    return values.problem(("stations",), message, "Make the product of `jobs` along every loop less than 1.")


def _station(
    station: Station, arrivals: Values, service: Values, shapes: Sequence[Values], places: Values | None
) -> StationState:
    """`shapes`: the variation of its services, how many jobs come together, the variation of their arrivals."""
    rho = arrivals / service
    if station.limited:
        assert places is not None
        lost = full(rho, places)
        busy = rho * (1 - lost)
        jobs = limited_jobs(rho, places)
        queue = jobs - busy
        share_full: Values | None = lost
    else:
        lost, busy = np.zeros_like(rho), np.minimum(rho, 1.0)
        queue = waiting(rho, *shapes)
        jobs = queue + busy
        markov = all(np.all(shape == 1) for shape in shapes)
        share_full = at_least(rho, places) if markov and places is not None else None
    kept = arrivals * (1 - lost)
    with np.errstate(divide="ignore", invalid="ignore"):
        time_s = np.where(kept > 0, jobs / kept, 1 / service)
    return StationState(station.name, arrivals, service, rho, busy, jobs, queue, time_s, share_full, arrivals * lost)


def outputs(values: Model) -> Mapping[str, Values]:
    """The network's numbers by name, then each station's: "NAME utilisation" and "NAME waiting"."""
    solved = network(values)
    said: dict[str, Values] = {
        "utilisation": solved.utilisation,
        "latency_s": solved.latency_s,
        "jobs": solved.jobs,
        "most_per_s": solved.most_per_s,
    }
    for state in solved.stations:
        said |= {f"{state.name} utilisation": state.utilisation, f"{state.name} waiting": state.waiting}
    return said


def notes(values: Model) -> Sequence[Diagnostic]:
    """Stations that are asked for more than they serve, and queues that are likely full."""
    return notes_of(values, network(values))


def notes_of(values: Model, network: Network) -> Sequence[Diagnostic]:
    """`notes` of a network that is computed."""
    said = []
    for n, (state, station) in enumerate(zip(network.stations, values.model.stations, strict=True)):
        rho = float(np.max(state.utilisation))
        if rho >= 1 and not station.limited:
            grows = (rho - 1) * float(np.max(state.service_per_s))
            message = (
                f"'{state.name}' is unstable: jobs arrive at {significant(rho, 4)} times its service rate, so its "
                f"queue grows by {prefixed(grows, '')} jobs a second and has no mean"
            )
            hint = f"Let at most {prefixed(float(np.min(network.most_per_s)), '')} jobs a second arrive from outside."
            behind = listed([route.station for route in station.to])
            hint += f" While this queue grows, fewer jobs than stated reach {behind}." if behind else ""
            said.append(values.problem(("stations", n), message, hint, Severity.WARNING))
        elif state.full is not None and not station.limited and (chance := float(np.max(state.full))) > 0.01:
            message = (
                f"the queue of '{state.name}' would be full for {significant(100 * chance)} % of the time: "
                "a real queue then holds up the stations before it"
            )
            hint = "The model's queue is infinite. With `limited: true`, jobs at a full queue are lost."
            said.append(values.problem(("stations", n, "places"), message, hint, Severity.WARNING))
    return said


def cell_value(values: Model, cell: Cell) -> float:
    """The number that a printed cell names: "utilisation STATION", "waiting STATION" or "full STATION"."""
    kind, _, name = cell.what.partition(" ")
    (state,) = (s for s in network(values).stations if s.name == name)
    number = {"utilisation": state.utilisation, "waiting": state.waiting, "full": state.full}[kind]
    assert number is not None
    return float(number)

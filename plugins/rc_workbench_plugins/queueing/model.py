"""The document of a queueing model: stations, what arrives at them, and where their jobs go on to."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from rc_workbench_plugins.queueing import forms
from workbench.api import Completed, Count, Formula, Group, ModelDocument, ModelReading, PartDocument, Positive, near
from workbench.api.models import told_twice

_ROUNDED = 1e-3  # what shares that were rounded may miss of 1


class Route(PartDocument):
    """Where jobs go on to, and how many of them for each that was served: a probability, or more than one where a job
    carries several (a byte on the bus is two bases)."""

    called: ClassVar[str] = "route"
    new: ClassVar[Mapping[str, object]] = {"jobs": 1}
    form: ClassVar[tuple[Group, ...]] = forms.ROUTE

    station: str = Field(description="the station that they go on to")
    jobs: Formula = Field(1, description="jobs there for each one served here: a share, or a number above one")


class Station(PartDocument):
    """A server and the queue before it.

    With `places` the queue is a real one: unlimited models say how probable so many jobs are;
    a `limited` one (M/M/1/K) loses those that find it full.
    """

    called: ClassVar[str] = "station"
    new: ClassVar[Mapping[str, object]] = {"service_per_s": 1}
    form: ClassVar[tuple[Group, ...]] = forms.STATION

    name: str = Field(description="the station's name")
    arrivals_per_s: Formula = Field(0, description="jobs a second from outside")
    service_per_s: Positive = Field(description="mu: jobs a second that it serves while it has any")
    variation: Formula = Field(
        1, description="variance of the service time over its mean squared: 1 exponential (M/M/1), 0 constant (M/D/1)"
    )
    batch: Count = Field(1, description="jobs that arrive together, as those of one transfer across a bus")
    arrival_variation: Formula = Field(
        1,
        description="variance of the times between arrivals (of batches) over their mean squared: 1 Poisson, 0 even",
    )
    places: Count | None = Field(None, description="jobs that fit in the station, the one being served included")
    limited: bool = Field(False, description="whether jobs that arrive at a full queue are lost (M/M/1/K)")
    to: tuple[Route, ...] = Field((), description="where its jobs go on to; other jobs leave")


class StationMeasurement(PartDocument):
    """What was measured at a station, to be held against the model."""

    called: ClassVar[str] = "measurement"
    form: ClassVar[tuple[Group, ...]] = forms.MEASURED

    station: str = Field(description="the station")
    utilisation: Formula | None = Field(None, description="the share of the time in which it serves")
    waiting: Formula | None = Field(None, description="jobs in its queue on average, the one being served left out")
    occupancy: tuple[float, ...] = Field(
        (), description="the shares of the time with 0, 1, 2, ... jobs in its queue", examples=[[0.7, 0.2, 0.1]]
    )
    observations: float | None = Field(
        None,
        description="number of independent observations behind `occupancy`",
        examples=[1000],
    )
    source: str = Field("", description="source of the numbers")


class QueueingModel(ModelDocument):
    """A network of stations, each with a queue; jobs arrive at random (Poisson) by default."""

    form: ClassVar[tuple[Group, ...]] = forms.MODEL

    stations: tuple[Station, ...] = Field((), description="servers with their queues")
    measured: tuple[StationMeasurement, ...] = Field((), description="measurements to compare the model with")


def check(reading: ModelReading[QueueingModel]) -> Completed:
    """Tell of stations that are called alike or not there, and of limits without places."""
    stations, measured = reading.model.stations, reading.model.measured
    names = [station.name for station in stations]
    told_twice(reading, names, [("stations", n, "name") for n in range(len(names))], "stations")
    if not stations:
        reading.tell((), "the model has no stations", "Give at least one under `stations`, with its `service_per_s`.")
    for n, station in enumerate(stations):
        for m, route in enumerate(station.to):
            if route.station not in names:
                message = f"there is no station '{route.station}'"
                reading.tell(("stations", n, "to", m, "station"), message, near(route.station, names, "Stations"))
        if station.limited and station.places is None:
            reading.tell(("stations", n, "limited"), "this limited station has no capacity", "Give its `places`.")
        for field, kind in (("variation", "exponential service times"), ("batch", "jobs that come one by one"),
                            ("arrival_variation", "Poisson arrivals")):  # fmt: skip
            if station.limited and getattr(station, field) != 1:
                message = f"a limited station needs {kind}"
                reading.tell(("stations", n, field), message, f"Leave out `{field}`, or `limited`.")
    for n, row in enumerate(measured):
        if row.station not in names:
            hint = near(row.station, names, "Stations")
            reading.tell(("measured", n, "station"), f"there is no station '{row.station}'", hint)
        if row.occupancy and (min(row.occupancy) < 0 or abs(sum(row.occupancy) - 1) > _ROUNDED):
            message = f"these shares of the time add up to {sum(row.occupancy):.4g}"
            reading.tell(("measured", n, "occupancy"), message, "Shares are from 0 to 1 and add up to 1.")
    return Completed(reading.model)

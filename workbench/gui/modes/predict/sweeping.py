"""What Explore computes in the background: sweeps with bands, fronts, influences. No Qt."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.model.diagnostic import WorkbenchError
from workbench.predict.explore import Bands, FrontPoint, bands, explore, sweep
from workbench.predict.formulas import ModelFile
from workbench.predict.inputs import Spread
from workbench.predict.kinds import outputs_of
from workbench.predict.sensitivity import Influence, sensitivity
from workbench.predict.space import make_space

POINTS, FAMILY, FRONT, SAMPLES = 161, 5, 41, 2_000
WHOLE_UP_TO = 64


@dataclass(frozen=True)
class SweepQuestion:
    """What is swept: an input from `low` to `high`, and `second` at a few values where it is not "".

    With a `share`, inputs that the model takes as certain are taken as uniform within that share of their values.
    """

    name: str
    low: float
    high: float
    log: bool
    output: str
    second: str = ""
    second_low: float = 0.0
    second_high: float = 0.0
    resource: str = ""
    reading: str | None = None
    share: float = 0.0


@dataclass(frozen=True, eq=False)
class SweepAnswer:
    """`values` and `others`, of the resource, are of shape (second's values, points), `others` empty where no resource
    is asked for; `bands` is of the first of them where inputs are uncertain."""

    question: SweepQuestion
    x: NDArray[np.float64]
    second: NDArray[np.float64]
    values: NDArray[np.float64]
    bands: Bands | None
    influences: tuple[Influence, ...]
    front: tuple[FrontPoint, ...]
    others: NDArray[np.float64]
    own_x: float
    own_y: float


def spaced(file: ModelFile, name: str, low: float, high: float, count: int, log: bool) -> NDArray[np.float64]:
    """Up to `count` values of an input; each one where it is a whole number and so many are enough."""
    if not file.domain(name).integer:
        return np.geomspace(low, high, count) if log and low > 0 else np.linspace(low, high, count)
    first, last = np.ceil(low), np.floor(high)
    if last - first < count:
        return np.arange(first, last + 1, dtype=np.float64)
    return np.unique(
        np.rint(np.geomspace(first, last, count) if log and first > 0 else np.linspace(first, last, count))
    )


def is_count(file: ModelFile, name: str) -> bool:
    """Whether an input is a small whole number, such as a node count."""
    return file.domain(name).integer and 0 < file.inputs[name] <= WHOLE_UP_TO


def matters(file: ModelFile, name: str, output: str, reading: str | None) -> bool:
    """Whether an output changes with an input at all, near the model's value."""
    own, allowed = float(file.at({}, reading)[name]), file.domain(name)
    step = 1.0 if allowed.integer else own * 0.01
    beside = next((value for value in (own + step, own - step) if allowed.bad(value) is None), own)
    try:
        changed = outputs_of(file, {name: beside}, reading)[output]
    except WorkbenchError:  # some field takes the model's value and not this one
        return False
    return beside != own and float(changed) != float(outputs_of(file, None, reading)[output])


def usual_range(file: ModelFile, name: str) -> tuple[float, float]:
    """The default range of an input's sweep."""
    value, allowed = file.inputs[name], file.domain(name)
    if (spread := file.spreads.get(name)) and spread.low is not None and spread.high is not None:
        return spread.low, spread.high
    if is_count(file, name):
        return max(1.0, allowed.least), min(max(16.0, value * 4), allowed.most)
    low, high = (value / 4, value * 4) if value else (0.0, 1.0)
    return max(low, allowed.least), min(high, allowed.most)


def spreads_of(file: ModelFile, share: float) -> dict[str, Spread]:
    """The inputs that are uncertain once those without a spread are within a share of their values; counts are not."""
    if not share:
        return dict(file.spreads)
    assumed = {}
    for name, value in file.inputs.items():
        if value > 0 and not is_count(file, name):
            bounds = file.domain(name).held(np.array([value * (1 - share), value * (1 + share)]))
            assumed[name] = Spread(value, float(bounds[0]), float(bounds[1]))
    return {**assumed, **file.spreads}


def front_axes(
    file: ModelFile, asked: SweepQuestion, axes: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """What the front is searched over: what is swept, and the inputs that the resource is counted from."""
    counted = file.formulas.get(("resources", asked.resource))
    read = counted.names if counted else frozenset()
    thinned = {name: values[:: max(1, len(values) // FRONT)] for name, values in axes.items()}
    for name in sorted(read - thinned.keys()):
        thinned[name] = spaced(file, name, *usual_range(file, name), FRONT, False)
    return thinned


def answer(file: ModelFile, asked: SweepQuestion) -> SweepAnswer:
    """Sweep and rank. Raises WorkbenchError for what cannot be computed."""
    x = spaced(file, asked.name, asked.low, asked.high, POINTS, asked.log)
    axes = {asked.name: x}
    second = np.array([])
    if asked.second:
        second = spaced(file, asked.second, asked.second_low, asked.second_high, FAMILY, asked.log)
        axes = {asked.second: second, asked.name: x}
    table = sweep(file, make_space(file, axes), asked.reading)
    values = table.outputs[asked.output].reshape(-1, len(x))
    band = None
    spreads = spreads_of(file, asked.share)
    if not asked.second and any(name != asked.name for name in spreads):
        band = bands(file, make_space(file, {asked.name: x}, SAMPLES, spreads), asked.output, asked.reading)
    front: tuple[FrontPoint, ...] = ()
    if asked.resource:
        front = explore(
            file, make_space(file, front_axes(file, asked, axes)), asked.output, asked.resource, asked.reading
        ).front
    own = file.at({}, asked.reading)
    return SweepAnswer(
        asked,
        x,
        second,
        values,
        band,
        sensitivity(file, asked.output, asked.reading, spreads, samples=1024),
        tuple(sorted(front, key=lambda p: p.x)),
        table.outputs[asked.resource].reshape(values.shape) if asked.resource else np.array([]),
        float(own[asked.name]),
        float(outputs_of(file, None, asked.reading)[asked.output]),
    )

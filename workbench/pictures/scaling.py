"""How a run's time follows one of its settings: measured, predicted and ideal, as a plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.model.text import ratio_text, time_text, trimmed
from workbench.pictures.plot import Axis, Line, Plot


@dataclass(frozen=True)
class ScalingPoint:
    """A run with one value of the setting. `predicted_s` is what was predicted of it, between `low_s` and `high_s`;
    others are predicted from a `base`, whose time is the measured one."""

    value: float
    time_s: float
    run: str
    predicted_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    base: bool = False


@dataclass(frozen=True)
class Scaling:
    """Three or more runs that differ in one setting alone, by its value. `equal_work`: all did the same work, so that
    their speedups over the first can be compared with the ideal, the value's own growth."""

    setting: str
    points: tuple[ScalingPoint, ...]
    equal_work: bool

    def speedup(self, time_s: float) -> float:
        """Over the run with the least value."""
        return self.points[0].time_s / time_s

    def ideal(self, point: ScalingPoint) -> float:
        return point.value / self.points[0].value


def scaling_plot(scaling: Scaling) -> Plot:
    """Speedup over the setting where all runs did the same work, else the run's time."""
    points, speedups = scaling.points, scaling.equal_work and scaling.points[0].value > 0
    known = _predicted(points)

    def of(seconds: list[float]) -> np.ndarray:
        times_s = np.array(seconds)
        return points[0].time_s / times_s if speedups else times_s

    x = np.array([point.value for point in points])
    lines = [Line("measured", x, of([p.time_s for p in points]), "text", points=True, joined=not known)]
    if known:
        at = np.array([p.value for p, _ in known])
        ends = of([p.high_s or s for p, s in known]), of([p.low_s or s for p, s in known])
        band = (np.minimum(*ends), np.maximum(*ends))
        lines.append(Line("predicted", at, of([s for _, s in known]), "accent", band=band, points=len(known) == 1))
    if speedups:
        lines.append(Line("ideal", x, np.array([scaling.ideal(p) for p in points]), "muted", dashed=True))

    def say(line: int, number: int) -> str:
        if lines[line].name == "ideal":
            return f"ideal: {ratio_text(scaling.ideal(points[number]))}"
        point = known[number][0] if lines[line].name == "predicted" else points[number]
        return point_words(scaling, point)

    first = f"{scaling.setting} {value_text(points[0].value)}"
    y = (
        Axis(f"speedup over {first}", lambda v: trimmed(ratio_text(v)))
        if speedups
        else Axis("time", time_text, unit="s")
    )
    return Plot(Axis(scaling.setting, value_text), y, tuple(lines), legend=True, say=say)


def _predicted(points: Sequence[ScalingPoint]) -> list[tuple[ScalingPoint, float]]:
    """The points that were predicted, and those that they were predicted from; none where nothing was predicted."""
    if not any(p.predicted_s for p in points):
        return []
    return [(p, p.time_s if p.base else p.predicted_s or 0.0) for p in points if p.base or p.predicted_s]


def value_text(value: float) -> str:
    """A value of the setting: `8`, `0.25`."""
    return f"{value:g}"


def scaling_words(scaling: Scaling) -> str:
    """How many runs, of what, and whether they can be compared with the ideal."""
    first, last = (value_text(scaling.points[at].value) for at in (0, -1))
    how = "All did the same work." if scaling.equal_work else "Their work differs, so there is no ideal."
    return f"{len(scaling.points)} runs, {scaling.setting} {first} to {last}. {how}"


def point_words(scaling: Scaling, point: ScalingPoint) -> str:
    """A point in words: `CORES 8: 15.5 ms, 7.20× (ideal 8.00×), predicted 15.4 ms, run-8`."""
    said = [f"{scaling.setting} {value_text(point.value)}: {time_text(point.time_s)}"]
    if scaling.equal_work and scaling.points[0].value > 0:
        said.append(f"{ratio_text(scaling.speedup(point.time_s))} (ideal {ratio_text(scaling.ideal(point))})")
    if point.base:
        said.append("predicted from it")
    elif point.predicted_s:
        said.append(f"predicted {time_text(point.predicted_s)}")
    return ", ".join([*said, Path(point.run).name])

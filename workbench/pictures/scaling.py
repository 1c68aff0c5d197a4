"""Plots of a run's time against one of its settings: measured, predicted and ideal, by state and by block."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle
from pathlib import Path

import numpy as np

from workbench.model.pragma import Category
from workbench.model.text import percent_text, ratio_text, time_text, trimmed
from workbench.pictures.density import INKS
from workbench.pictures.plot import Axis, Line, Plot, Values
from workbench.pictures.states import category_name

#: The number of states or blocks with lines of their own; the others share one.
MOST_PARTS = 6
OTHERS = "others"
_ALIKE = 1.02  # two times with a ratio below this count as equal


@dataclass(frozen=True)
class Part:
    """The time of a state of the host's main block, or the working time of a block (the mean of replicas)."""

    name: str
    category: Category | None
    time_s: float


@dataclass(frozen=True)
class ScalingPoint:
    """A run with one value of the setting. `predicted_s` is its predicted time, between `low_s` and `high_s`; other
    points are predicted from a `base`, whose time is the measured one."""

    value: float
    time_s: float
    run: str
    predicted_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    base: bool = False
    states: tuple[Part, ...] = ()
    blocks: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Scaling:
    """Three or more runs that differ only in one setting, by its value. With `equal_work` all did the same work, so
    that their speedups over the first can be compared with the ideal, the growth of the value."""

    setting: str
    points: tuple[ScalingPoint, ...]
    equal_work: bool

    @property
    def has_ideal(self) -> bool:
        return self.equal_work and self.points[0].value > 0

    def speedup(self, time_s: float) -> float:
        """The speedup over the run with the least value."""
        return self.points[0].time_s / time_s

    def ideal(self, point: ScalingPoint) -> float:
        return point.value / self.points[0].value

    def efficiency(self, point: ScalingPoint) -> float:
        """The reached part of the ideal speedup, 1 for all of it."""
        return self.speedup(point.time_s) / self.ideal(point)


class ScalingForm(StrEnum):
    """The quantity plotted against the setting."""

    SPEEDUP = "speedup"
    EFFICIENCY = "efficiency"
    STATES = "states"
    BLOCKS = "blocks"


def scaling_forms(scaling: Scaling) -> dict[ScalingForm, str]:
    """The possible plots of these runs, with their titles."""
    forms = {ScalingForm.SPEEDUP: "Speedup" if scaling.has_ideal else "Time"}
    if scaling.has_ideal:
        forms[ScalingForm.EFFICIENCY] = "Efficiency"
    if any(point.states for point in scaling.points):
        forms[ScalingForm.STATES] = "By state"
    if any(point.blocks for point in scaling.points):
        forms[ScalingForm.BLOCKS] = "By block"
    return forms


def scaling_plot(scaling: Scaling, form: ScalingForm = ScalingForm.SPEEDUP, *, log: bool = False) -> Plot:
    """The speedup against the setting if all runs did the same work, otherwise the run's time; or the efficiency, or
    the times of states (stacked on linear axes) or of blocks. With `log` both axes are logarithmic, except for an
    efficiency."""
    if form in (ScalingForm.STATES, ScalingForm.BLOCKS):
        return _parts_plot(scaling, form, log)
    if form is ScalingForm.EFFICIENCY:
        return _curve(scaling, Axis("efficiency", percent_text, from_zero=True), scaling.efficiency, log)
    if scaling.has_ideal:
        first = f"{scaling.setting} {value_text(scaling.points[0].value)}"
        y = Axis(f"speedup over {first}", lambda v: trimmed(ratio_text(v)), log, from_zero=True)
        return _curve(scaling, y, lambda point: scaling.speedup(point.time_s), log)
    return _curve(scaling, Axis("time", time_text, log, "s", from_zero=True), lambda point: point.time_s, log)


def _curve(scaling: Scaling, y: Axis, of: Callable[[ScalingPoint], float], log: bool) -> Plot:
    """The values of `of` for the measured, the predicted and the ideal times."""
    points, predicted = scaling.points, _predicted(scaling.points)

    def values(of_points: Sequence[ScalingPoint]) -> Values:
        return np.array([of(point) for point in of_points])

    def at(point: ScalingPoint, time_s: float) -> ScalingPoint:
        return ScalingPoint(point.value, time_s, point.run)

    x = _values(points)
    lines = [Line("measured", x, values(points), "text", points=True, joined=not predicted)]
    if predicted:
        ends = [values([at(p, end or s) for (p, s), end in zip(predicted, side, strict=True)])
                for side in zip(*((p.high_s, p.low_s) for p, _ in predicted), strict=True)]  # fmt: skip
        band = (np.minimum(*ends), np.maximum(*ends))
        y_known = values([at(p, s) for p, s in predicted])
        lines.append(
            Line(
                "predicted",
                _values([p for p, _ in predicted]),
                y_known,
                "accent",
                band=band,
                points=len(predicted) == 1,
            )
        )
    if scaling.has_ideal:
        ideal = values([at(p, points[0].time_s / scaling.ideal(p)) for p in points])
        lines.append(Line("ideal", x, ideal, "muted", dashed=True))

    def say(line: int, number: int) -> str:
        if lines[line].name == "ideal":
            return f"ideal: {y.text(float(lines[line].y[number]))}"
        point = predicted[number][0] if lines[line].name == "predicted" else points[number]
        return point_words(scaling, point)

    return Plot(_setting_axis(scaling, log), y, tuple(lines), legend=True, say=say)


def _parts_plot(scaling: Scaling, form: ScalingForm, log: bool) -> Plot:
    """The times of states or blocks. States, which sum to the run's time, are stacked on linear axes. The longest in
    the last run is the lowest."""
    points = scaling.points
    parts = part_times(scaling, form)
    stacked = form is ScalingForm.STATES and not log
    x, inks = _values(points), cycle(INKS)
    lines, below = [], np.zeros(len(points))
    for part, times_s in parts:
        ink = f"state:{category_name(part.category)}" if form is ScalingForm.STATES else next(inks)
        y = below + times_s if stacked else np.where(times_s > 0, times_s, np.nan) if log else times_s
        lines.append(
            Line(part.name, x, y, ink, points=not stacked, stacked=stacked, band=(below, y) if stacked else None)
        )
        below = below + times_s
    if scaling.has_ideal:
        ideal_s = np.array([points[0].time_s / scaling.ideal(point) for point in points])
        lines.append(Line("ideal run", x, ideal_s, "muted", dashed=True))

    def say(line: int, number: int) -> str:
        if line < len(parts):
            return part_words(scaling, points[number], *parts[line])
        return f"ideal run: {time_text(float(lines[line].y[number]))}"

    return Plot(_setting_axis(scaling, log), Axis("time", time_text, log, "s", from_zero=True), tuple(lines), say=say)


def part_times(scaling: Scaling, form: ScalingForm = ScalingForm.STATES) -> list[tuple[Part, Values]]:
    """The states or blocks with their time (s) in each run, the longest of the last run first. Those beyond
    `MOST_PARTS` are combined; for blocks, which work in parallel, they are left out."""
    every = [point.states if form is ScalingForm.STATES else point.blocks for point in scaling.points]
    by_name = {part.name: part for parts in every for part in parts}
    times_s = {name: np.array([sum(p.time_s for p in parts if p.name == name) for parts in every]) for name in by_name}
    largest = sorted(by_name, key=lambda name: -float(times_s[name].max()))
    smallest = largest[MOST_PARTS:]
    rows = [(by_name[name], times_s[name]) for name in by_name if name not in smallest]
    rows.sort(key=lambda row: -float(row[1][-1]))
    if smallest and form is ScalingForm.STATES:
        rows.append((Part(OTHERS, None, 0.0), np.sum([times_s[name] for name in smallest], axis=0)))
    return rows


def part_words(scaling: Scaling, point: ScalingPoint, part: Part, times_s: Values) -> str:
    """A state or a block in one of the runs: `wait_recv with CORES 8: 3.1 ms, 31.0 % of the run, 1.10× less time`."""
    number = scaling.points.index(point)
    time_s, first_s = float(times_s[number]), float(times_s[0])
    parts = [f"{part.name} with {scaling.setting} {value_text(point.value)}: {time_text(time_s)}"]
    parts.append(f"{percent_text(time_s / point.time_s if point.time_s else 0.0)} of the run")
    if number and time_s and first_s:
        parts.append(f"{ratio_text(max(first_s / time_s, time_s / first_s))} {_less_or_more(first_s, time_s)} time")
    return ", ".join(parts)


def _less_or_more(before_s: float, after_s: float) -> str:
    return "less" if after_s <= before_s else "more"


def least_shrinking(scaling: Scaling) -> tuple[Part, float, float, float] | None:
    """The host state that keeps the last run furthest from the ideal: its time (s) in the first and in the last run,
    and the last time if it shrank as the setting grows. None without an ideal, or if all are within a hundredth of the
    run."""
    if not scaling.has_ideal:
        return None
    last = scaling.points[-1]
    growth = scaling.ideal(last)
    rows = [(part, float(t[0]), float(t[-1]), float(t[0]) / growth) for part, t in part_times(scaling)]
    worst = max((row for row in rows if row[0].name != OTHERS), key=lambda row: row[2] - row[3], default=None)
    return worst if worst and worst[2] - worst[3] > 0.01 * last.time_s else None


def least_shrinking_words(scaling: Scaling) -> str:
    """The state whose time does not shrink: `start_core does not shrink: 2.1 ms with CORES 1, 2.1 ms with 8, 41.0 % of
    that run`; "" if all do."""
    worst = least_shrinking(scaling)
    if worst is None:
        return ""
    part, first_s, last_s, _ = worst
    first, last = (value_text(scaling.points[at].value) for at in (0, -1))
    how = "shrinks least" if last_s < first_s / _ALIKE else "grows" if last_s > first_s * _ALIKE else "does not shrink"
    share = percent_text(last_s / scaling.points[-1].time_s)
    times = f"{time_text(first_s)} with {scaling.setting} {first}, {time_text(last_s)} with {last}"
    return f"{part.name} {how}: {times}, {share} of that run"


def scaling_rows(scaling: Scaling, form: ScalingForm = ScalingForm.STATES) -> list[tuple[str, ...]]:
    """States or blocks by the setting's value as a table of text, heads first."""
    title = "state" if form is ScalingForm.STATES else "block, at work"
    heads = (title, *(f"{scaling.setting} {value_text(point.value)}" for point in scaling.points))
    return [heads, *((part.name, *map(time_text, t.tolist())) for part, t in part_times(scaling, form))]


def _setting_axis(scaling: Scaling, log: bool) -> Axis:
    """The setting's axis, by powers of two for whole values, as for numbers of cores and sizes."""
    return Axis(scaling.setting, value_text, log, binary=all(point.value % 1 == 0 for point in scaling.points))


def _values(points: Sequence[ScalingPoint]) -> Values:
    return np.array([point.value for point in points])


def _predicted(points: Sequence[ScalingPoint]) -> list[tuple[ScalingPoint, float]]:
    """The predicted points, and those that they were predicted from; none without predictions."""
    if not any(p.predicted_s for p in points):
        return []
    return [(p, p.time_s if p.base else p.predicted_s or 0.0) for p in points if p.base or p.predicted_s]


def value_text(value: float) -> str:
    """A value of the setting: `8`, `0.25`."""
    return f"{value:g}"


def scaling_words(scaling: Scaling) -> str:
    """The number of runs, the setting, and whether they can be compared with the ideal."""
    first, last = (value_text(scaling.points[at].value) for at in (0, -1))
    how = "All did the same work." if scaling.equal_work else "Their work differs, so there is no ideal."
    return f"{len(scaling.points)} runs, {scaling.setting} {first} to {last}. {how}"


def point_words(scaling: Scaling, point: ScalingPoint) -> str:
    """A point in words: `CORES 8: 15.5 ms, 7.20× (ideal 8.00×, 90.0 %), predicted 15.4 ms, run-8`."""
    parts = [f"{scaling.setting} {value_text(point.value)}: {time_text(point.time_s)}"]
    if scaling.has_ideal:
        ideal = f"ideal {ratio_text(scaling.ideal(point))}, {percent_text(scaling.efficiency(point))}"
        parts.append(f"{ratio_text(scaling.speedup(point.time_s))} ({ideal})")
    if point.base:
        parts.append("predicted from it")
    elif point.predicted_s:
        parts.append(f"predicted {time_text(point.predicted_s)}")
    return ", ".join([*parts, Path(point.run).name])

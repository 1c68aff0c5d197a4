"""A study of two dimensions as a matrix: what varies in numbers down, all else across."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.api import Row
from workbench.api.predictions import PaperTable
from workbench.api.studies import Point, PointState, Status, StudyState
from workbench.api.unstable import NARROW, significant

#: So wide, in letters, is a table; what varies further goes on in the next one.
_LETTERS = 64
_LEAST_LETTERS = 7
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_Place = tuple[object, str]  # the value down, the name across


def axis_of(state: StudyState) -> str:
    """The name with the most values of those that vary in numbers; "" where none does."""
    values: dict[str, set[object]] = {}
    for point in state.points:
        for name, value in point.settings.items():
            values.setdefault(name, set()).add(value)
    numbers = [name for name, some in values.items() if all(isinstance(v, int | float) for v in some)]
    return max(numbers, key=lambda name: len(values[name]), default="")


def matrix(state: StudyState, runs: dict[str, str]) -> tuple[PaperTable, ...]:
    """Run times measured above predicted, the shortest deepest in colour; nothing where a study has one dimension.
    `runs` are the folders of the runs, by the points' keys."""
    axis = axis_of(state)
    across = curves_of(state.points, axis)
    names = list(dict.fromkeys(across.values()))
    values = sorted({point.settings[axis] for point in state.points}, key=float) if axis else []
    if len(names) < 2 or len(values) < 2:
        return ()
    points: dict[_Place, Point] = {(point.settings[axis], across[point.key]): point for point in state.points}
    times = [t for point in state.points if (t := state.of(point).time_s or state.of(point).predicted_s)]
    scale, unit = next((one for one in _UNITS if one[0] <= min(times)), _UNITS[-1]) if times else (1.0, "s")
    heads, shared = _heads(names)
    title = f"Run time ({unit})"
    note = f"{axis} down{f', {shared} across' if shared else ''}; measured above, predicted below"

    def row(value: object, some: Sequence[str]) -> Row:
        row_points = [points.get((value, name)) for name in some]
        states = [state.of(point) if point else PointState() for point in row_points]
        return Row(
            f"{axis} {value}", "", tuple(_measured(one, scale) for one in states),
            notes=tuple("" if one.status is Status.FAILED else _text(one.predicted_s, scale) for one in states),
            bad=tuple(one.status is Status.FAILED for one in states),
            runs=tuple(runs.get(point.key, "") if point else "" for point in row_points),
            depths=tuple(_depth(one.time_s or one.predicted_s, times) for one in states),
        )  # fmt: skip

    return tuple(
        PaperTable(title, note, heads[some], tuple(row(value, names[some]) for value in values))
        for some in _in_tables(heads)
    )


def curves_of(points: Sequence[Point], axis: str) -> dict[str, str]:
    """What tells each point from others with its value of the axis, by its key: parts that all have are left out."""
    parts = {
        point.key: [
            point.project, point.platform, point.changes,
            *(f"{name} {value}" for name, value in point.settings.items() if name != axis),
        ] for point in points
    }  # fmt: skip
    same = [len(set(column)) == 1 for column in zip(*parts.values(), strict=True)]
    return {
        key: ", ".join(
            _short(part) or "as it is" for part, every in zip(some, same, strict=True) if not every
        ) for key, some in parts.items()
    }  # fmt: skip


def _short(part: str) -> str:
    """A project's file without what all such names end with."""
    return part.rpartition("/")[2].removesuffix(".workbench.yaml")


def _heads(names: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The names as heads of columns, and the word that all begin with, which these leave out: that of what varies."""
    words = [name.split() for name in names]
    if len({each[0] for each in words}) == 1 and all(len(each) == 2 for each in words):
        return tuple(each[1] for each in words), words[0][0]
    return tuple(names), ""


def _in_tables(names: Sequence[str]) -> Iterator[slice]:
    """Columns in tables, as many side by side as there is room for."""
    ends, used = [0], 0
    for number, name in enumerate(names):
        wide = max(len(name), _LEAST_LETTERS)
        if used + wide > _LETTERS and number > ends[-1]:
            ends.append(number)
            used = 0
        used += wide
    for first, stop in pairwise([*ends, len(names)]):
        yield slice(first, stop)


def _text(time_s: float | None, scale: float) -> str:
    return significant(time_s / scale) if time_s else ""


def _measured(state: PointState, scale: float) -> str:
    if state.status is Status.DONE:
        return _text(state.time_s, scale)
    return {Status.FAILED: "failed", Status.RUNNING: "running"}.get(state.status, f"{NARROW}")


def _depth(time_s: float | None, times: Sequence[float]) -> float:
    """1 for the shortest time, 0 for the longest, by their logarithms."""
    if not time_s or max(times) <= min(times):
        return 0.0
    return math.log(max(times) / time_s) / math.log(max(times) / min(times))

"""What a study shows: measured beside predicted, as numbers, tables and charts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from rc_workbench_plugins.study.matrix import axis_of, curves_of, matrix
from workbench.api import (
    Answer,
    Completed,
    ModelReading,
    ModelValues,
    Results,
    Row,
    Values,
    WorkbenchError,
    percent_text,
    ratio_text,
    table,
    time_text,
)
from workbench.api.predictions import Chart, Curve, PaperTable
from workbench.api.studies import (
    Point,
    PointState,
    Status,
    StudyModel,
    StudyState,
    error_of,
    point_json,
    points_of,
    read_state,
    study_folder,
)
from workbench.api.unstable import NARROW
from workbench.api.views import Figure

TIME, SPEEDUP, ERROR, POINTS, MATRIX = "Time", "Speedup", "Error", "Points", "Matrix"


def check(reading: ModelReading[StudyModel]) -> Completed:
    """Tell of values that give no points, before the study is run."""
    try:
        points_of(reading.model)
    except WorkbenchError as error:
        for problem in error.diagnostics:
            reading.tell(("vary",), problem.message, problem.hint)
    return Completed(reading.model)


def outputs(values: ModelValues[StudyModel]) -> Mapping[str, Values]:
    """How far the study is, and its fastest point."""
    state = _state(values)
    times = [value for point in state.points if (value := state.of(point).time_s)]
    values_of: dict[str, Values] = {
        "points": float(len(state.points)),
        "measured": float(state.count(Status.DONE)),
        "failed": float(state.count(Status.FAILED)),
    }
    if times:
        values_of |= {"least_time_s": min(times), "speedup": max(times) / min(times)}
    return values_of


def answer(values: ModelValues[StudyModel]) -> Answer:
    """The points as a table, for `workbench predict study` and `workbench study`."""
    state, folder = _state(values), _folder(values)
    head = ("point", "measured", "predicted", "error", "")
    rows = [head, *(_row(point, state.of(point)) for point in state.points)]
    points = [point_json(point, state.of(point), folder) for point in state.points]
    return Answer({"study": values.model.name, "folder": str(folder), "points": points}, table(rows))


def results(values: ModelValues[StudyModel]) -> Results:
    """Run time, speedup and error over what varies, and every point in a table."""
    state, folder = _state(values), _folder(values)
    done = state.count(Status.DONE)
    to_run = len(state.points) - state.count(Status.PREDICTED)
    errors = [abs(value) for point in state.points if (value := error_of(state.of(point))) is not None]
    times = [(value, point) for point in state.points if (value := state.of(point).time_s)]
    figures = [Figure("Measured", f"{done} of {to_run}", _rest(state))]
    if times:
        least, fastest = min(times, key=lambda one: one[0])
        most = max(times, key=lambda one: one[0])[0]
        figures.append(Figure("Fastest", time_text(least), fastest.title))
        figures.append(Figure("Spread", ratio_text(most / least), "slowest over fastest"))
    if errors:
        figures.append(Figure("Median error", percent_text(median(errors)), f"worst {percent_text(max(errors))}"))
    rows = tuple(
        Row(
            point.title, "", _cells(point, state.of(point)), tip=_row(point, state.of(point))[-1],
            bad=(False, False, False, state.of(point).status is Status.FAILED),
            run=_run(state.of(point), folder),
        )
        for point in state.points
    )  # fmt: skip
    charts = dict(_charts(state, folder))
    page = PaperTable(values.model.title or values.model.name, "", ("measured", "predicted", "error", "state"), rows)
    tables = {name: (_speedup_page(state, folder) if name == SPEEDUP else page,) for name in charts or (POINTS,)}
    crossed = matrix(state, {point.key: _run(state.of(point), folder) for point in state.points})
    return Results(
        figures=tuple(figures),
        point=tuple(figures[:3]),
        parts_title="",
        parts=(),
        said=f"{done} of {to_run} runs",
        tables=tables | ({MATRIX: crossed} if crossed else {}),
        charts=charts,
    )


def _rest(state: StudyState) -> str:
    """The points that are not measured, in words."""
    kinds = (Status.RUNNING, "running"), (Status.QUEUED, "queued"), (Status.FAILED, "failed")
    said = [f"{count} {name}" for kind, name in kinds if (count := state.count(kind))]
    return ", ".join(said if state.count(Status.FAILED) else [*said, "none failed"])


def _speedup_page(state: StudyState, folder: Path) -> PaperTable:
    """The speedup of each point over the first of its curve, measured and predicted."""
    first: dict[str, float] = {}
    rows = []
    for point in state.points:
        point_state = state.of(point)
        if base_s := point_state.time_s or point_state.predicted_s:
            first.setdefault(point.curve, base_s)
        times = point_state.time_s, point_state.predicted_s
        speedups = tuple(ratio_text(first[point.curve] / t) if t else "" for t in times)
        rows.append(Row(point.title, "", speedups, run=_run(point_state, folder)))
    return PaperTable("Speedup over the first point of each curve", "", ("measured", "predicted"), tuple(rows))


def _charts(state: StudyState, folder: Path) -> Iterator[tuple[str, Chart]]:
    """Charts over the name with the most values of those that vary in numbers; what else varies gives curves of its
    own."""
    axis = axis_of(state)
    if not axis:
        return
    curves: dict[str, list[tuple[float, PointState]]] = {}
    names = curves_of(state.points, axis)
    for point in state.points:
        curves.setdefault(names[point.key] or point.curve, []).append((float(point.settings[axis]), state.of(point)))

    def chart(title: str, y: str, lines: Sequence[Curve], log: bool = False) -> Chart:
        return Chart(title, axis, y, tuple(line for line in lines if line.x), log)

    def curve(name: str, points: Sequence[tuple[float, PointState]], of: Callable[[PointState], float | None],
              beside: str = "") -> Curve:  # fmt: skip
        """The points that have a value, from left to right; a plain curve `beside` one that it predicts."""
        at = sorted((x, y, _run(s, folder)) for x, s in points if (y := of(s)) is not None)
        runs = () if beside else tuple(run for _, _, run in at)
        return Curve(name, tuple(x for x, _, _ in at), tuple(y for _, y, _ in at), bool(beside), runs, beside)

    measured = [curve(name, points, lambda s: s.time_s) for name, points in curves.items()]
    predicted = [
        curve(f"{name}, predicted", points, lambda s: s.predicted_s, beside=name) for name, points in curves.items()
    ]
    if not any(line.x for line in (*measured, *predicted)):
        return
    title = "points measured, lines predicted; a click on a point opens its run"
    yield TIME, chart(title, "run time (ms)", [_scaled(line, 1e3) for line in (*measured, *predicted)], log=True)
    yield SPEEDUP, chart("over the first point of each curve", "speedup", [*_speedups(measured, predicted)])
    errors = [_scaled(curve(name, points, error_of), 100) for name, points in curves.items()]
    if any(line.x for line in errors):
        yield ERROR, chart("predicted over measured", "error (%)", errors)


def _speedups(measured: Sequence[Curve], predicted: Sequence[Curve]) -> Iterator[Curve]:
    for line, plain in zip(measured, predicted, strict=True):
        first = next((line.y[0] for line in (line, plain) if line.y), None)
        for one in (line, plain):
            if first is not None:
                yield replace(one, y=tuple(first / y for y in one.y))


def _scaled(line: Curve, factor: float) -> Curve:
    return replace(line, y=tuple(y * factor for y in line.y))


def _run(state: PointState, folder: Path) -> str:
    """The folder of a point's run, where it is there."""
    return str(folder / state.run) if state.run and state.status is Status.DONE else ""


def _row(point: Point, state: PointState) -> tuple[str, str, str, str, str]:
    """The point, its times, their difference, and what else there is to say."""
    error = error_of(state)
    signed = "" if error is None else f"{100 * error:+.2f}{NARROW}%".replace("-", "−")
    times = (time_text(time, 4) if time else "" for time in (state.time_s, state.predicted_s))
    said = state.error or state.note or ("" if state.status is Status.DONE else state.status.value)
    return (point.title, *times, "base" if state.base else signed, said or state.why)  # type: ignore[return-value]


def _cells(point: Point, state: PointState) -> tuple[str, ...]:
    """Its cells in the window, where what there is to say is in the tooltip."""
    said = state.status.value if state.status is not Status.DONE else "another answer" if state.note else ""
    if not said and state.why and state.predicted_s is None:
        said = "not predicted"
    return (*_row(point, state)[1:-1], said)


def _folder(values: ModelValues[StudyModel]) -> Path:
    return study_folder(values.folder, values.model)


def _state(values: ModelValues[StudyModel]) -> StudyState:
    points = points_of(values.model)
    return read_state(_folder(values), points)

"""Scaling curves: runs of a project that differ in one setting or parameter, with their predictions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from workbench.analysis.came_true import work_of
from workbench.analysis.finding_words import block_words
from workbench.analysis.metrics import block_metrics
from workbench.api.results import BlockMetrics
from workbench.api.studies import read_predicted
from workbench.formats.ledger_file import read_ledger
from workbench.formats.run_folder import MANIFEST, open_run
from workbench.model.blocks import Side
from workbench.model.diagnostic import WorkbenchError
from workbench.model.ledger import Work
from workbench.model.pragma import Category
from workbench.model.run import Run
from workbench.pictures.scaling import Part, Scaling, ScalingPoint, least_shrinking
from workbench.session.keep.ledger import ledger_path, run_name

FEWEST = 3
#: The time predicted and the ends of its interval; whether others are predicted from this run instead.
Predicted = tuple[float | None, float | None, float | None, bool]
_NONE: Predicted = None, None, None, False
_BASE: Predicted = None, None, None, True


def scaling_of(run: Run, folders: Iterable[Path] = ()) -> Scaling | None:
    """The run's time against the setting or parameter of the top in which most of these runs, and those beside it,
    differ from it while all else is equal: project, sources, platform, other settings and parameters. None for fewer
    than three values. For each value the newest run counts."""
    beside = sorted(file.parent for file in run.path.parent.glob(f"*/{MANIFEST}")) if run.path else []
    runs = [run, *_opened(folder for folder in dict.fromkeys((*folders, *beside)) if folder != run.path)]
    kind = _kind(run)
    alike = [other for other in runs if other.complete and _kind(other) == kind]
    runs_by_value: dict[str, dict[float, Run]] = {}
    for name in _values(run):
        without_value = _without(run, name)
        for other in sorted(alike, key=lambda one: one.manifest.created):
            value = _values(other).get(name)
            if (
                isinstance(value, int | float)
                and not isinstance(value, bool)
                and _without(other, name) == without_value
            ):
                runs_by_value.setdefault(name, {})[float(value)] = other
    name = max(runs_by_value, key=lambda one: len(runs_by_value[one]), default="")
    if not name or len(runs_by_value[name]) < FEWEST:
        return None
    run_of_value = sorted(runs_by_value[name].items())
    first, predicted = run_of_value[0][1], predictions_of([other for _, other in run_of_value])
    equal = all(work_of(first, other) is Work.EQUAL for _, other in run_of_value[1:])
    points = (_point(value, other, predicted.get(str(other.path), _NONE)) for value, other in run_of_value)
    return Scaling(name, tuple(points), equal)


def _opened(folders: Iterable[Path]) -> Iterator[Run]:
    for folder in folders:
        with suppress(WorkbenchError):  # a folder that is no longer a run has no point
            yield open_run(folder)[0]


def _kind(run: Run) -> tuple[Any, ...]:
    """The properties, beside settings, that all runs of a curve must share."""
    m = run.manifest
    platform = run.path / "platform.yaml" if run.path else None
    platform_bytes = platform.read_bytes() if platform and platform.is_file() else b""
    return (
        Path(m.project).name, dict(m.sources), m.platform, platform_bytes,
        m.simulated, m.deterministic, m.instrumented, m.changes,
    )  # fmt: skip


def _values(run: Run) -> dict[str, Any]:
    """The numeric settings and parameters of a run."""
    return {**run.manifest.parameters, **run.manifest.settings}


def _without(run: Run, name: str) -> dict[str, Any]:
    return {key: value for key, value in _values(run).items() if key != name}


def _point(value: float, run: Run, predicted: Predicted) -> ScalingPoint:
    blocks = block_metrics(run)
    return ScalingPoint(
        value, run.time_s, str(run.path or run.manifest.name), *predicted, _states(blocks), _at_work(blocks)
    )


def _states(blocks: Sequence[BlockMetrics]) -> tuple[Part, ...]:
    """The states of a run's host main block."""
    main = next((block for block in blocks if block.block.side is Side.HOST), None)
    return tuple(Part(s.state.name, s.state.category, s.time_s) for s in main.states if s.time_s) if main else ()


def _at_work(blocks: Sequence[BlockMetrics]) -> tuple[Part, ...]:
    """The working time of each block, or the mean of replicas."""
    groups: dict[str, list[float]] = {}
    for block in blocks:
        groups.setdefault(block.block.group, []).append(block.time_of(Category.WORK))
    means_s = {block_words(name): sum(times_s) / len(times_s) for name, times_s in groups.items()}
    return tuple(Part(name, Category.WORK, time_s) for name, time_s in means_s.items() if time_s)


def predictions_of(runs: Sequence[Run]) -> Mapping[str, Predicted]:
    """The predicted time of each run, by its folder, from the project's ledger or from the study that the run belongs
    to."""
    predictions: dict[str, Predicted] = {}
    entries_of, predicted_in = cache(lambda path: read_ledger(path)[0]), cache(read_predicted)
    for run in runs:
        if run.path is None:
            continue
        study = run.path.parent.parent
        prediction = predicted_in(study).get(run.path.name) if study.suffix == ".study" else None
        if prediction and prediction["predicted_s"]:
            time_s = prediction["predicted_s"]
            predictions[str(run.path)] = _BASE if prediction["base"] else (time_s, time_s, time_s, False)
        path = ledger_path(run)
        name, entries = run_name(run, path), entries_of(path)
        if any(entry.base.run == name for entry in entries):
            predictions[str(run.path)] = _BASE
        for entry in entries:
            time_s, interval = entry.prediction.time_s, entry.prediction.interval
            if entry.came and time_s and entry.came.run == name:
                whole_s = time_s * (entry.prediction.speedup or 1.0)
                low_s, high_s = (whole_s / end for end in reversed(interval)) if interval else (time_s, time_s)
                predictions[str(run.path)] = (time_s, low_s, high_s, False)
    return predictions


def scaling_json(scaling: Scaling) -> dict[str, Any]:
    """The curve as `workbench compare --json` prints it."""
    return {
        "setting": scaling.setting, "equal_work": scaling.equal_work,
        "points": [
            {
                **asdict(point),
                "speedup": scaling.speedup(point.time_s) if scaling.equal_work else None,
                "efficiency": scaling.efficiency(point) if scaling.has_ideal else None,
            }
            for point in scaling.points
        ],
        "least_shrinking": worst[0].name if (worst := least_shrinking(scaling)) else None,
    }  # fmt: skip

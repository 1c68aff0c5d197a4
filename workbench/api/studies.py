"""A study: an application swept over settings, platforms and changes, as a document and as what was measured of it.

`FILE.study.yaml` is the document. The folder `NAME.study` beside it, by the study's own name, holds a file for each
point (`points/KEY.json`, by which a study goes on after a stop) and the runs (`runs/KEY`).
"""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import Field

from workbench.api.models import ModelDocument, PartDocument
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.files import read_regular, replace_file

SUFFIX = ".study.yaml"
_PREDICTED = "predicted.json"
MOST_POINTS = 1000
_RANGE = re.compile(r"\s*(-?\d+)\s*:\s*(-?\d+)\s*(?::\s*(\d+)\s*)?")
_ODD = re.compile(r"[^\w.+-]+")

Value = int | float | str


class Predicted(PartDocument):
    """From which points of the study the others are predicted."""

    base: dict[str, Value] = Field(
        default_factory=dict,
        description="values of the points to predict from, each traced; empty: the first values",
        examples=[{"CORES": 4}],
    )
    by: tuple[str, ...] = Field(
        (),
        description="the changes that lead from the base to a point; {NAME} is the point's value; where empty, only "
        "sets of changes are predicted, each from the run of the same values",
        examples=[["replicas group=core count={CORES}"]],
    )


class StudyModel(ModelDocument):
    """A sweep of runs. Every combination of project, platform, set of changes and varied values is a point."""

    projects: tuple[str, ...] = Field(
        min_length=1,
        description="project files, relative to the study's folder; each gives a curve",
        examples=[["original.workbench.yaml"]],
    )
    vary: dict[str, str | tuple[Value, ...]] = Field(
        default_factory=dict,
        description="values of settings or of parameters of the top module, or a range (first:last or first:last:step)",
        examples=[{"CORES": "1:20"}],
    )
    set: dict[str, Value] = Field(
        default_factory=dict, description="settings that all points share", examples=[{"POINTS": 16384}]
    )
    platforms: tuple[str, ...] = Field(
        (),
        description="platform templates, by name or file; empty: the projects' own",
        examples=[["nallatech_h101", "my_card.yaml"]],
    )
    changes: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="sets of changes by name, as `workbench whatif` takes them; where the simulated card can try them, "
        "they are measured by running the application again as if they were made",
        examples=[{"united": ["unite calls=writeSamples count=16"]}],
    )
    predicted: Predicted | None = Field(None, description="from which points the others are predicted, and how")
    trace: bool = Field(False, description="trace all points, not only the base")
    deterministic: bool = Field(True, description="derive host time from counted work: the same on any machine")
    submitit: dict[str, Value] = Field(
        default_factory=dict,
        description="parameters for a batch queue, as submitit names them",
        examples=[{"timeout_min": 60, "slurm_partition": "short"}],
    )


@dataclass(frozen=True)
class Point:
    """One point. `settings` are the varied values; `changes` is the name of its set of changes, "" for none."""

    project: str
    settings: Mapping[str, Value] = field(compare=False)  # the key tells them apart
    platform: str = ""
    changes: str = ""
    key: str = ""

    @property
    def curve(self) -> str:
        """What tells its curve from others: project, platform and changes."""
        name = Path(self.project).name.removesuffix(".workbench.yaml")
        return ", ".join(part for part in (name, self.platform, self.changes) if part)

    @property
    def title(self) -> str:
        return ", ".join([self.curve, *(f"{name} {value}" for name, value in self.settings.items())])


class Status(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    PREDICTED = "predicted only"


@dataclass(frozen=True)
class PointState:
    """What is known of a point. `run` is its folder, from the study's; `error` the first one, or why it is predicted
    only; `note` what else its run showed. `stamp` tells the sources and the platform that it was measured of, `took_s`
    is how long that took."""

    status: Status = Status.QUEUED
    run: str = ""
    time_s: float | None = None
    predicted_s: float | None = None
    why: str = ""
    error: str = ""
    stamp: str = ""
    took_s: float = 0.0
    base: bool = False
    note: str = ""


@dataclass(frozen=True)
class StudyState:
    """Every point with what is known of it."""

    points: tuple[Point, ...]
    states: Mapping[str, PointState] = field(default_factory=dict)

    def of(self, point: Point) -> PointState:
        return self.states.get(point.key, PointState())

    def count(self, *kinds: Status) -> int:
        return sum(self.of(point).status in kinds for point in self.points)


def study_folder(beside: Path, study: StudyModel) -> Path:
    """Where a study keeps its points and runs: `NAME.study`, by its own name, in the folder of its document."""
    return beside / f"{_ODD.sub('_', study.name).strip('.') or 'unnamed'}.study"


def values_of(name: str, said: str | tuple[Value, ...]) -> tuple[Value, ...]:
    """The values of what varies. WorkbenchError for a text that is no range, and where there are none or twice one."""
    if isinstance(said, str):
        match = _RANGE.fullmatch(said)
        first, last, step = (int(part or 1) for part in match.groups()) if match else (1, 0, 1)
        values: tuple[Value, ...] = tuple(range(first, last + 1, step)) if step else ()
    else:
        values = said
    if not values or len(set(values)) < len(values):
        message = f"'{said}' gives no values of {name}" if not values else f"a value of {name} is given twice"
        raise WorkbenchError(Diagnostic(message, f"Write for example {name}: 1:20, or {name}: [1, 2, 4, 8]."))
    return values


def points_of(study: StudyModel) -> tuple[Point, ...]:
    """All points: by project, platform, set of changes, then values. WorkbenchError where they are too many."""
    axes = [[(name, value) for value in values_of(name, said)] for name, said in study.vary.items()]
    curves = list(itertools.product(study.projects, study.platforms or ("",), ("", *study.changes)))
    number = len(curves)
    for axis in axes:
        number *= len(axis)
    if number > MOST_POINTS:
        raise WorkbenchError(Diagnostic(f"this study has {number:,} points", f"Vary less: at most {MOST_POINTS:,}."))
    return tuple(
        _keyed(study, Point(*curve[:1], dict(values), *curve[1:]))
        for curve in curves
        for values in itertools.product(*axes)
    )


def base_of(study: StudyModel, point: Point) -> Point:
    """The point that a point is predicted from: without changes, at the base's values, or at its own where nothing
    says how these lead to others."""
    if not study.predicted or not study.predicted.by:
        return unchanged(study, point)
    first = {name: values_of(name, said)[0] for name, said in study.vary.items()}
    return _keyed(study, Point(point.project, {**first, **study.predicted.base}, point.platform))


def unchanged(study: StudyModel, point: Point) -> Point:
    """The point with the same values and without changes: the run that its changes are tried on."""
    return _keyed(study, Point(point.project, point.settings, point.platform))


def changes_to(study: StudyModel, base: Point, point: Point) -> tuple[str, ...]:
    """The changes, as texts, that lead from the base to a point."""
    moved = [] if base.settings == point.settings or not study.predicted else study.predicted.by
    try:
        formatted = [text.format_map(point.settings) for text in moved]
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        message = f"predicted.by names {error}, which does not vary"
        raise WorkbenchError(Diagnostic(message, "Write {NAME} of what varies.")) from None
    return (*formatted, *study.changes.get(point.changes, ()))


def read_state(folder: Path, points: tuple[Point, ...]) -> StudyState:
    """What is known of the points; nothing of one whose file is missing or damaged: it is measured again."""
    predicted = read_predicted(folder)
    states = {}
    for point in points:
        measured, forecast = read_point(folder, point.key), predicted.get(point.key)
        if measured or forecast:
            states[point.key] = replace(measured or PointState(), **(forecast or {}))
    return StudyState(points, states)


def write_predicted(folder: Path, predicted: Mapping[str, Mapping[str, Any]]) -> None:
    """Keep `predicted_s`, `why` and `base` of points, by key. Raises WorkbenchError."""
    _write(folder / _PREDICTED, predicted)


def read_predicted(folder: Path) -> Mapping[str, dict[str, Any]]:
    """What `write_predicted` kept, by key; nothing where it is missing or damaged."""
    try:
        data = json.loads(read_regular(folder / _PREDICTED))
        return {key: {name: one[name] for name in ("predicted_s", "why", "base")} for key, one in data.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}  # it is predicted again


def read_point(folder: Path, key: str) -> PointState | None:
    """A point's file; None where there is none that can be read."""
    try:
        data = json.loads(read_regular(_file(folder, key)))
        known = {name: data[name] for name in PointState.__dataclass_fields__ if name in data}
        return PointState(**{**known, "status": Status(known["status"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_point(folder: Path, key: str, state: PointState) -> None:
    """Keep what was measured of a point, whole or not at all. Raises WorkbenchError."""
    _write(_file(folder, key), asdict(state))


def _write(path: Path, data: object) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(data, indent=1).encode())
    except OSError as error:
        message = f"cannot keep the study's state: {error.strerror or error}"
        raise WorkbenchError(Diagnostic(message, "Free space, or allow writing there.", file=str(path))) from None


def point_json(point: Point, state: PointState, folder: Path) -> dict[str, Any]:
    """A point as `workbench study` gives it."""
    return {
        "key": point.key, "project": point.project, "platform": point.platform, "changes": point.changes,
        "settings": dict(point.settings), "run": str(folder / state.run) if state.run else None,
        "time_s": state.time_s, "predicted_s": state.predicted_s, "error": error_of(state),
        "status": state.status.value, "why": state.why,
        "failed": state.error if state.status is Status.FAILED else None, "took_s": state.took_s, "base": state.base,
        "note": state.error if state.status is Status.PREDICTED else state.note,
    }  # fmt: skip


def error_of(state: PointState) -> float | None:
    """The predicted time over the measured one, less 1."""
    if state.time_s and state.predicted_s and not state.base:
        return state.predicted_s / state.time_s - 1
    return None


def _keyed(study: StudyModel, point: Point) -> Point:
    """The point with its key: readable, and different for all that makes its run another."""
    identity = [point.project, sorted(point.settings.items()), point.platform, point.changes, sorted(study.set.items()),
            study.deterministic]  # fmt: skip
    digest = hashlib.sha256(json.dumps(identity, default=str).encode()).hexdigest()[:8]
    words = [point.curve, *(f"{name}{value}" for name, value in point.settings.items())]
    key = f"{_ODD.sub('_', '-'.join(words))[:80].strip('.')}-{digest}"
    return Point(point.project, point.settings, point.platform, point.changes, key)


def _file(folder: Path, key: str) -> Path:
    return folder / "points" / f"{key}.json"

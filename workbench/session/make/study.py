"""Runs a study: each point in a process of its own, without repeating measured ones."""

import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.api.compile import digest
from workbench.api.job import Job
from workbench.api.studies import (
    Point,
    PointState,
    Status,
    StudyModel,
    StudyState,
    base_of,
    changes_to,
    points_of,
    read_point,
    read_state,
    study_folder,
    unchanged,
    write_point,
    write_predicted,
)
from workbench.formats.run_folder import open_run
from workbench.model.changes import read_change
from workbench.model.diagnostic import Cancelled, Diagnostic, Severity, WorkbenchError, unknown_name
from workbench.predict.kinds import load_model
from workbench.replay.predict import Replayed
from workbench.session.change.confirm import AnswerStatus, confirm
from workbench.session.keep.results import platform_of_run, prepared
from workbench.session.make.engines import Engine, Handle
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import Plugins
from workbench.system.files import locked

STEP = "Run the points"
_LOOK_S, _SHOWN_EVERY_S = 0.05, 2.0


@dataclass(frozen=True)
class Study:
    """An open study: its document, its folder and its points."""

    path: Path
    model: StudyModel
    folder: Path
    points: tuple[Point, ...]

    @property
    def alive(self) -> Path:
        """The file that workers elsewhere watch."""
        return self.folder / "running"

    @property
    def jobs(self) -> Path:
        return self.folder / "jobs"

    def point(self, key: str) -> Point:
        for point in self.points:
            if point.key == key:
                return point
        raise WorkbenchError(unknown_name("point", key, [point.key for point in self.points], self.path))

    def command(self, point: Point) -> list[str]:
        """The command that runs a point in a process of its own."""
        return [sys.executable, "-m", "workbench", "study", str(self.path), "--point", point.key, "--json"]

    def state(self) -> StudyState:
        return read_state(self.folder, self.points)

    def is_base(self, point: Point) -> bool:
        """Whether other points are predicted from it, so that it must be traced."""
        predicts = self.model.predicted is not None or self.model.changes
        return bool(predicts) and base_of(self.model, point).key == point.key


def load_study(path: Path, plugins: Plugins) -> tuple[Study, tuple[Diagnostic, ...]]:
    """The study in a file. Raises WorkbenchError if it is not a study."""
    path = path.absolute()
    file, problems = load_model(plugins.model_kinds["study"], path, {})
    if file is None or not isinstance(file.model, StudyModel):
        raise WorkbenchError(*problems)
    try:
        return Study(path, file.model, study_folder(path.parent, file.model), points_of(file.model)), problems
    except WorkbenchError as error:
        raise WorkbenchError(*(replace(one, file=str(path)) for one in error.diagnostics)) from None


@dataclass(frozen=True)
class Opened:
    """A project on a platform; `stamp` identifies its sources and both documents."""

    workspace: Workspace
    stamp: str


def _open(study: Study, point: Point, plugins: Plugins) -> Opened:
    """The data that all points of a project and platform share. Raises WorkbenchError."""
    workspace = open_workspace(study.path.parent / point.project, plugins, platform_name=_platform(study, point))
    texts = [workspace.project.model_dump_json(), workspace.platform.model_dump_json()]
    sources = (f"{name} {sha256}" for name, sha256 in sorted(workspace.source_checksums().items()))
    return Opened(workspace, digest([*texts, *sources]))


def _with_values(study: Study, point: Point, workspace: Workspace) -> tuple[Workspace, dict[str, Any]]:
    """The project with a point's parameters, and its settings. Raises WorkbenchError for an unknown name."""
    values = {**study.model.set, **point.settings}
    project = workspace.project
    settings = {name: value for name, value in values.items() if name in project.settings}
    parameters = {n: v for n, v in values.items() if n not in settings and n in project.hardware.parameters}
    if unknown := [name for name in values if name not in settings and name not in parameters]:
        known_names = [*project.settings, *project.hardware.parameters]
        raise WorkbenchError(unknown_name("setting or parameter", unknown[0], known_names, workspace.path))
    return workspace.with_parameters(parameters), settings


def _platform(study: Study, point: Point) -> str:
    """The platform of a point: a template, or a file relative to the study's folder."""
    beside = study.path.parent / point.platform
    return str(beside) if point.platform and beside.is_file() else point.platform


def run_point(study: Study, key: str, plugins: Plugins, job: Job) -> PointState:
    """Measure one point in this process, and save the result. Raises Cancelled; a failure becomes the point's error."""
    point = study.point(key)
    began_s = time.monotonic()
    write_point(study.folder, key, PointState(Status.RUNNING))
    try:
        state = _measured(study, point, plugins, job)
    except (Cancelled, KeyboardInterrupt):
        write_point(study.folder, key, PointState())
        raise
    except WorkbenchError as error:
        state = PointState(Status.FAILED, error=error.diagnostics[0].text())
    state = replace(state, took_s=time.monotonic() - began_s)
    write_point(study.folder, key, state)
    return state


def _measured(study: Study, point: Point, plugins: Plugins, job: Job) -> PointState:
    opened = _open(study, point, plugins)
    workspace, settings = _with_values(study, point, opened.workspace)
    stamp, out = _stamp(study, point, opened), study.folder / "runs" / point.key
    if point.changes:
        return replace(_changed(study, point, workspace, plugins, job), stamp=stamp)
    shutil.rmtree(out, ignore_errors=True)  # a folder of the study for a run that is not kept
    options = RunOptions(
        out=out,
        trace=_traced(study, point),
        deterministic=study.model.deterministic and workspace.target().simulated,
        settings=settings,
        settles=False,
    )
    try:
        run = run_workspace(workspace, options, job)
    except WorkbenchError as error:
        return PointState(Status.FAILED, error=error.diagnostics[0].text(), stamp=stamp)
    place = out.relative_to(study.folder).as_posix()
    if not run.complete:
        return PointState(Status.FAILED, place, error=run.manifest.reason.partition("\n")[0], stamp=stamp)
    return PointState(Status.DONE, place, run.time_s, stamp=stamp)


def _changed(study: Study, point: Point, workspace: Workspace, plugins: Plugins, job: Job) -> PointState:
    """Try a point's changes on the run with the same values and without changes."""
    base = read_point(study.folder, unchanged(study.model, point).key)
    if base is None or base.status is not Status.DONE:
        return PointState(Status.FAILED, error="the run that these changes are tried on failed")
    try:
        run, _ = open_run(study.folder / base.run)
        if not run.manifest.simulated:
            return PointState(Status.PREDICTED, error="only the simulated card can run as if a change were made")
        changes = [read_change(text) for text in study.model.changes[point.changes]]
        confirmation = confirm(workspace, run, changes, job, plugins)
    except WorkbenchError as error:
        return PointState(Status.FAILED, error=error.diagnostics[0].text())
    place = confirmation.run.relative_to(study.folder).as_posix() if confirmation.run else ""
    if confirmation.answer is AnswerStatus.NOT_POSSIBLE:
        return PointState(Status.PREDICTED, error=f"the card cannot try it: {confirmation.why}")
    if confirmation.answer is AnswerStatus.FAILED:
        return PointState(Status.FAILED, place, error=f"the application fails with these changes: {confirmation.why}")
    note = "" if confirmation.answer is AnswerStatus.SAME else f"its output differs: {confirmation.why}"
    return PointState(Status.DONE, place, confirmation.time_s, note=note)


def _traced(study: Study, point: Point) -> bool:
    return study.model.trace or study.is_base(point)


def _stamp(study: Study, point: Point, opened: Opened) -> str:
    """An identification of a measurement's sources, platform, changes and kind."""
    changes = "; ".join(study.model.changes.get(point.changes, ()))
    return f"{opened.stamp} {changes or ('traced' if _traced(study, point) else 'counted')}"


def run_study(
    study: Study, plugins: Plugins, engine: Engine, job: Job, *, again: bool = False,
    changed: Callable[[], None] = lambda: None,
) -> StudyState:  # fmt: skip
    """Measure every point that is not measured yet; with `again` also failed ones. `changed` is called when a point's
    state changes. A failing point does not stop the others.

    Raises Cancelled, with all measured points kept; WorkbenchError if the study is under way elsewhere.
    """
    try:
        study.folder.mkdir(parents=True, exist_ok=True)
        lock = locked(study.folder / "lock")
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot write here: {error.strerror}", file=str(study.folder))) from None
    if lock is None:
        message = "this study is being run by another window or command"
        raise WorkbenchError(Diagnostic(message, "Wait for its end, or cancel it there.", file=str(study.path)))
    with closing(lock):
        cards = _to_measure(study, plugins, again)
        _predict(study, plugins)
        changed()
        job.plan([STEP])
        with job.step(STEP):
            _measure(study, cards, engine, job, changed, plugins)
        changed()
    return study.state()


def _to_measure(study: Study, plugins: Plugins, again: bool) -> dict[Point, str]:
    """The points to run, first those that others are predicted from, last those with changes; each with an
    identification of its card.

    A point whose project cannot be opened gets the reason as its error.
    """
    pending: list[tuple[Point, str]] = []
    opened_projects: dict[tuple[str, str], Opened] = {}
    for point in study.points:
        state = read_point(study.folder, point.key) or PointState()
        try:
            at = point.project, point.platform
            opened = opened_projects[at] = opened_projects.get(at) or _open(study, point, plugins)
            workspace, settings = _with_values(study, point, opened.workspace)
        except WorkbenchError as error:
            write_point(study.folder, point.key, PointState(Status.FAILED, error=error.diagnostics[0].text()))
            continue
        same = state.stamp == _stamp(study, point, opened)
        if state.status is Status.DONE and same and _is_complete(study.folder / state.run):
            continue
        if state.status is Status.PREDICTED and same:
            continue
        if state.status is Status.FAILED and same and not again:
            continue
        write_point(study.folder, point.key, PointState())
        parameters = workspace.parameters(workspace.settings(settings))
        pending.append((point, digest([str(workspace.path), str(workspace.platform_path), repr(parameters)])))
    return dict(sorted(pending, key=lambda one: (bool(one[0].changes), not study.is_base(one[0]))))


def _is_complete(path: Path) -> bool:
    with suppress(WorkbenchError):
        return open_run(path)[0].complete
    return False


def _measure(
    study: Study, cards: Mapping[Point, str], engine: Engine, job: Job, changed: Callable[[], None], plugins: Plugins
) -> None:
    """Give points to the engine as it has room. Of points with the same card the first one runs alone to build it.
    Changes are tried when their original run exists, and predictions made when their base exists."""
    waiting, running = list(cards), dict[str, tuple[Point, Handle]]()
    built: set[str] = set()
    total, last_state, shown_s = len(waiting), (-1, -1), 0.0
    try:
        while waiting or running:
            job.check()
            for point in list(waiting):
                under_way = {cards[other] for other, _ in running.values()}
                needed = unchanged(study.model, point) if point.changes else None
                can_start = needed not in waiting and (needed is None or needed.key not in running)
                if (
                    len(running) < engine.slots
                    and can_start
                    and (cards[point] in built or cards[point] not in under_way)
                ):
                    waiting.remove(point)
                    running[point.key] = point, engine.submit(study.command(point))
            for key, (point, handle) in list(running.items()):
                if handle.done():
                    del running[key]
                    built.add(cards[point])
                    _settle(study, point, handle)
                    if study.is_base(point):
                        _predict(study, plugins, point)
            state = len(waiting), len(running)
            if state != last_state or time.monotonic() - shown_s > _SHOWN_EVERY_S:
                last_state, shown_s, done_points = state, time.monotonic(), total - sum(state)
                job.progress(done_points / total, f"{done_points} of {total} runs, {len(running)} under way")
                changed()
            time.sleep(_LOOK_S if running else 0)
    finally:
        for _, handle in running.values():
            handle.cancel()


def _settle(study: Study, point: Point, handle: Handle) -> None:
    """Handle the end of a point's job; without a result, that is the point's error."""
    try:
        reason = str(handle.result())
    except Cancelled:
        return
    except Exception as error:  # any error of an engine; the rest of the study continues
        reason = f"{type(error).__name__}: {error}"
    state = read_point(study.folder, point.key) or PointState()
    if state.status in (Status.QUEUED, Status.RUNNING):
        message = f"error: the job ended without a result: {reason}"
        write_point(study.folder, point.key, PointState(Status.FAILED, error=message))


def _predict(study: Study, plugins: Plugins, measured_now: Point | None = None) -> None:
    """Predict every point from its base, if that is measured; after one new measurement only the points predicted from
    it."""
    if study.model.predicted is None and not study.model.changes:
        return
    state = study.state()
    bases: dict[str, Replayed | None] = {}
    predicted: dict[str, dict[str, Any]] = {
        key: {"predicted_s": one.predicted_s, "why": one.why, "base": one.base} for key, one in state.states.items()
    }
    for point in study.points:
        base = base_of(study.model, point)
        if measured_now and base != measured_now:
            continue
        measured = state.states.get(base.key)
        if measured is None or measured.status is not Status.DONE:
            predicted.pop(point.key, None)
            continue
        if base.key not in bases:
            bases[base.key] = _prepared(study.folder / measured.run, plugins)
        texts = changes_to(study.model, base, point)
        time_s, why = (measured.time_s, "") if not texts else _predicted(bases[base.key], texts)
        predicted[point.key] = {"predicted_s": time_s, "why": why, "base": not texts}
    write_predicted(study.folder, predicted)


def _prepared(path: Path, plugins: Plugins) -> Replayed | None:
    with suppress(WorkbenchError):
        run, _ = open_run(path)
        return prepared(run, platform_of_run(run, plugins)[0], plugins)
    return None


def _predicted(base: Replayed | None, texts: Sequence[str]) -> tuple[float | None, str]:
    if base is None:
        return None, "the run that it is predicted from cannot be read"
    try:
        prediction = base.predict([read_change(text) for text in texts])
    except WorkbenchError as error:
        return None, error.diagnostics[0].sentences
    return prediction.time_s, prediction.why


def failures(state: StudyState) -> tuple[Diagnostic, ...]:
    """The errors of the failed points."""
    return tuple(
        Diagnostic(f"{point.title}: {state.of(point).error}", "Run it again with --again.", Severity.WARNING)
        for point in state.points
        if state.of(point).status is Status.FAILED
    )

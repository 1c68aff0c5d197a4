"""Confirms changes on the simulated card: the application runs again under the changes' rules, and its answer is
compared. The new run is kept in a folder next to the run's, NAME.confirmed; sources stay unchanged."""

import filecmp
import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path

from workbench.api.job import Job
from workbench.api.languages import headers_of, marked_languages
from workbench.model.application import HardwareSources, HostSources
from workbench.model.changes import Change
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.exits import exit_words
from workbench.model.platform import Platform
from workbench.model.run import Run
from workbench.model.text import capitalised, listed, ratio_text, time_text
from workbench.session.change.rerun import NotPossible, Rerun, plan, unmet, with_clocks
from workbench.session.keep.results import platform_of_run
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import Plugins

_READ_TOO = (".inc", ".mem", ".hex", ".dat")  # files read by sources, such as headers; runs do not list them
_SHOWN = 60  # characters of a line


class AnswerStatus(StrEnum):
    """The result of comparing the application's answer: its exit code, its output and the files that it writes."""

    SAME = "same"
    DIFFERS = "differs"
    FAILED = "failed"
    NOT_POSSIBLE = "not possible"


@dataclass(frozen=True)
class Confirmation:
    """The result of the application's run with the changes.

    `speedup` is the original run's time over `time_s`; both are None if the run was not possible or failed. `why` gives
    the first difference, or the reason why it failed or is not possible. `notes` are assumptions and warnings of the
    new run, `run` is its folder.
    """

    changes: tuple[Change, ...]
    answer: AnswerStatus
    time_s: float | None = None
    speedup: float | None = None
    why: str = ""
    notes: tuple[Diagnostic, ...] = ()
    run: Path | None = None

    def words(self) -> str:
        """The result in sentences."""
        why = f"{capitalised(self.why)}."
        if self.answer is AnswerStatus.NOT_POSSIBLE:
            return f"Not confirmed, since the simulated card cannot try it. {why}"
        if self.answer is AnswerStatus.FAILED:
            return f"The application fails with these changes. {why}"
        assert self.time_s is not None
        gain = f"Confirmed on the card: {time_text(self.time_s)}, speedup {ratio_text(self.speedup or 1.0)}."
        return (
            f"{gain} The answer is the same."
            if self.answer is AnswerStatus.SAME
            else f"{gain} The answer differs. {why}"
        )

    def as_json(self) -> dict[str, object]:
        """The keys that `workbench whatif --confirm` adds."""
        return {
            "confirmed_s": self.time_s,
            "confirmed": {
                "answer": self.answer.value,
                "speedup": self.speedup,
                "why": self.why,
                "run": str(self.run) if self.run else None,
                "notes": [note.as_json() for note in self.notes],
            },
        }


def confirm(workspace: Workspace, run: Run, changes: Sequence[Change], job: Job, plugins: Plugins) -> Confirmation:
    """Run the application again under the changes' rules, and compare its time and answer with those of the run.

    Raises WorkbenchError where the run cannot be compared with (its sources changed since, or it is no complete run of
    the simulated card) and for names that it lacks; Cancelled.
    """
    platform = _comparable(workspace, run, plugins)
    changes = tuple(changes)
    try:
        rerun = plan(workspace, run, platform, changes)
        tried = _tried(workspace, rerun, plugins)
    except NotPossible as why:
        return Confirmation(changes, AnswerStatus.NOT_POSSIBLE, why=f"{why}")
    assert run.path is not None
    folder = run.path.with_name(f"{run.path.name}.confirmed")
    if written := _written_since(workspace, run):
        _check_base(workspace, run, folder / "unchanged", written, job)
    name = hashlib.sha256("\n".join(map(str, changes)).encode()).hexdigest()[:12]
    try:
        again = _run(tried, run, folder / name, job, rerun, changes)
    except WorkbenchError as error:
        if not rerun.builds_anew:
            raise
        return Confirmation(changes, AnswerStatus.NOT_POSSIBLE, why=error.diagnostics[0].sentences)
    return _compared(run, again, rerun, changes)


def open_project_of(run: Run, plugins: Plugins) -> Workspace:
    """The project of a run, opened. WorkbenchError if it does not exist."""
    path = Path(run.manifest.project)
    if not run.manifest.project or not path.is_file():
        hint = "Only a run whose project is on this machine can be run again."
        raise WorkbenchError(Diagnostic("the project of this run no longer exists here", hint, file=str(path)))
    return open_workspace(path, plugins)


def _comparable(workspace: Workspace, run: Run, plugins: Plugins) -> Platform:
    """The platform of a run with which a new run can be compared. WorkbenchError if it cannot."""
    manifest, again = run.manifest, "Run the project again, and confirm the change on that run."

    def refuse(message: str, hint: str = again) -> WorkbenchError:
        return WorkbenchError(Diagnostic(message, hint, file=str(run.path) if run.path else None))

    if run.path is None or not run.complete:
        raise refuse("a change is confirmed on a complete run")
    if not manifest.simulated:
        raise refuse("this run was made on a real machine: only the simulated card can run as if a change were made")
    if not manifest.instrumented or "calls" not in run.tables:
        raise refuse("this run does not say which calls it made", "Run the project again without `--plain`.")
    if manifest.changes:
        raise refuse("this run tries changes itself", "Confirm on the run without them.")
    now = workspace.source_checksums()
    before = dict(manifest.sources)
    if changed := sorted(name for name in now.keys() | before.keys() if now.get(name) != before.get(name)):
        raise refuse(f"sources changed since this run: {listed(changed)}")
    kept_template = run.path / "platform.yaml"
    platform, _ = platform_of_run(run, plugins)
    if platform is None or (
        kept_template.is_file() and kept_template.read_bytes() != workspace.platform_path.read_bytes()
    ):
        raise refuse("the platform's template changed since this run")
    return platform


def _tried(workspace: Workspace, rerun: Rerun, plugins: Plugins) -> Workspace:
    """The project for the run with the changes. NotPossible if it does not open on the other platform."""
    if rerun.platform:
        try:
            workspace = open_workspace(workspace.path, plugins, platform_name=rerun.platform)
        except WorkbenchError as error:
            raise NotPossible(error.diagnostics[0].sentences) from None
    return with_clocks(workspace, rerun.clocks_hz)


def _run(workspace: Workspace, base: Run, out: Path, job: Job, rerun: Rerun, changes: tuple[Change, ...] = ()) -> Run:
    shutil.rmtree(out, ignore_errors=True)
    options = RunOptions(
        out=out,
        deterministic=base.manifest.deterministic,
        target="simulated",
        ranks=base.manifest.cores.ranks,
        settings={**base.manifest.settings, **rerun.settings},
        rules=rerun.rules,
        depths=rerun.depths,
        changes=changes,
        settles=False,
    )
    return run_workspace(workspace.with_parameters(base.manifest.parameters), options, job)


def _written_since(workspace: Workspace, run: Run) -> list[str]:
    """Files that sources read, and the project's own files, that were changed since a run began. The run keeps no
    copies of them."""
    root, project = workspace.root, workspace.project
    began_s = datetime.fromisoformat(run.manifest.created).timestamp() + 1  # the time is in whole seconds
    every: list[HostSources | HardwareSources] = [project.host, *(one.project.hardware for one in workspace.boards)]
    folders = {root, *(root / name for part in every for name in part.include_dirs)}
    folders |= {(root / source).parent for part in every for source in part.sources}
    ends = (*headers_of(marked_languages()), *_READ_TOO)
    near = (path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.suffix in ends)
    return sorted(path.name for path in {workspace.path, *near} if path.stat().st_mtime > began_s)


def _check_base(workspace: Workspace, run: Run, out: Path, written: Sequence[str], job: Job) -> None:
    """Run the project without changes if files were changed since. WorkbenchError if it differs from the run."""
    now = _run(workspace, run, out, job, Rerun())
    same_time = not run.manifest.deterministic or now.manifest.time_ps == run.manifest.time_ps
    if now.complete and same_time and not (why := difference(run, now)):
        return
    difference_text = why if now.complete and same_time else f"it now takes {time_text(now.time_s)}"
    message = f"the project no longer runs as in this run, since {listed(written)} changed: {difference_text}"
    hint = "Run the project again, and confirm the change on that run."
    raise WorkbenchError(Diagnostic(message, hint, file=str(run.path)))


def _compared(base: Run, again: Run, rerun: Rerun, changes: tuple[Change, ...]) -> Confirmation:
    new = (note for note in again.manifest.diagnostics if note not in base.manifest.diagnostics)
    notes = [
        note for note in new if note.severity is Severity.ERROR or not note.file
    ]  # otherwise diagnostics of sources, not of the run
    if missed := [*unmet(rerun, base, again)]:
        return Confirmation(changes, AnswerStatus.NOT_POSSIBLE, why=missed[0], notes=tuple(notes), run=again.path)
    if not again.complete:
        errors = [note.sentences for note in notes if note.severity is Severity.ERROR]
        why = errors[0] if errors else again.manifest.reason
        return Confirmation(changes, AnswerStatus.FAILED, why=why, notes=tuple(notes), run=again.path)
    why = difference(base, again)
    answer = AnswerStatus.DIFFERS if why else AnswerStatus.SAME
    speedup = base.time_s / again.time_s if again.time_s else None
    return Confirmation(changes, answer, again.time_s, speedup, why, tuple(notes), again.path)


def difference(a: Run, b: Run) -> str:
    """The first difference between the answers of runs A and B; "" if there is none."""
    return next(_differences(a, b), "")


def _differences(a: Run, b: Run) -> Iterator[str]:
    if a.manifest.exit != b.manifest.exit:
        yield f"{exit_words(b.manifest.exit or 0)}; before {exit_words(a.manifest.exit or 0)}"
    if a.manifest.stdout_sha256 != b.manifest.stdout_sha256:
        yield _printed(a, b)
    assert a.path is not None
    assert b.path is not None
    before, after = _files(a.path / "files"), _files(b.path / "files")
    for name in sorted(before.keys() | after.keys()):
        if name not in after or name not in before:
            yield f"it {'does not write' if name in before else 'writes'} the file {name}"
        elif not filecmp.cmp(before[name], after[name], shallow=False):
            yield f"the file {name} differs: {_first_line(_lines(before[name]), _lines(after[name]))}"


def _printed(a: Run, b: Run) -> str:
    assert a.path is not None
    assert b.path is not None
    return f"its output differs: {_first_line(_lines(a.path / 'stdout.txt'), _lines(b.path / 'stdout.txt'))}"


def _first_line(before: Sequence[str], after: Sequence[str]) -> str:
    for number, (old, new) in enumerate(zip_longest(before, after), 1):
        if old != new:
            return f"line {number} is {_quoted(new)}; before {_quoted(old)}"
    return "after the part that was kept"


def _quoted(line: str | None) -> str:
    return "not there" if line is None else f"'{line[:_SHOWN]}{'…' if len(line) > _SHOWN else ''}'"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _files(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}

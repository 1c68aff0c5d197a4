"""A project's ledger of predictions: the next run of changed sources settles the open ones."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.formats.ledger_file import (
    NAME,
    append_confirmed,
    append_dropped,
    append_kept,
    append_result,
    read_ledger,
)
from workbench.formats.run_folder import now, open_run
from workbench.model.changes import Depth, OtherClock, OtherPlatform, Replicas, Width
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, unknown_name
from workbench.model.ledger import Base, Confirmed, Entry, Expected, Fate, MeasuredResult, Work, expected_of
from workbench.model.prediction import Prediction, Trust
from workbench.model.run import Manifest, Run
from workbench.system.files import real

if TYPE_CHECKING:
    from workbench.analysis.came_true import Explained
    from workbench.session.keep.results import OpenRun

#: Changes that a setting or another platform can make, with the same sources.
_BY_SETTINGS = (Replicas, OtherClock, Depth, Width, OtherPlatform)


def ledger_path(run: Run) -> Path:
    """The ledger of a run's project: beside the project's runs, or beside the run if its project is not here."""
    project = Path(run.manifest.project) if run.manifest.project else None
    if project and project.is_absolute() and project.parent.is_dir():
        return project.parent / "runs" / NAME
    if run.path is None:
        raise WorkbenchError(Diagnostic("this run has no folder, so no ledger lies beside it", "Save the run first."))
    return run.path.parent / NAME


def keep(run: Run, prediction: Prediction, expected: Iterable[Expected] = ()) -> Entry:
    """Add a prediction of a run to the ledger. It is open until the project's next run of changed sources.

    `expected` is the predicted critical path by block and state. Raises WorkbenchError if nothing was predicted.
    """
    if prediction.trust is Trust.REFUSED or prediction.speedup is None:
        message = f"there is no predicted speedup to keep: {prediction.why or 'the prediction was refused'}"
        raise WorkbenchError(Diagnostic(message, "Keep a change that has a predicted speedup."))
    path, manifest = ledger_path(run), run.manifest
    base = Base(
        run_name(run, path), run.time_s, dict(manifest.sources), dict(manifest.settings), manifest.platform,
        manifest.simulated, manifest.deterministic,
    )  # fmt: skip
    entry = Entry(secrets.token_hex(4), now(), Path(manifest.project).name, base, prediction, tuple(expected))
    append_kept(path, entry)
    return entry


def confirm(run: Run, entry_id: str, speedup: float, time_s: float, same_answer: bool | None) -> None:
    """Record the card's confirmation of a kept prediction."""
    path = ledger_path(run)
    entry_of(read_ledger(path)[0], entry_id, path)
    append_confirmed(path, entry_id, Confirmed(now(), speedup, time_s, same_answer))


def drop(path: Path, entry_id: str) -> None:
    """Remove an open prediction. Raises WorkbenchError if there is none with this id."""
    entry = entry_of(read_ledger(path)[0], entry_id, path)
    if entry.came:
        message = f"prediction '{entry.id}' was settled by {entry.came.run} already"
        raise WorkbenchError(Diagnostic(message, "Only an open prediction can be dropped.", file=str(path)))
    append_dropped(path, entry.id)


def entry_of(entries: Sequence[Entry], entry_id: str, path: Path) -> Entry:
    """The entry with this id, or with the only id that begins so. Raises WorkbenchError if there is none."""
    matching = [entry for entry in entries if entry.id.startswith(entry_id)] if entry_id else []
    if len(matching) != 1:
        raise WorkbenchError(unknown_name("prediction", entry_id, [entry.id for entry in entries], path))
    return matching[0]


def settle_open(run: Run) -> Iterator[Diagnostic]:
    """Settle the open predictions of the run's project if this is the first run of changed sources after them; returns
    a note on each result. Read and write errors become warnings, since the run itself is complete."""
    try:
        path = ledger_path(run)
        entries, problems = read_ledger(path)
        yield from problems
        for entry in entries:
            if entry.fate is Fate.OPEN and settles(entry, run.manifest):
                yield _note(settle(path, entry, run))
    except WorkbenchError as error:
        yield from (replace(problem, severity=Severity.WARNING) for problem in error.diagnostics)


def settles(entry: Entry, manifest: Manifest) -> bool:
    """Whether a run settles a prediction: same project, run like the base, with changed sources. If a setting or
    platform can make the change, another setting or platform counts too."""
    base = entry.base
    alike = (base.simulated, base.deterministic) == (manifest.simulated, manifest.deterministic)
    if not alike or not manifest.instrumented or Path(manifest.project).name != entry.project:
        return False
    changed = base.sources != dict(manifest.sources)
    shared = base.settings.keys() & manifest.settings.keys()
    set_alike = base.platform == manifest.platform and all(base.settings[n] == manifest.settings[n] for n in shared)
    if any(isinstance(change, _BY_SETTINGS) for change in entry.prediction.changes):
        return changed or not set_alike
    return changed and set_alike


def settle(path: Path, entry: Entry, run: Run) -> Entry:
    """Record the result of a run for a prediction, and return the updated entry."""
    from workbench.analysis.came_true import (
        changed_result,
    )  # imports numpy, which a project without predictions does not need

    name = run_name(run, path)
    try:
        base, _ = open_run(path.parent / entry.base.run)
    except WorkbenchError:  # it was deleted: only its time is known
        speedup = entry.base.time_s / run.time_s if run.time_s else None
        result = MeasuredResult(run.manifest.created, name, run.time_s, speedup, Work.UNKNOWN)
    else:
        result = changed_result(base, run, name)
    append_result(path, entry.id, result)
    return replace(entry, came=result)


def of_base(entries: Iterable[Entry], path: Path, run: Run) -> tuple[Entry, ...]:
    """The predictions made from a run."""
    name = run_name(run, path)
    return tuple(entry for entry in entries if entry.base.run == name)


def of_pair(entries: Iterable[Entry], path: Path, a: Run, b: Run) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """The predictions of run A that run B settled, and the open ones of run A."""
    mine, name = of_base(entries, path, a), run_name(b, path)
    settled = tuple(entry for entry in mine if entry.came and entry.came.run == name)
    return settled, tuple(entry for entry in mine if entry.fate is Fate.OPEN)


@dataclass(frozen=True)
class ComparedLedger:
    """The ledger for a comparison of A with B: all entries, those of A that B settled, and those of A that are open.

    `explained` compares B's critical path with the one predicted by the newest of `settled`; without any, `why` gives
    the reason.
    """

    entries: tuple[Entry, ...]
    settled: tuple[Entry, ...]
    open: tuple[Entry, ...]
    explained: tuple[Explained, ...]
    why: str
    problems: tuple[Diagnostic, ...]


def ledger_for(a: Run, opened: OpenRun) -> ComparedLedger:
    """The ledger of run A's project with regard to run B, which is opened."""
    from workbench.analysis.came_true import explain

    path, b = ledger_path(a), opened.run
    entries, problems = read_ledger(path)
    settled, still_open = of_pair(entries, path, a, b)
    rows: tuple[Explained, ...] = ()
    why = ""
    if settled:
        expected = settled[-1].expected
        replayed = opened.prepared() if expected else None
        measured_path = expected_of(replayed.next_bottlenecks()) if replayed else ()
        rows = explain(expected, measured_path) if measured_path else ()
        why = "" if rows else replayed.why if replayed else "the prediction was kept without its critical path"
    return ComparedLedger(entries, settled, still_open, rows, why, problems)


def run_name(run: Run, path: Path) -> str:
    """The path of a run's folder in the ledger at `path`: relative to the ledger's folder, or absolute outside of
    it."""
    if run.path is None:
        return run.manifest.name
    folder, runs = real(run.path), real(path.parent)
    return folder.relative_to(runs).as_posix() if folder.is_relative_to(runs) else os.fspath(folder)


def _note(entry: Entry) -> Diagnostic:
    from workbench.analysis.came_true import outcome_words

    return Diagnostic(f"{entry.title}: {outcome_words(entry)}", severity=Severity.NOTE)

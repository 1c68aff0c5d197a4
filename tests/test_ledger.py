"""The ledger: predictions that were kept, the runs that settle them, and how far to trust the next one."""

import os
import shutil
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from answers import document_of

from workbench.analysis.came_true import explain, outcome_words
from workbench.cli.main import main
from workbench.formats.ledger_file import append_confirmed, read_ledger
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.changes import read_change
from workbench.model.diagnostic import Severity, WorkbenchError
from workbench.model.ledger import Confirmed, Expected, Fate, Work, score
from workbench.model.prediction import Prediction, Trust
from workbench.model.run import Run
from workbench.session.keep.ledger import keep, ledger_path, settle, settle_open
from workbench.testing.runs import synthetic_run

UNITE, CORES = "unite calls=writeSamples count=16", "replicas group=core count=4"


class Project:
    """A folder with a project file and runs, as a session leaves it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "app.workbench.yaml"
        self.file.write_text("")
        self.ledger = folder / "runs" / "predictions.jsonl"

    def run(self, name: str, sources: str = "old", form: str = "original", rounds: int = 48, **manifest: object) -> Run:
        run = synthetic_run(cores=2, rounds=rounds, form=form)
        told: Mapping[str, object] = {"project": str(self.file), "sources": {"main.c": sources}, **manifest}
        manifest_now = replace(run.manifest, **told)  # type: ignore[arg-type]
        writer = RunWriter(self.file.parent / "runs" / name, manifest_now)
        return writer.finish(manifest_now, run.tables)

    def entries(self) -> dict[str, object]:
        return {entry.title: entry for entry in read_ledger(self.ledger)[0]}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def predicted(speedup: float, lower: float, upper: float, change: str = UNITE) -> Prediction:
    return Prediction((read_change(change),), Trust.TRUSTED, 1 / speedup, speedup, (lower, upper), "", "host.main")


def test_a_kept_prediction_is_read_as_it_was_written(project: Project) -> None:
    base = project.run("run-1")
    kept = keep(base, predicted(2.5, 2.25, 2.75), [Expected("host.main", "send", 1e-3)])
    append_confirmed(project.ledger, kept.id, Confirmed("2026-01-01", 2.51, 0.4, True))
    (entry,), problems = read_ledger(project.ledger)
    assert (problems, ledger_path(base)) == ((), project.ledger)
    assert replace(entry, confirmed=None) == kept
    assert entry.confirmed == Confirmed("2026-01-01", 2.51, 0.4, True)
    assert (entry.base.run, entry.fate) == ("run-1", Fate.OPEN)
    with pytest.raises(WorkbenchError, match="polls have no event"):
        keep(base, Prediction(kept.prediction.changes, Trust.REFUSED, why="polls have no event"))


def test_the_next_run_of_changed_sources_settles_it(project: Project) -> None:
    base = project.run("run-1")
    after = project.run("run-3", "new", "optimised")
    true = base.time_s / after.time_s
    keep(base, predicted(true * 1.01, true * 0.98, true * 1.03))
    keep(base, predicted(true * 2, true * 1.9, true * 2.1, "interrupt calls=readDone"))
    assert not list(settle_open(project.run("run-2")))  # the same sources
    notes = list(settle_open(after))
    assert [note.severity for note in notes] == [Severity.NOTE, Severity.NOTE]
    assert f"predicted {true * 1.01:.2f}×, measured {true:.2f}×: inside" in notes[0].message
    entries, _ = read_ledger(project.ledger)
    assert [entry.fate for entry in entries] == [Fate.INSIDE, Fate.OUTSIDE]
    assert entries[0].came is not None
    assert (entries[0].came.run, entries[0].came.work) == ("run-3", Work.EQUAL)
    assert entries[0].error == pytest.approx(1 / 1.01 - 1)
    assert "50.0\u202f% less than predicted" in outcome_words(entries[1])
    found = score(entries)
    assert (found.judged, found.inside, found.worst_error) == (2, 1, pytest.approx(0.5))
    assert not list(settle_open(project.run("run-4", "newer", "optimised")))  # settled once


@pytest.mark.parametrize("original_is_left", [True, False])
def test_a_copied_or_moved_project_keeps_its_own_ledger(
    project: Project, tmp_path_factory: pytest.TempPathFactory, original_is_left: bool
) -> None:
    """The copied runs name the original's project file; who adopts, settles and confirms there means the copy."""
    project.run("run-1")
    folder = tmp_path_factory.mktemp("copied") / "folder"
    shutil.copytree(project.file.parent, folder)
    if not original_is_left:
        shutil.rmtree(project.file.parent)
    copied, _ = open_run(folder / "runs" / "run-1")
    assert copied.manifest.project == str(folder / "app.workbench.yaml")
    entry = keep(copied, predicted(2, 2, 2))
    assert not project.ledger.exists()
    after = Project(folder).run("run-2", "new", "optimised")
    assert len(list(settle_open(after))) == 1
    (settled,), _ = read_ledger(folder / "runs" / "predictions.jsonl")
    assert settled.came is not None
    assert (settled.id, settled.came.run, settled.came.work) == (entry.id, "run-2", Work.EQUAL)


@pytest.mark.parametrize(
    "manifest",
    [
        {"settings": {"CORES": 7}},
        {"deterministic": False},
        {"instrumented": False},
        {"project": "/other.workbench.yaml"},
    ],
)
def test_a_run_that_was_taken_otherwise_settles_nothing(project: Project, manifest: dict[str, object]) -> None:
    keep(project.run("run-1"), predicted(2, 2, 2))
    after = replace(project.run("run-2", "new"), manifest=replace(project.run("run-3", "new", **manifest).manifest))
    assert not list(settle_open(after))


def test_what_a_setting_changes_is_settled_by_a_run_with_another_setting(project: Project) -> None:
    keep(project.run("run-1"), predicted(1, 1, 1, CORES))
    assert not list(settle_open(project.run("run-2")))
    assert len(list(settle_open(project.run("run-3", settings={"CORES": 4})))) == 1


def test_unequal_work_is_not_judged(project: Project) -> None:
    """Half as many rounds take half the time: no change came true."""
    keep(project.run("run-1", rounds=48), predicted(2, 1.9, 2.1))
    (note,) = settle_open(project.run("run-2", "new", rounds=24))
    assert "the run did other work, so the prediction is not judged" in note.message
    (entry,), _ = read_ledger(project.ledger)
    assert entry.came is not None
    assert (entry.fate, entry.came.work, entry.error) == (Fate.NOT_JUDGED, Work.UNEQUAL, None)
    assert entry.came.speedup == pytest.approx(1, rel=0.02)  # of as many rounds
    assert score([entry]).judged == 0


def test_a_base_that_was_deleted_leaves_its_time(project: Project) -> None:
    base = project.run("run-1")
    keep(base, predicted(2, 2, 2))
    assert base.path is not None
    base.path.rename(base.path.with_name("elsewhere"))
    list(settle_open(project.run("run-2", "new")))
    (entry,), _ = read_ledger(project.ledger)
    assert entry.came is not None
    assert (entry.came.work, entry.came.speedup) == (Work.UNKNOWN, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"event": "kept", "id": "x"', "it is not JSON"),
        ('{"event": "kept", "id": "x"}', "not a ledger event"),
        ("[1]", "not a ledger event"),
        ('{"event": "came", "id": "unheard", "came": {}}', "no earlier line has a prediction 'unheard'"),
        ('{"event": "sold", "id": "ID"}', "there is no event 'sold'"),
        ('{"event": "came", "id": "ID", "came": {"at": "", "run": 7}}', "run: Input should be a valid string"),
    ],
)
def test_a_damaged_line_is_reported_and_nothing_else_is_lost(project: Project, line: str, message: str) -> None:
    base = project.run("run-1")
    first = keep(base, predicted(2, 2, 2))
    with project.ledger.open("a") as file:
        file.write(line.replace("ID", first.id))  # and no line's end, as one leaves who is killed
    second = keep(base, predicted(3, 3, 3))
    entries, (problem,) = read_ledger(project.ledger)
    assert [entry.id for entry in entries] == [first.id, second.id]
    assert (problem.severity, problem.file, problem.line) == (Severity.WARNING, str(project.ledger), 2)
    assert message in problem.message
    assert line.replace("ID", first.id) in project.ledger.read_text()


def _keep_some(path: Path, count: int) -> None:
    run, _ = open_run(path)
    for _ in range(count):
        keep(run, predicted(2, 2, 2))


def test_two_windows_write_at_once(project: Project) -> None:
    path = project.run("run-1").path
    assert path is not None
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(_keep_some, (path, path), (40, 40)))
    entries, problems = read_ledger(project.ledger)
    assert (len(entries), problems) == (80, ())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_ledger_that_cannot_be_written_is_said(project: Project) -> None:
    base = project.run("run-1")
    project.ledger.parent.chmod(0o555)
    with pytest.raises(WorkbenchError, match="cannot write the ledger"):
        keep(base, predicted(2, 2, 2))


def test_what_explains_the_difference_sums_to_it() -> None:
    expected = [Expected("host.main", "recv", 1.86), Expected("core", "work", 5.0)]
    came = [Expected("host.main", "recv", 2.04), Expected("core", "work", 5.0), Expected("host.main", "poll", 0.04)]
    rows = explain(expected, came)
    assert [(row.state, pytest.approx(row.difference_s)) for row in rows] == [
        ("recv", 0.18),
        ("poll", 0.04),
        ("work", 0),
    ]


def test_commands(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    base, after = project.run("run-1"), project.run("run-2", "new", "optimised")
    assert main(["ledger", str(project.file)]) == 0
    assert "No predictions yet" in capsys.readouterr().out
    first, second = keep(base, predicted(2, 1.9, 2.2)), keep(base, predicted(3, 3, 3, "interrupt calls=readDone"))
    pair = [str(run.path) for run in (base, after)]
    document = document_of(capsys, ["compare", *pair, "--json"])
    assert (document["ledger"], [one["id"] for one in document["open"]]) == ([], [first.id, second.id])
    (settled,) = document_of(capsys, ["compare", *pair, "--settle", first.id, "--json"])["ledger"]
    assert (settled["change"], settled["predicted"], settled["interval"]) == (UNITE, 2, [1.9, 2.2])
    assert settled["came"] == pytest.approx(base.time_s / after.time_s)
    assert main(["compare", *pair]) == 0
    assert f"{UNITE}: predicted 2.00×, measured" in capsys.readouterr().out
    document = document_of(capsys, ["ledger", str(project.file.parent), "--drop", second.id[:4], "--json"])
    assert [one["fate"] for one in document["ledger"]] == ["inside", "dropped"]
    assert document["score"]["judged"] == 1
    assert main(["ledger", str(base.path), "--drop", first.id]) == 2
    assert "was settled by run-2 already" in capsys.readouterr().err
    assert main(["ledger", str(project.file), "--drop", "zz"]) == 2
    assert main(["compare", *pair, "--settle", "nonesuch"]) == 2


def test_a_run_may_be_settled_by_hand(project: Project) -> None:
    """Even where another project made it, as a copy of the sources would be."""
    base, other = project.run("run-1"), project.run("run-2", "new", "optimised", project="/nowhere/copy.workbench.yaml")
    entry = settle(project.ledger, keep(base, predicted(2, 2, 2)), other)
    assert entry.came is not None
    assert entry.came.work is Work.EQUAL

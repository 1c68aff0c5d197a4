"""Studies: documents of points, runs that go on after a stop, and measured beside predicted."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from study_points import made_up_run

from workbench.api.job import Job
from workbench.api.studies import Status, StudyModel, error_of, points_of, values_of
from workbench.cli.main import main
from workbench.model.changes import Change
from workbench.model.diagnostic import Cancelled, WorkbenchError
from workbench.model.prediction import Prediction, Trust
from workbench.model.run import Run
from workbench.predict.formulas import Evaluation
from workbench.predict.kinds import load_model
from workbench.predict.shown import results_of
from workbench.replay.predict import Replayed
from workbench.session.change.confirm import AnswerStatus, Confirmation
from workbench.session.make import study as session_study
from workbench.session.make.engines import Engine, dask, local, submitit
from workbench.session.make.pipeline import RunOptions
from workbench.session.make.study import Study, load_study, run_point, run_study
from workbench.session.program.plugins import Plugins, load_plugins

EXAMPLE = Path(__file__).parents[1] / "resources" / "examples" / "pdf2d"
SCRIPT = Path(__file__).with_name("study_points.py")
TEXT = """\
schema_version: 1
name: cores
title: Cores 1 to 4
projects: [optimised.workbench.yaml]
vary:
  CORES: [2, 1, 4]
set:
  POINTS: 16384
predicted:
  base: {CORES: 1}
  by: ["replicas group=core count={CORES}"]
"""


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "pdf2d"))


def study_of(folder: Path, plugins: Plugins, text: str = TEXT) -> Study:
    path = folder / "mine.study.yaml"
    path.write_text(text)
    return load_study(path, plugins)[0]


class Runner:
    """An engine whose runs are made up, in threads here. `runs` are what was run, `most` how many at once."""

    def __init__(self, study: Study, plugins: Plugins, monkeypatch: pytest.MonkeyPatch, slots: int = 2) -> None:
        self.study, self.plugins, self.slots = study, plugins, slots
        self.runs: list[tuple[int, bool]] = []
        self.under_way, self.most, self._lock = 0, 0, threading.Lock()
        monkeypatch.setattr(session_study, "run_workspace", self._run)

    def _run(self, workspace: object, options: RunOptions, job: Job) -> object:
        with self._lock:
            self.runs.append((int(options.settings.get("CORES", 0)), options.trace))
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        time.sleep(0.02)
        try:
            return made_up_run(workspace, options, job)  # type: ignore[arg-type]
        finally:
            with self._lock:
                self.under_way -= 1

    def measure(self, *, again: bool = False, job: Job | None = None) -> session_study.StudyState:
        with ThreadPoolExecutor(self.slots) as pool:
            return run_study(
                self.study, self.plugins, Engine(self.slots, self._submitting(pool)), job or Job(), again=again
            )

    def _submitting(self, pool: ThreadPoolExecutor) -> Callable[[Sequence[str]], Future[object]]:
        return lambda command: pool.submit(run_point, self.study, command[-2], self.plugins, Job())


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay answers: so many cores take so much less, but for 4, which it refuses."""

    def predict(self: Replayed, changes: Sequence[Change]) -> Prediction:
        count = int(str(changes[0]).rpartition("=")[2])
        if count == 4:
            return Prediction(tuple(changes), Trust.REFUSED, why="4 is too many")
        return Prediction(tuple(changes), Trust.TRUSTED, self.run.time_s / count * 1.01, count / 1.01)

    monkeypatch.setattr(Replayed, "predict", predict)


def test_points_are_every_combination() -> None:
    told = {"schema_version": 1, "name": "s", "projects": ["a.workbench.yaml", "b.workbench.yaml"]}
    study = StudyModel(
        **told, vary={"CORES": "1:5:2", "MODE": ["x", "y"]}, changes={"united": ["unite calls=w count=2"]}
    )
    points = points_of(study)
    assert len(points) == 2 * 2 * 3 * 2
    assert len({point.key for point in points}) == len(points)
    assert points[0].title == "a, CORES 1, MODE x"
    assert points[-1].title == "b, united, CORES 5, MODE y"
    other = points_of(study.model_copy(update={"set": {"POINTS": 2}}))
    assert not {point.key for point in points} & {point.key for point in other}
    assert values_of("N", "1:3") == (1, 2, 3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[2, 1, 4]", "[]", "gives no values of CORES"),
        ("[2, 1, 4]", "[2, 2]", "is given twice"),
        ("[2, 1, 4]", "9:1", "gives no values of CORES"),
        ("[2, 1, 4]", "1:2000", "this study has 2,000 points"),
        ("projects: [optimised.workbench.yaml]", "projects: []", "at least 1 item"),
        ("set:", "sets:", "sets"),
    ],
)
def test_a_document_that_is_wrong(folder: Path, plugins: Plugins, old: str, new: str, message: str) -> None:
    with pytest.raises(WorkbenchError) as raised:
        study_of(folder, plugins, TEXT.replace(old, new))
    assert message in raised.value.diagnostics[0].sentences
    assert raised.value.diagnostics[0].file == str(folder / "mine.study.yaml")
    assert raised.value.diagnostics[0].line


def test_a_study_is_measured_once_and_predicted_from_its_base(
    folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch, replayed: None
) -> None:
    runner = Runner(study_of(folder, plugins), plugins, monkeypatch)
    found = runner.measure()
    assert [found.of(point).status for point in found.points] == [Status.DONE] * 3
    assert sorted(runner.runs) == [(1, True), (2, False), (4, False)]  # the base alone is traced
    assert (1, True) in runner.runs[:2]  # and begun first
    two, one, four = (found.of(point) for point in found.points)
    assert one.time_s is not None
    assert (two.time_s, four.time_s) == (pytest.approx(one.time_s / 2), pytest.approx(one.time_s / 4))
    assert (one.base, one.predicted_s) == (True, one.time_s)
    assert error_of(two) == pytest.approx(0.01)
    assert (four.predicted_s, four.why) == (None, "4 is too many")
    runner.measure()
    assert len(runner.runs) == 3  # finished points are not run again
    (folder / "host" / "optimised.c").write_text((folder / "host" / "optimised.c").read_text() + "\n")
    runner.measure()
    assert len(runner.runs) == 6  # of other sources they are


def test_a_point_that_fails_keeps_its_first_error_and_the_rest_goes_on(
    folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(study_of(folder, plugins, TEXT.replace("[2, 1, 4]", "1:4")), plugins, monkeypatch)
    found = runner.measure()
    states = [found.of(point) for point in found.points]
    assert [state.status.value for state in states] == ["done", "done", "failed", "done"]
    assert states[2].error == "top.v:7: error: 3 cores do not fit. Use fewer."
    runner.measure()
    assert len(runner.runs) == 4
    runner.measure(again=True)
    assert [cores for cores, _ in runner.runs[4:]] == [3]


def test_a_setting_that_the_project_lacks_fails_the_points(
    folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(study_of(folder, plugins, TEXT.replace("  CORES: [", "  CORE: [")), plugins, monkeypatch)
    found = runner.measure()
    assert "there is no setting or parameter 'CORE'. Did you mean 'CORES'?" in found.of(found.points[0]).error
    assert runner.runs == []


def test_of_points_with_one_card_the_first_runs_alone(
    folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    """POINTS is the host's alone: all three points have the card of one, which the first builds."""
    text = TEXT.replace("CORES: [2, 1, 4]", "POINTS: [8192, 16384, 24576, 32768]").replace(
        "  POINTS: 16384", "  CORES: 2"
    )
    text = text.partition("predicted:")[0]
    runner = Runner(study_of(folder, plugins, text), plugins, monkeypatch, slots=3)
    order: list[int] = []
    run = runner._run

    def noted(workspace: object, options: RunOptions, job: Job) -> object:
        order.append(runner.under_way)
        return run(workspace, options, job)

    monkeypatch.setattr(session_study, "run_workspace", noted)
    found = runner.measure()
    assert found.count(Status.DONE) == 4
    assert order[:2] == [0, 0]  # the second began when the first had ended
    assert runner.most > 1  # and then others beside it


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (AnswerStatus.SAME, Status.DONE, ""),
        (AnswerStatus.DIFFERS, Status.DONE, "its output differs: it prints 2"),
        (AnswerStatus.NOT_POSSIBLE, Status.PREDICTED, "the card cannot try it: it prints 2"),
        (AnswerStatus.FAILED, Status.FAILED, "the application fails with these changes: it prints 2"),
    ],
)
def test_a_set_of_changes_is_tried_on_the_run_without_them(
    folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch, replayed: None,
    answer: AnswerStatus, status: Status, said: str,
) -> None:  # fmt: skip
    tried: list[tuple[Path | None, str]] = []

    def confirm(workspace: object, run: Run, changes: Sequence[Change], job: Job, plugins: Plugins) -> Confirmation:
        tried.append((run.path, str(changes[0])))
        assert run.path is not None
        time_s = run.time_s / 2 if status is Status.DONE else None
        return Confirmation(tuple(changes), answer, time_s, 2.0, "it prints 2", run=run.path.with_name("made"))

    monkeypatch.setattr(session_study, "confirm", confirm)
    text = TEXT.replace("[2, 1, 4]", "[1]") + "changes:\n  twice: [replicas group=core count=2]\n"
    runner = Runner(study_of(folder, plugins, text), plugins, monkeypatch)
    found = runner.measure()
    plain, twice = found.points
    assert runner.runs == [(1, True)]
    state, base = found.of(twice), found.of(plain)
    assert tried == [(runner.study.folder / base.run, "replicas group=core count=2")]
    assert (state.status, state.error or state.note) == (status, said)
    assert state.time_s == ((base.time_s or 0) / 2 if status is Status.DONE else None)
    assert state.predicted_s == pytest.approx((base.time_s or 0) / 2 * 1.01)
    again = Runner(study_of(folder, plugins, text), plugins, monkeypatch)
    again.measure()
    assert (again.runs, len(tried)) == ([], 1 if status is not Status.DONE else 2)  # "made" is no complete run here
    changed = Runner(study_of(folder, plugins, text.replace("count=2", "count=3")), plugins, monkeypatch)
    changed.measure()
    assert tried[-1][1] == "replicas group=core count=3"


def test_what_a_study_shows(
    folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch, replayed: None, capsys: pytest.CaptureFixture[str]
) -> None:
    study = study_of(folder, plugins, TEXT.replace("[2, 1, 4]", "1:4"))
    Runner(study, plugins, monkeypatch).measure()
    file, _ = load_model(plugins.model_kinds["study"], study.path, {})
    assert file is not None
    shown = results_of(Evaluation(file))
    assert (shown.figures[0].value, shown.figures[0].note) == ("3 of 4", "1 failed")
    assert list(shown.charts) == ["Time", "Speedup", "Error"]
    measured, predicted = shown.charts["Time"].curves
    assert (measured.x, predicted.x, predicted.plain) == ((1, 2, 4), (1, 2, 3), True)
    assert shown.charts["Speedup"].curves[0].y == pytest.approx((1, 2, 4))
    assert shown.charts["Error"].curves[0].y == (pytest.approx(1),)
    ((page,), (speedups,)) = (shown.tables[name] for name in ("Time", "Speedup"))
    assert [row.values[0] for row in speedups.rows] == ["1.00×", "2.00×", "", "4.00×"]
    assert [row.values[2] for row in page.rows] == ["base", "+1.00\u202f%", "", ""]
    assert (page.rows[2].values[3], page.rows[2].tip[:9]) == ("failed", "top.v:7: ")
    assert [Path(run).parent for run in measured.runs] == [study.folder / "runs"] * 3
    assert [bool(row.run) for row in page.rows] == [True, True, False, True]
    page_file, table_file = (study.folder / name for name in ("s.html", "s.csv"))
    assert main(["study", str(study.path), "--html", str(page_file), "--csv", str(table_file)]) == 1
    html, rows = page_file.read_text(), table_file.read_text().splitlines()
    assert ("Cores 1 to 4" in html, html.count("<svg"), "3 cores do not fit" in html) == (True, 3, True)
    assert rows[0].startswith("project,platform,changes,CORES,measured_s,predicted_s,error,status,note,run")
    assert ("3 cores do not fit" in rows[3], len(rows)) == (True, 5)
    capsys.readouterr()
    assert main(["predict", "study", str(study.path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["point", "measured", "predicted", "error"]
    assert "3 cores do not fit" in lines[3]


def test_a_cancel_keeps_what_was_measured(folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner(study_of(folder, plugins), plugins, monkeypatch, slots=1)
    job = Job(lambda event: job.cancel() if event.text.startswith("1 of 3") else None)
    with pytest.raises(Cancelled):
        runner.measure(job=job)
    done = len(runner.runs)
    assert done < 3
    runner.measure()
    assert len({cores for cores, _ in runner.runs}) == 3
    assert len(runner.runs) <= 4  # at most the one that was under way is run twice


def _program(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), str(folder / "mine.study.yaml"), "--jobs", "1", "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _children_of(path: Path) -> list[int]:
    """Processes that run points of this study."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(path).encode() in words and b"--point" in words:
                found.append(int(entry.name))
    return found


def test_a_study_that_was_killed_goes_on_where_it_was(folder: Path, plugins: Plugins) -> None:
    study = study_of(folder, plugins, TEXT.replace("[2, 1, 4]", "[1, 4]"))
    program = _program(folder)
    until_s = time.monotonic() + 60
    while not (folder / "held").exists() and time.monotonic() < until_s:
        time.sleep(0.05)
    program.kill()
    program.communicate(timeout=30)
    while _children_of(study.path) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert not _children_of(study.path)
    (done,) = (study.folder / "runs").glob("*/manifest.json")
    ended_ns = done.stat().st_mtime_ns
    (folder / "go").touch()
    program = _program(folder)
    points = json.loads(program.communicate(timeout=60)[0])["points"]
    assert (program.returncode, [point["status"] for point in points]) == (0, ["done"] * 2)
    assert done.stat().st_mtime_ns == ended_ns


def test_a_cancel_ends_children(folder: Path, plugins: Plugins) -> None:
    study = study_of(folder, plugins, TEXT.replace("[2, 1, 4]", "[1]"))
    job = Job()
    pid = folder / "pid"

    def cancel_once_it_runs() -> None:
        while not (pid.is_file() and pid.read_text()):
            time.sleep(0.05)
        job.cancel()

    threading.Thread(target=cancel_once_it_runs, daemon=True).start()
    with local(1, job) as engine:
        held = Engine(1, lambda command: engine.submit(["sh", "-c", f"echo $$ > {pid}; sleep 1000"]))
        with pytest.raises(Cancelled):
            run_study(study, plugins, held, job)
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()


def test_two_cannot_run_one_study(folder: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner(study_of(folder, plugins), plugins, monkeypatch)
    runner.study.folder.mkdir()
    held = session_study.locked(runner.study.folder / "lock")
    assert held is not None
    with held, pytest.raises(WorkbenchError, match="another window or command"):
        runner.measure()


def test_a_job_that_leaves_no_result_is_the_points_error(folder: Path, plugins: Plugins) -> None:
    study = study_of(folder, plugins, TEXT.replace("[2, 1, 4]", "[1]"))
    with local(1, job := Job()) as engine:
        ended = Engine(1, lambda command: engine.submit(["sh", "-c", "echo out of memory >&2; exit 9"]))
        found = run_study(study, plugins, ended, job)
    error = found.of(found.points[0]).error
    assert "the job ended without a result: out of memory" in error
    assert "it ended with 9" in error


def test_dask_runs_points_and_a_cancel_ends_them(tmp_path: Path) -> None:
    distributed = pytest.importorskip("dask.distributed")
    alive = tmp_path / "running"
    with (
        distributed.LocalCluster(1, processes=False, threads_per_worker=2, dashboard_address=None) as cluster,
        dask(cluster.scheduler_address, alive) as engine,
    ):
        assert engine.slots == 2
        assert engine.submit(["sh", "-c", "echo said >&2"]).result() == "said\nit ended with 0"
        held = engine.submit(["sleep", "1000"])  # longer than a test may take
        time.sleep(0.3)
        alive.unlink()
        held.result()


def test_submitit_runs_points_and_a_cancel_ends_them(tmp_path: Path) -> None:
    """The library itself, which runs jobs on this machine where it finds no queue."""
    pytest.importorskip("submitit")
    alive = tmp_path / "running"
    with submitit(tmp_path / "jobs", alive, {"timeout_min": 2}, 0) as engine:
        assert engine.submit(["sh", "-c", "echo said >&2"]).result() == "said\nit ended with 0"
        held = engine.submit(["sleep", "1000"])
        time.sleep(0.5)
        alive.unlink()
        held.result()


def test_submitit_is_asked_as_the_study_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(WorkbenchError, match="submitit is not installed"), submitit(tmp_path, tmp_path / "on", {}, 1):
        pass

    class Executor:
        asked: ClassVar[dict[str, object]] = {}

        def __init__(self, folder: str) -> None:
            self.asked["folder"] = folder

        def update_parameters(self, **parameters: object) -> None:
            if "minutes" in parameters:
                raise NameError("minutes")
            self.asked.update(parameters)

        def submit(self, run: Callable[..., str], *given: object) -> SimpleNamespace:
            said = run(*given)
            return SimpleNamespace(done=lambda: True, result=lambda: said, cancel=lambda: None)

    monkeypatch.setitem(sys.modules, "submitit", SimpleNamespace(AutoExecutor=Executor))
    with submitit(tmp_path, tmp_path / "on", {"timeout_min": 5}, 0) as engine:
        assert engine.submit(["true"]).result() == "it ended with 0"
    assert Executor.asked == {"folder": str(tmp_path), "timeout_min": 5}
    with pytest.raises(WorkbenchError, match="does not take these"), submitit(tmp_path, tmp_path, {"minutes": 1}, 0):
        pass


def test_the_bundled_study_can_be_read(plugins: Plugins) -> None:
    study, problems = load_study(EXAMPLE / "cores.study.yaml", plugins)
    assert problems == ()
    assert {point.project for point in study.points} == {"original.workbench.yaml", "optimised.workbench.yaml"}
    assert main(["study", str(EXAMPLE / "cores.study.yaml"), "--point", "none"]) == 2

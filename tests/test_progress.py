"""A job says how far it is and how long it still takes: on a terminal, in plain lines, and in the window."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from workbench.api.job import Job, JobEvent, OutOfTime
from workbench.cli.output import visible
from workbench.cli.progress import progress
from workbench.gui.app import make_application
from workbench.gui.run.jobs import JobRunner
from workbench.gui.run.run_dock import RunDock
from workbench.model.diagnostic import Cancelled, Diagnostic
from workbench.model.text import duration_text
from workbench.run.pace import Pace
from workbench.session.make import durations

STEPS = ("Build", "Run", "Read out")


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> Pace:
    made = Pace(clock)
    made.see(JobEvent("plan", "\n".join(STEPS), expected_s={"Build": 10, "Run": 100, "Read out": 2}))
    return made


def test_the_time_left_is_what_the_steps_took_the_last_time(pace: Pace, clock: Clock) -> None:
    pace.see(JobEvent("step", "Build"))
    assert pace.left_s() == 112
    clock.now_s = 4
    assert pace.left_s() == 108
    assert pace.step_share() == pytest.approx(0.4)
    pace.see(JobEvent("step_done", "Build", seconds=6))
    clock.now_s = 6
    pace.see(JobEvent("step", "Run"))
    assert pace.left_s() == 102
    assert pace.left_text() == "about 1 min 42 s left"


def test_what_a_step_says_itself_counts_more(pace: Pace, clock: Clock) -> None:
    pace.see(JobEvent("step_done", "Build"))
    pace.see(JobEvent("step", "Run"))
    clock.now_s = 30
    pace.see(JobEvent("progress", "3 million cycles", fraction=0.75))
    assert pace.left_s() == pytest.approx(10 + 2)
    assert pace.said == "3 million cycles"


def test_a_step_that_takes_longer_than_it_did_promises_nothing(pace: Pace, clock: Clock) -> None:
    pace.see(JobEvent("step", "Build"))
    clock.now_s = 11
    assert pace.left_s() is None
    assert pace.left_text() == ""


def test_without_an_earlier_run_only_a_step_that_tells_is_foretold(clock: Clock) -> None:
    pace = Pace(clock)
    pace.see(JobEvent("plan", "\n".join(STEPS)))
    pace.see(JobEvent("step", "Build"))
    assert pace.left_text() == ""
    clock.now_s = 5
    pace.see(JobEvent("progress", fraction=0.5))
    assert pace.left_text() == "about 5 s left in this step"


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "1 s"), (59.4, "59 s"), (125, "2 min 5 s"), (3780, "1 h 3 min")])
def test_durations_as_one_waits_for_them(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_durations_are_remembered_by_project_and_way(tmp_path: Path) -> None:
    one, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    assert durations.remembered(one, "trace") == {}
    durations.remember(one, "trace", {"Build": 3.0})
    durations.remember(one, "trace", {"Build": 4.0})
    assert durations.remembered(one, "trace") == {"Build": 4.0}
    assert durations.remembered(one, "plain") == {}
    assert durations.remembered(other, "trace") == {}


def work(job: Job) -> None:
    job.plan(STEPS, {"Build": 100, "Run": 50, "Read out": 1})
    with job.step("Build"):
        job.log("host: \x1b]0;owned\x07[bold]a line[/bold] of the program")
        job.report(Diagnostic("this is odd", file="/x.c", line=3))


def test_a_pipe_gets_plain_lines(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w+") as stream:
        with progress(stream) as watch:
            work(Job(watch))
        stream.seek(0)
        lines = stream.read().splitlines()
    assert lines[0] == "Build ..."
    assert lines[1] == r"host: \x1b]0;owned\x07[bold]a line[/bold] of the program"
    assert lines[2] == "/x.c:3: error: this is odd"
    assert re.fullmatch(r"Build: \d+\.\d s", lines[3])
    assert len(lines) == 4


def test_a_long_step_tells_a_pipe_from_time_to_time_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.cli.progress.LINE_EVERY_S", 0.0)
    told = io.StringIO()
    with progress(told) as watch:
        job = Job(watch)
        with job.step("Build"):
            job.progress(0.5, "1 of 2 files")
        job.progress(None, "after it")
    assert re.fullmatch(r"Build \.\.\.\nBuild: 1 of 2 files, 0 s so far, about .* left in this step\nBuild: .* s\n",
                        told.getvalue())  # fmt: skip


def test_a_step_is_due_once_in_a_while() -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    assert not pace.is_due(10)
    pace.see(JobEvent("step", "Build"))
    due = []
    for now[0] in (9.0, 10.0, 19.0, 20.5, 20.6):
        due.append(pace.is_due(10))
    assert due == [False, True, False, True, False]


def test_what_a_job_said_last_is_told_again_while_its_program_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what shows only now and then shows a long step too. Each thread has its own."""
    monkeypatch.setattr("workbench.api.job._TOLD_EVERY_S", 0.0)
    told: list[str] = []
    job = Job(lambda event: told.append(event.text))
    job.progress(None, "compiling")
    seen: list[str] = []
    job.run(["sh", "-c", "echo one; sleep 0.3; echo two"], on_output=seen.append)
    assert seen == ["one", "two"]
    assert len(told) > 2
    assert set(told) == {"compiling"}


def test_a_part_of_a_job_ends_when_its_time_is_over_or_the_job_is_cancelled() -> None:
    job = Job()
    with pytest.raises(OutOfTime, match=r"it took longer than 0\.05 s"):
        job.within(0.05).run(["sleep", "60"])
    job.run(["true"])
    part = job.within(60)
    part.report(Diagnostic("this is odd"))
    assert [one.message for one in job.diagnostics] == ["this is odd"]
    job.cancel()
    with pytest.raises(Cancelled):
        part.check()


def test_a_terminal_gets_a_line_that_moves_and_the_same_lines_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    ours, theirs = pty.openpty()
    said: list[bytes] = []
    with os.fdopen(theirs, "w") as terminal:
        reader = threading.Thread(target=_read, args=(ours, said.append))
        reader.start()
        with progress(terminal) as watch:
            work(Job(watch))
            watch(JobEvent("step", "Run"))
    reader.join(20)
    text = b"".join(said).decode()
    assert "2/3  Run" in text
    assert "about 51 s left" in text
    assert r"host: \x1b]0;owned\x07[bold]a line[/bold] of the program" in text
    assert "\x1b]0;owned" not in text


def _read(terminal: int, keep: Callable[[bytes], None]) -> None:
    try:
        while data := os.read(terminal, 4096):
            keep(data)
    except OSError:  # the other end was closed
        os.close(terminal)


def test_what_draws_on_terminals_is_loaded_only_for_one() -> None:
    code = """
    import sys
    from workbench.cli.progress import progress
    with progress() as watch: pass
    print([name for name in sys.modules if name.split(".")[0] == "rich"])
    """
    code = "\n".join(line[4:] for line in code.splitlines())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_visible_keeps_what_people_read() -> None:
    assert visible("Zeit: 3 µs\n\tok") == "Zeit: 3 µs\n\tok"
    assert visible("\x1b[2J\r\x00\x9b") == r"\x1b[2J\r\x00\x9b"


def test_the_window_shows_the_time_left(qtbot: QtBot) -> None:
    make_application()
    runner = JobRunner()
    dock = RunDock(runner)
    qtbot.addWidget(dock)
    go_on = threading.Event()

    def steps(job: Job) -> None:
        job.plan(STEPS, {"Build": 1000, "Run": 500, "Read out": 1})
        with job.step("Build"):
            go_on.wait(20)

    runner.start("A run", steps)
    qtbot.waitUntil(lambda: "left" in dock.left.text(), timeout=10_000)
    assert re.fullmatch(r"about 25 min \d+ s left|about 2[45] min \d+ s left", dock.left.text())
    assert dock.progress_text.endswith(dock.left.text())
    assert dock.steps["Build"].fraction is not None
    go_on.set()
    qtbot.waitUntil(lambda: not runner.running, timeout=10_000)
    assert dock.left.text() == ""

"""What goes wrong for people: each kind a readable diagnostic, nothing lost, no process left behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from rc_workbench_plugins.simulated_card import simulate
from running import running_children

from workbench.cli.main import main
from workbench.formats.run_folder import open_run
from workbench.model.run import RunStatus
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import load_plugins
from workbench.traces.trace import trace_of

#: a run that waits for what never comes ends within a second by the limits that it has else
NO_LIMIT = "cycle_limit: 2000000000000\n  idle_cycle_limit: 2000000000000"
TINY = Path(__file__).parent / "data" / "tiny"
Ran = tuple[int, str, dict[str, object]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The tiny project's file, in a folder of its own."""
    return Path(shutil.copytree(TINY, tmp_path / "tiny")) / "tiny.workbench.yaml"


@pytest.fixture
def workbench(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command with --json: its exit code, what it wrote to stderr, its document."""

    def run(*arguments: object) -> Ran:
        code = main([*map(str, arguments), "--json"])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, err, json.loads(out)

    return run


@pytest.fixture(autouse=True)
def nothing_left_running(tmp_path: Path) -> Iterator[None]:
    yield
    assert not left_running(tmp_path)


def left_running(folder: Path) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and str(folder) in process.environ().get("RCW_RAW", ""):
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def snapshot(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "runs" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def first(document: dict[str, object]) -> dict[str, object]:
    diagnostics = document["diagnostics"]
    assert isinstance(diagnostics, list)
    return next(d for d in diagnostics if d["severity"] == "error")


def test_yaml_that_cannot_be_read(project: Path, workbench: Callable[..., Ran]) -> None:
    edit(project, "host:\n", "host: [\n")
    before = snapshot(project.parent)
    code, _, document = workbench("run", project)
    problem = first(document)
    assert code == 2
    assert problem["file"] == str(project)
    assert isinstance(problem["line"], int)
    assert problem["line"] >= 5
    assert snapshot(project.parent) == before


def test_an_unknown_key_is_named_with_the_nearest_right_one(project: Path, workbench: Callable[..., Ran]) -> None:
    edit(project, "  top: tiny_top", "  topp: tiny_top")
    code, _, document = workbench("run", project)
    diagnostics = document["diagnostics"]
    assert isinstance(diagnostics, list)
    problem = next(d for d in diagnostics if "topp" in d["message"])
    assert code == 2
    assert problem["line"] == 9
    assert "top" in problem["hint"]


def test_a_bad_pragma_is_reported_at_its_column(project: Path, workbench: Callable[..., Ran]) -> None:
    edit(project.parent / "host" / "main.c", "send(data", "sned(data")
    code, _, document = workbench("scan", project)
    problem = first(document)
    assert code == 1
    assert str(problem["file"]).endswith("host/main.c")
    assert problem["line"] == 15
    assert "send" in str(problem["hint"])


def test_a_source_that_is_not_there(project: Path, workbench: Callable[..., Ran]) -> None:
    edit(project, "host/main.c", "host/mian.c")
    code, _, document = workbench("run", project)
    problem = first(document)
    assert code == 2
    assert problem["line"] == 6
    assert "mian.c" in str(problem["message"])
    assert "main.c" in str(problem["hint"])


def test_a_project_that_is_not_there(tmp_path: Path, workbench: Callable[..., Ran]) -> None:
    code, _, document = workbench("run", tmp_path / "none.workbench.yaml")
    assert code == 2
    assert first(document)["file"] == str(tmp_path / "none.workbench.yaml")


def test_rtl_that_cannot_be_built(project: Path, workbench: Callable[..., Ran]) -> None:
    hdl = project.parent / "hdl" / "tiny_top.v"
    edit(hdl, "reg [31:0] sum;", "reg [31:0] sum")
    code, _, document = workbench("run", project, "--out", project.parent / "runs" / "a")
    problem = first(document)
    assert code == 2
    assert str(problem["file"]).endswith("hdl/tiny_top.v")
    assert problem["line"] in (13, 14)
    assert open_run(project.parent / "runs" / "a")[0].manifest.status is RunStatus.FAILED


def test_rtl_that_does_not_synthesise(project: Path, workbench: Callable[..., Ran]) -> None:
    hdl = project.parent / "hdl" / "tiny_top.v"
    edit(hdl, "left <= left - 1;", "left <= no_such_signal - 1;")
    code, _, document = workbench("run", project, "--plain", "--out", project.parent / "runs" / "a")
    problem = first(document)
    assert code == 2
    assert str(problem["file"]).endswith("hdl/tiny_top.v")
    assert "no_such_signal" in str(problem["message"])


def test_a_host_that_does_not_compile(project: Path, workbench: Callable[..., Ran]) -> None:
    edit(project.parent / "host" / "main.c", "return 0;", "return nothing;")
    for form in ((), ("--plain",)):
        code, _, document = workbench("run", project, *form, "--out", project.parent / "runs" / f"a{len(form)}")
        problem = first(document)
        assert code == 2
        assert str(problem["file"]).endswith("host/main.c")
        assert problem["line"] == 24
        assert "nothing" in str(problem["message"])


def test_a_host_that_crashes_keeps_what_was_recorded(project: Path, workbench: Callable[..., Ran]) -> None:
    edit(project.parent / "host" / "main.c", "fpgaClose(fpga);", "*(volatile int *)0 = 1;")
    out = project.parent / "runs" / "a"
    code, _, document = workbench("run", project, "--out", out)
    assert code == 1
    assert "crashed" in str(first(document)["message"])
    run, _ = open_run(out)
    assert run.manifest.status is RunStatus.FAILED
    assert "SIGSEGV" in run.manifest.reason
    assert sum(run.tables["call_stats"]["count"]) > 6  # the calls until then


def test_rtl_that_never_answers_meets_the_cycle_limit(project: Path, workbench: Callable[..., Ran]) -> None:
    edit(project.parent / "hdl" / "tiny_top.v", "empty && left == 0}", "1'b0}")
    edit(project, "cycle_limit: 2000000", "cycle_limit: 200000")
    out = project.parent / "runs" / "a"
    code, _, document = workbench("run", project, "--out", out)
    problem = first(document)
    assert code == 1
    assert "200" in str(problem["message"])
    assert "cycle" in str(problem["message"])
    assert open_run(out)[0].manifest.status is RunStatus.FAILED


def test_a_place_that_cannot_be_written(project: Path, workbench: Callable[..., Ran]) -> None:
    in_the_way = project.parent / "file"
    in_the_way.write_text("mine")
    before = snapshot(project.parent)
    code, _, document = workbench("run", project, "--out", in_the_way / "run")
    assert code == 2
    assert str(in_the_way) in str(first(document)["file"])
    assert snapshot(project.parent) == before


def test_a_full_disk_leaves_what_was_there(project: Path, workbench: Callable[..., Ran], tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert workbench("run", project, "--deterministic", "--out", out)[0] == 0
    code = subprocess.run(
        ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", sys.executable, "-m", "workbench", "run", str(project),
         "--out", str(tmp_path / "second"), "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert code.returncode in (1, 2)
    assert "Traceback" not in code.stderr
    assert json.loads(code.stdout)["diagnostics"]
    assert open_run(out)[0].complete
    assert not open_run(tmp_path / "second")[0].complete


@pytest.mark.usefixtures("hang_up_is_heard")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_cancelled_run_ends_everything_and_says_so(project: Path, tmp_path: Path, number: int) -> None:
    edit(project.parent / "hdl" / "tiny_top.v", "empty && left == 0}", "1'b0}")
    edit(project, "cycle_limit: 2000000", NO_LIMIT)
    out = tmp_path / "run"
    child = subprocess.Popen(
        [sys.executable, "-m", "workbench", "run", str(project), "--out", str(out)],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (out / "raw" / "progress.bin").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left_running(tmp_path)
    child.send_signal(number)
    assert child.wait(20) == 130
    assert child.stderr is not None
    assert "Traceback" not in child.stderr.read()
    assert not left_running(tmp_path)
    assert open_run(out)[0].manifest.status is RunStatus.CANCELLED


def test_one_signal_ends_a_build_at_once_whatever_its_compilers_do(project: Path, tmp_path: Path) -> None:
    """The compilers run in threads; here each of them takes an hour."""
    slow = tmp_path / "slowcc"
    slow.write_text('#!/bin/sh\ncase "$*" in *-c*) exec sleep 3600;; esac\nexec gcc "$@"\n')
    slow.chmod(0o755)
    out = tmp_path / "run"
    child = subprocess.Popen(
        [sys.executable, "-m", "workbench", "run", str(project), "--out", str(out)], text=True,
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env={**os.environ, "CC": str(slow)},
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while "sleep" not in (begun := running_children(child.pid)).values() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "sleep" in begun.values()
    child.send_signal(signal.SIGTERM)
    assert child.wait(20) == 130
    assert child.stderr is not None
    assert child.stderr.read().endswith("Cancelled.\n")
    assert not psutil.wait_procs(list(begun), 5)[1]
    assert not open_run(out)[0].complete


@pytest.mark.parametrize("confined", [True, False])
def test_a_design_that_writes_a_file_without_end_is_ended(
    project: Path, tmp_path: Path, workbench: Callable[..., Ran], confined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log of every cycle; the host waits for what never comes."""
    if not confined:
        monkeypatch.setattr(simulate, "confine", lambda *words: None)
    top = project.parent / "hdl" / "tiny_top.v"
    edit(top, "empty && left == 0}", "1'b0}")
    log = 'integer log; initial log = $fopen("endless.log", "w"); always @(posedge clk) $fwrite(log, "%0d\\n", sum);'
    edit(top, "reg [31:0] sum;", f"reg [31:0] sum; {log}")
    edit(project, "cycle_limit: 2000000", "cycle_limit: 2000000000\n  files_bytes: 1 MiB")
    out = tmp_path / "run"
    code, _, told = workbench("run", project, "--out", out)
    assert told["confined"] is confined or "CI" not in os.environ
    assert code == 1
    (problem,) = (one for one in told["diagnostics"] if one["severity"] == "error")
    assert "the design wrote more than simulation.files_bytes (1\u202fMiB) to files" in problem["message"]
    log = out / "card_files" / "endless.log" if told["confined"] else project.parent / "endless.log"
    assert f"most of it to {log.name if told['confined'] else log}: " in problem["message"]
    assert log.stat().st_size >= 1 << 20


def test_a_killed_run_shows_what_it_recorded(project: Path, tmp_path: Path, workbench: Callable[..., Ran]) -> None:
    edit(project.parent / "hdl" / "tiny_top.v", "empty && left == 0}", "1'b0}")
    edit(project, "cycle_limit: 2000000", NO_LIMIT)
    out = tmp_path / "run"
    child = subprocess.Popen(
        [sys.executable, "-m", "workbench", "run", str(project), "--trace", "--out", str(out)],
        stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    taps = out / "raw" / "taps.bin"
    while not (taps.exists() and taps.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.1)
    going_on = open_result(out, load_plugins())
    assert set(going_on.run.tables) <= {"call_stats", "state_time", "transitions"}  # what its host counts so far
    assert not (out / "tables").exists()
    child.kill()
    child.wait()
    deadline = time.monotonic() + 10
    while left_running(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)  # host and card notice that nobody watches any more
    run, (problem, *_) = open_run(out)
    assert run.manifest.status is RunStatus.RUNNING
    assert "incomplete" in problem.text()
    code, _, report = workbench("report", out)
    assert code == 0
    polls = next(call for call in report["calls"] if call["label"] == "poll")
    assert polls["count"] > 100
    adder = next(block for block in report["blocks"] if block["id"] == "tiny_top.adder")
    assert {"add", "idle"} <= {state["name"] for state in adder["states"] if state["visits"]}
    run, (problem, *_) = open_run(out)
    assert "ended before it could finish" in problem.text()
    assert trace_of(run) is not None
    times = np.zeros(len(run.manifest.blocks))
    np.add.at(times, run.tables["state_time"]["block"], run.tables["state_time"]["time_ps"])
    assert set(times) == {run.manifest.time_ps}

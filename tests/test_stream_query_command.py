"""`workbench query` on a run folder: numbers, words, broken assertions, and what cannot be asked."""

import shutil
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from rc_workbench_plugins.streaming.agents.kept import table_of_answers
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.measures import FrameValue, MeasureResult
from rc_workbench_plugins.streaming.query.resolve import read_query
from stream_topologies import STREAM

from workbench.api.stream_events import EdgeEvents, of_topology, tables
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.run import RunStatus


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Ten elements a microsecond apart, each taken 250 ns after it came; edge c is hardware's, at 100 MHz."""
    came = np.arange(1, 11) * 1_000_000
    edges = {
        edge.label: EdgeEvents(
            edge, came + delay, came + delay + 250_000, np.arange(10, dtype=np.uint16) % 4,
            blocked_ps=np.array([[2_000_000, 3_000_000]]), tick_ps=10_000.0 if edge.label == "Stream.c" else 0.0,
        )
        for delay, edge in zip((0, 300_000, 600_000), STREAM.edges, strict=True)
    }  # fmt: skip
    writer = RunWriter(tmp_path / "run")
    events = of_topology(STREAM, edges, 12_000_000)
    writer.finish(replace(writer.manifest, status=RunStatus.COMPLETE, time_ps=12_000_000), tables(events))
    return tmp_path / "run"


def asked(run: Path, text: str, *options: str) -> list[str]:
    file = run.parent / "my.query"
    file.write_text(text)
    return ["query", str(run), str(file), *options]


def test_numbers_are_those_of_the_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """r: measure rate at a
              l: measure mean latency at acquire.y -> report.x
              h: measure hist occupancy at b
              u: measure util at c
              v: measure trace value at a
              x: assert latency at a <= 250 ns"""
    said = document_of(capsys, asked(run, text, "--frame", "6 us", "--json"))
    rate, late, held, used, values = said["measures"]
    assert [frame["value"] for frame in rate["frames"]] == [pytest.approx(1e6), pytest.approx(4e6 / 6)]
    assert (rate["label"], rate["text"], rate["unit"]) == ("r", "r: measure rate at a", "transfers/s")
    assert (rate["frames"][1]["start_s"], rate["frames"][1]["end_s"]) == (6e-6, 12e-6)
    assert [frame["value"] for frame in late["frames"]] == [pytest.approx(850e-9)] * 2
    assert late["unit"] == "s"
    assert held["bins"] == [0, 1, 2, 3, 4, 5]
    assert held["frames"][0]["histogram"] == pytest.approx([4.75e-6, 1.25e-6, 0, 0, 0])
    assert [frame["value"] for frame in used["frames"]] == [pytest.approx(0.05 / 6), pytest.approx(0.05 / 6)]
    assert values["frames"][0]["samples"][:3] == [[1e-6, 0], [2e-6, 1], [3e-6, 2]]
    (held_,) = said["asserts"]
    assert (held_["holds"], held_["broken"]) == (True, [])
    assert said["diagnostics"] == []


def words_of(run: Path, text: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    main(asked(run, text, *options))
    return capsys.readouterr().out.replace("\u202f", " ")


def test_a_trace_shows_its_first_and_last_samples(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "10 samples, in one frame\n    1.00000 µs  0\n    2.00000 µs  1\n" in words_of(
        run, "measure trace value at a", capsys
    )
    shown = words_of(run, "measure trace occupancy at a", capsys).splitlines()
    assert shown[1].strip() == "21 samples, in one frame"
    assert shown[10].strip() == "9 more; --json has all"
    assert len(shown) == 2 + 8 + 1 + 4


def test_a_frame_that_the_runs_end_cuts_off_says_so(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run lasts 12 µs, and has 10 elements."""
    said = words_of(run, "measure rate at a", capsys, "--frame", "5 us")
    assert "3 frames, the last one a part: 2.00 µs of 5.00 µs" in said
    assert "3 frames, the last one a part: 2 of 4 elements" in words_of(run, "measure rate(frame=4) at a", capsys)
    assert "2.50 µs, of a part: 12.0 µs of 10.0 s" in words_of(
        run, "measure sum latency at a", capsys, "--frame", "10 s"
    )
    assert "a part" not in words_of(run, "measure rate at a", capsys, "--frame", "4 us")
    (rate,) = document_of(capsys, asked(run, "measure rate at a", "--frame", "5 us", "--json"))["measures"]
    assert [frame.get("part") for frame in rate["frames"]] == [None, None, pytest.approx(0.4)]


def test_empty_bins_before_the_first_value_are_one_row(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = words_of(run, "measure hist(bins=100, low=0, high=1 us) latency at a", capsys).splitlines()
    assert [line.split() for line in shown[1:]] == [
        ["below", "250", "ns", "0", "%"],
        ["250", "ns", "100", "%", "#" * 40],
    ]


def test_a_broken_assertion_shows_what_it_compared(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "l: measure trace latency at a\nassert l < 200 ns & occupancy at b < 3\nassert rate at a > 5 Mtps"
    said = words_of(run, text, capsys)
    assert "broken, first at 1.25000 µs, where l was 250 ns, occupancy at b was 0" in said
    assert "where rate at a was 833 k/s" in said
    first, _ = document_of(capsys, asked(run, text, "--json"), 1)["asserts"]
    assert [(one["text"], one["value"], one["unit"]) for one in first["values"]] == [
        ("l: measure trace latency at a", pytest.approx(250e-9), "s"),
        ("occupancy at b", 0, "elements"),
    ]


def test_a_block_that_ended_before_all_was_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    came = np.arange(1, 11) * 1_000_000
    taken = dict.fromkeys((edge.label for edge in STREAM.edges), came + 250_000)
    taken["Stream.b"] = came[:7] + 250_000
    edges = {edge.label: EdgeEvents(edge, came, taken[edge.label]) for edge in STREAM.edges}
    writer = RunWriter(tmp_path / "run")
    writer.finish(replace(writer.manifest, status=RunStatus.COMPLETE), tables(of_topology(STREAM, edges, 12_000_000)))
    assert main(["query", str(tmp_path / "run"), "--limits"]) == 0
    sink = STREAM.within(STREAM.find("b")[0].sink.block)
    assert f" {sink} ended with 3 elements left in b." in capsys.readouterr().out


def test_a_broken_assertion_is_told_by_the_exit_code(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "measure hist occupancy at a\nmeasure mean rate at a\nq: assert !backpressure at b\nassert util at c < 1"
    assert main(asked(run, text, "--frame", "5")) == 1
    out, error = capsys.readouterr()
    assert "q: assert !backpressure at b\n    broken, first at 2.00000\u202fµs" in out
    assert "assert util at c < 1\n    holds" in out
    assert "    0  79.2\u202f%  ########" in out  # of the time the queue was empty
    assert "most 1\u202fM/s" in out
    assert "3 frames" in out  # five transfers, five, and what came after
    assert "my.query:2:14: warning: rate is one number per frame" in error


def test_what_is_wrong_in_a_query_is_said_with_its_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked(run, "measure rate at q\nmeasure rat at a")) == 2
    error = capsys.readouterr().err
    assert "my.query:1:17: error: there is no edge or port 'q'" in error
    assert "my.query:2:9: error: 'rat' cannot be measured. Did you mean 'rate'?" in error


def test_a_query_in_which_nothing_is_asked_is_said_to_be_none(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked(run, "// measure rate at a\n")) == 2
    assert "this file has no statements" in capsys.readouterr().err


def test_a_run_without_streams_is_said_to_have_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = RunWriter(tmp_path / "run")
    writer.finish(replace(writer.manifest, status=RunStatus.COMPLETE), {})
    assert main(asked(tmp_path / "run", "measure rate at a")) == 2
    assert "this run did not record the transfers of any stream" in capsys.readouterr().err


def test_what_agents_left_is_told_with_what_they_could_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames = (FrameValue(0, 10**9, 10**9, 5, 5000.0, uncertainty_ps=16_160_883),)
    (measure,) = read_query("r: measure rate at a", STREAM).measures
    uncounted = Diagnostic("no agent counts 'x'", "Ask later.", Severity.WARNING, "my.query", 3, 1)
    left = table_of_answers({"FPGA": Answers((MeasureResult(measure, frames),), ())}, [uncounted])
    writer = RunWriter(tmp_path / "run")
    writer.finish(replace(writer.manifest, status=RunStatus.COMPLETE), left)
    assert main(["query", str(tmp_path / "run")]) == 0
    out, error = capsys.readouterr()
    assert "its times are known to within 16.2\u202fµs on the host's clock" in out
    assert "my.query:3:1: warning: no agent counts 'x'. Ask later." in error
    said = document_of(capsys, ["query", str(tmp_path / "run"), "--json"])
    assert said["measures"][0]["frames"][0]["uncertainty_ps"] == 16_160_883
    assert said["diagnostics"] == [uncounted.as_json()]


@pytest.mark.parametrize("frame", ["0", "-1", "5 Mtps", "x", "9" * 30, "9" * 30 + " s", "0.1 ps"])
def test_a_frame_is_a_time_or_a_number_of_transfers(run: Path, frame: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(asked(run, "measure rate at a", f"--frame={frame}"))
    assert ended.value.code == 2


def test_a_projects_query_is_checked_without_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "laplace" / "two.workbench.yaml"
    shutil.copytree(Path(str(files("workbench.resources"))) / "examples" / "laplace", project.parent)
    said = document_of(capsys, asked(project, "m: measure mean latency at e1 -> e21 -> e4\nassert m < 1 s", "--json"))
    assert (said["measures"][0]["text"], said["measures"][0]["frames"]) == (
        "m: measure mean latency at e1 -> e21 -> e4",
        [],
    )
    assert said["asserts"][0]["known"] is False
    assert main(asked(project, "measure rate at e9")) == 2
    assert "my.query:1:17: error: there is no edge or port 'e9'" in capsys.readouterr().err
    # without a query, what can be asked about, and where it stands
    project.write_text(project.read_text().replace("  top: Two", "  top: Two\n  mapping: {mt: card}"))
    said = document_of(capsys, ["query", str(project), "--json"])
    assert [(one["name"], one["place"]) for one in said["blocks"]][:2] == [("Two.mt", "fpga"), ("Two.s1", "core")]
    edge = said["edges"][0]
    assert (edge["label"], edge["source"], edge["sink"], edge["depth"]) == ("Two.e1", "Two.mt.y", "Two.s1.x", 64)
    assert Path(edge["file"]).read_text().splitlines()[edge["line"] - 1].strip() == "e1: mt -> s1;"
    # which agent sees what a statement asks of
    asks = "measure rate at e1\nmeasure rate at s1.x\nmeasure mean occupancy at e1\nassert occupancy at e21 < 5"
    said = document_of(capsys, asked(project, asks, "--json"))
    assert [one["agent"] for one in (*said["measures"], *said["asserts"])] == ["FPGA", "processor", None, "processor"]
    assert [(problem["line"], problem["severity"]) for problem in said["diagnostics"]] == [(3, "warning")]

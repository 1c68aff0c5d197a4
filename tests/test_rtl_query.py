"""Streams and FIFOs of ordinary RTL in the query language: of a run whose transfers are written down."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from rc_workbench_plugins.streaming.query.measures import AssertResult, MeasureResult
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.query.seen import seen
from rc_workbench_plugins.streaming.query.window import explain, subject
from rtl_run import CYCLES, HELD, INTO, NS, OUT, WORDS, fifo_run
from run_query import asked, values

from workbench.formats.run_folder import RunWriter
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import Run


@pytest.fixture
def run() -> Run:
    return fifo_run()


def test_streams_and_fifos_are_measured(run: Run) -> None:
    waited = 10 * NS * (OUT - INTO)
    assert values(run, "measure rate at gen.out") == [pytest.approx(10 / 1e-6)]
    assert values(run, "measure util at queue.q") == [pytest.approx(0.1)]
    assert values(run, "measure backpressure at gen.out") == [pytest.approx(HELD.sum() / CYCLES)]
    assert values(run, "measure mean latency at queue") == [pytest.approx(waited.mean())]
    assert values(run, "measure max latency at gen.out -> use.out") == [waited.max() + 20 * NS]
    assert values(run, "measure max occupancy at queue") == [4]
    by_little = waited.sum() / (CYCLES * 10 * NS)
    assert values(run, "measure mean occupancy at queue") == [pytest.approx(by_little)]
    assert values(run, "measure rate(frame=200 ns) at use.in")[:2] == [pytest.approx(25e6)] * 2
    assert values(run, "measure rate(frame=15 B) at queue.q")[0] == pytest.approx(5 / 200e-9)  # of 24 bits
    full = WORDS == 4
    left = np.isin(np.arange(CYCLES), OUT) & full
    when_full = [pytest.approx(left.sum() / (full.sum() * 10e-9))]
    assert values(run, "measure rate at queue.q when occupancy at queue > 3") == when_full
    holds, broken = asked(
        run, "assert occupancy at queue <= 4\nassert !backpressure at gen.out | occupancy at queue < 4"
    )
    assert isinstance(holds, AssertResult)
    assert isinstance(broken, AssertResult)
    assert (holds.holds, holds.known, broken.holds) == (True, True, False)


def test_the_counters_agree_and_answer_without_a_trace(run: Run) -> None:
    """Cycle by cycle: a run without a trace gives the same histogram, rate, utilisation and backpressure."""
    text = "\n".join(
        f"measure {what}"
        for what in ("rate at gen.out", "util at queue.q", "backpressure at gen.out", "rate at queue",
                     "mean occupancy at queue", "max occupancy at queue", "hist occupancy at queue")
    )  # fmt: skip
    untraced = replace(run, tables={name: t for name, t in run.tables.items() if name != "stream_transfers"})
    for one, other in zip(asked(run, text), asked(untraced, text), strict=True):
        assert isinstance(one, MeasureResult)
        assert isinstance(other, MeasureResult)
        assert (one.trust, "no trace" in other.trust) == ("counted", True)
        assert one.frames[0].value == pytest.approx(other.frames[0].value)
        assert one.frames[0].histogram == other.frames[0].histogram
    for text in ("latency at queue", "rate(frame=1 us) at queue", "rate at gen.out when occupancy at queue > 1"):
        with pytest.raises(WorkbenchError, match="has no trace"):
            asked(untraced, f"measure {text}")
    with pytest.raises(WorkbenchError, match="has no trace"):
        asked(untraced, "assert !backpressure at gen.out")


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("measure rate at gen.ot", 17, "there is no edge or port 'gen.ot'", "'gen.out'"),
        ("measure rate at queue.in", 0, "", ""),
        ("measure rate(frame=16 B) at queue", 14, "16 bytes are not a whole number of elements", "3 bytes"),
    ],
)
def test_what_is_wrong_is_said_in_its_place(run: Run, text: str, column: int, message: str, hint: str) -> None:
    diagnostics = read_query(text, seen(run).topology).diagnostics
    assert [problem.column for problem in diagnostics] == ([column] if column else [])
    for problem in diagnostics:
        assert message in problem.message
        assert hint in problem.hint


def test_names_with_other_characters_are_in_quotes(run: Run) -> None:
    """A link between FPGAs is a FIFO that is called by both its ends."""
    (fifo,) = run.manifest.fifos
    linked = replace(run, manifest=replace(run.manifest, fifos=(replace(fifo, id="link.left_out-right_in"),)))
    assert values(linked, 'measure max occupancy at "link.left_out-right_in"') == [4]
    along = values(run, "measure max latency at gen.out -> use.out")
    assert values(linked, 'measure max latency at gen.out -> "use.out"') == along
    shown = subject(linked)
    assert shown is not None
    statements = [text for one in (*shown.blocks, *shown.edges) for _, text in one.statements]
    statements += [text for one in explain(linked) for text in one.statements]
    assert 'measure mean occupancy at "link.left_out-right_in"' in statements
    assert shown.check("\n".join(statements)) == ()


def test_in_window_and_command(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = subject(run)
    assert shown is not None
    assert [(one.name, one.stands) for one in shown.blocks] == [
        ("top.gen", "FPGA"), ("top.queue", "FPGA"), ("top.use", "FPGA"), ("to host", ""),
    ]  # fmt: skip
    assert (shown.edges[0].label, shown.edges[0].words) == ("top.gen.out", "10\u202fM/s")
    statements = [text for one in (*shown.blocks, *shown.edges) for _, text in one.statements]
    statements += [text for one in explain(run) for text in one.statements]
    assert len(statements) > 15
    assert shown.check("\n".join(statements)) == ()
    assert [one.answer for one in explain(run)][2] == "queue 1.10."
    RunWriter(tmp_path / "run").finish(run.manifest, run.tables)
    (tmp_path / "my.query").write_text("measure mean latency at queue")
    said = document_of(capsys, ["query", str(tmp_path / "run"), str(tmp_path / "my.query"), "--json"])
    assert said["measures"][0]["frames"][0]["value"] == pytest.approx(10e-9 * (OUT - INTO).mean())

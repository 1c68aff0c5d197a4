"""The least depths of FIFOs: found by bisection, each step a simulation of one build."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from answers import document_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.api.job import Job
from workbench.cli.main import main
from workbench.cli.streams import depths_text
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.streams import Fifo
from workbench.replay.depths import LOSS, least_depths
from workbench.session.change.stream_depths import Depths, Simulated
from workbench.session.open.workspace import Value, Workspace

PROJECT = Path(__file__).parent / "data" / "applications" / "fork_join"
NAMES = ("a", "b", "c")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.tuples(*[st.integers(0, 100)] * 3), st.tuples(*[st.integers(1, 40)] * 3), st.tuples(*[st.floats(0, 0.5)] * 3))
def test_no_fifo_can_be_less_deep_and_lose_as_little(
    most: tuple[int, ...], needed: tuple[int, ...], cost: tuple[float, ...]
) -> None:
    """An application whose time grows by `cost` of it for each word that a FIFO lacks, which may be more than it held
    where all were as deep as they liked."""

    def cycles_of(depths: Mapping[str, int]) -> int:
        lacks = [need - depths[name] for name, need in zip(NAMES, needed, strict=True)]
        return round(100_000 * (1 + sum(c * max(0, lack) for c, lack in zip(cost, lacks, strict=True))))

    held = dict(zip(NAMES, most, strict=True))
    found = least_depths(held, cycles_of, 100_000)
    limit = 100_000 / (1 - LOSS)
    assert cycles_of(found) <= limit
    assert min(found.values()) >= 1
    for name in NAMES:
        if found[name] > 1:
            assert cycles_of({**found, name: found[name] - 1}) > limit


def test_the_branch_beside_the_one_that_gathers_needs_as_many_words_as_that_gathers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """GATHER is 8: the RTL with SHORT=7 is stuck (test_streams_counted.py has it at 4), and goes on with 8."""
    told = document_of(capsys, ["streams", str(PROJECT), "--json"])
    depth = {fifo["fifo"]: fifo["advised_depth"] for fifo in told["fifos"]}
    assert depth["fork_join.short"] == 8
    assert depth["fork_join.ahead"] <= 8
    (fifo, _) = told["fifos"]
    assert fifo["cycles_after"] <= fifo["cycles_before"] / (1 - LOSS)
    assert told["runs"] == 3
    edges = {edge["edge"]: edge for edge in told["edges"]}
    assert edges["fork_join.split.a"]["advised_depth"] == 8
    assert edges["fork_join.merge.out"]["transfers"] == 128
    assert edges["fork_join.merge.out"]["throughput_after"] == pytest.approx(
        edges["fork_join.merge.out"]["throughput_before"], rel=LOSS
    )


def test_it_is_said_what_to_change_of_which_fifo() -> None:
    fifos = tuple(Fifo(name, "fifo", 0, 1, depth) for name, depth in (("a", 4), ("b", 2048), ("c", 8), ("d", 0)))
    run = Simulated(100, (), (), (24, 256, 8, 5))
    found = Depths((), fifos, {"a": 24, "b": 256, "c": 8, "d": 5}, run, run, run, 9)
    least = ": the least that loses under 1 % of the throughput."
    said = depths_text(found, 0.01).replace("\u202f", " ").replace("\u00a0", " ").splitlines()
    assert [line for line in said if line.endswith(least)] == [
        f"Deepen a from 4 to 24 words{least}",
        f"b could have 256 words instead of 2 048{least}",
        f"c has just the 8 words that it needs{least}",
        f"d needs 5 words{least}",
    ]


def test_a_run_s_streams_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "run")
    assert main(["run", str(PROJECT), "--deterministic", "--out", out]) == 0
    capsys.readouterr()
    assert main(["streams", out]) == 0
    said = capsys.readouterr().out
    (row,) = (line for line in said.splitlines() if line.startswith("fork_join.split.b"))
    assert "split.in" in row, "what holds it most: nothing is there to be split"
    assert main(["streams", out, "--json"]) == 0
    assert {fifo["fifo"] for fifo in json.loads(capsys.readouterr().out)["fifos"]} == {
        "fork_join.short", "fork_join.ahead",
    }  # fmt: skip


def test_what_was_found_on_the_way_is_in_json_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Simulated(100, (), (), (24,))

    def advised(workspace: Workspace, changes: Mapping[str, Value], job: Job, loss: float) -> Depths:
        job.report(Diagnostic("it was not compared with the design", severity=Severity.WARNING))
        return Depths((), (Fifo("a", "fifo", 0, 1, 4),), {"a": 24}, run, run, run, 9)

    monkeypatch.setattr("workbench.cli.streams.advise_depths", advised)
    (told,) = document_of(capsys, ["streams", str(PROJECT), "--json"])["diagnostics"]
    assert told["message"] == "it was not compared with the design"

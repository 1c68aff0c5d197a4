"""Waveforms on request: a VCD file whose clocks have their edges in the right picosecond and whose signals tell the
same state times as the run's tables; read by a reader of its own."""

import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import ceil
from pathlib import Path

import pytest

from workbench.cli.main import main
from workbench.model.run import Run
from workbench.model.text import NARROW
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import load_plugins

PROJECT = Path(__file__).parent / "data" / "applications" / "two_clocks"
SLOW_PS, FAST_PS = 10_000, 10**12 / 150_000_000
NUMBERS = (1000, 100, 37)

Changes = list[tuple[int, str]]  # when a signal took which value, in binary


def signals_of(path: Path) -> dict[str, Changes]:
    """What each signal of a VCD file was, by its name with those of its scopes (IEEE 1364-2005, section 18)."""
    head, _, body = path.read_text().partition("$enddefinitions $end")
    assert "$timescale 1ps $end" in head
    scopes: list[str] = []
    codes: dict[str, str] = {}
    for line in head.splitlines():
        words = line.split()
        if words[:1] == ["$scope"]:
            scopes.append(words[2])
        elif words[:1] == ["$upscope"]:
            scopes.pop()
        elif words[:1] == ["$var"]:
            codes[".".join([*scopes, words[4]])] = words[3]
    assert not scopes
    changes: dict[str, Changes] = {code: [] for code in codes.values()}
    now = -1
    for line in body.split("\n"):
        if line.startswith("#"):
            assert int(line[1:]) > now
            now = int(line[1:])
        elif line.startswith("b"):
            value, code = line[1:].split()
            changes[code].append((now, value))
        elif line:
            changes[line[1:]].append((now, line[0]))
    return {name: changes[code] for name, code in codes.items()}


def rising(changes: Changes) -> list[int]:
    return [at for (_, before), (at, value) in pairwise(changes) if (before, value) == ("0", "1")]


def at_edges(changes: Changes, edges: list[int]) -> Iterator[int]:
    """A register's value right after each edge."""
    left = iter([*changes, (1 << 63, "")])
    value, (at, later) = "", next(left)
    for edge in edges:
        while at <= edge:
            value, (at, later) = later, next(left)
        yield int(value, 2)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(PROJECT, tmp_path_factory.mktemp("waves") / "two_clocks"))


def run_with(project: Path, name: str, *options: str) -> Run:
    out = project.parent / name
    assert main(["run", str(project), "--deterministic", "--out", str(out), "--waves", *options]) == 0
    return open_result(out, load_plugins()).run


def test_edges_are_exact_and_state_times_those_of_the_tables(project: Path) -> None:
    run = run_with(project, "whole")
    assert run.path is not None
    assert run.path.joinpath("stdout.txt").read_text().split() == [str(n * (n + 1) // 2) for n in NUMBERS]
    signals = signals_of(run.path / "waves.vcd")
    slow, fast = (rising(signals[f"two_clocks.{clock}"]) for clock in ("clk", "fast"))
    assert slow == [SLOW_PS * k for k in range(1, run.manifest.clocks[0].cycles + 1)]
    assert fast == [ceil(FAST_PS * k) for k in range(1, run.manifest.clocks[1].cycles + 1)]
    table = run.tables["state_time"]
    marked = [(n, block) for n, block in enumerate(run.manifest.blocks[1:], 1) if len(block.states) > 1]
    assert [block.clock for _, block in marked] == ["bus", "fast"]
    for number, block in marked:
        name = block.id.rpartition(".")[2]
        edges = fast if block.clock == "fast" else slow
        counted = Counter(at_edges(signals[f"two_clocks.recap_st_{name}"], edges))
        mine = table["block"] == number
        cycles = dict(zip(table["state"][mine].tolist(), table["cycles"][mine].tolist(), strict=True))
        assert counted == {state: count for state, count in cycles.items() if count}
    notes = [note.message for note in run.manifest.diagnostics]
    assert notes == ["the design's signals over virtual time are in the run folder: waves.vcd"]


def test_the_time_and_the_bytes_that_are_asked_for(project: Path) -> None:
    run = run_with(project, "part", "--from", "1 us", "--to", "1.5us")
    assert run.path is not None
    clk = signals_of(run.path / "waves.vcd")["two_clocks.clk"]
    assert rising(clk)[0] == 1_010_000, "what is high from the beginning on has no edge there"
    assert rising(clk)[-1] == 1_500_000
    text = (project / "two_clocks.workbench.yaml").read_text()
    (project / "two_clocks.workbench.yaml").write_text(text + "simulation: {waves: true, waves_bytes: 1}\n")
    assert main(["run", str(project), "--deterministic", "--out", str(project.parent / "cut")]) == 0
    cut = open_result(project.parent / "cut", load_plugins()).run
    *_, full = cut.manifest.diagnostics
    assert full.message.replace(NARROW, " ").endswith("simulation.waves_bytes (1 B)")
    assert cut.path is not None
    assert rising(signals_of(cut.path / "waves.vcd")["two_clocks.clk"]), "what there is can be read"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--waves", "--from", "2 us", "--to", "1 us"], "is before its start"),
        (["--waves", "--from", "2 apples"], "--from 2 apples: "),
        (["--to", "1 us"], "--from and --to limit when signals are written"),
    ],
)
def test_times_that_cannot_be(project: Path, options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(project), "--out", str(project.parent / "none"), *options]) != 0
    assert told in capsys.readouterr().err

"""Several FPGAs on a real machine: one tree for all, and what each counted, as the simulated card counts."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from answers import refusal
from rtl_simulator import make_board

from workbench.api.job import Job
from workbench.model.run import PS_PER_S, Run
from workbench.session.keep.collecting import collect_records
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

DATA = Path(__file__).parent / "data"
TRANSFERS = """  transfers:
    data_type: uint32_t
    minimum_bytes: 4
    send_c: result = fpgaWrite(fpga, data, address, words);
    receive_c: result = fpgaRead(fpga, data, address, words);
    send_error_c: result != 0
    receive_error_c: result != 0
"""
FPGAS = """fpgas:
    - {name: left}
    - {name: right, top: twice, sources: [twice.v], read_out: {first: 0xA00, last: 0xA0F}, engines: 1}
  watch: ['right:twice.core']
"""
SUMS = f"{sum(range(257))} {2000 * sum(range(101))} on two cards\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two threads, each with an FPGA: the one's design adds up words, the other's twice what they are. That has one
    counter for its two blocks."""
    folder = shutil.copytree(DATA / "applications" / "two_cards", tmp_path_factory.mktemp("project") / "two")
    card, design = folder / "card.yaml", (folder / "summer.v").read_text()
    card.write_text(card.read_text().replace("\nhardware:", f"{TRANSFERS}\nhardware:"))
    design = design.replace("module summer", "module twice").replace("recap add", "recap addTwice")
    (folder / "twice.v").write_text(design.replace("words[at[7:0]]", "2 * words[at[7:0]]"))
    file = folder / "two_cards.workbench.yaml"
    file.write_text(file.read_text().replace("cards: 2\n", FPGAS))
    return file


@pytest.fixture(scope="module")
def tree(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tree") / "tree"
    host, hdl = instrument_workspace(open_workspace(project, load_plugins()), {}, out)
    assert not host.diagnostics
    (note,) = hdl.diagnostics
    assert note.message.endswith("since their counters watch others: right:twice.memory")
    return out


@pytest.fixture(scope="module")
def records(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    build, records = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("records")
    command = make_board(tree, makefile=DATA / "fpgas_board" / "Makefile")
    made = subprocess.run(command, cwd=build, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "warning" not in made.stderr
    environment = {**os.environ, "RCW_RAW": str(records)}
    ran = subprocess.run([build / "host"], env=environment, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, SUMS, "")
    assert {"counters.bin", "counters_1.bin", "triples_1.bin", "board_1.txt"} <= {one.name for one in records.iterdir()}
    return records


@pytest.fixture(scope="module")
def board(tree: Path, records: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return collect_records(tree, records, tmp_path_factory.mktemp("run") / "run", load_plugins())


def busy(run: Run) -> dict[tuple[str, str], int]:
    """(block, state) -> cycles, of states that do not wait."""
    table, blocks = run.tables["state_time"], run.manifest.blocks
    rows = zip(table["block"], table["state"], table["cycles"], strict=True)
    found = {(blocks[b].id, blocks[b].states[s].name): int(n) for b, s, n in rows}
    return {of: n for of, n in found.items() if not of[0].startswith("host") and of[1] not in ("idle", "unclassified")}


def test_boards_count_what_the_simulated_card_counts(board: Run, tmp_path: Path) -> None:
    """The simulated card has the one design twice; the other differs from it in names, and in what it adds."""
    workspace = open_workspace(DATA / "applications" / "two_cards", load_plugins())
    simulated = busy(run_workspace(workspace, RunOptions(out=tmp_path / "run"), Job()))
    left = {(block.replace("card[0].", "left:"), state): n for (block, state), n in simulated.items() if "[0]" in block}
    assert busy(board) == {
        **left,
        ("right:twice.core", "begin"): simulated["card[1].summer.core", "begin"],
        ("right:twice.core", "addTwice"): simulated["card[1].summer.core", "add"],
    }
    assert (busy(board)["left:summer.core", "add"], busy(board)["right:twice.core", "addTwice"]) == (256, 100)


def test_each_board_has_a_clock_of_its_own(board: Run) -> None:
    told, times = board.manifest, board.tables["state_time"]
    left, right = told.clocks
    assert [(clock.name, clock.derived_from) for clock in told.clocks] == [("left:clk", ""), ("right:clk", "")]
    for clock in (left, right):
        mine = [n for n, block in enumerate(told.blocks) if block.clock == clock.name]
        assert {int(times["cycles"][times["block"] == n].sum()) for n in mine} == {clock.cycles}
        counted_ps = clock.cycles * PS_PER_S / clock.frequency_hz
        assert 0 < clock.start_ps < clock.start_ps + counted_ps < told.time_ps + clock.uncertainty_ps
    assert left.cycles != right.cycles
    frames = board.tables["virtual_time"]
    assert (frames["card"].tolist(), frames["clock"].tolist()) == ([0, 1], [0, 1])


def test_a_board_that_the_program_does_not_use_is_told(tree: Path, records: Path, board: Run, tmp_path: Path) -> None:
    left = shutil.copytree(records, tmp_path / "left", ignore=shutil.ignore_patterns("*_1.*"))
    run = collect_records(tree, left, tmp_path / "run", load_plugins())
    assert any(d.message.startswith("the counters of right were not read") for d in run.manifest.diagnostics)
    assert busy(run) == {of: n for of, n in busy(board).items() if of[0].startswith("left:")}


def test_blocks_are_chosen_in_one_fpga_or_in_each(project: Path, tmp_path: Path) -> None:
    each = project.with_name("each.workbench.yaml")
    each.write_text(re.sub(r"  watch: .*\n", "  engines: 1\n", project.read_text()))
    workspace = open_workspace(each, load_plugins())
    _, hdl = instrument_workspace(workspace.watching(["*.core"]), {}, tmp_path / "both")
    assert hdl.diagnostics[-1].message.endswith("left:summer.memory, right:twice.memory")
    _, hdl = instrument_workspace(workspace.watching(["right:*.core"]), {}, tmp_path / "one")
    assert hdl.diagnostics[-1].message.endswith("left:summer.core, right:twice.memory")
    problem = refusal(instrument_workspace, workspace.watching(["left:twice.core"]), {}, tmp_path / "none")
    assert (problem.message, problem.hint) == (
        "no counter can watch a block 'left:twice.core'", "Did you mean 'right:twice.core'?",
    )  # fmt: skip

"""Agents in several FPGAs, each with a design of its own: each counts on a board what it counts on the card."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from answers import refusal
from rc_workbench_plugins.streaming.agents.design import Design
from rc_workbench_plugins.streaming.query.measures import MeasureResult
from rtl_simulator import make_board
from run_query import asked
from test_streams_on_board import PROJECT, QUEUED, TRACE, counted_by, in_cycles

from workbench.api import HdlBuild
from workbench.api.builds import AgentQuery
from workbench.api.equivalence import How
from workbench.api.job import Job
from workbench.model.blocks import Block, Side, State
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.read_out import Access, Act, AgentWords, CounterWords, MonitorWords, ReadOutPlan
from workbench.model.run import Run
from workbench.session.keep.collecting import collect_records
from workbench.session.make.agents import agent_switches, check_questions
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.make.proving import prove_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

BOARDS = Path(__file__).parent / "data" / "fpgas_board"
MAIN = """#include <stdint.h>
#include <stdio.h>

#include "fpga.h"

int main(void)
{
    fpga_t *fpgas[2] = {fpgaOpen(0), fpgaOpen(1)};
    for (uint32_t word = 1; word <= 3; word++)
        for (int of = 0; of < 2; of++) {
            fpgaWrite(fpgas[of], &word, 0, 1);
            while (!fpgaReadReg(fpgas[of], 0x100)) {}
        }
    printf("%u %u\\n", fpgaReadReg(fpgas[0], 0x101), fpgaReadReg(fpgas[1], 0x101));
    for (int of = 0; of < 2; of++)
        fpgaClose(fpgas[of]);
    return 0;
}
"""
FPGAS = """  fpgas:
    - {name: left}
    - {name: right, parameters: {DELAY: 12, BURST: 20}}
"""
BOTH = (
    "measure max occupancy at queue",
    "measure rate(frame=20) at queue.m when occupancy at queue > 12",
    "measure visits of state fetch of adder",
    "assert occupancy at queue < 12",
)
RIGHT = "dwells: measure hist dwell of state add of right.queued_top.adder when occupancy at right.queued_top.queue > 0"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "bursts"
    shutil.copytree(QUEUED / "hdl", folder / "hdl")
    (folder / "main.c").write_text(MAIN)
    (folder / "board.query").write_text("\n".join((*BOTH, RIGHT)))
    (folder / "bursts.workbench.yaml").write_text(PROJECT.replace(TRACE, FPGAS))
    return folder / "bursts.workbench.yaml"


@pytest.fixture(scope="module")
def tree(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("tree") / "tree"
    instrument_workspace(open_workspace(project, load_plugins()), {}, tree)
    return tree


@pytest.fixture(scope="module")
def board(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("board")
    build, raw = folder / "build", folder / "raw"
    build.mkdir()
    raw.mkdir()
    made = subprocess.run(make_board(tree, makefile=BOARDS / "Makefile"), cwd=build, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    done = subprocess.run([build / "host"], env={**os.environ, "RCW_RAW": str(raw)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "144 120\n")
    return collect_records(tree, raw, folder / "run", load_plugins())


@pytest.fixture(scope="module")
def card(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    options = RunOptions(out=tmp_path_factory.mktemp("card") / "run", deterministic=True)
    return run_workspace(open_workspace(project, load_plugins()), options, Job())


def test_the_agents_of_each_fpga_count_on_boards_as_on_the_card(board: Run, card: Run) -> None:
    of_board, of_card = counted_by(board), counted_by(card)
    asked_of = {("left", text) for text in BOTH} | {("right", text) for text in (*BOTH, RIGHT)}
    assert of_board.keys() == of_card.keys() == asked_of
    for which, result in of_card.items():
        assert in_cycles(board, of_board[which]) == in_cycles(card, result), which
    visits = [of_board[fpga, BOTH[2]] for fpga in ("left", "right")]
    assert [one.frames[0].value for one in visits if isinstance(one, MeasureResult)] == [3 * 24, 3 * 20]


def test_a_question_about_one_fpga_or_each_is_answered_by_their_agents(board: Run) -> None:
    rates = asked(board, "measure max occupancy at queue")
    assert [(one.agent, one.measure.where, one.frames[0].value) for one in rates if isinstance(one, MeasureResult)] == [
        ("left", "left.queued_top.queue", 16), ("right", "right.queued_top.queue", 16),
    ]  # fmt: skip
    (dwells,) = asked(board, RIGHT)
    assert isinstance(dwells, MeasureResult)
    assert (dwells.agent, dwells.frames[0].count) == ("right", 3 * 19)


def test_statements_of_one_fpga_are_switched_beside_those_of_another(tree: Path) -> None:
    plugins = load_plugins()
    assert agent_switches(tree, plugins, "12", ["dwells", BOTH[1]])
    with pytest.raises(WorkbenchError, match="no agent counts a statement 'dwell'"):
        agent_switches(tree, plugins, "", ["dwell"])


def test_a_question_that_an_fpga_does_not_understand_names_it(project: Path, tmp_path: Path) -> None:
    (project.parent / "wrong.query").write_text(f"{BOTH[0]}\nmeasure rate at nothing.out\n")
    wrong = project.with_name("wrong.workbench.yaml")
    (project.parent / "both.query").write_text("\n".join(BOTH))
    text = project.read_text().replace("board.query", "both.query")
    wrong.write_text(text.replace("BURST: 20}", "BURST: 20}, query: wrong.query"))
    problem = refusal(instrument_workspace, open_workspace(wrong, load_plugins()), {}, tmp_path / "tree")
    assert (problem.file, problem.line) == (str(project.with_name("wrong.query")), 2)
    assert problem.message == "FPGA right: there is no edge or port 'nothing.out'"
    assert problem.hint.endswith("An FPGA may have questions of its own: fpgas: [{name: right, query: FILE}].")


def test_a_question_that_one_fpga_understands_is_a_warning_of_the_others() -> None:
    def build(*misfits: Diagnostic) -> HdlBuild:
        return HdlBuild((), "top", (), agent=AgentQuery("", "board.query", misfits=misfits))

    missing, other = Diagnostic("no 'x'", file="board.query", line=2), Diagnostic("no 'y'", file="board.query", line=3)
    named = replace(other, message="'left.y' is in the FPGA left", severity=Severity.NOTE)
    (warning,) = check_questions({"left": build(), "right": build(missing, named)})
    assert warning.message == "FPGA right: no 'x'; only other FPGAs' agents count it"
    assert (warning.severity, warning.line) == ("warning", 2)
    with pytest.raises(WorkbenchError, match="FPGA left: no 'y'"):
        check_questions({"right": build(named), "left": build(other)})
    with pytest.raises(WorkbenchError, match="no 'x'"):
        check_questions({"": build(missing)})


def test_a_question_about_two_clocks_says_which() -> None:
    states = State(0, "unclassified"), State(1, "go")
    blocks = tuple(
        Block(f"top.{name}.run", Side.FPGA, f"top.{name}", "always", name, states, clock=clock)
        for name, clock in (("a", "fast"), ("b", "slow"))
    )
    monitors = tuple(
        MonitorWords(0, 8, 4, 36, (CounterWords(0, ((n, 2),)),), clock=block.clock or "", agent=AgentWords(0, 64, 64))
        for n, block in enumerate(blocks)
    )
    text = "measure visits of state go of a.run\nmeasure share of state go of a.run when state go of b.run"
    asked = AgentQuery(text, "board.query")
    build = HdlBuild((), "top", blocks, read_out=ReadOutPlan(8, 0, 3, *[Access(Act.READ, 0)] * 3, (), monitors))
    design = Design(build, asked, {"fast": 200e6, "slow": 100e6})
    assert [[one.of.text for one in agent.agent.monitors] for agent in design.agents] == [[text.split("\n")[0]], []]
    (problem,) = design.problems
    both = "the state of 'top.a.run' (clock fast) and the state of 'top.b.run' (clock slow)"
    assert problem.message.endswith(f": no cycle has both {both}")
    assert (problem.line, problem.hint.partition(".")[0]) == (2, "Write one statement for each clock")


def test_agents_are_proved_to_change_nothing(project: Path) -> None:
    """Of an FPGA whose top has parameters of the project's, which its modules are proved with."""
    proof = prove_workspace(open_workspace(project, load_plugins()), {}, Job(), "right:adds")
    assert [(one.module, one.how) for one in proof.verdicts] == [("right:adds (DELAY=12)", How.PROVED)]

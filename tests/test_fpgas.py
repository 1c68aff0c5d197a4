"""FPGAs with designs of their own, and the links between them."""

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from tools import NEEDS_GHDL

from workbench.api.job import Job
from workbench.cli.main import main
from workbench.formats.project_file import load_project
from workbench.model.diagnostic import Severity, WorkbenchError
from workbench.model.run import Run
from workbench.replay.prepare import prepare
from workbench.session.keep.results import open_result
from workbench.session.keep.wave_moment import wave_moment
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

P = 10  # ns, of both FPGAs' clocks
APPLICATIONS = Path(__file__).parent / "data" / "applications"


def opened(path: Path) -> Workspace:
    workspace = open_workspace(path, load_plugins())
    assert not workspace.diagnostics
    return workspace


def run_of(path: Path, out: Path, *, trace: bool = False, ports: bool = False) -> Run:
    options = RunOptions(out=out, deterministic=True, trace=trace, ports=ports, waves=(0.0, 0.0) if ports else None)
    run = run_workspace(opened(path), options, Job())
    assert (run.complete, run.manifest.exit) == (True, 0), run.manifest.reason
    return run


def test_fpgas_by_name_with_one_design_run_as_cards_do(tmp_path: Path) -> None:
    """Only names differ: the design is built once, and every number is the same."""
    copy = tmp_path / "named"
    shutil.copytree(APPLICATIONS / "two_cards", copy)
    (project,) = copy.glob("*.workbench.yaml")
    project.write_text(project.read_text().replace("cards: 2", "fpgas: [{name: left}, {name: right}]"))
    cards, named = run_of(APPLICATIONS / "two_cards", tmp_path / "cards"), run_of(project, tmp_path / "run")
    assert [block.id for block in named.manifest.blocks if "core" in block.id] == [
        "left:summer.core",
        "right:summer.core",
    ]
    assert named.tables.keys() == cards.tables.keys()
    assert set(cards.tables["calls"]["card"].tolist()) == {-1, 0, 1}
    for name, table in cards.tables.items():
        for key, column in table.items():
            np.testing.assert_array_equal(named.tables[name][key], column)
    scan = opened(project).scan()
    assert not scan.diagnostics
    assert {block.id: block.instances for block in scan.hdl.blocks}["summer.core"] == (
        "left:summer.core",
        "right:summer.core",
    )


def test_a_card_is_opened_by_its_path(tmp_path: Path) -> None:
    """The API is generated from the template: the first path is the first card, every call as by its number."""
    copy = shutil.copytree(APPLICATIONS / "two_cards", tmp_path / "two_cards")
    template, host = copy / "card.yaml", copy / "sums.c"
    text = (
        template.read_text().replace("name: nallatech_h101", "name: by_path").replace("int card)", "const char *path)")
    )
    text = text.replace("fpga: card", "fpga: order_of(path)")
    template.write_text(text)
    paths = {
        "fpgaOpen(number)": 'fpgaOpen(number ? "/dev/xdma0" : "/dev/xdma1")',
        "fpgaOpen(2)": 'fpgaOpen("/dev/none")',
    }
    code = host.read_text()
    for number, path in paths.items():
        code = code.replace(number, path)
    host.write_text(code)
    by_path, by_number = (run_of(one, tmp_path / name) for one, name in (
        (copy / "two_cards.workbench.yaml", "path"), (APPLICATIONS / "two_cards", "number")))  # fmt: skip
    assert by_path.manifest.stdout_sha256 == by_number.manifest.stdout_sha256
    for key in ("block", "site", "state", "card", "bytes"):  # times differ by 2 ns, in which the host chooses a path
        np.testing.assert_array_equal(by_path.tables["calls"][key], by_number.tables["calls"][key])
    adds = [[states_of(run, f"card[{n}].summer.core")["add"] for n in (0, 1)] for run in (by_path, by_number)]
    assert adds[0] == adds[1]
    assert adds[0][0] > adds[0][1] > 0


@pytest.mark.parametrize(
    ("fpgas", "line", "told"),
    [
        ("fpgas: [{name: left}, {name: left}]", 12, "the name 'left' is given twice in fpgas"),
        ("fpgas: [{name: to-the-left}]", 12, "'to-the-left' is not a name"),
        ("fpgas: [{name: left, top: 2d}]", 12, "'2d' is not a module name"),
        ("fpgas: [{name: left, sources: [gone.v]}]", 12, "'gone.v' is not there in two_cards"),
        ("cards: 2\n  fpgas: [{name: left}]", 12, "the FPGAs are given twice"),
        (
            "clocks: [{name: pll.c, frequency_hz: 1 MHz}]\n"
            "  fpgas: [{name: left, clocks: [{name: pll.c, frequency_hz: 2 MHz}]}]",
            13,
            "the clock 'pll.c' has two frequencies",
        ),
    ],
)
def test_what_is_wrong_with_fpgas_is_told_at_its_line(tmp_path: Path, fpgas: str, line: int, told: str) -> None:
    shutil.copytree(APPLICATIONS / "two_cards", tmp_path / "two_cards")
    path = tmp_path / "two_cards" / "two_cards.workbench.yaml"
    path.write_text(path.read_text().replace("cards: 2", fpgas))
    _, (problem, *_) = load_project(path)
    assert (problem.line, problem.file) == (line, str(path))
    assert told in problem.message


def states_of(run: Run, block: str) -> dict[str, int]:
    """Cycles in each state."""
    number, told = next((n, one) for n, one in enumerate(run.manifest.blocks) if one.id == block)
    table = run.tables["state_time"]
    mine = table["block"] == number
    pairs = zip(table["state"][mine], table["cycles"][mine], strict=True)
    return {told.states[state].name: int(cycles) for state, cycles in pairs}


def passed(words: int, pace: int, room: int, first: int) -> tuple[list[int], list[int]]:
    """By hand: the cycles in which one FPGA gives each word, from `first` on, and those in which the other takes it, at
    most one in `pace`. A word takes 20 ns to leave, and 55 ns more to arrive; as long takes the news of room."""
    gives: list[int] = []
    takes: list[int] = []
    free = 0
    for number in range(words):
        cycle = gives[-1] + 1 if gives else first
        if number >= room:
            cycle = max(cycle, -(-((takes[number - room] + 1) * P + 55) // P))
        gives.append(cycle)
        free = max((cycle + 1) * P, free) + 20
        takes.append(max(-(-(free + 55) // P), takes[-1] + pace if takes else 0))
    return gives, takes


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with a trace, and what passed the ports of both designs."""
    return run_of(APPLICATIONS / "two_fpgas", tmp_path_factory.mktemp("traced") / "run", trace=True, ports=True)


def test_two_designs_in_two_languages_pass_words_as_calculated_by_hand(traced: Run) -> None:
    run = traced
    assert run.path
    assert (run.path / "stdout.txt").read_text() == f"{sum(range(1, 41))}\n"
    ends = {run.manifest.sites[site].label: int(end) for site, end in
            zip(run.tables["calls"]["site"], run.tables["calls"]["t1_ps"], strict=True)}  # fmt: skip
    first = ends["start"] // (1000 * P)  # the cycle after that of the write
    gives, takes = passed(40, 8, 4, first)
    assert ends["waitSum"] == (takes[-1] + 1) * 1000 * P
    left, right = states_of(run, "left:sender.send"), states_of(run, "right:receiver.take")
    cycles, offered = run.manifest.cycles, gives[-1] - first + 1
    assert left == {"unclassified": 0, "begin": 1, "give": 40, "full": offered - 40, "idle": cycles - 1 - offered}
    waited = takes[0] + sum(after - before - 8 for before, after in pairwise(takes))
    assert (right["add"], right["digest"]) == (40, 40 * 7 - max(0, takes[-1] + 8 - cycles))
    assert right["begin"] + right["empty"] == waited + max(0, cycles - takes[-1] - 8)
    opened = open_result(run.path, load_plugins())
    assert prepare(run, opened.platform).exact
    analysis = opened.analysis
    assert {one.stream.id: one.transfers for one in analysis.streams} == {
        "left:sender.out": 40,
        "right:receiver.in": 40,
    }
    (link,) = analysis.fifos
    assert (link.fifo.id, link.fifo.depth, link.most) == ("link:left_out-right_in", 4, 4)
    held = sum(words * cycles for words, cycles in link.occupancy)  # each from after it was given until it is taken
    assert held == sum(take - give for give, take in zip(gives, takes, strict=True))


@NEEDS_GHDL
def test_each_fpga_has_a_testbench_of_its_own(traced: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the one in VHDL, held against a copy of it in VHDL-93."""
    other = shutil.copytree(APPLICATIONS / "two_fpgas", tmp_path / "other")
    file = other / "two_fpgas.workbench.yaml"
    file.write_text(file.read_text().replace("[receiver.vhd]", "[receiver.vhd], vhdl_standard: 93"))
    command = ["testbench", str(traced.path), "--out", str(tmp_path / "bench"), "--project", str(file)]
    told = document_of(capsys, [*command, "--fpga", "right", "--run", "--json"])
    assert (told["testbench"], told["difference"]) == ("receiver_replay.vhd", None)
    assert main([*command, "--fpga", "left"]) == 0
    assert (tmp_path / "bench" / "sender_replay.v").is_file()
    capsys.readouterr()
    for words, message in (([], "this run has 2 FPGAs"), (["--fpga", "mid"], "this run has no FPGA 'mid'")):
        assert main([*command, *words]) == 2
        said = capsys.readouterr().err
        assert message in said
        assert "Write --fpga NAME. There are left, right." in said


def test_a_moment_of_a_block_shows_the_signals_of_its_fpga(traced: Run, tmp_path: Path) -> None:
    for block in (one for one in traced.manifest.blocks if ":" in one.id):
        moment = wave_moment(traced, [block], 1_000_000, 500_000, tmp_path)
        assert moment.waves.name == {"left:sender.send": "waves-0.vcd", "right:receiver.take": "waves-1.vcd"}[block.id]
        assert {signal.name.partition(".")[0] for signal in moment.signals} == {block.id.split(":")[1].split(".")[0]}


def test_a_deadlock_across_fpgas_names_both_and_the_links(tmp_path: Path) -> None:
    run = run_workspace(opened(APPLICATIONS / "ring"), RunOptions(out=tmp_path / "run", deterministic=True), Job())
    (said,) = (d for d in run.manifest.diagnostics if d.severity is Severity.ERROR)
    assert "it is a deadlock: " in said.message
    for one, other in (("left", "right"), ("right", "left")):
        link = f"link:{one}_out-{other}_in"
        assert f"{one}:node waits for {link}, which is full" in said.message
        assert f"{link} waits for {other}:node to take" in said.message
    assert said.hint.startswith("Deepen the FIFO link:")


@pytest.mark.parametrize(
    ("before", "after", "line", "told"),
    [
        ("target: right.in_*", "target: rigth.in_*", 18, "there is no FPGA 'rigth' in fpgas"),
        ("network: neighbour", "network: neighbor", 18, "has no network 'neighbor'"),
        ("source: left.out_*", "source: left.gone_*", 18, "gone_valid"),
        ("source: left.out_*", "source: left_out", 18, "'left_out' is not an end of a link"),
    ],
)
def test_what_is_wrong_with_a_link_is_told_at_its_line(
    tmp_path: Path, before: str, after: str, line: int, told: str
) -> None:
    shutil.copytree(APPLICATIONS / "two_fpgas", tmp_path / "two_fpgas")
    path = tmp_path / "two_fpgas" / "two_fpgas.workbench.yaml"
    path.write_text(path.read_text().replace(before, after))
    try:
        (problem, *_) = opened(path).scan().diagnostics
    except WorkbenchError as error:
        (problem, *_) = error.diagnostics
    assert (problem.line, problem.file) == (line, str(path))
    assert told in problem.message


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Two designs in two languages, without a mark."""
    folder = shutil.copytree(APPLICATIONS / "two_fpgas", tmp_path / "two_fpgas")
    for source in folder.iterdir():
        source.write_text(re.sub(r"(?m)^ *(//|--|#)pragma recap.*\n", "", source.read_text()))
    return folder


def test_marks_are_proposed_with_who_is_at_the_other_end_of_a_link(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pragmas = {one["id"]: one["pragma"] for one in document_of(capsys, ["propose", str(bare), "--json"])["proposals"]}
    assert pragmas["sender.send:give_out"] == "give_out send(data, right.receiver, out)"
    assert pragmas["receiver.take:take_out"] == "take_out recv(data, left.sender, out)"
    assert "fpgaWriteReg send(ctrl, left.sender.send|right.receiver.take, to_fpga)" in pragmas.values()
    assert main(["propose", str(bare), "--accept", "all"]) == 0
    assert [one.message for one in opened(bare).scan().diagnostics if "there is no block" in one.message] == []


def test_a_scan_says_which_fpga_holds_a_block_and_a_port(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = document_of(capsys, ["scan", str(bare), "--json"])
    assert {one["id"]: one["fpgas"] for one in told["blocks"]} == {"sender.send": ["left"], "receiver.take": ["right"]}
    assert [(one["fpga"], one["prefix"]) for one in told["ports"] if one["kind"] != "memory"] == [
        ("left", "out"), ("right", "in"),
    ]  # fmt: skip
    told = document_of(capsys, ["scan", str(APPLICATIONS / "ring"), "--json"])
    assert [one["fpgas"] for one in told["blocks"]] == [["left", "right"]]
    assert {one["id"]: (one["input"], one["output"]) for one in told["fifos"]} == {
        "link:left_out-right_in": ("left:node.out", "right:node.in"),
        "link:right_out-left_in": ("right:node.out", "left:node.in"),
    }


def test_each_fpga_s_design_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    project = str(APPLICATIONS / "two_fpgas")
    modules = {one["module"]: one["how"] for one in document_of(capsys, ["prove", project, "--json"])["modules"]}
    assert modules == {"left:sender": "proved", "right:receiver": "proved"}
    assert main(["prove", project, "--json", "--module", "right:receiver"]) == 0
    assert [one["module"] for one in json.loads(capsys.readouterr().out)["modules"]] == ["right:receiver"]
    assert main(["prove", project, "--module", "sender"]) == 2
    assert "Name it with its FPGA: left:sender, right:sender." in capsys.readouterr().err


def test_how_much_room_a_link_needs_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    """A node takes only once it has sent all of its 8 words: those on their way have to have room."""
    assert main(["streams", str(APPLICATIONS / "ring"), "--json"]) == 0
    advised = {one["fifo"]: one["advised_depth"] for one in json.loads(capsys.readouterr().out)["fifos"]}
    assert advised == {"link:left_out-right_in": 8, "link:right_out-left_in": 2}

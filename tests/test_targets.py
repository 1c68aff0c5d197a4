"""A real machine is a target: what is left for it is whole, and what comes back counts as the simulated card counts."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from answers import refusal
from rtl_simulator import BOARD, make_board
from ssh_machine import SSHD, ssh_machine

from workbench.analysis import analyse
from workbench.api import HdlBuild
from workbench.api.instrument.board import board_sources
from workbench.api.job import Job
from workbench.cli.main import main
from workbench.model.diagnostic import Cancelled, Severity, WorkbenchError
from workbench.model.read_out import LATER_CYCLES, Access, Act, MonitorWords, ReadOutPlan
from workbench.model.run import PS_PER_S, Alignment, Run, RunStatus
from workbench.session.keep.collecting import collect_records
from workbench.session.keep.results import open_knowledge
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.make.tree import uncounted
from workbench.session.open.opening import open_workspace
from workbench.session.open.trust import TrustState, trust, trust_sentences, trust_state
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run
from workbench.traces.trace import trace_of

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
from targets import calls, moves, visits  # what the benchmark compares

TESTS = Path(__file__).parent
TINY = TESTS / "data" / "tiny"
#: A toggle for each word, seen on the second clock.
WITNESS = """
    reg added = 0;
    reg [2:0] seen = 0;
    always @(posedge fast) begin : witness
        seen <= {seen[1:0], added};
        if (seen[2] != seen[1]) begin
            //pragma recap note work()
        end else begin
            //pragma recap watch wait_recv(late_sender, tiny_top.adder, seen)
        end
    end

    reg [3:0] sixteenth = 0;
    always @(posedge clk) sixteenth <= sixteenth + 1;
    reg [2:0] turn = 0;
    always @(posedge sixteenth[3]) begin : slow
        turn <= turn + 1;
        if (turn == 0) begin
            //pragma recap rest work()
        end else begin
            //pragma recap turning work()
        end
    end
endmodule
"""
#: Counted by the clock of the block that adds: how long it does, and each word that it takes.
METRICS = """
            //pragma recap count adding when left != 0
            //pragma recap sum words of wr_data when wr_en && addr < 32'h100
"""
SUM = "2128\n"  # of 48 words, and of what data/first.hex holds: 1000


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny project, its sum beginning with what a file in it holds: 1000, and its source with flags of its own. Its
    design records the changes of its states, and has a block on a second clock, which sees each word added."""
    folder = shutil.copytree(TINY, tmp_path_factory.mktemp("project") / "tiny")
    (folder / "data").mkdir()
    (folder / "data" / "first.hex").write_text("000003e8\n")
    rtl = folder / "hdl" / "tiny_top.v"
    reads = '    reg [31:0] first [0:0];\n    initial $readmemh("data/first.hex", first);\n    wire '
    text = rtl.read_text().replace("    wire ", reads)
    text = text.replace("sum  <= 0;", "sum  <= first[0];").replace("    input             rst,", "    input rst, fast,")
    text = text.replace("left <= DELAY;", "left <= DELAY;\n            added <= ~added;")
    text = text.replace("            left <= left - 1;", f"            left <= left - 1;\n{METRICS}")
    rtl.write_text(text.replace("endmodule", WITNESS))
    template = (Path(__file__).parents[1] / "platform_templates" / "nallatech_h101.yaml").read_text()
    template = template.replace("  interrupt: irq", "    - {name: fast, frequency_hz: 150 MHz}\n  interrupt: irq")
    (folder / "board.yaml").write_text(template)
    (folder / "host" / "own").mkdir()
    (folder / "host" / "own" / "words.h").write_text(
        "enum { DATA = 0x000, DONE = 0x100, SUM = 0x101, WORDS = MOST };\n"
    )
    source = folder / "host" / "main.c"
    source.write_text(re.sub(r"(?m)^enum .*", "#include <words.h>", source.read_text()))
    file = folder / "tiny.workbench.yaml"
    flags = "source_flags: {host/main.c: [-I, host/own, '-DMOST=(1<<4)']}"
    text = file.read_text().replace("host:\n", f"host:\n  {flags}\n")
    text = text.replace("platform: nallatech_h101", "platform: board.yaml")
    file.write_text(text.replace("hardware:\n", "hardware:\n  trace: {records: 512}\n"))
    return file


def opened(project: Path) -> Workspace:
    return open_workspace(project, load_plugins())


def with_target(project: Path, file: str, **target: str) -> Path:
    path = project.with_name(f"{file}.workbench.yaml")
    path.write_text(project.read_text() + f"\ntarget: {json.dumps({'name': 'machine', **target})}\n")
    return path


@pytest.fixture(scope="module")
def tree(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree that `workbench instrument` leaves, moved to another place with the project gone from its paths."""
    made, moved = tmp_path_factory.mktemp("made") / "tree", tmp_path_factory.mktemp("moved") / "tree"
    instrument_workspace(opened(project), {}, made)
    return Path(shutil.move(made, moved))


@pytest.fixture(scope="module")
def build(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as its user would, by plain make, against a board's own library."""
    folder = tmp_path_factory.mktemp("build")
    done = subprocess.run(make_board(tree, "WORD_CYCLES=100", level="-O1"), cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def records(tree: Path, build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    environment = {**os.environ, "RCW_RAW": str(folder)}
    done = subprocess.run([build / "host"], cwd=tree / "hdl", env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, SUM)
    return folder


@pytest.fixture(scope="module")
def board(tree: Path, records: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return collect_records(tree, records, tmp_path_factory.mktemp("collected") / "run", load_plugins())


def test_the_tree_names_nothing_outside_of_itself(tree: Path) -> None:
    for path in tree.rglob("*"):
        if path.suffix in (".c", ".h", ".mk", ".v"):
            used = re.sub(r"(?m)^#line.*$|^.*//.*$", "", path.read_text())  # where the user's own lines are may be told
            assert str(TESTS.parent) not in used
            assert str(tree) not in used


def test_a_source_has_its_own_flags_in_the_tree(tree: Path) -> None:
    """Without them the build fails; the headers that they lead to are in the tree."""
    rule = next(line for line in (tree / "recap.mk").read_text().splitlines() if "$(RECAP_CFLAGS)" in line)
    folder, macro = re.search(r"-I \$\(RECAP\)/(\S+) '(\S+)'", rule).groups()
    assert macro == "-DMOST=(1<<4)"
    assert [path.name for path in (tree / folder).iterdir()] == ["words.h"]


def asked_for(counts: Mapping[Any, int]) -> dict[Any, int]:
    """Without the block that changes its state by the clock alone: its counts depend on when they are read."""
    return {of: count for of, count in counts.items() if "tiny_top.slow" not in of}


def test_a_board_counts_what_the_simulated_card_counts(project: Path, board: Run, tmp_path: Path) -> None:
    simulated = run_workspace(opened(project), RunOptions(out=tmp_path / "run"), Job())
    assert (tmp_path / "run" / "stdout.txt").read_text() == SUM
    found = [asked_for(run) for run in (visits(board), visits(simulated), moves(board), moves(simulated))]
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert calls(board) == calls(simulated)
    assert visits(board)["tiny_top.adder", "add"] == 48  # 3 rounds of 16 words
    assert visits(board)["tiny_top.witness", "note"] == 48
    for counted in (board, simulated):
        metrics = {one.name: one for one in analyse(counted, None, open_knowledge(load_plugins())[0]).custom}
        assert (metrics["adding"].value, metrics["adding"].parts["times"]) == (4 * 48, 48)
        assert (metrics["words"].value, metrics["words"].parts["count"]) == (1128, 48)


def test_a_boards_time_is_the_hosts_and_its_clock_is_what_that_measures(board: Run) -> None:
    told, times = board.manifest, board.tables["state_time"]
    assert not told.simulated
    assert told.status is RunStatus.COMPLETE
    assert told.exit is None
    for number in range(len(told.blocks)):
        mine = times["block"] == number
        assert times["time_ps"][mine].sum() == told.time_ps
    clock, fast, slow = told.clocks
    assert fast.frequency_hz == pytest.approx(1.5 * clock.frequency_hz, rel=1e-9)  # as the platform says
    assert abs(fast.cycles - 1.5 * clock.cycles) <= 4 * LATER_CYCLES
    assert slow.frequency_hz == pytest.approx(clock.frequency_hz / 16, rel=5e-3)  # which the design makes, as counted
    assert abs(slow.cycles - clock.cycles / 16) <= LATER_CYCLES
    assert {block.id: block.clock for block in told.blocks}["tiny_top.slow"] == slow.name == "sixteenth[3]"
    assert slow.derived_from == clock.name
    assert (fast.start_ps, fast.alignment) == (clock.start_ps, clock.alignment)
    assert clock.alignment is Alignment.READ_OUT
    counted_ps = clock.cycles * PS_PER_S / clock.frequency_hz
    assert 0 < clock.start_ps < clock.start_ps + counted_ps < told.time_ps
    fpga = [n for n, block in enumerate(told.blocks) if not block.id.startswith("host.")]
    for one in told.clocks:
        mine = [n for n in fpga if told.blocks[n].clock == one.name]
        assert {int(times["cycles"][times["block"] == n].sum()) for n in mine} == {one.cycles}
    assert any("MHz by the host's clock" in d.message for d in told.diagnostics)  # it is no 100 MHz
    virtual_time = {name: column.item() for name, column in board.tables["virtual_time"].items()}
    assert virtual_time["messages"] == 2  # what began the counting and what ended it
    assert virtual_time["rate_ps"] == pytest.approx(PS_PER_S / clock.frequency_hz)
    assert 0 < clock.uncertainty_ps == virtual_time["uncertainty_ps"]
    assert virtual_time["lower_ps"] < virtual_time["offset_ps"] < virtual_time["upper_ps"]


def test_reading_the_counters_out_is_no_time_of_the_programs(board: Run) -> None:
    """132 words take two calls each: 264 of 273 calls of the board, and none in the program's time."""
    host = next(n for n, block in enumerate(board.manifest.blocks) if block.id == "host.main")
    times = board.tables["state_time"]
    here = (times["block"] == host) & (times["visits"] > 0)
    assert int(times["visits"][here].sum()) < 30


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Path]:
    if SSHD is None and "CI" not in os.environ:
        pytest.skip("there is no sshd here: openssh-server brings it")
    folder = tmp_path / "ssh"
    folder.mkdir()
    with ssh_machine(folder) as client:
        yield client


@pytest.fixture
def far(build: Path, tmp_path: Path) -> Path:
    """A folder of the machine's, in which the board's own library is."""
    return shutil.copytree(build, tmp_path / "far", ignore=shutil.ignore_patterns("recap_objects", "host"))


def run_there(project: Path, commands: dict[str, str], out: Path, job: Job | None = None) -> Run:
    return run_workspace(opened(with_target(project, "far", **commands)), RunOptions(out=out), job or Job())


def came_back(run: Run) -> None:
    assert run.complete
    assert run.path is not None
    assert (run.path / "stdout.txt").read_text() == SUM
    assert run.manifest.exit == 0
    assert visits(run)["tiny_top.adder", "add"] == 48


def test_the_commands_of_a_project_get_a_run_to_the_board_and_back(project: Path, far: Path, tmp_path: Path) -> None:
    """`build` sees the run's own tree."""
    commands = {
        "build": f"make -C {far} -f {BOARD}/Makefile TREE=$RECAP_TREE -o libfpga.so",
        "run": f"mkdir {far}/records && cd $RECAP_TREE/hdl && RCW_RAW={far}/records {far}/host",
        "fetch": f"cp {far}/records/* $RCW_RAW",
    }
    came_back(run_there(project, commands, tmp_path / "run"))


def test_the_commands_of_a_project_go_by_ssh(project: Path, far: Path, lab: Path, tmp_path: Path) -> None:
    """As the guide has it. What the commands print is in the log, and the program's exit code is ssh's."""
    there = f"ssh -F {lab} lab"
    commands = {
        "build": f"tar -C $RECAP_TREE -cf - . | {there} 'cd {far} && rm -rf tree && mkdir tree && tar -C tree -xf -' "
        f"&& {there} 'make -C {far} -f {BOARD}/Makefile TREE={far}/tree -o libfpga.so'",
        "run": f"{there} 'cd {far}/tree/hdl && rm -rf ../records && mkdir ../records && "
        f"RCW_RAW=../records timeout 600 {far}/host'",
        "fetch": f"scp -q -F {lab} 'lab:{far}/tree/records/*' $RCW_RAW",
    }
    came_back(run_there(project, commands, tmp_path / "run"))
    commands["run"] = f"{there} 'exit 3'"
    commands["fetch"] = f"scp -q -F {lab} 'lab:{far}/none/*' $RCW_RAW"
    with pytest.raises(WorkbenchError, match=r"the command target\.fetch ended with exit code 1") as refused:
        run_there(project, commands, tmp_path / "lost")
    assert "No such file" in refused.value.diagnostics[0].hint


def test_a_board_runs_what_the_projects_own_command_built(project: Path, far: Path, board: Run, tmp_path: Path) -> None:
    """With the read-out linked in; without a command that says how, the program is started here."""
    path = with_target(project, "own")
    flags = "-O2 -g -Wno-unknown-pragmas -Ihost/own '-DMOST=(1<<4)'"
    build = f"cc {flags} -I{BOARD} host/main.c {far}/libfpga.so -Wl,-rpath,{far} -o app"
    path.write_text(path.read_text().replace("host:\n", f"host:\n  build: {json.dumps(build)}\n"))
    run = run_workspace(opened(path), RunOptions(out=tmp_path / "run"), Job())
    came_back(run)
    assert calls(run) == calls(board)
    assert asked_for(visits(run)) == asked_for(visits(board))
    assert not (project.parent / "app").exists()


class CancelledWhen(Job):
    """A job whose user cancels it as soon as a file is there."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    def check(self) -> None:
        if self.file.is_file():
            self.cancel()
        super().check()


def test_a_cancel_ends_what_runs_at_the_other_end_of_an_ssh_with_a_terminal(
    project: Path, far: Path, lab: Path, tmp_path: Path
) -> None:
    began = far / "began"
    commands = {"run": f"ssh -tt -F {lab} lab 'stty -onlcr; echo $$ >{began}.new; mv {began}.new {began}; sleep 600'"}
    with pytest.raises(Cancelled):
        run_there(project, commands, tmp_path / "run", CancelledWhen(began))
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(began.read_text())).wait(60)


def collected(tree: Path, records: Path, tmp_path: Path) -> Run:
    return collect_records(tree, records, tmp_path / "run", load_plugins())


def test_a_program_that_was_killed_leaves_its_calls(tree: Path, records: Path, tmp_path: Path) -> None:
    killed = shutil.copytree(records, tmp_path / "killed")
    for name in ("recording.txt", "counters.bin", "board.txt"):
        (killed / name).unlink()
    run = collected(tree, killed, tmp_path)
    assert run.tables["call_stats"]["count"].sum() == 3 + 3 + 1 + 2  # puts, polls, the sum, open and close
    said = " ".join(d.message for d in run.manifest.diagnostics)
    assert "did not finish" in said
    assert "counters could not be read out" in said


def test_a_trace_of_a_board_has_the_hosts_calls_and_the_designs_states(tree: Path, build: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    environment = {**os.environ, "RCW_RAW": str(raw), "RCW_TRACE": "1"}
    subprocess.run([build / "host"], cwd=tree / "hdl", env=environment, check=True, stdout=subprocess.DEVNULL)
    run = collected(tree, raw, tmp_path)
    assert run.manifest.traced
    table, stats = run.tables["calls"], run.tables["call_stats"]
    assert len(table["site"]) == stats["count"].sum() == 3 + 3 + 1 + 2
    took_ps = int((table["t1_ps"] - table["t0_ps"]).sum())
    assert abs(took_ps - int(stats["time_ps"].sum())) <= 9 * 2  # ends are rounded to picoseconds
    edges, states = trace_of(run).row(0)
    assert (
        len(states)
        == len(edges) - 1
        == int(run.tables["state_time"]["visits"][run.tables["state_time"]["block"] == 0].sum())
    )
    counted = run.tables["state_time"]
    for row in (n for n, block in enumerate(run.manifest.blocks) if n and len(block.states) > 1):
        (clock,) = (one for one in run.manifest.clocks if one.name == run.manifest.blocks[row].clock)
        edges, states = trace_of(run).row(row)
        first, last = clock.start_ps, clock.start_ps + int(clock.cycles * 1e12 / clock.frequency_hz)
        inside = (edges[:-1] >= first) & (edges[1:] <= last + 1)
        assert [state for state, of in zip(states, inside, strict=True) if not of] == [0, 0]
        cycles = np.rint((np.diff(edges) * clock.frequency_hz / 1e12)[inside]).astype(int)
        mine = counted["block"] == row
        states, numbers = states[inside], counted["state"][mine]
        assert np.bincount(states, cycles, len(numbers)).tolist() == counted["cycles"][mine].tolist()
        assert np.bincount(states, minlength=len(numbers)).tolist() == counted["visits"][mine].tolist()


def test_a_program_that_a_signal_ended_says_so(project: Path, records: Path, tmp_path: Path) -> None:
    """And that it left no trace although one was asked for."""
    commands = {"run": f"cp {records}/host_*.bin $RCW_RAW; kill -SEGV $$"}
    workspace = opened(with_target(project, "dies", **commands))
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run", trace=True), Job())
    assert run.manifest.exit == -signal.SIGSEGV
    said = [d.message for d in run.manifest.diagnostics]
    assert "the command target.run was ended by signal 11, Segmentation fault" in said
    assert "there is no trace: the program was not asked for one" in said
    assert not run.manifest.traced


def test_a_clock_that_stands_is_told_and_the_others_are_read(tree: Path, build: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    environment = {**os.environ, "RCW_RAW": str(raw), "RCW_BOARD_STANDS": "1"}
    subprocess.run([build / "host"], cwd=tree / "hdl", env=environment, check=True, stdout=subprocess.DEVNULL)
    run = collected(tree, raw, tmp_path)
    (told,) = (d for d in run.manifest.diagnostics if "did not answer" in d.message)
    assert (
        "the clock fast did not answer when the counters were read, so there are no counts for tiny_top."
        in told.message
    )
    assert "tiny_top.witness" in told.message
    assert visits(run)["tiny_top.adder", "add"] == 48
    (witness,) = (block for block in run.manifest.blocks if block.id == "tiny_top.witness")
    assert len(witness.states) == 1


def another_build(tree: Path, records: Path) -> None:
    (records / "board.txt").write_text((records / "board.txt").read_text().replace("tree ", "tree 0"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda tree, records: (tree / "recap.json").unlink(), "has no recap.json"),
        (lambda tree, records: (tree / "recap.json").write_text("{"), "description is damaged"),
        (lambda tree, records: shutil.rmtree(records) or records.mkdir(), "this folder holds no records of a run"),
        (another_build, "come from another build"),
    ],
)
def test_what_does_not_belong_together_is_told(
    tree: Path, records: Path, tmp_path: Path, spoil: Callable[[Path, Path], None], said: str
) -> None:
    mine, theirs = shutil.copytree(tree, tmp_path / "tree"), shutil.copytree(records, tmp_path / "records")
    spoil(mine, theirs)
    with pytest.raises(WorkbenchError, match=said):
        collected(mine, theirs, tmp_path)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("target", "options", "said"),
    [
        ({"name": "mashine"}, {}, "there is no target 'mashine'"),
        ({}, {}, "has no command that runs it"),
        ({"run": "true"}, {"deterministic": True}, "cannot be deterministic"),
        ({"run": "true"}, {"waves": (0.0, 0.0)}, "cannot be with waveforms"),
        ({"build": "echo no board >&2; exit 3", "run": "true"}, {}, "target.build ended with exit code 3"),
        ({"run": "true"}, {}, "this folder holds no records of a run"),
    ],
)
def test_what_a_target_cannot_do_is_told(
    project: Path, tmp_path: Path, target: dict[str, str], options: dict[str, object], said: str
) -> None:
    workspace = opened(with_target(project, "wrong", **target))
    with pytest.raises(WorkbenchError, match=said):
        run_workspace(workspace, RunOptions(out=tmp_path / "run", **options), Job())  # type: ignore[arg-type]


def test_a_target_that_nobody_brings_is_told_where_it_is_named(project: Path) -> None:
    """When the project is read, so that it can be fixed before a run; the rest of the project can still be used."""
    workspace = opened(with_target(project, "misspelt", name="mashine"))
    lines = workspace.path.read_text().splitlines()
    (told,) = workspace.diagnostics
    assert (told.severity, told.hint) == (Severity.WARNING, "Did you mean 'machine'?")
    assert '"mashine"' in lines[(told.line or 0) - 1]
    with pytest.raises(WorkbenchError) as refused:
        workspace.target()
    assert refused.value.diagnostics == (replace(told, severity=Severity.ERROR),)


def test_the_simulated_card_stays_at_hand(project: Path, tmp_path: Path) -> None:
    workspace = opened(with_target(project, "both", run="false"))
    assert list(workspace.target("simulated").steps) == ["Build host", "Build card", "Run"]
    assert workspace.target().title == "real machine"


def test_a_template_without_its_own_calls_leaves_copies_and_says_so(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = Path(opened(project).platform_path).read_text()
    (project.parent / "mute.yaml").write_text(re.sub(r"(?m)^    (send|receive)_c:.*\n", "", template))
    mute = project.with_name("mute.workbench.yaml")
    mute.write_text(project.read_text().replace("board.yaml", "mute.yaml"))
    assert main(["instrument", str(mute), "--out", str(tmp_path / "tree")]) == 0
    assert "it lacks host.transfers.send_c" in capsys.readouterr().err
    assert not (tmp_path / "tree" / "recap.mk").exists()
    assert main(["template", "check", str(project.parent / "mute.yaml")]) == 0
    assert "it lacks host.transfers.receive_c" in capsys.readouterr().out


def test_several_cards_that_the_read_out_cannot_tell_apart_are_told(project: Path, tmp_path: Path) -> None:
    template = re.sub(
        r"result = fpga(Write|Read)\(fpga, ", r"result = fpga\1(", Path(opened(project).platform_path).read_text()
    )
    (project.parent / "alike.yaml").write_text(template)
    two = project.with_name("two.workbench.yaml")
    text = project.read_text().replace("  top: tiny_top\n", "  top: tiny_top\n  cards: 2\n")
    two.write_text(text.replace("board.yaml", "alike.yaml"))
    host, _ = instrument_workspace(opened(two), {}, tmp_path / "tree")
    assert "its host.transfers do not say which FPGA they are for" in host.diagnostics[-1].message
    assert not (tmp_path / "tree" / "recap.mk").exists()
    with pytest.raises(WorkbenchError, match="do not say which FPGA"):
        run_workspace(opened(two), RunOptions(out=tmp_path / "run", target="machine"), Job())


def test_blocks_that_no_read_out_reaches_are_told(project: Path) -> None:
    workspace = open_workspace(project, load_plugins())
    host, clear = workspace.platform.hardware.ports[0].name, Access(Act.WRITE, 0)
    blocks = synthetic_run().manifest.blocks[1:3]

    def built(port: str, numbers: tuple[int, ...] | None) -> HdlBuild:
        words = MonitorWords(0, 4, 0, 36, blocks=numbers)
        return HdlBuild((), "top", blocks, read_out=ReadOutPlan(4, 0, 3, clear, clear, clear, (clear,), (words,), port))

    assert list(uncounted(workspace, built(host, None))) == []
    (told,) = uncounted(workspace, built(host, (0,)))
    assert blocks[1].id in told.message
    assert blocks[0].id not in told.message
    (told,) = uncounted(workspace, built("recap", (0, 1)))
    assert all(block.id in told.message for block in blocks)


def test_monitors_that_act_on_reads_are_written_nothing(project: Path) -> None:
    """Behind AXI the design alone sees writes (resources/card/README.md)."""
    freeze, run, clear, word = (Access(Act.READ, address) for address in (0, 4, 8, 12))
    plan = ReadOutPlan(4, 0, 12, freeze, run, clear, (word,), (MonitorWords(0, 4, 0, 36),))
    resources = Path(str(files("workbench.resources"))) / "board"
    text = board_sources([opened(project).platform], [plan], resources, "t")["rcw_read_out_0.c"]
    assert re.findall(r"rcw_move(?:_words)?\((\d), (\d+)u", text) == [("0", "8"), ("0", "4"), ("0", "0"), ("0", "12")]


def test_commands_are_part_of_what_is_trusted(project: Path) -> None:
    workspace = opened(with_target(project, "asked", run="sh lab/go.sh"))
    assert any("`sh lab/go.sh`" in sentence for sentence in trust_sentences(workspace, TrustState(False)))
    (workspace.root / "lab").mkdir()
    (workspace.root / "lab" / "go.sh").write_text("true\n")
    trust(workspace)
    assert trust_state(workspace).trusted
    (workspace.root / "lab" / "go.sh").write_text("rm -rf ~\n")
    assert trust_state(workspace).changed == ("lab/go.sh",)


def test_fewer_counters_than_blocks_watch_those_that_are_chosen(
    project: Path, records: Path, board: Run, tmp_path: Path
) -> None:
    few = project.with_name("few.workbench.yaml")
    few.write_text(project.read_text().replace("  trace: {records: 512}\n", "  engines: 1\n"))
    adder, port = (next(b for b in board.manifest.blocks if b.id.endswith(name)) for name in (".adder", ".port"))
    tree, folder = tmp_path / "tree", tmp_path / "records"
    folder.mkdir()
    workspace = opened(few).watching(["tiny_top.add*"])
    _, hdl = instrument_workspace(workspace, {}, tree)
    assert "their counters watch others: tiny_top.port" in hdl.diagnostics[-1].message
    subprocess.run(make_board(tree, "WORD_CYCLES=100"), cwd=tmp_path, capture_output=True, check=True)
    ran = subprocess.run([tmp_path / "host"], cwd=tree / "hdl", env={**os.environ, "RCW_RAW": str(folder)}, check=True)
    assert ran.returncode == 0
    run = collect_records(tree, folder, tmp_path / "run", load_plugins())
    numbers = {block.id: number for number, block in enumerate(run.manifest.blocks)}
    assert [len(block.states) for block in run.manifest.blocks if block.id == port.id] == [1]
    table, whole = run.tables["state_time"], board.tables["state_time"]
    mine, all_ = (
        {n: t[n][t["block"] == number].tolist() for n in ("state", "visits")}
        for t, number in ((table, numbers[adder.id]), (whole, board.manifest.blocks.index(adder)))
    )
    assert mine == all_
    unseen = table["block"] == numbers[port.id]
    assert table["state"][unseen].tolist() == [0]
    assert table["cycles"][unseen].sum() == table["cycles"][table["block"] == numbers[adder.id]].sum()
    assert any("not observed on a real machine" in problem.message for problem in run.manifest.diagnostics)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("tiny_top.adda", "Did you mean 'tiny_top.adder'?"),
        ("core*", "There are tiny_top.port, tiny_top.adder, tiny_top.witness and 3 more."),
    ],
)
def test_a_block_that_no_counter_can_watch_is_told(project: Path, tmp_path: Path, name: str, told: str) -> None:
    few = project.with_name("few.workbench.yaml")
    few.write_text(project.read_text().replace("hardware:\n", "hardware:\n  engines: 1\n"))
    problem = refusal(instrument_workspace, opened(few).watching([name]), {}, tmp_path / "tree")
    assert problem.message == f"no counter can watch a block '{name}'"
    assert told in (problem.hint or "")


def test_a_source_that_calls_nothing_goes_along_with_all_that_it_includes(tmp_path: Path) -> None:
    """A C++ source without a call of the API is not rewritten; the tree has it all the same, and its headers."""
    folder = shutil.copytree(TINY, tmp_path / "tiny")
    (folder / "host" / "parts").mkdir()
    (folder / "host" / "add.cpp").write_text('#include "parts/one.hpp"\nint add() { return ONE + TWO + THREE; }\n')
    (folder / "host" / "parts" / "one.hpp").write_text('#include "deep.hpp"\n#include "../two.hpp"\n#define ONE 1\n')
    (folder / "host" / "parts" / "deep.hpp").write_text("#define THREE 3\n")
    (folder / "host" / "two.hpp").write_text("#define TWO 2\n")
    file = folder / "tiny.workbench.yaml"
    file.write_text(file.read_text().replace("sources: [host/main.c]", "sources: [host/main.c, host/add.cpp]"))
    instrument_workspace(opened(file), {}, tmp_path / "tree")
    shutil.rmtree(folder)
    moved = shutil.move(tmp_path / "tree", tmp_path / "moved")
    command = ["make", "-f", f"{moved}/recap.mk", "recap_objects/1_add.o"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr

"""Streaming applications run: the same results wherever a block stands, and every push and pop recorded."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers import document_of, refusal
from rc_workbench_plugins.simulated_card.simulate import simulate
from rc_workbench_plugins.simulated_card.target import SimulatedCard
from rc_workbench_plugins.streaming.agents.kept import kept_answers
from rc_workbench_plugins.streaming.crossing import across
from rc_workbench_plugins.streaming.limit_finding import limits
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.measures import FrameLength, Query
from rc_workbench_plugins.streaming.query.resolve import read_query
from tools import NEEDS_GHDL

from workbench.api import Outcome, Task
from workbench.api.job import Job, JobEvent
from workbench.api.stream_events import EdgeEvents, Events, events_of
from workbench.api.virtual_time import clock_problems, frame_of, frames_of_table
from workbench.cli.main import main
from workbench.formats.platform_file import load_platform
from workbench.formats.run_folder import RunWriter, open_run
from workbench.hdl import ghdl
from workbench.model.blocks import Side
from workbench.model.changes import Depth, read_change
from workbench.model.cycles import cycle_start_ps, faster_hz
from workbench.model.diagnostic import Cancelled, Diagnostic, WorkbenchError
from workbench.model.prediction import Trust
from workbench.model.run import PS_PER_S, Manifest, Run, RunClock, RunStatus
from workbench.model.run_tables import Table
from workbench.session.keep.results import open_result
from workbench.session.make.agents import switch_numbers
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins
from workbench.system import process
from workbench.system.confine import read_only
from workbench.testing.runs import synthetic_run

DATA = Path(__file__).parent / "data" / "streaming"
MOST, FACTOR = 1000, 3
PRINTED = f"{MOST} {sum(FACTOR * i * (i + 1) for i in range(MOST))}\n"


def project(folder: Path, *lines: str, level: str = "-O0") -> Path:
    """A project compiled at a level: by default the one that takes half of -O2's time."""
    shutil.copytree(DATA, folder, dirs_exist_ok=True)
    path = folder / "scale.workbench.yaml"
    text = path.read_text().replace("streaming:", f"host: {{flags: [{level}]}}\nstreaming:")
    path.write_text(text + "".join(f"  {line}\n" for line in lines))
    return path


def events(tables: Mapping[str, Table]) -> Events:
    found = events_of(tables)
    assert found
    return found


def fullest(edge: EdgeEvents) -> int:
    times = np.concatenate((edge.push_ps, edge.pop_ps))
    steps = np.concatenate((np.ones_like(edge.push_ps), -np.ones_like(edge.pop_ps)))
    return int(np.cumsum(steps[np.lexsort((steps, times))]).max())


class Built:
    """A project as it is written, built once and run on as many processor cores as one likes."""

    def __init__(self, path: Path) -> None:
        workspace, folder = open_workspace(path, load_plugins()), path.parent
        parameters = workspace.parameters({})
        hdl = workspace.hdl_language.plain(workspace.root, workspace.project.hardware, parameters)
        self._task = Task(
            workspace.project, workspace.platform, workspace.root, hdl, folder / "build", folder / "raw",
            workspace.support, deterministic=True, trace=True,
        )  # fmt: skip
        self._built = SimulatedCard().build(self._task, Job())
        self._workspace = workspace

    def switches(self, frame: str, *only: str) -> tuple[int, ...]:
        return switch_numbers(self._task.hdl, self._workspace, frame, only)

    def run(
        self, cores: int, raw: Path, ppm: float = 0.0, drift: float = 0.0, switches: tuple[int, ...] = ()
    ) -> tuple[Outcome, Mapping[str, Table]]:
        project, clock = self._task.project, {"clock_ppm": ppm, "clock_drift_ppm_per_s": drift}
        simulation = project.simulation.model_copy(update={"cores": cores, **clock})
        project = project.model_copy(update={"simulation": simulation})
        task = replace(self._task, project=project, raw=raw / "raw", switches=switches)
        outcome = simulate(task, self._built.card, self._built.host, Job())
        workspace = self._workspace
        manifest = Manifest(
            name="scale", status=RunStatus.COMPLETE, created="", traced=True, time_ps=outcome.time_ps,
            clocks=(RunClock("clk", faster_hz(100e6, ppm), drift_ppm_per_s=drift),),
        )  # fmt: skip
        return outcome, workspace.composed[0].tables(task.raw, manifest)


@pytest.fixture(scope="module")
def on_cores(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(project(tmp_path_factory.mktemp("cores")))


@pytest.fixture(scope="module")
def on_fpga(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("fpga")
    path = project(folder, "mapping: {scale: card}", "bulk_elements: 64")
    options = RunOptions(out=folder / "run", trace=True, deterministic=True)
    return run_workspace(open_workspace(path, load_plugins()), options, Job())


def check_every_push_and_pop(found: Events) -> None:
    a, b = found.edges["App.a"], found.edges["App.b"]
    for edge, factor in ((a, 1), (b, FACTOR)):
        assert edge.values is not None
        assert edge.values.tolist() == [factor * i for i in range(MOST)]
        assert len(edge.pop_ps) == MOST
        assert (edge.pop_ps >= edge.push_ps).all()
        assert (np.diff(edge.push_ps) >= 0).all()
        assert fullest(edge) <= edge.edge.depth
    assert (b.push_ps >= a.pop_ps).all(), "nothing is scaled before it is there"
    assert found.end_ps >= b.pop_ps[-1]


def test_a_deployment_is_tried_on_1_2_and_8_cores_and_repeats_bit_for_bit(on_cores: Built, tmp_path: Path) -> None:
    times = {}
    for cores in (1, 2, 8):
        outcome, found = on_cores.run(cores, tmp_path / f"{cores}")
        again, _ = on_cores.run(cores, tmp_path / f"{cores}again")
        assert outcome.stdout == again.stdout == PRINTED
        assert outcome.time_ps == again.time_ps
        first, second = (tmp_path / name / "raw" / "stream_host.bin" for name in (f"{cores}", f"{cores}again"))
        assert first.read_bytes() == second.read_bytes()
        check_every_push_and_pop(events(found))
        times[cores] = outcome.time_ps
    assert times[1] > 1.5 * times[8], "three blocks work at once"
    assert times[1] > times[2] >= times[8]


def test_a_bounded_queue_holds_its_writer_up(on_cores: Built, tmp_path: Path) -> None:
    a = events(on_cores.run(4, tmp_path)[1]).edges["App.a"]
    assert fullest(a) == a.edge.depth == 16, "counting is faster than scaling"
    assert len(a.blocked_ps)
    assert (a.blocked_ps[:, 0] < a.blocked_ps[:, 1]).all()
    assert np.isin(a.blocked_ps[:, 1], a.push_ps).all(), "who waited for room pushes next"


def test_one_mapping_line_moves_a_block_and_the_answer_stays(on_fpga: Run) -> None:
    assert (on_fpga.path / "stdout.txt").read_text() == PRINTED
    assert on_fpga.manifest.exit == 0
    threads = [block.id for block in on_fpga.manifest.blocks if block.side is Side.HOST]
    assert threads == ["host.main", "host.to_FPGA", "host.from_FPGA", "host.count", "host.print"]
    check_every_push_and_pop(events(on_fpga.tables))


def test_a_block_is_as_busy_as_its_thread_works(on_fpga: Run) -> None:
    """One definition: what a wait is made of is waiting, in the report as in what the streams tell."""
    found = events(on_fpga.tables)
    busy = {f"host.{found.topology.within(one.name)}": one.busy * found.end_ps for one in limits(found).blocks}
    blocks, times = on_fpga.manifest.blocks, on_fpga.tables["state_time"]
    works = {
        blocks[block].id: int(ps)
        for block, state, ps in zip(times["block"], times["state"], times["time_ps"], strict=True)
        if blocks[block].states[state].name == "work"
    }
    for name in ("host.count", "host.print"):
        assert works[name] == pytest.approx(busy[name], rel=0.01), name
        assert 0 < works[name] < 0.5 * on_fpga.manifest.time_ps


def test_no_finding_gains_more_than_the_streams_let_it(on_fpga: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Larger transfers leave every block as it is, and the busiest of them stays busy."""
    short, limit, *others = document_of(capsys, ["report", str(on_fpga.path), "--predict", "0", "--json"])["findings"]
    walked = limits(events(on_fpga.tables))
    assert (short["rule"], limit["rule"]) == ("short queue", "stream limit")
    assert limit["speedup_cap"] == short["speedup_cap"] == pytest.approx(walked.gain)
    assert {one["rule"] for one in others} >= {"inefficient transfer type or size"}
    assert max(one["speedup_cap"] for one in others) <= walked.gain * (1 + 1e-9)


def test_the_depth_that_is_advised_for_an_edge_comes_to_what_is_predicted(on_fpga: Run, tmp_path: Path) -> None:
    assert on_fpga.path is not None
    (finding,) = (f for f in open_result(on_fpga.path, load_plugins()).analysis.findings if f.rule == "short queue")
    (advice,) = finding.advice
    assert advice.text.startswith("Deepen a from 16 to ")
    assert advice.prediction is not None
    (change,) = advice.prediction.changes
    assert isinstance(change, Depth)
    project = Path(on_fpga.manifest.project)
    workspace = open_workspace(project, load_plugins(), edge_depths={change.fifo: change.words})
    again = run_workspace(workspace, RunOptions(out=tmp_path / "run", deterministic=True), Job())
    came = on_fpga.manifest.time_ps / again.manifest.time_ps
    assert came > 1.15
    assert advice.prediction.speedup == pytest.approx(came, rel=0.01)
    replayed = open_result(on_fpga.path, load_plugins()).prepared()
    assert (replayed.exact, replayed.unknown) == (True, ())
    found = replayed.predict([change])
    assert (found.trust, found.speedup) == (Trust.TRUSTED, pytest.approx(came, rel=0.005)), found.why
    with pytest.raises(WorkbenchError, match=r"no edge 'App\.c'"):
        replayed.predict([replace(change, fifo="App.c")])


def test_changes_that_streams_do_not_tell_are_refused(on_fpga: Run) -> None:
    assert on_fpga.path is not None
    replayed = open_result(on_fpga.path, load_plugins()).prepared()
    found = replayed.predict([read_change("unite calls=fpgaWrite count=2")])
    assert (found.trust, found.speedup) == (Trust.REFUSED, None)
    assert "'unite' is not known to the replay of a streaming application" in found.why
    slower, same = (
        replayed.predict([read_change(f"host block=host.{block} state=* factor={factor}")])
        for block, factor in (("count", 200), ("print", 1))
    )
    assert same.speedup == 1
    assert slower.speedup is not None
    assert slower.speedup < 0.9


def test_streams_and_query_lead_to_each_other(on_fpga: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["streams", str(on_fpga.path)]) == 0
    said = capsys.readouterr().out
    assert "What limits the throughput?\n    " in said
    assert f"workbench query {on_fpga.path} QUERY_FILE" in said
    answers = document_of(capsys, ["streams", str(on_fpga.path), "--json"])["answers"]
    assert answers[0]["question"] == "What limits the throughput?"
    assert main(["query", str(on_fpga.path), "--limits"]) == 0
    assert answers[0]["answer"] in capsys.readouterr().out
    counted = synthetic_run()
    RunWriter(tmp_path / "counted").finish(counted.manifest, {"streams": counted.tables["streams"]})
    for options in ([], ["--limits"]):
        assert main(["query", str(tmp_path / "counted"), *options]) == 2
        assert f"workbench streams {tmp_path / 'counted'}" in capsys.readouterr().err


def test_of_the_design_only_what_the_user_wrote_is_told_and_edges_by_their_labels(on_fpga: Run) -> None:
    assert not [block for block in on_fpga.manifest.blocks if block.side is Side.FPGA], "scale has no clocked block"
    streams, moved = on_fpga.manifest.streams, on_fpga.tables["streams"]["transfers"].tolist()
    assert {s.id: (s.source, s.target) for s in streams} == {
        "App.a.s": ("", "App.a"), "App.a.m": ("App.a", "App.b"), "App.b.m": ("App.b", "App"),
    }  # fmt: skip
    found = events(on_fpga.tables).edges
    passed = [len(found["App.a"].push_ps), len(found["App.a"].pop_ps), len(found["App.b"].pop_ps)]
    assert moved == passed, "elements, and not the ends"
    assert moved[0] == MOST
    assert [(f.id, streams[f.input].id) for f in on_fpga.manifest.fifos] == [("App.a", "App.a.s"), ("App.b", "App.a.m")]


def test_nothing_of_what_is_made_is_listed_beside_what_the_user_wrote(tmp_path: Path) -> None:
    (tmp_path / "q.tt").write_text("measure sum value at a\n")
    path = project(tmp_path, "query: q.tt")
    found = open_workspace(path, load_plugins()).scan()
    assert (found.host.calls, found.hdl.blocks, found.hdl.streams) == ((), (), ())
    path.write_text(path.read_text() + "  mapping: {scale: card}\n")
    found = open_workspace(path, load_plugins()).scan()
    assert not found.diagnostics
    assert not found.hdl.blocks
    assert {s.id for s in found.hdl.streams} == {"App.a.s", "App.a.m", "App.b.m"}, "and none of the agent's"


def test_what_crosses_the_bus_does_so_in_transfers(on_fpga: Run) -> None:
    for edge in events(on_fpga.tables).edges.values():
        assert edge.taken_ps is not None
        assert edge.delivered_ps is not None
        times, sizes = np.unique(edge.taken_ps, return_counts=True)
        assert sizes.tolist() == [64] * 15 + [MOST - 15 * 64]
        stages = np.stack([edge.push_ps, edge.taken_ps, edge.delivered_ps, edge.pop_ps])
        assert (np.diff(stages, axis=0) >= 0).all()
        assert (edge.delivered_ps[sizes.cumsum()[:-1] - 1] <= times[1:]).all(), "one transfer after another"
        assert "a replay from the two ends gives" in across(edge).words


def test_the_design_takes_an_element_a_cycle_and_transfers_go_in_bulk(on_fpga: Run) -> None:
    a = events(on_fpga.tables).edges["App.a"]
    gaps = np.diff(a.pop_ps)
    assert (gaps % 10_000 == 0).all(), "whole cycles of 100 MHz"
    assert (gaps > 1_000_000).sum() + 1 == -(-MOST // 64), "a pause for each transfer"


def test_data_go_from_fpga_to_fpga_through_the_processor_and_nobody_waits_for_what_nobody_wants(tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "two.workbench.yaml"
    path.write_text(path.read_text().replace("  bulk", "  query: q.tt\n  bulk"))
    (tmp_path / "q.tt").write_text("measure sum value at b\nmeasure sum value at c\nmeasure rate at two.x\n")
    options = RunOptions(out=tmp_path / "run", trace=True, deterministic=True)
    made = run_workspace(open_workspace(path, load_plugins()), options, Job())
    printed = (made.path / "stdout.txt").read_text().splitlines()
    assert sorted(printed) == sorted([PRINTED.strip(), f"{sum(2 * 3 * 3 * i for i in range(70))}"])
    threads = {block.id for block in made.manifest.blocks if block.side is Side.HOST}
    assert {"host.to_left_1", "host.to_left_2", "host.from_left", "host.from_right"} <= threads
    found = events(made.tables)
    a, b, c = (found.edges[f"App.{label}"] for label in "abc")
    for edge, factor in ((a, 1), (b, FACTOR), (c, FACTOR)):
        assert edge.values is not None
        assert edge.values.tolist() == [factor * i for i in range(MOST)]
        assert edge.taken_ps is not None
        assert edge.delivered_ps is not None
        stages = np.stack([edge.push_ps, edge.taken_ps, edge.delivered_ps, edge.pop_ps])
        assert (np.diff(stages, axis=0) >= 0).all()
        assert fullest(edge) <= edge.edge.depth
    assert (b.push_ps == a.pop_ps).all(), "a block that only multiplies gives what it takes, in the same cycle"
    assert (c.push_ps == b.pop_ps).all()
    assert (np.unique(b.delivered_ps - b.taken_ps) > 48_000_000).all(), "a read, and a write: 32 us and 16 us at least"
    told = kept_answers(made.tables, "")
    assert told
    values = FACTOR * MOST * (MOST - 1) // 2
    counted = [(one.agent, one.frames[0].count, one.frames[0].value) for one in told.measures]
    assert counted[:2] == [("left", MOST, values), ("right", MOST, values)]
    assert counted[2][:2] == ("right", MOST)


SLOW = """
module scale #(parameter factor = 1) (
    input clk, input rst,
    input [31:0] x_data, input x_empty, output x_pop,
    output [31:0] y_data, output y_push, input y_full
);
    reg [31:0] kept;
    reg [9:0] left;
    assign x_pop = !x_empty && left == 0;
    assign y_push = left == 1 && !y_full;
    assign y_data = kept;
    always @(posedge clk) begin
        if (x_pop) kept <= x_data * factor;
        left <= rst ? 0 : x_pop ? 300 : left - (left > 1 || y_push);
    end
endmodule
"""

VHDL = "blocks: {Scale: {vhdl: [scale.vhd], unit: {vhdl: scale}}}"


@NEEDS_GHDL
def test_blocks_in_the_fpga_may_have_a_fifos_ports(tmp_path: Path) -> None:
    """As a queue has them, with show-ahead and without, and as HLS writes them, in Verilog and in VHDL: all compute
    what the block with the ports of AXI4-Stream does, and streams end behind them, though they do not tell it."""
    project(tmp_path)
    options = RunOptions(out=tmp_path / "run", trace=True, deterministic=True)
    run = run_workspace(open_workspace(tmp_path / "ports.workbench.yaml", load_plugins()), options, Job())
    found, factor = events(run.tables).edges, 1
    for label, times in zip("abcdefg", (1, 1, 2, 3, 5, 7, 11), strict=True):
        factor *= times
        edge = found[f"App.{label}"]
        assert edge.values is not None
        assert edge.values.tolist() == [factor * i for i in range(MOST)], label
        assert len(edge.pop_ps) == MOST
    assert (tmp_path / "run" / "stdout.txt").read_text() == f"{MOST} {factor * int(PRINTED.split()[1]) // FACTOR}\n"
    assert not [d for d in run.manifest.diagnostics if "GHDL" in d.message], "all are compared, and the same"


def test_an_element_after_the_end_of_its_stream_is_told(tmp_path: Path) -> None:
    path = project(tmp_path, "mapping: {scale: card}", "flush_us: 1")
    (tmp_path / "scale.v").write_text(SLOW)
    run = run_workspace(open_workspace(path, load_plugins()), RunOptions(out=tmp_path / "run", plain=True), Job())
    assert run.manifest.status is RunStatus.FAILED
    assert "App.b after the end" in run.manifest.reason


@NEEDS_GHDL
def test_what_is_wrong_in_vhdl_is_told_at_its_line(tmp_path: Path) -> None:
    path = project(tmp_path, "mapping: {scale: card}", VHDL)
    text = (tmp_path / "scale.vhd").read_text()
    (tmp_path / "scale.vhd").write_text(text.replace("signal full : std_logic", "signal full : std_logical"))
    with pytest.raises(WorkbenchError) as told:
        open_workspace(path, load_plugins())
    problem = told.value.diagnostics[0]
    assert "std_logical" in problem.message
    assert (problem.file, problem.line) == (str(tmp_path / "scale.vhd"), 21)


@NEEDS_GHDL
def test_a_block_in_vhdl_is_simulated_where_it_is_run_and_not_where_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened, a design is synthesised; what GHDL 2.0 gets wrong there is told before anything is built."""
    if not read_only():
        pytest.skip("this system does not let bubblewrap confine")
    path = project(tmp_path, "mapping: {scale: card}", VHDL)
    text = (tmp_path / "scale.vhd").read_text()
    wrong = "y_tdata <= x\"12345678\"; if x_tlast = '1' then y_tdata(3 downto 0) <= x_tdata(3 downto 0); end if;"
    (tmp_path / "scale.vhd").write_text(
        text.replace("y_tdata <= std_logic_vector(resize(unsigned(x_tdata) * factor, 32));", wrong)
    )
    started = list[list[str]]()

    class Told(process.Supervised):
        def __init__(self, command: list[str], **others: Any) -> None:
            started.append(command)
            super().__init__(command, **others)

    monkeypatch.setattr(process, "Supervised", Told)
    workspace = open_workspace(path, load_plugins())
    assert any("--synth" in command for command in started)
    assert not any("-r" in command for command in started)

    cancelled = Job(lambda event: cancelled.cancel() if event.kind == "step" else None)
    with pytest.raises(Cancelled):
        run_workspace(workspace, RunOptions(out=tmp_path / "cancelled"), cancelled)
    assert open_run(tmp_path / "cancelled")[0].manifest.status is RunStatus.CANCELLED

    events: list[JobEvent] = []
    version = subprocess.run(["ghdl", "--version"], capture_output=True, text=True, check=True).stdout
    if not version.startswith("GHDL 2."):
        pytest.skip("this GHDL makes of it what it says")
    problem = refusal(run_workspace, workspace, RunOptions(out=tmp_path / "run"), Job(events.append))
    assert "synthesis of 'scale' is wrong: 'y_tdata' differs" in problem.message
    assert (problem.file, problem.line) == (str(path), 8)
    assert [event.kind for event in events if event.kind != "log"] == [
        "plan", "step", "progress", "diagnostic", "step_failed",
    ]  # fmt: skip
    assert sum("-r" in command for command in started) == 1
    assert not (tmp_path / "run" / "build").exists()


def test_without_ghdl_a_project_with_blocks_in_vhdl_opens_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path)
    missing = Diagnostic("ghdl was not found", "Install it.")
    monkeypatch.setattr(ghdl, "find_ghdl", lambda: missing)
    path = tmp_path / "ports.workbench.yaml"
    with pytest.raises(WorkbenchError):
        open_workspace(path, load_plugins())
    workspace = open_workspace(path, load_plugins(), faulty=True)
    (problem,) = workspace.faults
    assert (problem.message, problem.hint) == (missing.message, missing.hint)
    assert (problem.file, problem.line) == (str(tmp_path / "ports.x"), 29)
    assert workspace.scan().diagnostics == workspace.faults


@pytest.mark.parametrize(
    ("module", "said", "hint"),
    [
        ("module other; endmodule", "there is no module 'scale' in scale.v", "as NAME"),
        (
            "module scale(input clk, input [31:0] x_tdata); endmodule",
            "the module 'scale' has no stream 'x'",
            "x_tvalid",
        ),
    ],
)
def test_a_module_that_does_not_fit_is_told_at_its_line(module: str, said: str, hint: str, tmp_path: Path) -> None:
    path = project(tmp_path, "mapping: {scale: card}")
    (tmp_path / "scale.v").write_text(module)
    problem = refusal(open_workspace, path, load_plugins())
    assert said in problem.message
    assert hint in problem.hint
    assert (problem.file, problem.line) == (str(tmp_path / "scale.x"), 13)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["mapping: {App: card}"], "'App.count' is mapped to an FPGA, but 'Count' has no implementation for that"),
        (["mapping: {scale: cart}"], "there is no resource 'cart'"),
        (["depths: {z: 3}"], "there is no edge 'z'"),
        (["mapping: {scale: card}", "bulk_elements: 65537"], "65536"),
    ],
)
def test_a_section_that_does_not_fit_is_told(lines: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError) as told:
        open_workspace(project(tmp_path, *lines), load_plugins())
    assert any(said in problem.text() and problem.line for problem in told.value.diagnostics), told.value


@pytest.mark.parametrize("name", sorted(load_plugins().platforms))
def test_a_platform_carries_streams_or_it_is_told_why_at_its_line(name: str, tmp_path: Path) -> None:
    path = project(tmp_path, "mapping: {scale: card}")
    path.write_text(path.read_text().replace("nallatech_h101", name))
    platform, _ = load_platform(load_plugins().platforms[name].template)
    assert platform
    if name == "nallatech_h101":
        assert open_workspace(path, load_plugins()).project.hardware.cards == 1
        return
    problem = refusal(open_workspace, path, load_plugins())
    why = {
        "gidel_procstar3": "has no calls that move 32-bit words",
        "xd1000": "cannot carry streams: its first port, 'dma', is of kind block, not memory",
    }.get(name, "cannot carry streams: its template has no port")
    assert problem.message.startswith(f"the platform '{name}' {why}")
    assert bool(platform.hardware) == ("no port" not in why)
    assert (problem.file, problem.line) == (str(path), 3)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("word_bits: 32", "word_bits: 64", "have 64 bits, not 32"),
        ("result = fpgaRead(fpga, data, address, words);", '""', "has no calls that move 32-bit words"),
        ("fpga: card", "fpga: '0'", "has no call of kind acquire with a parameter that says which card it opens"),
    ],
)
def test_what_a_template_lacks_for_streams_is_told_at_the_projects_line(
    before: str, after: str, said: str, tmp_path: Path
) -> None:
    path = project(tmp_path, "mapping: {scale: card}")
    template = load_plugins().platforms["nallatech_h101"].template.read_text()
    assert template.count(before)
    (tmp_path / "mine.yaml").write_text(template.replace(before, after, 1))
    two = path.with_name("two.workbench.yaml")
    two.write_text(two.read_text().replace("nallatech_h101", "mine.yaml"))
    problem = refusal(open_workspace, two, load_plugins())
    assert said in problem.message
    assert (problem.file, problem.line) == (str(two), 3)


def test_streams_go_through_a_port_whose_data_come_later(tmp_path: Path) -> None:
    path = project(tmp_path, "mapping: {scale: card}", "bulk_elements: 64")
    template = load_plugins().platforms["nallatech_h101"].template.read_text()
    (tmp_path / "mine.yaml").write_text(template.replace("delay_cycles: 1", "delay_cycles: 3"))
    path.write_text(path.read_text().replace("nallatech_h101", "mine.yaml"))
    shutil.copytree(load_plugins().platforms["nallatech_h101"].api_dir, tmp_path, dirs_exist_ok=True)
    run_workspace(open_workspace(path, load_plugins()), RunOptions(out=tmp_path / "run", plain=True), Job())
    assert (tmp_path / "run" / "stdout.txt").read_text() == PRINTED


def test_a_runs_tables_are_of_the_application_that_was_built_though_it_was_changed_meanwhile(tmp_path: Path) -> None:
    path = project(tmp_path)
    workspace = open_workspace(path, load_plugins())
    (tmp_path / "scale.x").write_text((tmp_path / "scale.x").read_text().replace("a: count", "other: count"))
    run = Manifest("scale", RunStatus.COMPLETE, "", traced=True, clocks=(RunClock("clk", 100e6),))
    found = events_of(workspace.composed[0].tables(tmp_path, run))
    assert found
    assert list(found.edges) == ["App.a", "App.b"]


BOTH = """
block App {
    Count count (most=1000);
    Scale before (factor=1), scale, twice (factor=2), after (factor=1);
    Print print;
    a: count -> before (depth=16);
    in: before -> scale;
    m: scale -> twice (depth=8);
    out: twice -> after;
    c: after -> print;
}
"""
ON_CORES = """
    r: measure rate at a
    u: measure util at a
    p: measure backpressure at a
    o: measure hist occupancy at c
    l: measure mean latency at a
    path: measure max latency at a -> c
    v: measure sum value at c
    w: measure mean occupancy at a when backpressure at a
    x: measure rate at c when o2 >= 2
    o2: measure mean(frame = 3 us) occupancy at a
    across: measure mean latency at in -> out
    into: measure sum value at in
    taken: measure rate at after.x
    full: assert occupancy at a < 16
"""
ON_FPGA = """
    fr: measure rate at m
    fu: measure util at m
    fp: measure backpressure at m
    fo: measure hist occupancy at m
    fm: measure min occupancy at m when occupancy at m > 1 | fe > 100
    fl: measure max latency at m
    fv: measure sum value at m
    fe: measure mean(frame = 250) value at m
    fx: measure rate at scale.x when fo2 > 0.5
    fo2: measure mean(frame = 100 us) occupancy at m
    ft: measure trace value at out when value at out < 600
    fs: measure backpressure at out
    flow: assert occupancy at m < 8
"""
BETWEEN = """
    measure mean occupancy at in
    measure util at out
    measure rate at m when occupancy at a > 1
"""


def test_agents_count_while_the_application_runs_what_the_trace_tells_afterwards(tmp_path: Path) -> None:
    path = project(tmp_path, "query: q.tt", "frame: 500 us", "mapping: {scale: card, twice: card}")
    text = (tmp_path / "scale.x").read_text()
    begin, end = text.index("block App {"), text.index("impl Count")
    (tmp_path / "scale.x").write_text(text[:begin] + BOTH + text[end:])
    (tmp_path / "q.tt").write_text(ON_CORES + ON_FPGA + BETWEEN)
    built = Built(path)
    outcome, made = built.run(8, tmp_path)
    assert outcome.stdout == f"{MOST} {2 * int(PRINTED.split()[1])}\n"
    told = answers_of(made)
    lines = {problem["line"] for problem in told["diagnostics"]}
    first = (ON_CORES + ON_FPGA).count("\n") + 1
    assert lines == {first + 1, first + 2, first + 3}, told["diagnostics"]
    found = events(made)
    processor = [one["frames"][-1]["end_s"] for one in told["measures"] if one["agent"] == "processor"]
    assert processor == pytest.approx([found.end_ps / PS_PER_S] * len(processor), abs=1e-6)
    assert outcome.time_ps - found.end_ps > 2 * 32_000_000, "of the last looks at the FPGA"
    check_counted(told, found, FrameLength(time_ps=500_000_000))
    assert [cost["agent"] for cost in told["agents"]] == ["processor", "FPGA"]
    assert all(0 < cost["core_share"] < 0.3 for cost in told["agents"]), told["agents"]
    assert 0 == told["agents"][0]["bus_share"] < told["agents"][1]["bus_share"] < 0.5, told["agents"]
    check_a_clock_that_is_off(made, *built.run(8, tmp_path / "off", -10_000, 100))
    check_switched(built, tmp_path / "switched")


def check_switched(built: Built, folder: Path) -> None:
    """The same build counts a few statements in frames of another length."""
    only = ("r", "w", "full", "fr", "fo", "flow")
    _, made = built.run(8, folder, switches=built.switches("300 us", *only))
    told = answers_of(made)
    assert {one["label"] for one in (*told["measures"], *told["asserts"])} == {*only}
    for one in told["measures"]:
        assert one.pop("trust").endswith(", in frames of 300\u202fµs, as set when the program started")
    check_counted(told, events(made), FrameLength(time_ps=300_000_000), only)
    with pytest.raises(WorkbenchError, match="no agent counts a statement 'frs'"):
        built.switches("", "frs")
    with pytest.raises(WorkbenchError, match="a frame of 5 ns cannot be counted"):
        built.switches("5 ns")


def check_counted(told: dict[str, Any], found: Events, frame: FrameLength, only: Sequence[str] = ()) -> None:
    """Every frame of every statement is what the trace of the same run shows."""
    query = read_query(ON_CORES + ON_FPGA, found.topology, frame=frame)
    asked = {one.label: one for one in query.statements if one.label in only or not only}
    for ours in told["measures"]:
        end_ps = round(ours["frames"][-1]["end_s"] * 1e12)
        ((true,), _) = evaluate(Query((asked.pop(ours["label"]),)), replace(found, end_ps=end_ps))
        wanted = true.as_json() | {"agent": "FPGA" if ours["label"].startswith("f") else "processor"}
        frames, counted = wanted.pop("frames"), ours.pop("frames")
        assert ours == {key: wanted[key] for key in ours}
        assert len(counted) == len(frames) > 1, ours["text"]
        for mine, one in zip(counted, frames, strict=True):
            for key, value in one.items():
                number = isinstance(value, float)
                assert mine[key] == (pytest.approx(value, rel=1e-12) if number else value), (ours["text"], key)
    for ours in told["asserts"]:
        _, (held,) = evaluate(Query((), (asked.pop(ours["label"]),)), found)
        assert (ours["holds"], ours["broken"]) == (held.holds, held.as_json()["broken"])
    assert not asked


def test_a_run_with_a_query_ends_when_its_blocks_do(tmp_path: Path) -> None:
    path = project(tmp_path, "query: q.tt", level="-O2")
    (tmp_path / "q.tt").write_text("measure rate at b\nmeasure util at b\nmeasure mean occupancy at a\n")
    outcome, made = Built(path).run(8, tmp_path)
    found, told = events(made), answers_of(made)
    assert 0 <= outcome.time_ps - found.end_ps < 2_000_000, "nothing is waited for that only the agent does"
    true, _ = evaluate(read_query((tmp_path / "q.tt").read_text(), found.topology), found)
    for ours, theirs in zip(told["measures"], true, strict=True):
        assert ours["frames"][0]["value"] == pytest.approx(theirs.frames[0].value, rel=0.01), ours["text"]


def answers_of(tables: Mapping[str, Table]) -> dict[str, Any]:
    """What the agents counted, as the command prints it."""
    found = kept_answers(tables, "")
    assert found
    return found.as_json()


def check_a_clock_that_is_off(exact: Mapping[str, Table], outcome: Outcome, made: Mapping[str, Table]) -> None:
    """What the agent counts is exact in cycles; when that was on the host's clock, it knows as surely as it says."""
    hz, pushes_ps = faster_hz(100e6, -10_000), events(made).edges["App.m"].push_ps
    told, of_exact = answers_of(made), answers_of(exact)
    assert 0 < exact["virtual_time"]["uncertainty_ps"].max() < 20_000_000, "a board would know so much; this is exact"
    ((_, frames),) = frames_of_table(made["virtual_time"]).items()
    assert sum(frame.messages for frame in frames) >= 4
    for cycle in np.linspace(0, outcome.cycles, 100).astype(int).tolist():
        frame = frame_of(frames, cycle)
        off_ps = abs(frame.at(cycle) - cycle_start_ps(cycle, hz, 100))
        assert off_ps <= frame.uncertainty_ps + 10_200, "within a cycle"
        assert 16_000_000 < frame.uncertainty_ps < 20_000_000, "half of the 32 us that a look takes, and its waits not"
    assert not list(clock_problems("clk", frames, 100e6)), "1 % of 1.4 ms is less than a look takes: it proves nothing"
    for one, steady in zip(told["measures"], of_exact["measures"], strict=True):
        assert all((frame["uncertainty_ps"] > 0) == (one["agent"] == "FPGA") for frame in one["frames"])
        if one["agent"] == "FPGA" and "when" not in one["text"]:
            assert len({sum(frame["count"] for frame in of["frames"]) for of in (one, steady)}) == 1
    (rate,) = (one for one in told["measures"] if one["label"] == "fr")
    for number, frame in enumerate(rate["frames"][:-1]):
        begin_ps, end_ps = (cycle_start_ps(50_000 * (number + n), hz, 100) for n in (0, 1))  # 500 us, to the FPGA
        assert frame["count"] == ((pushes_ps > begin_ps) & (pushes_ps <= end_ps)).sum()
        for edge, time_ps in (("start_s", begin_ps), ("end_s", end_ps)):
            assert abs(frame[edge] * PS_PER_S - time_ps) <= frame["uncertainty_ps"] + 10_200


@pytest.mark.parametrize(
    ("does", "said", "signal"),
    [
        ('throw std::runtime_error("100 is too many")', "100 is too many", "SIGABRT"),
        ("*(volatile int*)8 = 1", "it reached for memory that is not its (SIGSEGV)", "SIGSEGV"),
    ],
)
def test_a_block_that_ends_the_application_is_named(does: str, said: str, signal: str, tmp_path: Path) -> None:
    path = project(tmp_path)
    blocks = tmp_path / "blocks.hpp"
    before = "if (!y.push(value * factor)) return;"
    assert before in blocks.read_text()
    ending = f"{{ if (value == 100) {does}; {before} }}"
    blocks.write_text("#include <stdexcept>\n" + blocks.read_text().replace(before, ending))
    workspace = open_workspace(path, load_plugins())
    run = run_workspace(workspace, RunOptions(out=tmp_path / "run", trace=True, deterministic=True), Job())
    assert run.manifest.status is RunStatus.FAILED
    named, crashed = (one for one in run.manifest.diagnostics if one.severity == "error")
    assert named.message == f"block App.scale ended the application: {said}"
    assert (named.file, named.line) == (str(tmp_path / "scale.x"), 6)
    assert signal in crashed.message
    assert not [one for one in run.manifest.diagnostics if "a signal comes" in one.message], (
        "the run-time's own is not told"
    )
    assert len(events(run.tables).edges["App.b"].push_ps) == 100

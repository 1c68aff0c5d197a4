"""The loop on the tiny project agrees with sums by hand, with the program's own answer, and with itself."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from unfolding import unfold

from workbench.analysis.recording import recording_words
from workbench.analysis.report import report_json
from workbench.api.job import Job, JobEvent
from workbench.cli.main import main
from workbench.model.diagnostic import Severity
from workbench.model.run import PS_PER_S, Run
from workbench.session.keep.results import open_result
from workbench.session.make.pipeline import RunOptions, run_workspace, steps
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins
from workbench.system.confine import missing_tools

TINY = Path(__file__).parent / "data" / "tiny"
ROUNDS, WORDS, DELAY = 3, 16, 4


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = shutil.copytree(TINY, tmp_path_factory.mktemp("project") / "tiny")
    return open_workspace(folder / "tiny.workbench.yaml", load_plugins())


def made(workspace: Workspace, name: str, **options: object) -> Run:
    return run_workspace(workspace, RunOptions(out=workspace.root / "runs" / name, **options), Job())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def run(workspace: Workspace) -> Run:
    return made(workspace, "deterministic", deterministic=True, trace=True)


def state_cycles(run: Run, block_id: str) -> dict[str, int]:
    number = next(i for i, block in enumerate(run.manifest.blocks) if block.id == block_id)
    table = run.tables["state_time"]
    mine = table["block"] == number
    states = run.manifest.blocks[number].states
    return {states[s].name: int(c) for s, c in zip(table["state"][mine], table["cycles"][mine], strict=True)}


def test_the_users_files_stay_as_they_are(workspace: Workspace, run: Run) -> None:
    for path in TINY.rglob("*"):
        if path.is_file():
            assert (workspace.root / path.relative_to(TINY)).read_bytes() == path.read_bytes()


def test_instrumented_and_plain_programs_say_the_same(workspace: Workspace, run: Run) -> None:
    answer = f"{sum(range(ROUNDS * WORDS))}\n".encode()
    plain = made(workspace, "plain", plain=True, deterministic=True)
    assert run.manifest.stdout_sha256 == plain.manifest.stdout_sha256 == hashlib.sha256(answer).hexdigest()
    assert run.manifest.time_ps == plain.manifest.time_ps  # recording costs nothing on a counted clock


def test_the_hardwares_states_are_those_counted_by_hand(run: Run) -> None:
    adder = state_cycles(run, "tiny_top.adder")
    words = ROUNDS * WORDS
    assert adder["fetch"] == words
    assert adder["add"] == words * DELAY
    assert adder["unclassified"] == 0
    assert adder["fetch"] + adder["add"] + adder["idle"] == run.manifest.cycles
    port = state_cycles(run, "tiny_top.port")
    assert port["take"] == words
    assert port["tell"] == ROUNDS + 1
    assert sum(port.values()) == run.manifest.cycles


def test_every_cycle_of_every_block_is_in_a_state_and_transitions_balance(run: Run) -> None:
    times, moves = run.tables["state_time"], run.tables["transitions"]
    for number, block in enumerate(run.manifest.blocks):
        mine = times["block"] == number
        assert times["time_ps"][mine].sum() == run.manifest.time_ps
        if not block.id.startswith("host."):
            assert times["cycles"][mine].sum() == run.manifest.cycles
        here = moves["block"] == number
        for state in range(len(block.states)):
            into = moves["count"][here & (moves["to_state"] == state)].sum()
            out = moves["count"][here & (moves["from_state"] == state)].sum()
            visits = times["visits"][mine & (times["state"] == state)].sum()
            assert abs(int(into) - int(out)) <= 1
            assert visits - max(into, out) in (0, 1)


def test_the_trace_and_the_counters_tell_the_same(run: Run) -> None:
    offsets, intervals = run.tables["interval_offsets"]["offset"], run.tables["intervals"]
    for number, block in enumerate(run.manifest.blocks):
        starts = intervals["start_ps"][offsets[number] : offsets[number + 1]]
        states = intervals["state"][offsets[number] : offsets[number + 1]]
        spent = np.zeros(len(block.states), dtype=np.int64)
        np.add.at(spent, states, np.diff(np.concatenate((starts, [run.manifest.time_ps]))))
        table = run.tables["state_time"]
        mine = table["block"] == number
        assert dict(zip(table["state"][mine], table["time_ps"][mine], strict=True)) == {
            state: int(ps) for state, ps in enumerate(spent)
        }


def test_the_hardware_is_observed_until_the_host_program_ends(workspace: Workspace, run: Run) -> None:
    period_ps = PS_PER_S // int(run.manifest.clock_hz)
    assert run.manifest.cycles == run.manifest.time_ps // period_ps
    main_c = workspace.root / "host" / "main.c"
    before = main_c.read_text()
    late = "fpgaClose(fpga);\n    for (volatile int i = 0; i < 50000; i++);"
    try:
        main_c.write_text(before.replace("fpgaClose(fpga);", late))
        longer = made(workspace, "works on after its close", deterministic=True)
    finally:
        main_c.write_text(before)
    assert longer.manifest.time_ps > run.manifest.time_ps + 50_000 * 2000
    assert longer.manifest.cycles == longer.manifest.time_ps // period_ps
    idle = state_cycles(longer, "tiny_top.adder")["idle"] - state_cycles(run, "tiny_top.adder")["idle"]
    assert idle == longer.manifest.cycles - run.manifest.cycles


def test_dwell_histograms_hold_every_cycle(run: Run) -> None:
    dwell, times = run.tables["dwell"], run.tables["state_time"]
    for number, block in enumerate(run.manifest.blocks):
        if not block.id.startswith("host."):
            for state in range(len(block.states)):
                told = dwell["cycles"][(dwell["block"] == number) & (dwell["state"] == state)].sum()
                assert told == times["cycles"][(times["block"] == number) & (times["state"] == state)].sum()


def test_two_deterministic_runs_are_identical_bit_for_bit(workspace: Workspace, run: Run) -> None:
    again = made(workspace, "again", deterministic=True, trace=True)
    assert again.manifest.time_ps == run.manifest.time_ps
    assert set(again.tables) == set(run.tables)
    for name, table in run.tables.items():
        for column in table:
            np.testing.assert_array_equal(again.tables[name][column], table[column], err_msg=f"{name}.{column}")


def test_what_a_host_writes_is_in_the_run_folder_and_the_run_says_so(workspace: Workspace, run: Run) -> None:
    assert run.manifest.confined == ("CI" in os.environ or not missing_tools())
    if not run.manifest.confined:
        pytest.skip("this system confines nothing")
    host = workspace.root / "host" / "main.c"
    source = host.read_text()
    host.write_text(source.replace("    fpgaClose", '    fclose(fopen("result.txt", "w"));\n    fpgaClose'))
    try:
        wrote = made(workspace, "wrote", deterministic=True)
    finally:
        host.write_text(source)
    assert wrote.manifest.status.value == "complete"
    assert wrote.path is not None
    assert (wrote.path / "files" / "result.txt").is_file()
    assert not (workspace.root / "result.txt").exists()
    (note,) = [d for d in wrote.manifest.diagnostics if d.severity is Severity.NOTE]
    assert "result.txt" in note.message


def test_the_hosts_order_of_calls_is_kept_as_a_loop(run: Run) -> None:
    calls = run.tables["calls"]
    order = list(unfold(run.tables["call_order"]))
    assert order == list(zip(calls["site"].tolist(), calls["state"].tolist(), strict=True))
    assert run.tables["call_order"]["repeat"].max() == ROUNDS
    assert run.tables["call_order"]["host_ps"].sum() == calls["host_ps"].sum()


def test_the_run_tells_its_cores_and_the_threads_time_on_them(run: Run) -> None:
    manifest = run.manifest
    assert (manifest.cores.count, manifest.cores.slice_ps) == (4, 4_000_000_000)
    (main,) = manifest.threads
    assert (main.begin_ps, main.waited_ps, main.queued_ps) == (0, 0, 0)
    assert 0 < main.work_ps <= sum(main.core_ps) <= main.end_ps <= manifest.time_ps


def test_a_message_keeps_both_ends_stamps(run: Run) -> None:
    calls = run.tables["calls"]
    writes = [i for i, site in enumerate(run.manifest.sites) if site.callee == "fpgaWrite"]
    mine = np.isin(calls["site"], writes)
    assert mine.sum() == ROUNDS
    assert (calls["t0_ps"][mine] <= calls["port_first_ps"][mine]).all()
    assert (calls["port_first_ps"][mine] < calls["port_last_ps"][mine]).all()
    assert (calls["port_last_ps"][mine] <= calls["t1_ps"][mine]).all()
    assert {run.manifest.messages[m] for m in calls["message"][mine]} == {"w1"}
    assert {run.manifest.resources[r] for r in calls["resource"][mine]} == {"PCI-X bus"}


def test_a_call_keeps_what_it_read_and_the_cards_own_times(run: Run) -> None:
    calls, states = run.tables["calls"], run.manifest.blocks[0].states
    names = np.array([states[state].name for state in calls["state"]])
    assert calls["value"][names == "poll"].tolist() == [1] * ROUNDS
    assert calls["value"][names == "get"].tolist() == [sum(range(ROUNDS * WORDS))]
    reads, moves = np.isin(names, ["poll", "get"]), np.isin(names, ["poll", "get", "put"])
    assert calls["value_bytes"].tolist() == np.where(reads, 4, 0).tolist()
    assert calls["parts"].tolist() == (calls["card"] + 1).tolist() == moves.astype(int).tolist()
    assert (calls["call_ps"][~moves] == -1).all()
    assert (calls["t0_ps"] <= calls["call_ps"])[moves].all()
    assert (calls["end_ps"] <= calls["t1_ps"])[moves].all()
    assert (calls["end_ps"] - calls["call_ps"])[moves].min() > 0


def test_a_setting_reaches_host_and_hardware(workspace: Workspace) -> None:
    run = made(workspace, "settings", deterministic=True, settings={"DELAY": 9, "ROUNDS": 2})
    assert state_cycles(run, "tiny_top.adder")["add"] == 2 * WORDS * 9
    assert run.manifest.settings == {"DELAY": 9, "ROUNDS": 2}


def test_the_job_tells_its_steps(workspace: Workspace) -> None:
    events: list[JobEvent] = []
    measured = run_workspace(workspace, RunOptions(out=workspace.root / "runs" / "watched"), Job(events.append))
    assert measured.manifest.overhead["taken_off_pct"] > 0
    assert "subtracted, call by call" in recording_words(measured.manifest)
    assert next(e for e in events if e.kind == "plan").text == "\n".join(steps(workspace.target()))
    assert [e.text for e in events if e.kind == "step_done"] == list(steps(workspace.target()))


def test_the_report_says_what_the_tables_hold(run: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run.path is not None
    html, svg = tmp_path / "report.html", tmp_path / "graph.svg"
    assert main(["report", str(run.path), "--predict", "0", "--json", "--html", str(html), "--svg", str(svg)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document.pop("virtual_time") == []
    assert document == json.loads(json.dumps(report_json(run.manifest, open_result(run.path, load_plugins()).analysis)))
    adder = next(b for b in document["blocks"] if b["id"] == "tiny_top.adder")
    assert adder["cycles"] == run.manifest.cycles
    assert sum(s["cycles"] for s in adder["states"]) == adder["cycles"]
    for finding in document["findings"]:
        assert finding["speedup_ideal"] >= 1.05
        assert finding["speedup_cap"] >= 1.0
        assert finding["suggestions"]
    assert "simulated" in html.read_text()
    assert svg.read_text().startswith("<svg")


def test_scan_lists_calls_blocks_and_pragmas(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    document = document_of(capsys, ["scan", str(workspace.path), "--json"])
    assert [call["pragma"] for call in document["calls"]] == [None, "put", "poll", "get", None]
    assert {call["file"] for call in document["calls"]} == {"host/main.c"}
    assert [block["id"] for block in document["blocks"]] == ["tiny_top.port", "tiny_top.adder"]
    assert {block["clock"] for block in document["blocks"]} == {"clk"}


def test_a_run_can_go_to_a_relative_path(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    header = workspace.root / "host" / "mine.h"
    header.write_text("enum { ROUND_LIMIT = 99 };\n")
    main_c = workspace.root / "host" / "main.c"
    before = main_c.read_bytes()
    monkeypatch.chdir(tmp_path)
    try:
        main_c.write_bytes(b'#include "mine.h"\n' + before)
        assert main(["run", str(workspace.path), "--out", "here", "--deterministic", "--json"]) == 0
    finally:
        main_c.write_bytes(before)
        header.unlink()
    assert json.loads(capsys.readouterr().out)["run"] == str(tmp_path / "here")


def test_instrument_only_writes_where_it_is_told(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = document_of(capsys, ["instrument", str(workspace.path), "--out", str(tmp_path / "out"), "--json"])
    assert document["sites"] == 5
    assert document["missed"] == []
    assert document["blocks"] == 2
    assert document["states"] == 3 + 4
    assert document["read_out"] == {"first": 0x400, "last": 0x40F}
    assert any((tmp_path / "out").rglob("tiny_top.v"))


MANY = 260


def test_a_block_of_more_states_than_a_byte_tells_is_counted_and_traced(tmp_path: Path) -> None:
    """Each word takes its block through every state once, a cycle each; the first one is where it waits."""
    folder = shutil.copytree(TINY, tmp_path / "tiny")
    step = "        9'd{0}: begin\n            //pragma recap step{0} work()\n            at <= {1};\n        end\n"
    steps_ = "".join(step.format(n, n + 1) for n in range(1, MANY - 1))
    (folder / "hdl" / "tiny_top.v").write_text(f"""module tiny_top #(parameter DELAY = 4) (
    input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data
);
    reg [8:0] at;
    reg [31:0] sum, taken, done;
    always @(posedge clk) begin : port
        if (rst) begin
            sum <= 0;
            taken <= 0;
        end else if (wr_en && addr < 32'h100) begin
            sum <= sum + wr_data;
            taken <= taken + 1;
        end else if (rd_en)
            rd_data <= (addr == 32'h100) ? {{31'b0, taken == done}} : sum;
    end
    always @(posedge clk) begin : adder
        if (rst) begin
            at <= 0;
            done <= 0;
        end else case (at)
        9'd0: begin
            //pragma recap idle wait_recv(buffer_empty, tiny_top.port, w1)
            if (taken != done) at <= 1;
        end
{steps_}        default: begin
            //pragma recap last work()
            done <= done + 1;
            at <= 0;
        end
        endcase
    end
endmodule
""")
    run = made(open_workspace(folder / "tiny.workbench.yaml", load_plugins()), "many", deterministic=True, trace=True)
    assert run.manifest.stdout_sha256 == hashlib.sha256(f"{sum(range(ROUNDS * WORDS))}\n".encode()).hexdigest()
    cycles = state_cycles(run, "tiny_top.adder")
    assert len(cycles) == MANY + 1
    each = {f"step{n}" for n in range(1, MANY - 1)} | {"last"}
    assert {cycles[name] for name in each} == {ROUNDS * WORDS}
    assert run.tables["intervals"]["state"].dtype == np.uint16
    test_every_cycle_of_every_block_is_in_a_state_and_transitions_balance(run)
    test_the_trace_and_the_counters_tell_the_same(run)

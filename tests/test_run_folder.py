"""Run folders keep what they are given, and open whatever state an accident left them in."""

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import refusal
from unfolding import unfold

from workbench.formats.manifest import manifest_text, read_manifest
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import Run, RunStatus
from workbench.model.run_tables import TABLES
from workbench.testing.runs import synthetic_run
from workbench.traces.writer import TraceWriter


@pytest.fixture(scope="module")
def made() -> Run:
    return synthetic_run(cores=3, rounds=2)


@pytest.fixture
def folder(tmp_path: Path, made: Run) -> Path:
    writer = RunWriter(tmp_path / "run-1")
    writer.finish(made.manifest, made.tables)
    return writer.path


def test_what_is_written_is_what_opens(folder: Path, made: Run) -> None:
    run, problems = open_run(folder)
    assert problems == ()
    assert run.manifest == made.manifest
    assert set(run.tables) == set(TABLES)
    for name, table in made.tables.items():
        for column, values in table.items():
            assert np.array_equal(run.tables[name][column], values)
            assert not run.tables[name][column].flags.writeable
    assert sorted(entry.name for entry in folder.iterdir()) == ["checksums.json", "manifest.json", "tables"]


def test_only_large_columns_are_mapped_so_that_many_runs_can_be_open(tmp_path: Path, made: Run) -> None:
    writer = RunWriter(tmp_path / "large")
    writer.finish(made.manifest, {**made.tables, "of_a_plugin": {"large": np.arange(1 << 16)}})
    before = len(os.listdir("/proc/self/fd"))
    run, problems = open_run(writer.path)
    assert problems == ()
    assert len(os.listdir("/proc/self/fd")) == before + 1
    mapped = {name for table in run.tables.values() for name, column in table.items() if isinstance(column, np.memmap)}
    assert mapped == {"large"}


def test_diagnostics_and_settings_survive(tmp_path: Path, made: Run) -> None:
    manifest = replace(
        made.manifest,
        diagnostics=(Diagnostic("odd", "fix", file="a.v", line=3),),
        settings={"CORES": 4, "GAIN": 0.5, "NAME": "x"},
        overhead={"host_pct": float("nan")},
    )
    again = read_manifest(manifest_text(manifest), "manifest.json")
    assert again.diagnostics == manifest.diagnostics
    assert again.settings == manifest.settings
    assert np.isnan(again.overhead["host_pct"])


def test_an_empty_table_is_a_table(tmp_path: Path, made: Run) -> None:
    empty = {column: np.zeros(0, dtype=kind) for column, kind in TABLES["calls"].items()}
    run = RunWriter(tmp_path / "r").finish(made.manifest, {"calls": empty})
    assert len(run.tables["calls"]["site"]) == 0


def test_a_killed_run_opens_and_says_so(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run-2")
    (writer.raw / "host_calls.bin").write_bytes(b"half a rec")
    run, problems = open_run(writer.path)
    assert run.manifest.status is RunStatus.RUNNING
    assert not run.complete
    assert "incomplete" in problems[0].message
    assert run.tables == {}


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELLED])
def test_a_marked_run_says_why(tmp_path: Path, status: RunStatus) -> None:
    writer = RunWriter(tmp_path / "run-3")
    writer.mark(status, "the host crashed with signal 11")
    run, problems = open_run(writer.path)
    assert run.manifest.status is status
    assert "signal 11" in problems[0].message


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _wrong_kind(path: Path) -> None:
    np.save(path, np.zeros(3, dtype="f4"))


def _longer(path: Path) -> None:
    values = np.load(path)
    np.save(path, np.concatenate((values, values[:1])))


def _outside(path: Path) -> None:
    values = np.load(path)
    values[0] = 10_000
    np.save(path, values)


def _one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [Path.unlink, _cut, _empty, _wrong_kind, _longer, _outside, _one_bit])
def test_a_damaged_column_leaves_out_its_table_and_nothing_else(folder: Path, damage: object) -> None:
    damage(folder / "tables" / "call_stats" / "state.npy")  # type: ignore[operator]
    run, problems = open_run(folder)
    assert "call_stats" not in run.tables
    assert set(run.tables) == set(TABLES) - {"call_stats"}
    assert len(problems) == 1
    assert "call_stats" in problems[0].message
    assert problems[0].file == str(folder / "tables" / "call_stats")


def test_a_table_that_a_plugin_adds_is_kept(tmp_path: Path, made: Run) -> None:
    streams = {
        "edge": np.arange(3, dtype="u2"),
        "share": np.array([0.5, 0.25, 0.0]),
        "full": np.array([True, False, True]),
    }
    writer = RunWriter(tmp_path / "run")
    writer.finish(made.manifest, {**made.tables, "of_a_plugin": streams})
    run, problems = open_run(writer.path)
    assert problems == ()
    assert {name: (column.tolist(), column.dtype) for name, column in run.tables["of_a_plugin"].items()} == {
        name: (column.tolist(), column.dtype) for name, column in streams.items()
    }
    _one_bit(writer.path / "tables" / "of_a_plugin" / "share.npy")
    run, (problem,) = open_run(writer.path)
    assert "of_a_plugin" not in run.tables
    assert "share.npy changed after it was written" in problem.message


def test_an_earlier_run_s_call_order_is_of_all_threads_together(tmp_path: Path, made: Run) -> None:
    writer = RunWriter(tmp_path / "run")
    writer.finish(made.manifest, made.tables)
    (writer.path / "checksums.json").unlink()
    (writer.path / "tables" / "call_order" / "block.npy").unlink()
    run, problems = open_run(writer.path)
    assert problems == ()
    assert set(run.tables["call_order"]["block"]) == {-1}
    assert list(unfold(run.tables["call_order"])) == list(unfold(made.tables["call_order"]))


def test_an_earlier_run_s_calls_have_none_of_the_later_columns(tmp_path: Path, made: Run) -> None:
    writer = RunWriter(tmp_path / "run")
    writer.finish(made.manifest, made.tables)
    (writer.path / "tables" / "calls" / "value.npy").unlink()
    assert "calls" not in open_run(writer.path)[0].tables, "a column that was there is gone"
    (writer.path / "checksums.json").unlink()
    run, problems = open_run(writer.path)
    assert problems == ()
    assert not run.tables["calls"]["value"].any()


def test_states_beyond_a_byte_are_kept(tmp_path: Path, made: Run) -> None:
    """A block of 300 states and one of 70,000: each trace is as wide as it needs to be."""
    block = made.manifest.blocks[0]
    for count, kind in ((256, "u1"), (300, "u2"), (70_000, "u4")):
        writer = RunWriter(tmp_path / str(count))
        trace = TraceWriter(writer.part, count)
        last = np.array([0, count - 1])
        trace.append(np.array([0, 5]), last, np.array([2]))
        tables = trace.close(1)
        if count == 300:  # 70,000 would take seconds to write down
            states = tuple(replace(block.states[0], index=n) for n in range(count))
            manifest = replace(made.manifest, blocks=(replace(block, states=states),), sites=())
            tables = writer.finish(manifest, tables).tables
        assert tables["intervals"]["state"].dtype.str[1:] == kind
        assert tables["intervals"]["state"].tolist() == last.tolist()


def test_a_state_that_no_block_has_is_told_in_any_chunk(folder: Path, made: Run) -> None:
    offsets = folder / "tables" / "interval_offsets" / "offset.npy"
    once = np.load(offsets)
    (folder / "checksums.json").unlink()
    np.save(offsets, np.concatenate((once, np.full(len(made.manifest.blocks), once[-1]))))
    assert "intervals" in open_run(folder)[0].tables  # a second chunk, empty
    _with(folder / "tables" / "intervals" / "state.npy", 200)
    run, (problem,) = open_run(folder)
    assert "intervals" not in run.tables
    assert "is in a state that it does not have" in problem.message
    np.save(offsets, np.concatenate((once, once[-1:])))
    assert "do not fit" in open_run(folder)[1][0].message


@pytest.mark.parametrize("value", [-1, 1 << 60, 0])
def test_a_trace_whose_times_are_not_in_order_is_left_out(folder: Path, value: int) -> None:
    (folder / "checksums.json").unlink()
    assert "intervals" in open_run(folder)[0].tables
    _with(folder / "tables" / "intervals" / "start_ps.npy", value)
    run, (problem,) = open_run(folder)
    assert "intervals" not in run.tables
    assert "not in order" in problem.message


def test_chunks_of_a_trace_are_in_order_too(tmp_path: Path, made: Run) -> None:
    manifest = replace(made.manifest, blocks=made.manifest.blocks[:1], time_ps=100)
    for second in (10, 9):
        writer = RunWriter(tmp_path / f"from-{second}")
        trace = TraceWriter(writer.part, 2)
        for start in ([0, 10], [second, 50]):
            trace.append(np.array(start), np.array([0, 1]), np.array([2]))
        writer.finish(manifest, trace.close(1))
        (writer.path / "checksums.json").unlink()
        assert ("intervals" in open_run(writer.path)[0].tables) == (second == 10)


def test_a_manifest_that_is_not_as_it_was_written_is_told(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"time_ps": ', '"time_ps": 9', 1))
    _, problems = open_run(folder)
    assert "was changed, damaged or removed" in problems[0].message
    assert problems[0].file == str(manifest)


def test_a_table_that_was_removed_is_told(folder: Path) -> None:
    shutil.rmtree(folder / "tables" / "calls")
    run, problems = open_run(folder)
    assert "calls" not in run.tables
    assert [problem.file for problem in problems] == [str(folder / "tables" / "calls")]


def test_a_run_of_an_earlier_version_has_no_checksums_and_opens(folder: Path) -> None:
    (folder / "checksums.json").unlink()
    _one_bit(folder / "tables" / "dwell" / "cycles.npy")
    assert open_run(folder)[1] == ()


def test_a_finished_run_that_is_marked_later_is_not_damaged(tmp_path: Path, made: Run) -> None:
    writer = RunWriter(tmp_path / "run")
    writer.finish(made.manifest, made.tables)
    writer.mark(RunStatus.FAILED, "found out later")
    assert [problem.message for problem in open_run(writer.path)[1]] == ["this run failed: found out later"]


def test_a_trace_whose_offsets_do_not_fit_is_left_out(folder: Path) -> None:
    offsets = folder / "tables" / "interval_offsets" / "offset.npy"
    np.save(offsets, np.load(offsets) + 1)
    run, problems = open_run(folder)
    assert "intervals" not in run.tables
    assert "offsets" in problems[0].message


def test_a_run_of_version_1_has_one_clock_which_all_its_hardware_blocks_are_on(folder: Path) -> None:
    before, _ = open_run(folder)
    document = json.loads((folder / "manifest.json").read_text())
    (clock,) = document.pop("clocks")
    document |= {"schema_version": 1, "clock_hz": clock["frequency_hz"], "cycles": clock["cycles"]}
    for block in document["blocks"]:
        block["clock_hz"] = clock["frequency_hz"] if block["clock"] else None
        block["clock"] = block["clock"] and ("clk" if block is document["blocks"][1] else "clk_of_a_module")
    (folder / "manifest.json").write_text(json.dumps(document))
    (folder / "checksums.json").unlink()
    run, problems = open_run(folder)
    assert not problems
    assert run.manifest == before.manifest


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "x"}', '{"schema_version": 1}', '{"schema_version": 99}',
                                  '{"schema_version": 1, "name": "x", "status": "odd", "created": ""}'])  # fmt: skip
def test_a_manifest_that_is_none_is_refused_with_a_reason(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(WorkbenchError) as caught:
        open_run(tmp_path)
    assert caught.value.diagnostics[0].file == str(tmp_path / "manifest.json")


def test_what_is_no_run_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(WorkbenchError, match="not a run folder"):
            open_run(path)


def test_older_manifests_are_brought_up_step_by_step(made: Run) -> None:
    document = json.loads(manifest_text(made.manifest))
    document["schema_version"] = -1
    document["title"] = document.pop("name")
    steps = {-1: lambda d: {**d, "called": d["title"]}, 0: lambda d: {**d, "name": d["called"]}, 1: lambda d: d}
    assert read_manifest(json.dumps(document), "m", steps) == made.manifest
    with pytest.raises(WorkbenchError, match="version 0"):
        read_manifest(json.dumps(document), "m", {-1: steps[-1]})


def test_a_folder_that_holds_something_is_left_alone(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with pytest.raises(WorkbenchError, match="not empty"):
        RunWriter(folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_the_folder_of_a_run_that_never_began_is_taken_again(tmp_path: Path, made: Run) -> None:
    """A source that did not compile, or a full disk: the same command goes on once that is repaired."""
    first = RunWriter(tmp_path / "run")
    with pytest.raises(WorkbenchError, match="not empty"):
        RunWriter(tmp_path / "run")  # it goes on
    (first.path / "build").mkdir()
    first.mark(RunStatus.FAILED, "it does not compile")
    second = RunWriter(tmp_path / "run")
    assert not (second.path / "build").exists()
    (second.raw / "calls.bin").write_bytes(b"a record")
    second.mark(RunStatus.FAILED, "it crashed")
    with pytest.raises(WorkbenchError, match="not empty"):
        RunWriter(tmp_path / "run")


def test_a_full_disk_loses_nothing(tmp_path: Path, made: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = RunWriter(tmp_path / "run-4")
    (writer.raw / "host_calls.bin").write_bytes(b"records")
    saved = np.save

    def full(path: Path, *rest: object, **named: object) -> None:
        if "visits" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        saved(path, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(WorkbenchError, match="disk is full"):
        writer.finish(made.manifest, made.tables)
    run, _ = open_run(writer.path)
    assert run.manifest.status is RunStatus.RUNNING
    assert sorted(entry.name for entry in writer.path.iterdir()) == ["manifest.json", "raw"]
    assert (writer.raw / "host_calls.bin").read_bytes() == b"records"


def test_a_place_where_nothing_can_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(WorkbenchError, match="cannot be written"):
        RunWriter(tmp_path / "file" / "run")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        ('"time_ps": ', '"time_ps": -', "time_ps"),
        ('"time_ps": ', '"time_ps": 99999999999999999999', "time_ps"),
        ('"frequency_hz": ', '"frequency_hz": NaN, "was": ', "clocks.0.frequency_hz"),
        ('"clock": "clk"', '"clock": "other"', "blocks.1.clock"),
        ('"states": [', '"states": [], "was": [', "blocks.0.states"),
        ('"index": 1', '"index": 7', "blocks.0.states.1"),
        ('"block": 0', '"block": 77', "sites.0.block"),
        ('"block": 0', '"block": -1', "sites.0.block"),
        ('"project": ', '"project": ' + "[" * 100_000, "recursion limit"),
        ('"name": "', '"name": "\\ud800', "not JSON"),
    ],
)
def test_a_manifest_that_cannot_be_is_refused(folder: Path, before: str, after: str, where: str) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace(before, after, 1))
    problem = refusal(open_run, folder)
    assert where in problem.message
    assert problem.file == str(manifest)


@pytest.mark.parametrize(
    "header",
    [b"{", b"", b"{'descr': '<i8'}", b"{'descr': '|O8', 'fortran_order': False, 'shape': (9,), }\n",
     b"{'descr': '<i8', 'fortran_order': False, 'shape': (999999999999999999,), }\n", b"(" * 60_000,
     b"{'descr': '<i8', 'fortran_order': False, 'shape': (2,3), }\n", b"{'descr': [('a', '<i8')]}"],
)  # fmt: skip
def test_a_header_that_is_none(folder: Path, header: bytes) -> None:
    column = folder / "tables" / "calls" / "t0_ps.npy"
    column.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
    run, (problem,) = open_run(folder)
    assert set(run.tables) == set(TABLES) - {"calls"}
    assert "t0_ps.npy" in problem.message


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("state_time", "time_ps", -1), ("state_time", "visits", -5), ("transitions", "count", -1), ("dwell", "cycles", -1),
     ("dwell", "log2_cycles", 64), ("call_stats", "bytes", -1), ("calls", "t1_ps", 1 << 60), ("call_order", "body", 99),
     ("call_order", "state", 200), ("intervals", "state", 255)],
)  # fmt: skip
def test_an_amount_that_cannot_be_leaves_its_table_out(folder: Path, table: str, column: str, value: int) -> None:
    (folder / "checksums.json").unlink()
    _with(folder / "tables" / table / f"{column}.npy", value)
    run, (problem,) = open_run(folder)
    assert set(run.tables) == set(TABLES) - {table}
    assert problem.file == str(folder / "tables" / table)


def _with(path: Path, value: int) -> None:
    values = np.load(path)
    values[len(values) // 2] = value
    np.save(path, values)


def test_what_is_no_file_is_not_waited_for(folder: Path) -> None:
    column = folder / "tables" / "calls" / "t0_ps.npy"
    column.unlink()
    os.mkfifo(column)
    checksums = json.loads((folder / "checksums.json").read_text())
    (folder / "checksums.json").write_text(json.dumps({**checksums, "/dev/zero": "00", "../../../dev/zero": "00"}))
    run, (problem,) = open_run(folder)
    assert "calls" not in run.tables
    assert "not a regular file" in problem.message
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    with pytest.raises(WorkbenchError, match="not a regular file"):
        open_run(folder)

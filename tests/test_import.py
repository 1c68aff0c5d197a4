"""Other programs' files read as runs: Chrome's trace events, our own exactly, others' as they are meant."""

import errno
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rc_workbench_plugins.exchange.chrome_import import _flat, read_chrome

from workbench.api.job import Job
from workbench.cli.main import main
from workbench.formats import run_folder
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.run import Run
from workbench.session.keep.exchange import import_run
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_run


def imported(folder: Path, document: Any, name: str = "trace.json") -> Run:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return import_run(path, "", folder / "imported", load_plugins(), Job())[0]


def refused(folder: Path, document: Any, name: str = "trace.json") -> Diagnostic:
    with pytest.raises(WorkbenchError) as told:
        imported(folder, document, name)
    assert not (folder / "imported").exists()
    return told.value.diagnostics[0]


def intervals(run: Run, number: int) -> list[tuple[int, str]]:
    """When each interval of a block begins, and its state's name."""
    span = slice(*run.tables["interval_offsets"]["offset"][number : number + 2].tolist())
    starts, codes = (run.tables["intervals"][name][span].tolist() for name in ("start_ps", "state"))
    return [(start, run.manifest.blocks[number].states[code].name) for start, code in zip(starts, codes, strict=True)]


def spent(run: Run) -> dict[tuple[str, str], int]:
    """Picoseconds by block and state, of those that take any."""
    columns = (run.tables["state_time"][name].tolist() for name in ("block", "state", "time_ps"))
    blocks = run.manifest.blocks
    return {(blocks[b].id, blocks[b].states[s].name): t for b, s, t in zip(*columns, strict=True) if t}


def test_an_export_comes_back_with_every_interval_to_the_picosecond(tmp_path: Path) -> None:
    made = synthetic_run(cores=3, rounds=3)
    RunWriter(tmp_path / "run", made.manifest).finish(made.manifest, made.tables)
    trace = tmp_path / "trace.json"
    assert main(["export", str(tmp_path / "run"), "--format", "chrome", "--out", str(trace)]) == 0
    assert main(["import", str(trace), "--out", str(tmp_path / "back")]) == 0
    back, problems = open_run(tmp_path / "back")
    assert problems == ()
    assert main(["report", str(tmp_path / "back")]) == 0
    assert back.manifest.time_ps == made.manifest.time_ps
    assert [(b.id, b.side) for b in back.manifest.blocks] == [(b.id, b.side) for b in made.manifest.blocks]
    for number in range(len(made.manifest.blocks)):
        assert intervals(back, number) == intervals(made, number)
    assert spent(back) == spent(made)


def test_threads_are_blocks_the_innermost_event_counts_and_gaps_are_unclassified(tmp_path: Path) -> None:
    run = imported(
        tmp_path,
        [
            {"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "server"}},
            {"ph": "X", "pid": 7, "tid": 1, "ts": 100, "dur": 10, "name": "serve", "cat": "work"},
            {"ph": "X", "pid": 7, "tid": 1, "ts": 102, "dur": 3, "name": "read"},
            {"ph": "B", "pid": 7, "tid": 2, "ts": 104.5, "name": "log"},
            {"ph": "E", "pid": 7, "tid": 2, "ts": 106},
            {"ph": "C", "pid": 7, "tid": 1, "ts": 103, "name": "a counter", "args": {"n": 3}},
        ],
    )
    first, second = run.manifest.blocks
    assert (first.id, second.id) == ("server.thread 1", "server.thread 2")
    assert {s.name: s.category for s in first.states} == {"unclassified": None, "serve": "work", "read": None}
    us = 1_000_000
    assert intervals(run, 0) == [(0, "serve"), (2 * us, "read"), (5 * us, "serve")]
    assert intervals(run, 1) == [(0, "unclassified"), (4_500_000, "log"), (6 * us, "unclassified")]
    assert run.manifest.time_ps == 10 * us
    moves = zip(
        *(run.tables["transitions"][c].tolist() for c in ("block", "from_state", "to_state", "count")), strict=True
    )
    assert {(b, first.states[x].name, first.states[y].name): n for b, x, y, n in moves if b == 0} == {
        (0, "serve", "read"): 1, (0, "read", "serve"): 1}  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=12), st.integers(1, 60))
def test_any_events_become_intervals_without_gap_or_overlap(events: list[tuple[int, int]], total: int) -> None:
    stretches = [(start, start + lasts, n + 1) for n, (start, lasts) in enumerate(events)]
    flat = list(_flat(stretches, 0, total))
    begins = [begin for begin, _ in flat]
    assert begins == sorted(set(begins))
    assert begins[0] == 0
    assert begins[-1] < total
    for moment in range(total):
        state = next(code for begin, code in reversed(flat) if begin <= moment)
        going_on = {code: start for start, end, code in stretches if start <= moment < end}
        assert (state == 0) == (not going_on)
        if state in going_on:
            assert going_on[state] == max(going_on.values())


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{", "this is not JSON"),
        ('{"a": 1}', "this is not a trace in Chrome's format"),
        ("[]", "this trace has no events with a duration"),
        ('[{"ph": "X", "ts": "soon", "name": "n"}]', "event 0 ('n') has no readable time"),
        ('[{"ph": "X", "ts": -3, "name": "n"}]', "event 0 ('n') has no readable time"),
        ("[" * 100_000, "this is not JSON"),
        ('[{"ph": "X", "ts": ' + "9" * 5000 + ', "name": "n"}]', "a number in this trace has thousands of digits"),
        ('[{"ph": "X", "ts": ' + "9" * 400 + ', "name": "n"}]', "event 0 ('n') has no readable time"),
        ('[{"ph": "X", "ts": 0, "dur": 4e12, "name": "n"}]', "this trace lasts 4\u202f000\u202f000\u202fs, and a run"),
        ('[{"ph": "X", "ts": 0, "dur": 9223372036854775808, "name": "n"}]', "event 0 ('n') has no readable time"),
    ],
)
def test_what_is_no_trace_is_told_and_leaves_nothing(tmp_path: Path, document: str, said: str) -> None:
    told = refused(tmp_path, document)
    assert told.message.startswith(said)
    assert told.file == str(tmp_path / "trace.json")


def test_a_suffix_that_no_format_has_is_told_with_those_there_are(tmp_path: Path) -> None:
    told = refused(tmp_path, "[]", "trace.unknown")
    assert told.message == "no format has this suffix"
    assert "chrome (.json)" in told.hint


def test_texts_that_are_none_and_threads_of_any_number_are_read(tmp_path: Path) -> None:
    """Half a character of two, in every text; and a thread's number of 5,000 digits."""
    event = r'{"ph": "X", "ts": 1, "dur": 2, "pid": "p\ud800", "tid": "%s", "name": "n\udfff", "cat": "\ud800"}'
    name = r'{"ph": "M", "name": "process_name", "pid": "p\ud800", "args": {"name": "\ud83d"}}'
    events = ", ".join((event.replace("%s", "9" * 5000), name))
    document = f'{{"traceEvents": [{events}], "otherData": {{"run": "r\\ud800"}}}}'
    run = imported(tmp_path, document)
    assert (run.manifest.name, run.manifest.blocks[0].component) == ("r?", "?")
    assert [state.name for state in run.manifest.blocks[0].states] == ["unclassified", "n?"]


@pytest.mark.parametrize("time_ps", [0, 1, True, 2**63, 10**400])
def test_no_event_is_dropped_whatever_the_file_says_of_its_length(tmp_path: Path, time_ps: int) -> None:
    events = [{"ph": "X", "ts": 1, "dur": 2, "name": "n"}, {"ph": "X", "ts": 5, "dur": 1, "name": "m"}]
    run = imported(tmp_path, {"traceEvents": events, "otherData": {"time_ps": time_ps}})
    assert {name: spent for (_, name), spent in spent(run).items()} == {"n": 2e6, "unclassified": 2e6, "m": 1e6}


def test_twenty_thousand_threads_take_no_longer_than_as_many_events(tmp_path: Path) -> None:
    events = [{"ph": "X", "ts": n, "dur": 1, "tid": n, "name": "n"} for n in range(20_000)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    begun_s = time.process_time()
    run = read_chrome(path, Job())
    assert len(run.manifest.blocks) == 20_000
    assert time.process_time() - begun_s < 10


def test_an_import_that_finds_the_disk_full_leaves_nothing_in_the_next_ones_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, out = tmp_path / "trace.json", tmp_path / "run"
    trace.write_text(
        json.dumps({"traceEvents": [{"ph": "X", "pid": 7, "tid": 1, "ts": 1, "dur": 10, "name": "serve"}]})
    )

    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "_write_tables", full)
        assert main(["import", str(trace), "--out", str(out)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert not out.exists()
    assert main(["import", str(trace), "--out", str(out)]) == 0

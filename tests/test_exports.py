"""Runs written for other programs, each read back by a reader that is not ours: pywellen, DuckDB, Perfetto's published
descriptors, otf2-print."""

import builtins
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import pywellen
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
from tools import NEEDS_OTF2

from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.messages import Message, call_messages, rank_messages
from workbench.model.run import Run
from workbench.model.syncs import SyncKind
from workbench.testing.runs import synthetic_run
from workbench.traces.trace import Trace, trace_of

EXPORTS = ("vcd", "fst", "perfetto", "parquet", "otf2")
LIBRARIES = {"fst": "FST", "perfetto": "Perfetto's format", "parquet": "Parquet", "otf2": "OTF2"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = synthetic_run(cores=3, rounds=3)
    folder = tmp_path_factory.mktemp("exports") / "run"
    RunWriter(folder, made.manifest).finish(made.manifest, made.tables)
    return open_run(folder)[0]


@pytest.fixture(scope="module")
def trace(run: Run) -> Trace:
    found = trace_of(run)
    assert found is not None
    return found


def written(run: Run, form: str, out: Path) -> Path:
    assert run.path is not None
    assert main(["export", str(run.path), "--format", form, "--out", str(out)]) == 0
    return out


@pytest.mark.parametrize("form", ["vcd", "fst"])
def test_waveforms_hold_every_state_in_its_picosecond(run: Run, trace: Trace, form: str, tmp_path: Path) -> None:
    waves = pywellen.Waveform(str(written(run, form, tmp_path / f"states.{form}")))
    assert str(waves.timescale) == "1ps"
    signals = {variable.full_name: variable.signal for variable in waves.all_vars()}
    assert set(signals) == {f"{block.id}.state" for block in run.manifest.blocks}
    for number, block in enumerate(run.manifest.blocks):
        signal = signals[f"{block.id}.state"]
        names = {state.index: "_".join(state.name.split()) for state in block.states}
        edges, states = trace.row(number)
        for at, state in zip(edges[:-1].tolist(), states.tolist(), strict=True):
            assert signal.value_at(at) == names[state]
        for at, before in zip(edges[1:-1].tolist(), states[:-1].tolist(), strict=True):
            assert signal.value_at(at - 1) == names[before]


def test_a_parquet_table_has_each_stretch_and_call(run: Run, trace: Trace, tmp_path: Path) -> None:
    path = written(run, "parquet", tmp_path / "run.parquet")
    rows = duckdb.sql(f"SELECT block, category, sum(to_ps - from_ps) FROM '{path}' WHERE kind = 'state' GROUP BY ALL")
    times = {(block, category): int(time_ps) for block, category, time_ps in rows.fetchall()}
    expected: Counter[tuple[str, str]] = Counter()
    for number, block in enumerate(run.manifest.blocks):
        named = {state.index: state.category.value if state.category else "unclassified" for state in block.states}
        edges, states = trace.row(number)
        for length, state in zip(np.diff(edges).tolist(), states.tolist(), strict=True):
            expected[block.id, named[state]] += length
    assert times == {key: time_ps for key, time_ps in expected.items() if (key in times or time_ps)}
    query = f"SELECT name, from_ps, to_ps, bytes, line FROM '{path}' WHERE kind = 'call' ORDER BY from_ps"
    calls, sites = run.tables["calls"], run.manifest.sites
    assert duckdb.sql(query).fetchall() == [
        (sites[site].label, begin, end, size, sites[site].line)
        for site, begin, end, size in sorted(
            zip(*(calls[name].tolist() for name in ("site", "t0_ps", "t1_ps", "bytes")), strict=True),
            key=lambda row: row[1],
        )
    ]


def test_perfetto_has_a_slice_for_each_stretch_and_call_and_a_flow_for_each_message(
    run: Run, trace: Trace, tmp_path: Path
) -> None:
    document = perfetto_trace_pb2.Trace.FromString(written(run, "perfetto", tmp_path / "run.pftrace").read_bytes())
    assert not len(UnknownFieldSet(document))
    tracks, names, events = {}, {}, []
    for packet in document.packet:
        names |= {one.iid: one.name for one in packet.interned_data.event_names}
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        elif packet.HasField("track_event"):
            events.append((packet.timestamp, packet.track_event))
    assert {track.process.process_name for track in tracks.values() if track.HasField("process")} == {"host", "fpga"}
    kinds = perfetto_trace_pb2.TrackEvent
    slices: dict[str, list[tuple[str, int, int]]] = {}
    begun: dict[int, tuple[str, int]] = {}
    for at, event in events:
        if event.type == kinds.TYPE_SLICE_BEGIN:
            assert event.track_uuid not in begun
            begun[event.track_uuid] = names[event.name_iid], at
        elif event.type == kinds.TYPE_SLICE_END:
            slices.setdefault(tracks[event.track_uuid].name, []).append((*begun.pop(event.track_uuid), at))
    assert not begun
    for number, block in enumerate(run.manifest.blocks):
        assert tracks[tracks_named(tracks, block.id)].parent_uuid in (1, 2)
        edges, states = trace.row(number)
        named = {state.index: state.name for state in block.states}
        ns = (edges // 1000).tolist()
        assert slices[block.id] == [(named[s], a, b) for s, a, b in zip(states.tolist(), ns, ns[1:], strict=False)]
    assert sum(len(found) for name, found in slices.items() if name.endswith(" calls")) == len(
        run.tables["calls"]["site"]
    )
    flows: dict[int, list[tuple[int, int]]] = {}
    for at, event in events:
        for flow in (*event.flow_ids, *event.terminating_flow_ids):
            flows.setdefault(flow, []).append((at, event.track_uuid))
    messages = list(call_messages(run))
    assert len(messages) == len(flows) > 0
    for flow, message in zip(flows.values(), messages, strict=True):
        assert [at for at, _ in flow] == [message.sent_ps // 1000, message.arrived_ps // 1000]
        blocks = [tracks[track].name.removesuffix(" calls") for _, track in flow]
        assert blocks == [run.manifest.blocks[number].id for number in (message.source, message.target)]


@NEEDS_OTF2
def test_otf2s_own_reader_gives_every_state_call_and_message(run: Run, trace: Trace, tmp_path: Path) -> None:
    """`otf2-print`, which is not made of the package that writes. A state's name is its region's."""
    out = written(run, "otf2", tmp_path / "archive")
    printed = [
        subprocess.run(["otf2-print", *options, str(out / "traces.otf2")], capture_output=True, text=True, check=True)
        for options in (["-G"], [])
    ]
    definitions, events = (one.stdout for one in printed)
    assert [one.stderr for one in printed] == ["", ""]
    assert "Ticks per Seconds: 1000000000000" in definitions
    found = re.findall(r'^LOCATION +(\d+) +Name: "([^"]*)" <\d+>, Type: (\w+),.*Group: "([^"]*)"', definitions, re.M)
    places = {name: (number, kind, group) for number, name, kind, group in found}
    assert places["host.main"][1:] == ("CPU_THREAD", "host")
    assert places["pdf2d_top.merge"][1:] == ("ACCELERATOR_STREAM", "FPGA")
    assert 'Role: THREAD_WAIT, Paradigm: USER, Flags: NONE, File: "pdf2d.c"' in definitions
    stays: dict[str, list[tuple[str, int, int]]] = {}
    entered: dict[str, list[tuple[str, int]]] = {}
    for kind, place, at, name in re.findall(r'^(ENTER|LEAVE) +(\d+) +(\d+) +Region: "([^"]*)"', events, re.M):
        if kind == "ENTER":
            entered.setdefault(place, []).append((name, int(at)))
        else:
            before, begin = entered[place].pop()
            assert before == name
            stays.setdefault(place, []).append((name, begin, int(at)))
    assert not any(entered.values())
    for number, block in enumerate(run.manifest.blocks):
        edges, states = trace.row(number)
        named = {state.index: state.name for state in block.states}
        rows = zip(states.tolist(), edges.tolist(), edges[1:].tolist(), strict=False)
        assert stays[places[block.id][0]] == [(named[state], begin, end) for state, begin, end in rows]
    assert len(stays[places["host.main calls"][0]]) == len(run.tables["calls"]["site"])
    sent = re.findall(r"^MPI_SEND +(\d+) +(\d+) +Receiver: (\d+)", events, re.M)
    received = re.findall(r"^MPI_RECV +(\d+) +(\d+) +Sender: (\d+)", events, re.M)
    messages = list(call_messages(run))
    assert sorted(int(at) for _, at, _ in sent) == sorted(message.sent_ps for message in messages)
    assert sorted(int(at) for _, at, _ in received) == sorted(message.arrived_ps for message in messages)
    assert Counter((a, b) for a, _, b in sent) == Counter((b, a) for a, _, b in received)


def test_a_folder_that_is_there_stays(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    assert main(["export", str(run.path), "--format", "otf2", "--out", str(tmp_path / "mine")]) == 2
    assert "this file or folder already exists" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_messages_between_ranks_are_those_that_woke_who_waited() -> None:
    table = {
        "block": [0, 1, 1], "kind": [SyncKind.SEND_MESSAGE, SyncKind.AWAIT_MESSAGE, SyncKind.AWAIT_MESSAGE],
        "t0_ps": [10, 5, 50], "t1_ps": [12, 30, 60], "woken_by": [-1, 0, -1],
    }  # fmt: skip
    made = synthetic_run(cores=1, rounds=1)
    syncs = {name: np.array(column) for name, column in table.items()}
    assert list(rank_messages(replace(made, tables={"syncs": syncs}))) == [Message(0, 10, 1, 30, True)]


def tracks_named(tracks: dict[int, Any], name: str) -> int:
    return next(uuid for uuid, track in tracks.items() if track.name == name)


@pytest.mark.parametrize("form", LIBRARIES)
def test_a_format_whose_library_is_missing_names_it(
    run: Run, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = {"fst": "pylibfst", "perfetto": "perfetto", "parquet": "pyarrow", "otf2": "otf2"}[form]
    real = builtins.__import__

    def refuse(name: str, *more: Any, **named: Any) -> Any:
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *more, **named)

    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(builtins, "__import__", refuse)
    out = tmp_path / "out"
    assert main(["export", str(run.path), "--format", form, "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert f"writing {LIBRARIES[form]} needs the Python package {package}" in said
    assert "pip install 'rc-workbench[formats]'" in said
    assert not out.exists()


@pytest.mark.parametrize("form", EXPORTS)
def test_a_run_without_a_trace_is_refused(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = synthetic_run(cores=1, rounds=1)
    tables = {name: table for name, table in made.tables.items() if not name.startswith("interval")}
    RunWriter(tmp_path / "run", made.manifest).finish(made.manifest, tables)
    assert main(["export", str(tmp_path / "run"), "--format", form, "--out", str(tmp_path / "out")]) == 2
    assert "this run has no trace" in capsys.readouterr().err

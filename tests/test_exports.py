"""Runs written for other programs, each read back by a reader that is not ours: pywellen, DuckDB, Perfetto's published
descriptors."""

import builtins
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import pywellen
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.messages import call_messages
from workbench.model.run import Run
from workbench.testing.runs import synthetic_run
from workbench.traces.trace import Trace, trace_of

EXPORTS = ("vcd", "fst", "perfetto", "parquet")
LIBRARIES = {"fst": "FST", "perfetto": "Perfetto's format", "parquet": "Parquet"}


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


def tracks_named(tracks: dict[int, Any], name: str) -> int:
    return next(uuid for uuid, track in tracks.items() if track.name == name)


@pytest.mark.parametrize("form", LIBRARIES)
def test_a_format_whose_library_is_missing_names_it(
    run: Run, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = {"fst": "pylibfst", "perfetto": "perfetto", "parquet": "pyarrow"}[form]
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

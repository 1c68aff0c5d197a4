"""The host's transfers in a run's records, for a replay of the words that they move."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workbench.api.records import RECEIVE, SEND, WAIT
from workbench.model.blocks import fpga_of
from workbench.model.platform import Platform
from workbench.model.run import Run
from workbench.model.run_tables import RowArray
from workbench.model.transfer_time import transfer_ps
from workbench.replay.traffic import HostTransfer, Traffic

_CALL = np.dtype([("kind", "i4"), ("table", "i4"), ("card", "i4"), ("thread", "i4"), ("bytes", "i8"),
                  ("call_ps", "i8"), ("grant_ps", "i8"), ("end_ps", "i8")])  # fmt: skip


def records_of_run(run: Run, platform: Platform) -> RowArray:
    """The host's transfers in a traced run's table `calls`, as `with_host` takes them, in order of their begin."""
    calls, names = run.tables["calls"], list(platform.transfer_tables)
    rows = np.flatnonzero((np.asarray(calls["parts"]) > 0) & (np.asarray(calls["call_ps"]) >= 0))
    entries = run.manifest.entries
    kind_of = np.array([*({"send": SEND, "receive": RECEIVE}.get(e.kind, WAIT) for e in entries), WAIT])
    table_of = np.array([*(names.index(e.transfer) if e.transfer in names else -1 for e in entries), -1])
    records: RowArray = np.zeros(len(rows), _CALL)
    records["thread"] = calls["block"][rows]
    for name in ("card", "bytes", "call_ps", "grant_ps", "end_ps"):
        records[name] = calls[name][rows]
    entry = np.asarray(calls["entry"])[rows]
    records["kind"], records["table"] = kind_of[entry], table_of[entry]
    return records[np.argsort(records["call_ps"], kind="stable")]


def with_host(
    traffic: Traffic, records: RowArray, platform: Platform, places: Sequence[str]
) -> Traffic:  # fmt: skip
    """The traffic with the host's transfers. `places` are the prefixes of streams' names on each card."""
    if platform.hardware is None or not len(records):
        return traffic
    tables, ports = platform.transfer_tables, {port.name: port for port in platform.hardware.ports}
    table_of = list(tables.values())
    streams: dict[tuple[int, str], int] = {}
    links: dict[int, int] = {}
    for row in records:
        if row["kind"] == WAIT or row["table"] < 0:
            continue
        name = table_of[row["table"]].port or next(iter(ports))
        key = int(row["card"]), name
        if key not in streams and (name in ports):
            rows = [
                record for record in records if _port(record, table_of, ports) == name and record["card"] == row["card"]
            ]
            stream = _stream(traffic, rows, ports[name].word_bits // 8, places[key[0]] if places else "")
            streams[key] = stream
            if stream >= 0:
                links[stream] = int(getattr(ports[name], "buffer_words", 0) or 0)
    next_ps: dict[int, int] = {}  # the next call, by thread
    added = []
    for row in records[::-1]:
        table = None if row["kind"] == WAIT or row["table"] < 0 else table_of[row["table"]]
        name = _port(row, table_of, ports)
        bits = ports[name].word_bits if name in ports else 32
        thread, call_ps, end_ps = int(row["thread"]), int(row["call_ps"]), int(row["end_ps"])
        added.append(
            HostTransfer(
                stream=streams.get((int(row["card"]), name), -1) if table else -1,
                send=row["kind"] == SEND,
                words=int(row["bytes"]) * 8 // bits if table else 0,
                duration_ps=transfer_ps(table, int(row["bytes"])) if table else 0,
                call_ps=call_ps,
                start_ps=int(row["grant_ps"]),
                end_ps=end_ps,
                bus=table.resource if table and not table.overlaps else "",
                blocking=next_ps.get(thread, end_ps) >= end_ps,
                wait=table is None,
                thread=thread,
            )
        )
        next_ps[thread] = call_ps
    return replace(traffic, host=tuple(added[::-1]), links=links)


def _port(row: np.void, tables: Sequence[object], ports: Mapping[str, object]) -> str:
    if row["kind"] == WAIT or row["table"] < 0:
        return ""
    return getattr(tables[row["table"]], "port", "") or next(iter(ports))


def _stream(traffic: Traffic, rows: Sequence[np.void], word_bytes: int, place: str) -> int:
    """The design's stream that these transfers went through: the only one at a port with as many words; -1 if there is
    none."""
    words = sum(int(row["bytes"]) // word_bytes for row in rows)
    sends = rows[0]["kind"] == SEND
    matches = [
        number
        for number, stream in enumerate(traffic.streams)
        if not (stream.source if sends else stream.target)
        and fpga_of(stream.id) == place
        and len(traffic.cycles[number]) == words
    ]
    return matches[0] if len(matches) == 1 else -1

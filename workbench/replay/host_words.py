"""The host's transfers as a run's records tell them, for a replay of the words that they move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.api.records import SEND, WAIT, Records, read_transfers
from workbench.model.blocks import fpga_of
from workbench.model.platform import Platform
from workbench.model.transfer_time import transfer_ps
from workbench.replay.traffic import HostTransfer, Traffic


def with_host(traffic: Traffic, raw: Path, platform: Platform, places: Sequence[str]) -> Traffic:
    """The traffic with the host's transfers of the records in `raw`. `places` are what streams' names begin with on
    each card."""
    records = read_transfers(raw).at()
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
            mine = [one for one in records if _port(one, table_of, ports) == name and one["card"] == row["card"]]
            stream = _stream(traffic, mine, ports[name].word_bits // 8, places[key[0]] if places else "")
            streams[key] = stream
            if stream >= 0:
                links[stream] = int(getattr(ports[name], "buffer_words", 0) or 0)
    found = []
    for place, row in enumerate(records):
        table = None if row["kind"] == WAIT or row["table"] < 0 else table_of[row["table"]]
        name = _port(row, table_of, ports)
        bits = ports[name].word_bits if name in ports else 32
        later = records[place + 1 :]
        later = later[later["thread"] == row["thread"]]
        found.append(
            HostTransfer(
                stream=streams.get((int(row["card"]), name), -1) if table else -1,
                send=row["kind"] == SEND,
                words=int(row["bytes"]) * 8 // bits if table else 0,
                duration_ps=transfer_ps(table, int(row["bytes"])) if table else 0,
                call_ps=int(row["call_ps"]),
                start_ps=int(row["grant_ps"]),
                end_ps=int(row["end_ps"]),
                bus=table.resource if table and not table.overlaps else "",
                blocking=not len(later) or bool(later["call_ps"][0] >= row["end_ps"]),
                wait=table is None,
                thread=int(row["thread"]),
            )
        )
    return replace(traffic, host=tuple(found), links=links)


def _port(row: np.void, tables: Sequence[object], ports: Mapping[str, object]) -> str:
    if row["kind"] == WAIT or row["table"] < 0:
        return ""
    return getattr(tables[row["table"]], "port", "") or next(iter(ports))


def _stream(traffic: Traffic, rows: Sequence[np.void] | Records, word_bytes: int, place: str) -> int:
    """The design's stream at a port that these transfers went through: the only one of as many words; -1: none."""
    words = sum(int(row["bytes"]) // word_bytes for row in rows)
    sends = rows[0]["kind"] == SEND
    found = [
        number
        for number, stream in enumerate(traffic.streams)
        if not (stream.source if sends else stream.target)
        and fpga_of(stream.id) == place
        and len(traffic.cycles[number]) == words
    ]
    return found[0] if len(found) == 1 else -1

"""What a run left behind becomes its tables and the lists that number them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api import HdlBuild, HdlLanguage, HostBuild
from workbench.api.targets import Outcome
from workbench.model.blocks import Block
from workbench.model.cycles import cycle_starts_ps
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.platform import Platform
from workbench.model.run import TABLES, RunClock, Table
from workbench.run.host_tables import calls_table, host_aggregates, host_intervals, resources, thread_blocks
from workbench.run.records import Records, read_calls, read_dwell, read_taps, read_transfers

LONGEST_STATE_LIST = 256  # a trace keeps a state in one byte


@dataclass(frozen=True)
class Collected:
    """The tables of a run, and the lists of blocks, resources and messages that its numbers refer to."""

    blocks: tuple[Block, ...]
    resources: tuple[str, ...]
    messages: tuple[str, ...]
    tables: dict[str, Table]
    diagnostics: tuple[Diagnostic, ...] = ()


def collect(
    raw: Path,
    outcome: Outcome,
    host: HostBuild,
    hdl: HdlBuild,
    language: HdlLanguage,
    platform: Platform,
    clocks: Sequence[RunClock],
    *,
    traced: bool,
) -> Collected:
    """Join the host's records, the card's and the counters. What a crash left out is missing, and said so."""
    records, transfers = read_calls(raw), read_transfers(raw)
    host_blocks = thread_blocks(host.blocks[0], records)
    blocks = (*host_blocks, *hdl.blocks)
    hz_of = {clock.name: clock.frequency_hz for clock in clocks}
    clocks_hz = [hz_of[block.clock or clocks[0].name] for block in hdl.blocks]
    messages = tuple(dict.fromkeys(m for block in blocks for state in block.states for m in state.messages))
    calls = calls_table(records, transfers, host_blocks, host.entries, messages, platform)
    tables: dict[str, Table] = {"calls": calls, **host_aggregates(calls, host_blocks, outcome.time_ps)}
    problems = []
    if hdl.read_out and outcome.counter_words is None:
        problems.append(
            Diagnostic(
                "the hardware's counters could not be read out",
                "Times of states inside the FPGA are missing from this run.",
                Severity.WARNING,
            )
        )
    else:
        words = outcome.counter_words if outcome.counter_words is not None else np.empty(0, np.uint32)
        decoded = language.decode(hdl, words)
        for name, table in decoded.items():
            if name == "state_time":
                spent_ps = state_times_ps(table, decoded["transitions"], outcome.time_ps, clocks_hz)
                table = {**table, "time_ps": spent_ps}
            tables[name] = _stacked(tables[name], {**table, "block": table["block"] + np.int32(len(host_blocks))})
    dwell = read_dwell(raw)
    if len(dwell):
        columns = {name: dwell[name].astype(kind) for name, kind in TABLES["dwell"].items()}
        tables["dwell"] = {**columns, "block": columns["block"] + np.int32(len(host_blocks))}
    if traced and (crowded := [block.id for block in blocks if len(block.states) > LONGEST_STATE_LIST]):
        problems.append(
            Diagnostic(
                f"{', '.join(crowded)} has more than {LONGEST_STATE_LIST} states: this run has no timeline",
                "Its times, calls and findings are complete. Fewer pragmas in one block give it a timeline.",
                Severity.WARNING,
            )
        )
    elif traced:
        tables |= _intervals(calls, len(host_blocks), clocks_hz, read_taps(raw), outcome.time_ps)
    return Collected(blocks, resources(platform), messages, tables, tuple(problems))


def state_times_ps(
    table: Table, transitions: Table, time_ps: int, clocks_hz: Sequence[float]
) -> NDArray[np.int64]:  # fmt: skip
    """How long each state of the hardware's blocks lasted, so that every block's times sum to the run's. `clocks_hz` is
    the frequency of each block's clock.

    They are differences of exact starts, a block's states one after the other. What is left of the run after the last
    whole cycle belongs to the state in which the block then was: the one that was entered once more than left.
    """
    times_ps = np.zeros(len(table["block"]), dtype=np.int64)
    for block in np.unique(table["block"]):
        mine = np.flatnonzero(table["block"] == block)
        ends = cycle_starts_ps(np.cumsum(table["cycles"][mine]), clocks_hz[block])
        times_ps[mine] = np.diff(ends, prepend=0)
        here = transitions["block"] == block
        left = np.zeros(len(mine), dtype=np.int64)
        np.add.at(left, transitions["from_state"][here], transitions["count"][here])
        times_ps[mine[np.argmax(table["visits"][mine] - left)]] += time_ps - int(ends[-1])
    return times_ps


def _stacked(upper: Table, lower: Table) -> Table:
    return {name: np.concatenate((upper[name], lower[name].astype(upper[name].dtype))) for name in upper}


def _intervals(
    calls: Table, hosts: int, clocks_hz: Sequence[float], taps: Records, time_ps: int
) -> dict[str, Table]:  # fmt: skip
    """Every block's stretches in rows one after the other: the host's from its calls, the FPGA's from the taps."""
    starts: list[np.ndarray] = []
    states: list[np.ndarray] = []
    for number in range(hosts):
        start, state = host_intervals(calls, number, time_ps)
        starts.append(start)
        states.append(state)
    order = np.argsort(taps["block"], kind="stable")
    edges = np.searchsorted(taps["block"][order], np.arange(len(clocks_hz) + 1))
    for number, clock_hz in enumerate(clocks_hz):
        mine = order[edges[number] : edges[number + 1]]
        start = cycle_starts_ps(np.maximum(taps["cycle"][mine], 0).astype(np.int64), clock_hz)
        state = taps["state"][mine].astype(np.uint8)
        if not len(mine) or start[0] > 0:
            start, state = np.concatenate(([0], start)), np.concatenate((np.zeros(1, np.uint8), state))
        starts.append(start.astype(np.int64))
        states.append(state)
    return {
        "intervals": {"start_ps": np.concatenate(starts), "state": np.concatenate(states)},
        "interval_offsets": {"offset": _offsets(starts)},
    }


def _offsets(rows: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)

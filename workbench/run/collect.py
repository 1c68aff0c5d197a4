"""Builds a run's tables, and the lists that their numbers refer to, from the records in `raw`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.api import HdlBuild, HdlLanguage, HostBuild
from workbench.api.host_stats import read_stats
from workbench.api.instrument.readout import of_taps
from workbench.api.instrument.stream_probe import board_tables
from workbench.api.records import read_calls, read_dwell, read_taps, read_transfers
from workbench.api.stream_records import memory_table, stream_tables, stream_transfers
from workbench.api.tables import joined, state_tables
from workbench.api.targets import Outcome
from workbench.api.virtual_time import TABLE, table_of_frames
from workbench.formats.columns import TableWriter, let_go
from workbench.model.blocks import Block
from workbench.model.cycles import cycle_starts_ps
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.platform import Platform
from workbench.model.run import RunClock, Site
from workbench.model.run_tables import TABLES, Table
from workbench.model.text import listed
from workbench.run.agents import agent_tables
from workbench.run.call_sums import call_tables
from workbench.run.cards import decoded, silent, unwatched
from workbench.run.counted import counted_blocks, counted_tables
from workbench.run.host_calls import call_pieces, resources
from workbench.run.host_tables import host_states
from workbench.run.host_threads import host_stretches, read_threads, thread_blocks
from workbench.run.syncs import sync_tables
from workbench.run.tap_trace import TapTrace
from workbench.run.unreturned import unreturned
from workbench.traces.trace import trace_of_tables


@dataclass(frozen=True)
class Collected:
    """The tables of a run, and the lists of blocks, resources and messages that its numbers refer to."""

    blocks: tuple[Block, ...]
    resources: tuple[str, ...]
    messages: tuple[str, ...]
    tables: dict[str, Table]
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Built:
    """The builds that wrote the records: the host and the hardware. `languages` are those of each FPGA's design, empty
    if its counters are lost."""

    host: HostBuild
    hdl: HdlBuild
    languages: Sequence[HdlLanguage]
    platform: Platform


def collect(
    raw: Path, part: Path, outcome: Outcome, built: Built, clocks: Sequence[RunClock], trace: TapTrace | None = None
) -> Collected:
    """Join the records of the host, the card and the counters. Parts missing after a crash are left out, with a
    diagnostic.

    Large tables are written below `part`, where the run's tables are built. `trace` is a trace that follows the same
    records; it is written to its end. Tables that the language's plugin adds are kept, with column `block` numbered as
    the run's. Raises OSError.
    """
    hdl = built.hdl
    of_host = _host_part(raw, part, outcome, built)
    of_fpga = _fpga_part(raw, outcome, hdl, built.languages, clocks, trace)
    first, blocks, tables = len(of_host.blocks), (*of_host.blocks, *of_fpga.blocks), of_host.tables
    clocks_hz = frequencies(hdl.blocks, clocks)
    for name, table in _timed(of_fpga.tables, outcome, clocks_hz, clocks).items():
        table = _numbered(table, first) if "block" in table else table
        tables[name] = joined(tables[name], table) if name in tables else table
    let_go(of_host.calls)
    dwell = read_dwell(raw)
    if len(dwell):
        tables["dwell"] = _numbered({name: dwell[name].astype(kind) for name, kind in TABLES["dwell"].items()}, first)
    of_streams, lacking = stream_tables(raw), tuple[Diagnostic, ...]()
    if not of_streams:
        taps = read_taps(raw) if hdl.read_out and hdl.read_out.traced else None
        of_streams, lacking = board_tables(hdl.streams, hdl.fifos, hdl.blocks, of_fpga.tables, taps)
    of_agents, uncounted = agent_tables(raw, hdl, outcome.counter_words, built.platform, clocks)
    tables |= of_agents | of_streams | memory_table(raw) | _transfers_of_streams(raw, part)
    if outcome.frames:
        tables[TABLE] = table_of_frames(outcome.frames)
    if trace:
        tables |= trace.finish(of_host.stretches, first, outcome.time_ps, of_host.known)
        unknown = of_fpga.unseen if of_fpga.tables else range(len(hdl.blocks))
        if not of_fpga.tables or unknown:  # the part that they would have summed
            whole_trace = trace_of_tables(tables, blocks, outcome.time_ps)
            rows = (whole_trace.pieces(row) for row in range(first, len(blocks)))
            numbered = {
                name: _numbered(table, first) for name, table in state_tables(hdl.blocks, rows, clocks_hz).items()
            }
            tables |= _with_rows(
                {name: tables[name] for name in numbered}, numbered, [first + number for number in unknown]
            )
    problems = (*of_host.problems, *of_fpga.problems, *lacking, *uncounted)
    return Collected(blocks, resources(built.platform, of_host.blocks), of_host.messages, tables, problems)


class _HostPart(NamedTuple):
    """The host's records. `known` says whether the begins of its threads are known; `calls` is among the tables."""

    blocks: tuple[Block, ...]
    messages: tuple[str, ...]
    tables: dict[str, Table]
    calls: Table
    stretches: Table
    known: bool
    problems: Sequence[Diagnostic]


def _host_part(raw: Path, part: Path, outcome: Outcome, built: Built) -> _HostPart:
    host, hdl, platform = built.host, built.hdl, built.platform
    whole = not outcome.measured_hz
    records, transfers = read_calls(raw).in_order("t0_ps"), read_transfers(raw)
    threads = read_threads(raw, records)
    stats = None if whole else read_stats(raw)  # a simulated card records more of a call than the host
    main = host.blocks[0]
    if stats and not threads.ranks:
        blocks = counted_blocks(main, stats)
    else:
        blocks = thread_blocks(main, records["thread"], threads)
    states = (state for block in (*blocks, *hdl.blocks) for state in block.states)
    messages = tuple(dict.fromkeys(message for state in states for message in state.messages))
    tables: dict[str, Table] = {}
    calls: Table = {}
    stretches: Table = {}
    if whole or len(records):
        writer = TableWriter(part / "calls", TABLES["calls"])
        for piece in call_pieces(records, transfers, threads, blocks, host.entries, messages, platform):
            writer.append(piece)
        calls = writer.close()
        stretches = host_stretches(calls, threads, blocks, outcome.time_ps)
        of_states = host_states(stretches, blocks, outcome.time_ps, threads.known)
        tables |= {"calls": calls, **of_states, **call_tables(calls), **sync_tables(raw)}
    if stats:
        tables |= counted_tables(stats, blocks, outcome.time_ps)
    problems = [*unreturned(raw, host.sites)]
    counts_nothing = not len(records) and (whole or stats) and not (stats and stats.count)
    if host.sites and not problems and counts_nothing:
        problems.append(_nothing(host.sites))
    return _HostPart(blocks, messages, tables, calls, stretches, threads.known, problems)


class _FpgaPart(NamedTuple):
    """The counts of monitors or taps, with the design's block numbers. `unseen` are blocks that no monitor watched but
    a trace contains."""

    blocks: tuple[Block, ...]
    tables: Mapping[str, Table]
    unseen: Sequence[int]
    problems: Sequence[Diagnostic]


def _fpga_part(
    raw: Path, outcome: Outcome, hdl: HdlBuild, languages: Sequence[HdlLanguage], clocks: Sequence[RunClock],
    trace: TapTrace | None,
) -> _FpgaPart:  # fmt: skip
    words, blocks, problems = outcome.counter_words, tuple(hdl.blocks), list[Diagnostic]()
    seen = counted = of_taps(hdl, raw, [clock.name for clock in clocks])
    unseen: Sequence[int] = ()
    if languages and hdl.read_out and words is not None:
        counted, unseen = decoded(languages, hdl, words), unwatched(hdl, words)
        if unseen and seen:
            counted, unseen = _with_rows(counted, seen, unseen), ()
    if unseen and not (trace and hdl.read_out and hdl.read_out.traced):  # otherwise their state changes are known
        problems.append(not_watched([hdl.blocks[number] for number in unseen]))
        blocks, unseen = _without_states(blocks, unseen), ()
    mute = silent(hdl, words) if words is not None and hdl.read_out else {}
    problems += [_mute(name, [hdl.blocks[number].id for number in of]) for name, of in mute.items()]
    blocks = _without_states(blocks, [number for of in mute.values() for number in of])
    if hdl.read_out and not counted and not trace:
        problems.append(
            Diagnostic(
                "the hardware's counters could not be read out",
                "Times of states inside the FPGA are missing from this run.",
                Severity.WARNING,
            )
        )
    return _FpgaPart(blocks, counted, unseen, problems)


def _timed(
    counted: Mapping[str, Table], outcome: Outcome, clocks_hz: Sequence[float], clocks: Sequence[RunClock]
) -> dict[str, Table]:
    """The counted tables, with times added to the table of states."""
    if "state_time" not in counted:
        return dict(counted)
    table, whole, drift = counted["state_time"], not outcome.measured_hz, clocks[0].drift_ppm_per_s if clocks else 0.0
    spent_ps = state_times_ps(table, counted["transitions"], outcome.time_ps, clocks_hz, whole, drift)
    return {**counted, "state_time": {**table, "time_ps": spent_ps}}


def _numbered(table: Table, first: int) -> Table:
    """A table of the design's blocks with the run's block numbers."""
    return {**table, "block": table["block"] + np.int32(first)}


def _transfers_of_streams(raw: Path, part: Path) -> dict[str, Table]:
    name = "stream_transfers"
    if not (raw / f"{name}.bin").exists():
        return {}
    writer = TableWriter(part / name, TABLES[name])
    for piece in stream_transfers(raw):
        writer.append(piece)
    return {name: writer.close()}


def _with_rows(tables: Mapping[str, Table], others: Mapping[str, Table], blocks: Sequence[int]) -> dict[str, Table]:
    """The tables, with the rows of these blocks taken from `others` of the same names and columns."""
    merged: dict[str, Table] = {}
    for name, table in tables.items():
        if name in others:
            others_rows, added = ~np.isin(table["block"], blocks), np.isin(others[name]["block"], blocks)
            table = joined(_rows(table, others_rows), _rows(others[name], added))
            table = _rows(table, np.argsort(table["block"], kind="stable"))
        merged[name] = table
    return merged


def _rows(table: Table, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Table:
    return {name: column[chosen] for name, column in table.items()}


def _without_states(blocks: Sequence[Block], numbers: Sequence[int]) -> tuple[Block, ...]:
    """The blocks, of which those with these numbers have no known states."""
    return tuple(
        replace(block, states=block.states[:1]) if number in numbers else block for number, block in enumerate(blocks)
    )


def not_watched(blocks: Sequence[Block]) -> Diagnostic:
    """A note on blocks that the design's counters could have watched but did not."""
    return Diagnostic(
        f"these blocks are not observed on a real machine, since their counters watch others: "
        f"{listed([block.id for block in blocks])}",
        "Choose the blocks by hardware.watch, and their number by hardware.engines.",
        Severity.NOTE,
    )


def _mute(clock: str, blocks: Sequence[str]) -> Diagnostic:
    """A warning about a clock whose monitor did not answer the read-out."""
    return Diagnostic(
        f"the clock {clock} did not answer when the counters were read, so there are no counts for {listed(blocks)}",
        "It stopped, or was less than half as fast as the platform says (hardware.clocks); a clock that the design "
        "derives may be 500 times slower than its source. Let it run to the end.",
        Severity.WARNING,
    )


def _nothing(sites: Sequence[Site]) -> Diagnostic:
    """A warning about a run without any recorded call."""
    several = f"none of the {len(sites)} places that call the platform was" if len(sites) > 1 else "the call was not"
    return Diagnostic(
        f"no call was recorded: {several} reached, or no entry of the template applies there",
        "An entry applies if its condition is true and its `of` matches, such as a device file's path. Check both.",
        Severity.WARNING,
        sites[0].file,
        sites[0].line,
        sites[0].column,
    )


def frequencies(blocks: Sequence[Block], clocks: Sequence[RunClock]) -> list[float]:
    """The frequency (Hz) of each hardware block's clock; the first clock's for a block that names none."""
    hz_of = {clock.name: clock.frequency_hz for clock in clocks}
    return [hz_of[block.clock or clocks[0].name] for block in blocks]


def state_times_ps(
    table: Table, transitions: Table, time_ps: int, clocks_hz: Sequence[float], whole: bool = True,
    drift_ppm_per_s: float = 0.0,
) -> NDArray[np.int64]:  # fmt: skip
    """The time (ps) of each state of the hardware's blocks, so that every block's times sum to the run's. `clocks_hz`
    is the frequency of each block's clock.

    Times are differences of exact starts of consecutive states. The rest of the run after the last whole cycle belongs
    to the block's last state, the one entered once more than left. If the monitors did not count the `whole` run, the
    rest is unclassified.
    """
    times_ps = np.zeros(len(table["block"]), dtype=np.int64)
    for block in np.unique(table["block"]):
        mine = np.flatnonzero(table["block"] == block)
        ends = cycle_starts_ps(np.cumsum(table["cycles"][mine]), clocks_hz[block], drift_ppm_per_s)
        times_ps[mine] = np.diff(ends, prepend=0)
        here = transitions["block"] == block
        exits = np.zeros(len(mine), dtype=np.int64)
        np.add.at(exits, transitions["from_state"][here], transitions["count"][here])
        last_state, more_ps = np.argmax(table["visits"][mine] - exits) if whole else 0, time_ps - int(ends[-1])
        if (
            times_ps[mine[last_state]] < -more_ps
        ):  # a monitor on another clock than the port's counts a few cycles longer
            last_state = np.argmax(times_ps[mine])
        times_ps[mine[last_state]] += more_ps
    return times_ps

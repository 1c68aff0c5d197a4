"""Runs in forms that other programs read: Chrome's trace format (also Perfetto's), CSV, and folded stacks."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import pairwise
from typing import Any, BinaryIO

from workbench.api import PS_PER_S, Block, Diagnostic, Measured, Run, WorkbenchError

PS_PER_US = 1_000_000
CSV_COLUMNS = ("block", "side", "state", "category", "reasons", "target", "message", "time_s", "cycles", "visits",
               "calls", "bytes", "entry", "site", "clock")  # fmt: skip


def chrome_events(measured: Measured) -> Iterator[dict[str, Any]]:
    """Trace events: a process for the host and one for the FPGA, a thread a block, a complete event a stretch.

    Times are microseconds, as the format wants; `start_ps` and `duration_ps` keep them exactly.
    """
    run, sides = measured.run, {"host": 1, "fpga": 2}
    for name, process in sides.items():
        yield {"ph": "M", "pid": process, "tid": 0, "name": "process_name", "args": {"name": name}}
    for number, block in enumerate(run.manifest.blocks):
        place = {"pid": sides[block.side.value], "tid": number + 1}
        yield {"ph": "M", **place, "name": "thread_name", "args": {"name": block.id, "clock": block.clock}}
        yield {"ph": "M", **place, "name": "thread_sort_index", "args": {"sort_index": number}}
        for edges, states in measured.pieces(number):
            for (start, end), state in zip(pairwise(edges.tolist()), states.tolist(), strict=True):
                yield _event(place, block, state, start, end)
    yield from _call_events(run)


def _event(place: Mapping[str, int], block: Block, index: int, start: int, end: int) -> dict[str, Any]:
    state = block.states[index]
    return {
        "ph": "X",
        **place,
        "name": state.name,
        "cat": state.category.value if state.category else "unclassified",
        "ts": start / PS_PER_US,
        "dur": (end - start) / PS_PER_US,
        "args": {"state": index, "start_ps": start, "duration_ps": end - start},
    }


def _call_events(run: Run) -> Iterator[dict[str, Any]]:
    """The host's calls as nestable events of their own, with sizes and addresses."""
    calls = run.tables.get("calls")
    if calls is None:
        return
    names = ("site", "block", "entry", "t0_ps", "t1_ps", "bytes", "address")
    for number, row in enumerate(zip(*(calls[name].tolist() for name in names), strict=True)):
        site, block, entry, start, end, size, address = row
        callee = run.manifest.entries[entry].name if entry >= 0 else run.manifest.sites[site].callee
        common = {"cat": "call", "id": number, "pid": 1, "tid": block + 1, "name": callee}
        label = run.manifest.sites[site].label
        args = {"site": site, "label": label, "bytes": size, "address": address, "start_ps": start, "end_ps": end}
        yield {**common, "ph": "b", "ts": start / PS_PER_US, "args": args}
        yield {**common, "ph": "e", "ts": end / PS_PER_US}


def write_chrome(measured: Measured, file: BinaryIO) -> None:
    """A trace for chrome://tracing or Perfetto. WorkbenchError for a run without trace."""
    run = measured.run
    if not measured.traced and "calls" not in run.tables:
        raise WorkbenchError(
            Diagnostic("this run has no trace", "Run again with tracing on (`workbench run --trace`).",
                       file=str(run.path) if run.path else None)
        )  # fmt: skip
    manifest = run.manifest
    clocks = [asdict(clock) for clock in manifest.clocks]
    about = {"run": manifest.name, "simulated": manifest.simulated, "time_ps": manifest.time_ps, "clocks": clocks}
    file.write(f'{{"displayTimeUnit": "ns",\n"otherData": {json.dumps(about)},\n"traceEvents": [\n'.encode())
    for number, event in enumerate(chrome_events(measured)):
        file.write(((",\n" if number else "") + json.dumps(event, separators=(",", ":"))).encode())
    file.write(b"\n]}\n")


def write_csv(measured: Measured, file: BinaryIO) -> None:
    """A row for each state of each block, with the calls made in it."""
    stream = io.TextIOWrapper(file, encoding="utf-8", newline="")
    rows = csv.writer(stream)
    rows.writerow(CSV_COLUMNS)
    for metrics in measured.blocks:
        for spent in metrics.states:
            state = spent.state
            mine = [c for c in measured.calls if c.block == metrics.block.id and c.state.index == state.index]
            rows.writerow(
                [
                    metrics.block.id,
                    metrics.block.side.value,
                    state.name,
                    state.category.value if state.category else "",
                    "|".join(state.reasons),
                    "|".join(state.targets),
                    "|".join(state.messages),
                    repr(spent.time_s),
                    spent.cycles,
                    spent.visits,
                    sum(c.count for c in mine),
                    sum(c.bytes for c in mine),
                    "|".join(dict.fromkeys(c.entry.name if c.entry else c.site.callee for c in mine)),
                    "|".join(dict.fromkeys(c.place for c in mine)),
                    metrics.block.clock or "",
                ]
            )
    stream.detach()  # writes what is left, and leaves the file to who opened it


def folded_stacks(measured: Measured) -> Iterator[tuple[tuple[str, ...], int]]:
    """The time (ps) of each state of the application's blocks, below the parts of the block's name and, where it has
    one, its category. Each block's times sum to the run's."""
    for metrics in measured.blocks:
        if not metrics.block.works:
            continue
        for spent in metrics.states:
            if time_ps := round(spent.time_s * PS_PER_S):
                kinds = (spent.state.category.value,) if spent.state.category else ()
                yield (*metrics.block.id.split("."), *kinds, spent.state.name), time_ps


def write_folded(measured: Measured, file: BinaryIO) -> None:
    """A line for each stack, outermost first, with its picoseconds, as flame graphs and speedscope read it."""
    file.write(b"# stacks of RC Workbench, with picoseconds\n")
    for stack, time_ps in folded_stacks(measured):
        names = ";".join(" ".join(name.replace(";", ",").split()) for name in stack)
        file.write(f"{names} {time_ps}\n".encode())

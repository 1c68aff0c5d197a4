"""Trace events in Chrome's JSON format as a run: a block for each thread, a state for each name of its events.

What nests in a thread counts for the innermost event; time of a thread in no event is `unclassified`. Threads of a
process called "fpga" stand on that side, all others on the host's. Times are microseconds from the trace's first event;
an export of the workbench's own keeps its picoseconds. Calls, counters and flows are left out.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from workbench.api import (
    PS_PER_S,
    UNCLASSIFIED,
    Block,
    Category,
    Diagnostic,
    Job,
    Manifest,
    Run,
    RunStatus,
    Side,
    State,
    WorkbenchError,
    counted,
    time_text,
)
from workbench.api.tables import Piece, state_tables, trace_tables
from workbench.api.unstable import MOST_AMOUNT

PS_PER_US = 1_000_000
LIMIT_BYTES = 512 << 20
MOST_STATES = 65_536  # of a block, with `unclassified`
_CATEGORIES = {category.value: category for category in Category}
_HINT = "It holds a list of events, or an object with `traceEvents`: complete (X) or begin and end (B, E) events."

Stretch = tuple[int, int, int]  # start, end (ps), state


@dataclass
class _Thread:
    """One thread of the trace. `states` numbers the names of its events with what they are."""

    name: str = ""
    begun: list[tuple[int, str, str]] = field(default_factory=list)
    states: dict[tuple[str, str], int] = field(default_factory=dict)
    stretches: list[Stretch] = field(default_factory=list)

    def add(self, start_ps: int, end_ps: int, name: str, category: str) -> None:
        known = (UNCLASSIFIED, "") if name == UNCLASSIFIED else (name, category)
        self.states.setdefault((UNCLASSIFIED, ""), 0)
        self.stretches.append((start_ps, end_ps, self.states.setdefault(known, len(self.states))))


def read_chrome(path: Path, job: Job) -> Run:
    """A trace file as a run. WorkbenchError where it is none, or is too large."""
    document = _document(path)
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list):
        raise WorkbenchError(Diagnostic("this is not a trace in Chrome's format", _HINT, file=str(path)))
    threads, processes = _threads(events, path, job)
    used = {key: thread for key, thread in sorted(threads.items(), key=_order) if thread.stretches}
    if not used:
        raise WorkbenchError(Diagnostic("this trace has no events with a duration", _HINT, file=str(path)))
    about = document.get("otherData") if isinstance(document, dict) else None
    about = about if isinstance(about, dict) else {}
    first_ps, total_ps = _span(used.values(), about.get("time_ps"), path)
    blocks: list[Block] = []
    traces: list[Piece] = []
    taken: set[str] = set()
    for key, thread in used.items():
        job.check()
        blocks.append(_block(thread, key, processes.get(key[0], ""), taken, path))
        taken.add(blocks[-1].id)
        flat = list(_flat(thread.stretches, first_ps, total_ps))
        edges = np.array([*(start for start, _ in flat), total_ps], dtype=np.int64)
        traces.append((edges, np.array([state for _, state in flat], dtype=np.int64)))
    manifest = Manifest(
        name=_text(about.get("run") or path.stem),
        status=RunStatus.COMPLETE,
        created=datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds"),
        simulated=about.get("simulated") is True,
        instrumented=False,
        traced=True,
        time_ps=total_ps,
        blocks=tuple(blocks),
    )
    tables = {**trace_tables(traces), **state_tables(blocks, ([piece] for piece in traces))}
    return Run(None, manifest, tables)


def _span(threads: Collection[_Thread], time_ps: Any, path: Path) -> tuple[int, int]:
    """When the trace begins, and how long it lasts (ps). An export of the workbench's own tells that, in which all of
    its events are. WorkbenchError where it lasts longer than any run."""
    first_ps = min(start for thread in threads for start, _, _ in thread.stretches)
    last_ps = max(end for thread in threads for _, end, _ in thread.stretches)
    if isinstance(time_ps, int) and last_ps <= time_ps <= MOST_AMOUNT:
        return 0, time_ps
    if last_ps - first_ps > MOST_AMOUNT:
        lasts, most = (time_text(ps / PS_PER_S) for ps in (last_ps - first_ps, MOST_AMOUNT))
        hint = "Export a shorter part of it. `ts` and `dur` are microseconds."
        message = f"this trace lasts {lasts}, and a run can last {most} at most"
        raise WorkbenchError(Diagnostic(message, hint, file=str(path)))
    return first_ps, last_ps - first_ps


def _text(given: Any) -> str:
    """A text as files can hold it: what is no character is a question mark."""
    return str(given).encode("utf-8", "replace").decode()


def _document(path: Path) -> Any:
    if path.stat().st_size > LIMIT_BYTES:
        hint = "Export a shorter part of it."
        raise WorkbenchError(Diagnostic(f"this trace is larger than {LIMIT_BYTES >> 20} MiB", hint, file=str(path)))
    try:
        return json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise WorkbenchError(
            Diagnostic(f"this is not JSON: {error.msg}", _HINT, file=str(path), line=error.lineno, column=error.colno)
        ) from None
    except (UnicodeDecodeError, RecursionError):
        raise WorkbenchError(Diagnostic("this is not JSON", _HINT, file=str(path))) from None
    except ValueError:
        raise WorkbenchError(
            Diagnostic("a number in this trace has thousands of digits", _HINT, file=str(path))
        ) from None


Key = tuple[str, str]  # process and thread


def _order(item: tuple[Key, _Thread]) -> tuple[int, ...]:
    return tuple(int(part) if part.isdecimal() and len(part) < 20 else 1 << 62 for part in item[0])


def _threads(events: Sequence[Any], path: Path, job: Job) -> tuple[dict[Key, _Thread], dict[str, str]]:
    threads: dict[Key, _Thread] = {}
    processes: dict[str, str] = {}
    for number, event in enumerate(events):
        if not number % 10_000:
            job.check()
            job.progress(number / len(events))
        if not isinstance(event, dict):
            continue
        key = (_text(event.get("pid", 0)), _text(event.get("tid", 0)))
        thread = threads.setdefault(key, _Thread())
        kind, name, category = event.get("ph"), _text(event.get("name", "")), _text(event.get("cat", ""))
        given = event.get("args")
        args = given if isinstance(given, dict) else {}
        try:
            if kind == "M" and name == "process_name":
                processes[key[0]] = _text(args.get("name", ""))
            elif kind == "M" and name == "thread_name":
                thread.name = _text(args.get("name", ""))
            elif kind == "X":
                start_ps = _ps(event["ts"], args.get("start_ps"))
                thread.add(start_ps, start_ps + _ps(event.get("dur", 0), args.get("duration_ps")), name, category)
            elif kind == "B":
                thread.begun.append((_ps(event["ts"], None), name, category))
            elif kind == "E" and thread.begun:
                start_ps, name, category = thread.begun.pop()
                thread.add(start_ps, max(start_ps, _ps(event["ts"], None)), name, category)
        except (KeyError, TypeError, ValueError, OverflowError):
            problem = f"event {number} ('{name[:40]}') has no readable time"
            raise WorkbenchError(Diagnostic(problem, "`ts` and `dur` are microseconds.", file=str(path))) from None
    return threads, processes


def _ps(time_us: Any, exact_ps: Any) -> int:
    ps = exact_ps if isinstance(exact_ps, int) else round(float(time_us) * PS_PER_US)
    if not 0 <= ps < 1 << 62:
        raise ValueError
    return ps


def _block(thread: _Thread, key: Key, process: str, taken: Collection[str], path: Path) -> Block:
    name = thread.name or f"{process or 'process ' + key[0]}.thread {key[1]}"
    while name in taken:
        name = f"{name} ({key[0]}, {key[1]})"
    if len(thread.states) > MOST_STATES:
        problem = f"thread '{name}' has events of {counted(len(thread.states), 'name')}"
        hint = f"A block has at most {MOST_STATES} states: leave some out in the program that made the trace."
        raise WorkbenchError(Diagnostic(problem, hint, file=str(path)))
    states = tuple(State(n, said, _CATEGORIES.get(cat)) for (said, cat), n in thread.states.items())
    side = Side.FPGA if process.lower() == Side.FPGA.value else Side.HOST
    return Block(name, side, process or _text(path.stem), "thread", name, states)


def _flat(stretches: Iterable[Stretch], first_ps: int, total_ps: int) -> Iterator[tuple[int, int]]:
    """When each state of a thread begins, without gaps and overlaps: the innermost counts."""
    time = 0
    open_: list[tuple[int, int]] = []  # end and state of those around

    def until(moment: int) -> Iterator[tuple[int, int]]:
        """What goes on from `time` to a moment, as events end one after the other."""
        nonlocal time
        while time < moment:
            while open_ and open_[-1][0] <= time:
                open_.pop()
            yield time, open_[-1][1] if open_ else 0
            time = min(moment, open_[-1][0]) if open_ else moment

    for start, end, state in sorted(stretches, key=lambda s: (s[0], -s[1])):
        yield from until(min(start - first_ps, total_ps))
        if end > start:
            open_.append((end - first_ps, state))
    yield from until(total_ps)

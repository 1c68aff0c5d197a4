"""Measured transfer tables: the times of a run's calls by size, and their points in a template's text."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.formats.units import written
from workbench.formats.yaml_edit import set_value
from workbench.formats.yaml_marks import read_marked, value_at
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import CallKind, Platform
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import NARROW, time_text

SAME = 0.02  # the largest difference of two measurements that count as equal


@dataclass(frozen=True)
class SizeTime:
    """Transfers of one size: `time_s` is the median time of one, `low_s` and `high_s` are the quartiles. If `together`
    transfers were under way at once, their time is divided among them."""

    bytes: int
    calls: int
    time_s: float
    low_s: float
    high_s: float
    together: int = 1


@dataclass(frozen=True)
class EntryTimes:
    """The times of one entry's calls by increasing size; `at_once` are those with several calls under way, if there
    were any."""

    table: str
    entry: int
    points: tuple[SizeTime, ...]
    at_once: tuple[SizeTime, ...] = ()

    @property
    def overlaps(self) -> bool:
        """Whether several calls at once take less time than one after the other."""
        alone = {point.bytes: point.time_s for point in self.points}
        shares = [point.time_s / alone[point.bytes] for point in self.at_once if point.bytes in alone]
        return bool(shares) and float(np.median(shares)) < 0.5


def measured(run: Run, platform: Platform) -> tuple[EntryTimes, ...]:
    """The times by entry and size, in the platform's order. A non-blocking transfer ends with the next call of kind
    wait.

    WorkbenchError where the run holds no call that names a transfer table.
    """
    times = _times_ps(run, platform)
    entry_times = []
    for number, entry in enumerate(platform.host.entries):
        sizes = sorted({size for of, size, _ in times if of == number})
        by = {n: tuple(_point(size, n, times[number, size, n]) for size in sizes if (number, size, n) in times)
              for n in sorted({n for of, _, n in times if of == number})}  # fmt: skip
        if 1 in by:
            entry_times.append(EntryTimes(entry.transfer, number, by[1], by[max(by)] if max(by) > 1 else ()))
    if not entry_times:
        hint = (
            "Run a program whose calls name transfer tables in the template, and which waits for its nonblocking calls."
        )
        raise WorkbenchError(Diagnostic("this run has no transfer to measure", hint, file=str(run.path)))
    return tuple(entry_times)


def _times_ps(run: Run, platform: Platform) -> Mapping[tuple[int, int, int], list[float]]:
    """The times (ps) of one transfer by (entry, bytes, number under way at once)."""
    names = ("entry", "bytes", "t0_ps", "t1_ps", "block")
    columns = [run.tables["calls"][name] for name in names]
    entries = platform.host.entries
    times: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    pending: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # by thread: entry, bytes, start
    for entry, size, t0_ps, t1_ps, thread in zip(*(column.tolist() for column in columns), strict=True):
        if not 0 <= entry < len(entries):
            continue
        manifest_entry = entries[entry]
        if manifest_entry.kind is CallKind.WAIT:
            group = pending.pop(thread, [])
            if len({(of, moved) for of, moved, _ in group}) == 1:
                of, moved, began_ps = group[0]
                times[of, moved, len(group)].append((t1_ps - began_ps) / len(group))
        elif manifest_entry.kind.moves and manifest_entry.transfer and size > 0:
            if manifest_entry.asynchronous:
                pending[thread].append((entry, size, t0_ps))
            else:
                times[entry, size, 1].append(t1_ps - t0_ps)
    return times


def _point(size: int, together: int, times_ps: Sequence[float]) -> SizeTime:
    low, middle, high = np.percentile(times_ps, [25, 50, 75]) / PS_PER_S
    return SizeTime(size, len(times_ps), float(middle), float(low), float(high), together)


def with_tables(text: str, platform: Platform, measured_times: Sequence[EntryTimes], how: str) -> str:
    """The template's text with the measured points in its tables. All else is kept, also comments and the points of
    smaller and larger sizes than measured.

    `how` is said at every point. Non-blocking calls that take other times than the blocking ones of their table, or
    overlap, get a table of their own. WorkbenchError where the text cannot be edited.
    """
    by_table: dict[str, EntryTimes] = {}
    for one in measured_times:
        name = one.table
        if name in by_table:
            if _alike(by_table[name], one) and platform.transfer_tables[name].overlaps == one.overlaps:
                continue
            name = f"{name}_nonblocking"
            text = set_value(text, ("host", "entries", one.entry, "transfer"), name)
        by_table[name] = one
        text = _with_table(text, platform, name, one, how)
    return text


def _alike(a: EntryTimes, b: EntryTimes) -> bool:
    times = {point.bytes: point.time_s for point in a.points}
    return all(abs(p.time_s / times[p.bytes] - 1) <= SAME for p in b.points if p.bytes in times)


def _with_table(text: str, platform: Platform, name: str, one: EntryTimes, how: str) -> str:
    beside = {point.bytes: point for point in one.at_once}
    points = [_written(p.bytes, p.time_s, _source(p, beside.get(p.bytes), how)) for p in one.points]
    old = platform.transfer_tables.get(name)
    if old is None:
        return set_value(text, ("transfer_tables", name), {**_like(platform, one), "points": points})
    path = ("transfer_tables", name, "points")
    marked, _ = read_marked(text)
    as_typed = list(zip(old.points, value_at(marked.data, path) if marked else (), strict=True))
    below = [typed for point, typed in as_typed if point.bytes < one.points[0].bytes]
    above = [typed for point, typed in as_typed if point.bytes > one.points[-1].bytes]
    text = set_value(text, path, [*below, *points, *above])
    if one.at_once and one.overlaps != old.overlaps:
        text = set_value(text, ("transfer_tables", name, "overlaps"), one.overlaps)
    return text


def _written(size: int, time_s: float, source: str) -> dict[str, int | str]:
    time = written(float(f"{time_s:.6g}"), "s")
    return {"bytes": size if size < 1024 else written(size, "B"), "time_s": time, "source": source}


def _like(platform: Platform, one: EntryTimes) -> dict[str, str | bool]:
    """The fields of a new table other than its points, like those of the table that its entry named."""
    of, entry = platform.transfer_tables[one.table], platform.host.entries[one.entry]
    return {
        "title": f"{of.title or one.table.capitalize()}, nonblocking",
        "direction": entry.kind.value,
        "resource": of.resource,
        **({"port": of.port} if of.port else {}),
        **({"overlaps": True} if one.overlaps else {}),
    }


def _source(alone: SizeTime, at_once: SizeTime | None, how: str) -> str:
    """The source text of a measured point, with the quartiles of its times."""
    (low, unit), (high, of_high) = (time_text(time_s).split(NARROW) for time_s in (alone.low_s, alone.high_s))
    median_words = f"{how}: median of {alone.calls}, {low}{f' {unit}' if unit != of_high else ''} to {high} {of_high}"
    if at_once is None:
        return median_words
    return f"{median_words}; {at_once.together} at once {time_text(at_once.time_s).replace(NARROW, ' ')} each"


def how_taken(run: Run) -> str:
    """The source text of a run's points."""
    return f"{run.manifest.created[:10]}, {'simulated card' if run.manifest.simulated else 'machine'}"

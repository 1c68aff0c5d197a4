"""What the rules' metrics say of calls: how many, how large, how fast they were, and how fast they could be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.api import Selected, Value
from workbench.api.unstable import transfer_s

if TYPE_CHECKING:  # every start reads this table
    from workbench.api import CallMetrics, HostEntry
    from workbench.api.results import TableStatistics


def call_count(s: Selected) -> int:
    return sum(c.count for c in s.calls)


def moved_bytes(s: Selected) -> int:
    return sum(c.bytes for c in s.calls)


def run_count(s: Selected) -> int:
    return sum(c.runs.count for c in s.calls)


def runs_of_a_site(s: Selected) -> int:
    return max((c.runs.count for c in s.calls), default=0)


def longest(compute: Callable[[CallMetrics], Value | None]) -> Callable[[Selected], Value | None]:
    """A value of the call that takes longest."""
    return lambda s: compute(max(s.calls, key=lambda c: c.time_s)) if s.calls else None


def table(compute: Callable[[TableStatistics], Value]) -> Callable[[Selected], Value | None]:
    """What the platform's transfer tables say of the call that takes longest."""
    return longest(lambda call: compute(call.table) if call.table else None)


def best_rate(s: Selected) -> Value | None:
    """Without a table, the best rate that any call of the same entry reached stands for it."""
    return longest(lambda call: call.table.best_rate if call.table else best_seen(call, s.of.calls))(s)


def best_seen(call: CallMetrics, everyone: Sequence[CallMetrics]) -> float:
    return max((c.rate.max for c in everyone if c.rate and c.entry == call.entry), default=0.0)


def time_at_best(s: Selected) -> float:
    def of(call: CallMetrics) -> float:
        best = 0.0 if call.table else best_seen(call, s.of.calls)
        return call.table.time_at_best_s if call.table else call.bytes / best if best else call.time_s

    return sum(of(call) for call in s.calls)


def time_of_empty_calls(s: Selected) -> float:
    """The time of as many calls of the smallest size in their tables; a call without a table takes no time."""
    return sum(min(c.count * c.table.least_time_s, c.time_s) for c in s.calls if c.table)


def overlapped(s: Selected, call: CallMetrics) -> tuple[float, str]:
    """Seconds of the same bytes by calls that return before the transfer ends, and their type; the call's own time and
    "" where the platform's tables have no quicker one."""
    tables = s.of.platform.transfer_tables if s.of.platform else {}
    own = tables.get(call.table.type) if call.table else None
    names = {entry.transfer for entry in host_entries(s) if entry.asynchronous and entry.transfer in tables}
    rivals = [(name, tables[name]) for name in sorted(names) if own and tables[name].direction == own.direction]
    times = [(call.count * float(transfer_s(t, call.bytes_per_call)), name) for name, t in rivals if t.points]
    return min([*times, (call.time_s, "")])


def time_overlapped(s: Selected) -> float:
    return sum(overlapped(s, call)[0] for call in s.calls)


def overlapped_type(s: Selected) -> Value | None:
    return longest(lambda call: overlapped(s, call)[1])(s)


def waits_for_them(s: Selected) -> float:
    """Waits that may be for the selected transfers: all of the thread's, where some return before they end."""
    entries = zip(s.of.run.manifest.entries, host_entries(s), strict=False)
    early = {entry for entry, described in entries if described.asynchronous}
    return s.host.waiting.total_s if any(c.entry in early for c in s.calls) else 0.0


def host_entries(s: Selected) -> Sequence[HostEntry]:
    return s.of.platform.host.entries if s.of.platform else ()

"""The metrics of ReCAP's rules (2011, sections 4 to 6): one line each, with the function that computes it."""

from __future__ import annotations

import math

from rc_workbench_plugins.recap_rules.bounds import BOUND_METRICS, work_s
from rc_workbench_plugins.recap_rules.calls import (
    best_rate,
    call_count,
    host_entries,
    longest,
    moved_bytes,
    overlapped_type,
    run_count,
    runs_of_a_site,
    table,
    time_at_best,
    time_overlapped,
)
from rc_workbench_plugins.recap_rules.fifos import FIFO_METRICS
from rc_workbench_plugins.recap_rules.imbalance import IMBALANCE_METRICS
from rc_workbench_plugins.recap_rules.memory import MEMORY_METRICS
from workbench.api import Category, Metric, Selected, Side
from workbench.api.unstable import COMMUNICATION, WAITS


def _ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom else 0.0


def _work_share(s: Selected) -> float:
    return max((b.share_of(Category.WORK) for b in s.of.blocks if b.block.side is Side.FPGA), default=0.0)


def _late_replicas(s: Selected) -> int:
    late = s.late_block
    return sum(b.block.group == late.block.group for b in s.of.blocks) if late else 0


def _host_wait_share(s: Selected) -> float:
    """The waiting share of the thread that waits least among those that wait."""
    shares = [b.share_of(*WAITS) for b in s.of.blocks if b.block.side is Side.HOST]
    return min((share for share in shares if share > 0), default=0.0)


METRICS = (
    Metric("total", "Time of the run", "time", lambda s: s.of.run.time_s),
    Metric("threshold", "Least speedup reported", "ratio", lambda s: s.of.threshold),
    # the selection
    Metric("time", "Time in these states or calls", "time", lambda s: s.time_s),
    Metric("share", "Share of the run", "share", lambda s: _ratio(s.time_s, s.of.run.time_s)),
    Metric("visits", "Times entered", "count", lambda s: sum(x.visits for x in s.states)),
    Metric("cycles", "Clock cycles", "count", lambda s: sum(x.cycles for x in s.states)),
    Metric("time_each", "Time of each visit", "time", lambda s: _ratio(s.time_s, sum(x.visits for x in s.states))),
    *FIFO_METRICS,  # of a FIFO
    *MEMORY_METRICS,  # of a port into memory
    *IMBALANCE_METRICS,  # of blocks that share the work
    # the calls in it (host only)
    Metric("count", "Calls", "count", call_count),
    Metric("sites", "Call sites", "count", lambda s: len({c.site_number for c in s.calls})),
    Metric("targets", "FPGA blocks that these calls name", "count", lambda s: s.targets),
    Metric("bytes", "Bytes moved", "size", moved_bytes),
    Metric("bytes_per_call", "Bytes in one call", "size", lambda s: _ratio(moved_bytes(s), call_count(s))),
    Metric("rate.min", "Lowest rate", "rate", lambda s: min((c.rate.min for c in s.calls if c.rate), default=None)),
    Metric("rate.avg", "Average rate", "rate", lambda s: _ratio(moved_bytes(s), sum(c.time_s for c in s.calls))),
    Metric("rate.max", "Highest rate", "rate", lambda s: max((c.rate.max for c in s.calls if c.rate), default=None)),
    Metric("runs.count", "Runs of consecutive calls", "count", run_count),
    Metric("runs.min", "Fewest calls in a row", "count", lambda s: min((c.runs.min for c in s.calls), default=0)),
    Metric("runs.avg", "Average calls in a row", "number", lambda s: _ratio(call_count(s), run_count(s))),
    Metric("runs.max", "Most calls in a row", "count", lambda s: max((c.runs.max for c in s.calls), default=0)),
    Metric("runs.site", "Most runs of one site's calls", "count", runs_of_a_site),
    Metric("together.count", "Most consecutive calls in one direction", "count", lambda s: s.together.count),
    Metric("together.data", "Number of these that move data", "count", lambda s: s.together.data),
    Metric("together.bytes", "Bytes of these calls", "size", lambda s: s.together.bytes),
    Metric("together.table", "Fastest transfer table for these bytes", "text", lambda s: s.together.table),
    Metric(
        "starts.together",
        "Most rounds in a row without data between them",
        "count",
        lambda s: s.starts_together,
    ),
    Metric("poll.sites", "Calls that ask whether the FPGA is ready", "count", lambda s: s.poll_sites),
    Metric("poll.due_time", "Best delay before these polls", "time", lambda s: s.due_s),
    Metric("longest.label", "Slowest call", "text", longest(lambda c: c.site.label)),
    Metric("longest.bytes_per_call", "Bytes in one call of the slowest", "size", longest(lambda c: c.bytes_per_call)),
    Metric(
        "longest.rate", "Average rate of the slowest call", "rate", longest(lambda c: c.rate.avg if c.rate else None)
    ),
    # what the platform's transfer tables say of those calls; of several calls, of the one that takes longest
    Metric("table.known", "The platform has a transfer table for these calls", "flag", table(lambda t: 1.0)),
    Metric("table.type", "Type of transfer", "text", table(lambda t: t.type)),
    Metric("table.moved", "Bytes that the run moves in this direction", "size", table(lambda t: t.moved)),
    Metric("table.best_rate", "Best rate of any type and size", "rate", best_rate),
    Metric("table.best_type", "Type with the best rate", "text", table(lambda t: t.best_type)),
    Metric("table.best_size", "Size with the best rate", "size", table(lambda t: t.best_size)),
    Metric(
        "table.best_range_low",
        "Size from which the best type reaches 95 %",
        "size",
        table(lambda t: t.best_range_low),
    ),
    Metric("table.best_rate_of_type", "Best rate of this type", "rate", table(lambda t: t.best_rate_of_type)),
    Metric(
        "table.best_size_of_type", "Size with the best rate of this type", "size", table(lambda t: t.best_size_of_type)
    ),
    Metric("table.range_low", "Size from which this type reaches 95 %", "size", table(lambda t: t.range_low)),
    Metric(
        "table.range_high",
        "Size up to which this type reaches 95 %",
        "size",
        table(lambda t: math.inf if t.range_high is None else t.range_high),
    ),
    Metric("table.best_type_at_size", "Best type at this size", "text", table(lambda t: t.best_type_at_size)),
    Metric("table.best_rate_at_size", "Best rate at this size", "rate", table(lambda t: t.best_rate_at_size)),
    Metric("table.time_at_best", "Time at the best type and size", "time", time_at_best),
    Metric(
        "table.time_at_best_size",
        "Time at this type's best size",
        "time",
        lambda s: sum(c.table.time_at_best_size_s if c.table else c.time_s for c in s.calls),
    ),
    Metric(
        "table.time_at_best_type",
        "Time at the best type for this size",
        "time",
        lambda s: sum(c.table.time_at_best_type_s if c.table else c.time_s for c in s.calls),
    ),
    Metric("table.time_overlapped", "Time of calls that return before the transfer ends", "time", time_overlapped),
    Metric("table.overlapped_type", "Type of transfer of such calls", "text", overlapped_type),
    # the block that the selection is of
    Metric(
        "block.work_share",
        "Share of the block's time spent working",
        "share",
        lambda s: s.block.share_of(Category.WORK),
    ),
    Metric(
        "block.overhead_share",
        "Share of the block's time in overhead",
        "share",
        lambda s: s.block.share_of(Category.OVERHEAD),
    ),
    Metric(
        "block.communication_share",
        "Share of the block's time sending and receiving",
        "share",
        lambda s: s.block.share_of(*COMMUNICATION),
    ),
    Metric("block.waited_for", "Another block waits for this one", "flag", lambda s: float(s.waited_for)),
    Metric("block.wait_share", "Share of the block's time waiting", "share", lambda s: s.block.share_of(*WAITS)),
    Metric(
        "block.has_work",
        "The block did any work",
        "flag",
        lambda s: float(s.block.time_of(Category.WORK) > 0),
    ),
    Metric("block.group", "The block, or its replicas together", "text", lambda s: s.block.block.group),
    Metric("block.clock", "Clock of the block", "text", lambda s: s.block.clock.name if s.block.clock else None),
    Metric(
        "block.clock_hz",
        "Clock frequency in Hz",
        "number",
        lambda s: s.block.clock.frequency_hz if s.block.clock else None,
    ),
    # the selection's waits
    Metric("late_time", "Waiting time before the FPGA was ready", "time", lambda s: s.waiting.late_s),
    Metric("after_ready_time", "Waiting time after the FPGA was ready", "time", lambda s: s.waiting.after_ready_s),
    Metric(
        "chance_time",
        "Part of these waits that polls at other moments may save",
        "time",
        lambda s: s.waiting.chance_s,
    ),
    # what goes with the selection's calls
    Metric("loop_time", "Host's own time in the loops around these calls", "time", lambda s: s.loops_s),
    Metric(
        "served_time",
        "Time of control messages, waits and loops around these calls",
        "time",
        lambda s: s.served_s,
    ),
    # its replicas, if it has any
    Metric("replicas.count", "Replicas", "count", lambda s: len(s.replicas_s)),
    Metric(
        "replicas.time_least",
        "Smallest time of a replica in these states",
        "time",
        lambda s: min(s.replicas_s, default=0.0),
    ),
    Metric(
        "replicas.time_mean",
        "Mean time of a replica in these states",
        "time",
        lambda s: _ratio(sum(s.replicas_s), len(s.replicas_s)),
    ),
    Metric(
        "replicas.time_most",
        "Largest time of a replica in these states",
        "time",
        lambda s: max(s.replicas_s, default=0.0),
    ),
    Metric("replicas.time_sum", "Time in these states, all replicas together", "time", lambda s: sum(s.replicas_s)),
    # the two sides
    Metric("host.own_time", "Time of the host's own work", "time", lambda s: s.host.own_s),
    Metric("host.transfer_time", "Time of the host's transfers", "time", lambda s: s.host.transfer_s),
    Metric("host.wait_time", "Time that the host waits", "time", lambda s: s.host.waiting.total_s),
    Metric(
        "host.late_time",
        "Time that the host waits before the FPGA is ready",
        "time",
        lambda s: s.host.waiting.late_s,
    ),
    Metric(
        "host.after_ready_time",
        "Time that the host waits after the FPGA was ready",
        "time",
        lambda s: s.host.waiting.after_ready_s,
    ),
    Metric(
        "fpga.work_time",
        "Time in which the FPGA works and a block waits for it",
        "time",
        work_s,
        stays="only the FPGA's own work remains",
    ),
    Metric(
        "host.chance_time",
        "Part of the host's waits that polls at other moments may save",
        "time",
        lambda s: s.host.waiting.chance_s,
    ),
    Metric("host.wait_share", "Share of the run that the host waits for the FPGA", "share", _host_wait_share),
    Metric("fpga.work_share", "Share of the run that the busiest FPGA block works", "share", _work_share),
    Metric("culprit", "Late block or side", "text", lambda s: s.culprit_title),
    Metric(
        "late.block",
        "The FPGA's block that is late, or its replicas together",
        "text",
        lambda s: s.late_block.block.group if s.late_block else None,
    ),
    Metric("late.replicas", "Replicas of the block that is late", "count", _late_replicas),
    # what the platform offers
    Metric(
        "platform.interrupt",
        "The platform can interrupt the host",
        "flag",
        lambda s: float(any(e.kind.value == "interrupt" for e in host_entries(s))),
    ),
    Metric(
        "platform.asynchronous",
        "The platform has calls that return before the transfer ends",
        "flag",
        lambda s: float(any(e.asynchronous for e in host_entries(s))),
    ),
    Metric(
        "platform.port",
        "Style of the platform's port",
        "text",
        lambda s: s.of.platform.hardware.ports[0].kind if s.of.platform and s.of.platform.hardware else None,
    ),
    *BOUND_METRICS,  # the least time of the run once something is fixed: what a suggestion's bound rests on
)

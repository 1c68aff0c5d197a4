"""The metrics that rules may name: one table, from which the rule reader, the reports and the help are made.

A metric is of a selection: the states (and, on the host, the calls) that a rule's `select` picks from one block or one
call. Times are seconds, sizes bytes, rates bytes per second, shares 0 to 1. A metric that does not apply is 0 (or "").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.model.text import bytes_text, count_text, percent_text, rate_text, ratio_text, significant, time_text

Value = float | int | str


@dataclass(frozen=True)
class MetricName:
    """`unit` is one of: time, share, size, rate, count, ratio, text, number, flag."""

    title: str
    unit: str


METRICS: dict[str, MetricName] = {
    "total": MetricName("Time of the run", "time"),
    "threshold": MetricName("Least speedup reported", "ratio"),
    # the selection
    "time": MetricName("Time in these states or calls", "time"),
    "share": MetricName("Share of the run", "share"),
    "visits": MetricName("Times entered", "count"),
    "cycles": MetricName("Clock cycles", "count"),
    "time_each": MetricName("Time each time", "time"),
    # the calls in it (host only)
    "count": MetricName("Calls", "count"),
    "sites": MetricName("Call sites", "count"),
    "targets": MetricName("FPGA blocks that these calls name", "count"),
    "bytes": MetricName("Bytes moved", "size"),
    "bytes_per_call": MetricName("Bytes in one call", "size"),
    "rate.min": MetricName("Rate, least", "rate"),
    "rate.avg": MetricName("Rate, average", "rate"),
    "rate.max": MetricName("Rate, greatest", "rate"),
    "runs.count": MetricName("Runs of consecutive calls", "count"),
    "runs.min": MetricName("Calls in a row, least", "count"),
    "runs.avg": MetricName("Calls in a row, average", "number"),
    "runs.max": MetricName("Calls in a row, most", "count"),
    "longest.label": MetricName("The call that takes longest", "text"),
    "longest.bytes_per_call": MetricName("Its bytes in one call", "size"),
    "longest.rate": MetricName("Its rate, average", "rate"),
    # what the platform's transfer tables say of those calls; of several calls, of the one that takes longest
    "table.known": MetricName("The platform has a transfer table", "flag"),
    "table.type": MetricName("Type of transfer", "text"),
    "table.moved": MetricName("Bytes that the run moves in this direction", "size"),
    "table.best_rate": MetricName("Best rate of any type and size", "rate"),
    "table.best_type": MetricName("Type with the best rate", "text"),
    "table.best_size": MetricName("Size with the best rate", "size"),
    "table.best_range_low": MetricName("Size from which the best type reaches 95 %", "size"),
    "table.best_rate_of_type": MetricName("Best rate of this type", "rate"),
    "table.range_low": MetricName("Size from which this type reaches 95 %", "size"),
    "table.range_high": MetricName("Size up to which this type reaches 95 %", "size"),
    "table.best_type_at_size": MetricName("Best type at this size", "text"),
    "table.best_rate_at_size": MetricName("Best rate at this size", "rate"),
    "table.time_at_best": MetricName("Time at the best type and size", "time"),
    "table.time_at_best_size": MetricName("Time at this type's best size", "time"),
    "table.time_at_best_type": MetricName("Time at the best type for this size", "time"),
    # the block that the selection is of
    "block.work_share": MetricName("Share of the block's time at work", "share"),
    "block.overhead_share": MetricName("Share of the block's time in overhead", "share"),
    "block.communication_share": MetricName("Share of the block's time sending and receiving", "share"),
    "block.wait_share": MetricName("Share of the block's time waiting", "share"),
    "block.has_work": MetricName("The block has a state of work", "flag"),
    # the selection's waits
    "late_time": MetricName("Time waited before the FPGA was ready", "time"),
    "after_ready_time": MetricName("Time waited after the FPGA was ready", "time"),
    "chance_time": MetricName("Of that, what polls at other moments may save by chance", "time"),
    # what goes with the selection's calls
    "loop_time": MetricName("Host's own time in the loops around these calls", "time"),
    "served_time": MetricName("Control messages and waits beside these calls, and the loops around all", "time"),
    # its replicas, if it has any
    "replicas.count": MetricName("Replicas", "count"),
    "replicas.time_least": MetricName("Time in these states, least of the replicas", "time"),
    "replicas.time_mean": MetricName("Time in these states, mean of the replicas", "time"),
    "replicas.time_most": MetricName("Time in these states, most of the replicas", "time"),
    "replicas.time_sum": MetricName("Time in these states, all replicas together", "time"),
    # the two sides
    "host.own_time": MetricName("Time of the host's own work", "time"),
    "host.transfer_time": MetricName("Time of the host's transfers", "time"),
    "host.wait_time": MetricName("Time that the host waits", "time"),
    "host.late_time": MetricName("Time that the host waits before the FPGA is ready", "time"),
    "host.after_ready_time": MetricName("Time that the host waits after the FPGA was ready", "time"),
    "fpga.work_time": MetricName("Time that the busiest FPGA block works", "time"),
    "host.chance_time": MetricName("Of that, what polls at other moments may save by chance", "time"),
    "host.wait_share": MetricName("Share of the run that the host waits for the FPGA", "share"),
    "fpga.work_share": MetricName("Share of the run that the busiest FPGA block works", "share"),
    "culprit": MetricName("Who is late", "text"),
    # what the platform offers
    "platform.interrupt": MetricName("The platform can interrupt the host", "flag"),
    "platform.asynchronous": MetricName("The platform has calls that return before the transfer ends", "flag"),
    "platform.port": MetricName("Style of the platform's port", "text"),
    # the least time of the run once something is mended: what a suggestion's bound rests on
    "left.without_this": MetricName("Least time without what is lost in these states or calls", "time"),
    "left.without_all": MetricName("Least time without these states or calls", "time"),
    "left.overlapped": MetricName("Least time with the host's work and transfers beside the FPGA's work", "time"),
    "left.side_by_side": MetricName("Least time with host, transfers and FPGA side by side", "time"),
    "left.without_culprit": MetricName("Least time if who is late took no time", "time"),
    "left.united": MetricName("Least time with these transfers united, and what goes with them gone", "time"),
    "left.fewer": MetricName("Least time without these calls and what goes with them", "time"),
    "left.prompt": MetricName("Least time if the host knew at once that the FPGA is ready", "time"),
}

#: Who stays, in words, for each of the bounds that rules may name.
STAYS = {
    "left.without_this": "everything else takes the time it took",
    "left.without_all": "everything else takes the time it took",
    "left.overlapped": "the host's own work and its transfers stay one after the other, and so does the FPGA's work",
    "left.side_by_side": "the host's work, the transfers and the FPGA's work stay, side by side",
    "left.without_culprit": "only who is late becomes faster",
    "left.united": "the same bytes at the best rate, the host's own work and the FPGA's work stay; the control messages"
    " and polls beside these transfers can go with them",
    "left.fewer": "the transfers of data, the host's own work and the FPGA's work stay; the polls beside these messages"
    " can go with them",
    "left.prompt": "the FPGA is ready no sooner than it was",
    "fpga.work_time": "only the FPGA's own work stays",
}
DEFAULT = "left.without_this"

_FORMATS: dict[str, Callable[[float], str]] = {
    "time": time_text,
    "share": percent_text,
    "percent": percent_text,
    "size": bytes_text,
    "rate": rate_text,
    "count": count_text,
    "ratio": ratio_text,
    "number": significant,
    "flag": lambda value: "yes" if value else "no",
}
UNITS = tuple(_FORMATS)


def value_text(value: Value, unit: str) -> str:
    """A value as a person reads it."""
    if isinstance(value, str) or unit == "text":
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        return "no limit" if value == float("inf") else "none"
    return _FORMATS[unit](value)


def metric_text(name: str, value: Value) -> str:
    return value_text(value, METRICS[name].unit if name in METRICS else "number")

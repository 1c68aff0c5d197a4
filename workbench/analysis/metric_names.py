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
    "table.best_rate": MetricName("Best rate of any type and size", "rate"),
    "table.best_type": MetricName("Type with the best rate", "text"),
    "table.best_size": MetricName("Size with the best rate", "size"),
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
    # its replicas, if it has any
    "replicas.count": MetricName("Replicas", "count"),
    "replicas.time_least": MetricName("Time in these states, least of the replicas", "time"),
    "replicas.time_mean": MetricName("Time in these states, mean of the replicas", "time"),
    "replicas.time_most": MetricName("Time in these states, most of the replicas", "time"),
    # the two sides
    "host.wait_share": MetricName("Share of the run that the host waits for the FPGA", "share"),
    "fpga.work_share": MetricName("Share of the run that the busiest FPGA block works", "share"),
    "culprit": MetricName("Who is late", "text"),
}

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

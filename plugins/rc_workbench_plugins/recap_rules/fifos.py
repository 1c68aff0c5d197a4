"""Metrics of the FIFOs that a run counted: who waits before and behind them, and for how long."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.api import Metric, Selected, Value
from workbench.api.unstable import below_top

if TYPE_CHECKING:
    from workbench.api.results import FifoMetrics, StreamMetrics

HOST = "the host"
_PASSES_ON = 0.5  # of what waits behind it an instance has waited for itself that only passes on


def _fifo(compute: Callable[[FifoMetrics], Value]) -> Callable[[Selected], Value | None]:
    return lambda s: compute(s.fifo) if s.fifo else None


def _name(instance: str) -> str:
    return below_top(instance) or HOST


def _starved_s(stream: StreamMetrics) -> float:
    return stream.source_stalls / stream.clock_hz


def _elsewhere_s(fifo: FifoMetrics) -> float:
    """Time (s) in which its receiver does not take, since nothing is offered on another stream that it needs together
    with this one."""
    out = fifo.output
    return sum(held.cycles for held in out.held if (held.signal, held.held_by) == ("ready", "valid")) / out.clock_hz


def slow_source(fifo: FifoMetrics, streams: Sequence[StreamMetrics]) -> str:
    """The block that the receivers of an empty FIFO wait for: its sender, or the block that the sender itself waited
    for, and so on. Empty outside of the design; in a ring, in which all wait for all, its sender."""
    slow, seen = fifo.input.stream.source, {fifo.fifo.id}
    wanted = _PASSES_ON * _starved_s(fifo.output)
    while slow and slow not in seen:
        seen.add(slow)
        before = [one for one in streams if one.stream.target == slow and _starved_s(one) >= wanted]
        if not before:
            return slow
        slow = max(before, key=_starved_s).stream.source
    return slow and fifo.input.stream.source


def _slow(s: Selected) -> Value | None:
    return _name(slow_source(s.fifo, s.of.streams)) if s.fifo else None


_OF_FIFO = (
    Metric("fifo.name", "FIFO", "text", _fifo(lambda f: _name(f.fifo.id))),
    Metric("fifo.id", "Full name of the FIFO", "text", _fifo(lambda f: f.fifo.id)),
    Metric("fifo.source", "Block that writes to the FIFO", "text", _fifo(lambda f: _name(f.input.stream.source))),
    Metric("fifo.target", "Block that reads from the FIFO", "text", _fifo(lambda f: _name(f.output.stream.target))),
    Metric("fifo.depth", "Depth of the FIFO in words; 0 if unknown", "count", _fifo(lambda f: f.fifo.depth)),
    Metric(
        "fifo.least_depth",
        "Smallest depth that costs under 1 % of time, by replay of the run; 0 if unknown",
        "count",
        lambda s: s.of.least_depth(s.fifo.fifo.id) if s.fifo else None,
    ),
    Metric("fifo.most", "Most words in the FIFO", "count", _fifo(lambda f: f.most)),
    Metric("fifo.mean", "Average words in the FIFO", "number", _fifo(lambda f: f.mean)),
    Metric("fifo.passed", "Words that passed through the FIFO", "count", _fifo(lambda f: f.output.transfers)),
    Metric("fifo.full_share", "Share of cycles in which the FIFO was full", "share", _fifo(lambda f: f.full_share)),
    Metric("fifo.empty_share", "Share of cycles in which the FIFO was empty", "share", _fifo(lambda f: f.empty_share)),
    Metric(
        "fifo.held_up_time",
        "Time in which a writer waited for room",
        "time",
        _fifo(lambda f: f.input.sink_stalls / f.input.clock_hz),
    ),
    Metric(
        "fifo.starved_time",
        "Time in which it gave nothing to a ready receiver",
        "time",
        _fifo(lambda f: _starved_s(f.output)),
    ),
    Metric(
        "fifo.elsewhere_time",
        "Time in which its receiver waited for words of another stream",
        "time",
        _fifo(_elsewhere_s),
    ),
    Metric("fifo.slow", "Slow block that the FIFO's readers wait for", "text", _slow),
)

FIFO_METRICS = (
    *(replace(metric, scopes=("fifo",)) for metric in _OF_FIFO),
    Metric("complete", "The run is complete", "flag", lambda s: float(s.of.run.complete)),
    Metric(
        "project",
        "The run's project, as an argument of a command",
        "text",
        lambda s: shlex.quote(s.of.run.manifest.project or "PROJECT"),
    ),
)

"""Metrics of the ports by which a design asks memory on its card: how much they move, and how long they wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.api import Metric, Selected, Value

if TYPE_CHECKING:
    from workbench.api.results import MemoryPortMetrics


def _port(compute: Callable[[MemoryPortMetrics], Value]) -> Callable[[Selected], Value | None]:
    return lambda s: compute(s.memory_port) if s.memory_port else None


def _burst_bytes(port: MemoryPortMetrics) -> float:
    return port.bytes / port.bursts if port.bursts else 0.0


_OF_PORT = (
    Metric("memory.port", "The port into memory", "text", _port(lambda p: p.port.id)),
    Metric("memory.name", "The memory", "text", _port(lambda p: p.port.memory)),
    Metric("memory.bytes", "Bytes that it moved", "size", _port(lambda p: p.bytes)),
    Metric("memory.bytes_per_s", "Its rate while it was busy", "rate", _port(lambda p: p.bytes_per_s)),
    Metric("memory.peak", "What the memory moves at most", "rate", _port(lambda p: p.port.memory_bytes_per_s)),
    Metric(
        "memory.used_share",
        "What all ports moved, of what the memory could have moved while this one was busy",
        "share",
        _port(lambda p: p.used_share),
    ),
    Metric("memory.waiting_time", "Time in which it waited for words", "time", _port(lambda p: p.waiting_s)),
    Metric("memory.burst", "Bytes of a burst, on average", "size", _port(_burst_bytes)),
    Metric("memory.latency", "From a burst's request to its last answer, on average", "time",
           _port(lambda p: p.latency_s)),
    Metric("memory.outstanding", "Bursts on their way while it was busy, on average", "number",
           _port(lambda p: p.outstanding)),
    Metric("memory.hit_share", "Share of accesses that found their row open", "share", _port(lambda p: p.hit_share)),
    Metric("memory.conflict_share", "Share of accesses that had to close another row before", "share",
           _port(lambda p: p.conflict_share)),
)  # fmt: skip

MEMORY_METRICS = tuple(replace(metric, scopes=("memory_port",)) for metric in _OF_PORT)

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
    Metric("memory.port", "Memory port", "text", _port(lambda p: p.port.id)),
    Metric("memory.name", "Memory", "text", _port(lambda p: p.port.memory)),
    Metric("memory.bytes", "Bytes that the port moved", "size", _port(lambda p: p.bytes)),
    Metric("memory.bytes_per_s", "Rate of the port while it was busy", "rate", _port(lambda p: p.bytes_per_s)),
    Metric("memory.peak", "Peak rate of the memory", "rate", _port(lambda p: p.port.memory_bytes_per_s)),
    Metric(
        "memory.used_share",
        "Used share of the memory's peak rate while this port was busy, all ports together",
        "share",
        _port(lambda p: p.used_share),
    ),
    Metric("memory.waiting_time", "Time in which the port waited for words", "time", _port(lambda p: p.waiting_s)),
    Metric("memory.burst", "Average bytes of a burst", "size", _port(_burst_bytes)),
    Metric("memory.latency", "Average time from a burst's request to its last answer", "time",
           _port(lambda p: p.latency_s)),
    Metric("memory.outstanding", "Average bursts in flight while the port was busy", "number",
           _port(lambda p: p.outstanding)),
    Metric("memory.hit_share", "Share of accesses that found their row open", "share", _port(lambda p: p.hit_share)),
    Metric("memory.conflict_share", "Share of accesses that had to close another row first", "share",
           _port(lambda p: p.conflict_share)),
)  # fmt: skip

MEMORY_METRICS = tuple(replace(metric, scopes=("memory_port",)) for metric in _OF_PORT)

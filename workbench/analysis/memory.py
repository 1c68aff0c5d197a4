"""What a run counted of the ports by which the design asks memory on its card, as numbers for people."""

from __future__ import annotations

from collections import Counter

from workbench.api.results import MemoryPortMetrics
from workbench.model.run import TABLES, Run
from workbench.model.text import bytes_text, percent_text, rate_text


def memory_metrics(run: Run) -> tuple[MemoryPortMetrics, ...]:
    """The ports that were counted, in order; none where the run has no such table."""
    table, ports = run.tables.get("memory_ports"), run.manifest.memory_ports
    if table is None:
        return ()
    hz = {clock.name: clock.frequency_hz for clock in run.manifest.clocks}
    columns = [name for name in TABLES["memory_ports"] if name != "memory_port"]
    rows = zip(*(table[name].tolist() for name in columns), strict=True)
    counts = [dict(zip(columns, row, strict=True)) for row in rows]
    numbers = table["memory_port"].tolist()
    together: Counter[str] = Counter()
    for number, of in zip(numbers, counts, strict=True):
        together[ports[number].memory] += of["read_bytes"] + of["written_bytes"]
    return tuple(
        MemoryPortMetrics(
            ports[number],
            **of,
            clock_hz=hz.get(ports[number].clock, run.manifest.clock_hz),
            together_bytes=together[ports[number].memory],
        )
        for number, of in zip(numbers, counts, strict=True)
    )


def memory_words(metrics: MemoryPortMetrics) -> str:
    """A port's traffic in a line."""
    port = metrics.port
    waited = percent_text(metrics.waiting / max(metrics.cycles, 1))
    return (
        f"{port.id} moved {bytes_text(metrics.bytes)} of {port.memory} at {rate_text(metrics.bytes_per_s)}"
        f" (of {rate_text(port.memory_bytes_per_s)}) and waited {waited}"
    )

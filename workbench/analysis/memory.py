"""Traffic of the design's memory ports on the card in a run, as metrics and words."""

from collections import Counter
from collections.abc import Callable, Sequence

from workbench.api.results import MemoryPortMetrics
from workbench.api.views import Column, Table
from workbench.model.run import Run
from workbench.model.run_tables import TABLES
from workbench.model.text import bytes_text, percent_text, rate_text, significant, time_text


def memory_metrics(run: Run) -> tuple[MemoryPortMetrics, ...]:
    """The counted memory ports, in order; none if the run has no such table."""
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
    """The traffic of a port in one line."""
    port = metrics.port
    waited = percent_text(metrics.waiting / max(metrics.cycles, 1))
    return (
        f"{port.id} moved {bytes_text(metrics.bytes)} of {port.memory} at {rate_text(metrics.bytes_per_s)}"
        f" (of {rate_text(port.memory_bytes_per_s)}) and waited {waited}"
    )


def memory_table(ports: Sequence[MemoryPortMetrics]) -> Table:
    """The bytes, waits and row hits of each port, the longest wait first."""
    columns = (
        Column("Port", lambda row: f"{row.port.id}, {row.port.memory}", share=1.0, elide_middle=True,
               key=lambda row: row.port.id, tip="And the card memory that it accesses"),
        Column("Moved", lambda row: bytes_text(row.bytes), width_px=88, right=True, key=lambda row: row.bytes,
               tip_of=lambda row: f"{bytes_text(row.read_bytes)} read, {bytes_text(row.written_bytes)} written"),
        Column("Read", lambda row: bytes_text(row.read_bytes), right=True, page=True),
        Column("Written", lambda row: bytes_text(row.written_bytes), right=True, page=True),
        Column("Rate", lambda row: rate_text(row.bytes_per_s), width_px=98, right=True,
               key=lambda row: row.bytes_per_s, tip="While it was busy",
               tip_of=lambda row: f"Of {rate_text(row.port.memory_bytes_per_s)} that the memory moves at most"),
        Column("At most", lambda row: rate_text(row.port.memory_bytes_per_s), right=True, page=True),
        _share("Waits", lambda row: row.waiting / max(row.cycles, 1),
               "Cycles without a word, in which a request was still unanswered"),
        _share("Held up", lambda row: row.held / max(row.cycles, 1),
               "Cycles in which the design did not take or give a word"),
        Column("A burst takes", lambda row: time_text(row.latency_s), width_px=104, right=True,
               key=lambda row: row.latency_s, tip="From its request to its last answer, on average",
               tip_of=lambda row: f"{significant(row.outstanding, 3)} at once while it was busy, on average"),
        Column("On their way", lambda row: significant(row.outstanding, 3), right=True, page=True),
        _share("Row open", lambda row: row.hit_share if row.accesses else None,
               "Accesses that found their row of the memory open",
               lambda row: f"{percent_text(row.conflict_share)} had to close another row first"),
        Column("Another row", lambda row: percent_text(row.conflict_share) if row.accesses else "", right=True,
               page=True),
    )  # fmt: skip
    return Table("Ports into memory", columns, sorted(ports, key=lambda port: -port.waiting))


def _share(
    title: str, share: Callable[[MemoryPortMetrics], float | None], tip: str,
    tip_of: Callable[[MemoryPortMetrics], str] = lambda row: "",
) -> Column:  # fmt: skip
    """A column with a share of a port; empty if the memory does not have the counted feature."""

    def text(row: MemoryPortMetrics) -> str:
        value = share(row)
        return "" if value is None else percent_text(value)

    return Column(
        title, text, width_px=84, right=True, key=lambda row: share(row) or 0.0, tip=tip,
        tip_of=lambda row: tip_of(row) if text(row) else "",
    )  # fmt: skip

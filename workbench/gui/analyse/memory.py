"""The design's ports into memory as a table: what moved, how long they waited, how the memory's rows were hit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt

from workbench.api.results import MemoryPortMetrics
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.text import bytes_text, percent_text, rate_text, significant, time_text

_MIDDLE = Qt.TextElideMode.ElideMiddle
Row = MemoryPortMetrics


class MemoryTable(RowView):
    """As the report's section has it."""

    def __init__(self) -> None:
        super().__init__("Ports into memory", (
            Column("Port", lambda row: f"{row.port.id}, {row.port.memory}", share=1.0, elide=_MIDDLE,
                   key=lambda row: row.port.id, tip="And which of the card's memories it asks"),
            Column("Moved", lambda row: bytes_text(row.bytes), width_px=88, right=True, key=lambda row: row.bytes,
                   tip_of=lambda row: f"{bytes_text(row.read_bytes)} read, {bytes_text(row.written_bytes)} written"),
            Column("Rate", lambda row: rate_text(row.bytes_per_s), width_px=98, right=True,
                   key=lambda row: row.bytes_per_s, tip="While it was busy",
                   tip_of=lambda row: f"Of {rate_text(row.port.memory_bytes_per_s)} that the memory moves at most"),
            _share("Waits", lambda row: row.waiting / max(row.cycles, 1),
                   "Cycles in which nothing passed, and something that it asked for was not there yet"),
            _share("Held up", lambda row: row.held / max(row.cycles, 1),
                   "Cycles in which the design did not take or give a word"),
            Column("A burst takes", lambda row: time_text(row.latency_s), width_px=104, right=True,
                   key=lambda row: row.latency_s, tip="From its request to its last answer, on average",
                   tip_of=lambda row: f"{significant(row.outstanding, 3)} at once while it was busy, on average"),
            _share("Row open", lambda row: row.hit_share if row.accesses else None,
                   "Accesses that found their row of the memory open",
                   lambda row: f"{percent_text(row.conflict_share)} had to close another row first"),
        ))  # fmt: skip

    def show_ports(self, ports: Sequence[MemoryPortMetrics]) -> None:
        """Those that wait most first."""
        self.show_rows([(one, ()) for one in sorted(ports, key=lambda port: -port.waiting)])


def _share(
    title: str, share: Callable[[Row], float | None], tip: str, tip_of: Callable[[Row], str] = lambda row: ""
) -> Column:
    """Empty where the memory has nothing of the kind."""

    def text(row: Row) -> str:
        value = share(row)
        return "" if value is None else percent_text(value)

    return Column(
        title, text, width_px=84, right=True, key=lambda row: share(row) or 0.0, tip=tip,
        tip_of=lambda row: tip_of(row) if text(row) else "",
    )  # fmt: skip

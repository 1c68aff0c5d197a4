"""The design's streams as a table: what passed, who stalled, how full the FIFO is that a stream goes into."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu

from workbench.analysis.streams import fifo_words, held_words, rate_words, stream_names
from workbench.api.results import FifoMetrics, StreamMetrics
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.text import percent_text, thousands

_MIDDLE = Qt.TextElideMode.ElideMiddle
Row = tuple[StreamMetrics, FifoMetrics | None]


class StreamTable(RowView):
    """`line_wanted` asks for the source of a stream's port."""

    line_wanted = Signal(str, int)

    def __init__(self) -> None:
        super().__init__("Streams", (
            Column("Stream", lambda row: self.names.get(row[0].stream.id, ""), share=0.34, elide=_MIDDLE,
                   key=lambda row: row[0].stream.id,
                   tip_of=lambda row: f"{row[0].stream.source or 'the host'} to {row[0].stream.target or 'the host'}"),
            Column("Transfers", lambda row: thousands(row[0].transfers), width_px=96, right=True,
                   key=lambda row: row[0].transfers, tip="Cycles in which it was offered and taken"),
            Column("Rate", lambda row: rate_words(row[0]), width_px=116, right=True,
                   key=lambda row: row[0].words_per_s, tip="Over the whole run"),
            _share("Source stalls", lambda row: row[0].source_stalls, "It would have been taken, and was not offered"),
            _share("Sink stalls", lambda row: row[0].sink_stalls, "It was offered, and not taken"),
            Column("Held by", lambda row: held_words(row[0], self.names), share=0.33, elide=_MIDDLE,
                   key=lambda row: row[0].held[0].cycles if row[0].held else 0, ink=lambda row: ("second", 13, 400),
                   tip="The stream that holds it up longest through logic alone"),
            Column("FIFO behind it", lambda row: fifo_words(row[1]) if row[1] else "", share=0.33, elide=_MIDDLE,
                   key=lambda row: row[1].full_share if row[1] else -1.0,
                   tip="Words that it held at most, of how many it has room for; its share of cycles full"),
        ))  # fmt: skip
        self.names: dict[str, str] = {}
        self.opened.connect(self._open)

    def show_streams(self, streams: Sequence[StreamMetrics], fifos: Sequence[FifoMetrics]) -> None:
        """The streams that stall most first."""
        self.names = stream_names(streams)
        behind = {fifo.input.stream.id: fifo for fifo in fifos}
        ranked = sorted(streams, key=lambda one: -(one.sink_stalls + one.source_stalls))
        self.show_rows([((one, behind.get(one.stream.id)), []) for one in ranked])

    def fill_menu(self, menu: QMenu, row: Row) -> None:
        menu.addAction("Open line\tEnter", lambda: self._open(row))

    def _open(self, row: Row) -> None:
        stream = row[0].stream
        if stream.file and stream.line:
            self.line_wanted.emit(stream.file, stream.line)


def _share(title: str, cycles: Callable[[Row], int], tip: str) -> Column:
    """A share of all cycles."""

    def share(row: Row) -> float:
        return cycles(row) / max(row[0].cycles, 1)

    return Column(title, lambda row: percent_text(share(row)), width_px=104, right=True, key=share, tip=tip)

"""The findings as a table that is also a tree: a finding that repeats part of another hangs under it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QMenu

from workbench.gui import theme
from workbench.gui.analyse.words import ratio_or_dash, where_words
from workbench.gui.canvas import QtCanvas
from workbench.gui.painting import label
from workbench.gui.widgets import paint_severity
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column
from workbench.model.finding import Finding
from workbench.model.text import ratio_text, time_text
from workbench.pictures.signs import TICKS, axis_x, draw_speedup_axis, draw_speedup_bar

_MIDDLE = Qt.TextElideMode.ElideMiddle
#: With less room for its words the table says where in the finding's own column.
WHERE_FROM_PX = 560
#: Where a finding is, is left out of its row (to the details) where it would have less room than this.
LEAST_WHERE_PX = 90
NUMBER, SHAPE, TITLE, WHERE, TIME, BAR, CAP, IDEAL = range(8)


class FindingTable(RowView):
    """`finding_chosen` tells the finding that was gone to by the person, `line_wanted` asks for its source."""

    finding_chosen = Signal(str)
    line_wanted = Signal(str)
    aside_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__("Findings", (
            Column("#", self._rank, width_px=44, ink=lambda f: ("muted", 13, 400),
                   tip="Rank by what the best advice gains at most; – for findings that follow from others"),
            Column("", width_px=30, paint=self._paint_sign, tip="How much: over 2×, 1.2 to 2×, below"),
            Column("Finding", lambda f: f.title, share=0.45, key=lambda f: f.title, paint=self._paint_title,
                   tip_of=lambda f: f"{f.title}. {f.explanation}".strip()),
            Column("Where", where_words, share=0.25, key=where_words, ink=lambda f: ("second", 13, 400),
                   elide=_MIDDLE,
                   tip_of=lambda f: f.where),
            Column("Time", lambda f: time_text(f.time_s), width_px=84, right=True, key=lambda f: f.time_s,
                   tip="Time this bottleneck takes"),
            Column("", share=0.30, paint=_paint_bar, paint_head=_paint_axis,
                   tip="Speedup of the whole run, logarithmic: solid within reach, hatched beyond the cap",
                   tip_of=lambda f: f"ideal {ratio_text(f.speedup_ideal)}, cap {ratio_or_dash(f.speedup_cap)}"),
            Column("Cap", lambda f: ratio_or_dash(f.speedup_cap), width_px=76, right=True,
                   key=lambda f: f.speedup_cap or 0.0, ink=lambda f: _ink(f.speedup_cap is not None),
                   tip="Cap: what the best of its advice gains at most"),
            Column("Ideal", lambda f: ratio_or_dash(f.speedup_ideal), width_px=88, right=True,
                   key=lambda f: f.speedup_ideal, ink=lambda f: _ink(f.speedup_cap is None),
                   tip="Ideal: T / (T − t), as if nothing else were in the way"),
        ), tree_column=TITLE)  # fmt: skip
        self.aside: frozenset[str] = frozenset()
        self.ranks: dict[str, int] = {}
        self._parts: frozenset[str] = frozenset()  # the ids of those that hang under another
        self.setRootIsDecorated(True)
        self.setIndentation(18)
        self.chosen.connect(lambda finding: self.finding_chosen.emit(finding.id))
        self.opened.connect(lambda finding: self.line_wanted.emit(finding.id))

    def show_findings(self, findings: Sequence[Finding], aside: Collection[str], ranks: dict[str, int]) -> None:
        """Findings in the order given; those with a `part_of` among them hang under it."""
        self.aside, self.ranks = frozenset(aside), ranks
        shown = {f.id for f in findings}
        parts: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.part_of in shown:
                parts.setdefault(finding.part_of, []).append(finding)
        self._parts = frozenset(f.id for hanging in parts.values() for f in hanging)
        self.show_rows([(f, parts.get(f.id, [])) for f in findings if f.part_of not in shown])

    def _rank(self, finding: Finding) -> str:
        return "–" if self._follows(finding) else str(self.ranks.get(finding.id, ""))

    def _follows(self, finding: Finding) -> bool:
        """Whether it goes with others and has no rank of its own."""
        return finding.points_elsewhere and finding.id not in self._parts

    def select_finding(self, finding_id: str) -> None:
        """Follow the shared selection, without telling it back."""
        self.choose(lambda finding: finding.id == finding_id)

    def lay_out_columns(self) -> None:
        fixed = sum(column.width_px for column in self.rows.columns)
        self.setColumnHidden(WHERE, self.viewport().width() - fixed < WHERE_FROM_PX)
        super().lay_out_columns()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.current is not None:
            self.aside_wanted.emit(self.current.id)
        else:
            super().keyPressEvent(event)

    def fill_menu(self, menu: QMenu, row: Finding) -> None:
        menu.addAction("Open line\tEnter", lambda: self.line_wanted.emit(row.id))
        text = "Take back" if row.id in self.aside else "Set aside\tDel"
        menu.addAction(text, lambda: self.aside_wanted.emit(row.id))

    # ---- painting

    def _paint_sign(self, painter: QPainter, box: QRectF, finding: Finding) -> None:
        quiet = finding.id in self.aside or self._follows(finding)
        level = "aside" if quiet else finding.severity
        size = 17 if level == "high" else 16
        paint_severity(painter, box.left() + 6, box.center().y() - size / 2, size, level)

    def _paint_title(self, painter: QPainter, box: QRectF, finding: Finding) -> None:
        """The title, and where there is no column for it the place: of a part, which has its whole's title, alone."""
        part = finding.id in self._parts
        where = where_words(finding) if self.isColumnHidden(WHERE) else ""
        text, where = (where, "") if part and where else (finding.title, where)
        inside = box.adjusted(8, 0, -8, 0)
        elide = _MIDDLE if part else Qt.TextElideMode.ElideRight  # places begin alike and end unlike
        used = label(painter, inside, text, "text", 13, 400 if part else 600, elide=elide)
        rest = inside.adjusted(used + 8, 0, 0, 0)
        if where and rest.width() > LEAST_WHERE_PX:
            label(painter, rest, where, "second", 12, elide=_MIDDLE)


def _ink(strong: bool) -> tuple[str, int, int]:
    return ("text", 13, 600) if strong else ("muted", 13, 400)


def bar_span(cell: QRectF) -> tuple[float, float]:
    """Left and width of the log axis in its column."""
    return cell.left() + 20, max(cell.width() - 40, 10)


def _paint_axis(painter: QPainter, box: QRectF) -> None:
    left, width = bar_span(box)
    draw_speedup_axis(QtCanvas(painter), left, box.top(), width, box.height())


def _paint_bar(painter: QPainter, box: QRectF, finding: Finding) -> None:
    left, width = bar_span(box)
    painter.setPen(QPen(theme.colour("rule"), 1))
    for tick in TICKS[1:]:
        x = round(axis_x(tick, left, width)) - 0.5
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()))
    values = finding.gain, finding.speedup_cap, finding.speedup_ideal
    draw_speedup_bar(QtCanvas(painter), left, round(box.center().y()) - 5, width, 10, *values)

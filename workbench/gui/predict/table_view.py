"""Tables painted as in a paper: a title, rules above and below the head, attributes left, values right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from workbench.api.predictions import PaperTable, Row
from workbench.gui import theme
from workbench.gui.timeline.look import label

TITLE_PX, HEAD_PX, ROW_PX, NOTED_PX, GAP_PX = 30, 28, 26, 38, 14
_MIDDLE = Qt.TextElideMode.ElideMiddle  # rows of one kind begin alike and end unlike
_RIGHT = Qt.AlignmentFlag.AlignRight


class TableView(QWidget):
    """Tables one under another. Ctrl+C copies them, tabs between cells."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Tables")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.tables: tuple[PaperTable, ...] = ()

    def show_tables(self, tables: Sequence[PaperTable]) -> None:
        self.tables = tuple(tables)
        self.setMinimumHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        high = sum(TITLE_PX + HEAD_PX + sum(row_px(r) for r in t.rows) + GAP_PX for t in self.tables)
        return QSize(560, high + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.colour("panel"))
        y = 4.0
        for table in self.tables:
            y = self._paint_table(painter, table, y)

    def _columns(self, table: PaperTable) -> tuple[float, float, float]:
        """Where units and values start, and how wide a value is."""
        room = self.width() - 32.0
        wide = min(max(room * 0.5 / max(len(table.columns), 1), 70.0), 150.0)
        values = self.width() - 16 - wide * len(table.columns)
        units = max(values - 150.0, 16 + (values - 16) * 0.62)
        return units, values, wide

    def _paint_table(self, painter: QPainter, table: PaperTable, y: float) -> float:
        units, values, wide = self._columns(table)
        title = label(painter, QRectF(16, y, self.width() * 0.5, TITLE_PX), table.title, "text", 13, 600)
        label(painter, QRectF(26 + title, y, self.width() - title - 42, TITLE_PX), table.note, "muted", 12)
        y += TITLE_PX
        self._rule(painter, y, "text")
        label(painter, QRectF(16, y, units - 20, HEAD_PX), "Attribute", "second", 12, 500)
        if any(row.unit for row in table.rows):
            label(painter, QRectF(units, y, values - units - 4, HEAD_PX), "Units", "second", 12, 500)
        for n, head in enumerate(table.columns):
            box = QRectF(values + n * wide, y, wide - 4, HEAD_PX)
            label(painter, box, head, "second", 12, 500, _RIGHT)
        y += HEAD_PX
        self._rule(painter, y, "edge")
        for row in table.rows:
            high = row_px(row)
            weight = 600 if row.strong else 400
            label(painter, QRectF(16, y, units - 22, high), row.attribute, "text", 13, weight, elide=_MIDDLE)
            label(painter, QRectF(units, y, values - units - 4, high), row.unit, "muted", 12)
            if len(row.values) == 1 < len(table.columns):  # one value for every column stands in their middle
                box = QRectF(values, y, wide * len(table.columns) - 4, high)
                self._paint_value(painter, box, row, 0, row.values[0], Qt.AlignmentFlag.AlignHCenter)
                y += high
                self._rule(painter, y, "rule")
                continue
            for n, text in enumerate(row.values):
                self._paint_value(painter, QRectF(values + n * wide, y, wide - 4, high), row, n, text)
            y += high
            self._rule(painter, y, "rule")
        self._rule(painter, y, "text")
        return y + GAP_PX

    def _paint_value(
        self, painter: QPainter, box: QRectF, row: Row, at: int, text: str, align: Qt.AlignmentFlag = _RIGHT
    ) -> None:
        bad = at < len(row.bad) and row.bad[at]
        if at < len(row.notes):
            ink = "medium_text" if bad else "muted"
            label(painter, QRectF(box.left(), box.top() + 19, box.width(), 16), row.notes[at], ink, 11, 400, align)
            box = QRectF(box.left(), box.top() + 2, box.width(), 19)
            bad = False
        ink = "medium_text" if bad else "text"
        label(painter, box, text, ink, 13, 600 if row.strong else 400, align)

    def _rule(self, painter: QPainter, y: float, ink: str) -> None:
        painter.setPen(QPen(theme.colour(ink), 1))
        painter.drawLine(QPointF(16, round(y) + 0.5), QPointF(self.width() - 12, round(y) + 0.5))

    def row_at(self, y: float) -> Row | None:
        top = 4.0
        for table in self.tables:
            top += TITLE_PX + HEAD_PX
            for row in table.rows:
                if top <= y < top + row_px(row):
                    return row
                top += row_px(row)
            top += GAP_PX
        return None

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            row = self.row_at(event.pos().y())
            text = ", ".join(t for t in (row.attribute, row.tip) if t) if row else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.as_text())
        else:
            super().keyPressEvent(event)

    def as_text(self) -> str:
        lines = []
        for table in self.tables:
            lines += [table.title, "\t".join(("Attribute", "Unit", *table.columns))]
            lines += ["\t".join((row.attribute, row.unit, *row.values)) for row in table.rows]
        return "\n".join(lines)


def row_px(row: Row) -> int:
    return NOTED_PX if row.notes else ROW_PX

"""The table of changes: A above, B below, in one pair of bars for each row."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from workbench.gui import theme
from workbench.gui.compare.rows import Change
from workbench.gui.timeline.look import label
from workbench.gui.widgets import draw_swatch
from workbench.model.text import count_text, time_text

Align = Qt.AlignmentFlag
ROW_PX, HEAD_PX = 34, 30


class ChangeTable(QWidget):
    """`heads` are the titles of the name and of the two counts. A click tells the row's name."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Changes")
        self.rows: tuple[Change, ...] = ()
        self.heads = ("Call", "Calls A", "Calls B")
        self.summed = True

    def show_rows(self, rows: Sequence[Change], heads: tuple[str, str, str], summed: bool) -> None:
        """`summed`: whether the changes add up to something, which then stands below."""
        self.rows, self.heads, self.summed = tuple(rows), heads, summed
        self.setMinimumHeight(HEAD_PX + ROW_PX * (len(self.rows) + 1))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(560, self.minimumHeight())

    def _columns(self) -> list[QRectF]:
        """Name, two counts, two times, bars, change: left edges and widths, at y = 0."""
        total = self.width() - 32
        shares = (0.24, 0.10, 0.10, 0.13, 0.13, 0.15, 0.15) if total > 520 else (0.32, 0, 0, 0.19, 0.19, 0.12, 0.18)
        left, columns = 16.0, []
        for share in shares:
            columns.append(QRectF(left, 0, total * share, 0))
            left += total * share
        return columns

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.colour("panel"))
        columns = self._columns()
        painter.fillRect(QRectF(0, 0, self.width(), HEAD_PX), theme.colour("sunken"))
        for number, text in enumerate((*self.heads, "A", "B", "Time", "Change")):
            align = Align.AlignLeft if number in (0, 5) else Align.AlignRight
            column = columns[number].adjusted(12 if number == 5 else 0, 0, 0, 0)
            self._text(painter, column, 0, HEAD_PX, text, "second", 12, 500, align)
        painter.setPen(QPen(theme.colour("rule"), 1))
        painter.drawLine(0, HEAD_PX, self.width(), HEAD_PX)
        longest = max((max(r.time_a or 0.0, r.time_b or 0.0) for r in self.rows), default=0.0)
        for at, row in enumerate(self.rows):
            self._paint_row(painter, columns, HEAD_PX + at * ROW_PX, row, longest)
        y = HEAD_PX + len(self.rows) * ROW_PX
        label(
            painter, QRectF(16, y, self.width() * 0.6, ROW_PX), "In each pair of bars: A above, B below.", "second", 12
        )
        if self.summed and self.rows:
            total = sum(r.change_s for r in self.rows)
            self._text(painter, columns[5], y, ROW_PX, "Sum", "second", 13, 500, Align.AlignRight)
            self._text(
                painter, columns[6], y, ROW_PX, change_text(total), change_colour(total), 13, 600, Align.AlignRight
            )

    def _paint_row(self, painter: QPainter, columns: list[QRectF], y: float, row: Change, longest: float) -> None:
        draw_swatch(painter, 17, round(y + ROW_PX / 2 - 5), 12, 10, row.category)
        name = columns[0].adjusted(21, 0, 0, 0)
        self._text(painter, name, y, ROW_PX, row.name, "text", 13, 500, Align.AlignLeft)
        for column, count in ((1, row.count_a), (2, row.count_b)):
            if count is not None and columns[column].width() > 1:
                self._text(painter, columns[column], y, ROW_PX, count_text(count), "second", 13, 400, Align.AlignRight)
        for column, time, gone in ((3, row.time_a, "new"), (4, row.time_b, "gone")):
            text = gone if time is None else time_text(time)
            self._text(
                painter,
                columns[column],
                y,
                ROW_PX,
                text,
                "muted" if time is None else "text",
                13,
                400,
                Align.AlignRight,
            )
        bars = columns[5]
        for top, time in ((y + 5, row.time_a), (y + 18, row.time_b)):
            wide = (bars.width() - 16) * ((time or 0.0) / longest if longest else 0.0)
            bar = QRectF(bars.left() + 12, top, max(wide, 1.0), 11)
            if time is not None:
                theme.fill_state(painter, bar, row.category)
            painter.setPen(QPen(theme.frame_colour(), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        colour = change_colour(row.change_s)
        self._text(painter, columns[6], y, ROW_PX, change_text(row.change_s), colour, 13, 600, Align.AlignRight)
        painter.setPen(QPen(theme.colour("rule"), 1))
        painter.drawLine(16, round(y) + ROW_PX, self.width(), round(y) + ROW_PX)

    def _text(
        self, painter: QPainter, column: QRectF, y: float, high: float, text: str, colour: str, size: int, weight: int,
        align: Qt.AlignmentFlag,
    ) -> None:  # fmt: skip
        if column.width() > 1:
            label(painter, QRectF(column.left(), y, column.width() - 4, high), text, colour, size, weight, align)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = int((event.position().y() - HEAD_PX) // ROW_PX)
        if event.position().y() >= HEAD_PX and at < len(self.rows):
            self.chosen.emit(self.rows[at].name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.as_text())
        else:
            super().keyPressEvent(event)

    def as_text(self) -> str:
        """Tab-separated, times in seconds."""
        lines = ["\t".join((*self.heads, "A s", "B s", "change s"))]
        for row in self.rows:
            cells = (row.name, row.count_a, row.count_b, row.time_a, row.time_b, row.change_s)
            lines.append("\t".join("" if c is None else str(c) for c in cells))
        return "\n".join(lines)


def change_text(seconds: float) -> str:
    if not seconds:
        return time_text(0)
    return ("−" if seconds < 0 else "+") + time_text(abs(seconds))


def change_colour(seconds: float) -> str:
    return "good" if seconds < 0 else "medium_text" if seconds > 0 else "muted"

"""Which input matters most: a bar for each input's elasticity, and its share of the variance where it is uncertain."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from workbench.gui import theme
from workbench.gui.timeline.look import label
from workbench.model.text import percent_text
from workbench.predict.sensitivity import Influence

ROW_PX = 26
_RIGHT = Qt.AlignmentFlag.AlignRight


class InfluenceBars(QWidget):
    """Bars to both sides of a line: what 1 % more of an input does to the output. A click tells the input's name."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Which input matters most")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.rows: tuple[Influence, ...] = ()

    def show_influences(self, rows: Sequence[Influence]) -> None:
        uncertain = any(row.total_order is not None for row in rows)
        weight = (lambda r: -(r.total_order or 0.0)) if uncertain else (lambda r: -abs(_finite(r.elasticity)))
        self.rows = tuple(sorted(rows, key=weight))
        self.setMinimumHeight(len(self.rows) * ROW_PX + 30)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(380, len(self.rows) * ROW_PX + 30)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.colour("panel"))
        shares = any(row.total_order is not None for row in self.rows)
        most = max((abs(_finite(r.elasticity)) for r in self.rows), default=0.0) or 1.0
        names = min(160.0, self.width() * 0.34)
        right = self.width() - 16.0 - (132 if shares else 66)
        middle = (names + 20 + right) / 2
        half = (right - names - 20) / 2 - 4
        for n, row in enumerate(self.rows):
            y = n * ROW_PX + 4.0
            label(painter, QRectF(20, y, names - 8, ROW_PX), row.name, "text", 13)
            size = _finite(row.elasticity) / most * half
            painter.fillRect(QRectF(names + 20, y + 8, right - names - 24, 10), theme.colour("track"))
            bar = QRectF(min(middle, middle + size), y + 8, abs(size), 10)
            painter.fillRect(bar, theme.colour("accent"))
            text = "–" if math.isnan(row.elasticity) else f"{row.elasticity:+.2f}".replace("-", "−")
            label(painter, QRectF(right, y, 58, ROW_PX), text, "text", 13, 600, _RIGHT)
            if shares and row.total_order is not None:
                box = QRectF(right + 62, y, 68, ROW_PX)
                label(painter, box, percent_text(row.total_order), "second", 12, 400, _RIGHT)
        painter.setPen(QPen(theme.colour("edge"), 1))
        painter.drawLine(QPointF(round(middle) + 0.5, 6), QPointF(round(middle) + 0.5, len(self.rows) * ROW_PX + 4))
        foot = "% for 1 % more of the input" + ("; right: its share of the variance" if shares else "")
        label(painter, QRectF(20, len(self.rows) * ROW_PX + 8, self.width() - 36, 16), foot, "muted", 11, 400)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = int((event.position().y() - 4) // ROW_PX)
        if 0 <= at < len(self.rows):
            self.chosen.emit(self.rows[at].name)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0

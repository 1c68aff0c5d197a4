"""The findings of two runs: gone, kept, new."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from workbench.analysis.compare import Comparison
from workbench.gui import icons, theme
from workbench.gui.analyse.words import ratio_or_dash, where_words
from workbench.gui.timeline.look import label
from workbench.gui.widgets import paint_severity
from workbench.model.finding import Finding

Align = Qt.AlignmentFlag
ROW_PX, HEAD_PX = 32, 28
Row = tuple[Finding | None, Finding | None]
KINDS = (
    ("gone", "Gone", "no longer above the threshold"),
    ("kept", "Kept", "in both runs"),
    ("new", "New", "seen only in B"),
)


def rows_of(comparison: Comparison, kind: str) -> tuple[Row, ...]:
    """Findings of one kind as (A's, B's); parts of another finding are left out, the largest gain first."""
    rows: list[Row]
    if kind == "kept":
        rows = list(comparison.kept)
    else:
        rows = [(f, None) for f in comparison.gone] if kind == "gone" else [(None, f) for f in comparison.new]
    tops = [r for r in rows if not any(f and f.part_of for f in r)]
    return tuple(sorted(tops, key=lambda r: -max(f.gain for f in r if f)))


class FindingChanges(QWidget):
    """Sections that fold. `chosen` tells B's finding, or "" where B has none."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Findings in both runs")
        self.comparison: Comparison | None = None
        self.only = "all"
        self.folded: set[str] = set()
        self._lines: list[tuple[QRectF, str, Row | None]] = []

    def show_comparison(self, comparison: Comparison, only: str) -> None:
        self.comparison, self.only = comparison, only
        self._arrange()

    def _arrange(self) -> None:
        self._lines, y = [], 0.0
        for kind, _, _ in KINDS:
            if self.comparison is None or self.only not in ("all", kind):
                continue
            rows = rows_of(self.comparison, kind)
            self._lines.append((QRectF(0, y, 10, HEAD_PX), kind, None))
            y += HEAD_PX
            for row in rows if kind not in self.folded else ():
                self._lines.append((QRectF(0, y, 10, ROW_PX), kind, row))
                y += ROW_PX
        self.setMinimumHeight(round(y) + 8)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(420, self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.colour("panel"))
        for rect, kind, row in self._lines:
            line = QRectF(0, rect.top(), self.width(), rect.height())
            if row is None:
                self._paint_head(painter, line, kind)
            else:
                self._paint_row(painter, line, row)

    def _paint_head(self, painter: QPainter, line: QRectF, kind: str) -> None:
        assert self.comparison is not None
        painter.fillRect(line, theme.colour("sunken"))
        title, note = next((t, n) for k, t, n in KINDS if k == kind)
        icons.draw_icon(painter, "chevron-right" if kind in self.folded else "chevron-down", 14, line.center().y() - 8)
        used = label(painter, line.adjusted(38, 0, 0, 0), title, "text", 12, 600)
        count = len(rows_of(self.comparison, kind))
        label(painter, line.adjusted(46 + used, 0, -150, 0), f"{count}, {note}", "second", 12)
        for right, text in ((100, "A"), (16, "B")):
            box = QRectF(line.right() - right - 60, line.top(), 60, line.height())
            label(painter, box, text, "second", 12, 600, Align.AlignRight)

    def _paint_row(self, painter: QPainter, line: QRectF, row: Row) -> None:
        a, b = row
        finding = b or a
        assert finding is not None
        paint_severity(painter, 38, line.center().y() - 8, 16, finding.severity)
        free = line.width() - 62 - 170
        label(painter, QRectF(64, line.top(), free * 0.55, line.height()), finding.title, "text", 13, 500)
        label(
            painter,
            QRectF(64 + free * 0.57, line.top(), free * 0.43, line.height()),
            where_words(finding),
            "second",
            12,
        )
        for right, which in ((100, a), (16, b)):
            box = QRectF(line.right() - right - 64, line.top(), 64, line.height())
            text = ratio_or_dash(which.gain) if which else "none"
            strong = which is b and b is not None
            label(painter, box, text, "text" if which else "muted", 13, 600 if strong else 400, Align.AlignRight)
        if a and b and abs(a.gain - b.gain) > 0.005:
            name = "chevron-up" if b.gain > a.gain else "chevron-down"
            icons.draw_icon(painter, name, line.right() - 84, line.center().y() - 7, 14)
        painter.setPen(QPen(theme.colour("rule"), 1))
        painter.drawLine(38, round(line.bottom()), self.width(), round(line.bottom()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        for rect, kind, row in self._lines:
            if rect.top() <= event.position().y() < rect.bottom():
                if row is None:
                    self.folded ^= {kind}
                    self._arrange()
                else:
                    self.chosen.emit(row[1].id if row[1] else "")
                return

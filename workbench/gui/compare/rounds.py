"""The same work in two runs on one scale: the host's main block and a few of the replicas."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from workbench.analysis.equal_work import Stretch
from workbench.gui import theme
from workbench.gui.timeline.look import image_of, label, text_width
from workbench.model.blocks import Side, short_labels
from workbench.pictures.timeline.rows import HEIGHTS, Kind, Row
from workbench.pictures.timeline.scale import Span, duration, ruler
from workbench.pictures.timeline.surface import PAD, rows_surface
from workbench.traces.scene import Scene

LABELS_PX, RULER_PX, GAP_PX = 224, 28, 14
ROW_PX = HEIGHTS[Kind.STATES][0]
MOST_REPLICAS = 5
_CENTRE, _RIGHT = Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight


def round_rows(scene: Scene) -> tuple[Row, ...]:
    """The main block and up to five of the largest group of hardware blocks, evenly chosen."""
    labels = short_labels([b for b in scene.blocks if b.side is Side.FPGA])
    rows = [Row(Kind.STATES, scene.blocks[scene.main].id.removeprefix("host."), block=scene.main)]
    groups: dict[str, list[int]] = {}
    for number, block in enumerate(scene.blocks):
        if block.side is Side.FPGA:
            groups.setdefault(block.group, []).append(number)
    members = max(groups.values(), key=len, default=[])
    chosen = sorted({round(k) for k in np.linspace(0, len(members) - 1, min(MOST_REPLICAS, len(members)))})
    rows += [Row(Kind.STATES, labels[scene.blocks[members[k]].id], block=members[k]) for k in chosen]
    return tuple(rows)


class RoundsView(QWidget):
    """A stretch of each run, A above B. With `same_scale` off each fills the width."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("The same work in both runs")
        self.pair: tuple[tuple[str, Scene, Stretch], ...] = ()
        self.same_scale = True

    def show_rounds(self, *pair: tuple[str, Scene, Stretch]) -> None:
        """Each a run's words, its scene and the stretch of it."""
        self.pair = pair
        rows = sum(len(round_rows(scene)) for _, scene, _ in pair)
        self.setMinimumHeight(RULER_PX + rows * ROW_PX + GAP_PX * (len(pair) + 1))
        self.update()

    def set_same_scale(self, on: bool) -> None:
        self.same_scale = on
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(900, max(self.minimumHeight(), 120))

    def _pixel_ps(self, span_ps: int) -> float:
        longest = max((r.span_ps for _, _, r in self.pair), default=1) if self.same_scale else span_ps
        return max(longest, 1) * 1.06 / max(self.width() - LABELS_PX - 16, 50)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.colour("panel"))
        if not self.pair:
            return
        longest = max(r.span_ps for _, _, r in self.pair)
        if self.same_scale:
            self._paint_ruler(painter, longest)
        y = float(RULER_PX + 6)
        for number, (words, scene, turn) in enumerate(self.pair):
            y = self._paint_round(painter, y, "AB"[number], words, scene, turn) + GAP_PX
            if number == 0:
                painter.setPen(QPen(theme.colour("rule"), 1))
                painter.drawLine(QPointF(0, y - GAP_PX / 2), QPointF(self.width(), y - GAP_PX / 2))

    def _paint_ruler(self, painter: QPainter, longest: int) -> None:
        span = Span(0.0, self._pixel_ps(longest), self.width() - LABELS_PX - 16)
        for time, text in ruler(span).ticks:
            x = LABELS_PX + span.x(time)
            painter.setPen(QPen(theme.colour("rule"), 1))
            painter.drawLine(QPointF(round(x) + 0.5, RULER_PX - 6), QPointF(round(x) + 0.5, self.height()))
            label(painter, QRectF(x + 4, 4, 90, 16), text, "second", 11)

    def _paint_round(self, painter: QPainter, y: float, letter: str, words: str, scene: Scene, turn: Stretch) -> float:
        rows = round_rows(scene)
        pixel = self._pixel_ps(turn.span_ps)
        width = max(round(turn.span_ps / pixel), 1)
        painter.setPen(QPen(theme.colour("accent" if letter == "B" else "text"), 1))
        painter.setBrush(theme.colour("accent" if letter == "B" else "text"))
        painter.drawRoundedRect(QRectF(16, y + 3, 17, 17), 3, 3)
        label(painter, QRectF(16, y + 3, 17, 17), letter, "on_accent" if letter == "B" else "panel", 11, 700, _CENTRE)
        label(painter, QRectF(41, y, 104, ROW_PX), words, "text", 12, 600)
        for at, row in enumerate(rows):
            box = QRectF(124, y + at * ROW_PX, LABELS_PX - 134, ROW_PX)
            label(painter, box, row.label, "second", 12, 400, _RIGHT)
        ratio = max(1, round(self.devicePixelRatioF()))
        placed = [(row, at * ROW_PX) for at, row in enumerate(rows)]
        span = Span(turn.from_ps, pixel, width)
        surface = rows_surface(scene, placed, span, len(rows) * ROW_PX, theme.palette(), ratio)
        painter.save()
        painter.setClipRect(QRectF(LABELS_PX, y, width, len(rows) * ROW_PX))
        painter.drawImage(QPointF(LABELS_PX, y - PAD), image_of(surface.buffer, ratio))
        painter.restore()
        self._paint_end(painter, y, LABELS_PX + width, len(rows), letter, turn)
        return y + len(rows) * ROW_PX

    def _paint_end(self, painter: QPainter, y: float, x: float, rows: int, letter: str, turn: Stretch) -> None:
        """Where the shorter stretch ends, and how much shorter it is."""
        if len(self.pair) != 2 or not self.same_scale:
            return
        other = self.pair["BA".index(letter)][2]
        if turn.span_ps >= other.span_ps:
            return
        text = f"{duration(turn.span_ps)}, {other.span_ps / max(turn.span_ps, 1):.2f} times shorter"
        painter.setPen(QPen(theme.colour("accent"), 2))
        painter.drawLine(QPointF(x + 1, y - 2), QPointF(x + 1, y + rows * ROW_PX + 2))
        wide = text_width(text, 12, 600) + 8
        if x + 10 + wide < self.width():
            painter.fillRect(QRectF(x + 10, y + 2, wide, ROW_PX - 4), theme.colour("panel"))
            label(painter, QRectF(x + 14, y, wide, ROW_PX), text, "text", 12, 600)

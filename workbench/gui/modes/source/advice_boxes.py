"""Behind lines of source, the advice about them: where it is drawn, and what is under the pointer."""

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from workbench.gui.modes.source.code_view import CodeView
from workbench.gui.modes.source.line_advice import LineAdvice
from workbench.gui.modes.source.lines_moved import LinesMoved
from workbench.gui.modes.source.margin import Margin
from workbench.gui.views.canvas import QtCanvas, text_width
from workbench.pictures.signs import draw_severity

_AFTER_CODE_PX, _RIGHT_PX, _SIGN_PX, _GAP_PX, _TEXT_PX = 28.0, 12.0, 14.0, 7.0, 12
_TRY = "Try"


class AdviceBox(NamedTuple):
    """Where in the viewport an advice is, and in it the word that tries its change; empty where there is none."""

    rect: QRectF
    advice: LineAdvice
    try_rect: QRectF


class AdviceBoxes:
    """The advice of a margin over the empty ground of a text. `moved` are the text's lines since the run."""

    def __init__(self, view: CodeView, margin: Margin, moved: LinesMoved) -> None:
        self._view, self._margin, self._moved = view, margin, moved

    def in_view(self) -> list[AdviceBox]:
        """The advice of the lines in view. It has the room that code leaves, and is left out where not even the figure
        has room."""
        view, by_line = self._view, self._margin.advice
        end, boxes = view.viewport().width() - _RIGHT_PX, []
        for block, top, height in view.blocks_in_view() if by_line else ():
            line = block.blockNumber() + 1
            if (advice := self.of_line(line)) is not None:
                left = view.line_rect(line).width() + view.contentOffset().x() + _AFTER_CODE_PX
                try_px = 2 * _GAP_PX + _wide(_TRY) if advice.can_try else 0.0
                wanted = _SIGN_PX + 2 * _GAP_PX + text_width(advice.title, _TEXT_PX) + _wide(advice.gain) + try_px
                least = _SIGN_PX + _GAP_PX + _wide(advice.short)
                if end - left >= least:
                    rect = QRectF(left, top, min(wanted, end - left), height)
                    try_px = try_px if rect.width() >= least + try_px else 0.0
                    boxes.append(AdviceBox(rect, advice, QRectF(rect.right() - try_px, top, try_px, height)))
        return boxes

    def of_line(self, line: int) -> LineAdvice | None:
        """The advice about a line of the text as it is."""
        return self._margin.advice.get(self._moved.original(line))

    def at(self, point: QPointF) -> AdviceBox | None:
        """The advice that is drawn at a point of the viewport."""
        return next((box for box in self.in_view() if box.rect.contains(point)), None)

    def paint(self) -> None:
        """That of another text is dimmed."""
        if not self._margin.advice:
            return
        with QPainter(self._view.viewport()) as painter:
            painter.setOpacity(0.5 if self._margin.stale else 1.0)
            canvas = QtCanvas(painter)
            for box, advice, try_box in self.in_view():
                top, height, x = box.top(), box.height(), box.left() + _SIGN_PX + _GAP_PX
                draw_severity(canvas, box.left(), top + (height - _SIGN_PX) / 2, _SIGN_PX, advice.level)
                end = try_box.left()
                gain = advice.gain if _wide(advice.gain) <= end - x else advice.short
                if used := canvas.text(x, top, end - x - _GAP_PX - _wide(gain), height, advice.title, "second"):
                    x += used + _GAP_PX
                canvas.write(x, top + height / 2, gain, "text", _TEXT_PX, 600)
                if try_box.width():
                    canvas.write(x + _wide(gain) + 2 * _GAP_PX, top + height / 2, _TRY, "link", _TEXT_PX, 600)


def _wide(text: str) -> float:
    return text_width(text, _TEXT_PX, 600)

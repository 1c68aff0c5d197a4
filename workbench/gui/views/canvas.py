"""The canvas that paints: pictures described in `workbench.pictures`, by a QPainter and in the theme in force."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from workbench.gui.look import fonts, icons, theme
from workbench.model.pragma import Category
from workbench.pictures.canvas import BASELINE, LEFT, Canvas, Points

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Text of other sizes is painted at this one and scaled.
_SIZE_PX = 12
_LEAST_LINE_PX = 1.5  # of a drawing that is shrunk, in high contrast


class QtCanvas(Canvas):
    """Paints at once. `scale` is the painter's own."""

    def __init__(self, painter: QPainter) -> None:
        super().__init__(theme.palette(), painter.transform().m11())
        self.painter = painter
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str = "", edge: str = "", line: float = 1.0,
        radius: float = 0.0,
    ) -> None:  # fmt: skip
        place = QRectF(x, y, width, height)
        if fill and not edge and not radius:
            self.painter.fillRect(place, self._ink(fill))
            return
        self._take(fill, edge, line)
        if radius:
            self.painter.drawRoundedRect(place, radius, radius)
        else:
            self.painter.drawRect(place)

    def path(self, points: Points, ink: str, line: float = 1.0, dashes: Sequence[float] = ()) -> None:
        pen = QPen(self._ink(ink), self._wide(line))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        if dashes:
            pen.setDashPattern(list(dashes))
        self.painter.setPen(pen)
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        if len(points) == 2:
            self.painter.drawLine(QPointF(*points[0]), QPointF(*points[1]))
        else:
            self.painter.drawPolyline(_polygon(points))

    def shape(self, points: Points, fill: str, edge: str = "", line: float = 1.0) -> None:
        self._take(fill, edge, line)
        self.painter.drawPolygon(_polygon(points))

    def disc(self, x: float, y: float, radius: float, fill: str = "", edge: str = "", line: float = 1.0) -> None:
        self._take(fill, edge, line)
        self.painter.drawEllipse(QPointF(x, y), radius, radius)

    def state(self, x: float, y: float, width: float, height: float, category: Category | None) -> None:
        theme.fill_state(self.painter, QRectF(x, y, width, height), category)

    def image(self, x: float, y: float, pixels: NDArray[np.uint32], density: float = 1.0) -> None:
        height, width = pixels.shape
        image = QImage(pixels.data, width, height, width * 4, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(density)
        self.painter.drawImage(QPointF(x, y), image)

    def icon(self, name: str, x: float, y: float, size: float = 16, ink: str = "second") -> None:
        icons.draw_icon(self.painter, name, x, y, round(size), self.palette.colour(ink), name == "play")

    def write(
        self, x: float, middle: float, words: str, ink: str, size: float, weight: int, align: float = LEFT
    ) -> None:
        left = x - align * self.width_of(words, size, weight)
        self.painter.setPen(self._ink(ink))
        if size == round(size):
            self.painter.setFont(font(int(size), weight))
            self.painter.drawText(QPointF(left, middle + BASELINE * size), words)
            return
        with self.placed(left, middle, size / _SIZE_PX):
            self.painter.setFont(font(_SIZE_PX, weight))
            self.painter.drawText(QPointF(0, BASELINE * _SIZE_PX), words)

    def width_of(self, words: str, size: float = 12, weight: int = 400) -> float:
        if size == round(size):
            return text_width(words, int(size), weight)
        return text_width(words, _SIZE_PX, weight) * size / _SIZE_PX

    @contextmanager
    def placed(self, x: float, y: float, scale: float = 1.0) -> Iterator[None]:
        before = self.scale
        self.scale *= scale
        self.painter.save()
        self.painter.translate(x, y)
        self.painter.scale(scale, scale)
        try:
            yield
        finally:
            self.painter.restore()
            self.scale = before

    @contextmanager
    def turned(self, x: float, y: float) -> Iterator[None]:
        self.painter.save()
        self.painter.translate(x, y)
        self.painter.rotate(-90)
        try:
            yield
        finally:
            self.painter.restore()

    @contextmanager
    def clipped(self, x: float, y: float, width: float, height: float) -> Iterator[None]:
        self.painter.save()
        self.painter.setClipRect(QRectF(x, y, width, height), Qt.ClipOperation.IntersectClip)
        try:
            yield
        finally:
            self.painter.restore()

    def _ink(self, ink: str) -> QColor:
        return _colour(*self.colour(ink))

    def _wide(self, line: float) -> float:
        """The width of a line: those of a drawing that is shrunk lie between pixels, and are pale."""
        shrunk = self.palette.is_strong and 0 < self.scale < 1
        return max(line, _LEAST_LINE_PX / self.scale) if shrunk else line

    def _take(self, fill: str, edge: str, line: float) -> None:
        if edge:
            pen = QPen(self._ink(edge), self._wide(line))
            pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            self.painter.setPen(pen)
        else:
            self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(self._ink(fill) if fill else Qt.BrushStyle.NoBrush)


class Drawn:
    """What a widget is that is drawn on a canvas; comes before Qt's own class among its bases."""

    @abstractmethod
    def draw(self, canvas: Canvas) -> None: ...

    def paintEvent(self, event: QPaintEvent) -> None:
        assert isinstance(self, QWidget)
        with QPainter(self) as painter:  # it ends here, whoever still holds the frame, or the fault, that it was in
            self.draw(QtCanvas(painter))


def _polygon(points: Points) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in points])


@lru_cache(maxsize=256)
def _colour(value: str, opacity: float) -> QColor:
    colour = QColor(value)
    colour.setAlphaF(opacity)
    return colour


@lru_cache(maxsize=32)
def font(size: int, weight: int) -> QFont:
    return fonts.ui_font(size, weight)


@lru_cache(maxsize=4096)
def text_width(text: str, size: int = 12, weight: int = 400) -> float:
    return QFontMetricsF(font(size, weight)).horizontalAdvance(text)

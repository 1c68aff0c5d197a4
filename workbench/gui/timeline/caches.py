"""Pictures that a timeline keeps until what they show changes: bars, overview, names."""

from __future__ import annotations

from PySide6.QtGui import QImage, QPainter, QPixmap

from workbench.gui import theme
from workbench.gui.timeline.paint import paint_labels
from workbench.gui.timeline.raster import Image
from workbench.gui.timeline.rows import Row
from workbench.gui.timeline.scale import Span
from workbench.gui.timeline.shown import OVERVIEW_PX, Shown
from workbench.gui.timeline.surface import WORK, Surface, overview_surface, rows_surface
from workbench.traces.sample import most_at_once


class Caches:
    def __init__(self, view: Shown) -> None:
        self._view = view
        self._surface: tuple[object, Surface] | None = None
        self._overview: tuple[object, QImage, Image] | None = None
        self._labels: tuple[object, QPixmap] | None = None
        self._most: dict[tuple[str, Span], int | None] = {}

    def drop(self) -> None:
        """Forget all: the rows, the run or the theme changed."""
        self._overview = self._labels = None
        self._most = {}
        self._surface = ((), self._surface[1]) if self._surface else None

    def surface(self) -> Surface:
        """The bars in view, kept until what they show changes."""
        view = self._view
        assert view.scene is not None
        ratio, canvas = max(1, round(view.devicePixelRatioF())), view.canvas()
        dim = view.range_ps() if view.dims() else None
        key = (view.span, view.scroll_px, canvas.height(), dim, view.faded, view.moving, ratio, theme.palette().name)
        if self._surface is None or self._surface[0] != key:
            placed = [(row, round(rect.top()) - canvas.top()) for row, rect in view.row_rects()]
            old = self._surface[1].buffer if self._surface else None
            self._surface = None
            made = rows_surface(
                view.scene, placed, view.span, canvas.height(), ratio, dim, view.faded, view.moving, old
            )
            self._surface = (key, made)
        return self._surface[1]

    def labels(self) -> QPixmap:
        """The column of names at the left, kept until it changes."""
        view = self._view
        ratio, canvas = view.devicePixelRatioF(), view.canvas()
        size = (view.label_width() - 1, canvas.height())
        key = (size, ratio, view.scroll_px, id(view.rows), view.chosen_blocks, theme.palette().name)
        if self._labels is None or self._labels[0] != key:
            pixmap = QPixmap(round(size[0] * ratio), round(size[1] * ratio))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(theme.colour("panel"))
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_labels(painter, view)
            painter.end()
            self._labels = (key, pixmap)
        return self._labels[1]

    def most_at_work(self, row: Row) -> int | None:
        """The most members of a stack that work at once in what is in view."""
        view = self._view
        assert view.scene is not None
        key = (row.key, view.span)
        if key not in self._most:
            self._most = {k: v for k, v in self._most.items() if k[1] == view.span}
            self._most[key] = most_at_once(
                view.scene.index.trace, row.members, WORK, view.span.from_ps, view.span.to_ps
            )
        return self._most[key]

    def overview(self) -> QImage:
        view = self._view
        assert view.scene is not None
        ratio = max(1, round(view.devicePixelRatioF()))
        key = (view.canvas().width(), ratio, theme.palette().name)
        if self._overview is None or self._overview[0] != key:
            made = overview_surface(view.scene, view.canvas().width(), OVERVIEW_PX - 9, ratio)
            self._overview = (key, *made)
        return self._overview[1]

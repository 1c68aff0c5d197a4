"""The base of every pyqtgraph view: one look, one way to zoom, one context menu, one way out to a file.

A view says what it shows by drawing it on a canvas (`draw`): that is what is painted, and what SVG and PNG files hold.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QBuffer, QByteArray, QEvent, QKeyCombination, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QImage,
    QImageWriter,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFileDialog, QGraphicsView, QMenu, QStyleOptionGraphicsItem, QWidget

from workbench.gui.look import theme
from workbench.gui.views.canvas import QtCanvas
from workbench.gui.widgets.save_name import beside_project
from workbench.model.diagnostic import WorkbenchError
from workbench.pictures.canvas import Canvas
from workbench.pictures.svg import SvgCanvas
from workbench.session.program.files import write_result, write_result_table, write_result_text
from workbench.session.program.keys import key_of, view_command

ZOOM_STEP = 1.25
PICTURE_SCALE = 2.0  # of PNG files: pixels for a unit
Row = tuple[str | float, ...]


class PixelItem(pg.GraphicsObject):
    """Painted in the pixels of the whole view, below or over what pyqtgraph draws."""

    def __init__(self, view: QGraphicsView, paint: Callable[[QPainter], None], z: float) -> None:
        super().__init__()
        self._view, self._paint = view, paint
        self.setZValue(z)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        view.scene().addItem(self)

    def boundingRect(self) -> QRectF:
        return QRectF(self._view.viewport().rect())

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        self._paint(painter)


class HouseBox(pg.ViewBox):
    """Range, zoom and limits. The wheel zooms at the pointer, a drag moves, a drag with Shift zooms to a rectangle."""

    def __init__(self, view: HouseView, **more: Any) -> None:
        super().__init__(enableMenu=False, defaultPadding=0, **more)
        self._view = view

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        if event.button() is Qt.MouseButton.RightButton:
            event.ignore()
            return
        chosen = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) and not self.state["aspectLocked"]
        self.updateMatrix()  # else only the next frame brings it up to date
        self.state["mouseMode"] = self.RectMode if chosen else self.PanMode
        super().mouseDragEvent(event, axis)

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        factor = ZOOM_STEP ** (-event.delta() / 120)
        spot = self.mapSceneToView(event.scenePos())
        self.scaleBy(x=None if axis == 1 else factor, y=None if axis == 0 else factor, center=spot)
        event.accept()

    def mouseClickEvent(self, event: Any) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()


def command_given(event: QKeyEvent) -> str:
    """What a key means in a picture, Shift held or not; "" for nothing."""
    held, key = event.modifiers(), event.keyCombination().key()
    plain = held & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    return view_command(*(QKeySequence(QKeyCombination(each, key)).toString() for each in (held, plain)))


class HouseView(pg.GraphicsView):
    """`problem` carries the diagnostic of a file that could not be written. A view in a page that scrolls zooms by the
    wheel with Ctrl alone."""

    problem = Signal(object)
    view_changed = Signal()
    file_name = "picture"

    def __init__(self, name: str, *, in_page: bool = False) -> None:
        super().__init__(background=None)
        self.setAccessibleName(name)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self.setCacheMode(QGraphicsView.CacheModeFlag.CacheNone)
        self.scene().setItemIndexMethod(self.scene().ItemIndexMethod.NoIndex)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._in_page = in_page
        self._snapshot: QPixmap | None = None
        self._shows: tuple[object, ...] = ()  # range, size and density of the snapshot
        self.frame_ms = 0.0  # what the last whole drawing took
        self.box = HouseBox(self)
        self.box.sigRangeChanged.connect(self._range_changed)
        self.ground = PixelItem(self, self._paint_ground, -100)
        self.over = PixelItem(self, self._paint_over, 100)

    # ---- what a view says of itself

    @abstractmethod
    def draw(self, canvas: Canvas) -> None:
        """Draw what is shown now, in the view's pixels."""

    def draw_picture(self, canvas: Canvas) -> None:
        """Draw what a file holds, in `picture_size`: what is shown, where a view does not say otherwise."""
        self.draw(canvas)

    def draw_over(self, canvas: Canvas) -> None:
        """Draw what belongs to the pointer, which no file holds."""

    def rows(self) -> Iterable[Row] | None:
        """The data behind the picture, a head first; None where there are none to export."""
        return None

    @abstractmethod
    def show_all(self) -> None:
        """Bring everything into view."""

    def close(self) -> bool:
        """Close like any widget: pyqtgraph would clear the scene for good, and crash if it is used again."""
        return QGraphicsView.close(self)

    # ---- zoom and place, of a picture whose aspect is locked

    @property
    def magnification(self) -> float:
        """Pixels for a unit of the picture."""
        (x0, x1), _ = self.box.viewRange()
        return self.width() / (x1 - x0)

    @property
    def offset(self) -> QPointF:
        """Where the picture's origin is in the view."""
        (x0, _), (y0, _) = self.box.viewRange()
        return QPointF(-x0, -y0) * self.magnification

    def to_layout(self, position: QPointF) -> QPointF:
        """The picture's point at one of the view."""
        return (position - self.offset) / self.magnification

    # ---- painting

    def redraw(self) -> None:
        """Paint anew what is shown; what the pointer does needs less."""
        self._snapshot = None
        self.viewport().update()

    def _paint_ground(self, painter: QPainter) -> None:
        """From a snapshot, until the range, the size or what is shown changes."""
        density = self.devicePixelRatioF()
        shows = (self.box.viewRange(), self.size(), density)
        if self._snapshot is None or self._shows != shows:
            started = time.perf_counter()
            pixmap = QPixmap(self.viewport().size() * density)
            pixmap.setDevicePixelRatio(density)
            with QPainter(pixmap) as inner:  # it ends before its pixmap, also at a fault
                self.draw(QtCanvas(inner))
            self._snapshot, self._shows = pixmap, shows
            self.frame_ms = (time.perf_counter() - started) * 1e3
        painter.drawPixmap(0, 0, self._snapshot)

    def _paint_over(self, painter: QPainter) -> None:
        canvas = QtCanvas(painter)
        self.draw_over(canvas)
        if self.hasFocus():
            wide, high, line = self.width(), self.height(), 1 + canvas.palette.is_strong
            for x, y, width, height in (
                (0, 0, wide, line),
                (0, high - line, wide, line),
                (0, line, line, high - 2 * line),
                (wide - line, line, line, high - 2 * line),
            ):  # four fills: one outline takes milliseconds
                canvas.rect(x, y, width, height, "accent" if canvas.palette.is_strong else "accent/0.6")

    def _range_changed(self) -> None:
        self.viewport().update()
        self.view_changed.emit()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if hasattr(self, "over"):  # pyqtgraph resizes it while it is made
            self.ground.prepareGeometryChange()
            self.over.prepareGeometryChange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "over"):
            self.redraw()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    # ---- zoom

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """About a point of the view, its middle where none is given; above 1 shows less."""
        spot = self.box.mapSceneToView(at) if at is not None else None
        self.box.scaleBy((1 / factor, 1 / factor), center=spot)

    def pan(self, by: QPointF) -> None:
        """Move what is shown by so many pixels."""
        x, y = self.box.viewPixelSize()
        self.box.translateBy(x=-by.x() * x, y=by.y() * y * (-1 if self.box.yInverted() else 1))

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._in_page and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        super().wheelEvent(event)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key
        steps = {key.Key_Left: (60, 0), key.Key_Right: (-60, 0), key.Key_Up: (0, 60), key.Key_Down: (0, -60)}
        command = command_given(event)
        if event.key() in steps:
            self.pan(QPointF(*steps[key(event.key())]))
        elif event.key() in (key.Key_Plus, key.Key_Equal) or command == "view_in":
            self.zoom(ZOOM_STEP)
        elif event.key() == key.Key_Minus or command == "view_out":
            self.zoom(1 / ZOOM_STEP)
        elif command == "view_all":
            self.show_all()
        else:
            QGraphicsView.keyPressEvent(self, event)

    # ---- menu and files

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu().exec(event.globalPos())

    def menu(self) -> QMenu:
        """What can be done with the picture."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(f"Show all\t{key_of('view_all')}", self.show_all)
        menu.addAction("Zoom in\t+", lambda: self.zoom(ZOOM_STEP))
        menu.addAction("Zoom out\t−", lambda: self.zoom(1 / ZOOM_STEP))
        menu.addSeparator()
        menu.addAction("Copy picture", lambda: QGuiApplication.clipboard().setImage(self.image()))
        menu.addAction("Save picture…", self.ask_picture)
        if self.rows() is not None:
            menu.addAction("Save data…", self.ask_data)
        return menu

    def ask_picture(self) -> None:
        kinds = "Picture (*.png);;Drawing (*.svg)"
        path = beside_project(self, f"{self.file_name}.png")
        name, kind = QFileDialog.getSaveFileName(self, "Save picture", path, kinds)
        if name:
            suffix = ".svg" if "svg" in kind else ".png"
            self._write(self.save_picture, Path(name) if Path(name).suffix else Path(name + suffix))

    def ask_data(self) -> None:
        path = beside_project(self, f"{self.file_name}.csv")
        name, _ = QFileDialog.getSaveFileName(self, "Save data", path, "Table (*.csv)")
        if name:
            self._write(self.save_data, Path(name))

    def _write(self, save: Callable[[Path], None], path: Path) -> None:
        try:
            save(path)
        except WorkbenchError as error:
            for diagnostic in error.diagnostics:
                self.problem.emit(diagnostic)

    def save_picture(self, path: Path) -> None:
        """Write what is shown, SVG or PNG by the file's name. Raises WorkbenchError where it cannot be written."""
        if path.suffix.lower() == ".svg":
            write_result_text(path, self.svg())
            return
        buffer = QBuffer()
        QImageWriter(buffer, QByteArray(b"png")).write(self.image())
        write_result(path, lambda file: file.write(buffer.data().data()))

    def save_data(self, path: Path) -> None:
        """Write the data as CSV. Raises WorkbenchError where it cannot be written."""
        write_result_table(path, self.rows() or ())

    def svg(self) -> str:
        """What is shown, as an SVG document in the theme in force."""
        canvas = SvgCanvas(theme.palette())
        self.draw_picture(canvas)
        size = self.picture_size()
        return canvas.document(size.width(), size.height(), self.accessibleName())

    def image(self, scale: float = PICTURE_SCALE) -> QImage:
        """What is shown, as pixels."""
        image = QImage(self.picture_size() * scale, QImage.Format.Format_RGB32)
        image.fill(theme.colour("panel"))
        with QPainter(image) as painter:
            painter.scale(scale, scale)
            self.draw_picture(QtCanvas(painter))
        return image

    def picture_size(self) -> QSize:
        return self.size()


def handle(side: str, size_px: float, box: pg.ViewBox) -> pg.AxisItem:
    """An axis's place at a box: it zooms and moves that direction alone; what is there is drawn by the view."""
    axis = _Handle(side)
    (axis.setWidth if side == "left" else axis.setHeight)(size_px)
    axis.linkToView(box)
    return axis


class _Handle(pg.AxisItem):
    def paint(self, *parts: object) -> None:
        """Nothing."""

    def mouseDragEvent(self, event: Any) -> None:
        if event.button() is Qt.MouseButton.RightButton:
            event.ignore()
        else:
            super().mouseDragEvent(event)

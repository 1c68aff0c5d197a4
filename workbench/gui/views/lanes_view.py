"""The base of views whose rows have one height and share an axis: it zooms, they scroll where they do not all fit."""

from abc import abstractmethod

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent, QResizeEvent, QWheelEvent

from workbench.gui.views.house_view import ZOOM_STEP, HouseView
from workbench.pictures.canvas import CENTRE, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import Range

_CLICK_PX = 4.0


class LanesView(HouseView):
    """A view of lanes: the wheel scrolls, with Ctrl it zooms; the axis shows the value under the pointer."""

    row_px = 30.0
    most_zoom = 200.0

    def __init__(self, name: str) -> None:
        super().__init__(name, in_page=True)
        self.setMouseTracking(True)
        self.at: QPointF | None = None  # where the pointer is
        self._pressed: QPointF | None = None
        self.scene().addItem(self.box)
        self.box.invertY(True)

    # ---- what such a view says of itself

    @abstractmethod
    def lanes(self) -> Box:
        """Where the rows are, in the view's pixels."""

    @abstractmethod
    def count(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def whole(self) -> Range:
        """The axis's range that shows all."""

    def say(self, value: float) -> str:
        """The label of a value of the axis; "" for none."""
        return ""

    def say_place(self) -> float:
        """The place of that label: the middle of a line of text."""
        return self.lanes().bottom + 11

    def clicked(self, at: QPointF) -> None:
        """What a click means."""

    # ---- zoom and place

    def arrange(self) -> None:
        """Keep the rows as high as ever, whatever room there is."""
        box, (low, high) = self.lanes(), self.whole()
        self.box.setGeometry(QRectF(box.x, box.y, box.width, box.height))
        room = box.height / self.row_px
        self.box.setLimits(
            xMin=low, xMax=high, minXRange=(high - low) / self.most_zoom,
            yMin=0.0, yMax=max(self.count(), room), minYRange=room, maxYRange=room,
        )  # fmt: skip
        first = self.box.viewRange()[1][0]
        self.box.setRange(yRange=(first, first + room), padding=0)

    def show_all(self) -> None:
        self.arrange()
        self.box.setRange(xRange=self.whole(), yRange=(0, self.lanes().height / self.row_px), padding=0)
        self.redraw()

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        self.box.scaleBy(x=1 / factor, center=self.box.mapSceneToView(at) if at is not None else None)

    def shown(self) -> Range:
        low, high = self.box.viewRange()[0]
        return low, high

    def first(self) -> float:
        """The row at the top; a part of one where it is scrolled to between two."""
        return float(self.box.viewRange()[1][0])

    def show_lane(self, number: int) -> None:
        """Scroll as far as a row needs to be seen whole."""
        first, room = self.first(), self.lanes().height / self.row_px
        if by := min(number - first, 0.0) or max(number + 1 - first - room, 0.0):
            self.box.translateBy(y=by)

    def lane_at(self, at: QPointF) -> int:
        """The number of the row at a place, -1 for none."""
        box = self.lanes()
        number = int(self.first() + (at.y() - box.y) / self.row_px)
        return number if box.y <= at.y() < box.bottom and 0 <= number < self.count() else -1

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_pressed"):  # pyqtgraph resizes it while it is made
            self.arrange()

    def wheelEvent(self, event: QWheelEvent) -> None:
        clicks = event.angleDelta().y() / 120
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(ZOOM_STEP**clicks, event.position())
        elif self.count() * self.row_px > self.lanes().height + 1:
            self.box.translateBy(y=-clicks)
        else:
            event.ignore()  # the page's
            return
        event.accept()

    # ---- pointer

    def draw_over(self, canvas: Canvas) -> None:
        """The value under the pointer."""
        box = self.lanes()
        if self.at is None or not (box.x <= self.at.x() <= box.right and box.y <= self.at.y() <= box.bottom):
            return
        x, (low, high) = self.at.x(), self.shown()
        said = self.say(low + (x - box.x) / box.width * (high - low))
        if not said:
            return
        canvas.path([(x, box.y), (x, box.bottom)], "edge", 1, (3, 3))
        wide, middle = canvas.width_of(said, 11, 600) + 12, self.say_place()
        left = min(max(x - wide / 2, 0.0), self.width() - wide)
        canvas.rect(left, middle - 9, wide, 18, "raised", "edge", radius=3)
        canvas.write(left + wide / 2, middle, said, "text", 11, 600, CENTRE)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed = event.position()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.at = event.position()
        self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        super().mouseReleaseEvent(event)
        if pressed is not None and (event.position() - pressed).manhattanLength() <= _CLICK_PX:
            self.clicked(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.show_all()

    def leaveEvent(self, event: QEvent) -> None:
        self.at = None
        self.viewport().update()

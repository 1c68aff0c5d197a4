"""An area that scrolls vertically, with a frame around it while it has the keyboard focus."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from workbench.gui.look.painting import draw_focus


class ScrollArea(QScrollArea):
    """As wide as its room, with what is in it as wide. `name` is what a screen reader calls it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._frame: _Frame | None = None  # made when the keyboard comes first

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._frame is None:
            self._frame = _Frame(self)
        self._frame.show()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self._frame is not None:
            self._frame.hide()


class _Frame(QWidget):
    """Over what an area shows, which covers the area's own viewport; mouse and keys go through."""

    def __init__(self, area: QScrollArea) -> None:
        super().__init__(area)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.viewport().installEventFilter(self)
        self.setGeometry(area.viewport().geometry())
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QResizeEvent) and isinstance(watched, QWidget):
            self.setGeometry(watched.geometry())
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_focus(self)

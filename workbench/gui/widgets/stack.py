"""Pages, one shown at a time."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedWidget


class Stack(QStackedWidget):
    """Needs the room that the page shown needs; Qt's own needs that of the largest page."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(lambda _: self.updateGeometry())

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        if page is None:
            return super().minimumSizeHint()
        return page.minimumSizeHint().expandedTo(page.minimumSize())

    def heightForWidth(self, width: int) -> int:
        page = self.currentWidget()
        return page.heightForWidth(width) if page is not None and page.hasHeightForWidth() else -1

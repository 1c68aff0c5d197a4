"""A name that is typed in a view, at its place."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QLineEdit

MOST_LETTERS = 200


class NameField(QLineEdit):
    """Enter, or going elsewhere, gives the name to `take`; Esc does not. The view then has the keyboard."""

    def __init__(self, view: QAbstractScrollArea, name: str, accessible_name: str, take: Callable[[str], None]) -> None:
        super().__init__(name, view.viewport())
        self.setAccessibleName(accessible_name)
        self.setMaxLength(MOST_LETTERS)
        self._view, self._take = view, take
        self._open = True
        self.editingFinished.connect(lambda: self.close_with(keep=True))

    def begin(self, left: float, top: float, wide: float, high: float) -> None:
        """Be shown there, or as near as all of it is seen."""
        room = self._view.viewport().rect()
        x, y = min(left, room.width() - wide - 4), min(top, room.height() - high - 4)
        self.setGeometry(round(max(x, 4)), round(max(y, 0)), round(wide), round(high))
        self.show()
        self.setFocus()
        self.selectAll()

    def close_with(self, *, keep: bool) -> None:
        """Once: what takes the name may end the editing again."""
        if not self._open:
            return
        self._open = False
        had_keys = self.hasFocus()
        self.hide()
        self.deleteLater()
        if keep:
            self._take(self.text())
        if had_keys:
            self._view.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A line of Qt would leave Enter to the view too."""
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.close_with(keep=event.key() != Qt.Key.Key_Escape)
        else:
            super().keyPressEvent(event)

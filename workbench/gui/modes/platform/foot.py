"""The foot of a list: a link, and a key's action if there is room for both."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.gui.widgets import Button, label, plain_column, rule
from workbench.gui.widgets.boxes import STRETCH, row_layout

_EDGE_PX, _GAP_PX = 16, 12


class Foot(QWidget):
    def __init__(self, text: str, icon: str, said: str) -> None:
        super().__init__()
        self.button, self._said = Button(text, icon, kind="link"), label(said, "small")
        self.button.setToolTip(said)
        row = row_layout(self.button, STRETCH, self._said, margins=(_EDGE_PX, 6, _EDGE_PX, 6))
        plain_column(self, rule(), row)
        self.setMinimumWidth(self.button.sizeHint().width() + 2 * _EDGE_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needs = self.button.sizeHint().width() + self._said.sizeHint().width() + 2 * _EDGE_PX + _GAP_PX
        self._said.setVisible(self.width() >= needs)

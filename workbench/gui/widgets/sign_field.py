"""A line of text to type in, with an icon at its left that follows the theme."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit, QToolButton

from workbench.gui.look import theme
from workbench.gui.look.icons import icon


class SignField(QLineEdit):
    """What is to be typed is in it while it is empty; a cross at its right empties it."""

    def __init__(self, icon_name: str, wanted: str) -> None:
        super().__init__()
        self._icon_name = icon_name
        self.setPlaceholderText(wanted)
        self.setAccessibleName(wanted)
        self.setClearButtonEnabled(True)
        # made here: Python may forget an action that Qt makes and gives back, while the field still has it
        self.sign = QAction(self)
        self.addAction(self.sign, QLineEdit.ActionPosition.LeadingPosition)
        self._dress()
        for button in self.findChildren(QToolButton):
            mine = button.defaultAction() is self.sign
            button.setAccessibleName(wanted if mine else f"Clear: {wanted}")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "sign"):  # it changes while it is made
            self._dress()

    def _dress(self) -> None:
        self.sign.setIcon(icon(self._icon_name, theme.palette().muted))

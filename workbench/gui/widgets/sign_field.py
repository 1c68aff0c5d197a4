"""A line of text to type in, with an icon at its left that follows the theme."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QStyle, QStyleOptionFrame, QToolButton

from workbench.gui.look import theme
from workbench.gui.look.icons import icon

_SIGN_PX, _AIR_PX = 26, 6  # of an icon in a field, and beside its text: as Qt has them, with a little to spare
_CROSS = "_q_qlineeditclearaction"  # has no room while a field is empty


def placeholder_px(field: QLineEdit) -> int:
    """The room for what is in a field while it is empty."""
    option = QStyleOptionFrame()
    field.initStyleOption(option)
    inside = field.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, field)
    signs, margins = sum(one.objectName() != _CROSS for one in field.actions()), field.textMargins()
    return inside.width() - margins.left() - margins.right() - _SIGN_PX * signs - _AIR_PX


class SignField(QLineEdit):
    """What is to be typed is in it while it is empty, in fewer words where there is little room, and its sign alone
    where there is less; a cross at its right empties it."""

    def __init__(self, icon_name: str, wanted: str, few: str = "") -> None:
        super().__init__()
        self._icon_name, self._wanted = icon_name, (wanted, few)
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wanted, few = self._wanted
        if few:
            wide, room_px = self.fontMetrics().horizontalAdvance, placeholder_px(self)
            self.setPlaceholderText(next((one for one in (wanted, few) if wide(one) <= room_px), ""))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "sign"):  # it changes while it is made
            self._dress()

    def _dress(self) -> None:
        self.sign.setIcon(icon(self._icon_name, theme.palette().muted))

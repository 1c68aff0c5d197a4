"""The panels of Platform mode: beside each other, or in a narrow window the form and the table by turns."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.gui.widgets import Button, PanelHeader, Split

_PARTS_PX, _PARTS_SHARE = 280, 0.3  # of the list of parts, in a narrow window
_FORM_PX = 410  # of a form beside the table, whose fields hold a line of text


class Pages(Split):
    """The list of parts, the form of one, and the transfer table. Where there is no room for all of them, the head of
    the form has a button that shows the table in its place, and the table's head one that leads back."""

    def __init__(self, parts: QWidget, form: tuple[QWidget, PanelHeader], table: tuple[QWidget, PanelHeader]) -> None:
        (self._form, form_head), (self._table, table_head) = form, table
        self._parts, self._shows_table, self.folded = parts, False, False
        super().__init__((parts, _PARTS_PX), (self._form, 549), (self._table, 707), kept=[0])
        self.to_table = Button("Transfer times", kind="link", on=lambda: self._go_to(table=True))
        self.to_form = Button("Form", "arrow-left", kind="link", on=lambda: self._go_to(table=False))
        self.to_form.setToolTip("Back to the form")
        for head, button in ((form_head, self.to_table), (table_head, self.to_form)):
            head.add(button)
            button.hide()

    def _go_to(self, *, table: bool) -> None:
        """The button that was clicked goes; the keyboard goes to the one that leads back."""
        self.turn_to(table=table)
        (self.to_form if table else self.to_table).setFocus()

    def turn_to(self, *, table: bool) -> None:
        """Show the table, or the form, where there is room for one of them."""
        self._shows_table = table
        self._fold()

    def minimumSizeHint(self) -> QSize:
        """In which the form and the table take turns."""
        least_px = self._parts.minimumWidth() + max(self._form.minimumWidth(), self._table.minimumWidth())
        return QSize(least_px + self.handleWidth(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fold()
        super().resizeEvent(event)

    def _fold(self) -> None:
        least_px = self._parts.minimumWidth() + _FORM_PX + self._table.minimumWidth()
        self.folded = self.width() < least_px + 2 * self.handleWidth()
        self.to_table.setVisible(self.folded)
        self.to_form.setVisible(self.folded)
        self._form.setVisible(not (self.folded and self._shows_table))
        self._table.setVisible(not self.folded or self._shows_table)

    def _share(self) -> None:
        if not self.folded:
            super()._share()
            return
        parts_px = min(_PARTS_PX, round(self.width() * _PARTS_SHARE))
        self.setSizes([parts_px, *[self.width() - parts_px - self.handleWidth()] * 2])

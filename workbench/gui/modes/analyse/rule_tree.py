"""The tree of the rules in force, with the findings of each and its actions."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu

from workbench.analysis.taxonomy import taxonomy_table
from workbench.gui.widgets.table_view import TableView


class RuleTree(TableView):
    """F2 edits a row's rule (`edit_wanted`), Insert begins another (`new_wanted`); `fill` adds more to a row's menu."""

    edit_wanted = Signal(object)
    new_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(taxonomy_table(()))
        self.fill: Callable[[QMenu, Any], None] = lambda menu, row: None

    def fill_menu(self, menu: QMenu, row: Any) -> None:
        self.fill(menu, row)
        super().fill_menu(menu, row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F2 and self.current is not None:
            self.edit_wanted.emit(self.current)
        elif event.key() == Qt.Key.Key_Insert:
            self.new_wanted.emit()
        else:
            super().keyPressEvent(event)

"""The form of a model, with its drawing or source beside it where there is room."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.gui.modes.forms.part_list import PartList
from workbench.gui.modes.predict.structure_page import StructurePage
from workbench.gui.widgets import Split

PARTS_PX, FORM_PX, DRAWN_PX = 270, 560, 700
BESIDE_FROM_PX = 1180


class ModelPage(Split):
    """The drawing has one widget, which is lent by the stack that has it as a page of its own."""

    def __init__(self, parts: PartList, form: QWidget, structure: StructurePage, stack: QStackedWidget) -> None:
        super().__init__((parts, PARTS_PX), (form, FORM_PX), kept=[0])
        parts.filter.setPlaceholderText("Filter parts")
        self._structure, self._stack = structure, stack
        self._wanted_beside = False

    @property
    def is_drawn(self) -> bool:
        """Whether the drawing is beside the form."""
        return self.indexOf(self._structure) >= 0

    def lend(self, wanted: bool) -> None:
        """Take the drawing beside the form if it is wanted there and has room, else give it back."""
        self._wanted_beside = wanted
        beside = wanted and self.width() >= BESIDE_FROM_PX
        if beside and not self.is_drawn:
            self.addWidget(self._structure)
            self._structure.show()
            self.want(PARTS_PX, FORM_PX, DRAWN_PX)
        elif not beside and self.is_drawn:
            self._stack.addWidget(self._structure)
            self.want(PARTS_PX, FORM_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.lend(self._wanted_beside)

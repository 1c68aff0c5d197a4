"""The form of a model, with its drawing or source beside it or above it where there is room."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.api.predictions import Results
from workbench.gui.modes.forms.part_list import PartList
from workbench.gui.modes.predict.structure_page import StructurePage
from workbench.gui.widgets import Split

PARTS_PX, FORM_PX, DRAWN_PX = 270, 560, 700
BESIDE_FROM_PX, ABOVE_FROM_PX = 1180, QSize(800, 640)
DRAWN_HIGH_PX, SOURCE_HIGH_PX, FORM_HIGH_PX = 300, 500, 500  # one above the other


class ModelPage(Split):
    """The drawing has one widget, which is lent by the stack that has it as a page of its own."""

    def __init__(self, parts: PartList, form: QWidget, structure: StructurePage, stack: QStackedWidget) -> None:
        self._upright = Split((form, FORM_HIGH_PX), vertical=True)
        super().__init__((parts, PARTS_PX), (self._upright, FORM_PX), kept=[0])
        parts.filter.setPlaceholderText("Filter parts")
        self._structure, self._stack = structure, stack
        self._drawn: Results | None = None  # what is wanted
        self._arranged: tuple[Split | None, int] = (None, DRAWN_HIGH_PX)  # where the drawing is, and how high it is

    @property
    def is_drawn(self) -> bool:
        """Whether the drawing is beside the form, or above it."""
        return self._arranged[0] is not None

    def lend(self, drawn: Results | None) -> None:
        """Take the drawing of a model to its form if it is wanted there and has room, else give it back."""
        self._drawn = drawn
        beside = drawn is not None and self.width() >= BESIDE_FROM_PX
        above = drawn is not None and self.width() >= ABOVE_FROM_PX.width() and self.height() >= ABOVE_FROM_PX.height()
        place = self if beside else self._upright if above else None
        high_px = SOURCE_HIGH_PX if drawn is not None and drawn.structure else DRAWN_HIGH_PX
        if (place, high_px) == self._arranged:
            return
        self._arranged = place, high_px
        if place is None:
            self._stack.addWidget(self._structure)
        elif place.indexOf(self._structure) < 0:
            place.insertWidget(2 if beside else 0, self._structure)
            self._structure.show()
        self.want(PARTS_PX, FORM_PX, *[DRAWN_PX] * (place is self))
        self._upright.want(*[high_px] * (place is self._upright), FORM_HIGH_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size() != event.oldSize():
            self.lend(self._drawn)

"""The head of a panel: title, what it says about itself, and its controls, over a rule."""

from typing import Any

from PySide6.QtWidgets import QLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.gui.look.theme import set_ground
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.gui.widgets.labels import ClausesLabel, ElidedLabel, rule
from workbench.gui.widgets.scroll_area import ScrollArea

_TITLE_PX = 88  # what a title has before its controls


class PanelHeader(QWidget):
    """40 pixels high; `add` puts controls at its right end."""

    def __init__(self, title: str, subtitle: str = "") -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setFixedHeight(40)
        self._row = row_layout(margins=(16, 0, 8, 0), spacing=8)
        self.title = ElidedLabel(title, "title")
        self.subtitle = ClausesLabel(subtitle, "small")
        self.subtitle.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # the title comes first
        self._row.addWidget(self.title)
        self._row.addWidget(self.subtitle, 1)
        column_layout(STRETCH, self._row, STRETCH, rule(), of=self, margins=(0, 0, 0, 0), spacing=0)

    def set_title(self, title: str, subtitle: str = "") -> None:
        self.title.setText(title)
        self.title.setMinimumWidth(0)  # a label's hint is no smaller than its least width
        self.title.setMinimumWidth(min(self.title.sizeHint().width(), _TITLE_PX))
        self.subtitle.setText(subtitle)

    def add(self, widget: QWidget) -> None:
        self._row.addWidget(widget)


def plain_panel(least_width_px: int = 0, least_height_px: int = 0) -> tuple[QWidget, QVBoxLayout]:
    """A plain panel and its column, without margins. Without a least height it takes that of what is in it."""
    panel = QWidget()
    set_ground(panel, "panel")
    panel.setMinimumWidth(least_width_px)
    if least_height_px:
        panel.setMinimumHeight(least_height_px)
    return panel, plain_column(panel)


def plain_column(inside: QWidget, *parts: Any) -> QVBoxLayout:
    """A widget's column of parts, without margins or gaps."""
    return column_layout(*parts, of=inside, margins=(0, 0, 0, 0), spacing=0)


def empty(layout: QLayout) -> None:
    """Take all widgets out of a layout, and out of those inside it."""
    while (item := layout.takeAt(0)) is not None:
        if inner := item.layout():
            empty(inner)
        if widget := item.widget():
            widget.deleteLater()


def scrolled(name: str, inside: QWidget | QLayout | None = None, ground: str = "panel") -> ScrollArea:
    """What scrolls upright where there is no room for it: a widget, or a layout on a ground of its own. `name` is what
    a screen reader calls it."""
    area = ScrollArea(name)
    if isinstance(inside, QLayout):
        body = QWidget()
        body.setLayout(inside)
        set_ground(body, ground)
        inside = body
    if inside is not None:
        area.setWidget(inside)
    return area

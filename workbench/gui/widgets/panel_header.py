"""The head of a panel: title, what it says about itself, and its controls, over a rule."""

from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.gui.look import fonts
from workbench.gui.look.theme import set_ground
from workbench.gui.widgets.boxes import STRETCH, column_layout, row_layout
from workbench.gui.widgets.labels import ClausesLabel, ElidedLabel, rule
from workbench.gui.widgets.scroll_area import ScrollArea

_TITLE_PX = 88  # what a title has before its controls
_LINES_PX = 34  # of a title in two lines


class TitleLabel(ElidedLabel):
    """A title in two smaller lines where it has no room in one."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text, "title")

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), _LINES_PX)

    @property
    def is_wrapped(self) -> bool:
        """Whether it is in two lines."""
        room = QRectF(self.contentsRect())
        if self.fontMetrics().horizontalAdvance(self.text()) <= room.width():
            return False
        needs = QFontMetricsF(_small()).boundingRect(room, Qt.TextFlag.TextWordWrap, self.text())
        return needs.width() <= room.width() and needs.height() <= room.height()

    def shown(self) -> str:
        return self.text() if self.is_wrapped else super().shown()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.is_wrapped:
            super().paintEvent(event)
            return
        with QPainter(self) as painter:
            painter.setFont(_small())
            painter.setPen(self.palette().color(self.foregroundRole()))
            where = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(self.contentsRect()), where, self.text())


def _small() -> QFont:
    return fonts.ui_font(12, 600)


class PanelHeader(QWidget):
    """40 pixels high; `add` puts controls at its right end."""

    def __init__(self, title: str, subtitle: str = "") -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setFixedHeight(40)
        self._row = row_layout(margins=(16, 0, 8, 0), spacing=8)
        self.title = TitleLabel(title)
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

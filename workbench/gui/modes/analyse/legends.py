"""The legends of Analyse mode: states and severities under the graph, bars under the findings."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.api.window import set_ground
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import Legend, SeverityIcon, label
from workbench.gui.widgets.boxes import row_layout
from workbench.pictures.canvas import Canvas
from workbench.pictures.signs import BAR_KEYS, SEVERITIES, draw_bar_key

BOTH_FROM_PX = 900


class GraphLegend(QWidget):
    """State colours and severity shapes, one line."""

    def __init__(self) -> None:
        super().__init__()
        set_ground(self, "panel")
        self.setFixedHeight(30)
        states = Legend()
        states.setMinimumWidth(0)
        states.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._severities = QWidget()
        self._severities.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        inner = row_layout(of=self._severities, margins=(0, 0, 0, 0), spacing=6)
        for level, said in SEVERITIES.items():
            if level == "aside":
                continue
            inner.addSpacing(8)
            inner.addWidget(SeverityIcon(level, 14))
            inner.addWidget(label(said, "smallsecond"))
        row_layout((states, 1), self._severities, of=self, margins=(16, 0, 16, 0), spacing=6)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._severities.setVisible(event.size().width() >= BOTH_FROM_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(300, 30)


class BarKey(Drawn, QWidget):
    """One part of the speedup bar."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part
        self.setFixedSize(20, 14)

    def draw(self, canvas: Canvas) -> None:
        draw_bar_key(canvas, self._part, self.width(), self.height())


class FindingsFoot(QWidget):
    """The legend of bars, and at the right a text with links: without room for all, the legend goes."""

    def __init__(self, legend: QWidget, text: QWidget, *links: QWidget) -> None:
        super().__init__()
        set_ground(self, "chrome")
        self.setFixedHeight(38)
        self._legend, self._others = legend, (text, *links)
        row_layout(legend, (text, 1), *links, of=self, margins=(16, 0, 16, 0), spacing=8)

    def fit(self) -> None:
        """Show what there is room for, after a text or the width changed."""
        others = sum(8 + one.sizeHint().width() for one in self._others if not one.isHidden())
        self._legend.setVisible(32 + self._legend.sizeHint().width() + others <= self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class BarLegend(QWidget):
    """The parts of speedup bars; those of predictions only where there are some."""

    def __init__(self) -> None:
        super().__init__()
        row = row_layout(of=self, margins=(0, 0, 0, 0), spacing=7)
        self._parts: dict[str, tuple[QWidget, QWidget]] = {}
        for part, said, tip in BAR_KEYS:
            key, text = BarKey(part), label(said, "smallsecond")
            for widget in (key, text):
                widget.setToolTip(tip)
                row.addWidget(widget)
            row.addSpacing(8)
            self._parts[part] = key, text

    def show_predictions(self, shown: bool) -> None:
        for part in ("predicted", "interval"):
            for widget in self._parts[part]:
                widget.setVisible(shown)

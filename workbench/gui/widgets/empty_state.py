"""Nothing to show: one icon, one sentence why, one action."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.gui.look.theme import set_ground
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets.boxes import column_layout
from workbench.gui.widgets.buttons import Button
from workbench.gui.widgets.labels import label
from workbench.pictures.canvas import Canvas


class IconLabel(Drawn, QWidget):
    """An icon in a colour of the palette."""

    def __init__(self, icon_name: str, size_px: int = 16, colour: str = "second") -> None:
        super().__init__()
        self._icon_name, self._colour = icon_name, colour
        self.setFixedSize(size_px, size_px)

    def set_icon(self, icon_name: str, colour: str = "second") -> None:
        self._icon_name, self._colour = icon_name, colour
        self.update()

    def draw(self, canvas: Canvas) -> None:
        canvas.icon(self._icon_name, 0, 0, self.width(), self._colour)


class EmptyState(QWidget):
    """Shown in the middle of a panel that has nothing to show."""

    def __init__(
        self, icon_name: str, title: str, why: str = "", action: str = "", do: Callable[[], None] | None = None
    ) -> None:
        super().__init__()
        set_ground(self, "panel")
        column = column_layout(of=self, margins=(24, 8, 24, 8), spacing=6)
        column.addStretch(2)
        self._icon = IconLabel(icon_name, 24)
        self.title = label(title, "strong", wrap=True)
        self.why = label(why, "small", wrap=True)
        self.button = Button(action, kind="link")
        if do is not None:
            self.button.clicked.connect(lambda: do())
        column.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.title)
        column.addWidget(self.why)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        self.button.setVisible(bool(action))  # now that it is no window of its own
        self.title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.why.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    def put_below(self, widget: QWidget) -> None:
        """Put a widget below the texts."""
        column = self.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(column.count() - 1, widget, 0, Qt.AlignmentFlag.AlignHCenter)

    def say(self, title: str, why: str = "", action: str = "") -> None:
        self.title.setText(title)
        self.why.setText(why)
        self.button.setText(action)
        self.button.setVisible(bool(action))

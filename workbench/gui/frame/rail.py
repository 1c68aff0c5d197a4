"""The rail of modes at the left, in the order of the loop; notices and settings at its foot."""

from collections.abc import Iterable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from workbench.api.modes import WindowMode
from workbench.gui.look.theme import set_ground
from workbench.gui.views.canvas import Drawn
from workbench.gui.widgets import rule
from workbench.gui.widgets.boxes import column_layout, row_layout
from workbench.pictures.canvas import CENTRE, Canvas
from workbench.session.program.keys import key_in_force, key_of_mode

_HIGH_PX, _LOW_PX = 59, 36  # of a button with its word, and of one without


class RailButton(Drawn, QAbstractButton):
    """An icon over a word, 64 by 59, or the icon alone; at its corner a red count, or a dot for what is not saved."""

    def __init__(self, icon_name: str, text: str, tip: str) -> None:
        super().__init__()
        self._icon_name = icon_name
        self._count = 0
        self._unsaved = False
        self.setText(text)
        self.setToolTip(tip)
        self.setFixedSize(64, _HIGH_PX)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def set_unsaved(self, unsaved: bool) -> None:
        self._unsaved = unsaved
        self.setAccessibleName(f"{self.text()}, not saved" if unsaved else self.text())
        self.update()

    def set_count(self, count: int) -> None:
        self._count = count
        self.setAccessibleName(f"{self.text()}, {count}" if count else self.text())
        self.update()

    def draw(self, canvas: Canvas) -> None:
        on = self.isChecked()
        ground = "selection" if on else "track" if self.underMouse() else ""
        edge = "accent" if self.hasFocus() else ""
        worded, high = self.height() >= _HIGH_PX, self.height()
        canvas.rect(6.5, 2.5 + 2 * worded, 51, high - 5 - 4 * worded, ground, edge, radius=6)
        if on:
            canvas.rect(0, 0.2 * high, 3, 0.6 * high, "accent")
        ink = "link" if on else "second"
        canvas.icon(self._icon_name, 22, 12 if worded else (high - 20) / 2, 20, ink)
        if worded:
            canvas.text(0, 35, 64, 17, self.text(), ink, 12, 600 if on else 400, CENTRE)
        if self._count:
            said = str(self._count) if self._count < 100 else "99+"
            wide = 16 + 6 * (len(said) - 1)
            canvas.rect(35, 5 if worded else 1, wide, 16, "high", radius=8)
            canvas.write(35 + wide / 2, 13 if worded else 9, said, "panel", 11, 600, CENTRE)
        elif self._unsaved:
            canvas.disc(47.5, 12.5, 3.5, "accent")


class Rail(QWidget):
    mode_chosen = Signal(str)
    notices_asked = Signal()
    settings_asked = Signal()

    def __init__(self, modes: Iterable[WindowMode]) -> None:
        super().__init__()
        set_ground(self, "chrome")
        self.setFixedWidth(65)
        column = column_layout(margins=(0, 4, 0, 4), spacing=0)
        self.buttons: dict[str, RailButton] = {}
        for mode in modes:
            button = RailButton(mode.icon, mode.title, "")
            button.setCheckable(True)
            button.setAutoExclusive(True)
            button.clicked.connect(lambda checked=False, name=mode.name: self.mode_chosen.emit(name))
            self.buttons[mode.name] = button
            column.addWidget(button)
        column.addStretch(1)
        self.notices = RailButton("bell", "Notices", "Problems and plugins")
        self.notices.clicked.connect(self.notices_asked.emit)
        self.settings = RailButton("settings-2", "Settings", "Appearance, keys, programs, folders")
        self.settings.clicked.connect(self.settings_asked.emit)
        column.addWidget(self.notices)
        column.addWidget(self.settings)
        row_layout(column, rule(vertical=True), of=self, margins=(0, 0, 0, 0), spacing=0)
        self.take_keys()

    def minimumSizeHint(self) -> QSize:
        return QSize(65, len(self._every()) * _LOW_PX + 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low window has room for the icons alone, without the words below them."""
        super().resizeEvent(event)
        room = (event.size().height() - 8) // len(self._every())
        for button in self._every():
            button.setFixedHeight(_HIGH_PX if room >= _HIGH_PX else max(_LOW_PX, min(room, 48)))

    def _every(self) -> tuple[RailButton, ...]:
        return *self.buttons.values(), self.notices, self.settings

    def take_keys(self) -> None:
        """Say in the tooltips which keys are in force."""
        for place, (name, button) in enumerate(self.buttons.items(), 1):
            key = key_in_force(f"mode_{name}", key_of_mode(place))
            button.setToolTip(f"{button.text()} ({key})" if key else button.text())

    def show_mode(self, mode: str) -> None:
        self.buttons[mode].setChecked(True)

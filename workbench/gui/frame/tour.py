"""The tour for new users: a bar below the window that shows the next step, and continues once the user did it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from workbench.gui.frame.tour_steps import STEPS, TourStep, open_example, open_example_text
from workbench.gui.look.theme import colour, set_ground
from workbench.gui.widgets import Button, label
from workbench.gui.widgets.boxes import column_layout, row_layout

if TYPE_CHECKING:
    from workbench.gui.frame.frame import ProjectWindow

_RING_PX, _AWAY_PX, _BUTTON_PX = 3, 6, 40
_AGAIN_MS = 50  # how soon it is looked again whether the window is still busy


class Tour(QWidget):
    """The bar, hidden until `begin`."""

    def __init__(self, window: ProjectWindow) -> None:
        super().__init__()
        self._window = window
        self.at = -1  # the number of the step; -1: there is no tour
        self._stood: tuple[str, ...] | None = None  # what the mode's status was as the step began
        self._lacks = False  # whether the step offers the example
        set_ground(self, "selection")
        self.setAccessibleName("Tour")
        self.number, self.title = label(role="smallsecond"), label(role="strong")
        self.text = label(role="second", wrap=True)
        self.action = Button("", kind="primary", on=self._act)
        self.more = Button("Read more", on=self._read_more)
        self.skip = Button("Skip this step", on=self.skip_step)
        self.end_button = Button("End the tour", on=self.end)
        head = row_layout((self.title, 0), (self.number, 1), spacing=10)
        words = column_layout(head, self.text, spacing=2)
        row = row_layout(of=self, margins=(16, 8, 16, 8), spacing=8)
        row.addLayout(words, 1)
        for button in (self.action, self.more, self.skip, self.end_button):
            row.addWidget(button)
        self.hide()
        self._ring = _Ring(window)
        self._later = QTimer(self, singleShot=True, interval=0)  # once, when the window has taken a change in
        self._later.timeout.connect(self._look)
        self._when_idle = QTimer(self, singleShot=True, interval=_AGAIN_MS)
        self._when_idle.timeout.connect(self._look)
        context = window.context
        for signal in (
            context.workspace_changed, context.run_changed, context.analysis_changed, context.navigation.mode_changed,
            context.navigation.selection_changed, context.background.idle_changed, window.modes.shown_changed,
            window.modes.status_changed,
        ):  # fmt: skip
            signal.connect(self._later.start)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A tool bar asks for no height by width: the bar takes what its text's lines need."""
        super().resizeEvent(event)
        self._fit_text()

    def _fit_text(self) -> None:
        layout = self.layout()
        if layout is not None and self.step is not None:
            layout.invalidate()  # the buttons that are shown have changed
            self.setFixedHeight(max(layout.totalHeightForWidth(self.width()), layout.minimumSize().height()))

    @property
    def step(self) -> TourStep | None:
        return STEPS[self.at] if 0 <= self.at < len(STEPS) else None

    def begin(self) -> None:
        """Show the first step that is not done yet."""
        self.at = -1
        self._go_on()
        self.show()
        self._look()

    def end(self) -> None:
        self.at = -1
        self._ring.follow(None)
        self.hide()

    def skip_step(self) -> None:
        """Show the next step, done or not; after the last there is none."""
        self._go_on()
        if self.step is None:
            self.end()

    def _go_on(self) -> None:
        self.at += 1
        if step := self.step:
            self._write(step)
            self._later.start()

    def _write(self, step: TourStep) -> None:
        """Show a step's texts, or where it speaks of the example and that is not open, the offer to open it."""
        self._stood, self._lacks = None, step.lacks(self._window)
        offered = open_example_text(self._window, step.example) if self._lacks and step.example else ""
        self.number.setText(f"Tour, {self.at + 1} of {len(STEPS)}")
        self.title.setText(step.title)
        self.text.setText(step.words(self._window))
        self.action.setText(offered or step.action(self._window))
        self.action.setVisible(bool(self.action.text()))
        self.skip.setVisible(self.at + 1 < len(STEPS))
        self._fit_text()

    def _moved(self) -> bool:
        """Whether the mode is elsewhere than as the step began: in another line or file."""
        shown = self._window.shown
        if shown is None or self._window.busy:
            return False
        if self._stood is None:
            self._stood = shown.status
        return shown.status != self._stood

    def _look(self) -> None:
        """Go on past what is done, and ring what the step is about. A window that is busy is looked at again: where it
        then is, the step begins."""
        while (step := self.step) and step.is_done(self._window, not step.lacks(self._window) and self._moved()):
            self._go_on()
        if step and step.lacks(self._window) != self._lacks:
            self._write(step)
        if step and self._window.busy:
            self._when_idle.start()
        self._ring.follow(step.ringed(self._window) if step and not self._lacks else None)

    def _act(self) -> None:
        step = self.step
        if step and self._lacks and step.example:
            open_example(self._window, step.example)
        elif step:
            step.act(self._window)

    def _read_more(self) -> None:
        if step := self.step:
            self._window.floating.show_guide(step.page)


class _Ring(QWidget):
    """A frame around another widget of the window, through which mouse and keys go."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._around: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def follow(self, widget: QWidget | None) -> None:
        """Frame a widget as long as it is there to be seen; None for none."""
        if widget is not self._around:
            if self._around is not None and isValid(self._around):
                self._around.removeEventFilter(self)
            self._around = widget
            if widget is not None:
                widget.installEventFilter(self)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide):
            QTimer.singleShot(0, self, self._place)
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        around = self._around
        there = around is not None and isValid(around) and around.isVisible()
        place = _shown_part(around, self._window) if there and around is not None else QRect()
        if not place.isEmpty():
            if place.height() <= _BUTTON_PX:  # a button can have the ring's colour
                place.adjust(-_AWAY_PX, -_AWAY_PX, _AWAY_PX, _AWAY_PX)
            self.setGeometry(place)
            self.raise_()
        self.setVisible(not place.isEmpty())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour("accent"), _RING_PX))
        half = _RING_PX // 2 + 1
        painter.drawRoundedRect(self.rect().adjusted(half, half, -half, -half), 6, 6)


def _shown_part(widget: QWidget, window: QWidget) -> QRect:
    """What of a widget is within all that it is in, which may be scrolled; in the window's own pixels."""
    place, inside = widget.rect(), widget
    while inside is not window and (outer := inside.parentWidget()) is not None:
        place = place.translated(inside.pos()) & outer.rect()
        inside = outer
    return place

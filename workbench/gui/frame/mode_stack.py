"""The stack of modes: creates each mode when the user first opens it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QScrollArea, QWidget
from shiboken6 import isValid

from workbench.api.faults import caught, plugin_fault, plugin_of
from workbench.gui.frame.context import Context
from workbench.gui.look.theme import set_ground
from workbench.gui.modes.mode import Mode
from workbench.gui.widgets import Stack
from workbench.model.diagnostic import Diagnostic


class Room(QScrollArea):
    """The modes in the room that the window leaves them: one that needs more is scrolled."""

    def __init__(self, modes: ModeStack) -> None:
        super().__init__()
        self.setAccessibleName("The mode shown")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setWidget(modes)
        for other in (modes.currentChanged, modes.shown_changed):  # another mode needs other room
            other.connect(self._fit)

    def _fit(self) -> None:
        QCoreApplication.postEvent(self, QEvent(QEvent.Type.LayoutRequest))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)


class ModeStack(Stack):
    """The middle of the window. A mode that is wanted for the first time is read in the background and built by
    slices; until it is whole nothing of another mode is under its name."""

    shown_changed = Signal()
    status_changed = Signal()
    details_asked = Signal()
    built = Signal()  # a mode, which stays as long as the window does

    def __init__(self, context: Context) -> None:
        super().__init__()
        set_ground(self, "panel")
        self._context = context
        self._wanted = ""
        self._making: dict[str, Iterator[None]] = {}
        self._blank = QWidget()
        self.addWidget(self._blank)
        self.views: dict[str, Mode] = {}

    def show_mode(self, mode: str) -> None:
        """Show a mode as soon as it is whole."""
        self._wanted = mode
        if mode in self.views:
            self._show()
        else:
            self.setCurrentWidget(self._blank)
        if mode not in self.views and mode not in self._making:
            self._making[mode] = self._make(mode)
            plugins = self._context.plugins

            def read() -> None:
                view: type[Mode] = plugins.modes[mode].view()
                view.read_ahead(plugins)

            build = partial(self._context.slices.start, self, self._making[mode])
            self._context.code.start(f"code of {mode}", read, lambda _: build(), partial(self._failed, mode))

    def whole(self, mode: str) -> Mode | None:
        """A mode, built at once where it is not yet. None where no plugin brings it, or where it fails."""
        if mode in self._context.plugins.modes:
            for _ in self._making.setdefault(mode, self._make(mode)):
                pass
            if mode in self.views:
                self.views[mode].catch_up()
        return self.views.get(mode)

    @property
    def shown(self) -> Mode | None:
        """The mode that is wanted, once it is shown."""
        return self.views.get(self._wanted)

    def current(self) -> Mode | None:
        """The mode that is wanted, built at once where it is not yet."""
        return self.whole(self._wanted) if self._wanted else None

    def _make(self, mode: str) -> Iterator[None]:
        if mode in self.views:
            return
        kind, view = self._context.plugins.modes[mode], None
        try:
            view = kind.view()(self._context, kind)
            view.setParent(self)  # so that each of its parts is dressed as it is made
            yield
            yield from view.build()
        except BaseException as raised:
            if view is not None and isValid(view):
                view.deleteLater()
            fault = caught(raised)
            self._making.pop(mode, None)  # asked for again, it is tried again
            if not plugin_of(fault):
                raise
            self._context.notices.tell(plugin_fault(fault, f"to show the mode '{kind.title}'"))
            return
        self.addWidget(view)
        view.status_changed.connect(self.status_changed)
        view.details_asked.connect(self.details_asked)
        view.details_changed.connect(partial(self._details_changed, view))
        self.views[mode] = view
        self.built.emit()
        if mode == self._wanted:
            self._show()

    def _details_changed(self, view: Mode) -> None:
        if view is self.shown:
            self.shown_changed.emit()

    def _show(self) -> None:
        """What is drawn at length follows the rest of the mode, each in a turn of its own."""
        wanted = self.views[self._wanted]
        parts: list[QWidget | None] = []
        if wanted is not self.currentWidget():
            wanted.catch_up()
            parts = [wanted, wanted.side_panel, wanted.details_panel]
        views = [view for part in parts if part is not None for view in _views(part)]
        for view in views:
            view.setUpdatesEnabled(False)
        self.setCurrentWidget(wanted)
        self.shown_changed.emit()
        if views:
            self._context.slices.start(self, _unveiled(views))

    def _failed(self, mode: str, problems: tuple[Diagnostic, ...]) -> None:
        del self._making[mode]
        self._context.notices.tell(*problems)


def _views(part: QWidget) -> Iterator[QWidget]:
    """The views, tables and texts in a part, as far as they are to be seen."""
    for child in part.children():
        if isinstance(child, QWidget) and not child.isHidden():
            if isinstance(child, QAbstractScrollArea):
                yield child
            else:
                yield from _views(child)


def _unveiled(views: Sequence[QWidget]) -> Iterator[None]:
    for view in views:
        yield
        if isValid(view):
            view.setUpdatesEnabled(True)

"""The modes, each made when it is first shown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import Signal

from workbench.api.faults import plugin_fault, plugin_of
from workbench.gui.background import Slices
from workbench.gui.context import Context
from workbench.gui.mode import Mode
from workbench.gui.theme import set_ground
from workbench.gui.widgets import Stack
from workbench.model.diagnostic import Diagnostic


class ModeStack(Stack):
    """The middle of the window. A mode that is wanted for the first time is read in the background and built by
    slices; what was shown before stays until it is whole."""

    shown_changed = Signal()
    status_changed = Signal()

    def __init__(self, context: Context, slices: Slices) -> None:
        super().__init__()
        set_ground(self, "panel")
        self._context, self._slices = context, slices
        self._wanted = ""
        self._making: dict[str, Iterator[None]] = {}
        self.made: dict[str, Mode] = {}

    def show_mode(self, mode: str) -> None:
        """Show a mode as soon as it is whole."""
        self._wanted = mode
        if mode in self.made:
            self._show()
        elif mode not in self._making:
            self._making[mode] = self._make(mode)
            read = self._context.plugins.modes[mode].view
            build = partial(self._slices.start, self._making[mode])
            self._context.background.start(f"code of {mode}", read, lambda _: build(), partial(self._failed, mode))

    def whole(self, mode: str) -> Mode | None:
        """A mode, built at once where it is not yet. None where no plugin brings it, or where it fails."""
        if mode in self._context.plugins.modes:
            for _ in self._making.setdefault(mode, self._make(mode)):
                pass
        return self.made.get(mode)

    @property
    def shown(self) -> Mode | None:
        """The mode that is wanted, once it is shown."""
        return self.made.get(self._wanted)

    def current(self) -> Mode | None:
        """The mode that is wanted, built at once where it is not yet."""
        return self.whole(self._wanted) if self._wanted else None

    def _make(self, mode: str) -> Iterator[None]:
        if mode in self.made:
            return
        kind = self._context.plugins.modes[mode]
        try:
            made = kind.view()(self._context, kind)
            yield
            yield from made.build()
        except Exception as error:
            self._making.pop(mode, None)  # asked for again, it is tried again
            if not plugin_of(error):
                raise
            self._context.notices.tell(plugin_fault(error, f"to show the mode '{kind.title}'"))
            return
        self.addWidget(made)
        made.status_changed.connect(self.status_changed)
        self.made[mode] = made
        if mode == self._wanted:
            self._show()

    def _show(self) -> None:
        self.setCurrentWidget(self.made[self._wanted])
        self.shown_changed.emit()

    def _failed(self, mode: str, problems: tuple[Diagnostic, ...]) -> None:
        del self._making[mode]
        self._context.notices.tell(*problems)

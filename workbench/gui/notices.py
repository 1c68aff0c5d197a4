"""What is told and belongs to no place in particular; one that is told already is not repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal

from workbench.model.diagnostic import Diagnostic, WorkbenchError


class Notices(QObject):
    """Diagnostics, in the order in which they came."""

    changed = Signal()

    def __init__(self, first: tuple[Diagnostic, ...], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._first, self._told = first, first

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._told)

    def tell(self, *diagnostics: Diagnostic) -> None:
        new = tuple(d for d in dict.fromkeys(diagnostics) if d not in self._told)
        if new:
            self._told += new
            self.changed.emit()

    def dismiss(self, diagnostic: Diagnostic) -> None:
        self._told = tuple(d for d in self._told if d != diagnostic)
        self.changed.emit()

    def clear(self) -> None:
        """Forget all but what was told at the start."""
        self._told = self._first
        self.changed.emit()

    def attempt(self, action: Callable[[], None]) -> bool:
        """Do something. False, with a notice, where it could not be done."""
        try:
            action()
        except WorkbenchError as error:
            self.tell(*error.diagnostics)
            return False
        return True

"""Problems without a place in a file. Each is shown once, and disappears when it is fixed."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal

from workbench.model.diagnostic import Diagnostic, WorkbenchError


class Notices(QObject):
    """Diagnostics, in the order in which they came."""

    changed = Signal()

    def __init__(self, first: tuple[Diagnostic, ...], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._first, self._shown = first, first
        self._by_subject: dict[str, tuple[Diagnostic, ...]] = {}

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._shown)

    def tell(self, *diagnostics: Diagnostic) -> None:
        self._show((*self._shown, *diagnostics))

    def keep(self, subject: str, *diagnostics: Diagnostic) -> None:
        """Show what is wrong with a subject now, in place of what was wrong with it before."""
        before = self._by_subject.pop(subject, ())
        elsewhere = {d for others in self._by_subject.values() for d in others}
        if diagnostics:
            self._by_subject[subject] = diagnostics
        fixed = {d for d in before if d not in diagnostics and d not in elsewhere}
        self._show((*(d for d in self._shown if d not in fixed), *diagnostics))

    def dismiss(self, diagnostic: Diagnostic) -> None:
        self._show(tuple(d for d in self._shown if d != diagnostic))

    def clear(self) -> None:
        """Forget all but the notices of the start."""
        self._by_subject.clear()
        self._show(self._first)

    def _show(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        shown = tuple(dict.fromkeys(diagnostics))
        if shown != self._shown:
            self._shown = shown
            self.changed.emit()

    def attempt(self, action: Callable[[], None]) -> bool:
        """Do something. False, with a notice, where it could not be done."""
        try:
            action()
        except WorkbenchError as error:
            self.tell(*error.diagnostics)
            return False
        return True

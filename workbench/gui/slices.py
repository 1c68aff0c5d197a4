"""Work that must be done in the window's thread, a piece for each turn of the event loop, so that nothing blocks."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer


class Slices(QObject):
    """Runs generators, each up to its next `yield` in a turn of its own; while one is under way, another waits."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: list[Iterator[None]] = []
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._run)

    def start(self, work: Iterator[None]) -> None:
        self._waiting.append(work)
        self._timer.start()

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def finish(self) -> None:
        """Do at once what is left, before the window goes: nothing half built is left behind."""
        while self._waiting:
            self._run()

    def _run(self) -> None:
        if self._waiting and next(self._waiting[0], self) is self:  # it has ended
            self._waiting.pop(0)
        if not self._waiting:
            self._timer.stop()

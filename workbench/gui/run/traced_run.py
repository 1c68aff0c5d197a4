"""Prepares the open run's trace in the background for all views, and the statistics of a range."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.gui.run.background import Background
from workbench.model.diagnostic import Diagnostic
from workbench.model.run import Run

if TYPE_CHECKING:
    from workbench.traces.scene import Scene
    from workbench.traces.statistics import Statistics


class TracedRun(QObject):
    """`scene` is None until it was asked for and is ready, and where a trace is empty. `failed` carries diagnostics."""

    ready = Signal()
    failed = Signal(object)

    def __init__(self, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._background = background
        self._run: Run | None = None
        self._asked = False
        self.scene: Scene | None = None

    def show(self, run: Run | None) -> None:
        """Another run is open."""
        self._run, self._asked, self.scene = run, False, None

    @property
    def has_trace(self) -> bool:
        return self._run is not None and {"intervals", "interval_offsets"} <= self._run.tables.keys()

    def ask(self) -> None:
        """Make the trace ready; `ready` follows, where it is not ready yet."""
        run = self._run
        if run is None or self._asked or not self.has_trace:
            return
        self._asked = True

        def work() -> Scene | None:
            from workbench.traces.scene import build_scene  # with numpy, which a window starts without

            return build_scene(run)

        self._background.start("timeline", work, self._built, self.failed.emit)

    def _built(self, scene: Scene | None) -> None:
        self.scene = scene
        self.ready.emit()

    def count(self, asker: str, from_ps: int, to_ps: int, done: Callable[[Statistics], None]) -> None:
        """Find what lies between two times; of several questions of one asker the last is answered."""
        scene = self.scene
        if scene is None:
            return

        def work() -> Statistics:
            from workbench.traces.statistics import selection_statistics

            return selection_statistics(scene, from_ps, to_ps)

        self._background.start(f"statistics {asker}", work, done, self._uncounted)

    def _uncounted(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.failed.emit(diagnostics)

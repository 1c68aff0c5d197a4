"""The panels around a mode: left and right docks whose width and presence each mode keeps, the run dock below."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QStackedWidget, QWidget

from workbench.gui.context import Context
from workbench.gui.modes import ModeStack
from workbench.gui.run_dock import RunDock
from workbench.gui.theme import set_ground
from workbench.session import store

#: Widths of the left and right panel by mode, before anyone moved them.
SIDE_PX = {"source": 272}
DETAILS_PX = {"source": 336, "analyse": 472, "timeline": 320, "compare": 360, "platform": 360, "predict": 348}
RUN_PX = 356


class Panels:
    def __init__(self, window: QMainWindow, context: Context, modes: ModeStack, run_dock: RunDock) -> None:
        self._window, self._context, self._modes = window, context, modes
        self.side_stack, self.details_stack = QStackedWidget(), QStackedWidget()
        self._side = _dock("Side", self.side_stack)
        self._details = _dock("Details", self.details_stack)
        self._run = _dock("Run", run_dock)
        self.details_stack.setMinimumWidth(240)
        self.side_stack.setMinimumWidth(180)
        run_dock.setMinimumHeight(160)
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._side)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._details)
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._run)
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        self._mode = ""
        self._run_wanted = False
        kept = store.load("layout", {})
        self._kept: dict[str, dict[str, int]] = kept if isinstance(kept, dict) else {}
        for dock in (self._side, self._details, self._run):
            dock.hide()

    def show_mode(self, mode: str) -> None:
        """Show the panels of a mode as it was left; "" shows none (Welcome)."""
        self._remember()
        self._mode = mode
        widget = self._modes.made.get(mode)
        side, details = (widget.side_panel, widget.details_panel) if widget else (None, None)
        kept = self._kept.get(mode, {})
        for dock, stack, inside in (
            (self._side, self.side_stack, side),
            (self._details, self.details_stack, details),
        ):
            if inside is not None and stack.indexOf(inside) < 0:
                stack.addWidget(inside)
            if inside is not None:
                stack.setCurrentWidget(inside)
            hidden = dock is self._details and not kept.get("details_shown", 1)
            dock.setVisible(inside is not None and not hidden)
        self._run.setVisible(bool(mode) and self._run_wanted)
        self._resize(
            self._clamp(kept.get("side", SIDE_PX.get(mode, 240)), 0.30),
            self._clamp(kept.get("details", DETAILS_PX.get(mode, 320)), 0.34),
        )

    def _clamp(self, width: int, share: float) -> int:
        return min(width, round(self._window.width() * share))

    def _resize(self, side: int, details: int) -> None:
        self._window.resizeDocks([self._side, self._details], [side, details], Qt.Orientation.Horizontal)

    def _remember(self) -> None:
        if not self._mode or not self._window.isVisible():
            return
        kept = self._kept.setdefault(self._mode, {})
        if self._side.isVisible():
            kept["side"] = self._side.width()
        if self._details.isVisible():
            kept["details"] = self._details.width()

    def has_details(self) -> bool:
        mode = self._modes.made.get(self._mode)
        return mode is not None and mode.details_panel is not None

    def details_visible(self) -> bool:
        return self._details.isVisible()

    def run_visible(self) -> bool:
        return self._run.isVisible()

    def show_details(self, visible: bool) -> None:
        self._kept.setdefault(self._mode, {})["details_shown"] = int(visible)
        self.show_mode(self._mode)

    def show_run(self, visible: bool) -> None:
        first = visible and not self._run_wanted
        self._run_wanted = visible
        self._run.setVisible(visible and bool(self._mode))
        if first:
            height = min(RUN_PX, round(self._window.height() * 0.42))
            self._window.resizeDocks([self._run], [height], Qt.Orientation.Vertical)

    def reset(self) -> None:
        """As the window was when it was new."""
        self._kept = {}
        mode, self._mode = self._mode, ""
        self._run_wanted = False
        self.show_mode(mode)
        self.save()

    def save(self) -> None:
        self._remember()
        store.save("layout", self._kept)


def _dock(title: str, inside: QWidget) -> QDockWidget:
    made = QDockWidget(title)
    made.setObjectName(title)
    made.setFeatures(QDockWidget.DockWidgetFeature.NoDockWidgetFeatures)
    made.setTitleBarWidget(QWidget())
    set_ground(inside, "panel")
    made.setWidget(inside)
    return made

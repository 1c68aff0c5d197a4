"""The panels around a mode: left and right docks whose width and presence each mode keeps, the run dock below."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QStyle, QToolBar, QWidget

from workbench.api.modes import Panel
from workbench.gui.frame.focus import focus_is_in, home_of
from workbench.gui.frame.mode_stack import ModeStack
from workbench.gui.look.theme import set_ground
from workbench.gui.run.run_control import EndedRun
from workbench.gui.run.run_dock import RunDock
from workbench.gui.widgets import Stack
from workbench.system import store

RAIL_PX, RUN_PX, FOUND_PX, EDGE_PX = 65, 356, 240, 1
FOUND_PART = 0.3  # of the window's height
CENTRE_PX = 704  # what a mode and the rail have before the panels beside it get all that they want
MIDDLE_PX, BELOW_PX = 256, 160  # the height that the panels below leave a mode, where they have their own least height
RANGE_PART, RANGE_PX = 0.45, 304  # of the details' column; its least width
RANGE_BESIDE_PX, RANGE_BELOW_PX = 1440, 236  # from which width of the window it is always at the right; else its height
NARROW_PX, WIDE_PX = 1000, 1600
_ANY = Panel(width_px=320, least_px=240)


class Panels(QObject):
    """Places the docks. What a person wants of a panel's width is kept apart from what there is room for, so that a
    panel which gave way to a small window comes back in a large one."""

    def __init__(self, window: QMainWindow, centre: QWidget, modes: ModeStack, run_dock: RunDock, end: QWidget) -> None:
        super().__init__(window)
        self._window, self._centre, self._modes = window, centre, modes
        self.side_stack, self.details_stack = Stack(), Stack()
        self._blanks = tuple((stack, QWidget()) for stack in (self.side_stack, self.details_stack))
        for stack, blank in self._blanks:
            stack.addWidget(blank)
        self._side = _dock("Side", self.side_stack)
        self._details = _dock("Details", self.details_stack)
        self._range = _dock("Range", QWidget())  # what is in it is made when it is first wanted
        self._run = _dock("Run", run_dock)
        self._end = _dock("End of the run", end)
        self._found = _dock("Found", QWidget())  # what is in it is made when it is first wanted
        self._range.setMinimumWidth(RANGE_PX)
        run_dock.setMinimumHeight(BELOW_PX)
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._side)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._details)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self._range)
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._run)
        window.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, self._end)
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._found)
        window.setCorner(Qt.Corner.TopLeftCorner, Qt.DockWidgetArea.TopDockWidgetArea)
        window.setCorner(Qt.Corner.TopRightCorner, Qt.DockWidgetArea.TopDockWidgetArea)
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        self._mode = ""
        self._widths = (_ANY, _ANY)
        self._asked: set[str] = set()  # modes of whose details something was asked
        self._run_wanted, self._range_wanted, self._run_px = False, False, RUN_PX
        self._end_wanted = self._found_wanted = False
        self._run_lent = False  # whether a job opened the run panel, and no person since
        self._kept: dict[str, dict[str, int]] = store.load("layout", {})
        for dock in (self._end, self._side, self._details, self._range, self._run, self._found):
            dock.hide()
        for watched in (window, centre, self._side, self._details, self._run):
            watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            if watched is self._window:
                QTimer.singleShot(0, self, self._fit)  # when the window has laid itself out
            elif watched is self._centre:  # also as the banner or the tour takes room
                if isinstance(event, QResizeEvent) and event.oldSize().height() != event.size().height():
                    QTimer.singleShot(0, self, self._fit_at_rest)
            elif self._mode and QApplication.mouseButtons() & Qt.MouseButton.LeftButton:  # the edge is being dragged
                kept = self._kept.setdefault(self._mode, {})
                if watched is self._run:
                    self._run_px = self._run.height()
                elif watched is self._side:
                    kept["side"] = self._side.width()
                elif not self._details_under:
                    kept["details"] = self._details.width()
        return super().eventFilter(watched, event)

    def show_mode(self, mode: str) -> None:
        """Show the panels of a mode as it was left; "" shows none (Welcome)."""
        self._mode = mode
        view = self._modes.views.get(mode)
        side, details = (view.side_panel, view.details_panel) if view else (None, None)
        self._widths = (view.kind.side or _ANY, view.kind.details or _ANY) if view else (_ANY, _ANY)
        for stack, width in zip((self.side_stack, self.details_stack), self._widths, strict=True):
            stack.setMinimumWidth(width.least_px)
        for dock, stack, inside in (
            (self._side, self.side_stack, side),
            (self._details, self.details_stack, details),
        ):
            if inside is not None and stack.indexOf(inside) < 0:
                stack.addWidget(inside)
            if inside is not None:
                stack.setCurrentWidget(inside)
            dock.setVisible(inside is not None and (dock is self._side or self._shows_details()))
        self._run.setVisible(bool(mode) and self._run_wanted)
        self._end.setVisible(bool(mode) and self._end_wanted)
        self._found.setVisible(bool(mode) and self._found_wanted)
        self._range.setVisible(view is not None and self._range_wanted and not view.shows_range)
        self._fit()
        QTimer.singleShot(0, self, self._fit)  # docks that were just shown take their width when they are laid out

    def blank(self) -> None:
        """Leave the panels where they are, empty: the mode that they will be of is not whole yet."""
        for stack, blank in self._blanks:
            stack.setCurrentWidget(blank)

    def _shows_details(self) -> bool:
        """Whether a mode's details are shown: the user's choice, otherwise if they leave the middle the room it
        needs."""
        view = self._modes.views.get(self._mode)
        if view is None or view.details_panel is None:
            return False
        if self._mode in self._asked:
            return True
        if (said := self._kept.get(self._mode, {}).get("details_shown")) is not None:
            return bool(said)
        wanted = view.details_wanted and not view.shows_nothing
        return wanted and self._left_px(under=self._details_under) >= self._least_px()

    def _left_px(self, *, under: bool) -> int:
        """What the panels leave the middle of a mode with both, where they are as narrow as can be."""
        view, (side, details) = self._modes.views[self._mode], (width.least_px for width in self._widths)
        beside = max(side, details) if under else details + (side + EDGE_PX if view.side_panel is not None else 0)
        return self._window.width() - RAIL_PX - EDGE_PX - beside

    def _least_px(self) -> int:
        """What the middle of the mode should have."""
        view = self._modes.views[self._mode]
        return max(_needed_px(view), round(view.centre_part * self._window.width()))

    @property
    def _details_under(self) -> bool:
        """Whether the details are under the side panel: a mode that is mostly its middle keeps its width so."""
        view = self._modes.views.get(self._mode)
        if view is None or view.side_panel is None or not view.centre_part:
            return False
        return self._left_px(under=False) < self._least_px()

    def _place_details(self) -> None:
        under, areas = self._details_under, Qt.DockWidgetArea
        area = areas.LeftDockWidgetArea if under else areas.RightDockWidgetArea
        if self._window.dockWidgetArea(self._details) == area:
            return
        shown = self._details.isVisible()
        self._window.addDockWidget(area, self._details)
        if under:
            self._window.splitDockWidget(self._side, self._details, Qt.Orientation.Vertical)
        elif self._window.dockWidgetArea(self._range) == area:
            self._window.splitDockWidget(self._details, self._range, Qt.Orientation.Vertical)
        self._details.setVisible(shown)

    def _fit_at_rest(self) -> None:
        if not QApplication.mouseButtons() & Qt.MouseButton.LeftButton:  # else an edge is being dragged
            self._fit()

    def _fit(self) -> None:
        """Give the panels the widths that are wanted, as far as the window has room for them."""
        self._details.setVisible(self._shows_details())
        self._place_details()
        under = self._details_under and self._details.isVisible()
        kept, room = self._kept.get(self._mode, {}), self._window.width()
        shares = ((self._side, "side", 0.0, 0.30), (self._details, "details", 0.14, 0.34))
        grown = max(1.0, room / WIDE_PX) ** 0.5  # half of what the window grows, the mode has the other half
        docks = [
            (dock, min(kept.get(name, max(round(width.width_px * grown), round(room * least))), round(room * most)))
            for (dock, name, least, most), width in zip(shares, self._widths, strict=True)
            if dock.isVisible() and not (under and dock is self._details)
        ]
        wanted, view = sum(px for _, px in docks), self._modes.views.get(self._mode)
        centre_px = max(CENTRE_PX, RAIL_PX + _needed_px(view)) if view else CENTRE_PX
        if view and view.minimumSizeHint().height() > self._centre.height():  # it scrolls: the bar takes its width
            centre_px += self._centre.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        free_px = room - centre_px - EDGE_PX * len(docks)
        given = min(1.0, max(0, free_px) / max(wanted, 1))
        if docks:
            widths = [round(px * given) for _, px in docks]
            self._window.resizeDocks([dock for dock, _ in docks], widths, Qt.Orientation.Horizontal)
        if under:
            halves = [self._side.height() + self._details.height()] * 2
            self._window.resizeDocks([self._side, self._details], halves, Qt.Orientation.Vertical)
        self._place_range()
        below = self._is_below(self._range)
        if self._range.isVisible() and not below and self._details.isVisible() and not under:
            room = self._details.height() + self._range.height()
            heights = [round(room * (1 - RANGE_PART)), round(room * RANGE_PART)]
            self._window.resizeDocks([self._details, self._range], heights, Qt.Orientation.Vertical)
        self._fit_below()

    def _fit_below(self) -> None:
        """Give the panels below the mode the heights that are wanted, as far as they leave it a middle of use."""
        wanted = {self._range: RANGE_BELOW_PX, self._run: min(self._run_px, round(self._window.height() * 0.42)),
                  self._found: max(FOUND_PX, round(self._window.height() * FOUND_PART))}  # fmt: skip
        below = [dock for dock in wanted if dock.isVisible() and self._is_below(dock)]  # side by side
        if not below:
            return
        room = self._centre.height() + below[0].height()
        height = max(min(max(wanted[dock] for dock in below), room - MIDDLE_PX), BELOW_PX)
        if abs(below[0].height() - height) > 1:
            self._window.resizeDocks(below, [height] * len(below), Qt.Orientation.Vertical)

    def _is_below(self, dock: QDockWidget) -> bool:
        return self._window.dockWidgetArea(dock) == Qt.DockWidgetArea.BottomDockWidgetArea

    def _place_range(self) -> None:
        """Beside the mode, where that or its details leave the room, else below it."""
        wide = self._window.width() >= RANGE_BESIDE_PX
        by_details = self._details.isVisible() and not self._details_under
        beside = wide or (by_details and self._widths[1].least_px >= RANGE_PX)
        areas = Qt.DockWidgetArea
        area = areas.RightDockWidgetArea if beside else areas.BottomDockWidgetArea
        if self._window.dockWidgetArea(self._range) != area:
            shown = self._range.isVisible()
            self._window.addDockWidget(area, self._range)
            self._range.setVisible(shown)
        corner = areas.BottomDockWidgetArea if self._is_narrow else areas.LeftDockWidgetArea
        self._window.setCorner(Qt.Corner.BottomLeftCorner, corner)
        if not beside and self._holds_one_below and (self._run.isVisible() or self._found.isVisible()):
            self._range.hide()

    @property
    def _is_narrow(self) -> bool:
        """Whether the panels below have all of the width, also that below the side panel."""
        return self._window.width() < NARROW_PX

    @property
    def _holds_one_below(self) -> bool:
        """Whether there is room for one panel below a mode only: the range's takes the run's place, and gives it."""
        side = self._side.width() + EDGE_PX if self._side.isVisible() and not self._is_narrow else 0
        return self._window.width() - side < NARROW_PX

    def by_name(self) -> dict[str, QWidget]:
        """The parts of the window that F6 goes round."""
        inside = {"side": self.side_stack, "centre": self._centre, "details": self.details_stack}
        below = {"range": self._range.widget(), "found": self._found.widget(), "run": self._run.widget()}
        return {"end": self._end.widget(), **inside, **below}

    def focus_next(self) -> None:
        """F6: side panel, middle (or the panels in it), details, run panel, and round again."""
        parts, mode = self.by_name(), self._modes.views.get(self._mode)
        inside = [panel for panel in (mode.panels or (mode,) if mode else ()) if panel.isVisible()]
        groups = [inside if inside and name == "centre" else [part] for name, part in parts.items()]
        panels = [panel for group in groups for panel in group if panel.isVisible()]
        focus = QApplication.focusWidget()
        here = next((i for i, w in enumerate(panels) if focus is not None and w.isAncestorOf(focus)), -1)
        for offset in range(1, len(panels) + 1):
            target = home_of(panels[(here + offset) % len(panels)])
            if target is not None:
                target.setFocus(Qt.FocusReason.TabFocusReason)
                return

    def has_details(self) -> bool:
        mode = self._modes.views.get(self._mode)
        return mode is not None and mode.details_panel is not None

    def details_visible(self) -> bool:
        return self._details.isVisible()

    def run_visible(self) -> bool:
        return self._run.isVisible()

    def ask_details(self) -> None:
        """Show the details for what was asked of them, until a person hides them."""
        self._asked.add(self._mode)
        self._fit()

    def show_details(self, visible: bool) -> None:
        self._asked.discard(self._mode)
        self._kept.setdefault(self._mode, {})["details_shown"] = int(visible)
        self.show_mode(self._mode)

    def range_wanted(self) -> bool:
        return self._range_wanted

    def show_range(self, panel: QWidget | None) -> None:
        """Show what the range holds in this panel, beside every mode; None hides it."""
        self._range_wanted = panel is not None
        if panel is not None and self._range.widget() is not panel:
            set_ground(panel, "panel")
            self._range.setWidget(panel)
        if panel is not None and self._holds_one_below:
            self.show_found(None)
            self.show_run(False)
        self.show_mode(self._mode)

    def lend_run(self) -> None:
        """Show the run panel while a job is under way."""
        lent = self._run_lent or not self._run_wanted
        self.show_run(True)
        self._run_lent = lent

    def take_run_back(self, ended: EndedRun) -> None:
        """Hide the run panel after a run that went well, where no person opened it or reads in it."""
        well = ended.run is not None and ended.run.complete
        if well and self._run_lent and not focus_is_in(self._run):
            self.show_run(False)

    def show_run(self, visible: bool) -> None:
        self._run_wanted, self._run_lent = visible, False
        self._range_wanted &= not (visible and self._holds_one_below)
        if visible:
            self.show_found(None)
        self._run.setVisible(visible and bool(self._mode))
        self._fit()

    def found_visible(self, panel: QWidget | None = None) -> bool:
        """Whether a panel is shown in the run's place, or this one."""
        return self._found.isVisible() and panel in (None, self._found.widget())

    def show_found(self, panel: QWidget | None) -> None:
        """Show this panel, of what is found in the project or of what is wrong, below every mode in the run's place;
        None hides it."""
        self._found_wanted = panel is not None
        if panel is not None:
            self._range_wanted &= not self._holds_one_below
            self.show_run(False)
            if self._found.widget() is not panel:
                self._found.setWidget(panel)
        self._found.setVisible(self._found_wanted and bool(self._mode))
        self._fit_below()

    def show_end(self, visible: bool) -> None:
        """Show how the last run ended, above every mode."""
        self._end_wanted = visible
        self._end.setVisible(visible and bool(self._mode))

    def reset(self) -> None:
        """Restore the window's first layout."""
        self._kept, self._asked = {}, set()
        mode, self._mode = self._mode, ""
        self._run_wanted, self._range_wanted, self._run_px = False, False, RUN_PX
        self._run_lent = False
        self.show_mode(mode)
        self.save()

    def save(self) -> None:
        store.save("layout", self._kept)


def _needed_px(view: QWidget) -> int:
    """How wide a mode's middle must be: in less it scrolls sideways."""
    return view.minimumSizeHint().expandedTo(view.minimumSize()).width()


def _dock(title: str, inside: QWidget) -> QDockWidget:
    dock = QDockWidget(title)
    dock.setObjectName(title)
    dock.setFeatures(QDockWidget.DockWidgetFeature.NoDockWidgetFeatures)
    dock.setTitleBarWidget(QWidget())
    set_ground(inside, "panel")
    dock.setWidget(inside)
    return dock


def fixed_bar(inside: QWidget) -> QToolBar:
    """A bar at an edge of the window that is nothing but a widget."""
    bar = QToolBar()
    bar.setMovable(False)
    bar.setStyleSheet("QToolBar { border: none; padding: 0; margin: 0; spacing: 0; }")
    bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
    bar.addWidget(inside)
    return bar

"""The run's time by component, block, state and call, as a flame graph or a treemap; replaces the graph."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from workbench.api.window import Context
from workbench.gui.frame.selection import SelectedBlock, SelectedCall, SelectedState, Selection
from workbench.gui.modes.analyse.legends import GraphLegend
from workbench.gui.modes.analyse.picture_tabs import BLOCKS, PictureTabs
from workbench.gui.views.house_view import HouseView, Row
from workbench.gui.widgets import IconButton, PanelHeader, PillButton, plain_column, rule
from workbench.pictures.canvas import Canvas
from workbench.pictures.time_drawing import FLAME, cells_with_list, draw_cells, picture_height
from workbench.pictures.time_tree import Cell, TimeNode, time_rows, time_tree


class TimesView(HouseView):
    """`chosen` carries the part that was clicked, `opened` the one without parts that was double-clicked, and
    `blocks_wanted` asks for the graph of blocks again. A double click, + or the wheel shows a part alone."""

    chosen = Signal(object)  # TimeNode
    opened = Signal(object)
    rooted = Signal()  # another part is shown alone, or the whole
    marked = Signal()  # another part is the current one
    blocks_wanted = Signal()
    file_name = "times"

    def __init__(self) -> None:
        super().__init__("Time by component, block, state and call")
        self.kind = FLAME
        self.path: list[TimeNode] = []  # from the whole to the part that is shown
        self.current: TimeNode | None = None
        self._cells: list[Cell] = []
        self.setMouseTracking(True)
        self.box.setMouseEnabled(False, False)
        self.setCentralItem(self.box)

    @property
    def root(self) -> TimeNode | None:
        return self.path[-1] if self.path else None

    def show_tree(self, tree: TimeNode) -> None:
        self.path, self.current = [tree], None
        self._lay_out()

    def show_kind(self, kind: str) -> None:
        self.kind = kind
        self._lay_out()

    def set_current(self, node: TimeNode | None) -> None:
        self.current = node
        self.redraw()
        self.marked.emit()

    def _lay_out(self) -> None:
        self._cells = cells_with_list(self.kind, self.root, self.width(), self.height()) if self.root else []
        self.redraw()
        self.rooted.emit()

    def show_all(self) -> None:
        del self.path[1:]
        self._lay_out()

    def enter(self, node: TimeNode) -> None:
        """Show a part alone."""
        if node.parts and node is not self.root:
            self.path += self._way_to(node)
            self._lay_out()

    def leave(self) -> bool:
        """Show what the part that is shown is in; False for the whole."""
        if len(self.path) < 2:
            return False
        self.path.pop()
        self._lay_out()
        return True

    def _way_to(self, wanted: TimeNode) -> list[TimeNode]:
        """The parts from the one that is shown to one in it."""

        def way(node: TimeNode) -> list[TimeNode]:
            for part in node.parts:
                if part is wanted or (rest := way(part)):
                    return [part] if part is wanted else [part, *rest]
            return []

        return way(self.root) if self.root else []

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """More of one part, or less: of the one under the pointer, or the chosen one."""
        if factor < 1:
            self.leave()
            return
        node = self.node_at(at) if at is not None else self.current
        if way := self._way_to(node) if node else []:
            self.enter(way[0])

    # ---- the picture

    def draw(self, canvas: Canvas) -> None:
        canvas.rect(0, 0, self.width(), self.height(), "window")
        draw_cells(canvas, self._cells, self.current)

    def picture_size(self) -> QSize:
        width = self.width()
        return QSize(width, round(picture_height(self.kind, self.root, width))) if self.root else self.size()

    def draw_picture(self, canvas: Canvas) -> None:
        size = self.picture_size()
        canvas.rect(0, 0, size.width(), size.height(), "window")
        if self.root:
            draw_cells(canvas, cells_with_list(self.kind, self.root, size.width(), size.height()))

    def rows(self) -> Iterable[Row] | None:
        return time_rows(self.root) if self.root else None

    def node_at(self, at: QPointF) -> TimeNode | None:
        """The innermost part under a point of the view."""
        return next((c.node for c in reversed(self._cells) if c.box.holds((at.x(), at.y()))), None)

    # ---- Qt's own

    def resizeEvent(self, event: QEvent | None) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        if hasattr(self, "_cells"):  # pyqtgraph resizes it while it is made
            self._lay_out()

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.zoom(2.0 if event.angleDelta().y() > 0 else 0.5, event.position())
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        node = self.node_at(event.position())
        self.viewport().setToolTip(node.text if node else "")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() is Qt.MouseButton.LeftButton and (node := self.node_at(event.position())):
            self.chosen.emit(node)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if node := self.node_at(event.position()):
            self._open(node)

    def _open(self, node: TimeNode) -> None:
        if node.parts and node is not self.root:
            self.enter(node)
        elif not node.parts:
            self.opened.emit(node)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key
        if event.key() in (key.Key_Left, key.Key_Right, key.Key_Up, key.Key_Down):
            if node := self._next(key(event.key())):
                self.chosen.emit(node)
        elif event.key() in (key.Key_Return, key.Key_Enter) and self.current:
            self._open(self.current)
        elif event.key() == key.Key_Escape:
            if not self.leave():
                self.blocks_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _next(self, towards: Qt.Key) -> TimeNode | None:
        """Up to what a part is in, down to its largest part, aside to its neighbours."""
        way = [*self.path[-1:], *self._way_to(self.current)] if self.current else []
        if not way or self.current is self.root:
            first = self.root.parts[:1] if self.root and towards == Qt.Key.Key_Down else ()
            return first[0] if first else self.root
        node, beside = way[-1], way[-2].parts
        if towards == Qt.Key.Key_Up:
            return way[-2]
        if towards == Qt.Key.Key_Down:
            return node.parts[0] if node.parts else node
        at = next(number for number, part in enumerate(beside) if part is node)
        return beside[(at + (1 if towards == Qt.Key.Key_Right else -1)) % len(beside)]


class TimesPanel(QWidget):
    """The picture under its head, of the context's analysis. `wanted` asks for another picture."""

    wanted = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._shown: tuple[int, bool] | None = None  # the analysis that is shown, and whether with its waits
        self.view = TimesView()
        self.head = PanelHeader("Time")
        self.waits = PillButton("Waits", checked=True)
        self.waits.setToolTip("Also show waits and unclassified time")
        for name, tip, do in (
            ("maximize", "The whole run", self.view.show_all),
            ("download", "Save the picture as an image", self.view.ask_picture),
        ):
            self.head.add(IconButton(name, tip, on=do))
        self.head.add(self.waits)
        self.tabs = PictureTabs(self.head, self.wanted.emit)
        self.waits.toggled.connect(self._write)
        self.view.blocks_wanted.connect(lambda: self.wanted.emit(BLOCKS))
        for changed in (self.view.rooted, self.view.marked):
            changed.connect(self._say)
        self.view.problem.connect(context.notices.tell)
        self.view.chosen.connect(self._choose)
        self.view.opened.connect(self._open)
        context.analysis_changed.connect(self._write)
        context.navigation.selection_changed.connect(self._follow)
        plain_column(self, self.head, (self.view, 1), rule(), GraphLegend())
        self.setFocusProxy(self.view)

    def show_kind(self, kind: str) -> None:
        self.tabs.set_shown(kind)
        self.view.show_kind(kind)
        self._write()

    def _write(self) -> None:
        analysis = self._context.analysis
        wanted = (id(analysis), self.waits.isChecked())
        if analysis is not None and wanted != self._shown:
            self._shown = wanted
            self.view.show_tree(time_tree(analysis, waits=self.waits.isChecked()))
        self._follow()

    def _choose(self, node: TimeNode) -> None:
        self.view.set_current(node)
        if (selection := selection_of(node)) is not None:
            self._context.navigation.select(selection)

    def _open(self, node: TimeNode) -> None:
        if node.place is not None:
            self._context.navigation.open_line(*node.place)

    def _say(self) -> None:
        """Name the chosen part, whose cell may be too narrow for that, or else the part that is shown alone."""
        path, chosen = self.view.path, self.view.current
        if chosen is not None and chosen not in path:
            self.head.set_title(chosen.name, chosen.note)
        elif path:
            self.head.set_title(" › ".join(node.name for node in path[1:]) or "Time", path[-1].note)

    def _follow(self) -> None:
        """Mark the part that is selected, if it is one of these."""
        chosen, current = self._context.navigation.selection, self.view.current
        if self.view.path and (current is None or selection_of(current) != chosen):
            found = _node_of(self.view.path[0], chosen)
            if found is not None or (current is not None and selection_of(current) is not None):
                self.view.set_current(found)


def selection_of(node: TimeNode) -> Selection | None:
    """What a part is, for all views."""
    if node.site >= 0:
        return SelectedCall(node.site)
    if node.state >= 0:
        return SelectedState(node.block, node.state)
    return SelectedBlock(node.block) if node.block else None


def _node_of(node: TimeNode, chosen: Selection | None) -> TimeNode | None:
    if chosen is not None and selection_of(node) == chosen:
        return node
    return next((found for part in node.parts if (found := _node_of(part, chosen)) is not None), None)

"""The states of one block and the probabilities of their transitions; replaces the graph."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from workbench.analysis.path_page import names_of_groups
from workbench.api.results import Analysis, BlockMetrics
from workbench.gui.frame.selection import SelectedState, Selection
from workbench.gui.modes.analyse.picture_tabs import BLOCKS, PictureTabs
from workbench.gui.views.house_view import HouseView, Row
from workbench.gui.views.picture_buttons import add_picture_buttons
from workbench.gui.widgets import IconButton, PanelHeader, PillButton, plain_column
from workbench.model.prediction import PathPart
from workbench.pictures.canvas import Canvas
from workbench.pictures.path_diagram import path_diagram, path_parts
from workbench.pictures.state_diagram import (
    StateDiagram,
    StateNode,
    diagram_rows,
    draw_states,
    state_diagram,
    state_words,
)

LARGEST = 1.25  # times as large as drawn at most, where there is much room
_EDGE_PX = 8


class StatesView(HouseView):
    """`chosen` and `opened` carry the index in its block of a state that was clicked, or double-clicked;
    `blocks_wanted` asks for the graph of blocks again."""

    chosen = Signal(int)
    opened = Signal(int)
    blocks_wanted = Signal()
    file_name = "states"

    def __init__(self) -> None:
        super().__init__("States")
        self.diagram: StateDiagram | None = None
        self.current = -1
        self.setMouseTracking(True)
        self.box.setAspectLocked(True)
        self.box.invertY(True)
        self.setCentralItem(self.box)

    def show_diagram(self, diagram: StateDiagram) -> None:
        """Show another diagram, whole."""
        self.diagram, self.current = diagram, -1
        self.show_all()
        self.redraw()

    def set_current(self, index: int) -> None:
        """Mark a state and its steps; -1 for none."""
        self.current = index
        self.redraw()

    def show_all(self) -> None:
        if self.diagram is None:
            return
        width, height = self.diagram.size
        room = max(self.width() - 2 * _EDGE_PX, 1), max(self.height() - 2 * _EDGE_PX, 1)
        scale = min(room[0] / width, room[1] / height, LARGEST)
        across, down = self.width() / scale, self.height() / scale
        x, y = (width - across) / 2, (height - down) / 2
        self.box.setRange(xRange=(x, x + across), yRange=(y, y + down), padding=0)

    def draw(self, canvas: Canvas) -> None:
        canvas.rect(0, 0, self.width(), self.height(), "window")
        if self.diagram is not None:
            with canvas.placed(*self.offset.toTuple(), self.magnification):
                draw_states(canvas, self.diagram, self.current)

    def picture_size(self) -> QSize:
        return QSize(*map(round, self.diagram.size)) if self.diagram else self.size()

    def draw_picture(self, canvas: Canvas) -> None:
        size = self.picture_size()
        canvas.rect(0, 0, size.width(), size.height(), "window")
        if self.diagram is not None:
            draw_states(canvas, self.diagram)

    def rows(self) -> Iterable[Row] | None:
        return diagram_rows(self.diagram) if self.diagram else None

    def state_at(self, at: QPointF) -> StateNode | None:
        """The state under a point of the view."""
        if self.diagram is None:
            return None
        there = self.to_layout(at).toTuple()
        boxes = zip(self.diagram.states, self.diagram.boxes, strict=True)
        return next((state for state, box in boxes if box.holds(there)), None)

    # ---- Qt's own

    def resizeEvent(self, event: QEvent | None) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        if hasattr(self, "diagram"):  # pyqtgraph resizes it while it is made
            self.show_all()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        state = self.state_at(event.position())
        self.viewport().setToolTip(state_words(state) if state else "")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() is Qt.MouseButton.LeftButton and (state := self.state_at(event.position())):
            self.chosen.emit(state.index)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if state := self.state_at(event.position()):
            self.opened.emit(state.index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        states = [state.index for state in self.diagram.states] if self.diagram else []
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}.get(
            Qt.Key(event.key()), 0
        )
        if step and states:
            at = states.index(self.current) + step if self.current in states else 0
            self.chosen.emit(states[at % len(states)])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current in states:
            self.opened.emit(self.current)
        elif event.key() == Qt.Key.Key_Escape:
            self.blocks_wanted.emit()
        else:
            super().keyPressEvent(event)


class StatesPanel(QWidget):
    """The diagram under its head. `members` are the block, or its replicas; `path` are the states and calls of the
    critical path instead, by their index. `wanted` asks for another picture."""

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.name = ""
        self.members: Sequence[BlockMetrics] = ()
        self.path: Sequence[PathPart] = ()
        self.view = StatesView()
        self.head = PanelHeader("States")
        self.source = IconButton("code", "Go to source")
        add_picture_buttons(self.head, self.view, "states")
        self.head.add(self.source)
        self.path_tab = PillButton("Critical path", checked=True)  # where the graph's head has it
        self.path_tab.setToolTip("The critical path by state and call")
        self.path_tab.clicked.connect(lambda: self.path_tab.setChecked(True))
        self.head.add(self.path_tab)
        PictureTabs(self.head, self.wanted.emit)
        self.view.blocks_wanted.connect(lambda: self.wanted.emit(BLOCKS))
        plain_column(self, self.head, (self.view, 1))
        self.setFocusProxy(self.view)

    def show_block(self, name: str, members: Sequence[BlockMetrics]) -> bool:
        """Show the states of a block, or of its replicas together; False where no change of state was counted."""
        diagram = state_diagram(name, members)
        if diagram is None:
            return False
        self.name, self.members, self.path = name, members, ()
        self._show(f"States of {name}", diagram)
        return True

    def show_path(self, analysis: Analysis) -> bool:
        """Show the critical path by state and call; False where it is not known."""
        path, names = analysis.what_if.path if analysis.what_if else None, names_of_groups(analysis.graph.blocks)
        diagram = path_diagram(path, names) if path else None
        if path is None or diagram is None:
            return False
        self.name, self.members, self.path = "", (), path_parts(path, names)
        self._show("Critical path", diagram)
        return True

    def _show(self, title: str, diagram: StateDiagram) -> None:
        self.head.set_title(title, diagram.note)
        self.source.setVisible(bool(self.members))
        self.path_tab.setVisible(bool(self.path))
        self.view.show_diagram(diagram)

    def show_again(self, analysis: Analysis) -> bool:
        """Show the same as another analysis has it; False where there is none."""
        if self.path:
            return self.show_path(analysis)
        return self.show_block(self.name, analysis.members(self.name))

    def line_of(self, index: int) -> tuple[str, int] | None:
        """Where a state or call is in the sources."""
        part = self.path[index] if self.path else self.members[0].block.states[index]
        return (part.file, part.line) if part.file and part.line else None

    def follow(self, chosen: Selection | None) -> None:
        """Mark the state that is selected, if it is one of these."""
        if self.path:
            return
        mine = isinstance(chosen, SelectedState) and chosen.block in {m.block.id for m in self.members}
        self.view.set_current(chosen.state if mine and isinstance(chosen, SelectedState) else -1)

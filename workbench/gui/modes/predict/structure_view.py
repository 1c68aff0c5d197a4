"""What a kind takes a source apart into, beside the source: a piece and its lines are lit together."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QWidget

from workbench.api.model_diagrams import DiagramChange
from workbench.api.predictions import Piece, Structure
from workbench.gui.modes.source.code_view import CodeView, LineNumbers
from workbench.gui.views.bars_view import BarsView
from workbench.gui.widgets import PanelHeader, Split, plain_column, plain_panel
from workbench.predict.structure import innermost, pieces, structure_bars
from workbench.system.files import read_file

BESIDE_FROM_PX = 840


class PieceTree(BarsView):
    """The pieces, each a row. `opened` carries the key of the one whose source is asked for, `change_wanted` a
    `DiagramChange` of the model that was chosen in a piece's menu; `changes` are what the menus offer, by piece."""

    opened = Signal(str)
    change_wanted = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.changes: Mapping[str, Sequence[DiagramChange]] = {}

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = [row.key for row in self.bars.rows]
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if step and keys:
            at = keys.index(self.current) + step if self.current in keys else 0
            self.chosen.emit(keys[min(max(at, 0), len(keys) - 1)])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current:
            self.opened.emit(self.current)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The piece under the pointer is chosen first."""
        number = -1 if event.reason() is QContextMenuEvent.Reason.Keyboard else self.lane_at(QPointF(event.pos()))
        if number >= 0:
            self.chosen.emit(self.bars.rows[number].key)
        super().contextMenuEvent(event)

    def menu(self) -> QMenu:
        menu = super().menu()
        first = menu.actions()[0]
        for change in self.changes.get(self.current, ()):
            action = QAction(change.title, menu)
            action.triggered.connect(partial(self._want, change))
            menu.insertAction(first, action)
        menu.insertSeparator(first)
        return menu

    def _want(self, change: DiagramChange, checked: bool = False) -> None:
        self.change_wanted.emit(change)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if (number := self.lane_at(QPointF(event.position()))) >= 0:
            self.opened.emit(self.bars.rows[number].key)


class StructureView(QWidget):
    """`line_asked` carries a file and a line of it that is to be opened, `change_wanted` a `DiagramChange` of the model
    that was chosen in a piece's menu."""

    line_asked = Signal(str, int)
    change_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.structure: Structure | None = None
        self._text = ""
        self._pieces: dict[str, Piece] = {}
        self.source = CodeView(LineNumbers)
        self.source.setAccessibleName("Source")
        self.source.setReadOnly(True)
        browsed = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        self.source.setTextInteractionFlags(browsed)
        self.tree = PieceTree("Structure")
        self.head = PanelHeader("")
        left, column = plain_panel(200)
        column.addWidget(self.head)
        column.addWidget(self.source, 1)
        right, column = plain_panel(200)
        self.tree_head = PanelHeader("Structure")
        column.addWidget(self.tree_head)
        column.addWidget(self.tree, 1)
        self._split = Split((left, 480), (right, 420))
        plain_column(self).addWidget(self._split)
        self.source.line_changed.connect(self._line_chosen)
        self.tree.chosen.connect(self.choose)
        self.tree.opened.connect(self._open)
        self.tree.change_wanted.connect(self.change_wanted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The pieces are below the source where there is no room beside it."""
        super().resizeEvent(event)
        narrow = self.width() < BESIDE_FROM_PX
        self._split.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)
        self.source.ensureCursorVisible()

    def show_structure(self, structure: Structure) -> None:
        """Show another structure; where its source is the same, what was chosen stays. Raises WorkbenchError."""
        text = read_file(structure.source).decode("utf-8", "replace")
        if structure == self.structure and text == self._text:
            return
        other = text != self._text
        self.structure, self._text = structure, text
        self._pieces = {piece.id: piece for piece, _ in pieces(structure.root)}
        self.head.set_title(structure.source.name, "")
        self.tree_head.set_title("Structure", f"{structure.unit}; right-click for factors")
        self.tree.changes = {piece.id: piece.changes for piece in self._pieces.values()}
        self.tree.show_bars(structure_bars(structure))
        if other:
            self.source.show_source(text, structure.source.suffix)
        strong = (piece.id for piece in self._pieces.values() if piece.strong)
        self.choose(self.tree.current if self.tree.current in self._pieces else next(strong, structure.root.id))

    def choose(self, key: str) -> None:
        """Light a piece and its lines."""
        piece = self._pieces[key]
        if piece.lines and self.source.line not in piece.lines:
            self.source.go_to(piece.lines[0])
        self._light(piece)

    def _line_chosen(self, line: int) -> None:
        if self.structure and (piece := innermost(self.structure.root, line)):
            self._light(piece)
        else:
            self.tree.set_current("")
            self.source.flag()

    def _light(self, piece: Piece) -> None:
        self.tree.set_current(piece.id)
        self.tree.show_lane(list(self._pieces).index(piece.id))
        self.source.flag(*piece.lines)

    def _open(self, key: str) -> None:
        if self.structure and (lines := self._pieces[key].lines):
            self.line_asked.emit(str(self.structure.source), lines[0])

"""The drawing of a model: nodes and their traffic; a double click opens a part's form."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget

from workbench.api.model_diagrams import Diagram, DiagramNode
from workbench.api.models import FieldPath
from workbench.gui.modes.analyse.graph import GraphView
from workbench.gui.modes.predict.diagram_edits import READ_ONLY, DiagramEdits
from workbench.gui.views.house_view import Row
from workbench.gui.views.picture_buttons import add_picture_buttons
from workbench.gui.widgets import Button, IconButton, PanelHeader, PillButton, plain_column
from workbench.gui.widgets.name_field import NameField
from workbench.pictures.canvas import Canvas
from workbench.pictures.diagram import (
    MOST_SCALE,
    diagram_facts,
    diagram_notes,
    diagram_rows,
    fitted_diagram,
    key_at,
    links_at,
    node_at,
)
from workbench.pictures.layout import NodeBox, RoutedEdge

DRAG_PX = 4.0  # what moves less is a click
NAME_PX, NAME_HIGH_PX = 180, 28  # of a name that is typed


class DiagramView(GraphView):
    """`place_wanted` carries the path in the document of what was opened: by a double click, or with Enter.

    With `edits` the model is changed in its drawing: a drag from node to node connects them, and a menu and keys add
    (Insert), connect (C), rename (F2) and take out (Delete) what is chosen.
    """

    place_wanted = Signal(object)
    file_name = "model"
    has_legend = False
    most_scale = MOST_SCALE

    def __init__(self) -> None:
        super().__init__()
        self.edits: DiagramEdits | None = None
        self._link: tuple[DiagramNode, QPointF, QPointF] | None = None  # from a node, begun at, and now
        self.fill_menu = lambda menu, what: self._fill(menu)
        self.setAccessibleName("Diagram of the model")
        self.diagram: Diagram | None = None
        self.node_chosen.connect(lambda key: self.set_chosen([key] if key else ()))
        self.edge_chosen.connect(lambda edge: self.set_chosen((), [edge]))
        self.node_opened.connect(self._open)

    def show_diagram(self, diagram: Diagram) -> None:
        """Show another diagram, whole; the same one stays as it is looked at."""
        if self.edits:
            self.edits.diagram = diagram
        if diagram == self.diagram:
            return
        self.diagram = diagram
        layout = fitted_diagram(diagram, *self.room())
        self.show_graph(layout, diagram_facts(diagram), diagram_notes(diagram), partial(fitted_diagram, diagram))

    def _open(self, key: str) -> None:
        node = node_at(self.diagram, key) if self.diagram else None
        if node and node.field:
            self.place_wanted.emit(node.field)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        edge = None if self._node_at(event.position()) else self._edge_at(event.position())
        links = links_at(self.diagram, edge) if self.diagram and edge else []
        if links and links[0].field:
            self.place_wanted.emit(links[0].field)

    # ---- editing

    @property
    def editable(self) -> bool:
        return self.edits is not None and self.edits.possible

    @property
    def chosen_node(self) -> DiagramNode | None:
        return node_at(self.diagram, min(self.chosen)) if self.diagram and self.chosen else None

    @property
    def chosen_part(self) -> FieldPath:
        """The place in the document of what is chosen; () where nothing is, or it has none."""
        if node := self.chosen_node:
            return node.part or node.field
        links = [link for edge in self.chosen_edges for link in links_at(self.diagram, edge)] if self.diagram else []
        return next((link.field for link in links), ())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """On a node of a model that can be changed a drag connects; elsewhere it moves the drawing."""
        hit = self._node_at(event.position()) if event.button() is Qt.MouseButton.LeftButton else None
        node = node_at(self.diagram, hit[0].key) if hit and self.diagram and self.editable else None
        if node is None:
            super().mousePressEvent(event)
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._link = node, event.position(), event.position()
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._link is None:
            super().mouseMoveEvent(event)
            return
        node, begun, _ = self._link
        self._link = node, begun, event.position()
        hit = self._node_at(event.position())
        self._hover_over(hit[0].key if hit else "")
        self.redraw()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._link is None:
            super().mouseReleaseEvent(event)
            return
        (node, begun, _), self._link = self._link, None
        hit = self._node_at(event.position())
        target = node_at(self.diagram, hit[0].key) if hit and self.diagram else None
        self.redraw()
        if (event.position() - begun).manhattanLength() <= DRAG_PX:
            self.node_chosen.emit(hit[0].key if hit else "")
        elif target and target.id != node.id and self.edits:
            self.edits.connect(node, target)

    def draw(self, canvas: Canvas) -> None:
        super().draw(canvas)
        if self._link and (self._link[2] - self._link[1]).manhattanLength() > DRAG_PX:
            _, begun, now = self._link
            canvas.path([begun.toTuple(), now.toTuple()], "accent", 2.0, (4, 3))
            canvas.disc(now.x(), now.y(), 4, "accent")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        act = {
            Qt.Key.Key_Insert: self.add, Qt.Key.Key_C: self.connect_chosen, Qt.Key.Key_F2: self.rename_chosen,
            Qt.Key.Key_Delete: self.remove_chosen, Qt.Key.Key_Backspace: self.remove_chosen,
        }.get(Qt.Key(event.key()))  # fmt: skip
        if act and self.editable and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            act()
        else:
            super().keyPressEvent(event)

    def add(self, below: QWidget | None = None) -> None:
        """A menu of what can be added, by what is chosen; below a button, or at what is chosen."""
        if self.edits:
            menu = QMenu(self)
            self.edits.fill_additions(menu, self._of_part())
            if below and menu.actions():
                menu.popup(below.mapToGlobal(below.rect().bottomLeft()))
            else:
                self._popup(menu)

    def connect_chosen(self) -> None:
        """A menu of the nodes that the chosen one can be connected to."""
        if self.edits and (node := self.chosen_node):
            menu = QMenu(self)
            self.edits.fill_connections(menu, node)
            self._popup(menu)

    def rename_chosen(self) -> None:
        """Type the name of what is chosen where it is: Enter keeps it, Esc does not."""
        part, edits = self.chosen_part, self.edits
        if edits is None or not edits.possible or not (name := edits.name_of(part)):
            return
        at = self._place_of_chosen()
        field = NameField(self, name, "Name of the part", lambda new: edits.give_name(part, new))
        field.begin(at.x(), at.y(), NAME_PX, NAME_HIGH_PX)

    def _place_of_chosen(self) -> QPointF:
        """The left top of the chosen node, or of the label of the chosen edge."""
        node = self.layout_.node_of(min(self.chosen)) if self.layout_ and self.chosen else None
        edge = next(iter(self.chosen_edges), None)
        box = node.box if node else edge.label_box if edge else None
        return QPointF(box.x, box.y) * self.magnification + self.offset if box else QPointF(24, 24)

    def remove_chosen(self) -> None:
        if self.edits:
            self.edits.remove(self.chosen_part)

    def _of_part(self) -> FieldPath:
        """The stage or station of what is chosen."""
        return self.chosen_part[:2]

    def _popup(self, menu: QMenu) -> None:
        box = self.layout_.node_of(min(self.chosen)) if self.layout_ and self.chosen else None
        scale, offset = self.magnification, self.offset
        spot = QPointF(box.box.x, box.box.y + box.box.height) * scale + offset if box else QPointF(24, 24)
        if menu.actions():
            menu.popup(self.viewport().mapToGlobal(spot.toPoint()))

    def _fill(self, menu: QMenu) -> None:
        """What can be done with what is chosen."""
        if not self.editable or self.edits is None:
            return
        menu.addSeparator()
        self.edits.fill_additions(menu.addMenu("Add"), self._of_part())
        if node := self.chosen_node:
            joined = menu.addMenu("Connect")
            self.edits.fill_connections(joined, node)
            joined.menuAction().setEnabled(bool(joined.actions()))
        menu.addAction("Rename\tF2", self.rename_chosen).setEnabled(bool(self.edits.name_of(self.chosen_part)))
        menu.addAction("Remove\tDelete", self.remove_chosen).setEnabled(bool(self.chosen_part))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What is under the pointer is chosen first; on the ground, what can be added."""
        if event.reason() is not QContextMenuEvent.Reason.Keyboard and self.editable:
            at = QPointF(event.pos())
            node, edge = self._node_at(at), self._edge_at(at)
            if edge and not node:
                self.edge_chosen.emit(edge)
            else:
                self.node_chosen.emit(node[1] if node else "")
            if not node and not edge:
                menu = self.menu()
                self._fill(menu)
                menu.exec(event.globalPos())
                return
        super().contextMenuEvent(event)

    def _tip(self, badge: str, hit: tuple[NodeBox, str] | None, edge: RoutedEdge | None) -> str:
        if self.diagram is None:
            return ""
        if hit and (node := node_at(self.diagram, hit[0].key)):
            said = ", ".join(filter(None, (f"{node.figure} {node.words}".strip(), node.second)))
            return f"{node.title}: {said}" if said else node.title
        links = links_at(self.diagram, edge) if edge else []
        return "\n".join(", ".join(filter(None, (link.name, link.amount))) for link in links)

    def rows(self) -> list[Row] | None:
        return list(diagram_rows(self.diagram)) if self.diagram else None


class DiagramPage(QWidget):
    """The diagrams of a model, one at a time, under a head that says how to use them."""

    def __init__(self) -> None:
        super().__init__()
        self.view = DiagramView()
        self.head = PanelHeader("")
        self.pills: dict[str, PillButton] = {}
        self._diagrams: Mapping[str, Diagram] = {}
        self._narrow = False
        self.page = ""
        add, join = Button("Add", on=lambda: self.view.add(add)), Button("Connect", on=self.view.connect_chosen)
        rename = Button("Rename", on=self.view.rename_chosen)
        remove = IconButton("trash-2", "Remove the selected part (Delete)", on=self.view.remove_chosen)
        self.edit_buttons = {
            add: "Add a part (Insert)",
            join: "Connect the chosen node (C), or drag from node to node",
            rename: "Rename the selected part (F2)",
            remove: "Remove the selected part (Delete)",
        }
        for button in self.edit_buttons:
            self.head.add(button)
        add_picture_buttons(self.head, self.view, "diagram")
        self.view.node_chosen.connect(self.follow)
        self.view.edge_chosen.connect(self.follow)
        plain_column(self, self.head, (self.view, 1))
        self.setFocusProxy(self.view)

    def show_diagrams(self, diagrams: Mapping[str, Diagram]) -> None:
        """Show the diagrams of another model, at least one, or of the same at another point."""
        if [*diagrams] != [*self._diagrams]:
            for pill in self.pills.values():
                pill.hide()
                pill.deleteLater()
            self.pills = {name: self._pill(name) for name in diagrams} if len(diagrams) > 1 else {}
        self._diagrams = diagrams
        self.show_page(self.page if self.page in diagrams else next(iter(diagrams)))

    def edit_with(self, edits: DiagramEdits) -> None:
        self.view.edits = edits
        self.follow()

    def set_narrow(self, narrow: bool) -> None:
        """Leave out what keys and the menu do too, where there is little room."""
        self._narrow = narrow
        self.follow()

    def choose(self, part: FieldPath) -> None:
        """Ring the node that the document has at a place, where the drawing has one."""
        key = key_at(self.view.diagram, part) if self.view.diagram else ""
        self.view.set_chosen([key] if key else [])
        self.follow()

    def follow(self, *_: object) -> None:
        """Offer what can be done with what is chosen."""
        view, edits = self.view, self.view.edits
        edited, part = edits is not None and edits.editor is not None, self.view.chosen_part
        able = (True, view.chosen_node is not None, edits is not None and bool(edits.name_of(part)), bool(part))
        narrow = (True, not self._narrow, not self._narrow, True)
        for (button, tip), can, shown in zip(self.edit_buttons.items(), able, narrow, strict=True):
            button.setVisible(edited and view.editable and shown)
            button.setEnabled(view.editable and can)
            button.setToolTip(tip)

    def _pill(self, name: str) -> PillButton:
        pill = PillButton(name)
        pill.setAutoExclusive(True)
        pill.clicked.connect(lambda: self.show_page(name))
        self.head.add(pill)
        return pill

    def show_page(self, name: str) -> None:
        self.page = name
        if self.view.edits:
            self.view.edits.page = name
        if name in self.pills:
            self.pills[name].setChecked(True)
        edits = self.view.edits
        said = "double-click a part to change it"
        if self.view.editable:
            said = "drag from node to node to connect; double-click for the form"
        elif edits and edits.editor is not None:
            said = READ_ONLY
        self.head.set_title(name, said)
        self.view.show_diagram(self._diagrams[name])
        self.follow()

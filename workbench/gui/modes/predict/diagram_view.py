"""A model drawn as nodes and what goes between them; what is opened in it leads to its place in the form."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from workbench.api.model_diagrams import Diagram
from workbench.gui.modes.analyse.graph import GraphView
from workbench.gui.views.house_view import Row
from workbench.gui.views.picture_buttons import add_picture_buttons
from workbench.gui.widgets import PanelHeader, PillButton, plain_column
from workbench.pictures.diagram import (
    diagram_facts,
    diagram_notes,
    diagram_rows,
    fitted_diagram,
    links_at,
    node_at,
)
from workbench.pictures.layout import NodeBox, RoutedEdge


class DiagramView(GraphView):
    """`place_wanted` carries the path in the document of what was opened: by a double click, or with Enter."""

    place_wanted = Signal(object)
    file_name = "model"
    has_legend = False

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Diagram of the model")
        self.diagram: Diagram | None = None
        self.node_chosen.connect(lambda key: self.set_chosen([key] if key else ()))
        self.edge_chosen.connect(lambda edge: self.set_chosen((), [edge]))
        self.node_opened.connect(self._open)

    def show_diagram(self, diagram: Diagram) -> None:
        """Show another diagram, whole; the same one stays as it is looked at."""
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
        self.page = ""
        add_picture_buttons(self.head, self.view, "diagram")
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

    def _pill(self, name: str) -> PillButton:
        pill = PillButton(name)
        pill.setAutoExclusive(True)
        pill.clicked.connect(lambda: self.show_page(name))
        self.head.add(pill)
        return pill

    def show_page(self, name: str) -> None:
        self.page = name
        if name in self.pills:
            self.pills[name].setChecked(True)
        self.head.set_title(name, "double-click a part to change it")
        self.view.show_diagram(self._diagrams[name])

"""Edits of a model in its drawing, by mouse and keys: add, connect, rename, remove."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QMenu, QWidget

from workbench.api.model_diagrams import Diagram, DiagramChange, DiagramEditor, DiagramNode
from workbench.api.models import FieldPath
from workbench.api.window import Context
from workbench.model.diagnostic import Diagnostic
from workbench.session.edit.diagram_edit import apply_change, data_of, editor_of
from workbench.session.edit.model_document import ModelDocument

READ_ONLY = "save a copy to edit the drawing"


class DiagramEdits:
    """Asks for a change of the drawing, over `parent`, and changes the document; `changed` gets the part to show."""

    def __init__(
        self, context: Context, document: ModelDocument, parent: QWidget, changed: Callable[[FieldPath], None]
    ) -> None:
        self._context, self._document, self._parent, self._changed = context, document, parent, changed
        self.diagram: Diagram | None = None
        self.page = ""

    @property
    def editor(self) -> DiagramEditor | None:
        """What edits the model; None where it is not edited so."""
        return editor_of(self._document)

    @property
    def possible(self) -> bool:
        return self.editor is not None and not self._document.read_only

    # ---- what there is to choose

    def additions(self, at: FieldPath) -> Sequence[DiagramChange]:
        editor = self.editor if self.possible else None
        return editor.additions(data_of(self._document), self.page, at) if editor else ()

    def connections(self, source: DiagramNode, target: DiagramNode) -> Sequence[DiagramChange]:
        editor = self.editor if self.possible else None
        if editor is None or source.id == target.id:
            return ()
        return editor.connections(data_of(self._document), self.page, source, target)

    def fill_additions(self, menu: QMenu, at: FieldPath) -> None:
        for change in self.additions(at):
            menu.addAction(change.title).triggered.connect(partial(self.make, change))

    def fill_connections(self, menu: QMenu, source: DiagramNode) -> None:
        """Every node that the source can be connected to, with what can go there."""
        for target in self.diagram.nodes if self.diagram else ():
            for change in self.connections(source, target):
                where = "" if target.title in change.title else f" ({target.title})"
                menu.addAction(f"{change.title}{where}").triggered.connect(partial(self.make, change))

    # ---- what is done

    def connect(self, source: DiagramNode, target: DiagramNode) -> None:
        """Connect two nodes: at once where one thing alone can go there, else as a menu says."""
        changes = self.connections(source, target)
        if len(changes) == 1:
            self.make(changes[0])
        elif changes:
            menu = QMenu(self._parent)
            for change in changes:
                menu.addAction(change.title).triggered.connect(partial(self.make, change))
            menu.popup(self._parent.cursor().pos())

    def remove(self, part: FieldPath) -> None:
        if (editor := self.editor) and self.possible and part:
            self.make(editor.removal(data_of(self._document), part))

    def give_name(self, part: FieldPath, name: str) -> None:
        """Another name; one that is empty, or as before, changes nothing."""
        name, editor = name.strip(), self.editor
        if editor and self.possible and name and name != self.name_of(part):
            self.make(editor.renamed(data_of(self._document), part, name))

    def name_of(self, part: FieldPath) -> str:
        """The name of a part; "" where it has none."""
        return str(self._document.value((*part, "name")) or "") if part else ""

    def make(self, change: DiagramChange, checked: bool = False) -> None:
        """Make a change, which one undo takes back; of what cannot be written, say so."""
        if self._document.read_only:
            self._context.notices.tell(Diagnostic("this model cannot be written", READ_ONLY.capitalize() + "."))
        elif self._context.notices.attempt(lambda: apply_change(self._document, change)):
            self._changed(change.part)

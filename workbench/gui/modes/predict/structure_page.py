"""What a model consists of: a source taken apart, or the model drawn."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget

from workbench.api.models import FieldPath
from workbench.api.predictions import Results
from workbench.api.window import Context
from workbench.gui.modes.predict.diagram_edits import DiagramEdits
from workbench.gui.modes.predict.diagram_view import DiagramPage
from workbench.gui.modes.predict.structure_view import StructureView
from workbench.session.edit.model_document import ModelDocument


class StructurePage(QStackedWidget):
    """`line_asked` carries file and line that are to be opened, `place_wanted` the path in the document of a part whose
    form is to be shown, `part_chosen` that of the one that is chosen, `change_wanted` a `DiagramChange` of the
    document."""

    line_asked = Signal(str, int)
    place_wanted = Signal(object)
    part_chosen = Signal(object)
    change_wanted = Signal(object)
    problem = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.code, self.drawn = StructureView(), DiagramPage()
        self.addWidget(self.code)
        self.addWidget(self.drawn)
        self.code.line_asked.connect(self.line_asked)
        self.code.change_wanted.connect(self.change_wanted)
        self.code.tree.problem.connect(self.problem)
        self.drawn.view.place_wanted.connect(self.place_wanted)
        self.drawn.view.problem.connect(self.problem)
        for chosen in (self.drawn.view.node_chosen, self.drawn.view.edge_chosen):
            chosen.connect(lambda _: self._say_chosen())

    def edit(self, context: Context, document: ModelDocument) -> None:
        """Change this document by mouse and keys, and show its lines and problems in the window."""
        edits = DiagramEdits(context, document, self, self._show_changed)
        self.drawn.edit_with(edits)
        self.change_wanted.connect(edits.make)
        self.line_asked.connect(context.navigation.open_line)
        self.problem.connect(context.notices.tell)
        context.code_font_changed.connect(self.code.source.take_font)

    def _show_changed(self, part: FieldPath) -> None:
        """What was added or changed is chosen, and keys act on it."""
        self.drawn.choose(part)
        self.drawn.view.setFocus()

    def _say_chosen(self) -> None:
        if part := self.drawn.view.chosen_part:
            self.part_chosen.emit(part)

    def show_results(self, results: Results) -> None:
        """Show a model that `has_structure`. Raises WorkbenchError where its source cannot be read."""
        if results.structure:
            self.code.show_structure(results.structure)
        else:
            self.drawn.show_diagrams(results.diagrams)
        self.setCurrentWidget(self.code if results.structure else self.drawn)


def has_structure(results: Results | None) -> bool:
    """Whether a model is taken from a source, or drawn."""
    return results is not None and (results.structure is not None or bool(results.diagrams))

"""The left panel of Predict mode: the models, what begins others, and the host that is being measured."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.gui.modes.forms.mode import DocumentMode
from workbench.gui.modes.forms.part_list import PartList
from workbench.gui.modes.predict.of_host import HostMeasuring, choices
from workbench.gui.modes.predict.of_run import with_models_of_runs
from workbench.gui.modes.predict.parts import model_sections
from workbench.gui.widgets import PanelHeader, plain_column
from workbench.session.edit.model_document import ModelDocument, ModelFound

LEAST_PX, TITLES_PX = 180, 330  # of the list; with whole titles
WIDE_PX = 1800


class ModelsPanel(QWidget):
    """The list of models; `chosen` carries a model's file, `measured` is emitted when a model of the project's host
    exists."""

    chosen = Signal(Path)
    measured = Signal()

    def __init__(self, mode: DocumentMode) -> None:
        super().__init__()
        self.fit(0)
        self.models = PartList()
        self.models.filter.setPlaceholderText("Filter models")
        self.models.lines.setAccessibleName("Models")
        self.models.chosen.connect(lambda path: self.chosen.emit(Path(str(path[1]))))
        self.measuring = HostMeasuring(mode)
        self.measuring.begun.connect(self.measured)
        button = with_models_of_runs(mode.files_button(), mode)
        for text, begin in choices(mode, self.measuring):
            button.menu().addAction(text).triggered.connect(lambda checked=False, begin=begin: begin())
        head = PanelHeader("Models")
        head.add(button)
        plain_column(self, head, (self.models, 1), self.measuring)
        self.setFocusProxy(self.models)
        self._plugins = mode.context.plugins

    def fit(self, mode_px: int) -> None:
        """Have room for whole titles in a wide window."""
        self.setMinimumWidth(LEAST_PX if mode_px < WIDE_PX else TITLES_PX)

    def list_models(self, models: tuple[ModelFound, ...], document: ModelDocument) -> None:
        """Show these, with the one that is open."""
        self.models.show_sections(model_sections(models, self._plugins.model_kinds), document)
        if document.path:
            self.models.set_current(("model", str(document.path)))

"""Creates a density model from the open project's host: asks for a region, and runs the project to measure it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QInputDialog, QWidget

from workbench.api import ModelKind
from workbench.api.job import Job
from workbench.gui.modes.forms.mode import DocumentMode
from workbench.gui.open.trust_prompt import ask_trust
from workbench.gui.widgets import Button, ElidedLabel
from workbench.gui.widgets.boxes import row_layout
from workbench.model.diagnostic import Diagnostic
from workbench.predict.kinds import label
from workbench.session.open.workspace import Workspace

KEY = "predict.of_host"


class HostMeasuring(QWidget):
    """The progress of measuring a host, and a button that ends it. `begun` is emitted when the model exists."""

    begun = Signal()

    def __init__(self, mode: DocumentMode) -> None:
        super().__init__()
        self._mode = mode
        self._said = ElidedLabel("", "smallsecond")
        self.stop_button = Button("Stop", on=self.stop)
        self.stop_button.setToolTip("Stop measuring the host")
        row_layout((self._said, 1), self.stop_button, of=self, margins=(12, 4, 12, 4))
        mode.context.background.progressed.connect(self._progressed)
        self.hide()

    def ask(self, kind: ModelKind) -> None:
        """Ask for a region and a file, and measure."""
        context = self._mode.context
        workspace = context.workspace
        if workspace is None:
            context.notices.tell(Diagnostic("no project is open", "Open one: its host is measured while it runs."))
            return
        context.notices.attempt(lambda: self._ask(kind, workspace))

    def _ask(self, kind: ModelKind, workspace: Workspace) -> None:
        from workbench.session.make.host_model import WHOLE, functions_of, hottest, region_of

        context, place = self._mode.context, hottest(workspace)
        offered = dict.fromkeys((place.region, *functions_of(workspace), WHOLE))
        ways = "A function, FILE:LINE for the function around a line, or FILE:FIRST-LAST."
        said = f"{ways}\n{place.region}: {place.why}."
        text, given = QInputDialog.getItem(self._mode, "Measure the host's density", said, [*offered])
        if not given or not context.documents.may_leave([self._mode.document]) or not context.documents.may_run():
            return
        region_of(workspace, text)
        proposed = workspace.root / f"{workspace.project.name}_host.{kind.name}.yaml"
        path = self._mode.ask_file(f"New {label(kind)} model", proposed)
        if path and ask_trust(workspace, self.window()):
            context.set_trusted(True)
            self.measure(kind, workspace, text, path)

    def measure(self, kind: ModelKind, workspace: Workspace, region: str, path: Path) -> None:
        """Measure a region in the background, then write and show its model."""

        def work(job: Job) -> str:
            from workbench.session.make.host_model import measured_model

            return measured_model(workspace, kind, region, job)

        def done(text: str) -> None:
            self.hide()
            if self._mode.begin_with(path, text):
                self.begun.emit()

        def failed(problems: tuple[Diagnostic, ...]) -> None:
            self.hide()
            self._mode.context.notices.tell(*problems)

        self._said.setText(f"Measuring {region}")
        self.show()
        self._mode.context.background.start_job(KEY, work, done, failed)

    def stop(self) -> None:
        """End what runs for it; no model is written."""
        self._mode.context.background.cancel(KEY)
        self.hide()

    def _progressed(self) -> None:
        if self.isVisible() and (said := self._mode.context.background.said_of(KEY)):
            self._said.setText(said)


def choices(mode: DocumentMode, measuring: HostMeasuring) -> list[tuple[str, Callable[[], None]]]:
    """Menu items for new models: the text, and the action."""
    kinds = [kind for kind in mode.context.plugins.model_kinds.values() if kind.of_host]
    return [(f"New {label(kind)} model of the project's host...", partial(measuring.ask, kind)) for kind in kinds]

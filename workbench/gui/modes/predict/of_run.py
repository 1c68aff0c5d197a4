"""Creates a queueing model from the open run, in a thread."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from workbench.api import ModelKind
from workbench.gui.modes.forms.mode import DocumentMode
from workbench.gui.widgets import IconButton
from workbench.model.diagnostic import Diagnostic
from workbench.model.run import Run
from workbench.predict.kinds import label


def with_models_of_runs(button: IconButton, mode: DocumentMode) -> IconButton:
    """The button, its menu with an entry more for each kind that can be calibrated."""
    for kind in mode.context.plugins.model_kinds.values():
        if kind.of_run:
            action = button.menu().addAction(f"New {label(kind)} model of the open run...")
            action.triggered.connect(lambda checked=False, kind=kind: ask(mode, kind))
    return button


def ask(mode: DocumentMode, kind: ModelKind) -> None:
    """Ask for a file, and begin the model there."""
    run = mode.context.run
    if run is None:
        mode.context.notices.tell(Diagnostic("no run is open", "Open a run of a streaming application."))
    elif mode.context.documents.may_leave([mode.document]):
        proposed = (mode.context.root() or Path.cwd()) / f"{run.manifest.name}.{kind.name}.yaml"
        if path := mode.ask_file(f"New {label(kind)} model", proposed):
            begin(mode, kind, run, path)


def begin(mode: DocumentMode, kind: ModelKind, run: Run, path: Path) -> None:
    """Make the model in a thread, then write and show it."""

    def done(model: tuple[str, Sequence[Diagnostic]]) -> None:
        text, doubts = model
        mode.begin_with(path, text)
        if doubts:
            mode.context.notices.tell(*doubts)

    assert kind.of_run is not None
    mode.context.background.start(
        "predict.of_run", partial(kind.of_run, run), done, lambda problems: mode.context.notices.tell(*problems)
    )

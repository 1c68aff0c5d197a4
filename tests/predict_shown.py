"""What tests do in Predict mode."""

from pathlib import Path

from predicting import model_path
from pytestqt.qtbot import QtBot

from workbench.gui.modes.predict.mode import PredictMode


def own_copy(mode: PredictMode, name: str = "pdf2d", kind: str = "ratss") -> Path:
    """Open a bundled model and save a copy of it in the project."""
    mode.open_document(model_path(name, kind))
    mode.save_button.click()
    path = mode.document.path
    assert path is not None
    return path


def explored(mode: PredictMode, qtbot: QtBot) -> None:
    mode.explore.swept = None
    mode.explore.sweep()
    qtbot.waitUntil(lambda: mode.explore.swept is not None)

"""Predict mode in a project of the test's own."""

import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.gui.frame.context import Context
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.predict.mode import PredictMode
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import Plugins

EXAMPLE = Path(str(files("workbench.resources").joinpath("examples", "pdf2d")))


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, plugins: Plugins, tmp_path: Path) -> PredictMode:
    """Predict mode in a project of its own."""
    theme.apply_theme(qapp, "light")
    root = tmp_path / "pdf2d"
    shutil.copytree(EXAMPLE, root)
    context = Context(plugins)
    context.workspace = open_workspace(root / "original.workbench.yaml", plugins)
    made = PredictMode(context, MODES["predict"])
    for _ in made.build():
        pass

    def idle(widget: object) -> None:
        qtbot.waitUntil(lambda: not context.background.busy)
        context.shut_down()

    qtbot.addWidget(made, before_close_func=idle)
    qtbot.addWidget(made.details)
    made.resize(1260, 900)
    made.show()
    qtbot.waitExposed(made)
    return made

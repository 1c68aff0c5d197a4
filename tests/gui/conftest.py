"""A dressed application, a small project of the test's own, a window on it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from workbench.formats.run_folder import RunWriter
from workbench.gui.app import make_application
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.open.question import DISCARD
from workbench.model.run import Run
from workbench.session.program.plugins import Plugins, load_plugins
from workbench.testing.runs import synthetic_run

TINY = Path(__file__).parents[1] / "data" / "tiny"


@pytest.fixture(scope="session")
def plugins() -> Plugins:
    return load_plugins()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project file of a copy of the tiny project."""
    shutil.copytree(TINY, tmp_path / "tiny")
    return tmp_path / "tiny" / "tiny.workbench.yaml"


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A synthetic run, saved."""
    return save_run(synthetic_run(cores=4, rounds=3), tmp_path / "saved")


def save_run(run: Run, folder: Path) -> Path:
    RunWriter(folder, run.manifest).finish(run.manifest, run.tables)
    return folder


@pytest.fixture
def window(qtbot: QtBot, qapp: object, plugins: Plugins) -> Iterator[MainWindow]:
    make_application()
    made = MainWindow(plugins)
    qtbot.addWidget(made)
    made.resize(1200, 760)
    made.show()
    made.activateWindow()  # whatever window a test before it left
    made.context.documents.ask = lambda question: DISCARD  # tests of the question ask otherwise
    yield made
    made.close()


@pytest.fixture
def opened(window: MainWindow, project: Path, qtbot: QtBot) -> MainWindow:
    """The window on the tiny project, its sources read."""
    window.open(project)
    qtbot.waitUntil(lambda: window.context.scan is not None and not window.busy)
    return window


@pytest.fixture
def settle(qtbot: QtBot) -> Callable[[MainWindow], None]:
    def wait(window: MainWindow) -> None:
        qtbot.waitUntil(lambda: not window.busy)

    return wait

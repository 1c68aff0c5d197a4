"""What the window shows without a project: models, a template by itself, the guide."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
import rc_workbench_plugins.ratss
from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.look import theme
from workbench.gui.modes.platform.mode import PlatformMode
from workbench.gui.modes.predict.mode import PredictMode
from workbench.gui.open.folder_dialog import FolderDialog
from workbench.gui.widgets import SignField
from workbench.session.open.examples import EXAMPLES

TEMPLATES = Path(str(files("workbench.platform_templates")))
MODELS = Path(rc_workbench_plugins.ratss.__file__).with_name("models")


def test_prediction_needs_no_code(window: MainWindow, qtbot: QtBot) -> None:
    window.context.close()
    window.show_without_project("predict")
    qtbot.waitUntil(lambda: not window.busy)
    assert isinstance(window.modes.current(), PredictMode)
    assert window.rail.isVisibleTo(window)


def test_an_example_is_copied_into_a_folder_that_is_there(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    def choose() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, FolderDialog)
        field = dialog.findChild(QLineEdit)
        assert field is not None
        assert Path(field.text()).is_dir(), "where it starts can be chosen too"
        field.setText(str(tmp_path))
        button = next(one for one in dialog.findChildren(QPushButton) if one.text().strip("&") == "Choose")
        QTimer.singleShot(20, button.click)
        QTimer.singleShot(5000, dialog.reject)

    QTimer.singleShot(0, choose)
    window.asking.copy_example(EXAMPLES[0], run=False)
    qtbot.waitUntil(lambda: not window.busy)
    assert window.context.workspace is not None
    assert window.context.workspace.path == tmp_path / EXAMPLES[0].folder / EXAMPLES[0].project


def test_a_template_opens_by_itself_read_only(window: MainWindow, qtbot: QtBot) -> None:
    window.context.close()
    window.open(TEMPLATES / "nallatech_h101.yaml")
    mode = window.modes.current()
    assert isinstance(mode, PlatformMode)
    assert mode.document.path == (TEMPLATES / "nallatech_h101.yaml").resolve()
    assert not mode.document.dirty


def test_a_built_in_template_is_opened_and_copied(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.context.close()
    window.show_without_project("platform")
    qtbot.waitUntil(lambda: not window.busy)
    mode = window.modes.current()
    assert isinstance(mode, PlatformMode)
    assert mode.shows_nothing
    assert mode.builtin_button.isVisible()
    menu = mode.builtin_button.menu()
    actions = {
        Path(action.text().partition("\t")[2]).stem: action for action in menu.actions() if "\t" in action.text()
    }
    assert set(actions) == {support.template.stem for support in window.context.plugins.platforms.values()}
    heads = [action.text() for action in menu.actions() if not action.isEnabled()]
    assert heads == ["Boards", "Host APIs of any board", "For predictions alone"]
    field = menu.findChild(SignField)
    assert field is not None
    for wanted, name in (("proc gidel", "gidel_procstar3"), ("de5_net", "de5_net")):  # in the title, in the file's name
        field.setText(wanted)
        assert [stem for stem, action in actions.items() if action.isVisible()] == [name]
    field.clear()
    actions["xdma"].trigger()
    assert mode.document.path is not None
    assert mode.document.path.stem == "xdma"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "mine.yaml"), ""))
    mode.save_button.click()
    assert mode.document.path == tmp_path / "mine.yaml"
    assert not mode.document.read_only
    actions["opae"].trigger()
    assert mode.document.path.stem == "opae"


def test_a_model_opens_by_itself(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    mine = tmp_path / "mine.ratss.yaml"
    shutil.copy(MODELS / "pdf2d.ratss.yaml", mine)
    window.context.close()
    window.open(mine)
    mode = window.modes.current()
    assert isinstance(mode, PredictMode)
    assert mode.document.path == mine


def test_another_programs_trace_asks_where_its_run_goes(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, run = tmp_path / "trace.json", tmp_path / "run"
    events = [{"ph": "X", "name": "work", "ts": 0, "dur": 5, "pid": 1, "tid": 1}]
    trace.write_text(json.dumps({"traceEvents": events}))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(run), ""))
    window.context.close()
    window.open(trace)
    qtbot.waitUntil(lambda: window.context.run is not None)
    assert window.context.run is not None
    assert window.context.run.path == run


def test_a_file_of_no_kind_that_is_opened_is_told(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "host.c").write_text("int main(void) { return 0; }\n")
    window.context.close()
    window.open(tmp_path / "host.c")
    *_, told = window.context.notices
    assert told.file == str(tmp_path / "host.c")
    assert "run folders, models" in told.hint


def test_the_guide_shows_its_pictures(window: MainWindow, qtbot: QtBot) -> None:
    window.floating.show_guide()
    guide = window.floating.guide
    assert guide is not None
    qtbot.waitExposed(guide)
    text = guide.browser.document()
    assert "Your first run" in text.toPlainText()
    qtbot.waitUntil(lambda: not window.slices.busy)
    for picture in ("analyse", "timeline", "pragma", "compare", "platform", "predict"):
        kind = QTextDocument.ResourceType.ImageResource.value
        name = QUrl(f"pictures/{picture}-light.png")
        text.resource(kind, name)  # asks for it, where it was not in view
        qtbot.waitUntil(lambda: not window.slices.busy)
        image = text.resource(kind, name)
        assert image.pixelColor(image.rect().center()).alpha() == 255
        assert image.width() == 720 * guide.devicePixelRatioF()
    for name in ("dark", "light"):  # its links can be read in a theme that comes while it is open
        window.set_theme(name)
        qtbot.waitUntil(lambda: not window.busy)
        link = text.find("projects").charFormat()
        assert link.isAnchor()
        assert link.foreground().color() == theme.colour("link")
    guide.close()

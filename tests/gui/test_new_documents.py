"""New, Save as and Duplicate in Platform and Predict; a file that belongs to the workbench looks read-only."""

from collections.abc import Callable
from pathlib import Path

import pytest
from predicting import KINDS
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMenu, QPlainTextEdit
from pytestqt.qtbot import QtBot

from workbench.formats.platform_file import load_platform
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.look import theme
from workbench.gui.modes.platform.mode import PlatformMode
from workbench.gui.modes.predict.mode import PredictMode
from workbench.predict.kinds import load_model
from workbench.session.edit.model_document import models_of

Settle = Callable[[MainWindow], None]


@pytest.fixture
def platform(opened: MainWindow) -> PlatformMode:
    opened.context.navigation.set_mode("platform")
    mode = opened.modes.current()
    assert isinstance(mode, PlatformMode)
    return mode


@pytest.fixture
def predict(opened: MainWindow) -> PredictMode:
    opened.context.navigation.set_mode("predict")
    mode = opened.modes.current()
    assert isinstance(mode, PredictMode)
    return mode


def chosen(monkeypatch: pytest.MonkeyPatch, path: Path | str, kind: str = "") -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(path), kind))


def test_a_new_platform_is_begun_and_used(
    opened: MainWindow, platform: PlatformMode, project: Path, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project.parent / "my_card.yaml"
    chosen(monkeypatch, path.with_suffix(""), "Platform templates (*.yaml)")
    assert opened.actions_of.all["new_document"].text() == "New platform..."
    opened.actions_of.all["new_document"].trigger()
    read, problems = load_platform(path)
    assert problems == ()
    assert read is not None
    assert (read.name, read.title) == ("my_card", "My card")
    assert platform.document.path == path
    assert not platform.document.read_only
    assert opened.breadcrumb.crumbs[3].accessibleName() == "My card my_card.yaml"
    assert platform.use_button.isVisibleTo(platform)
    platform.use_button.click()
    settle(opened)
    assert "platform: my_card.yaml" in project.read_text()
    assert opened.context.workspace is not None
    assert opened.context.workspace.platform_path == path
    assert not platform.use_button.isVisibleTo(platform)


def test_save_as_and_duplicate_of_a_platform(
    opened: MainWindow, platform: PlatformMode, project: Path, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = platform.document.path
    assert bundled is not None
    before = bundled.read_bytes()
    opened.actions_of.all["duplicate"].trigger()
    first = project.parent / bundled.name
    assert platform.document.path == first
    assert first.read_bytes() == before
    platform.document.set(("title",), "Mine")
    opened.actions_of.all["duplicate"].trigger()
    second = project.parent / "nallatech_h101-2.yaml"
    assert platform.document.path == second
    assert "Mine" in second.read_text()
    assert first.read_bytes() == before
    chosen(monkeypatch, project.parent / "third", "Platform templates (*.yaml)")
    opened.actions_of.all["save_as"].trigger()
    assert (project.parent / "third.yaml").read_bytes() == second.read_bytes()
    assert project.read_text().count("platform: nallatech_h101\n") == 1  # the project still names its own
    menu = QMenu()
    opened.breadcrumb.crumbs[3]._fill_menu(menu)
    offered = [action for action in menu.actions() if "\t" in action.text()]
    names = [action.text().partition("\t")[2] for action in offered]
    assert {"third.yaml", first.name, second.name, "nallatech_h101.yaml", "xd1000.yaml"} <= set(names)
    offered[names.index("xd1000.yaml")].trigger()
    assert platform.document.value(("name",)) == "xd1000"


@pytest.mark.parametrize("kind", ["ratss", "density"])
def test_a_new_model_has_a_value(
    opened: MainWindow, predict: PredictMode, project: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = project.parent / f"mine.{kind}.yaml"
    chosen(monkeypatch, project.parent / "mine", f"{kind} models (*.{kind}.yaml)")
    assert opened.actions_of.all["new_document"].text() == "New model..."
    opened.actions_of.all["new_document"].trigger()
    assert predict.document.path == path
    read, problems = load_model(KINDS[kind], path, {})
    assert read is not None
    assert problems == ()
    assert predict.stack.currentWidget() is (predict.density if kind == "density" else predict.results)
    opened.actions_of.all["duplicate"].trigger()
    assert predict.document.path == project.parent / f"mine-2.{kind}.yaml"
    assert {path, predict.document.path} <= {m.path for m in models_of(project.parent, KINDS) if m.own}


def test_what_cannot_be_changed_looks_so(opened: MainWindow, platform: PlatformMode, qtbot: QtBot) -> None:
    def ground(editor: QLineEdit | QPlainTextEdit) -> str:
        image = editor.grab().toImage()
        return QColor(image.pixel(image.width() - 6, image.height() // 2)).name().upper()

    platform.choose(())
    p = theme.palette()
    for kind, shown in ((QPlainTextEdit, p.sunken), (QLineEdit, p.raised)):  # shown whole; typed in a line
        line, area = platform.form.row("title").editor, platform.form.row("description").editor
        assert isinstance(line, kind)
        assert isinstance(area, QPlainTextEdit)
        assert line.isReadOnly() == area.isReadOnly() == (shown == p.sunken)
        assert {ground(line), ground(area)} == {shown.upper()}
        platform.duplicate()


def test_a_model_elsewhere_stays_when_the_project_is_read_again(
    opened: MainWindow, predict: PredictMode, project: Path, tmp_path: Path, settle: Settle
) -> None:
    elsewhere = tmp_path / "mine.ratss.yaml"
    assert predict.begin(elsewhere)
    project.write_text(project.read_text().replace("ROUNDS: 3", "ROUNDS: 4"))
    opened.context.when_current()
    settle(opened)
    assert opened.context.workspace is not None
    assert opened.context.workspace.project.settings["ROUNDS"] == 4
    assert predict.document.path == elsewhere

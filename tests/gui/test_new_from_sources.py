"""New from sources in the window: a folder is looked at, what was found is shown, chosen from and written."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.open.new_project import NewProject
from workbench.model.text import capitalised

Settle = Callable[[MainWindow], None]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the person chooses."""
    shutil.copytree(Path(__file__).parents[1] / "data" / "from_sources" / "filter", tmp_path / "filter")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *a, **k: str(tmp_path / "filter"))
    return tmp_path / "filter"


def dialog() -> NewProject:
    shown = QApplication.activeModalWidget()
    assert isinstance(shown, NewProject)
    return shown


def texts(shown: NewProject) -> list[str]:
    return [one.text() for one in shown.findChildren(QLabel)]


def test_what_was_found_is_shown_with_its_reason_and_written(
    window: MainWindow, folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    shown = dialog()
    settle(window)
    assert shown.proposal is not None
    for one in shown.proposal.decisions:
        assert capitalised(one.reason) in texts(shown)
    assert any("unused.sv: not reached from a_filter" in text for text in texts(shown))
    platforms = next(one for one in shown.findChildren(QComboBox) if one.accessibleName() == "platform")
    assert platforms.currentText() == "Nallatech H101-PCIXM (nallatech_h101)"
    assert platforms.currentData() == "nallatech_h101"
    (first,) = [one for one in shown.findChildren(QLineEdit) if one.hasFocus()]
    assert first.accessibleName().startswith("value of "), "what no source says is asked first"
    qtbot.keyClick(first, Qt.Key.Key_Return)
    settle(window)
    assert window.context.workspace is not None
    assert window.context.workspace.path == folder / "filter.workbench.yaml"


def test_another_choice_and_another_name(window: MainWindow, folder: Path, qtbot: QtBot, settle: Settle) -> None:
    window.asking.new_project()
    shown = dialog()
    settle(window)
    box = next(one for one in shown.findChildren(QComboBox) if one.accessibleName() == "host sources")
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    settle(window)
    assert any("calls no function of the platform nallatech_h101" in text for text in texts(shown))
    shown.name.setFocus()
    shown.name.selectAll()
    qtbot.keyClicks(shown.name, "table")
    qtbot.keyClick(shown.name, Qt.Key.Key_Return)
    settle(window)
    assert window.context.workspace is not None
    assert window.context.workspace.project.name == "table"
    assert window.context.workspace.project.host.sources == ("host/make_table.c",)


def test_an_input_that_nothing_drives_is_given_its_value(
    window: MainWindow, folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    top = folder / "hdl" / "a_filter.sv"
    head, end, tail = top.read_text().rpartition("endmodule")
    uses = "  logic [3:0] seen; always_ff @(posedge clk) seen <= mode;\n"
    top.write_text(f"{head}{uses}{end}{tail}".replace("clk,", "clk, input logic [3:0] mode,", 1))
    window.asking.new_project()
    shown = dialog()
    settle(window)
    assert any("Nothing drives the input 'mode'" in text for text in texts(shown))
    (field,) = [one for one in shown.findChildren(QLineEdit) if one.accessibleName() == "value of mode"]
    for wrong, told in (("16", "16 does not fit into the 4 bits of 'mode'"), ("many", "'many' is not a value")):
        field.setFocus()
        field.selectAll()
        qtbot.keyClicks(field, wrong)
        qtbot.keyClick(field, Qt.Key.Key_Return)
        settle(window)
        assert told in shown.said.text()
    field.selectAll()
    qtbot.keyClicks(field, "0xC")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(window)
    assert window.context.workspace is not None
    assert window.context.workspace.project.hardware.constants == {"mode": 12}


def test_a_folder_without_a_program_says_so_and_can_be_begun_and_escape_writes_nothing(
    window: MainWindow, folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    shutil.rmtree(folder / "host")
    window.asking.new_project()
    shown = dialog()
    settle(window)
    assert "No C or C++ program was found here." in texts(shown)
    assert shown.create_button.isEnabled(), "hardware alone is marked and proved"
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert QApplication.activeModalWidget() is None
    assert not list(folder.glob("*.yaml"))


@pytest.mark.parametrize("width", [1024, 1600])
def test_the_welcome_page_is_no_wider_than_the_window(window: MainWindow, settle: Settle, width: int) -> None:
    window.resize(width, 700)
    settle(window)
    assert window.welcome.horizontalScrollBar().maximum() == 0


BRD_H = """#include <stdint.h>
typedef struct brd brd;
brd *brd_open(int number);
int brd_wr32(brd *b, uint32_t a, uint32_t x);
uint32_t brd_rd32(brd *b, uint32_t a);
void brd_close(brd *b);
"""
BRD_C = """#include "brd.h"
int main(void)
{
    brd *b = brd_open(0);
    for (int i = 0; i < COUNT; i++) brd_wr32(b, 0x10, i);
    return brd_rd32(b, 0x11) != LIMIT;
}
"""


def test_an_api_that_no_template_describes_is_added_on_the_spot_and_macros_are_asked_for(
    window: MainWindow, folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    shutil.rmtree(folder / "host")
    (folder / "brd.h").write_text(BRD_H)
    (folder / "main.c").write_text(BRD_C)
    window.asking.new_project()
    shown = dialog()
    settle(window)
    assert any("which no platform template describes" in text for text in texts(shown))
    assert not any("workbench template" in text for text in texts(shown))  # a button does it here
    assert shown.focusWidget() is shown.add_platform
    qtbot.keyClick(shown.add_platform, Qt.Key.Key_Return)
    settle(window)
    assert (folder / "brd.yaml").is_file()
    assert shown.proposal is not None
    assert {one.what: one.value for one in shown.proposal.decisions}["platform"] == "brd.yaml"
    assert any("its transfer times are assumed" in text for text in texts(shown))
    first = shown.focusWidget()
    assert first.accessibleName() == "value of COUNT", "what no source says comes first"
    combos = shown.findChildren(QComboBox)
    qtbot.waitUntil(lambda: first.mapTo(shown, QPoint()).y() < min(c.mapTo(shown, QPoint()).y() for c in combos))
    for name, value in (("COUNT", "5"), ("LIMIT", "0x10")):
        named = [one for one in shown.findChildren(QLineEdit) if one.accessibleName() == f"value of {name}"]
        field = named[-1]  # those of the first look may still be there
        field.setFocus()
        field.selectAll()
        qtbot.keyClicks(field, value)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(window)
    assert window.context.workspace is not None
    project = window.context.workspace.project
    assert (project.platform, project.settings["COUNT"], project.settings["LIMIT"]) == ("brd.yaml", 5, 16)


def test_another_folder_is_asked_for_where_one_has_no_design(
    window: MainWindow, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, settle: Settle
) -> None:
    (tmp_path / "bare").mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *a, **k: str(tmp_path / "bare"))
    window.asking.new_project()
    shown = dialog()
    settle(window)
    assert shown.proposal is None
    qtbot.waitUntil(lambda: shown.focusWidget() is shown.other_folder)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *a, **k: str(folder))
    qtbot.keyClick(shown.other_folder, Qt.Key.Key_Space)
    settle(window)
    assert shown.proposal is not None
    assert shown.folder_said.text() == str(folder)
    qtbot.keyClick(shown.create_button, Qt.Key.Key_Return)
    settle(window)
    assert (folder / "filter.workbench.yaml").is_file()

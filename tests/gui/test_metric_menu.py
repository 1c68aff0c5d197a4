"""What may be counted of a signal that was clicked, as it is put into the text."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from workbench.gui.modes.source import metric_menu
from workbench.gui.modes.source.editor import CodeEditor
from workbench.session.edit.documents import SourceFile


def editor_of(path: Path, text: str, qtbot: QtBot) -> CodeEditor:
    path.write_text(text)
    document = SourceFile(writable=True)
    document.open(path)
    editor = CodeEditor(document, lambda editor: QWidget(editor))
    qtbot.addWidget(editor)
    return editor


@pytest.mark.parametrize(
    ("file", "number", "written", "chosen"),
    [
        ("a.v", 0, "    //pragma recap count full_cycles when full", "full"),
        ("a.v", 4, "    //pragma recap mean full_mean of full", ""),
        ("a.vhd", 0, "    --pragma recap count full_cycles when full = '1'", "full = '1'"),
        (
            "a.vhd",
            7,
            "    --pragma recap sequence full_sequence when full = '1' then other = '1' within 8",
            "other = '1'",
        ),
    ],
)
def test_a_metric_of_a_signal_is_put_before_its_line(
    tmp_path: Path, qtbot: QtBot, file: str, number: int, written: str, chosen: str
) -> None:
    editor = editor_of(tmp_path / file, "module\n    wire full;\nend\n", qtbot)
    menu = QMenu(editor)
    metric_menu.offer(editor, menu, 2, "full")
    (more,) = [action.menu() for action in menu.actions()]
    assert isinstance(more, QMenu)
    more.actions()[number].trigger()
    assert editor.text.split("\n")[:3] == ["module", written, "    wire full;"]
    assert editor.textCursor().selectedText() == chosen


def test_a_second_metric_has_another_name_and_a_host_program_none(tmp_path: Path, qtbot: QtBot) -> None:
    editor = editor_of(tmp_path / "a.v", "//pragma recap count full_cycles when full\nwire full;\n", qtbot)
    menu = QMenu(editor)
    metric_menu.fill(menu, editor, 2, "full")
    menu.actions()[0].trigger()
    assert "//pragma recap count full_cycles_2 when full" in editor.text
    host = editor_of(tmp_path / "a.c", "int full;\n", qtbot)
    empty = QMenu(host)
    metric_menu.offer(host, empty, 1, "full")
    assert empty.actions() == []

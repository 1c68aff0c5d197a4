"""A text that is edited: its lines, its colours and its pragmas are those of the whole text, whatever was done."""

import random
from pathlib import Path

import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.api.languages import VERILOG
from workbench.api.source.pragma_text import find_pragmas
from workbench.gui.frame.context import Context
from workbench.gui.look import theme
from workbench.gui.modes.source import annotations
from workbench.gui.modes.source.annotations import Annotations
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.line_lexer import spans
from workbench.gui.modes.source.margin_columns import MarginColumns
from workbench.gui.modes.source.typed_check import TypedCheck
from workbench.session.edit.documents import SourceFile
from workbench.session.program.plugins import load_plugins

TEXT = "".join(
    f"always @(posedge clk) begin // {n}\n    //pragma recap s{n} work()\n    x <= {n};\nend\n" for n in range(9)
)
PUTS = ("\n", "/*", "*/", "x", "  // y\n", "\n\n\n", "//pragma recap new idle()\n", "\u00a0", "é", '"', "a\nb\nc\n")


@pytest.fixture
def editor(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> CodeEditor:
    theme.apply_theme(qapp, "light")
    (tmp_path / "core.v").write_text(TEXT)
    document = SourceFile()
    document.open(tmp_path / "core.v")
    editor = CodeEditor(document, MarginColumns)
    qtbot.addWidget(editor)
    editor.resize(600, 400)
    editor.show()
    return editor


def edit(editor: CodeEditor, chance: random.Random) -> None:
    """One thing that a person does to a text."""
    kind = chance.choice(("put", "put", "remove", "several", "undo", "redo", "all"))
    cursor, last = editor.textCursor(), editor.document().characterCount() - 1
    cursor.setPosition(chance.randint(0, last))
    if kind == "undo":
        editor.undo()
    elif kind == "redo":
        editor.redo()
    elif kind == "put":
        cursor.insertText(chance.choice(PUTS))
    elif kind == "remove":
        cursor.setPosition(min(last, cursor.position() + chance.randint(0, 90)), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(chance.choice(("", chance.choice(PUTS))))
    elif kind == "all":
        editor.set_text(TEXT.replace("x <=", chance.choice(("x <=", "y <=", "x\n<="))))
    else:
        cursor.beginEditBlock()
        for _ in range(3):
            cursor.setPosition(chance.randint(0, editor.document().characterCount() - 1))
            cursor.insertText(chance.choice(PUTS))
        cursor.endEditBlock()


@pytest.mark.parametrize("seed", range(4))
def test_lines_and_colours_follow_every_edit_undo_and_redo(editor: CodeEditor, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        edit(editor, chance)
        text = editor.toPlainText()
        assert editor.lines == text.split("\n")
        assert editor.text == editor.file.text == text
        colours = spans(text, ".v")
        first = editor.firstVisibleBlock()
        for number in range(first.blockNumber(), min(first.blockNumber() + 10, len(colours))):
            shown = editor.document().findBlockByNumber(number).layout().formats()
            assert [(f.start, f.length) for f in shown] == [span[:2] for span in colours[number]], text


def test_the_pragmas_of_a_long_text_move_with_their_lines_and_are_read_once_one_stops_typing(
    editor: CodeEditor, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annotations, "READ_AT_ONCE", 10)
    context = Context(load_plugins())
    notes = Annotations(context, editor, TypedCheck(context))
    editor.typed.connect(notes.take_text)
    qtbot.waitUntil(lambda: len(notes.placed) == 9)
    before = [placed.line for placed in notes.placed]
    QTextCursor(editor.document()).insertText("// new\n// lines\n")
    assert [placed.line for placed in notes.placed] == [line + 2 for line in before]
    QTextCursor(editor.document()).insertText("//pragma recap first work()\n")
    qtbot.waitUntil(lambda: len(notes.placed) == 10)
    assert notes.placed == find_pragmas(editor.text, VERILOG, str(editor.path))[0]
    assert editor.margin.pragmas.keys() == {placed.line for placed in notes.placed}
    qtbot.waitUntil(lambda: not context.background.busy)

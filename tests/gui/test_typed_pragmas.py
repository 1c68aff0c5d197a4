"""A pragma typed in the editor: what may stand there is offered, taken by Tab or Enter, and never in the way."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.mode import SourceMode


@pytest.fixture
def source(opened: MainWindow, qtbot: QtBot) -> SourceMode:
    mode = opened.modes.current()
    assert isinstance(mode, SourceMode)
    qtbot.waitUntil(lambda: not opened.busy)
    return mode


def typing(source: SourceMode, file: Path, before: str, qtbot: QtBot) -> CodeEditor:
    """The editor, its cursor on a new line before the one that holds a text."""
    source.open_line(file)
    editor = source.editor
    assert editor is not None
    editor.go_to(next(n for n, line in enumerate(editor.toPlainText().splitlines()) if before in line))
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_End)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    return editor


def offered(editor: CodeEditor) -> list[str]:
    return [word.text for word in editor.completion.words]


def line(editor: CodeEditor) -> str:
    return editor.textCursor().block().text().strip()


def said_of(source: SourceMode) -> list[str]:
    """How much of each block in the file has a pragma."""
    return [row.said for row in source.side.blocks.rows.rows.tops]


def test_a_pragma_is_typed_by_its_parts_and_undone_one_by_one(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    editor = typing(source, project.parent / "host" / "main.c", "fpgaClose", qtbot)
    qtbot.keyClicks(editor, "#pragma recap ")
    assert offered(editor) == ["fpgaClose overhead(finalize)", "fpgaClose"]
    popup = editor.completion.list
    qtbot.keyClicks(popup, "shut ")
    assert offered(editor)[0] == "overhead"
    qtbot.keyClicks(popup, "se")
    assert offered(editor) == ["send", "wait_send"]
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    qtbot.keyClick(popup, Qt.Key.Key_Tab)
    assert line(editor) == "#pragma recap shut wait_send("
    qtbot.keyClicks(popup, "late_r")
    assert offered(editor) == ["late_receiver"]
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    qtbot.keyClicks(popup, "add")
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert line(editor) == "#pragma recap shut wait_send(late_receiver, tiny_top.adder,"
    assert offered(editor) == ["w1", "d1", "s1", "m1"]
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert line(editor) == "#pragma recap shut wait_send(late_receiver, tiny_top.adder, w1)"
    assert not popup.isVisible()
    opened.undo()
    assert line(editor).endswith("tiny_top.adder,")


def test_the_list_is_not_in_the_way(source: SourceMode, project: Path, qtbot: QtBot) -> None:
    editor = typing(source, project.parent / "host" / "main.c", "fpgaClose", qtbot)
    qtbot.keyClicks(editor, "// a pragma of mine; int recap = 1;")
    assert offered(editor) == []
    qtbot.keyClick(editor, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert offered(editor) == []
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.keyClicks(editor, "#pragma recap close work")
    assert offered(editor) == []  # it is a whole word
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert line(editor) == ""
    qtbot.keyClicks(editor, "#pragma recap ")
    assert offered(editor)
    qtbot.keyClick(editor.completion.list, Qt.Key.Key_Escape)
    assert not editor.completion.list.isVisible()
    assert line(editor) == "#pragma recap"
    qtbot.keyClick(editor, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert offered(editor)[0] == "fpgaClose overhead(finalize)"
    qtbot.keyClick(editor.completion.list, Qt.Key.Key_Tab)
    assert line(editor) == "#pragma recap fpgaClose overhead(finalize)"


def test_arrows_stay_within_the_list_and_it_goes_with_the_cursor(
    source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    editor = typing(source, project.parent / "host" / "main.c", "fpgaClose", qtbot)
    popup = editor.completion.list
    qtbot.keyClicks(editor, "#pragma r")
    assert offered(editor) == ["recap"]
    for arrow in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Up):
        qtbot.keyClick(popup, arrow)
    qtbot.keyClick(popup, Qt.Key.Key_Tab)
    assert line(editor) == "#pragma recap"
    assert offered(editor)
    qtbot.keyClick(popup, Qt.Key.Key_Shift)  # as before a capital
    assert offered(editor)
    qtbot.keyClick(popup, Qt.Key.Key_Home)
    assert offered(editor) == []


def test_the_word_that_the_cursor_stands_in_gives_way(source: SourceMode, project: Path, qtbot: QtBot) -> None:
    file = project.parent / "host" / "main.c"
    source.open_line(file)
    editor = source.editor
    assert editor is not None
    number, text = next((n, t) for n, t in enumerate(file.read_text().splitlines(), 1) if "recap poll" in t)
    editor.go_to(number, text.index("wait_recv") + 6)
    qtbot.keyClick(editor, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert offered(editor) == ["wait_recv", "wait_send"]
    qtbot.keyClick(editor.completion.list, Qt.Key.Key_Down)
    qtbot.keyClick(editor.completion.list, Qt.Key.Key_Return)
    assert line(editor) == text.strip().replace("wait_recv", "wait_send")


def test_blocks_of_the_file_count_marks_that_are_not_saved(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    file = project.parent / "host" / "main.c"
    source.open_line(file)
    assert said_of(source) == ["3 of 5 calls"]
    source.proposals.take_all()
    qtbot.waitUntil(lambda: said_of(source) == ["5 of 5 calls"])
    assert "fpgaClose overhead" not in file.read_text()
    opened.undo()
    qtbot.waitUntil(lambda: said_of(source) == ["3 of 5 calls"])


def test_marks_on_one_line_are_accepted_one_after_another_before_anything_is_saved(
    window: MainWindow, project: Path, qtbot: QtBot
) -> None:
    """A line that is parted is another one: where marks may stand in it is read anew from the text."""
    top = project.parent / "hdl" / "tiny_top.v"
    blocks = [f"always @(posedge clk) if ({asked})" for asked in ("wr_en", "rd_en")]
    one = f"    reg ready, full;\n    {blocks[0]} ready <= 1; {blocks[1]} full <= 0;\nendmodule"
    text = top.read_text().replace("endmodule", one)
    top.write_text(text)
    window.open(project)
    qtbot.waitUntil(lambda: window.context.scan is not None and not window.busy)
    mode = window.modes.current()
    assert isinstance(mode, SourceMode)
    mode.open_line(top)
    assert [p.pragma.name for p in mode.proposals.open_now()] == ["take_w1", "give_d1"]
    window.propose_marks()
    for left in (["give_d1"], []):
        qtbot.keyClick(mode.proposals.rows, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: [p.pragma.name for p in mode.proposals.open_now()] == left)  # noqa: B023
    qtbot.waitUntil(lambda: said_of(mode)[-2:] == ["1 state", "1 state"])
    assert top.read_text() == text
    assert mode.editor is not None
    assert [line.strip() for line in mode.editor.toPlainText().splitlines()[-6:]] == [
        "always @(posedge clk) if (wr_en)", "//pragma recap take_w1 recv(data, $CPU, w1)",
        "ready <= 1; always @(posedge clk) if (rd_en)", "//pragma recap give_d1 send(data, $CPU, d1|s1)", "full <= 0;",
        "endmodule",
    ]  # fmt: skip

"""A line with something wrong is told apart in Source: its colour, the sign beside it, its tooltip, the status line."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QTextCharFormat
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.look import theme
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.lines_moved import LinesMoved
from workbench.gui.modes.source.margin_columns import MarginColumns
from workbench.gui.modes.source.mode import SourceMode
from workbench.gui.modes.source.problems import checked_problems, problem_text, problems_now
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.pragma import Category

WAVE = QTextCharFormat.UnderlineStyle.WaveUnderline


def show(window: MainWindow, file: Path, text: str) -> tuple[CodeEditor, int]:
    """The editor of a file, the cursor on the first line that has a text, and that line."""
    line = next(n for n, shown in enumerate(file.read_text().splitlines(), 1) if text in shown)
    window.context.navigation.open_line(str(file), line)
    mode = window.modes.current()
    assert isinstance(mode, SourceMode)
    assert mode.editor is not None
    assert mode.editor.path == file
    return mode.editor, line


def format_of(editor: CodeEditor, line: int, text: str) -> QTextCharFormat:
    """How a part of a line is drawn."""
    block = editor.document().findBlockByNumber(line - 1)
    at = block.text().index(text)
    found = reversed(block.layout().formats())
    here = (QTextCharFormat(f.format) for f in found if f.start <= at < f.start + f.length)
    return next(here, QTextCharFormat())


def is_wrong(editor: CodeEditor, line: int, text: str, colour: str = "high") -> bool:
    made = format_of(editor, line, text)
    return made.underlineStyle() is WAVE and made.foreground().color() == theme.colour(colour)


def sign_colours(editor: CodeEditor, line: int) -> set[str]:
    """The colours at a line's place for swatches and signs, as painted."""
    side = editor.findChild(MarginColumns)
    assert side is not None
    rect, left = editor.line_rect(line), editor.columns.whole_px
    image = side.grab().toImage()
    return {
        image.pixelColor(x, y).name().upper()
        for x in range(left + 6, left + 24)
        for y in range(rect.top(), rect.bottom())
    }


def side_tip(editor: CodeEditor, line: int) -> str:
    side = editor.findChild(MarginColumns)
    assert side is not None
    at = QPointF(editor.columns.whole_px + 14, editor.line_rect(line).center().y())
    left, none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(side, QMouseEvent(QMouseEvent.Type.MouseMove, at, side.mapToGlobal(at), left, left, none))
    return side.toolTip()


def text_tip(editor: CodeEditor, line: int) -> str:
    viewport: QWidget = editor.viewport()
    at = QPoint(120, editor.line_rect(line).center().y())
    QApplication.sendEvent(viewport, QHelpEvent(QHelpEvent.Type.ToolTip, at, viewport.mapToGlobal(at)))
    return QToolTip.text()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_wrong_pragma_is_flagged_as_it_is_typed_and_no_more_when_fixed(
    opened: MainWindow, project: Path, qtbot: QtBot, look: str
) -> None:
    opened.set_theme(look)
    qtbot.waitUntil(lambda: theme.palette().name == look and not opened.busy)
    editor, line = show(opened, project.parent / "host" / "main.c", "recap put")
    high = theme.colour("high").name().upper()
    assert not is_wrong(editor, line, "send")
    assert format_of(editor, line, "send").foreground().color() == theme.colour("pragma")
    assert high not in sign_colours(editor, line)

    text = editor.text_of(line)
    cursor = editor.textCursor()
    cursor.setPosition(cursor.block().position() + text.index("send") + len("send"))
    editor.setTextCursor(cursor)
    qtbot.keyClicks(editor, "d")
    assert line not in editor.margin.pragmas
    said = "there is no category 'sendd'. Did you mean 'send'?"
    assert problem_text(editor.margin.problems, line) == said
    assert said in opened.status_line.text
    assert "2 pragmas" in opened.status_line.text
    assert high in sign_colours(editor, line)
    assert theme.state_colour(Category.SEND).name().upper() not in sign_colours(editor, line)
    assert "there is no category" in side_tip(editor, line)
    assert "Did you mean" in text_tip(editor, line)
    qtbot.waitUntil(lambda: is_wrong(editor, line, "recap put") and is_wrong(editor, line, "WORDS > 0"))
    assert not is_wrong(editor, line + 1, "fpgaWrite")

    editor.go_to(1)
    assert said not in opened.status_line.text
    qtbot.keyClick(editor, Qt.Key.Key_Return)  # what is flagged moves with its line
    assert problem_text(editor.margin.problems, line + 1) == said
    qtbot.waitUntil(lambda: is_wrong(editor, line + 1, "recap put"))
    assert not editor.margin.problems.get(line)

    cursor.deletePreviousChar()
    assert editor.margin.problems == {}
    assert editor.margin.pragmas[line + 1] is Category.SEND
    assert high not in sign_colours(editor, line + 1)
    qtbot.waitUntil(lambda: format_of(editor, line + 1, "send").foreground().color() == theme.colour("pragma"))
    assert not is_wrong(editor, line + 1, "send")
    qtbot.waitUntil(lambda: text_tip(editor, line + 1) == "")


def test_what_the_scan_says_of_a_line_is_flagged_until_the_line_changes(
    opened: MainWindow, project: Path, qtbot: QtBot
) -> None:
    top = project.parent / "hdl" / "tiny_top.v"
    top.write_text(top.read_text().replace("left <= DELAY;", "left <= DELAYS;"))
    opened.context.rescan()
    qtbot.waitUntil(lambda: opened.context.scan is not None and not opened.busy)
    errors = [d for d in opened.context.scan.hdl.diagnostics if d.severity is Severity.ERROR and d.line]
    assert errors, "an unknown name is an error of the scan"

    editor, line = show(opened, top, "DELAYS;")
    assert "DELAYS" in problem_text(editor.margin.problems, line)
    assert theme.colour("high").name().upper() in sign_colours(editor, line)
    assert "DELAYS" in side_tip(editor, line)
    assert "DELAYS" in opened.status_line.text

    editor.go_to(line)
    qtbot.keyClick(editor, Qt.Key.Key_End)
    qtbot.keyClick(editor, Qt.Key.Key_Backspace)
    assert line not in editor.margin.problems  # the scan spoke of another text
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert "DELAYS" in problem_text(editor.margin.problems, line)
    assert theme.colour("high").name().upper() in sign_colours(editor, line)


def test_a_pragma_that_the_scan_warns_of_is_not_coloured_as_a_right_one(
    opened: MainWindow, project: Path, qtbot: QtBot
) -> None:
    top = project.parent / "hdl" / "tiny_top.v"
    stray = "    //pragma recap nowhere work()\n    wire       empty"
    top.write_text(top.read_text().replace("    wire       empty", stray))
    opened.context.rescan()
    qtbot.waitUntil(lambda: not opened.busy)
    editor, line = show(opened, top, "recap nowhere")
    assert "is before no branch" in problem_text(editor.margin.problems, line)
    assert is_wrong(editor, line, "work()", "medium_text")
    assert theme.colour("medium").name().upper() in sign_colours(editor, line)
    editor.go_to(line)
    assert "is before no branch" in opened.status_line.text


def test_problems_are_of_this_file_once_each_and_the_gravest_first() -> None:
    text = "a\nb\nc"
    warning = Diagnostic("odd", "", Severity.WARNING, "f.c", 2, 1)
    error = Diagnostic("bad", "Do better.", Severity.ERROR, "f.c", 2, 1)
    others = (
        Diagnostic("elsewhere", "", Severity.ERROR, "g.c", 2, 1),
        Diagnostic("whole file", "", Severity.ERROR, "f.c"),
        Diagnostic("beyond", "", Severity.ERROR, "f.c", 9, 1),
        Diagnostic("by the way", "", Severity.NOTE, "f.c", 2, 1),
    )
    found = checked_problems((warning, error, *others), lambda f: f == "f.c", text)
    lines = ["new", "a", "b", "c"]
    moved = LinesMoved(lines)
    moved.reset(text)
    typed = (Diagnostic("bad", "Do better.", Severity.ERROR, "/at/f.c", 3, 7),)
    now = problems_now(typed, found, moved, lambda line: lines[line - 1])
    assert now == {3: (typed[0], warning)}
    assert problem_text(now, 3) == "bad. Do better.\nodd"
    assert problems_now((), found, moved, lambda line: "edited") == {}


def test_what_is_typed_is_told_after_a_pause_before_it_is_saved(
    opened: MainWindow, project: Path, qtbot: QtBot
) -> None:
    top = project.parent / "hdl" / "tiny_top.v"
    saved = top.read_bytes()
    editor, line = show(opened, top, "wire       empty")
    assert not opened.context.problems()
    cursor = editor.textCursor()
    cursor.movePosition(cursor.MoveOperation.EndOfBlock)
    editor.setTextCursor(cursor)
    qtbot.keyClicks(editor, " assign sum2 = nothing;")
    qtbot.waitUntil(lambda: line in editor.margin.problems)
    assert top.read_bytes() == saved
    assert "use of undeclared identifier" in side_tip(editor, line)
    assert theme.palette().high in sign_colours(editor, line)
    assert is_wrong(editor, line, "nothing")
    assert not is_wrong(editor, line, "assign")
    assert any(problem.line == line for problem in opened.context.problems())
    while editor.can_undo:
        editor.undo()
    qtbot.waitUntil(lambda: not opened.context.problems())
    assert line not in editor.margin.problems

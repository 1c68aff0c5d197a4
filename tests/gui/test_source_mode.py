"""Clicking through Source mode: open, read the margin, insert a pragma, undo, type, save."""

from pathlib import Path

import pytest
from pointer import hover
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDragEnterEvent, QDropEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QInputDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot
from settings_shown import shown_settings
from source_shown import show, source_of

from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.modes.analyse.mode import AnalyseMode
from workbench.gui.modes.source.annotations import Annotations
from workbench.gui.modes.source.editor import CodeEditor
from workbench.gui.modes.source.line_advice import LineAdvice
from workbench.gui.modes.source.line_numbers import LineNumbers
from workbench.gui.modes.source.margin import columns_of
from workbench.gui.modes.source.mode import SourceMode
from workbench.gui.modes.source.popover import PragmaPopover
from workbench.gui.modes.source.tree import SidePanel
from workbench.model.pragma import Category


@pytest.fixture
def source(opened: MainWindow) -> SourceMode:
    return source_of(opened)


def ask(editor: CodeEditor, line: int) -> None:
    """Right-click a line, as a person does."""
    editor.go_to(line)
    at = editor.line_rect(line).center()
    reason = QContextMenuEvent.Reason.Mouse
    viewport = editor.viewport()
    QApplication.sendEvent(
        viewport, QContextMenuEvent(reason, QPoint(30, at.y()), viewport.mapToGlobal(QPoint(30, at.y())))
    )


def line_of(file: Path, text: str) -> int:
    return next(n for n, line in enumerate(file.read_text().splitlines(), 1) if text in line)


def test_opening_shows_files_pragmas_and_what_lacks_one(opened: MainWindow, source: SourceMode, project: Path) -> None:
    names = {path.name for path in source.side.tree.files()}
    assert {"main.c", "tiny_top.v", "tiny.workbench.yaml", "nallatech_h101.yaml"} <= names
    main = project.parent / "host" / "main.c"
    editor = show(opened, main, 1)
    assert editor.margin.pragmas == {
        line_of(main, "recap put"): Category.SEND,
        line_of(main, "recap poll"): Category.WAIT_RECV,
        line_of(main, "recap get"): Category.RECV,
    }
    assert line_of(main, "fpgaOpen") in editor.margin.lacking
    assert line_of(main, "fpgaWrite(") not in editor.margin.lacking
    assert "saved" in opened.status_line.text
    assert "3 pragmas" in opened.status_line.text


def test_the_margins_columns_come_with_a_runs_numbers(opened: MainWindow, source: SourceMode, project: Path) -> None:
    editor = show(opened, project.parent / "host" / "main.c", 1)
    before_px = editor.viewport().width()
    assert editor.columns.whole_px == 0
    assert not source.tabs.head.isVisible()
    editor.margin.numbers = {9: LineNumbers(((Category.SEND, 0.5),), 3, "put")}
    editor.fit_side()
    assert editor.viewport().width() == before_px - editor.columns.whole_px < before_px
    editor.go_to(2)
    assert source.tabs.head.isVisible()


def test_advice_has_the_room_behind_its_line_and_a_click_shows_its_finding(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    editor = show(opened, project.parent / "host" / "main.c", 1)
    title = "Unite 139 calls of main.c:3 and give each of them a buffer of its own"
    editor.margin.advice = {
        3: LineAdvice("small", "medium", title, "predicted 1.29×", "1.29×", "Small transfers: 1.29×", True)
    }
    ((box, advice, try_box),) = editor.advice.in_view()
    code = editor.line_rect(3)
    assert code.right() < box.left()
    assert box.right() < editor.viewport().width()
    assert code.top() <= box.center().y() <= code.bottom()
    assert try_box.width() > 0
    assert box.contains(try_box)
    assert "Small transfers" not in opened.status_line.text
    editor.go_to(3)
    assert "Small transfers: 1.29×" in opened.status_line.text
    code_px = code.width() + editor.width() - editor.viewport().width()
    editor.resize(code_px + 110, editor.height())
    assert len(editor.advice.in_view()) == 1, "its figure alone has room"
    editor.resize(code_px + 60, editor.height())
    assert editor.advice.in_view() == [], "it never covers code"
    editor.resize(900, editor.height())
    editor.setTextCursor(QTextCursor(editor.document()))
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    ((moved, _, _),) = editor.advice.in_view()
    assert moved.top() > box.top(), "it goes where its line goes"
    qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=moved.center().toPoint())
    assert opened.context.navigation.mode == "analyse"
    assert opened.context.navigation.selection == SelectedFinding(advice.finding)


def test_a_low_side_panel_shows_files_or_blocks(opened: MainWindow, qtbot: QtBot) -> None:
    side = SidePanel(opened.context)
    qtbot.addWidget(side)
    side.resize(220, 300)
    side.show()
    assert (side.tree.isVisible(), side.blocks.isVisible()) == (True, False)
    qtbot.waitUntil(lambda: side.tree.height() > 240)  # its rows have the height, no second head
    side.tabs.setCurrentIndex(1)
    assert (side.tree.isVisible(), side.blocks.isVisible()) == (False, True)
    side.resize(220, 700)
    assert (side.tree.isVisible(), side.blocks.isVisible(), side.tabs.isVisible()) == (True, True, False)


def test_try_behind_an_advice_and_its_command_try_the_change_of_that_line(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []
    monkeypatch.setattr(
        AnalyseMode, "try_change", lambda mode: tried.append(opened.context.navigation.selection) or True
    )
    editor = show(opened, project.parent / "host" / "main.c", 3)
    editor.margin.advice = {3: LineAdvice("a", "medium", "Unite", "1.29×", "1.29×", "Small", True)}
    ((_, _, try_box),) = editor.advice.in_view()
    qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=try_box.center().toPoint())
    assert opened.context.navigation.mode == "analyse"
    opened.context.navigation.back()
    assert opened.context.navigation.mode == "source", "by one step"
    opened.try_change()
    assert opened.context.navigation.mode == "analyse"
    assert tried == [SelectedFinding("a")] * 2
    editor.margin.advice = {3: LineAdvice("b", "medium", "Wait less", "1.5×", "1.5×", "Waits", False)}
    assert not editor.try_change(), "a bound has no change of its own"


def test_a_new_run_leaves_the_cursor_where_one_edits(
    opened: MainWindow, source: SourceMode, project: Path, run_folder: Path, qtbot: QtBot
) -> None:
    editor = show(opened, project.parent / "host" / "main.c", 3)
    opened.context.open_run(run_folder)
    qtbot.waitUntil(lambda: opened.context.run is not None and not opened.busy)
    assert (source.editor, editor.line) == (editor, 3)
    opened.go_to("analyse")
    qtbot.waitUntil(lambda: isinstance(opened.context.navigation.selection, SelectedFinding))


def test_what_is_selected_on_the_line_of_the_cursor_is_seen(opened: MainWindow, project: Path) -> None:
    editor = show(opened, project.parent / "host" / "main.c", 3)
    mark = editor.marks()[0]
    line = mark.format.background().color()
    assert editor.palette().highlight().color() != line


def test_a_pragma_is_inserted_by_right_click_and_undone(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    top = project.parent / "hdl" / "tiny_top.v"
    before = top.read_bytes()
    line = line_of(top, "head <= 0;")
    editor = show(opened, top, line)
    ask(editor, line)
    popover = source.popover
    assert popover.isVisible()
    assert popover.question.text() == "What is this branch doing?"
    qtbot.keyClick(popover, Qt.Key.Key_2)
    assert popover.category is Category.OVERHEAD
    popover.reason.setEditText("initialize")
    popover.name.setText("reset")
    popover.condition.setText("rst")
    assert popover.preview.text() == "//pragma recap reset overhead(initialize): rst"
    qtbot.mouseClick(popover.insert, Qt.MouseButton.LeftButton)
    assert not popover.isVisible()
    assert top.read_bytes() == before
    shown = editor.toPlainText().splitlines()
    at = next(n for n, text in enumerate(shown, 1) if "recap reset" in text)
    assert shown[at - 1].strip() == "//pragma recap reset overhead(initialize): rst"
    assert len(shown) == len(before.splitlines()) + 1
    assert editor.margin.pragmas[at] is Category.OVERHEAD
    assert editor.scanned.original(line - 1) not in editor.margin.lacking
    source.ask_pragma(at)
    assert popover.name.text() == "reset"
    qtbot.keyClick(popover, Qt.Key.Key_Escape)
    opened.save()
    assert "recap reset" in top.read_text()
    qtbot.waitUntil(lambda: not opened.busy)
    scan = opened.context.scan
    assert scan is not None
    assert "reset" in [p.pragma.name for b in scan.hdl.blocks for p in b.pragmas]

    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.toPlainText().encode() == before
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert "recap reset" in editor.toPlainText()


def test_the_popover_says_what_is_wrong_and_offers_what_fits(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    main = project.parent / "host" / "main.c"
    line = line_of(main, "fpgaOpen")
    show(opened, main, line)
    opened.insert_pragma()
    popover = source.popover
    assert popover.isVisible()
    popover.choose(Category.SEND)
    popover.target.setEditText("")
    assert not popover.insert.isEnabled()
    assert "target" in popover.said.text()
    popover.target.setEditText("tiny_top.adder")
    popover.message.setEditText("w1")
    assert popover.insert.isEnabled()
    assert {"tiny_top.adder", "$CPU", "tiny_top"} <= {popover.target.itemText(i) for i in range(popover.target.count())}
    assert "w1" in {popover.message.itemText(i) for i in range(popover.message.count())}
    names = [popover.target.itemText(i) for i in range(popover.target.count())]
    widest = max(map(popover.target.fontMetrics().horizontalAdvance, names))
    assert popover.target.view().minimumWidth() > widest  # no name is shortened in the list
    popover.choose(Category.WORK)
    assert popover.text.startswith("#pragma recap ")
    assert popover.text.endswith("work()")
    assert not popover.target.isEnabled()
    qtbot.keyClick(popover, Qt.Key.Key_Escape)
    assert not popover.isVisible()
    assert line_of(main, "fpgaOpen") == line


def test_a_pragma_that_is_there_is_changed_and_removed(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    main = project.parent / "host" / "main.c"
    before = main.read_bytes()
    line = line_of(main, "recap put")
    editor = show(opened, main, line)
    source.ask_pragma(line)
    popover: PragmaPopover = source.popover
    assert popover.name.text() == "put"
    assert popover.condition.text() == "WORDS > 0"
    popover.name.setText("push")
    qtbot.mouseClick(popover.insert, Qt.MouseButton.LeftButton)
    assert "recap push send(data, tiny_top.adder, w1): WORDS > 0" in editor.toPlainText()
    assert editor.margin.pragmas[line] is Category.SEND
    source.ask_pragma(line)
    assert popover.name.text() == "push"
    qtbot.mouseClick(popover.remove, Qt.MouseButton.LeftButton)
    assert "recap push" not in editor.toPlainText()
    assert line in editor.margin.lacking | {line}
    opened.undo()
    opened.undo()
    assert editor.toPlainText().encode() == before
    assert main.read_bytes() == before


def test_a_line_without_call_or_branch_says_so(opened: MainWindow, source: SourceMode, project: Path) -> None:
    show(opened, project.parent / "host" / "main.c", 1)
    source.ask_pragma(1)
    assert not source.popover.isVisible()
    assert "no call or branch" in opened.status_line.text


def test_a_call_that_is_clicked_is_asked_about_and_the_name_there_leads_to_its_definition(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    main = project.parent / "host" / "main.c"
    editor = show(opened, main, line_of(main, "fpgaWrite"))
    cursor = editor.textCursor()
    cursor.setPosition(cursor.block().position() + cursor.block().text().index("fpgaWrite") + 2)
    at = editor.cursorRect(cursor).center()
    QApplication.sendEvent(
        editor.viewport(), QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, editor.viewport().mapToGlobal(at))
    )
    assert source.popover.isVisible()
    assert source.popover.definition.toolTip() == "fpgaWrite"
    with qtbot.waitSignal(editor.definition_asked):
        qtbot.mouseClick(source.popover.definition, Qt.MouseButton.LeftButton)
    assert not source.popover.isVisible()
    assert editor.name_at(editor.textCursor()).selectedText() == "fpgaWrite"
    source.ask_pragma(editor.line)  # by its key: no name was clicked
    assert source.popover.definition.isHidden()


def test_undo_goes_back_beyond_saving_and_pragmas_key_by_key(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    main = project.parent / "host" / "main.c"
    before = main.read_bytes()
    editor = show(opened, main, 1)
    qtbot.keyClicks(editor, "// mine")
    assert main.read_bytes() == before
    assert "not saved" in opened.status_line.text
    opened.save()
    assert main.read_bytes() == b"// mine" + before
    assert not editor.file.dirty
    call = line_of(main, "fpgaOpen")
    source.ask_pragma(call)
    source.popover.choose(Category.OVERHEAD)
    qtbot.mouseClick(source.popover.insert, Qt.MouseButton.LeftButton)
    assert "overhead" in editor.toPlainText().splitlines()[call - 1]
    editor.go_to(1)
    qtbot.keyClicks(editor, "/**/")
    opened.save()
    states = [editor.toPlainText()]
    while editor.can_undo:
        opened.undo()
        states.append(editor.toPlainText())
    assert states[-1].encode() == before
    assert ("// mine" + before.decode()) in states  # what was saved first
    assert any("overhead" in s.splitlines()[call - 1] and "/**/" not in s for s in states)  # the pragma by itself
    assert len(states) > 3
    assert "not saved" in opened.status_line.text
    while editor.can_redo:
        opened.redo()
    assert editor.toPlainText() == states[0]
    assert not editor.file.dirty


def test_a_right_click_saves_nothing(opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot) -> None:
    main = project.parent / "host" / "main.c"
    before = main.read_bytes()
    line = line_of(main, "fpgaOpen")
    editor = show(opened, main, 1)
    qtbot.keyClicks(editor, "// above")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    ask(editor, line + 1)
    assert source.popover.isVisible()
    assert source.popover.point is not None
    assert source.popover.point.line == line + 1
    assert main.read_bytes() == before
    assert editor.file.dirty


def test_a_file_changed_by_another_program(opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot) -> None:
    main = project.parent / "host" / "main.c"
    editor = show(opened, main, 1)
    main.write_text("/* other */\n" + main.read_text())
    qtbot.waitUntil(lambda: editor.toPlainText().startswith("/* other */"))
    qtbot.keyClicks(editor, "mine ")
    main.write_text("/* again */\n")
    qtbot.wait(150)
    assert "mine" in editor.toPlainText()


def test_an_unreadable_file_becomes_a_notice(opened: MainWindow, source: SourceMode, project: Path) -> None:
    source.open_line(project.parent / "gone.c", 3)
    assert any("cannot read" in d.message for d in opened.context.notices)
    assert opened.rail.notices.accessibleName().startswith("Notices, ")


def test_finding_text(opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot) -> None:
    main = project.parent / "host" / "main.c"
    editor = show(opened, main, 1)
    opened.find_here()
    qtbot.keyClicks(source.find_bar.field, "fpgaClose")
    assert editor.line == line_of(main, "fpgaClose")
    assert source.find_bar.said.text() == "1 of 1"
    qtbot.keyClick(source.find_bar.field, Qt.Key.Key_Escape)
    assert not source.find_bar.isVisible()


def test_what_is_found_is_replaced_once_or_everywhere_and_undone(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    main = project.parent / "host" / "main.c"
    editor, bar = show(opened, main, 1), source.find_bar
    before, many = editor.text, main.read_text().lower().count("words")
    opened.find_here()
    qtbot.keyClicks(bar.field, "words")
    qtbot.keyClicks(bar.into, "my_words")
    bar.into.setFocus()
    qtbot.keyClick(bar.into, Qt.Key.Key_Return)
    assert editor.text.count("my_words") == 1
    assert editor.textCursor().selectedText().lower() == "words", "the next one is selected"
    editor.undo()
    assert editor.text == before
    qtbot.mouseClick(bar.replace_every, Qt.MouseButton.LeftButton)
    assert (editor.text.count("my_words"), bar.said.text()) == (many, f"{many} replaced")
    editor.undo()
    assert editor.text == before


def test_code_comes_before_numbers_in_a_narrow_editor() -> None:
    whole_px = [columns_of(px, True).whole_px for px in (400, 700, 950, 1100)]
    assert whole_px == sorted(whole_px)
    assert whole_px[0] == 0
    assert all(px - whole >= 80 * 7.8 for px, whole in zip((950, 1100), whole_px[2:], strict=True))


def test_hundreds_of_repaints(opened: MainWindow, source: SourceMode, project: Path) -> None:
    """PySide6 6.12.0 on Python 3.11 aborts within a hundred: each void call drops a reference to None."""
    editor = show(opened, project.parent / "host" / "main.c", 1)
    editor.setFixedSize(480, 140)
    for number in range(400):
        editor.verticalScrollBar().setValue(number % 17)
        editor.repaint()
    assert editor.isVisible()


def test_find_marks_every_place_and_says_which_of_them(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    main = project.parent / "host" / "main.c"
    editor = show(opened, main, 1)
    many = main.read_text().lower().count("fpga")
    assert many > 3
    before = len(editor.extraSelections())
    opened.find_here()
    source.find_bar.field.setText("fpga")
    assert source.find_bar.said.text() == f"1 of {many}"
    assert len(editor.extraSelections()) == before + many
    qtbot.keyClick(source.find_bar.field, Qt.Key.Key_Return)
    assert source.find_bar.said.text() == f"2 of {many}"
    qtbot.keyClick(source.find_bar, Qt.Key.Key_Escape)
    assert len(editor.extraSelections()) == before
    at = editor.textCursor()
    opened.find_here()  # for the same text: marked again, and nothing moves
    assert len(editor.extraSelections()) == before + many
    assert (source.find_bar.said.text(), editor.textCursor()) == (f"2 of {many}", at)


def test_a_line_is_gone_to(
    opened: MainWindow, source: SourceMode, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = show(opened, project.parent / "host" / "main.c", 1)
    monkeypatch.setattr(QInputDialog, "getInt", lambda *asked: (min(asked[-1], 5), True))
    assert opened.actions_of.all["go_to"].text() == "Go to a line..."
    opened.actions_of.all["go_to"].trigger()
    assert editor.line == 5


def test_a_new_line_begins_where_the_last_did_and_lines_are_moved(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    editor = show(opened, project.parent / "host" / "main.c", 1)
    text = editor.toPlainText()
    editor.go_to(1)
    qtbot.keyClicks(editor, "  if (x) {")
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Y, Qt.Key.Key_Semicolon, Qt.Key.Key_Return):
        qtbot.keyClick(editor, key)
    assert editor.toPlainText().startswith("  if (x) {\n      y;\n      ")
    editor.go_to(1)
    for _ in range(2):
        qtbot.keyClick(editor, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.toPlainText().startswith("      if (x) {\n          y;\n      ")
    qtbot.keyClick(editor, Qt.Key.Key_Backtab)
    assert editor.toPlainText().startswith("  if (x) {\n      y;\n      ")
    while editor.can_undo:
        opened.undo()
    assert editor.toPlainText() == text


def test_a_right_click_on_a_line_without_a_call_offers_cut_copy_and_paste(
    opened: MainWindow, source: SourceMode, project: Path
) -> None:
    main = project.parent / "host" / "main.c"
    editor = show(opened, main, 1)
    ask(editor, 1)
    assert not source.popover.isVisible()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert {"Cut", "Copy", "Paste"} <= {action.text().replace("&", "").split("\t")[0] for action in menu.actions()}
    menu.close()


def test_a_click_with_control_leads_to_a_definition_and_back_returns(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot
) -> None:
    main, top = project.parent / "host" / "main.c", project.parent / "hdl" / "tiny_top.v"
    line = line_of(main, "fpgaOpen")
    editor = show(opened, main, line)
    cursor = editor.textCursor()
    cursor.setPosition(cursor.position() + cursor.block().text().index("fpgaOpen") + 2)
    at = editor.cursorRect(cursor).center()
    hover(editor.viewport(), at)
    qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, at)
    qtbot.waitUntil(lambda: source.editor is not None and source.editor.path.name == "fpga.h")
    header = source.editor
    assert header is not None
    assert header.isReadOnly()
    assert header.textCursor().block().text()[header.textCursor().positionInBlock() :].startswith("fpgaOpen")
    opened.context.navigation.back()
    assert source.editor is editor
    assert editor.line == line

    editor = show(opened, top, 1)
    at_use = editor.document().find("left - 1")
    at_use.setPosition(at_use.selectionStart() + 1)
    editor.setTextCursor(at_use)
    qtbot.keyClick(editor, Qt.Key.Key_F12)
    qtbot.waitUntil(lambda: editor.line == line_of(top, "reg [7:0]  left"))
    assert editor.textCursor().block().text()[editor.textCursor().positionInBlock() :] == "left;"
    shown_settings(opened).rows["code_px"].set("18")
    assert editor.fontInfo().pixelSize() == 18
    shown_settings(opened).close()
    editor.go_to(line_of(top, "    end") + 1)
    qtbot.keyClick(editor, Qt.Key.Key_F12)
    qtbot.waitUntil(lambda: "there is no name here" in opened.status_line.text)


def test_files_that_are_dropped_are_opened_and_leave_the_text_alone(
    opened: MainWindow, project: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    """In any place of the window: a source in Source, what is none as what it is, a file of no kind told."""
    mode = opened.modes.current()
    assert isinstance(mode, SourceMode)
    assert mode.editor is not None
    before, first = mode.editor.toPlainText(), mode.editor
    (tmp_path / "made.vhd").write_text("entity made is\nend;\n")
    (tmp_path / "notes.txt").write_text("none\n")
    for over in (first.viewport(), mode.side.tree.viewport()):
        drop(over, tmp_path / "made.vhd", project.parent / "hdl" / "tiny_top.v")
        qtbot.waitUntil(lambda: mode.editor is not None and mode.editor.path.name == "tiny_top.v")
        assert [editor.path.name for editor in mode.tabs.editors()] == ["main.c", "made.vhd", "tiny_top.v"]
        mode.tabs.show_editor(first)
    assert (first.toPlainText(), first.file.dirty) == (before, False)
    drop(first.viewport(), tmp_path / "notes.txt")
    qtbot.waitUntil(lambda: any(told.file.endswith("notes.txt") for told in opened.context.notices))
    *_, told = opened.context.notices
    assert (told.message, told.file) == ("the window cannot open files of this kind", str(tmp_path / "notes.txt"))


def drop(over: QWidget, *paths: Path) -> None:
    """Drag files over a widget and let go of them, as another program's window does."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    data.setText("\n".join(map(str, paths)))
    action, button, held = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    entered = QDragEnterEvent(QPoint(20, 20), action, data, button, held)
    QApplication.sendEvent(over, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(over, QDropEvent(QPointF(20, 20), action, data, button, held))


def test_each_open_text_takes_in_what_was_found_in_a_turn_of_its_own(
    opened: MainWindow, source: SourceMode, project: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of long texts, all in one turn would hold the keys up."""
    top = show(opened, project.parent / "hdl" / "tiny_top.v", 1)
    main = show(opened, project.parent / "host" / "main.c", 1)
    qtbot.waitUntil(lambda: not opened.busy)
    taken: list[tuple[CodeEditor, bool]] = []
    take = Annotations.take_scan

    def noted(notes: Annotations) -> None:
        taken.append((notes._editor, opened.slices.busy))
        take(notes)

    monkeypatch.setattr(Annotations, "take_scan", noted)
    qtbot.keyClick(main, Qt.Key.Key_Return)
    with qtbot.waitSignal(source._check.scanned, timeout=20_000):
        pass
    assert taken == []
    qtbot.waitUntil(lambda: not opened.busy)
    assert taken == [(main, True), (top, True)]  # the one in view first


def test_f2_in_a_text_says_that_nothing_is_renamed(opened: MainWindow, project: Path, qtbot: QtBot) -> None:
    editor = show(opened, project.parent / "host" / "main.c", 1)
    before = editor.text
    qtbot.keyClick(editor, Qt.Key.Key_F2)
    assert "can be renamed" in opened.status_line.text
    assert editor.text == before

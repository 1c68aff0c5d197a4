"""The search field: everything is found, what was chosen lately first; a file by Ctrl+Shift+O; a text in all files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from answers import document_of
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.cli.main import main
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.frame.search_items import help_pages
from workbench.gui.modes.source.mode import SourceMode
from workbench.model.diagnostic import WorkbenchError
from workbench.session.open.find_text import find_text, pattern_of
from workbench.session.program.keys import COMMANDS, COMMON
from workbench.session.program.palette import KEPT, matching, recently_used, remember_used, with_line

Settle = Callable[[MainWindow], None]
SHIFT_CTRL = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def listed(window: MainWindow) -> list[str]:
    model = window.search._model
    return [model.item(row).text() for row in range(model.rowCount())]


def test_words_are_found_in_any_order_and_what_was_used_lately_comes_first() -> None:
    names = ["Save report", "Report of the run", "Run", "Prove the report", "About"]
    find = partial(matching, names, title_of=str, text_of=str)
    assert find("report") == ["Report of the run", "Save report", "Prove the report"]
    assert find("run rep") == ["Report of the run"]
    assert find("nothing") == []
    assert find("", lately=("About", "Run")) == ["About", "Run", "Save report", "Report of the run", "Prove the report"]
    assert find("report", lately=("Prove the report",))[0] == "Prove the report"
    for number in range(KEPT + 3):
        remember_used(f"n{number}")
    remember_used("n5")
    assert recently_used()[:2] == ("n5", f"n{KEPT + 2}")
    assert len(recently_used()) == KEPT
    assert with_line("main.c:12") == ("main.c", 12)
    assert with_line("main.c") == ("main.c", 0)


def test_everything_is_found_and_chosen_by_keys(
    opened: MainWindow, run_folder: Path, qtbot: QtBot, settle: Settle
) -> None:
    opened.context.open_run(run_folder)
    settle(opened)
    items = opened.search._find_items()
    kinds = {item.kind for item in items}
    assert kinds == {
        "command",
        "setting",
        "file",
        "block",
        "call",
        "finding",
        "run",
        "help",
        "key",
        "model",
        "template",
    }
    assert {item.title for item in items if item.kind == "help"} == {title for _, title in help_pages()}
    keys = {item.title: item.detail for item in items if item.kind == "command"}
    assert keys["Compare with the previous run"] == "Ctrl+Shift+C"
    qtbot.keyClick(opened, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert opened.focusWidget() is opened.search
    popup = opened.search.completer().popup()
    assert popup.isVisible()  # before a letter: common commands, of what can be done now
    first = [COMMANDS[name][0] for name in COMMON]
    assert [title for title in listed(opened)[:6] if title not in first] == []
    assert listed(opened)[0] == "Run"
    qtbot.keyClick(popup, Qt.Key.Key_Escape)
    assert (popup.isVisible(), opened.search.hasFocus()) == (False, False)
    opened.search.ask()
    qtbot.keyClicks(opened.search, "theme")
    assert "Theme" in listed(opened)
    opened.search.setText("")
    qtbot.keyClicks(opened.search, "dark theme")
    assert listed(opened)[0] == "Theme: Dark"
    opened.search.setText("")
    qtbot.keyClicks(opened.search, "ui scale")
    qtbot.keyClick(opened.search, Qt.Key.Key_Return)
    settle(opened)
    shown = opened.floating.settings
    assert shown is not None
    assert shown.isVisible()
    assert not shown.rows["scale_pct"].isHidden()
    assert shown.rows["theme"].isHidden()
    shown.close()
    # what was chosen comes first, with nothing typed too
    opened.search.ask()
    assert listed(opened)[0] == "UI scale"
    qtbot.keyClicks(opened.search, "custom metrics")
    assert listed(opened)[0].startswith("Custom metrics")
    qtbot.keyClick(opened.search, Qt.Key.Key_Return)
    settle(opened)
    assert opened.floating.guide is not None
    assert opened.floating.guide.browser.source().fileName() == "metrics.md"
    opened.floating.guide.close()


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("dark", "Theme: Dark"), ("export", "Export the run: "), ("zoom", "Picture: zoom in"), ("undo", "Undo"),
        ("where is my time", "Analyse"), ("shortcuts", "Keys"), ("help", "Guide"), ("exit", "Quit"),
        ("how do I annotate my code", "Pragmas: annotate your code"), ("add board", "Platform"),
        ("html", "Save report..."), ("stop", "Stop reading the sources"), ("log", "Run panel"),
        ("demo", "Copy an example: "), ("preferences", "Settings"), ("flmgrph", "Flame graph"),
        ("speedup", "Compare"), ("waveform", "Export the run: States as waveforms"),
        ("proc star", "GiDEL PROCStar III"), ("blastn", "Mercury BLASTN"), ("font", "Font of sources"), ("qwxz", ""),
    ],
)  # fmt: skip
def test_a_newcomers_words_lead_to_what_is_meant(opened: MainWindow, typed: str, first: str) -> None:
    opened.search.reload()
    opened.search.setText(typed)
    opened.search._list(typed)
    assert next(iter(listed(opened)), "").startswith(first)
    assert bool(listed(opened)) is bool(first)


def test_a_file_is_opened_at_a_line(opened: MainWindow, qtbot: QtBot, settle: Settle) -> None:
    assert opened.actions_of.all["quick_open"].shortcut().toString() == "Ctrl+Shift+O"
    opened.actions_of.all["quick_open"].trigger()
    assert opened.focusWidget() is opened.search
    hint = opened.search.accessibleName()
    assert hint.startswith("Open a file")
    assert opened.search.fontMetrics().horizontalAdvance(hint) < opened.search.sizeHint().width() - 48 - 70
    assert set(listed(opened)) == {"main.c", "tiny_top.v", "tiny.workbench.yaml", "nallatech_h101.yaml"}
    qtbot.keyClicks(opened.search, "tiny_top:9")
    qtbot.keyClick(opened.search, Qt.Key.Key_Return)
    settle(opened)
    source = opened.modes.shown
    assert isinstance(source, SourceMode)
    assert source.editor is not None
    assert (source.editor.path.name, source.editor.line) == ("tiny_top.v", 9)
    qtbot.waitUntil(lambda: opened.search.accessibleName() == "Find a block, call or command")


def test_a_text_is_found_in_every_file(opened: MainWindow, project: Path, qtbot: QtBot, settle: Settle) -> None:
    opened.show_mode("project")
    settle(opened)
    qtbot.keyClick(opened, Qt.Key.Key_F, SHIFT_CTRL)
    panel = opened.find_panel
    assert panel is not None
    assert opened.focusWidget() is panel.field
    qtbot.keyClicks(panel.field, "PRAGMA RECAP")
    qtbot.waitUntil(lambda: bool(panel.rows.rows.tops) and not opened.busy)
    assert {path.name for path in panel.rows.rows.tops} == {"main.c", "tiny_top.v"}
    count = sum(map(len, panel.rows.rows.parts))
    assert panel.rows.visualRect(panel.rows.rows.index(0, 1)).left() > panel.rows.columnViewportPosition(1), "no arrow"
    assert panel.header.subtitle.text() == f"{count} lines in 2 files"
    panel.case.click()
    qtbot.waitUntil(lambda: panel.header.subtitle.text() == "nothing found")
    panel.case.click()
    panel.field.setText("[")
    panel.regex.click()
    assert "not a regular expression" in panel.header.subtitle.text()
    panel.field.setText("if .rst")
    qtbot.keyClick(panel.field, Qt.Key.Key_Return)  # to the list
    qtbot.waitUntil(lambda: len(panel.rows.rows.tops) == 1 and not opened.busy)
    panel.rows.setFocus()
    panel.rows.choose(lambda row: hasattr(row, "line"))
    hit = panel.rows.current
    qtbot.keyClick(panel.rows, Qt.Key.Key_Return)
    settle(opened)
    source = opened.modes.shown
    assert isinstance(source, SourceMode)
    assert source.editor is not None
    assert (source.editor.path, source.editor.line) == (hit.path, hit.line)
    # what is typed and not saved is found too, and what is selected is looked for
    source.editor.setFocus()
    qtbot.keyClicks(source.editor, "unsaved_name ")
    cursor = source.editor.textCursor()
    cursor.setPosition(cursor.position() - 1)
    cursor.select(cursor.SelectionType.WordUnderCursor)
    source.editor.setTextCursor(cursor)
    opened.actions_of.all["find_in_project"].trigger()
    assert panel.field.text() == "unsaved_name"
    qtbot.waitUntil(lambda: panel.header.subtitle.text() == "1 line in 1 file")
    assert opened.panels.found_visible()
    opened.toggle_run_dock()  # in the same place
    assert not opened.panels.found_visible()
    opened.actions_of.all["find_in_project"].trigger()
    assert not opened.panels.run_visible()
    source.editor.setFocus()
    opened.actions_of.all["find_in_project"].trigger()
    focus = QApplication.focusWidget()
    assert focus is panel.field
    qtbot.keyClick(focus, Qt.Key.Key_Escape)
    assert not opened.panels.found_visible()
    assert opened.focusWidget() is source.editor


def test_the_command_line_finds_the_same(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matching = document_of(capsys, ["find", str(project), "tiny_top", "--word", "--case", "--json"])
    assert matching["whole"]
    first = matching["found"][0]
    line = Path(first["file"]).read_text().splitlines()[first["line"] - 1]
    assert line[first["column"] - 1 :][: first["length"]] == "tiny_top"
    assert main(["find", str(project), "Tiny_Top", "--case"]) == 1
    assert main(["find", str(project), "(", "--regex"]) == 2


def test_what_is_found_of_files(tmp_path: Path) -> None:
    one, two, gone = tmp_path / "one.c", tmp_path / "two.c", tmp_path / "gone.c"
    one.write_text("int total;\nint Totals;\n")
    two.write_bytes(b"t\xf6tal\r\ntotal\r\n")
    hits = find_text([one, two, gone], pattern_of("total"), {})
    assert [(hit.path.name, hit.line, hit.column) for hit in hits.hits] == [
        ("one.c", 1, 4), ("one.c", 2, 4), ("two.c", 2, 0),
    ]  # fmt: skip
    assert [Path(problem.file or "").name for problem in hits.unread] == ["gone.c"]
    assert len(find_text([one], pattern_of("total", case=True), {}).hits) == 1
    assert len(find_text([one], pattern_of("total", word=True), {}).hits) == 1
    assert not find_text([one], pattern_of("t.t", case=True), {}).hits
    assert find_text([one], pattern_of("t.t", regex=True), {}).hits
    assert not find_text([one], pattern_of("x*", regex=True), {}).hits  # nothing is not found everywhere
    assert find_text([one], pattern_of("new"), {one: "new text"}).hits[0].text == "new text"
    few = find_text([one], pattern_of("int"), {}, most=1)
    assert (len(few.hits), few.whole) == (1, False)
    with pytest.raises(WorkbenchError):
        pattern_of("(", regex=True)

"""Project mode: what the project's file says of hardware, runs and host is set in forms, the rest of it kept."""

from collections.abc import Callable
from pathlib import Path

import pytest
from answers import document_of
from pydantic import BaseModel
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLineEdit, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from workbench.formats.project_file import load_project
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.modes.forms.pair_table import PairTable
from workbench.gui.modes.project.mode import ProjectMode
from workbench.model.application import (
    HardwareSources,
    HostSources,
    Project,
    ReadOut,
    Simulation,
    TargetCommands,
    TraceMemory,
)
from workbench.model.links import Link

Settle = Callable[[MainWindow], None]


@pytest.fixture
def mode(opened: MainWindow) -> ProjectMode:
    opened.context.navigation.set_mode("project")
    mode = opened.modes.current()
    assert isinstance(mode, ProjectMode)
    mode.form.finish()
    return mode


def type_in(qtbot: QtBot, mode: ProjectMode, field: tuple[str, ...], text: str) -> None:
    editor = mode.form.row(*field).editor
    assert isinstance(editor, QLineEdit | QPlainTextEdit)
    editor.setFocus()
    editor.selectAll()
    first, *others = text.split("\n")
    qtbot.keyClicks(editor, first)
    for line in others:
        qtbot.keyClick(editor, Qt.Key.Key_Return)
        qtbot.keyClicks(editor, line)
    qtbot.keyClick(editor, Qt.Key.Key_Tab)


def cell_editor(table: PairTable) -> QLineEdit:
    """The cell being typed in."""
    (editor,) = [one for one in table.viewport().findChildren(QLineEdit) if one.isVisible()]
    return editor


def type_pair(qtbot: QtBot, mode: ProjectMode, field: tuple[str, ...], name: str, value: str) -> None:
    """A click on the row to come, the name, Tab, the value, Enter."""
    table = mode.form.row(*field).editor
    assert isinstance(table, PairTable)
    QApplication.processEvents()  # it may have come just now
    new = table.rows.index(len(table.rows.tops) - 1, 0)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(new).center())
    for text, key in ((name, Qt.Key.Key_Tab), (value, Qt.Key.Key_Return)):
        qtbot.waitUntil(lambda: table.state() is PairTable.State.EditingState)
        qtbot.keyClicks(cell_editor(table), text)
        editor = cell_editor(table)
        qtbot.keyClick(editor, key)
        qtbot.waitUntil(lambda editor=editor: not (isValid(editor) and editor.isVisible()))
    QApplication.processEvents()  # what was typed is taken over in a turn of its own


def test_names_and_values_are_rows(qtbot: QtBot, mode: ProjectMode) -> None:
    document = mode.document
    mode.choose(("#settings",))
    table = mode.form.row("settings").editor
    assert isinstance(table, PairTable)
    old = dict(document.value(("settings",)))
    assert [(row.pair.name, row.pair.value) for row in table.rows.tops[:-1]] == [(n, str(v)) for n, v in old.items()]
    type_pair(qtbot, mode, ("settings",), "DEPTH", "0x10")
    assert document.value(("settings",)) == {**old, "DEPTH": 16}
    qtbot.waitUntil(lambda: table.rows.rowCount() == len(old) + 2)
    new = table.rows.index(len(old) + 1, 0)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(new).center())
    qtbot.keyClicks(cell_editor(table), "DEPTH")
    qtbot.keyClick(cell_editor(table), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(table.rows.parts[-1]))
    assert "DEPTH" in table.rows.parts[-1][0].said, "a name that is there already is refused at its row"
    assert document.value(("settings",)) == {**old, "DEPTH": 16}
    QApplication.clipboard().setText("DEPTH: 8\nWIDE=2\n-DFAST=yes\nNEXT\t3")
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    pasted = {**old, "DEPTH": 8, "WIDE": 2, "FAST": "yes", "NEXT": 3}
    assert document.value(("settings",)) == pasted
    table.go_to("WIDE")
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    gone = table.rows.index_where(lambda row: row.pair.key == "FAST")
    remove = table.visualRect(table.rows.sibling(gone.row(), 2, gone)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=remove)
    assert document.value(("settings",)) == {**old, "DEPTH": 8, "NEXT": 3}
    document.history.undo()
    document.history.undo()
    assert document.value(("settings",)) == pasted
    assert table.height() >= sum(table.height_of(row) for row in table.rows.tops), "no row is out of sight"


def test_what_hardware_and_runs_have_is_set(
    qtbot: QtBot, opened: MainWindow, mode: ProjectMode, project: Path, settle: Settle
) -> None:
    comments = [line for line in project.read_text().splitlines() if line.lstrip().startswith("#")]
    mode.choose(("hardware", "#counters"))
    type_in(qtbot, mode, ("engines",), "2")
    type_in(qtbot, mode, ("watch",), "tiny_top.add*\ntiny_top.port")
    type_in(qtbot, mode, ("read_out", "first"), "0xF000")
    assert mode.form.row("read_out", "last").problem.text().startswith("The read-out ends")
    assert not mode.save_button.isEnabled()
    type_in(qtbot, mode, ("read_out", "last"), "0xF01F")
    assert mode.show_place(("hardware", "constants"))  # one of the fields that are aside, on another page
    type_pair(qtbot, mode, ("constants",), "spare", "0x10")
    mode.choose(("hardware", "trace"))  # there is none yet: the first part is shown
    assert mode.chosen == ()
    mode.parts.add_wanted.emit("trace memory")
    type_in(qtbot, mode, ("records",), "4096")
    mode.choose(("simulation",))
    waves = mode.form.row("waves").editor
    assert isinstance(waves, QCheckBox)
    waves.click()
    type_in(qtbot, mode, ("waves_to_s",), "20 us")
    mode.save_button.click()
    settle(opened)
    read, problems = load_project(project)
    assert problems == ()
    assert read is not None
    hardware = read.hardware
    assert (hardware.engines, hardware.watch) == (2, ("tiny_top.add*", "tiny_top.port"))
    assert (hardware.constants, hardware.read_out) == ({"spare": 16}, ReadOut(first=0xF000, last=0xF01F))
    assert hardware.trace == TraceMemory(records=4096)
    assert (read.simulation.waves, read.simulation.waves_to_s) == (True, 20e-6)
    text = project.read_text()
    assert "last: 0xf01f" in text
    assert [line for line in text.splitlines() if line.lstrip().startswith("#")] == comments

    def seen() -> HardwareSources:
        assert opened.context.workspace is not None
        return opened.context.workspace.project.hardware

    assert seen().engines == 2
    mode.choose(("hardware", "trace"))
    mode.remove.click()
    mode.save_button.click()
    settle(opened)
    assert seen().trace is None


def test_all_pages_are_one_that_is_scrolled_and_the_list_leads_to_their_places(mode: ProjectMode, qtbot: QtBot) -> None:
    mode.resize(900, 500)
    form, bar = mode.form, mode.form.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 1000)
    body = form.widget()
    mode.choose(("simulation",))
    assert form.widget() is body, "nothing is made anew"
    assert form.viewport().rect().contains(mode.form.row("cores").editor.mapTo(form.viewport(), QPoint(1, 1)))
    assert mode.chosen == ("simulation",)
    bar.setValue(0)
    assert mode.chosen == ()
    assert mode.parts.lines.current.path == (), "the list follows"
    target = mode.form.rows[-1].editor
    bar.setValue(bar.maximum())
    assert mode.chosen != ()
    at = bar.value()
    mode.document.set(("target", "name"), "nowhere")
    assert (bar.value(), target) == (at, mode.form.rows[-1].editor), "an edit leaves it where it is"


def test_what_the_project_has_none_of_is_at_the_end_of_its_page(mode: ProjectMode) -> None:
    mode.choose(())
    mode.form.finish()

    def offered() -> list[str]:
        page = mode.form.widget()
        assert page is not None
        return [one.text() for one in page.findChildren(QPushButton) if one.text().startswith("Add a")]

    assert {"Add a clock", "Add a trace memory", "Add an FPGA", "Add a link", "Add a stream"} <= set(offered())
    before = len(offered())
    page = mode.form.widget()
    assert page is not None
    next(one for one in page.findChildren(QPushButton) if one.text() == "Add a clock").click()
    assert mode.chosen == ("hardware", "clocks", 0)
    mode.choose(())
    mode.form.finish()
    assert "Add a clock" not in offered()
    assert len(offered()) == before - 1


def test_a_template_that_does_not_exist_is_marked_at_once(mode: ProjectMode) -> None:
    mode.choose(())
    mode.document.set(("platform",), "nallatech_h102")
    said = mode.form.row("platform").problem.text()
    assert "nallatech_h102" in said
    assert said.endswith("Did you mean 'nallatech_h101'?")
    fix = mode.form.row("platform").problem.fix_button
    assert fix.text() == "Write 'nallatech_h101'"
    fix.click()
    assert mode.document.value(("platform",)) == "nallatech_h101"
    assert mode.form.row("platform").problem.isHidden()
    mode.document.history.undo()
    assert mode.form.row("platform").problem.fix_button.isVisible()
    mode.document.set(("platform",), "none_of_them")
    assert "nallatech_h101, " in mode.form.row("platform").problem.text(), "which templates there are"
    assert not mode.save_button.isEnabled()
    assert mode.document.path is not None
    mode.document.path.with_name("mine.yaml").write_text("")
    mode.document.set(("platform",), "mine.yaml")
    assert not mode.form.row("platform").problem.isVisible()


def test_every_field_has_its_place(mode: ProjectMode) -> None:
    mode.parts.add_wanted.emit("trace memory")
    shown = {path for section in mode.sections() for part in section.parts for path in part.field_paths}
    elsewhere = {"schema_version", "streaming"}  # by hand: the first is ours, the second has documents of its own
    parts: dict[tuple[str, ...], type[BaseModel]] = {
        (): Project,
        ("host",): HostSources,
        ("hardware",): HardwareSources,
        ("hardware", "trace"): TraceMemory,
        ("simulation",): Simulation,
        ("target",): TargetCommands,
    }
    within = {path for part in parts for path in [part[:n] for n in range(1, len(part) + 1)]}
    lists = {("host", "queues"), *(("hardware", name) for name in ("clocks", "streams", "fpgas", "links"))}  # parts
    wanted = {(*path, name) for path, schema in parts.items() for name in schema.model_fields if name not in elsewhere}
    assert wanted - within - lists - {("hardware", "read_out")} <= shown
    assert {("hardware", "read_out", end) for end in ("first", "last")} <= shown


def test_a_form_begins_with_the_name_and_shows_what_holds_where_nothing_is_chosen(
    opened: MainWindow, mode: ProjectMode, settle: Settle
) -> None:
    for what in ("FPGA", "link", "stream", "clock"):
        mode.parts.add_wanted.emit(what)
    parts = {part.path: part for section in mode.sections() for part in section.parts}
    fpga, link, stream = (parts["hardware", name, 0].groups[0].fields for name in ("fpgas", "links", "streams"))
    assert [field.label for field in parts["hardware", "clocks", 0].groups[0].fields] == ["Name", "Frequency"]
    assert [field.label for field in fpga] == ["Name"]
    languages = next(field for field in parts["hardware", "fpgas", 0].groups[1].fields if field.label == "Language")
    assert "verilog" in languages.choices
    assert {field.kind for field in (*link, *stream) if field.label == "Source"} == {"code"}  # an end of it: one line
    mode.choose(("simulation",))
    simulator = mode.form.row("simulator").editor
    assert isinstance(simulator, QComboBox)
    assert simulator.currentText() == "auto"
    labels = [field.label for group in parts["simulation",].groups for field in group.fields]
    assert {"Time slice (ps)", "Check VHDL", "Drift (ppm/s)"} <= {*labels}
    before = mode.document.text
    simulator.activated.emit(simulator.currentIndex())  # chosen as it stands: nothing to write
    assert mode.document.text == before


def test_a_section_that_is_empty_says_what_it_is_for_and_adds_the_first_by_keys(
    qtbot: QtBot, mode: ProjectMode
) -> None:
    lines = mode.parts.lines
    lines.setFocus()
    said = {}
    for _ in range(20):
        qtbot.keyClick(lines, Qt.Key.Key_Down)
        if mode.no_parts.isVisible():
            said[mode.no_parts.title.text()] = (
                mode.no_parts.why.text(),
                mode.no_parts.button.text(),
                mode.form.isVisible(),
            )
    assert said["No link yet"] == (Link.__doc__, "Add a link", False)
    assert {title: action for title, (_, action, _) in said.items()} == {
        "No clock yet": "Add a clock", "No trace memory yet": "Add a trace memory", "No FPGA yet": "Add an FPGA",
        "No link yet": "Add a link", "No stream yet": "Add a stream", "No call of a queue yet": "Add a call of a queue",
    }  # fmt: skip
    assert not mode.form.isVisible()  # the last section has no part
    for section, empty in (("Links", True), ("Runs", False)):  # the title of one that has parts is no empty one
        lines.choose(lambda row, above=section: row.title == above)
        qtbot.keyClick(lines, Qt.Key.Key_Up)
        qtbot.keyClick(lines, Qt.Key.Key_Down)
        assert (lines.current.title, mode.no_parts.isVisible(), mode.form.isVisible()) == (section, empty, not empty)
    lines.choose(lambda row: row.title == "Queues of the host")
    qtbot.keyClick(lines, Qt.Key.Key_Up)
    assert mode.no_parts.title.text() == "No link yet"
    qtbot.keyClick(mode.no_parts.button, Qt.Key.Key_Space)
    assert not mode.no_parts.isVisible()
    assert mode.form.isVisible()
    assert (mode.chosen, mode.document.value(("hardware", "links", 0, "source"))) == (
        ("hardware", "links", 0), "left.out_*",
    )  # fmt: skip


def test_a_field_says_where_its_value_comes_from_and_is_reset(
    mode: ProjectMode, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mode.choose(("simulation",))
    row = mode.form.row("cores")
    assert isinstance(row.editor, QLineEdit)
    assert (row.origin.text(), row.editor.placeholderText(), row.reset_button.isVisible()) == ("default", "4", False)
    row.editor.setText("8")
    row.write()
    assert (row.origin.text(), row.reset_button.isVisible(), mode.document.value(row.path)) == ("project", True, 8)
    assert "line" in row.origin.toolTip()
    row.reset_button.click()
    assert (row.origin.text(), row.editor.text(), mode.document.value(row.path)) == ("default", "", None)
    mode.choose(())
    assert not mode.form.row("name").reset_button.isVisible()  # a project needs it
    assert document_of(capsys, ["settings", "project", str(project), "--set-only", "--json"])["fields"][0] == {
        "name": "name", "value": "tiny", "origin": "project", "what": "a short name"
    }  # fmt: skip
    mode.show_place(("api_dir",))  # of a template that brings its API by a plugin nothing is known
    assert mode.form.row("api_dir").origin.text() == ""


def test_a_dialog_chooses_files_written_from_the_projects_folder(
    mode: ProjectMode, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode.choose(())
    row = mode.form.row("rules")
    names = [str(project.parent / "rules" / "one.yaml"), str(project.parent.parent / "two.yaml")]
    monkeypatch.setattr("workbench.gui.modes.forms.picking.QFileDialog.getOpenFileNames", lambda *_: (names, ""))
    row.pick_button.click()
    row.pick_button.click()
    assert mode.document.value(("rules",)) == ["rules/one.yaml", "../two.yaml"]


@pytest.mark.parametrize(("field", "dialog"), [("rules", "getOpenFileNames"), ("platform", "getOpenFileName")])
def test_a_dialog_for_yaml_files_shows_those(
    mode: ProjectMode, monkeypatch: pytest.MonkeyPatch, field: str, dialog: str
) -> None:
    asked: list[str] = []

    def ask(parent: object, title: str, folder: str, names: str) -> tuple[str, str]:
        asked.append(names)
        return "", ""

    monkeypatch.setattr(f"workbench.gui.modes.forms.picking.QFileDialog.{dialog}", ask)
    mode.choose(())
    mode.form.row(field).pick_button.click()
    assert "(*.yaml *.yml)" in asked[0].split(";;")[0]


@pytest.mark.parametrize("width", [1540, 2400])
def test_notes_begin_beside_what_their_values_are_from(mode: ProjectMode, width: int, qtbot: QtBot) -> None:
    mode.resize(width, 700)
    mode.choose(("hardware", "#counters"))

    def begins_beside() -> None:
        row = mode.form.row("watch")
        end = row.reset_button.mapTo(mode, row.reset_button.rect().topRight()).x()
        begin = row.note.mapTo(mode, row.note.rect().topLeft()).x()
        assert 0 < begin - end < 24
        assert row.note.width() <= 640

    qtbot.waitUntil(begins_beside)  # the rest of the page is made in later turns


@pytest.mark.parametrize("width", [700, 1540])
def test_editors_end_at_one_line_and_what_they_are_from_is_beside_them(mode: ProjectMode, width: int) -> None:
    mode.resize(width, 700)
    mode.choose(("simulation",))
    QApplication.processEvents()
    rows = [row for row in mode.form.rows if row.field.kind != "check" and row.path[0] == "simulation"]
    ends = {row.editor.mapTo(mode, row.editor.rect().topRight()).x() for row in rows}
    begins = {row.origin.mapTo(mode, row.origin.rect().topLeft()).x() for row in rows}
    assert (len(ends), len(begins)) == (1, 1)
    assert 0 < min(begins) - max(ends) < 24
    assert mode.form.horizontalScrollBar().maximum() == 0


def test_a_click_on_where_a_value_is_from_shows_its_line(
    mode: ProjectMode, project: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[tuple[str, int]] = []
    monkeypatch.setattr(mode.context.navigation, "open_line", lambda file, line: lines.append((file, line)))
    mode.choose(())
    qtbot.mouseClick(mode.form.row("title").origin, Qt.MouseButton.LeftButton)
    text = project.read_text("utf-8").splitlines()
    assert [(file, text[line - 1].partition(":")[0]) for file, line in lines] == [(str(project), "title")]
    mode.choose(("simulation",))
    qtbot.mouseClick(mode.form.row("cores").origin, Qt.MouseButton.LeftButton)  # of no line
    assert len(lines) == 1


def test_how_many_fields_are_set_is_said_in_a_narrow_list(mode: ProjectMode) -> None:
    """A part that has no sign beside it has the room of one for its note."""
    lines = mode.parts.lines
    part = lines.rows.index(0, 0, lines.rows.index(0, 0))
    mode.parts.setFixedWidth(212)
    assert lines.visualRect(part).width() == lines.viewport().width()
    mode.document.set(("simulation", "cores"), "many", "Change cores")
    bad = next(lines.rows.index(n, 0, lines.rows.index(3, 0)) for n in range(2))
    assert lines.visualRect(bad).width() < lines.viewport().width()


def test_what_is_typed_replaces_a_value_that_is_wrong(mode: ProjectMode, qtbot: QtBot) -> None:
    mode.choose(("simulation",))
    type_in(qtbot, mode, ("cores",), "many")
    mode.show_problem()
    editor = mode.form.row("cores").editor
    assert isinstance(editor, QLineEdit)
    assert editor.selectedText() == "many"


def test_a_reset_leaves_the_keyboard_in_the_field(mode: ProjectMode, qtbot: QtBot) -> None:
    mode.choose(("simulation",))
    type_in(qtbot, mode, ("cores",), "8")
    row = mode.form.row("cores")
    row.reset_button.setFocus()
    qtbot.keyClick(row.reset_button, Qt.Key.Key_Space)
    assert mode.document.value(row.path) is None
    assert row.editor.hasFocus()

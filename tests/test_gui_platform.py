"""Platform mode: the form writes the document, problems stand beside their rows, saving keeps what is not changed."""

import re
import shutil
import threading
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from answers import document_of
from pixels import pixels_of
from pointer import hover
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLabel, QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot
from rc_workbench_plugins.ports.memory import MemoryPort

from workbench.analysis.transfer_fit import fit_transfers, residual_text
from workbench.api.job import Job
from workbench.formats import yaml_edit
from workbench.formats.platform_file import load_platform
from workbench.formats.platform_file_1 import HardwarePort1
from workbench.gui.frame.context import Context
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.forms.part_list import value_is_below
from workbench.gui.modes.forms.words_area import TextArea
from workbench.gui.modes.platform import measuring
from workbench.gui.modes.platform.fields import (
    ENTRY,
    HOST,
    MACHINE,
    MEMORY,
    NETWORK,
    PORT_1,
    TABLE,
    TRANSFERS,
)
from workbench.gui.modes.platform.mode import PlatformMode
from workbench.gui.modes.platform.parts import add_part, rename_part, sections_of
from workbench.gui.modes.platform.points import pasted_points, points_of
from workbench.gui.modes.platform.table import ROW_PX, SIZE, SOURCE, TIME
from workbench.gui.open.open_documents import OVERWRITE
from workbench.gui.open.question import CANCEL, Question
from workbench.gui.widgets import Button
from workbench.model.diagnostic import Diagnostic, OfTemplate, Severity
from workbench.model.hardware import PortDirection
from workbench.model.network import OF_NODES, Network
from workbench.model.platform import Device, Host, HostEntry, Memory, Transfers, TransferTable
from workbench.model.run import Run
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

POINTS = ("transfer_tables", "write", "points")
TEMPLATE = Path(str(files("workbench.platform_templates").joinpath("nallatech_h101.yaml")))
EXAMPLE = Path(str(files("workbench.resources").joinpath("examples", "pdf2d")))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "card.yaml"
    made.write_text(TEMPLATE.read_text("utf-8"), "utf-8")
    return made


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, file: Path) -> PlatformMode:
    theme.apply_theme(qapp, "light")
    made = PlatformMode(Context(load_plugins()), MODES["platform"])
    for _ in made.build():
        pass
    qtbot.addWidget(made)
    made.resize(1536, 900)
    made.open_document(file)
    made.show()
    qtbot.waitExposed(made)
    return made


def entry_path(mode: PlatformMode, name: str) -> tuple[int | str, ...]:
    return next(p.path for s in sections_of(mode.document) for p in s.parts if p.title == name)


def line_of(mode: PlatformMode, *field: str) -> QLineEdit:
    editor = mode.form.row(*field).editor
    assert isinstance(editor, QLineEdit)
    return editor


def test_every_field_of_the_document_has_a_row() -> None:
    def named(groups: tuple, inside: str = "") -> set[str]:
        paths = [f.path for g in groups for f in g.fields]
        return {str(p[-1]) for p in paths if (p[0] == inside and len(p) == 2 if inside else len(p) == 1)}

    assert named(ENTRY) == set(HostEntry.model_fields)
    assert named(HOST) == set(Host.model_fields) - {"entries", "constants", "transfers", "queues"}
    assert named(TRANSFERS) == set(Transfers.model_fields)
    assert named(PORT_1) == set(HardwarePort1.model_fields) - {"incoming", "outgoing"}
    assert named(PORT_1, "incoming") == named(PORT_1, "outgoing") == set(PortDirection.model_fields)
    assert named(TABLE) == set(TransferTable.model_fields) - {"points"}
    assert named(MEMORY) == set(Memory.model_fields)
    assert named(NETWORK) == set(Network.model_fields) - set(OF_NODES.values())
    assert named(MACHINE, "device") == set(Device.model_fields)


def test_the_form_changes_one_value_and_nothing_else(qtbot: QtBot, mode: PlatformMode, file: Path) -> None:
    before = file.read_text("utf-8")
    mode.choose(entry_path(mode, "fpgaWrite"))
    bytes_line = line_of(mode, "bytes")
    assert bytes_line.text() == "words * 4"
    bytes_line.setFocus()
    bytes_line.selectAll()
    qtbot.keyClicks(bytes_line, "words * 8")
    qtbot.keyClick(bytes_line, Qt.Key.Key_Return)
    assert mode.document.dirty
    assert mode.save_button.isEnabled()
    assert file.read_text("utf-8") == before
    mode.save_button.click()
    after = file.read_text("utf-8")
    changed = [(a, b) for a, b in zip(before.splitlines(), after.splitlines(), strict=True) if a != b]
    assert changed == [("      bytes: words * 4", "      bytes: words * 8")]
    assert not mode.save_button.isEnabled()
    mode.history.undo()
    assert mode.document.text == before
    assert line_of(mode, "bytes").text() == "words * 4"
    mode.history.redo()
    assert line_of(mode, "bytes").text() == "words * 8"


def test_every_kind_of_editor_writes(mode: PlatformMode) -> None:
    mode.choose(entry_path(mode, "fpgaWrite"))
    kind = mode.form.row("kind").editor
    assert isinstance(kind, QComboBox)
    kind.setCurrentText("receive")
    kind.activated.emit(kind.currentIndex())
    early = mode.form.row("asynchronous").editor
    assert isinstance(early, QCheckBox)
    early.click()
    advice = mode.form.row("suggestion").editor
    assert isinstance(advice, TextArea)
    advice.setPlainText("Use\nlarger transfers: 50 % more.")
    advice.left.emit()
    condition = line_of(mode, "condition")
    condition.setText("words > 0")
    condition.editingFinished.emit()
    platform = mode.document.platform
    assert platform is not None
    entry = next(e for e in platform.host.entries if e.condition == "words > 0")
    assert (entry.kind.value, entry.asynchronous) == ("receive", True)
    assert entry.suggestion == "Use larger transfers: 50 % more."
    condition.setText("")
    condition.editingFinished.emit()
    assert "condition" not in mode.document.text.split("transfer_tables")[0].split("#")[-1]
    mode.choose(("hardware", "clocks", 0))
    clock = line_of(mode, "frequency_hz")
    clock.setText("133 MHz")
    clock.editingFinished.emit()
    assert mode.document.platform is not None
    assert mode.document.platform.hardware is not None
    assert mode.document.platform.hardware.clock_hz == 133e6


def test_clocks_and_ports_have_forms_made_from_their_kinds_fields(mode: PlatformMode) -> None:
    text = mode.document.text
    mode.document.replace("Leave the machine only", text[: text.index("\nhost:")])
    assert [add_part(mode.document, what) for what in ("clock", "clock", "hardware port")] == [
        ("hardware", "clocks", 0), ("hardware", "clocks", 1), ("hardware", "ports", 1),
    ]  # fmt: skip
    mode.choose(("hardware", "clocks", 1))
    frequency = line_of(mode, "frequency_hz")
    frequency.setText("137 MHz")
    frequency.editingFinished.emit()
    mode.choose(("hardware", "ports", 1))
    delay = line_of(mode, "outgoing", "delay_cycles")
    delay.setText("2")
    delay.editingFinished.emit()
    assert mode.document.problems == ()
    assert mode.document.platform is not None
    hardware = mode.document.platform.hardware
    assert hardware is not None
    assert [clock.frequency_hz for clock in hardware.clocks] == [100e6, 137e6]
    first, second = hardware.ports
    assert isinstance(first, MemoryPort)
    assert isinstance(second, MemoryPort)
    assert (first.outgoing.delay_cycles, second.outgoing.delay_cycles) == (1, 2)


def test_an_unknown_unit_is_said_beside_its_field_and_save_waits(mode: PlatformMode, file: Path) -> None:
    before = file.read_text("utf-8")
    mode.choose(("host", "transfers"))
    largest = line_of(mode, "maximum_bytes")
    largest.setText("4 KB")
    largest.editingFinished.emit()
    row = mode.form.row("maximum_bytes")
    assert row.problem.isVisible()
    assert "two sizes" in row.problem.text()
    assert largest.property("problem") == "true"
    assert not mode.save_button.isEnabled()
    assert mode.problem_button.text() == "1 problem"
    mode.save()
    assert file.read_text("utf-8") == before
    largest.setText("4 MiB")
    largest.editingFinished.emit()
    assert not row.problem.isVisible()


def test_an_expression_is_judged_while_it_is_typed_and_after(qtbot: QtBot, mode: PlatformMode) -> None:
    mode.choose(entry_path(mode, "fpgaWrite"))
    before, row = mode.document.text, mode.form.row("bytes")
    line = line_of(mode, "bytes")
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, "wrods * 4")
    qtbot.waitUntil(lambda: row.problem.isVisible(), timeout=20_000)
    assert row.problem.text() == "'wrods' is not known here. Did you mean 'words'?"
    assert mode.document.text == before
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert "wrods" in mode.document.text
    qtbot.waitUntil(lambda: mode.parts._bad.get(mode.chosen) == "high", timeout=20_000)
    assert mode.parts.tabs.tabToolTip(0) == "This part has problems"
    assert mode.parts._bad.keys() == {mode.chosen}
    assert mode.save_button.isEnabled()  # what cannot be compiled yet can be kept
    line.selectAll()
    qtbot.keyClicks(line, "words * 4")
    qtbot.waitUntil(lambda: not row.problem.isVisible(), timeout=20_000)
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert mode.document.text == before


def test_what_is_wrong_with_a_field_at_the_edge_comes_into_view(qtbot: QtBot, mode: PlatformMode) -> None:
    mode.resize(1000, 500)
    mode.choose(("host", "entries", 3))
    mode.activateWindow()
    row = mode.form.row("bytes")
    qtbot.waitUntil(lambda: mode.form.viewport().height() > 0)
    row.editor.setFocus()
    qtbot.waitUntil(row.editor.hasFocus)
    mode.form.ensureWidgetVisible(row.editor, 0, 0)
    row.show_problem(Diagnostic("'words' is not known here", "Did you mean 'word'?"))
    qtbot.waitUntil(lambda: row.problem.visibleRegion().boundingRect() == row.problem.rect())


def test_where_a_time_is_from_is_whole_in_a_narrow_table(mode: PlatformMode) -> None:
    table, heights = mode.table, []
    line = max(table.rows.tops, key=lambda line: len(line.point.source))
    for width in (1200, 380):
        table.resize(width, 300)
        heights.append(table.height_of(line))
    assert heights[0] == ROW_PX < heights[1]


def test_sizes_that_do_not_grow_are_swapped_back(qtbot: QtBot, mode: PlatformMode) -> None:
    mode.choose(("transfer_tables", "write"))
    before = mode.document.text
    table = mode.table
    row = next(n for n, point in enumerate(table.points) if point.size_text == "16 KiB")
    type_in(qtbot, mode, row, SIZE, "64 KiB")
    said = {n: point.problem for n, point in enumerate(table.points) if point.problem}
    assert {n: d.severity for n, d in said.items() if d} == {8: Severity.WARNING, 9: Severity.ERROR}
    assert not mode.save_button.isEnabled()
    pixels = pixels_of(mode.table.viewport().grab().toImage())
    assert (pixels == 0xFFF9E8E6).any()
    assert mode.parts._bad[("transfer_tables", "write")] == "high"
    mode.history.undo()
    assert mode.document.text == before

    path = ("transfer_tables", "write", "points")
    mode.document.apply("Swap", lambda text: yaml_edit.swap_items(text, path, 8, 9))
    bad = next(n for n, point in enumerate(table.points) if point.problem)
    said_at = table.rows.index(0, 0, table.rows.index(bad, 0))
    assert table.visualRect(said_at).top() > table.visualRect(table.rows.index(bad, 0)).bottom()
    assert table.visualRect(said_at).width() == table.header().length()
    fix = next(b for b in mode.table.findChildren(Button) if b.text() == "Swap rows 9, 10")
    fix.click()
    assert mode.document.text == before
    assert not any(point.problem for point in table.points)


def type_in(qtbot: QtBot, mode: PlatformMode, row: int, column: int, text: str) -> None:
    """Write a cell as its editor does."""
    before, rows = mode.document.text, mode.table.rows
    assert rows.setData(rows.index(row, column), text)
    qtbot.waitUntil(lambda: mode.document.text != before)


def test_a_time_is_shown_in_the_unit_that_fits_it_and_edited_as_written(mode: PlatformMode) -> None:
    """The template has 14413.4 us; no cell of sizes, times and rates has more than four digits."""
    mode.choose(("transfer_tables", "write"))
    rows = mode.table.rows
    columns = [column for column in rows.columns if column.head in ("Size", "Time", "Rate")]
    said = [[column.text(row).replace("\u202f", " ") for column in columns] for row in rows.tops]
    assert said[-1][:2] == ["4 MiB", "14.4 ms"]
    assert [text for row in said for text in row if len(re.sub(r"\D", "", text)) > 4] == []
    (time,) = (column for column in columns if column.head == "Time")
    assert time.tip_of(rows.tops[-1]) == "14413.4 us in the file"
    assert time.written is not None
    assert time.written(rows.tops[-1]) in ("14413.4 us", None), "None: a template of the program is read only"


def test_table_edits_add_paste_and_remove(qtbot: QtBot, mode: PlatformMode) -> None:
    mode.choose(("transfer_tables", "read"))
    model = mode.table
    count = len(model.points)
    mode.table.add_point()
    assert len(model.points) == count + 1
    assert model.points[-1].size == 2 * (model.points[-2].size or 0)
    mode.table.setCurrentIndex(model.rows.index(count, SIZE))
    mode.table.remove_chosen()
    assert len(model.points) == count
    type_in(qtbot, mode, 0, TIME, "33 us")
    type_in(qtbot, mode, 0, SOURCE, "measured")
    assert (model.points[0].time_s, model.points[0].printed) == (pytest.approx(33e-6), True)
    model.setCurrentIndex(model.rows.index(0, TIME))
    model.edit(model.currentIndex())
    editor = model.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    editor.setText("44 us")
    editor.setFocus()
    model.commit()  # as saving does, while the cell is still open
    assert model.points[0].time_s == pytest.approx(44e-6)
    QGuiApplication.clipboard().setText("size\ttime\n4\t0.00001\n1 KiB\t12 us\tmeasured\n")
    assert mode.table.paste(QGuiApplication.clipboard().text())
    assert [(p.size, p.time_s) for p in model.points] == [(4, 1e-5), (1024, pytest.approx(12e-6))]
    assert mode.table.as_text() == "4\t1e-05\t\n1 KiB\t12 us\tmeasured"
    mode.history.undo()
    assert len(model.points) == count


def test_pasted_rows_of_spreadsheets() -> None:
    assert pasted_points("4;8 us\n64;9 us;note") == [
        {"bytes": 4, "time_s": "8 us"},
        {"bytes": 64, "time_s": "9 us", "source": "note"},
    ]
    assert pasted_points("4, 8e-6") == [{"bytes": 4, "time_s": 8e-6}]
    assert pasted_points("nothing here") == []
    grouped = pasted_points("Size (bytes)\tTime (us)\tFrom\n65,536\t3,410.5\tours, run 2\n1\u202f048\u202f576\t20,5\n")
    assert [(row["bytes"], row["time_s"]) for row in grouped] == [(65536, "3410.5 us"), (1048576, "20.5 us")]
    assert grouped[0]["source"] == "ours, run 2"


def test_pasted_rows_keep_where_they_are_from(mode: PlatformMode) -> None:
    """By the column's head, else as the first text that is no figure; of a row that is as before, as it was."""
    heads = "#\tSize\tTime\tRate\tFit error\tFrom\n"
    whole = f"{heads}1\t4 B\t16 us\t250 kB/s\t+2.1 %\tours\n2\t8 B\t17 us\t1 MB/s\t0 %\t\n"
    assert pasted_points(whole) == [
        {"bytes": "4 B", "time_s": "16 us", "source": "ours"},
        {"bytes": "8 B", "time_s": "17 us"},
    ]
    assert pasted_points("rate,time (us),size (KiB),note\n3,4,5,page 3, table 2\n") == [
        {"bytes": "5 KiB", "time_s": "4 us", "source": "page 3, table 2"}
    ]
    assert pasted_points("4\t1 us\t4 MB/s\tours\n")[0]["source"] == "ours"
    mode.choose(("transfer_tables", "write"))
    table = mode.table
    first = next(point for point in table.points if point.printed)
    assert table.paste(f"{first.size}\t{first.time_s}\n{2 * (first.size or 1)}\t1 s\n")
    assert [point.source for point in table.points] == [first.source, ""]


def test_a_paste_without_rows_changes_nothing_and_says_what_is_wanted(mode: PlatformMode) -> None:
    mode.choose(("transfer_tables", "write"))
    before = mode.document.text
    assert not mode.table.paste("nothing here")
    assert mode.document.text == before
    assert [n.message for n in mode.context.notices] == ["the clipboard holds no row of a transfer table"]


def test_tab_goes_from_cell_to_cell_also_after_a_change(qtbot: QtBot, mode: PlatformMode) -> None:
    mode.choose(("transfer_tables", "write"))
    mode.activateWindow()
    table, rows = mode.table, mode.table.rows

    def typed(row: int, column: int) -> QLineEdit:
        qtbot.waitUntil(lambda: (table.currentIndex().row(), table.currentIndex().column()) == (row, column))
        qtbot.waitUntil(lambda: isinstance(QApplication.focusWidget(), QLineEdit))
        editor = QApplication.focusWidget()
        assert isinstance(editor, QLineEdit)
        return editor

    table.setCurrentIndex(rows.index(1, TIME))
    table.edit(table.currentIndex())
    editor = typed(1, TIME)
    editor.setText("15.9 us")
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: mode.document.value((*POINTS, 1, "time_s")) == "15.9 us")
    qtbot.keyClick(typed(1, SOURCE), Qt.Key.Key_Tab)
    qtbot.keyClick(typed(2, SIZE), Qt.Key.Key_Backtab)
    typed(1, SOURCE)


def test_in_a_narrow_window_form_and_table_take_turns(mode: PlatformMode, qtbot: QtBot) -> None:
    mode.resize(960, 632)
    assert mode.pages.folded  # side by side, the form would have no room for a line of text
    mode.resize(735, 392)
    assert mode.minimumSizeHint().width() <= 735
    assert (mode.form.isVisible(), mode.table.isVisible(), mode.serving.lines.isVisible()) == (True, False, False)
    mode.pages.to_table.click()
    assert (mode.form.isVisible(), mode.table.isVisible()) == (False, True)
    mode.pages.to_form.click()
    assert (mode.form.isVisible(), mode.table.isVisible()) == (True, False)
    mode.choose(("transfer_tables", "write"))
    assert mode.table.isVisible()
    mode.show_place(("transfer_tables", "write", "direction"))
    assert mode.form.isVisible()
    mode.serving.more.click()
    assert mode.serving.lines.isVisible()
    mode.resize(1536, 900)
    assert (mode.form.isVisible(), mode.table.isVisible(), mode.pages.to_form.isVisible()) == (True, True, False)
    assert mode.serving.lines.isVisible()
    assert not mode.serving.more.isVisible()


def test_a_template_of_the_workbench_is_not_saved_among_its_own(
    mode: PlatformMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode.open_document(TEMPLATE)
    asked: list[Path] = []
    monkeypatch.setattr(mode, "ask_file", lambda title, path: asked.append(path))
    mode.save_as()
    assert [path.name for path in asked] == [TEMPLATE.name]
    assert asked[0].parent != TEMPLATE.parent


def test_percents_of_a_hundred_and_more_have_every_digit() -> None:
    fit = fit_transfers([4, 64, 1024], [1e-5, 1e-5, 1e-4])
    assert fit is not None
    far = replace(fit, residuals=(0.0, 1.94, -0.031))
    assert (far.worst_text, residual_text(1.94), residual_text(-0.031)) == (
        "194\u202f%", "+194\u202f%", "\u22123.1\u202f%",
    )  # fmt: skip


def test_table_and_curve_are_linked_by_hover(qtbot: QtBot, mode: PlatformMode) -> None:
    mode.choose(("transfer_tables", "write"))
    hover(mode.curve.viewport(), mode.curve.point_place((0, 5)).toPoint())
    assert mode.table.hovered_point == 5
    row = mode.table.visualRect(mode.table.rows.index(2, TIME)).center()
    hover(mode.table.viewport(), row)
    assert mode.curve.ringed == (0, 2)


def test_a_point_of_the_curve_is_dragged_to_another_rate(qtbot: QtBot, mode: PlatformMode) -> None:
    mode.choose(("transfer_tables", "write"))
    mode.grab()
    before, text = points_of(mode.document, "write"), mode.document.text
    start, left, target = mode.curve.point_place((0, 5)), Qt.MouseButton.LeftButton, mode.curve.viewport()
    goal = start + QPointF(15, 30)
    wanted = mode.curve.view().value(start.x(), round(goal.y()))[1]
    qtbot.mousePress(target, left, pos=start.toPoint())
    qtbot.mouseMove(target, ((start + goal) / 2).toPoint())
    qtbot.mouseMove(target, goal.toPoint())
    qtbot.mouseRelease(target, left, pos=goal.toPoint())
    after = points_of(mode.document, "write")
    assert after[5].size == before[5].size
    assert after[5].rate == pytest.approx(wanted, rel=1e-3)
    assert [p.time_text for p in after][:5] == [p.time_text for p in before][:5]
    assert [p.time_text for p in after][6:] == [p.time_text for p in before][6:]
    mode.document.history.undo()
    assert mode.document.text == text
    qtbot.mouseClick(target, left, pos=mode.curve.point_place((0, 5)).toPoint())
    assert mode.document.text == text


def test_parts_are_added_and_removed(qtbot: QtBot, mode: PlatformMode) -> None:
    added = {
        "host call": "newCall11",
        "memory": "New memory 1",
        "transfer table": "new_table_1",  # those of the first two directions are there
        "constant": "new_CONSTANT_1",
    }
    for what, title in added.items():
        mode.parts.add_wanted.emit(what)
        part = mode.form.part
        assert part is not None
        assert part.title == title
        assert not mode.document.errors
        mode.remove.click()
        assert title not in {p.title for s in sections_of(mode.document) for p in s.parts}
    entries = [part.title for part in sections_of(mode.document)[0].parts]
    mode.choose(("host", "entries", 1))
    mode.parts.lines.setFocus()
    for left in (entries[2], entries[3]):
        qtbot.keyClick(mode.parts.lines, Qt.Key.Key_Delete)
        assert mode.form.part is not None
        assert mode.form.part.title == left
    mode.document.history.undo()
    mode.document.history.undo()
    assert [part.title for part in sections_of(mode.document)[0].parts] == entries
    tabs = mode.parts.tabs
    qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(3).center())
    assert mode.form.part is not None
    assert mode.form.part.title == "Platform and device"
    assert [section.title for section in mode.parts.lines.rows.tops] == ["Machine"]
    mode.choose(("transfer_tables", "read"))
    assert mode.parts.tab == "Times"
    assert tabs.tabText(tabs.currentIndex()) == "Times"
    mode.parts.filter.setText("irq")
    shown = mode.parts.lines.rows
    assert [section.title for section in shown.tops] == ["Host calls"]
    assert [[part.title for part in parts] for parts in shown.parts] == [["fpgaWaitIrq"]]


def test_tables_begin_with_the_calls_that_lack_them_and_are_renamed_with_them(mode: PlatformMode) -> None:
    document = mode.document
    text = document.text[: document.text.index("\nhardware:")].replace("      transfer: write\n", "", 1)
    document.replace(
        "No tables", text.replace("      transfer: read\n", "").replace("transfer: write", "transfer: mine")
    )
    assert add_part(document, "transfer table") == ("transfer_tables", "write")
    assert add_part(document, "transfer table") == ("transfer_tables", "read")

    def taken() -> list[str]:
        return [one.get("transfer", "") for one in document.value(("host", "entries"))]

    assert taken() == ["", "", "write", "read", "mine_reg", "read_reg", "mine", "", "", ""]
    mode.choose(("transfer_tables", "write"))
    name = next(e for e in mode.form.findChildren(QLineEdit) if e.accessibleName() == "Name")
    name.setText("dma up")
    name.editingFinished.emit()
    assert mode.chosen == ("transfer_tables", "dma up")
    assert taken()[2] == "dma up"
    document.history.undo()
    assert taken()[2] == "write"
    assert not rename_part(document, ("transfer_tables", "write"), "read")
    assert taken()[2:4] == ["write", "read"]


def test_pasted_prototypes_and_a_header_become_entries_by_one_step(
    qtbot: QtBot, mode: PlatformMode, tmp_path: Path
) -> None:
    before = mode.document.text
    QGuiApplication.clipboard().setText("int fpgaErase(fpga_t *fpga, int card); int fpgaWait(fpga_t *fpga);")
    mode.parts.lines.setFocus()
    qtbot.keyClick(mode.parts.lines, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: mode.document.text != before, timeout=20_000)
    assert mode.form.part is not None
    assert mode.form.part.title == "fpgaErase"
    added = [line for line in mode.document.text.splitlines() if line not in before.splitlines()]
    assert added == ["    - {prototype: 'int fpgaErase(fpga_t *fpga, int card)', kind: other, fpga: card}"]
    mode.history.undo()
    assert mode.document.text == before
    mode.paste_calls("int fpgaWait(fpga_t *fpga)")
    qtbot.waitUntil(lambda: any("has them all" in d.message for d in mode.context.notices), timeout=20_000)

    (tmp_path / "api.h").write_text("#include <stdint.h>\nint put(const uint32_t *data, int words);\nint quit(void);\n")
    mode.add_calls(tmp_path / "api.h")
    qtbot.waitUntil(lambda: mode.document.text != before, timeout=20_000)
    platform = mode.document.platform
    assert platform is not None
    assert [(e.prototype, e.kind.value, e.bytes) for e in platform.host.entries[-2:]] == [
        ("int put(const uint32_t *data, int words)", "send", "words * sizeof *data"),
        ("int quit(void)", "other", ""),
    ]
    mode.history.undo()
    assert mode.document.text == before


def test_the_template_is_tried_on_a_source_as_it_changes(qtbot: QtBot, mode: PlatformMode, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text('#include "fpga.h"\nint main(void)\n{\n    fpga_t *f = fpgaOpen(0);\n    fpgaClose(f);\n}\n')
    trying = mode.trying
    trying.try_on(source)
    qtbot.waitUntil(lambda: "match" in trying.said.text(), timeout=20_000)
    assert trying.said.text() == "main.c: 2 calls match, 8 not called"
    trying.show_button.click()
    assert [(call.line, call.callee) for call in trying.calls.rows.tops] == [(4, "fpgaOpen"), (5, "fpgaClose")]
    places: list[tuple[str, int]] = []
    trying.opened.connect(lambda file, line: places.append((file, line)))
    trying.calls.opened.emit(trying.calls.rows.tops[1])
    assert places == [(str(source), 5)]
    mode.document.remove(entry_path(mode, "fpgaOpen"), "Remove fpgaOpen")
    qtbot.waitUntil(lambda: trying.said.text().startswith("main.c: 1 call match"), timeout=20_000)
    trying.try_on(tmp_path / "none.c")
    qtbot.waitUntil(lambda: trying.said.text() == "there is no such source", timeout=20_000)


def test_a_file_changed_by_another_is_not_overwritten(mode: PlatformMode, file: Path) -> None:
    mode.document.set(("title",), "Mine")
    file.write_text(file.read_text("utf-8") + "# theirs\n", "utf-8")
    asked: list[Question] = []
    answers = iter((CANCEL, OVERWRITE))
    mode.context.documents.ask = lambda question: asked.append(question) or next(answers)  # type: ignore[func-returns-value]
    assert not mode.save()
    assert "Mine" not in file.read_text("utf-8")
    assert "# theirs" in file.read_text("utf-8")
    assert asked[0].title == "Another program changed this file"
    assert mode.document.dirty
    assert mode.save()
    assert "Mine" in file.read_text("utf-8")
    assert not mode.document.dirty


def test_a_template_of_the_workbench_is_copied_into_the_project(
    qtbot: QtBot, mode: PlatformMode, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    shutil.copytree(EXAMPLE, project)
    context = mode.context
    before = TEMPLATE.read_text("utf-8")
    workspace = open_workspace(project / "original.workbench.yaml", context.plugins)
    context.set_workspace(workspace)
    assert mode.document.read_only
    assert mode.save_button.text() == "Save as copy"
    assert any("read-only" in said.text() for said in mode.form.findChildren(QLabel))
    shown = mode.form.row("bytes").editor
    assert isinstance(shown, QPlainTextEdit)
    assert shown.isReadOnly()
    mode.save_button.click()
    qtbot.waitUntil(lambda: context.workspace is not workspace, timeout=10_000)
    assert context.workspace is not None
    assert context.workspace.platform_path == project / "nallatech_h101.yaml"
    assert context.workspace.project.platform == "nallatech_h101.yaml"
    assert (project / "nallatech_h101.yaml").read_text("utf-8") == before
    assert TEMPLATE.read_text("utf-8") == before
    assert not mode.document.read_only
    assert not line_of(mode, "bytes").isReadOnly()
    assert load_platform(project / "nallatech_h101.yaml")[0] == load_platform(TEMPLATE)[0]
    qtbot.waitUntil(lambda: not context.background.busy, timeout=10_000)


def test_without_a_project_there_is_one_sentence(mode: PlatformMode) -> None:
    mode.context.close()
    assert mode.empty.isVisible()
    assert "open a project to edit its own" in mode.empty.why.text()


def test_a_file_that_cannot_be_read(mode: PlatformMode, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: [1,\n", "utf-8")
    mode.open_document(tmp_path / "bad.yaml")
    assert mode.document.errors
    assert not mode.save_button.isEnabled()
    assert mode.problem_button.text() == "1 problem"


def test_measured_times_come_into_the_document_as_it_is_now(
    mode: PlatformMode, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run of the generated project is made already: its calls took 5 us and a nanosecond a byte."""
    told: list[Path] = []
    entries = mode.document.platform.host.entries if mode.document.platform else ()
    number = next(n for n, entry in enumerate(entries) if entry.transfer == "write" and not entry.asynchronous)
    sizes = np.array([4, 64, 1024])
    taken_ps = 5_000_000 + 1000 * sizes
    ends_ps = np.cumsum(taken_ps)
    calls = {"entry": np.full(3, number), "bytes": sizes, "t0_ps": ends_ps - taken_ps, "t1_ps": ends_ps}
    manifest = SimpleNamespace(created="2031-05-06T00:00:00", simulated=True)
    run = SimpleNamespace(tables={"calls": {**calls, "block": np.zeros(3, int)}}, manifest=manifest, path=Path("run-1"))
    go = threading.Event()

    def made(workspace: Workspace, job: Job) -> Run:
        with job.step("Simulate"):
            told.append(workspace.path)
            while not go.wait(0.01):
                job.check()
        return cast(Run, run)

    asked = []
    monkeypatch.setattr(measuring, "ask_trust", lambda workspace, parent: not asked.append(workspace.path))
    mode.measuring.run_function = made
    button, document = mode.measuring.button, mode.document
    before = document.text
    assert button.text() == "Measure times"

    button.click()
    qtbot.waitUntil(lambda: mode.table_head.subtitle.text() == "Simulate")
    button.click()  # which cancels
    qtbot.waitUntil(lambda: not mode.context.background.busy)
    assert (document.text, button.text()) == (before, "Measure times")

    go.set()
    title = "Changed while they ran"
    button.click()
    document.set(("title",), title)
    qtbot.waitUntil(lambda: document.history.undo_label == "Measure times")
    assert [told[0].read_text().count("name: transfers"), *asked] == [1, *told]
    points = document.platform.transfer_tables["write"].points if document.platform else ()
    assert [(p.bytes, p.time_s) for p in points if p.bytes in (4, 64, 1024)] == [
        (4, pytest.approx(5.004e-6)), (64, pytest.approx(5.064e-6)), (1024, pytest.approx(6.024e-6))]  # fmt: skip
    assert "2031-05-06, simulated card: median of 1" in points[0].source
    document.history.undo()
    assert document.value(("title",)) == title
    document.history.undo()
    assert document.text == before

    go.clear()
    button.click()
    qtbot.waitUntil(lambda: len(told) == 3)
    document.remove(("host", "entries", number), "Remove a call")
    go.set()
    qtbot.waitUntil(lambda: not mode.context.background.busy)
    assert [d.message for d in mode.context.notices][-1] == "the calls changed while their times were measured"
    assert document.history.undo_label == "Remove a call"


def test_the_form_shows_what_applies_to_the_kind_and_what_is_set(mode: PlatformMode) -> None:
    def shown() -> set[str]:
        return {str(row.field.path[0]) for row in mode.form.rows}

    mode.choose(entry_path(mode, "fpgaClose"))
    assert {"prototype", "kind", "condition", "of", "fpga", "reason"} <= shown()
    assert not shown() & {"bytes", "transfer", "files", "opens", "access", "suggestion_from_bytes"}
    mode.form.more_button.click()
    assert shown() == set(HostEntry.model_fields)
    mode.form.more_button.click()
    mode.document.set(
        (*mode.form.part.path, "files"), "path", "by hand"
    )  # a field that does not apply is shown where set
    assert "files" in shown()
    mode.choose(entry_path(mode, "fpgaWrite"))
    assert {"bytes", "address", "data", "transfer", "asynchronous", "suggestion_from_bytes"} <= shown()


def test_a_tab_keeps_what_was_chosen_in_it(mode: PlatformMode) -> None:
    mode.choose(entry_path(mode, "fpgaRead"))
    mode.parts.tabs.setCurrentIndex(2)
    mode.choose(("transfer_tables", "read"))
    mode.parts.tabs.setCurrentIndex(0)
    assert mode.form_head.title.text() == "fpgaRead"
    mode.parts.tabs.setCurrentIndex(2)
    assert mode.form_head.title.text() == "read"


def test_a_checklist_says_what_a_template_serves_and_leads_to_what_is_missing(
    qtbot: QtBot, mode: PlatformMode, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = mode.serving.lines
    qtbot.waitUntil(lambda: len(mode.serving.services) == 4)
    assert all(one.can for one in mode.serving.services)
    assert mode.document.path is not None
    without = re.sub(r"(?m)^    receive_c:.*$", "", mode.document.path.read_text())
    mode.document.apply("no read-out", lambda text: without)
    qtbot.waitUntil(lambda: not mode.serving.services[3].can)
    lacking = mode.serving.services[3].missing
    assert [one.keys for one in lacking if isinstance(one, OfTemplate)] == [("host", "transfers", "receive_c")]
    said = lines.rows.columns[0].text
    assert [said(one) for one in lacking] == ["no call that reads words"]  # no key of the file
    lines.choose(lambda line: line is lacking[0])
    lines.setFocus()
    qtbot.keyClick(lines, Qt.Key.Key_Return)
    assert mode.form_head.title.text() == "Counter read-out"
    assert mode.form.field_with_focus() == ("host", "transfers", "receive_c")
    mode.document.path.write_text(without)
    serves = document_of(capsys, ["template", "check", str(mode.document.path), "--json"])["serves"]
    assert [one["keys"] for one in serves["measure on a board"]["missing"]] == [["host", "transfers", "receive_c"]]
    mode.document.apply("no calls", lambda text: yaml_edit.remove_item(text, ("host", "entries")))
    assert mode.show_place(("host", "entries"))
    assert mode.no_parts.title.text() == "No host call yet"


def test_a_fit_gives_latency_and_bandwidth_with_residuals(
    mode: PlatformMode, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = [4, 1 << 10, 1 << 20]
    fit = fit_transfers(sizes, [2e-6 + size / 1e9 for size in sizes])
    assert fit is not None
    assert (fit.latency_s, fit.rate_bytes_per_s, fit.half_bytes) == pytest.approx((2e-6, 1e9, 2000))
    assert fit.worst == pytest.approx(0, abs=1e-9)
    assert fit_transfers([4], [1e-6]) is None
    assert fit_transfers([4, 8], [2e-6, 1e-6]) is None  # times do not grow
    flat = fit_transfers([1000, 2000], [1e-6, 3e-6])  # a straight line would begin below 0
    assert flat is not None
    assert flat.latency_s == 0
    mode.choose(("transfer_tables", "read"))
    assert mode.fit_words.text().startswith("Fit: 32.0")
    shown = [mode.table.rows.columns[5].text(line) for line in mode.table.rows.tops]
    assert mode.document.path is not None
    told = document_of(capsys, ["template", "fit", str(mode.document.path), "--json"])["tables"]["read"]
    assert [residual_text(point["residual"]) for point in told["points"]] == shown
    assert told["fit"]["rate_bytes_per_s"] == pytest.approx(107e6, rel=0.01)


def test_rows_of_a_spreadsheet_are_in_the_units_of_its_head() -> None:
    rows = pasted_points("Size (KiB)\tTime [us]\tFrom\n4\t10.5\tours\n8 MiB\t1 ms\n")
    assert rows == [{"bytes": "4 KiB", "time_s": "10.5 us", "source": "ours"}, {"bytes": "8 MiB", "time_s": "1 ms"}]
    assert pasted_points("bytes,seconds\n4,1e-5") == [{"bytes": 4, "time_s": 1e-5}]


def test_no_field_is_wider_than_its_room(mode: PlatformMode) -> None:
    mode.choose(("host_api", "functions", 2))
    rows = mode.form.rows
    assert [row.field.label for row in rows].count("") == 1  # which has the whole width
    for room_px in range(400, 1200, 20):
        for row in rows:
            more_px = 130 if not row.field.label else 0
            row.set_width(room_px, more_px)
            row.box.layout().activate()
            assert row.box.minimumSizeHint().width() <= room_px


def test_what_a_call_does_is_in_the_list_whatever_room_there_is(mode: PlatformMode) -> None:
    calls = {part.title: part for s in mode.sections() if s.title == "Host calls" for part in s.parts}
    assert calls["fpgaWrite"].value == "send"
    long = next(part for title, part in calls.items() if title.endswith(" (nonblocking)"))
    assert (long.value != "", value_is_below(long, 270), value_is_below(long, 500)) == (True, True, False)

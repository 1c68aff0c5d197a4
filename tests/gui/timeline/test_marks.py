"""What a person puts on the timeline and asks of it: named markers, pinned rows, lists, shares, arrows of causes."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from driven.texts import clipped
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from workbench.formats.run_folder import RunWriter, open_run
from workbench.gui.frame.context import Context
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.timeline.lists import FOUND, MARKERS, STATISTICS
from workbench.gui.modes.timeline.mode import TimelineMode
from workbench.gui.modes.timeline.view import TimelineView
from workbench.model.finding import Finding
from workbench.model.run import PS_PER_S, Run
from workbench.pictures.timeline.marks import PENNANT_PX, _pieces, flags
from workbench.pictures.timeline.rows import GROWING, Kind
from workbench.pictures.timeline.waits import arrows
from workbench.session.keep.results import OpenRun
from workbench.session.keep.timeline_marks import load_markers, load_pinned
from workbench.session.program.plugins import Plugins
from workbench.system.store import set_preference
from workbench.testing.runs import synthetic_platform, synthetic_run
from workbench.traces.find import hits
from workbench.traces.markers import Marker
from workbench.traces.path import RunPath

Key = Qt.Key


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = synthetic_run(cores=6, rounds=4)
    folder = tmp_path_factory.mktemp("marks") / "run"
    RunWriter(folder, made.manifest).finish(made.manifest, made.tables)
    return open_run(folder)[0]


def mode_of(qtbot: QtBot, run: Run) -> TimelineMode:
    from workbench.analysis import analyse, load_knowledge

    knowledge, _ = load_knowledge([], [])
    platform = synthetic_platform()
    context = Context(Plugins(()))
    context.set_run(OpenRun(run, analyse(run, platform, knowledge), platform, knowledge, ()))
    made = TimelineMode(context, MODES["timeline"])
    qtbot.addWidget(made)
    made.resize(1300, 760)
    made.show()
    qtbot.waitUntil(lambda: made.view.traced is not None)
    return made


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, run: Run) -> TimelineMode:
    theme.apply_theme(qapp, "light")
    return mode_of(qtbot, run)


def key(qtbot: QtBot, view: TimelineView, *keys: Qt.Key) -> None:
    for each in keys:
        qtbot.keyClick(view, each)


def test_markers_are_named_in_place_moved_undone_and_come_back(qtbot: QtBot, mode: TimelineMode, run: Run) -> None:
    view = mode.view
    for x, name in ((500, "first round"), (800, "")):
        view.pointer = QPointF(x, 300)
        key(qtbot, view, Key.Key_B)
        editor = view.findChild(QLineEdit)
        assert editor is not None
        qtbot.keyClicks(editor, name)
        qtbot.keyClick(editor, Key.Key_Return if name else Key.Key_Escape)
    assert [marker.name for marker in view.markers] == ["first round", "Marker 1"]
    assert load_markers(run)[0] == view.markers
    named = view.markers
    (first, box), *_ = flags(view.shown())
    at = QPoint(round(box.x) + 5, round(box.y) + 8)
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseMove(view.viewport(), at + QPoint(60, 0))
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=at + QPoint(60, 0))
    moved = next(marker for marker in view.markers if marker.name == first.name)
    assert moved.time_ps == pytest.approx(view.span.time(at.x() + 60 - view.lanes.x), abs=view.span.pixel_ps)
    mode.history.undo()
    assert view.markers == named == load_markers(run)[0]
    view.set_markers(Marker(round(view.span.time(x)), "A long name") for x in (300, 305, 312, 600))
    # the first has room at its left, the third at its right, the one between them has none
    assert [box.width == PENNANT_PX for _, box in flags(view.shown())] == [False, True, False, False]
    written = [box.centre[1] for row, box in view.shown().row_boxes() if row.kind in (Kind.CALLS, Kind.CLOCK)]
    assert written
    assert not [y for y in written for top, bottom in _pieces(view.shown(), 0.0) if top - 8 < y < bottom + 8]
    view.set_markers(named)
    again = mode_of(qtbot, run)
    assert again.view.markers == named
    again.lists.removed.emit(named[0])
    assert load_markers(run)[0] == named[1:]
    again.history.undo()
    assert load_markers(run)[0] == named


def test_a_pinned_row_stays_above_in_every_run_of_the_project(qtbot: QtBot, mode: TimelineMode, run: Run) -> None:
    view = mode.view
    view.resize_rows(3)
    box = next(box for row, box in view.shown().row_boxes() if row.label == "core[1]")
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(15, round(box.centre[1])))
    assert [row.label for row in view.pinned_lines] == ["core[1]"]
    assert "core[1]" not in [row.label for row in view.lines]
    view.scroll_to(10_000)
    placed = {row.label: place for row, place in view.shown().row_boxes()}
    assert placed["core[1]"].y == view.lanes.y
    row = view.shown().row_at(view.lanes.y + 4)
    assert row is not None
    assert row.label == "core[1]"
    core = row.block
    assert view.hit_in(row, 1000.0) is not None
    view.show_place(core, Kind.STATES, 1000)
    assert view.chosen is not None
    assert view.chosen.block == core
    assert load_pinned(run) == (row.name,)
    again = mode_of(qtbot, run)
    assert [row.label for row in again.view.pinned_lines] == ["core[1]"]
    again.view.pointer = QPointF(400, again.view.lanes.y + 4)
    key(qtbot, again.view, Key.Key_T)
    assert again.view.pinned == load_pinned(run) == ()
    again.history.undo()
    assert load_pinned(run) == (row.name,)
    again.history.redo()


@pytest.mark.parametrize("size", [(700, 420), (1300, 760), (2300, 1300)])
def test_rows_fill_the_window_and_no_more(mode: TimelineMode, size: tuple[int, int]) -> None:
    mode.resize(*size)
    QApplication.processEvents()
    view = mode.view
    end = view.shown().row_boxes()[-1][1].bottom
    growing = [row for row in view.lines if row.kind in GROWING]
    heights = {row.height for row in growing if row.kind is Kind.STATES}
    assert len(heights) == 1
    if heights <= {22, GROWING[Kind.STATES]}:  # as low or as high as a row gets by itself
        assert (heights == {GROWING[Kind.STATES]}) == (end < view.height() - len(view.lines))
    else:
        assert view.height() - len(growing) - 12 <= end <= view.height()


def test_pills_keep_their_words_longer_than_their_icons(mode: TimelineMode) -> None:
    bar = mode.toolbar
    said = {}
    for wide in (1400, 640, 420):
        bar.resize(wide, bar.height())
        said[wide] = {(bool(pill.text()), pill.icon().isNull()) for pill in bar.flags()}
    assert said == {1400: {(True, False)}, 640: {(True, True)}, 420: {(False, False)}}


def test_a_narrow_bar_has_the_states_in_a_menu_and_gives_room_to_the_field_in_use(
    qtbot: QtBot, mode: TimelineMode
) -> None:
    bar = mode.toolbar
    mode.resize(1600, 700)
    QApplication.processEvents()
    assert bar.states_button.isHidden()
    mode.resize(640, 700)
    QApplication.processEvents()
    assert not bar.states_button.isHidden()
    assert all(pill.isHidden() for pill in bar.states.values())
    states = bar.states_button.menu().actions()
    assert [one.text() for one in states] == [kind.value for kind in bar.states]
    states[0].trigger()
    kind, pill = next(iter(bar.states.items()))
    assert (pill.isChecked(), bar.states_button.isChecked()) == (True, True)
    assert mode.view.faded
    pill.setChecked(False)
    assert (states[0].isChecked(), bar.states_button.isChecked()) == (False, False)
    low = mode.finder.minimumWidth()
    qtbot.keyClicks(mode.finder, kind.value)
    assert mode.finder.minimumWidth() >= 150 > low
    assert bar._row.minimumSize().width() <= bar.width() == 640
    mode.finder.clear()
    bar.setFocus()
    mode.resize(480, 700)  # at 200 %, beside the details
    QApplication.processEvents()
    assert bar.width() == 480
    assert (bar.states_button.text(), bar.states_button.accessibleName()) == ("", "States")
    assert bar._row.minimumSize().width() <= 480
    assert [bar.filter.placeholderText(), bar.filter.accessibleName()] == ["", "Filter rows"]
    assert bar.states_button.width() >= bar.states_button.sizeHint().width()


def test_rows_are_made_lower_and_fill_again(qtbot: QtBot, mode: TimelineMode) -> None:
    view = mode.view
    filled = view.lines[2].height
    place = QPointF(600, 300)
    turn = QWheelEvent(place, view.mapToGlobal(place), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
                       Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.NoScrollPhase, False)  # fmt: skip
    span = view.span
    for _ in range(30):
        QApplication.sendEvent(view.viewport(), turn)
    assert view.span == span
    assert {row.height for row in view.lines if row.kind is Kind.STATES} == {6}
    view.grab()
    key(qtbot, view, Key.Key_E)
    assert view.row_px == 7
    key(qtbot, view, Key.Key_F)
    assert (view.row_px, view.lines[2].height) == (0, filled)


def test_hits_are_counted_listed_and_gone_to(qtbot: QtBot, mode: TimelineMode) -> None:
    scene, view, lists = mode.view.traced, mode.view, mode.lists
    assert scene is not None
    every = hits(scene, "stopcore")
    qtbot.keyClicks(mode.finder, "stopCore")
    qtbot.waitUntil(lambda: mode.finder.count.text() == str(every.count))
    mode.finder.step()
    qtbot.waitUntil(lambda: mode.finder.count.text() == f"1 of {every.count}")
    qtbot.keyClick(mode.finder, Key.Key_Down)
    assert (lists.isVisible(), lists.page) == (True, FOUND)
    assert len(lists.found.rows.tops) == every.count
    place = lists.found.rows.tops[3]
    lists.found.setCurrentIndex(lists.found.rows.index(3, 1))
    assert view.chosen is not None
    assert (view.chosen.from_ps, view.chosen.block) == (place.time_ps, place.block)
    assert mode.finder.count.text() == f"4 of {every.count}"
    mode.filter.setText("core[2]")
    qtbot.waitUntil(lambda: mode.finder.count.text() == "0")
    assert lists.found.rows.tops == []
    assert "No visible row" in lists.said.text()


def test_statistics_follow_the_markers_and_lead_to_the_state(qtbot: QtBot, mode: TimelineMode) -> None:
    view, lists = mode.view, mode.lists
    key(qtbot, view, Key.Key_I)
    assert lists.page == STATISTICS
    qtbot.waitUntil(lambda: bool(lists.statistics.rows.tops))
    assert {row.block for row in lists.statistics.rows.tops} == set(range(len(view.traced.blocks)))
    assert lists.said.text() == "Whole run"
    end = view.end_ps
    view.set_marks([end * 0.25, end * 0.5])
    qtbot.waitUntil(lambda: lists.said.text().startswith("A to B"))
    main = [row for row in lists.statistics.rows.tops if row.block == 0]
    assert sum(row.time_ps for row in main) == round(end * 0.5) - round(end * 0.25)
    lists.state_wanted.emit(main[0])
    assert view.chosen is not None
    assert (view.chosen.block, view.chosen.state) == (0, main[0].state.index)
    for width in (520, 1300):
        mode.resize(width, 760)
        for page in (FOUND, STATISTICS, MARKERS):
            lists.turn_to(page)
            QApplication.processEvents()
            assert clipped(lists) == []
    key(qtbot, view, Key.Key_I)
    assert not lists.isVisible()


def test_shares_have_a_row_for_each_stack_and_say_what_they_are(qtbot: QtBot, mode: TimelineMode) -> None:
    view = mode.view
    key(qtbot, view, Key.Key_V)
    rows = {row.label: row for row in view.lines if row.kind is Kind.SHARES}
    assert {"main", "core × 6"} <= set(rows)
    hit = view.hit_in(rows["core × 6"], view.end_ps / 2)
    assert hit is not None
    assert any(line.startswith("wait_recv") for line in hit.lines[1:])
    view.grab()
    place = view.shown().row_boxes()[1][1].centre
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(600, round(place[1])))
    assert view.chosen is None
    key(qtbot, view, Key.Key_V)
    assert not any(row.kind is Kind.SHARES for row in view.lines)


def test_arrows_lead_from_causes_to_those_that_waited(qtbot: QtBot, mode: TimelineMode, path: RunPath) -> None:
    view = mode.view
    mode.path.path = path
    narrow = view.lanes.x
    key(qtbot, view, Key.Key_L)
    assert (view.show_waits, view.show_path, view.lanes.x) == (True, False, narrow)
    drawn, count = arrows(view.shown())
    assert count == len(drawn) > 0
    core = next(block for cause, block, _ in drawn if block != 0)
    causes = {(cause.block, block) for cause, block, _ in drawn}
    assert (0, core) in causes
    before = view.grab().toImage()
    key(qtbot, view, Key.Key_L)
    assert view.grab().toImage() != before
    assert view.path is None


def test_what_is_chosen_is_shown_in_a_waveform_viewer(
    qtbot: QtBot, mode: TimelineMode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With GTKWave, here a script that writes what it is given; with none, in a folder that is asked for."""
    view, started = mode.view, tmp_path / "started"
    viewer = tmp_path / "gtkwave"
    viewer.write_text(f'#!/bin/sh\nprintf "%s|%s" "$1" "$2" > {started}.part\nmv {started}.part {started}\n')
    viewer.chmod(0o755)
    set_preference("program.gtkwave", str(viewer))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    core = next(n for n, block in enumerate(view.traced.blocks) if "core[1]" in block.id)
    view.show_place(core, Kind.STATES, round(view.end_ps / 2))
    qtbot.keyClick(view, Key.Key_V, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(started.exists)
    qtbot.waitUntil(lambda: "opened in GTKWave" in mode.status)
    waves, save = started.read_text().split("|")
    assert f"{view.chosen.from_ps} " in Path(save).read_text()
    assert "core[1]" in Path(waves).read_text()
    set_preference("program.gtkwave", "")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "files"))
    view.choose(None)
    view.waves_wanted.emit(view.end_ps / 2)
    qtbot.waitUntil(lambda: (tmp_path / "files" / "moment.sucl").exists())


def test_an_unwritable_folder_is_told_and_the_markers_stay(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:  # fmt: skip
    made = synthetic_run(cores=1, rounds=1)
    RunWriter(tmp_path / "run", made.manifest).finish(made.manifest, made.tables)
    (tmp_path / "run" / "markers.json").mkdir()
    mode = mode_of(qtbot, open_run(tmp_path / "run")[0])
    mode.view.name_marker_at(1000.0)
    assert len(mode.view.markers) == 1
    assert any("cannot keep the run's markers" in item.message for item in mode.context.notices)


def test_a_failed_assertion_leads_to_the_moment_of_its_first_failure(
    mode: TimelineMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, scene, analysis = mode.view, mode.view.traced, mode.context.analysis
    assert scene is not None
    assert analysis is not None
    number = len(scene.blocks) - 1
    at_ps = scene.index.end_ps * 3 // 4
    block = scene.blocks[number].id
    finding = Finding(
        "failed", "failed assertion", "Assertion x failed twice", "block", block, block, 0.0, 1.0, None, "high", (),
        failures=2, first_s=at_ps / PS_PER_S,
    )  # fmt: skip
    shown = replace(analysis, findings=(finding,))
    monkeypatch.setattr(Context, "analysis", property(lambda _: shown))
    view.show_range(0, scene.index.end_ps / 10)
    mode.context.navigation.select(SelectedFinding("failed"))
    assert view.span.from_ps <= at_ps < view.span.to_ps
    assert view.chosen is not None
    assert view.chosen.block == number
    assert view.chosen.from_ps <= at_ps < view.chosen.to_ps
    assert mode.context.navigation.selection == SelectedFinding("failed")

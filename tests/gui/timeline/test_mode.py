"""Timeline mode: what is between the markers, found, filtered and gone to."""

from dataclasses import replace

import numpy as np
import pytest
from driven.texts import clipped
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication, QInputDialog, QLabel
from pytestqt.qtbot import QtBot
from small_runs import without_tables

from workbench.gui.frame.context import Context
from workbench.gui.frame.selection import SelectedBlock, SelectedCall
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.timeline.details import TimelineDetails
from workbench.gui.modes.timeline.mode import TimelineMode
from workbench.model.run import PS_PER_S, Run
from workbench.pictures.timeline.hits import hit_at
from workbench.pictures.timeline.rows import Kind
from workbench.session.keep.results import OpenRun
from workbench.session.program.plugins import Plugins
from workbench.system import store
from workbench.testing.runs import synthetic_platform
from workbench.traces.find import Occurrence, occurrence
from workbench.traces.path import RunPath
from workbench.traces.scene import Scene
from workbench.traces.trace import CATEGORIES

WORK = CATEGORIES.index("work")


def opened(run: Run) -> OpenRun:
    from workbench.analysis import analyse, load_knowledge

    knowledge, _ = load_knowledge([], [])
    platform = synthetic_platform()
    return OpenRun(run, analyse(run, platform, knowledge), platform, knowledge, ())


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, six_cores: Run) -> TimelineMode:
    theme.apply_theme(qapp, "light")
    context = Context(Plugins(()))
    context.set_run(opened(six_cores))
    made = TimelineMode(context, MODES["timeline"])
    qtbot.addWidget(made)
    made.resize(1300, 700)
    made.show()
    qtbot.waitUntil(lambda: made.view.traced is not None)
    return made


def test_statistics_between_the_markers_are_exact(qtbot: QtBot, mode: TimelineMode, six_cores: Run) -> None:
    end = six_cores.manifest.time_ps
    mode.view.set_marks([end * 0.25, end * 0.75])
    qtbot.waitUntil(lambda: mode.details.statistics is not None and mode.details.statistics.from_ps > 0)
    statistics = mode.details.statistics
    assert statistics is not None
    main = statistics.shares[0]
    assert main.title == "main"
    assert sum(main.seconds) == pytest.approx((statistics.to_ps - statistics.from_ps) * 1e-12, abs=2e-12)
    stack = statistics.shares[1]
    assert stack.title == "core × 6"
    assert statistics.at_work is not None
    assert 1 <= (statistics.at_work[1] or 0) <= 6
    assert sum(seconds for _, _, seconds in statistics.calls) < sum(main.seconds)
    mode.details.range_wanted.emit()
    assert mode.context.navigation.time_range == (statistics.from_ps, statistics.to_ps)


def test_sections_beside_each_other_show_their_whole_text(qtbot: QtBot, mode: TimelineMode) -> None:
    qtbot.waitUntil(lambda: mode.details.statistics is not None)
    scene, statistics = mode.context.traced.scene, mode.details.statistics
    assert scene is not None
    assert statistics is not None
    panel = TimelineDetails(offers_range=False)
    qtbot.addWidget(panel)
    panel.resize(1100, 240)
    panel.show_statistics(scene, statistics, False, ("Whole run", "no range is chosen"))
    panel.show()
    qtbot.waitExposed(panel)
    QApplication.processEvents()
    assert clipped(panel) == []


def test_markers_are_moved_back_by_undo(qtbot: QtBot, mode: TimelineMode) -> None:
    view, y = mode.view, 80
    for start, stop in ((400, 700), (700, 900)):  # the second takes B by its handle
        qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(start, y))
        qtbot.mouseMove(view.viewport(), QPoint(stop, y))
        qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(stop, y))
    x = [round(view.lanes.x + view.span.x(mark)) for mark in view.marks]
    assert x == [400, 900]
    widened = view.marks
    mode.details.cleared.emit()
    assert view.marks == ()
    mode.history.undo()
    assert view.marks == widened
    mode.history.undo()
    assert [round(view.lanes.x + view.span.x(mark)) for mark in view.marks] == [400, 700]
    mode.history.undo()
    assert view.marks == ()
    mode.history.redo()
    mode.history.redo()
    assert view.marks == widened


def test_a_call_that_began_before_a_is_in_part(qtbot: QtBot, mode: TimelineMode) -> None:
    scene = mode.view.traced
    assert scene is not None
    calls = scene.calls[0]
    call = int(np.argmax(calls.t1_ps - calls.t0_ps))
    begin, end = int(calls.t0_ps[call]), int(calls.t1_ps[call])
    quarter = (end - begin) // 4
    mode.view.set_marks([float(begin + quarter), float(end - quarter)])
    qtbot.waitUntil(lambda: "in part" in [text.text() for text in mode.details.findChildren(QLabel)])
    assert "× 0" not in [text.text() for text in mode.details.findChildren(QLabel)]


def test_selection_goes_both_ways(qtbot: QtBot, mode: TimelineMode, six_cores: Run) -> None:
    mode.context.navigation.select(SelectedBlock("pdf2d_top.core[2].ctrl"))
    assert {six_cores.manifest.blocks[n].id for n in mode.view.chosen_blocks} == {"pdf2d_top.core[2].ctrl"}
    scene = mode.view.traced
    assert scene is not None
    row = next(r for r in mode.view.lines if r.kind is Kind.CALLS)
    mode.view.choose(hit_at(scene, row, float(scene.calls[0].t0_ps[0]) + 1))
    assert mode.context.navigation.selection == SelectedCall(int(scene.calls[0].site[0]))


def test_status_tells_how_much_is_in_view(qtbot: QtBot, mode: TimelineMode) -> None:
    def in_view() -> list[str]:
        return [part for part in mode.status if part.endswith("in view")]

    mode.view.zoom(2)
    qtbot.waitUntil(lambda: bool(in_view()))
    before = in_view()
    mode.view.zoom(2)
    qtbot.waitUntil(lambda: in_view() not in ([], before))
    assert not any(part.startswith("frame") for part in mode.status), "it is of no use to who reads a timeline"
    assert any("1 px =" in part for part in mode.status)


def test_a_profile_shows_the_one_action(qtbot: QtBot, mode: TimelineMode, six_cores: Run) -> None:
    profile = without_tables(six_cores, "intervals", "interval_offsets")
    mode.context.set_run(opened(replace(profile, manifest=replace(profile.manifest, traced=False))))
    assert mode.empty.isVisible()
    assert mode.empty.button.text() == "Run with trace"
    with qtbot.waitSignal(mode.context.run_requested):
        mode.empty.button.click()
    assert store.preference("trace", "no") == "yes"
    mode.context.set_run(None)
    assert mode.empty.title.text() == "No run is open"


def begun(scene: Scene, called: str) -> list[tuple[int, int]]:
    """(time, block) of every state and call whose name holds a word, by plain counting."""
    found = set()
    for number, block in enumerate(scene.blocks):
        edges, states = scene.index.trace.row(number)
        named = {s.index for s in block.states if called in s.name.casefold() or (s.category and called in s.category)}
        found |= {(int(at), number) for at, state in zip(edges, states, strict=False) if int(state) in named}
        if calls := scene.calls.get(number):
            sites = scene.run.manifest.sites
            found |= {(int(t), number) for t, s in zip(calls.t0_ps, calls.site, strict=True)
                      if called in f"{sites[s].label} {sites[s].callee}".casefold()}  # fmt: skip
    return sorted(found)


@pytest.mark.parametrize("called", ["startcore", "fpgaread", "work", "wait_send"])
def test_every_occurrence_is_found_once_both_ways(scene: Scene, called: str) -> None:
    expected = begun(scene, called)
    assert expected
    for backwards in (False, True):
        at, found = Occurrence(scene.index.end_ps, 0) if backwards else Occurrence(-1, -1), []
        while (place := occurrence(scene, called.upper(), at, backwards=backwards)) is not None:
            found.append((place.time_ps, place.block))
            at = place
        assert found == (expected[::-1] if backwards else expected)


def test_a_state_is_looked_for_over_time_by_keys(qtbot: QtBot, mode: TimelineMode) -> None:
    view = mode.view
    assert view.traced is not None
    expected = begun(view.traced, "stopcore")
    stack = next(row for row in view.lines if row.kind is Kind.STACK)
    view.fold(stack.key)
    view.zoom(40, QPointF(view.lanes.x, 0))
    assert mode.find_here()
    qtbot.keyClicks(mode.finder, "stopCore")

    def chosen() -> tuple[float, int] | None:
        return (view.chosen.from_ps, view.chosen.block) if view.chosen else None

    plain, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
    enter, again, n = Qt.Key.Key_Return, Qt.Key.Key_F3, Qt.Key.Key_N
    for key, modifier, at in (enter, plain, 0), (again, plain, 1), (again, shift, 0), (n, shift, -1):
        qtbot.keyClick(view if key is n else mode.finder, key, modifier)
        qtbot.waitUntil(lambda wanted=expected[at]: chosen() == wanted)
        assert view.span.from_ps <= expected[at][0] < view.span.to_ps
    mode.finder.setText("core[3] work")
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_N)
    qtbot.waitUntil(lambda: view.chosen is not None and "core[3]" in view.chosen.lines[0])  # out of what was folded
    assert any(row.label == "core[3]" for row, _ in view.shown().row_boxes())
    mode.finder.setText("nowhere")
    qtbot.keyClick(mode.finder, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "'nowhere'" in mode.finder.toolTip())


def test_filter_and_states(qtbot: QtBot, mode: TimelineMode) -> None:
    mode.filter.setText("lad_if")
    assert [row.label for row in mode.view.lines if row.kind is Kind.STATES] == ["lad_if"]
    mode.filter.clear()
    pill = next(p for c, p in mode.state_pills.items() if c.value == "work")
    pill.click()
    assert WORK not in mode.view.faded
    assert len(mode.view.faded) == len(CATEGORIES) - 1


def test_a_time_is_gone_to_and_what_is_no_time_is_asked_again(
    mode: TimelineMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = mode.view.traced
    assert scene is not None
    half_s = scene.index.end_ps / 2 / PS_PER_S
    answers, said = ["soon", f"{half_s * 1e6} us"], []

    def answer(parent: object, title: str, label: str, text: str) -> tuple[str, bool]:
        said.append(label)
        return answers.pop(0), True

    monkeypatch.setattr(QInputDialog, "getText", answer)
    mode.ask_where()
    assert answers == []
    assert said[1].startswith("'soon' is not a time")
    span = mode.view.span
    assert span.time(span.width / 2) == pytest.approx(scene.index.end_ps / 2, abs=2 * span.pixel_ps)
    assert span.pixel_ps * span.width == pytest.approx(scene.index.end_ps / 20, rel=0.01)


def test_the_key_shows_the_path_and_its_panel(qtbot: QtBot, mode: TimelineMode, path: RunPath) -> None:
    mode.path.path = path
    qtbot.keyClick(mode.view, Qt.Key.Key_C)
    assert mode.view.path is path
    assert mode.path_pill.isChecked()

    def said() -> set[str]:
        return {label.text() for label in mode.details.findChildren(QLabel)}

    qtbot.waitUntil(lambda: "On the critical path" in said())
    assert "Not on the path" in said()
    narrow = mode.view.lanes.width
    qtbot.keyClick(mode.view, Qt.Key.Key_C)
    assert mode.view.path is None
    assert mode.view.lanes.width > narrow

"""The timeline: its index against plain counting, what it draws, what keys and mouse do."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
from base64 import b64decode
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pixels import pixels_of
from PySide6.QtCore import QByteArray, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QInputDialog
from pytestqt.qtbot import QtBot
from small_runs import without_tables
from small_traces import small_index

from workbench.gui import theme
from workbench.gui.context import Context
from workbench.gui.modes import MODES
from workbench.gui.selection import SelectedBlock, SelectedCall
from workbench.gui.timeline.hover import place_tooltip
from workbench.gui.timeline.mode import TimelineMode
from workbench.gui.timeline.view import TimelineView
from workbench.model.run import PS_PER_S, Run
from workbench.pictures.layout_sizes import Box
from workbench.pictures.palette import LIGHT
from workbench.pictures.svg import SvgCanvas
from workbench.pictures.timeline.hits import hit_at, messages_of, next_edge
from workbench.pictures.timeline.raster import bar_colours, column_table, columns, in_runs
from workbench.pictures.timeline.rows import Kind, build_rows
from workbench.pictures.timeline.scale import Span, exact_time, ruler, tick_step, zoomed
from workbench.session.plugins import Plugins
from workbench.session.results import OpenRun
from workbench.system import store
from workbench.testing.runs import synthetic_platform
from workbench.traces.calls import CELL_PX, calls_of_run
from workbench.traces.find import Occurrence, occurrence
from workbench.traces.sample import count_at_once, sample
from workbench.traces.scene import Scene, build_scene
from workbench.traces.trace import CATEGORIES, NOTHING

WAIT_SEND, WORK = CATEGORIES.index("wait_send"), CATEGORIES.index("work")


@pytest.fixture(scope="module")
def scene(six_cores: Run) -> Scene:
    made = build_scene(six_cores)
    assert made is not None
    return made


@pytest.fixture
def view(qtbot: QtBot, qapp: QApplication, scene: Scene) -> TimelineView:
    theme.apply_theme(qapp, "light")
    made = TimelineView()
    qtbot.addWidget(made)
    made.resize(1200, 560)
    made.set_scene(scene)
    made.show()
    qtbot.waitExposed(made)
    return made


# ---- rows, rulers, colours


def test_rows_put_the_host_above_and_fold_replicas(scene: Scene) -> None:
    rows = build_rows(scene.blocks, scene.index, with_calls=True)
    kinds = [row.kind for row in rows]
    assert kinds[:5] == [Kind.HEAD, Kind.CALLS, Kind.STATES, Kind.CLOCK, Kind.HEAD]
    stack = next(row for row in rows if row.kind is Kind.STACK)
    assert stack.label == "core × 6"
    assert len(stack.members) == 6
    folded = build_rows(scene.blocks, scene.index, with_calls=True, folded={stack.key})
    assert len(folded) == len(rows) - 6
    only = build_rows(scene.blocks, scene.index, with_calls=True, wanted="core[2]")
    assert [row.label for row in only if row.kind is Kind.STATES] == ["core[2]"]


@given(st.floats(10, 1e11))
def test_ticks_are_round_and_far_enough_apart(pixel_ps: float) -> None:
    step = tick_step(pixel_ps, 130)
    assert step >= pixel_ps * 130 * 0.999
    assert step <= pixel_ps * 130 * 10 + 1
    assert str(step).rstrip("0") in {"1", "2", "5"}
    marks = ruler(Span(3.2e13, pixel_ps, 1200))
    assert len(marks.ticks) <= 11
    assert len({text for _, text in marks.ticks}) == len(marks.ticks)


def test_zoom_keeps_the_time_under_the_pointer() -> None:
    span = Span(5e9, 1e6, 1000)
    near = zoomed(span, 0.5, 250, 10**11)
    assert near.time(250) == pytest.approx(span.time(250))
    assert exact_time(31_204_100_000_000, 1e9).startswith("31.204")


def test_waits_are_44_percent_high_and_patterns_start_at_three_pixels() -> None:
    colours = bar_colours(LIGHT)
    table = column_table(16, colours).reshape(16, 2, 2, NOTHING + 1, -1)
    solid = table[:, 0, 1]
    wait = (solid[:, WAIT_SEND, 0] == 0xFFD55E00).sum()
    assert round(wait / 16, 2) == pytest.approx(0.44, abs=0.03)
    assert (solid[:, WORK, 0] == 0xFF009E73).all()
    runs = in_runs(np.array([[3, 3, 4, 4, 4, 5]], np.uint8), 3)
    assert runs.tolist() == [[False, False, True, True, True, False]]


def test_dimmed_columns_are_paler() -> None:
    index = small_index([[(0, WORK)]], 1000)
    shown = sample(index, [0], 0, 10, 100)
    table = column_table(10, bar_colours(LIGHT))
    dim = np.arange(100) >= 50
    drawn = table[5, columns(shown, 0, dim)[0]]
    assert set(drawn[:50]) == {0xFF009E73}
    assert 0xFF009E73 not in set(drawn[50:])


# ---- calls and messages


def test_calls_are_grouped_by_site_and_counted(six_cores: Run) -> None:
    calls = calls_of_run(six_cores)[0]
    sites = six_cores.manifest.sites
    assert len(calls) == len(six_cores.tables["calls"]["t0_ps"])
    groups = len(calls.group_first) - 1
    assert groups == 4 * len(sites)  # each round calls each site once for every core
    every = np.zeros(len(sites))  # each site has room enough
    boxes = calls.boxes(0, six_cores.manifest.time_ps / 4000, 4000, every)
    assert [b.sites[0][0] for b in boxes[: len(sites)]] == [
        int(calls.site[calls.group_first[k]]) for k in range(len(sites))
    ]
    crowded = calls.boxes(0, six_cores.manifest.time_ps / 6, 6, every + 50)
    assert sum(count for box in crowded for _, count in box.sites) == len(calls)
    totals = calls.between(0, six_cores.manifest.time_ps)
    assert sum(count for _, count, _ in totals) == len(calls)
    assert sum(t for _, _, t in totals) == int((calls.t1_ps - calls.t0_ps).sum())


def test_calls_too_narrow_for_their_name_stand_together(six_cores: Run) -> None:
    calls, sites = calls_of_run(six_cores)[0], six_cores.manifest.sites
    canvas = SvgCanvas()
    least = np.array([canvas.width_of(site.label, 11, 500) + 8 for site in sites])
    for width in (300, 900, 3000, 20_000):
        boxes = calls.boxes(0, six_cores.manifest.time_ps / width, width, least)
        assert sum(count for box in boxes for _, count in box.sites) == len(calls)
        for one, two in pairwise(boxes):
            assert one.right <= two.left
        for box in boxes:
            assert box.right - box.left < 3 * CELL_PX or len(box.sites) == 1
        apart = calls.boxes(0, six_cores.manifest.time_ps / width, width, np.zeros(len(sites)))
        narrow = [len([b for b in some if b.right - b.left < least[b.sites[0][0]]]) for some in (boxes, apart)]
        assert narrow[0] * 4 <= narrow[1]
    assert {len(box.sites) for box in boxes} == {1}  # with room enough each site has a box of its own


def test_what_a_file_holds_is_what_is_shown(view: TimelineView, scene: Scene, tmp_path: Path) -> None:
    end = scene.index.end_ps
    view.set_marks([end * 0.25, end * 0.75])
    document = ET.fromstring(view.svg())
    words = [text.text for text in document.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Whole run", "core[2]", "A", "B", *(row.note for row in view.lines if row.note)} <= set(words)
    bars = list(document.iter("{http://www.w3.org/2000/svg}image"))
    png = QImage.fromData(QByteArray(b64decode(bars[-1].attrib["href"].partition(",")[2])))
    assert png.width() == 2 * round(view.lanes.width)
    assert {0xFF009E73, 0xFF0072B2} <= set(pixels_of(png).ravel().tolist())
    view.save_data(tmp_path / "timeline.csv")
    with (tmp_path / "timeline.csv").open(encoding="utf-8") as stream:
        found = list(csv.DictReader(stream))
    for number, block in enumerate(scene.blocks):
        mine = [row for row in found if row["block"] == block.id and row["kind"] == "state"]
        cut = [min(int(r["to_ps"]), round(end * 0.75)) - max(int(r["from_ps"]), round(end * 0.25)) for r in mine]
        times = scene.index.category_times_ps(number, round(end * 0.25), round(end * 0.75))
        assert sum(cut) == times.sum()
        work = sum(ps for ps, row in zip(cut, mine, strict=True) if row["category"] == "work")
        assert work == times[WORK]
    assert sum(row["kind"] == "call" for row in found) == len(scene.calls[0].under_way(end * 0.25, end * 0.75))


def test_stacks_counted_by_bins_are_what_their_rows_show(scene: Scene) -> None:
    rows = [n for n, block in enumerate(scene.blocks) if "core" in block.id]
    end = scene.index.end_ps
    for from_ps, pixel_ps in ((0, end / 400), (end / 3, end / 4000), (-end / 10, end / 300)):
        codes = sample(scene.index, rows, from_ps, pixel_ps, 400, coarse=True).code
        counted = count_at_once(scene.index, rows, WORK, from_ps, pixel_ps, 400)
        assert counted.tolist() == (codes == WORK).sum(axis=0).tolist()
        assert counted.max() > 0


def test_messages_lead_from_the_call_to_its_target(scene: Scene) -> None:
    rows = build_rows(scene.blocks, scene.index, with_calls=True)
    row = next(r for r in rows if r.kind is Kind.CALLS)
    calls = scene.calls[0]
    label = {n: s.label for n, s in enumerate(scene.run.manifest.sites)}
    start = next(n for n in range(len(calls)) if label[int(calls.site[n])] == "startCore")
    hit = hit_at(scene, row, float(calls.t0_ps[start]) + 1)
    assert hit is not None
    assert hit.lines[0] == "startCore, 1st of 6"
    found = messages_of(scene, hit)
    assert len(found) == 6
    assert all(source == 0 and arrived >= sent for source, sent, _, arrived in found)
    targets = {scene.blocks[target].id for _, _, target, _ in found}
    wanted = next(s for s in scene.blocks[0].states if s.index == hit.state).targets[0].split(".")[-1]
    assert all(wanted.split("[")[0] in target for target in targets)


def test_the_tooltip_never_covers_the_clock_lane() -> None:
    lane = Box(200, 180, 1000, 32)
    inside = Box(200, 0, 1000, 500)
    for x in range(210, 1190, 70):
        for y in range(100, 490, 10):
            box = place_tooltip((x, y), (230, 74), inside, lane)
            assert not box.overlaps(lane)
            assert inside.x <= box.x < box.right <= inside.right
            assert inside.y <= box.y < box.bottom <= inside.bottom


# ---- the widget


def test_bars_appear_in_their_colours_and_outside_the_range_pale(view: TimelineView, scene: Scene) -> None:
    for row, rect in view.shown().row_boxes():
        if row.kind is Kind.STATES:
            pixels = pixels_of(view.grab(QRect(0, round(rect.y), 1200, round(rect.height))).toImage())
            lane = pixels[round(rect.height / 2), round(view.lanes.x) :]
            shown = scene.index.totals_ps[row.block]
            if shown[WORK] > 0.03 * shown.sum():
                assert (lane == 0xFF009E73).any()
    end = scene.index.end_ps
    view.set_marks([end * 0.6, end * 0.4])
    assert view.shown().range_ps() == (round(end * 0.4), round(end * 0.6))
    main = view.shown().row_box(Kind.STATES)
    assert main is not None
    pixels = pixels_of(view.grab(QRect(0, round(main.y), 1200, round(main.height))).toImage())
    middle = pixels[11]
    left = round(view.lanes.x)
    assert 0xFF0072B2 in middle[left:]
    assert 0xFF0072B2 not in middle[left : left + int((1200 - left) * 0.39)]


def test_keys_zoom_pan_mark_and_fit(qtbot: QtBot, view: TimelineView, scene: Scene) -> None:
    whole = view.span
    qtbot.keyClick(view, Qt.Key.Key_W)
    assert view.span.pixel_ps < whole.pixel_ps
    at = view.span.from_ps
    qtbot.keyClick(view, Qt.Key.Key_D)
    assert view.span.from_ps > at
    qtbot.keyClick(view, Qt.Key.Key_A)
    assert view.span.from_ps == pytest.approx(at)
    with qtbot.waitSignal(view.marks_changed):
        qtbot.keyClick(view, Qt.Key.Key_M)
    assert len(view.marks) == 1
    view.pointer = QPointF(900, 300)
    qtbot.keyClick(view, Qt.Key.Key_M)
    assert len(view.marks) == 2
    with qtbot.waitSignal(view.range_wanted):
        qtbot.keyClick(view, Qt.Key.Key_R)
    qtbot.keyClick(view, Qt.Key.Key_F)
    assert view.span.pixel_ps * view.span.width >= scene.index.end_ps
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert view.marks == ()


def test_all_stays_in_view_when_the_view_grows_and_a_pixel_as_long(view: TimelineView, scene: Scene) -> None:
    end = scene.index.end_ps
    for width in (700, 1600, 1000):
        view.resize(width, 400)
        assert view.span.width == round(view.lanes.width)
        assert (view.span.from_ps, view.span.to_ps) == pytest.approx((0, end), abs=1)
    view.zoom(8)
    before = view.span
    for width in (700, 1600):
        view.resize(width, 400)
        assert view.span.pixel_ps == pytest.approx(before.pixel_ps)
        assert view.span.width == round(view.lanes.width)


def test_dragging_pans_and_dragging_the_ruler_sets_a_range(qtbot: QtBot, view: TimelineView) -> None:
    view.zoom(5)
    before = view.span.from_ps
    row = view.shown().row_box(Kind.STATES)
    assert row is not None
    y = round(row.centre[1])
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(700, y).toPoint())
    qtbot.mouseMove(view.viewport(), QPointF(600, y).toPoint())
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(600, y).toPoint())
    assert view.span.from_ps == pytest.approx(before + 100 * view.span.pixel_ps)
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(400, 80).toPoint())
    qtbot.mouseMove(view.viewport(), QPointF(500, 80).toPoint())
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(500, 80).toPoint())
    a, b = view.shown().range_ps()
    assert b - a == pytest.approx(100 * view.span.pixel_ps, rel=1e-6)


def test_a_click_chooses_and_tab_goes_to_the_next_edge(qtbot: QtBot, view: TimelineView, scene: Scene) -> None:
    row, rect = next((r, q) for r, q in view.shown().row_boxes() if r.label == "core[0]")
    calls_row, calls_rect = next((r, q) for r, q in view.shown().row_boxes() if r.kind is Kind.CALLS)
    assert calls_row.block == 0
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(500, calls_rect.centre[1]).toPoint())
    assert view.chosen is not None
    assert view.chosen.call >= 0
    assert view.chosen.line > 0
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(500, rect.centre[1]).toPoint())
    assert view.chosen is not None
    first = view.chosen
    assert (first.block, first.call) == (row.block, -1)
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    assert view.chosen is not None
    assert view.chosen.state == first.state
    assert view.chosen.from_ps == next_edge(scene, row.block, first.state, first.from_ps)
    with qtbot.waitSignal(view.line_wanted):
        qtbot.keyClick(view, Qt.Key.Key_Return)


def test_clicking_a_stack_folds_it(qtbot: QtBot, view: TimelineView) -> None:
    rows = len(view.lines)
    stack = next(rect for row, rect in view.shown().row_boxes() if row.kind is Kind.STACK)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(40, stack.centre[1]).toPoint())
    assert len(view.lines) == rows - 6


def test_a_thousand_repaints(view: TimelineView) -> None:
    """The binding once lost a reference to None in every void method, and aborted after some hundred frames."""
    for _ in range(500):
        view.pan(QPointF(-3, 0))
        view.viewport().repaint()
    for _ in range(500):
        view.zoom(1.01)
        view.viewport().repaint()
    assert view.frame_ms > 0


# ---- the mode


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
    qtbot.waitUntil(lambda: made.view.traced is not None, timeout=10_000)
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


def test_selection_goes_both_ways(qtbot: QtBot, mode: TimelineMode, six_cores: Run) -> None:
    mode.context.navigation.select(SelectedBlock("pdf2d_top.core[2].ctrl"))
    assert {six_cores.manifest.blocks[n].id for n in mode.view.chosen_blocks} == {"pdf2d_top.core[2].ctrl"}
    scene = mode.view.traced
    assert scene is not None
    row = next(r for r in mode.view.lines if r.kind is Kind.CALLS)
    mode.view.choose(hit_at(scene, row, float(scene.calls[0].t0_ps[0]) + 1))
    assert mode.context.navigation.selection == SelectedCall(int(scene.calls[0].site[0]))


def test_status_tells_the_frame_time(qtbot: QtBot, mode: TimelineMode) -> None:
    mode.view.zoom(2)
    qtbot.waitUntil(lambda: any(p.startswith("frame") for p in mode.status), timeout=3000)
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
    plain, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
    enter, again, n = Qt.Key.Key_Return, Qt.Key.Key_F3, Qt.Key.Key_N
    for key, modifier, at in (enter, plain, 0), (again, plain, 1), (again, shift, 0), (n, shift, -1):
        qtbot.keyClick(view if key is n else mode.finder, key, modifier)
        wanted = expected[at]
        qtbot.waitUntil(lambda: view.chosen is not None and (view.chosen.from_ps, view.chosen.block) == wanted)  # noqa: B023
        assert view.span.from_ps <= wanted[0] < view.span.to_ps
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

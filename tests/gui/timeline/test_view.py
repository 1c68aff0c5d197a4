"""What the timeline draws, exports, and does with keys and mouse."""

import csv
import xml.etree.ElementTree as ET
from base64 import b64decode
from pathlib import Path

import pytest
from pixels import pixels_of
from PySide6.QtCore import QByteArray, QPointF, QRect, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from workbench.gui.modes.timeline.view import TimelineView
from workbench.pictures.timeline.hits import next_edge
from workbench.pictures.timeline.rows import Kind
from workbench.session.program.keys import preference_of
from workbench.system.store import set_preference
from workbench.traces.scene import Scene
from workbench.traces.trace import CATEGORIES

WORK = CATEGORIES.index("work")


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


def test_a_key_of_the_view_is_the_one_that_was_set(qtbot: QtBot, view: TimelineView) -> None:
    set_preference(preference_of("view_in"), "E")
    whole = view.span
    qtbot.keyClick(view, Qt.Key.Key_W)
    assert view.span == whole
    qtbot.keyClick(view, Qt.Key.Key_E)
    assert view.span.pixel_ps < whole.pixel_ps
    assert "Show all\tF" in [action.text() for action in view.menu().actions()]


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


def test_hundreds_of_repaints(view: TimelineView) -> None:
    """The binding once lost a reference to None in every void method, and aborted after some hundred frames."""
    for _ in range(200):
        view.pan(QPointF(-3, 0))
        view.viewport().repaint()
    for _ in range(200):
        view.zoom(1.01)
        view.viewport().repaint()
    assert view.frame_ms > 0

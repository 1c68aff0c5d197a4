"""The critical path on the timeline: where its line goes, what waits answer, and where keys lead."""

from collections import Counter

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from workbench.gui.modes.timeline.view import TimelineView
from workbench.pictures.palette import LIGHT
from workbench.pictures.svg import SvgCanvas
from workbench.pictures.timeline.causes import with_cause
from workbench.pictures.timeline.hits import hit_at
from workbench.pictures.timeline.path import draw_path, slack_words
from workbench.pictures.timeline.rows import Kind
from workbench.traces.path import RunPath, Steps
from workbench.traces.scene import Scene

US = 1_000_000


@pytest.fixture
def view(qtbot: QtBot, scene: Scene, path: RunPath) -> TimelineView:
    made = TimelineView()
    qtbot.addWidget(made)
    made.resize(1200, 800)
    made.set_scene(scene)
    made.show_causes(path, line=True, waits=False)
    made.show()
    return made


def test_the_line_goes_along_the_rows_that_hold_the_run(view: TimelineView) -> None:
    view.show_range(0, 100 * US)
    shown = view.shown()
    canvas = SvgCanvas(LIGHT)
    draw_path(canvas, shown)
    drawn = canvas.document(1200, 800, "path")
    middles = [
        next(box.centre[1] for row, box in shown.row_boxes() if row.kind is Kind.STATES and row.block == block)
        for block in view.path.steps.block[:2].tolist()
    ]
    corners = [(shown.x(time), y) for time, y in ((40 * US, middles[0]), (40 * US, middles[1]), (70 * US, middles[1]))]
    for x, y in corners:
        assert f"{round(x)}.00,{round(y)}.00" in drawn


def test_rows_say_how_much_later_they_may_end(view: TimelineView, path: RunPath) -> None:
    core, other, last = sorted(path.parts)[1:]
    said = {row.block: slack_words(path, row) for row in view.lines if row.kind is Kind.STATES}
    assert said[0] == ("0", True)
    assert said[core][1]
    assert said[core][0].startswith("2")
    assert said[other] == (said[other][0], False)
    assert said[last] == ("any", False)


def test_a_wait_says_what_it_is_for(view: TimelineView, scene: Scene, path: RunPath) -> None:
    core = int(path.steps.block[1])
    calls = next(row for row in view.lines if row.kind is Kind.STATES and row.block == 0)
    working = next(row for row in view.lines if row.kind is Kind.STATES and row.block == core)

    def said(row, time_ps: int) -> str:
        return " / ".join(with_cause(scene, path, hit_at(scene, row, time_ps), time_ps).lines)

    name = working.label
    assert f"Waits for {name} / {name} was in" in said(calls, 60 * US)
    assert "Slack 2" in said(working, 50 * US)
    assert "Its data came at" in said(working, 39 * US)


def test_keys_lead_along_the_path(qtbot: QtBot, view: TimelineView, path: RunPath) -> None:
    core = int(path.steps.block[1])
    view.show_place(0, Kind.STATES, 60 * US)
    chosen = view.chosen
    assert chosen is not None
    qtbot.keyClick(view, Qt.Key.Key_G)
    if chosen.to_ps <= 72 * US:
        assert view.chosen.block == core
    view.show_place(core, Kind.STATES, 50 * US)
    qtbot.keyClick(view, Qt.Key.Key_G, Qt.KeyboardModifier.ShiftModifier)
    assert view.chosen.block == 0
    view.choose(None)
    view.show_range(0, 30 * US)
    qtbot.keyClick(view, Qt.Key.Key_P)
    assert view.chosen.block == core


def test_the_path_is_shared_out_by_group_state_and_call() -> None:
    numbers = np.random.default_rng(1).integers
    edges = np.cumsum(numbers(1, 9, 301))
    steps = Steps(numbers(0, 4, 300), numbers(0, 3, 300), numbers(-1, 3, 300), np.zeros(300, bool),
                  edges[:-1], edges[1:])  # fmt: skip
    spent: Counter[tuple[int, int, int]] = Counter()
    for block, state, site, lasts in zip(steps.block, steps.state, steps.site, np.diff(edges), strict=True):
        spent[2 if block == 3 else int(block), int(state), int(site)] += int(lasts)
    shares = steps.shares(("", "", "core", "core"))
    assert {share[:3]: share.time_ps for share in shares} == spent
    assert sum(share.part for share in shares) == pytest.approx(1)
    assert [share.time_ps for share in shares] == sorted(spent.values(), reverse=True)

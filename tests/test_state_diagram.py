"""The states of a block as a Markov model: probabilities, places, and the picture in window, report and command."""

import math
from itertools import pairwise
from pathlib import Path

import pytest
from driven.texts import clipped
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from workbench.analysis import Analysis, analyse
from workbench.analysis.html_report import html_report
from workbench.api.results import BlockMetrics, StateMetrics, Transition
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.gui.modes.analyse.states_panel import StatesPanel
from workbench.model.blocks import Block, Side, State
from workbench.model.run import Run
from workbench.pictures.state_diagram import StateDiagram, state_diagram, states_svg
from workbench.session.keep.results import open_knowledge
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run


@pytest.fixture(scope="module")
def run() -> Run:
    return synthetic_run(cores=4, rounds=3)


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run, synthetic_platform(), open_knowledge(load_plugins())[0])


def made_of(counts: dict[tuple[int, int], int], states: int) -> BlockMetrics:
    """A block of so many states beside `unclassified`, each visited as often as it was entered."""
    named = tuple(State(index, f"s{index}", None) for index in range(states + 1))
    visits = [sum(count for (_, b), count in counts.items() if b == index) for index in range(states + 1)]
    metrics = tuple(
        StateMetrics(state, visit * 1e-6, 1 / (states + 1), visit * 10, visit)
        for state, visit in zip(named, visits, strict=True)
    )
    steps = tuple(Transition(a, b, count) for (a, b), count in counts.items())
    block = Block("top.fsm", Side.FPGA, "top", "always", "top.fsm", named)
    return BlockMetrics(0, block, 1e-3, 1000, metrics, steps)


def drawn(counts: dict[tuple[int, int], int], states: int) -> StateDiagram:
    diagram = state_diagram("top.fsm", [made_of(counts, states)])
    assert diagram is not None
    return diagram


def test_probabilities_are_those_of_the_steps_out_of_a_state() -> None:
    diagram = drawn({(1, 2): 30, (1, 3): 10, (2, 1): 30, (3, 1): 9, (3, 2): 1}, 3)
    names = [state.name for state in diagram.states]
    found = {(names[s.source], names[s.target]): (s.count, s.probability) for s in diagram.steps}
    assert found == {
        ("s1", "s2"): (30, 0.75), ("s1", "s3"): (10, 0.25), ("s2", "s1"): (30, 1.0), ("s3", "s1"): (9, 0.9),
        ("s3", "s2"): (1, 0.1),
    }  # fmt: skip
    assert {s.name: (s.visits, s.each) for s in diagram.states}["s2"] == (31, "10 cycles")
    assert not diagram.has_hub


def test_replicas_are_counted_together(analysis: Analysis) -> None:
    (group,) = (g for g in analysis.groups() if len(g.members) == 4)
    diagram = state_diagram(group.group, group.members)
    assert diagram is not None
    for state in diagram.states:
        assert state.visits == sum(m.states[state.index].visits for m in group.members)
        assert state.share == pytest.approx(sum(m.states[state.index].share for m in group.members) / 4)
    for state in range(len(diagram.states)):
        out = [s.probability for s in diagram.steps if s.source == state]
        assert not out or sum(out) == pytest.approx(1)


def test_a_state_through_which_all_others_go_is_in_the_middle() -> None:
    diagram = drawn({pair: 5 for other in (1, 2, 4, 5) for pair in ((3, other), (other, 3))}, 5)
    assert diagram.has_hub
    assert diagram.states[0].name == "s3"
    middle, *others = [box.centre for box in diagram.boxes]
    assert middle == pytest.approx((sum(x for x, _ in others) / 4, sum(y for _, y in others) / 4))


def test_of_very_many_states_those_with_the_most_time_are_drawn() -> None:
    diagram = drawn({(n, n % 40 + 1): n for n in range(1, 41)}, 40)
    assert (len(diagram.states), diagram.left_out) == (16, 24)
    assert "24 rare states left out" in diagram.note


def test_without_a_change_of_state_there_is_no_diagram() -> None:
    assert state_diagram("top.fsm", [made_of({}, 2)]) is None
    assert state_diagram("top.none", []) is None


@given(st.dictionaries(st.tuples(st.integers(1, 12), st.integers(1, 12)).filter(lambda p: p[0] != p[1]),
                       st.integers(1, 10**9), min_size=1))  # fmt: skip
def test_no_state_is_over_another_and_steps_lead_from_border_to_border(
    counts: dict[tuple[int, int], int],
) -> None:
    diagram = drawn(counts, 12)
    boxes = diagram.boxes
    assert not [(a, b) for n, a in enumerate(boxes) for b in boxes[:n] if a.overlaps(b)]
    for step, points in diagram.curves:
        source, target = boxes[step.source], boxes[step.target]
        assert source.holds(points[0])
        assert target.holds(points[-1])
        assert not [point for point in points[1:-1] if source.holds(point) or target.holds(point)]
        assert all(math.dist(a, b) < 20 for a, b in pairwise(points))
    assert all(f">{state.name}<" in states_svg(diagram) for state in diagram.states)


def test_the_report_draws_each_block_and_the_command_the_one_that_is_named(
    run: Run, analysis: Analysis, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = html_report(run, analysis, synthetic_platform())
    assert page.count('aria-label="States of ') == sum(bool(g.members[0].transitions) for g in analysis.groups())
    RunWriter(tmp_path / "run", run.manifest).finish(run.manifest, run.tables)
    words = ["report", str(tmp_path / "run"), "--predict", "0", "--svg", str(tmp_path / "s.svg"), "--states"]
    assert main([*words, "host.main"]) == 0
    assert 'aria-label="States of host.main"' in (tmp_path / "s.svg").read_text()
    capsys.readouterr()
    assert main([*words, "host.mein"]) == 2
    said = capsys.readouterr().err
    assert "no state changes were counted for a block 'host.mein'" in said
    assert "host.main" in said


def test_states_are_gone_through_by_keys_and_clicked(qtbot: QtBot, qapp: object, analysis: Analysis) -> None:
    panel = StatesPanel()
    qtbot.addWidget(panel)
    panel.resize(900, 400)
    panel.show()
    assert panel.show_block("host.main", analysis.members("host.main"))
    view, diagram = panel.view, panel.view.diagram
    assert diagram is not None
    with qtbot.waitSignal(view.chosen) as chosen:
        QTest.keyClick(view, Qt.Key.Key_Right)
    assert chosen.args == [diagram.states[0].index]
    view.set_current(diagram.states[0].index)
    with qtbot.waitSignal(view.opened) as opened:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert opened.args == chosen.args
    with qtbot.waitSignal(view.blocks_wanted):
        QTest.keyClick(view, Qt.Key.Key_Escape)
    (x0, x1), (y0, y1) = view.box.viewRange()
    for state, box in zip(diagram.states, diagram.boxes, strict=True):
        x, y = box.centre
        at = QPointF((x - x0) / (x1 - x0) * view.width(), (y - y0) / (y1 - y0) * view.height())
        assert view.state_at(at) is state
        with qtbot.waitSignal(view.chosen) as clicked:
            QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
        assert clicked.args == [state.index]
    assert next(iter(view.rows() or ())) == ("from", "to", "count", "probability")
    assert not panel.show_block("host.mein", [])


def test_its_texts_can_be_read_however_small_it_is_shown(qtbot: QtBot, analysis: Analysis) -> None:
    """None smaller than 11 px, none across another: what has no room is left out."""
    panel = StatesPanel()
    qtbot.addWidget(panel)
    for size in ((1000, 700), (640, 290), (420, 220)):
        panel.resize(*size)
        panel.show()
        assert panel.show_block("host.main", analysis.members("host.main"))
        assert clipped(panel) == [], size

"""Compare mode: two runs, one figure, changes, findings, rounds on one scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.analysis import analyse
from workbench.gui import theme
from workbench.gui.compare.findings import HEAD_PX, ROW_PX, rows_of
from workbench.gui.compare.mode import CompareMode
from workbench.gui.compare.rows import by_change, middle_round, shortest_period
from workbench.gui.compare.table import change_text
from workbench.gui.context import Context
from workbench.gui.selection import SelectedFinding
from workbench.gui.timeline.look import pixels_of
from workbench.gui.timeline.scene import build_scene
from workbench.model.run import Run
from workbench.session.plugins import Plugins, load_plugins
from workbench.session.results import OpenRun, open_knowledge
from workbench.testing.runs import synthetic_platform, synthetic_run, without_tables


def opened(run: Run) -> OpenRun:
    platform = synthetic_platform()
    knowledge, _ = open_knowledge(load_plugins())
    return OpenRun(run, analyse(run, platform, knowledge), platform, knowledge, ())


@pytest.fixture(scope="module")
def original() -> OpenRun:
    return opened(synthetic_run(cores=5, rounds=12))


@pytest.fixture(scope="module")
def optimised() -> OpenRun:
    return opened(synthetic_run(cores=5, rounds=12, form="optimised"))


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, original: OpenRun, optimised: OpenRun) -> CompareMode:
    theme.apply_theme(qapp, "light")
    context = Context(Plugins(()))
    context.set_run(optimised)
    made = CompareMode(context)
    qtbot.addWidget(made)
    made.resize(1536, 930)
    made.show()
    made.set_other(original)
    qtbot.waitUntil(lambda: len(made.rounds.pair) == 2, timeout=10_000)
    return made


def test_the_figure_is_the_ratio_of_the_times(mode: CompareMode, original: OpenRun, optimised: OpenRun) -> None:
    ratio = original.run.time_s / optimised.run.time_s
    assert mode.head.verdict.text() == "B is faster"
    assert mode.head.figure.text() == f"{ratio:.2f}×"
    mode.head.swapped.emit()
    assert mode.head.verdict.text() == "B is slower"
    assert mode.head.figure.text() == f"{ratio:.2f}×"
    assert mode.pair() == (optimised, original)


def test_changes_add_up_to_the_difference(mode: CompareMode, original: OpenRun, optimised: OpenRun) -> None:
    change = optimised.run.time_s - original.run.time_s
    mode.table_pills["call"].click()
    assert sum(r.change_s for r in mode.table.rows) == pytest.approx(change, rel=0.02)
    assert mode.table.rows == by_change(mode.table.rows)
    gone = next(r for r in mode.table.rows if r.name == "clearBins")
    assert gone.count_b is None
    assert gone.time_b is None
    mode.table_pills["state"].click()
    assert sum(r.change_s for r in mode.table.rows) == pytest.approx(change, rel=0.02)
    mode.table_pills["block"].click()
    assert {"host main", "core[*].ctrl"} <= {r.name for r in mode.table.rows}
    assert not mode.table.summed
    assert change_text(-1.5) == "−1.50\u202fs"
    assert mode.table.as_text().splitlines()[0].startswith("Block\tNumber A")


def test_findings_gone_kept_new(qtbot: QtBot, mode: CompareMode) -> None:
    comparison = mode.comparison
    assert comparison is not None
    counts = {kind: len(rows_of(comparison, kind)) for kind in ("gone", "kept", "new")}
    assert mode.finding_pills["all"].text() == f"All {sum(counts.values())}"
    assert counts["gone"] > 0
    mode.finding_pills["kept"].click()
    rows = rows_of(comparison, "kept")
    assert mode.findings.minimumHeight() >= HEAD_PX + ROW_PX * len(rows)
    qtbot.mouseClick(mode.findings, Qt.MouseButton.LeftButton, pos=QPoint(200, HEAD_PX + 5))
    found = rows[0][1]
    assert found is not None
    assert mode.context.selection == SelectedFinding(found.id)
    assert mode.context.mode == "analyse"


def test_rounds_share_one_scale(mode: CompareMode, original: OpenRun) -> None:
    (_, _, turn_a), (_, _, turn_b) = mode.rounds.pair
    assert turn_a.rounds == 12
    assert turn_a.first_call == "clearBins"
    assert turn_a.span_ps == pytest.approx(original.run.manifest.time_ps / 12, rel=0.1)
    assert mode.rounds._pixel_ps(turn_a.span_ps) == mode.rounds._pixel_ps(turn_b.span_ps)
    pixels = pixels_of(mode.rounds.grab().toImage())
    assert (pixels == 0xFF009E73).any()
    assert (pixels == 0xFF0072B2).any()
    mode.scale_pill.click()
    assert mode.rounds._pixel_ps(turn_a.span_ps) != mode.rounds._pixel_ps(turn_b.span_ps)


def test_periods_of_call_sequences() -> None:
    assert shortest_period(np.array([0, 1, 2] * 9)) == 3
    assert shortest_period(np.array([5, *[0, 1] * 20, 7])) == 2
    assert shortest_period(np.arange(40)) == 0
    whole = build_scene(without_tables(synthetic_run(cores=2, rounds=2), "calls"))
    assert whole is not None
    assert middle_round(whole).rounds == 1


def test_a_profile_says_which_run_has_no_trace(mode: CompareMode, original: OpenRun) -> None:
    profile = without_tables(original.run, "intervals", "interval_offsets")
    mode.set_other(replace(original, run=profile))
    assert mode.no_rounds.title.text() == "A has no trace"
    assert mode.no_rounds.isVisible()


def test_empty_states(mode: CompareMode) -> None:
    mode.other = None
    mode._write()
    assert mode.empty.isVisible()
    assert mode.empty.button.text() == "Open a run folder…"
    mode.context.set_run(None)
    assert mode.empty.title.text() == "No run is open"
    assert not mode.empty.button.isVisible()

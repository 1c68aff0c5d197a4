"""Compare mode: two runs, one figure, changes, findings, the same work of both on one scale."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pixels import pixels_of, rgb
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from small_runs import without_tables

from workbench.analysis import analyse
from workbench.gui.frame.context import Context
from workbench.gui.frame.focus import home_of
from workbench.gui.frame.selection import SelectedFinding
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.compare.findings import Pair, rows_of
from workbench.gui.modes.compare.head import run_notes
from workbench.gui.modes.compare.mode import FOOT_PX, CompareMode
from workbench.gui.modes.compare.rows import by_change
from workbench.gui.modes.compare.table import change_text
from workbench.gui.widgets import Stack, label, plain_column
from workbench.model.pragma import Category
from workbench.model.run import Manifest, Run, RunStatus
from workbench.pictures.rounds import ROW_PX, WHOLE, Round, Rounds
from workbench.session.keep.results import OpenRun, open_knowledge
from workbench.session.program.plugins import Plugins, load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run
from workbench.traces.scene import build_scene
from workbench.traces.trace import CATEGORIES


def opened(run: Run) -> OpenRun:
    platform = synthetic_platform()
    knowledge, _ = open_knowledge(load_plugins())
    return OpenRun(run, analyse(run, platform, knowledge), platform, knowledge, ())


@pytest.fixture(scope="module")
def original() -> OpenRun:
    return opened(synthetic_run(cores=5, rounds=60))


@pytest.fixture(scope="module")
def optimised() -> OpenRun:
    return opened(synthetic_run(cores=5, rounds=60, form="optimised"))


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, original: OpenRun, optimised: OpenRun) -> CompareMode:
    theme.apply_theme(qapp, "light")
    context = Context(Plugins(()))
    context.set_run(optimised)
    made = CompareMode(context, MODES["compare"])
    for _ in made.build():
        pass
    qtbot.addWidget(made)
    made.resize(1536, 930)
    made.show()
    made.other.show(original)
    qtbot.waitUntil(lambda: len(made.below.equal_work.rounds.rounds.runs) == 2, timeout=10_000)
    return made


def test_the_figure_is_the_ratio_of_the_times(mode: CompareMode, original: OpenRun, optimised: OpenRun) -> None:
    ratio = original.run.time_s / optimised.run.time_s
    assert mode.head.verdict.text() == "B is faster"
    assert mode.head.figure.text() == f"{ratio:.2f}×"
    mode.head.swapped.emit()
    assert mode.head.verdict.text() == "B is slower"
    assert mode.head.figure.text() == f"{ratio:.2f}×"
    assert mode.pair() == (optimised, original)
    mode.history.undo()
    assert mode.pair() == (original, optimised)


def test_changes_add_up_to_the_difference(mode: CompareMode, original: OpenRun, optimised: OpenRun) -> None:
    change = optimised.run.time_s - original.run.time_s
    mode.table_pills["call"].click()
    assert sum(r.change_s for r in mode.table.rows.tops) == pytest.approx(change, rel=0.02)
    assert tuple(mode.table.rows.tops) == by_change(mode.table.rows.tops)
    gone = next(r for r in mode.table.rows.tops if r.name == "clearBins")
    assert gone.count_b is None
    assert gone.time_b is None
    total = sum(row.change_s for row in mode.table.rows.tops)
    assert mode.sum.text() == f"Sum {change_text(total)}"
    mode.table_pills["state"].click()
    assert sum(r.change_s for r in mode.table.rows.tops) == pytest.approx(change, rel=0.02)
    mode.table_pills["block"].click()
    assert {"host main", "core[*].ctrl"} <= {r.name for r in mode.table.rows.tops}
    assert mode.sum.text() == ""
    assert change_text(-1.5) == "−1.50\u202fs"
    assert mode.table.as_text().splitlines()[0].startswith("Block\tCount A")


def test_the_line_that_causes_the_difference_opens_by_a_click(qtbot: QtBot, mode: CompareMode) -> None:
    qtbot.waitUntil(lambda: mode.cause.isVisible(), timeout=10_000)
    cause = mode.cause.cause
    assert cause is not None
    assert mode.cause.what.text().startswith(f"{cause.line.name} takes ")
    assert mode.head.first.isVisible()
    assert mode.cause.what.text().startswith(f"{mode.head.first.text()};")
    link = mode.cause.links.itemAt(0).widget()
    place = cause.places[0]
    assert link.text() == f"{place.file}:{place.line}"
    with qtbot.waitSignal(mode.context.navigation.line_wanted) as opened_line:
        qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert opened_line.args[:2] == [place.file, place.line]


def test_a_row_shows_its_lines_and_opens_them(qtbot: QtBot, mode: CompareMode) -> None:
    qtbot.waitUntil(lambda: mode.cause.isVisible(), timeout=10_000)
    table = mode.table
    for name in ("call", "state"):
        mode.table_pills[name].click()
        row = next(r for r in table.rows.tops if r.line and r.line.places and r.line != mode.cause.cause.line)
        index = table.rows.index_where(lambda one, row=row: one is row)
        table.scrollTo(index)
        at = table.visualRect(index).center()
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert mode.cause.what.text().startswith(row.name if name == "call" else f"{row.name} of host main")
        place = row.line.places[0]
        with qtbot.waitSignal(mode.context.navigation.line_wanted) as opened_line:
            qtbot.keyClick(table, Qt.Key.Key_Return)
        assert opened_line.args[:2] == [place.file, place.line]


def test_runs_of_the_same_time_have_no_cause(qtbot: QtBot, mode: CompareMode, optimised: OpenRun) -> None:
    manifest = replace(optimised.run.manifest, time_ps=optimised.run.manifest.time_ps + 1000, created="1999")
    mode.other.show(opened(replace(optimised.run, manifest=manifest)))
    assert mode.head.verdict.text() == "Both take the same time"
    qtbot.waitUntil(lambda: not mode.context.background.busy, timeout=10_000)
    assert not mode.cause.isVisible()
    assert mode.table_head.title.text() == "Changes"


def test_findings_gone_kept_new(qtbot: QtBot, mode: CompareMode) -> None:
    comparison = mode.comparison
    assert comparison is not None
    counts = {kind: len(rows_of(comparison, kind)) for kind in ("gone", "kept", "new")}
    assert mode.finding_pills["all"].text() == f"All {sum(counts.values())}"
    assert counts["gone"] > 0
    mode.finding_pills["kept"].click()
    rows = rows_of(comparison, "kept")
    (section,), (shown,) = mode.findings.rows.tops, mode.findings.rows.parts
    assert (section.title, tuple(shown)) == ("Kept", rows)
    first = mode.findings.rows.index_where(lambda row: row == rows[0])
    at = mode.findings.visualRect(first).center()
    qtbot.mouseClick(mode.findings.viewport(), Qt.MouseButton.LeftButton, pos=at)
    found = rows[0].b
    assert found is not None
    assert mode.context.navigation.selection == SelectedFinding(found.id)
    assert mode.context.navigation.mode == "analyse"


@pytest.mark.parametrize("exchanged", [False, True])
def test_findings_are_walked_by_keys_and_enter_shows_the_open_runs(
    qtbot: QtBot, mode: CompareMode, exchanged: bool
) -> None:
    """Arrows stay in the table, and what is selected elsewhere, as by F8, is its row."""
    navigation, lines = mode.context.navigation, mode.findings
    if exchanged:
        mode.head.swapped.emit()
    navigation.set_mode("compare")
    analysis = mode.context.analysis
    assert analysis is not None
    mine = {finding.id for finding in analysis.findings}
    lines.setFocus()
    seen = []
    for _ in range(8):
        qtbot.keyClick(lines, Qt.Key.Key_Down)
        seen.append(lines.current)
    assert navigation.mode == "compare"
    pairs = [row for row in seen if isinstance(row, Pair) and (row.a if exchanged else row.b)]
    lines.choose(lambda row: row is pairs[0])
    qtbot.keyClick(lines, Qt.Key.Key_Return)
    selected = navigation.selection
    assert isinstance(selected, SelectedFinding)
    assert selected.finding in mine
    assert navigation.mode == "analyse"
    for finding in (f for f in analysis.findings if not f.part_of):
        navigation.select(SelectedFinding(finding.id))
        assert (lines.current.a if exchanged else lines.current.b).id == finding.id


def test_equal_work_stands_on_one_scale(
    mode: CompareMode, original: OpenRun, optimised: OpenRun, tmp_path: Path
) -> None:
    """60 rounds of the original move the samples that the optimised form moves in 4, the first 3 of them 16 each."""
    assert mode.comparison is not None
    equal = mode.comparison.equal
    assert equal is not None
    assert (equal.a.turns, equal.a.of_turns, equal.b.turns, equal.b.of_turns) == (16, 60, 1, 4)
    view = mode.below.equal_work.rounds
    part_a, part_b = view.rounds.runs
    assert (part_a.span_ps, part_b.span_ps) == (equal.a.span_ps, equal.b.span_ps)
    assert part_a.span_ps == pytest.approx(original.run.manifest.time_ps * 16 / 60, rel=0.1)
    assert part_b.span_ps == pytest.approx(optimised.run.manifest.time_ps * 16 / 60, rel=0.1)
    assert mode.below.equal_work.head.title.text() == "Equal work"
    assert "A 16 of 60 rounds" in mode.below.equal_work.head.subtitle.text()
    assert "Same calls in each: writeSamples. This is 1 of 4 equal parts" in mode.below.equal_work.head.subtitle.text()
    assert view.rounds.unit_ps(0) == view.rounds.unit_ps(1) == part_a.span_ps
    pixels = pixels_of(mode.below.equal_work.rounds.grab().toImage())
    assert (pixels == 0xFF009E73).any()
    assert (pixels == 0xFF0072B2).any()
    box, work = view.lanes(), rgb(theme.state_colour(Category.WORK))
    end = round(box.x + box.width * part_b.span_ps / part_a.span_ps / WHOLE[1])
    of_b = pixels[round(box.bottom) - ROW_PX * 2 :]
    assert (of_b[:, : end - 2] == work).any()
    assert not (of_b[:, end + 3 :] == work).any()  # it ends where its time does
    for name in ("equal.svg", "equal.csv"):
        view.save_data(tmp_path / name) if name.endswith("csv") else view.save_picture(tmp_path / name)
    assert "times shorter" in (tmp_path / "equal.svg").read_text()
    with (tmp_path / "equal.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["run"] for row in rows} == {"A", "B"}
    assert all(int(row["to_ps"]) > part_b.from_ps for row in rows if row["run"] == "B")
    mode.below.equal_work.scale_pill.click()
    assert view.rounds.unit_ps(1) == part_b.span_ps


def test_the_head_says_what_differs_of_the_work(mode: CompareMode, original: OpenRun) -> None:
    assert mode.head.work.text().startswith("Same work; clearBins in A only (300 calls, 600\u202fKiB); ")
    assert "writeSamples 300 calls in A, 20 calls in B" in mode.head.work.text()
    mode.context.set_run(original)
    mode.other.show(replace(original))
    assert mode.head.work.text() == "The same work: settings, blocks, calls and bytes"


def test_outputs_that_differ_stand_beside_the_speedup(mode: CompareMode, original: OpenRun, optimised: OpenRun) -> None:
    def with_output(opened: OpenRun, sha256: str) -> OpenRun:
        manifest = replace(opened.run.manifest, stdout_sha256=sha256)
        return replace(opened, run=replace(opened.run, manifest=manifest))

    mode.context.set_run(with_output(optimised, "ab"))
    for sha256, words in (
        ("ab", "Same output, bit for bit"),
        ("cd", "Their outputs differ"),
        ("", "Their outputs are unknown"),
    ):
        mode.other.show(with_output(original, sha256))
        assert mode.head.output.text() == words
        assert mode.head.output.isVisible()
        proud = theme.palette().accent in mode.head.figure.styleSheet()
        assert proud == (sha256 != "cd")


def test_a_failed_run_has_no_speedup(mode: CompareMode, original: OpenRun) -> None:
    failed = replace(original.run, manifest=replace(original.run.manifest, status=RunStatus.FAILED))
    mode.other.show(replace(original, run=failed))
    assert mode.head.figure.text() == "–"
    assert "did not finish" in mode.head.verdict.text()


def test_what_tells_runs_apart_comes_first() -> None:
    def manifest(**changes: object) -> Manifest:
        return replace(
            synthetic_run(cores=2, rounds=2).manifest, name="2-D PDF", settings={"BINS": 8, "CORES": 20}, **changes
        )

    same, fewer = manifest(), replace(manifest(), settings={"BINS": 8, "CORES": 5})
    assert run_notes(same, fewer)[0][:2] == ("CORES 20", "2-D PDF")
    assert run_notes(same, fewer)[1][:2] == ("CORES 5", "2-D PDF")
    before, after = (replace(same, sources={"host/main.c": text}, created=f"2027-01-0{text}") for text in "12")
    assert run_notes(before, after)[1][0] == "main.c changed"
    assert "main.c changed" not in run_notes(before, after)[0]
    other = manifest(created="2027-01-01T10:00:00")
    assert run_notes(same, other)[1][0] == "2027-01-01 10:00"


def test_a_profile_says_which_run_has_no_trace(mode: CompareMode, original: OpenRun) -> None:
    profile = without_tables(original.run, "intervals", "interval_offsets")
    mode.other.show(replace(original, run=profile))
    assert mode.below.equal_work.nothing.title.text() == "A has no trace"
    assert mode.below.equal_work.nothing.isVisible()


def test_empty_states(mode: CompareMode) -> None:
    mode.other.opened = None
    mode._write()
    assert mode.empty.isVisible()
    assert mode.empty.button.text() == "Open a run folder…"
    mode.context.set_run(None)
    assert mode.empty.title.text() == "No run is open"
    assert not mode.empty.button.isVisible()


def test_a_small_window_shows_the_panels_that_fit_and_leads_to_the_others(mode: CompareMode) -> None:
    table, findings, below = mode.tables, mode.findings, mode.below

    def shown() -> list[bool]:
        return [one.isVisible() for one in (table, findings, below)]

    assert shown() == [True, True, True]
    mode.resize(735, 632)
    assert shown() == [True, False, True]
    assert mode.minimumSizeHint().width() <= 735
    mode.fitting.turn("Findings")
    assert shown() == [False, True, True]
    mode.resize(735, 432)
    assert shown() == [False, True, False]
    assert mode.minimumSizeHint().height() <= 432
    mode.fitting.turn("Runs")
    assert shown() == [False, False, True]
    links = [other for other, link, head in mode.fitting.links if link.isVisible() and head is below.equal_work.head]
    assert links == ["Changes", "Findings"]
    mode.fitting.turn("Changes")
    assert shown() == [True, False, False]
    mode.resize(1536, 930)
    assert shown() == [True, True, True]


def test_rows_of_the_table_are_never_cut_off_below(mode: CompareMode) -> None:
    for height in range(700, 760, 7):
        mode.resize(1536, height)
        inside = mode.table.viewport().height()
        rows = len(mode.table.rows.tops)
        assert inside % mode.table.row_px == 0 or inside >= rows * mode.table.row_px


def test_equal_work_fills_the_room_with_replicas_and_higher_rows(mode: CompareMode) -> None:
    view = mode.below.equal_work.rounds
    mode.resize(1536, 800)
    low, few = view.rounds.row_px, sum(map(len, view.rounds.rows))
    assert low == ROW_PX
    mode.resize(1536, 1150)
    assert view.rounds.row_px > low
    assert sum(map(len, view.rounds.rows)) >= few
    assert 0.9 * (mode.below.height() - 40) < view.height() <= mode.below.height() - 40


def test_f6_goes_to_the_tables_that_are_shown(mode: CompareMode) -> None:
    changes, findings, _ = mode.panels
    assert home_of(changes) is mode.table
    assert home_of(findings) is mode.findings
    mode.resize(735, 432)
    assert [panel.isVisible() for panel in mode.panels] == [True, False, False]


def test_a_stack_is_as_high_as_the_page_shown(qtbot: QtBot) -> None:
    """Else a mode is scrolled since another one, out of sight, is higher at this width."""
    stack, low, high = Stack(), QWidget(), QWidget()
    qtbot.addWidget(stack)
    for page, words in ((low, "a"), (high, "a " * 2000)):
        plain_column(page, label(words, wrap=True))
        stack.addWidget(page)
    assert stack.heightForWidth(300) == low.heightForWidth(300)
    stack.setCurrentWidget(high)
    assert stack.heightForWidth(300) == high.heightForWidth(300) > low.heightForWidth(300)


def test_a_large_window_gives_the_timelines_what_the_tables_do_not_need(mode: CompareMode, qapp: QApplication) -> None:
    mode.resize(2500, 1350)
    qapp.processEvents()
    tables, lower = mode.fitting.sizes()
    most = mode.table_head.height() + mode.table.whole_px + FOOT_PX
    assert tables <= max(most, mode.findings_head.height() + mode.findings.whole_px) < lower
    view = mode.below.equal_work.rounds
    assert view.rounds.row_px > 36
    assert lower - mode.below.equal_work.head.height() - 80 < view.height() <= lower


def test_a_narrow_head_names_whole_differences_alone(mode: CompareMode) -> None:
    work = mode.head.work
    for wide in range(150, 700, 25):
        work.resize(wide, work.height())
        parts = work.shown().split("; ")
        assert parts[0] == "Same work"
        assert all(part in work.text().split("; ") for part in parts[:-1])
        assert parts[-1].endswith(" more")


def test_timelines_of_a_part_show_the_replicas_that_work_in_it(original: OpenRun) -> None:
    scene = build_scene(original.run)
    assert scene is not None
    waits, found = [CATEGORIES.index(name) for name in ("unclassified", "wait_send", "wait_recv")], set[int]()
    for from_ps in range(60_000_000, 200_000_000, 5_000_000):
        part = Round("A", scene, from_ps, 5_000_000)
        works = {
            scene.names[row]
            for row, block in enumerate(scene.blocks)
            if ".core" in block.id
            and np.delete(scene.index.category_times_ps(row, from_ps, from_ps + part.span_ps), waits).any()
        }
        first, second = Rounds((part, Round("B", scene, from_ps, 1))).rows
        assert {row.label for row in first[1:]} == (works or {f"core[{n}]" for n in range(5)})
        assert [row.label for row in first] == [row.label for row in second], "the same blocks of both runs"
        found.add(len(works))
    assert found & {1, 2, 3, 4}

"""Analyse mode: findings, block graph and details, clicked through; the curve and the words."""

import csv
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from pixels import pixels_of, rgb
from pointer import hover
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QPainter, QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel
from pytestqt.qtbot import QtBot

from workbench.analysis import Analysis, analyse
from workbench.analysis.finding_page import bar_span
from workbench.analysis.finding_words import bound_words, where_words
from workbench.analysis.path_page import path_page
from workbench.api import views
from workbench.api.results import WhatIf
from workbench.api.tables import table_of
from workbench.api.views import Table
from workbench.gui.frame.context import Context
from workbench.gui.frame.selection import SelectedBlock, SelectedCall, SelectedFinding
from workbench.gui.look import theme
from workbench.gui.modes import MODES
from workbench.gui.modes.analyse.findings import BAR, LEAST_BAR_PX, NUMBER, TIME, TITLE
from workbench.gui.modes.analyse.mode import AnalyseMode
from workbench.gui.views.canvas import QtCanvas
from workbench.gui.views.page_view import Fold, PageBody, ScaleBar
from workbench.gui.widgets import Button
from workbench.gui.widgets.table_view import TableView
from workbench.model.finding import Finding, tops
from workbench.model.memory import MemoryPort
from workbench.model.prediction import CriticalPath, PathLine, PathMove, PathPart, PathWait, Slack
from workbench.model.run import Run, RunStatus
from workbench.model.text import at_most_text, time_text
from workbench.pictures.bars import ROW_PX, place_of
from workbench.pictures.graph import badge_box, draw_graph, node_facts
from workbench.pictures.signs import axis_x
from workbench.pictures.state_diagram import state_words
from workbench.pictures.svg import SvgCanvas
from workbench.session.keep.results import OpenRun, open_knowledge
from workbench.session.program.plugins import Plugins, load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run


@pytest.fixture(scope="module")
def opened() -> OpenRun:
    run, platform = synthetic_run(cores=20, rounds=4, traced=False), synthetic_platform()
    knowledge, _ = open_knowledge(load_plugins())
    return OpenRun(run, analyse(run, platform, knowledge), platform, knowledge, ())


@pytest.fixture
def mode(qtbot: QtBot, qapp: QApplication, opened: OpenRun) -> AnalyseMode:
    theme.apply_theme(qapp, "light")
    context = Context(Plugins(()))
    context.navigation.set_mode("analyse")
    context.set_run(opened)
    made = AnalyseMode(context, MODES["analyse"])
    for _ in made.build():
        pass
    qtbot.addWidget(made)
    qtbot.addWidget(made.details)
    context.slices.finish()
    made.resize(1064, 930)
    made.details.resize(472, 930)
    made.show()
    made.details.show()
    qtbot.waitExposed(made)
    return made


def test_the_theme_can_change_while_it_is_shown(qapp: QApplication, mode: AnalyseMode) -> None:
    """The first of this file: a theme dresses all widgets, also those that other tests leave."""
    theme.apply_theme(qapp, "dark")
    mode.retheme()
    pixels = pixels_of(mode.graph.grab().toImage())
    assert pixels[2, 2] == 0xFF0F1216
    theme.apply_theme(qapp, "light")


def test_a_critical_path_through_one_block_is_shown_by_state_and_call(
    mode: AnalyseMode, opened: OpenRun, qtbot: QtBot
) -> None:
    read, busy = PathPart("host.main", "readDone", "pdf2d.c", 105), PathPart("pdf2d_top.core[0].ctrl", "busy", "", 0)
    lines = (
        PathLine(busy.block, "busy", "", 0, 3e-3, 0.75),
        PathLine(read.block, read.name, "pdf2d.c", 105, 1e-3, 0.25),
    )
    moves = PathMove(read, busy, 3), PathMove(busy, read, 4)
    path = CriticalPath(4e-3, (), lines, moves=moves, waits=(PathWait(read, busy, 4, 3e-3),))
    mode.context.set_run(replace(opened, analysis=replace(opened.analysis, what_if=WhatIf("", path=path))))
    mode.context.slices.finish()
    qtbot.mouseClick(mode.path.pill, Qt.MouseButton.LeftButton)
    panel = mode.states
    assert panel is not None
    assert panel.view.isVisible()
    assert panel.head.title.text() == "Critical path"
    pill, tab = mode.path.pill, panel.path_tab
    QApplication.processEvents()
    assert tab.isVisible()
    assert tab.mapTo(mode, tab.rect().topLeft()) == pill.mapTo(mode, pill.rect().topLeft()), "at the same place"
    tab.click()
    assert tab.isChecked()
    panel.head.resize(640, panel.head.height())  # as in a window of 1024x700
    heads = [button for button in panel.head.findChildren(QAbstractButton) if button.isVisible()]
    assert all(button.width() >= button.sizeHint().width() for button in heads)
    said = {state_words(state).replace("\u202f", " ") for state in panel.view.diagram.states}
    assert said == {
        "core[*].ctrl busy: 75.0 % of the run, 3 visits of 1.00 ms",
        "host main readDone: 25.0 % of the run, 4 visits of 250 µs",
    }  # fmt: skip
    opened_lines = []
    mode.context.navigation.line_wanted.connect(lambda *where: opened_lines.append(where))
    panel.view.opened.emit(next(s.index for s in panel.view.diagram.states if s.name == "readDone"))
    assert opened_lines == [("pdf2d.c", 105)]
    qtbot.keyClick(panel.view, Qt.Key.Key_Escape)
    assert mode.graph.isVisible()
    assert mode.path.within.isVisible()
    mode.graph_head.resize(640, mode.graph_head.height())  # as in a window of 1024x700
    buttons = [button for button in mode.graph_head.findChildren(QAbstractButton) if button.isVisible()]
    assert all(button.width() >= button.sizeHint().width() for button in buttons)
    mode.path.within.click()
    assert panel.view.isVisible()
    assert panel.show_block("host.main", opened.analysis.members("host.main"))
    assert tab.isHidden(), "the states of one block are no path"


def test_every_row_of_the_critical_path_has_a_figure_in_the_narrowest_details(opened: OpenRun, qtbot: QtBot) -> None:
    lines = (PathLine("host.main", "readDone", "pdf2d.c", 105, 921.9e-6, 0.75),)
    spare = (
        Slack("host.main", "send", 123.4e-6, "write", "pdf2d.c", 60),
        Slack("host.main", "recv", 4e-6, "readDone", "pdf2d.c", 105),
    )
    blocks = [metrics.block for metrics in opened.analysis.blocks]
    (table,) = [
        item
        for section in path_page(CriticalPath(1e-3, (), lines, spare), blocks).sections
        for item in section.items
        if isinstance(item, Table)
    ]
    view, details = TableView(table), MODES["analyse"].details
    qtbot.addWidget(view)
    assert details is not None
    view.resize(details.least_px - 42, 200)  # beside margins and a scroll bar
    view.show()
    assert not any(view.isColumnHidden(number) for number in range(len(table.columns)))
    assert view.columnWidth(0) >= view._need(0), "names are whole"
    texts = [[column.text(row).replace("\u202f", " ") for column in table.columns] for row in table.rows]
    assert texts == [["readDone, host main", "922 µs"], ["write, host main", "slack 123 µs"]]
    assert table.columns[1].tip_of(table.rows[0]).replace("\u202f", " ") == "slack 4.00 µs"


def test_the_chosen_part_of_the_time_is_named_also_if_its_cell_is_narrow(mode: AnalyseMode, qtbot: QtBot) -> None:
    mode.show_times("flame")
    times = mode.times
    assert times is not None
    assert times.view.root is not None
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Left):
        qtbot.keyClick(times.view, key)
    node = times.view.current
    assert node is not None
    assert (times.head.title.text(), times.head.subtitle.text()) == (node.name, node.note)
    times.view.set_current(None)
    assert times.head.title.text() == "Time"


def test_a_table_of_findings_that_lacks_room_ends_in_a_whole_row(mode: AnalyseMode, opened: OpenRun) -> None:
    first = opened.analysis.findings[0]
    many = tuple(replace(first, id=f"f{number}") for number in range(30))
    mode.context.set_run(replace(opened, analysis=replace(opened.analysis, findings=many)))
    mode.context.slices.finish()
    table = mode.findings.table
    for height in (700, 713, 731):
        mode.resize(640, height)
        QApplication.processEvents()
        assert 0 < table.viewport().height() < 30 * table.row_px
        assert table.viewport().height() % table.row_px == 0


def test_what_the_first_change_gives_is_read_whole_before_the_legend(mode: AnalyseMode) -> None:
    findings = mode.findings
    findings.best.setText("Fixing 1, predicted: 2.194 ms becomes 1.75 ms")
    for wide, legend in ((1000, True), (460, False)):
        findings.foot.resize(wide, 38)
        findings.foot.fit()
        findings.foot.layout().activate()
        assert findings.legend.isVisible() == legend
        assert findings.best.shown() == findings.best.text()


def test_what_was_counted_of_streams_and_memory_takes_the_findings_place(
    mode: AnalyseMode, opened: OpenRun, qtbot: QtBot
) -> None:
    streams, memory = mode.findings.tabs["Streams"], mode.findings.tabs["Memory"]
    clock = opened.run.manifest.clocks[0].name
    ports = tuple(MemoryPort(f"mover_{n}", "axi_master", "ddr", clock, 32, 400e6) for n in range(2))
    few = (0, 100, 50, 6400, 3200, 1600, 400, 100, 900, 3200, 90, 1, 9, 16_000_000)
    more = (1, 100, 0, 6400, 0, 1600, 1200, 0, 200, 1600, 0, 0, 0, 16_000_000)
    tables = {**opened.run.tables, "memory_ports": table_of("memory_ports", [few, more])}

    def show(run: Run) -> None:
        mode.context.set_run(replace(opened, run=run, analysis=analyse(run, opened.platform, opened.knowledge)))
        mode.context.slices.finish()

    without = {name: table for name, table in tables.items() if name not in ("memory_ports", "streams", "occupancy")}
    none = replace(opened.run.manifest, memory_ports=(), streams=(), fifos=())
    show(replace(opened.run, tables=without, manifest=none))
    assert (streams.isHidden(), memory.isHidden()) == (True, True)
    show(replace(opened.run, tables=tables, manifest=replace(opened.run.manifest, memory_ports=ports)))
    qtbot.mouseClick(memory, Qt.MouseButton.LeftButton)
    assert mode.findings.memory.isVisible()
    assert mode.findings.head.title.text() == "Memory"
    columns = mode.findings.memory.rows.columns
    assert [column.head for column in columns] == [
        "Port", "Moved", "Rate", "Waits", "Held up", "A burst takes", "Row open",
    ]  # fmt: skip
    first, second = (
        [column.text(row).replace("\u202f", " ") for column in columns] for row in mode.findings.memory.rows.tops
    )
    assert [first[0], *first[3:5], first[6]] == ["mover_1, ddr", "40.0 %", "0 %", ""]
    assert [second[0], *second[3:5], second[6]] == ["mover_0, ddr", "13.3 %", "3.3 %", "90.0 %"]
    qtbot.mouseClick(streams, Qt.MouseButton.LeftButton)
    assert (mode.findings.streams.isVisible(), mode.findings.memory.isVisible(), memory.isChecked()) == (
        True,
        False,
        False,
    )
    qtbot.mouseClick(streams, Qt.MouseButton.LeftButton)
    assert mode.findings.streams.isVisible(), "a tab stays"
    qtbot.mouseClick(mode.findings.tabs["Findings"], Qt.MouseButton.LeftButton)
    assert mode.findings.table.isVisible()
    assert mode.findings.head.title.text() == "Findings"


def test_the_bar_gives_way_to_titles(mode: AnalyseMode) -> None:
    table = mode.findings.table
    for wide in (560, 640, 720):
        table.resize(wide, 200)
        bar = table.header().sectionSize(BAR)
        assert table.header().sectionSize(TITLE) >= table._need(TITLE) or bar <= LEAST_BAR_PX, wide


def test_the_rules_are_a_tree_that_leads_to_what_each_found(mode: AnalyseMode, opened: OpenRun, qtbot: QtBot) -> None:
    panel = mode.findings
    qtbot.mouseClick(panel.tabs["Rules"], Qt.MouseButton.LeftButton)
    assert panel.rules.isVisible()
    with_findings = [row for row in panel.rules.rows.tops if row[1].findings]
    assert {finding.id for _, kind in with_findings for finding in kind.findings} == {
        f.id for f in opened.analysis.findings
    }
    assert panel.head.subtitle.text() == f"28, {len(with_findings)} with findings"
    panel.rules.chosen.emit(with_findings[-1])
    best = with_findings[-1][1].best
    assert best is not None
    assert mode.context.navigation.selection == SelectedFinding(best.id)


def texts(mode: AnalyseMode) -> str:
    said = [w.text() for w in mode.details.findChildren(QLabel) if w.isVisibleTo(mode.details)]
    return "\n".join([*said, *(table.as_text() for table in mode.details.findChildren(TableView))])


def click(qtbot: QtBot, mode: AnalyseMode, spot: QPointF) -> None:
    place = spot * mode.graph.magnification + mode.graph.offset
    qtbot.mouseClick(mode.graph.viewport(), Qt.MouseButton.LeftButton, pos=place.toPoint())


# ---- findings


def test_findings_are_ranked_by_their_best_advice_and_parts_hang_below(mode: AnalyseMode, opened: OpenRun) -> None:
    model = mode.findings.table.rows
    gains = [f.gain for f in model.tops if not f.points_elsewhere]
    assert gains == sorted(gains, reverse=True)
    assert model.tops[-1].points_elsewhere
    for finding in model.tops:
        bounds = [advice.at_most for advice in finding.advice if advice.at_most is not None]
        assert finding.gain == max(bounds) == bounds[0]
    known = {f.id for f in opened.analysis.findings}
    assert known == {f.id for f in model.tops} | {f.id for parts in model.parts for f in parts}
    assert any(model.parts)
    for top, parts in zip(model.tops, model.parts, strict=True):
        assert all(f.part_of == top.id for f in parts)
    first = model.index(0, TITLE)
    assert model.rowCount(first.siblingAtColumn(0)) == len(model.parts[0])
    assert first.siblingAtColumn(0).data() == "1"


def test_the_first_finding_is_selected_and_read_out(mode: AnalyseMode) -> None:
    best = mode.findings.table.rows.tops[0]
    assert mode.context.navigation.selection == SelectedFinding(best.id)
    said = texts(mode)
    for text in (best.title, "Upper bound", "Time", "What to do"):
        assert text in said
    assert best.suggestions[0] in said
    assert bound_words(best.advice[0]) in said
    advice, numbers = mode.details.findChildren(Fold)
    assert numbers.button.text() == "Numbers behind the rule"
    for fold in (advice, numbers):
        assert fold.rest.isHidden()
        fold.button.click()
        assert not fold.rest.isHidden()
    said = texts(mode)
    assert best.condition in said
    assert all(advice.text in said and bound_words(advice) in said for advice in best.advice)
    assert f"{best.speedup_ideal:.2f}×" in said
    assert mode.details.view.curve is not None
    assert {c.label for c in mode.details.view.curve.plot.spots} >= {"clearBins", "readBins"}
    assert sum(c.strong for c in mode.details.view.curve.plot.spots) == 1


def test_choosing_a_row_rings_its_block_and_opens_its_line(qtbot: QtBot, mode: AnalyseMode) -> None:
    mode.findings.table.setFocus()
    qtbot.keyClick(mode.findings.table, Qt.Key.Key_Down)
    chosen = mode.findings.table.current
    assert chosen is not None
    assert mode.context.navigation.selection == SelectedFinding(chosen.id)
    assert mode.graph.chosen == {chosen.group or chosen.block}
    with qtbot.waitSignal(mode.context.navigation.line_wanted) as caught:
        qtbot.keyClick(mode.findings.table, Qt.Key.Key_Return)
    assert caught.args == [chosen.places[0].file, chosen.places[0].line]
    assert mode.context.navigation.mode == "source"


def test_bars_are_tinted_up_to_the_upper_bound(mode: AnalyseMode) -> None:
    model = mode.findings.table.rows
    capped = next(f for f in model.tops if f.speedup_cap and f.speedup_cap < 15)
    index = model.index_where(lambda f: f.id == capped.id).siblingAtColumn(BAR)
    mode.findings.table.scrollTo(index)
    rect = mode.findings.table.visualRect(index)
    pixels = pixels_of(mode.findings.table.viewport().grab(rect).toImage())
    line = pixels[rect.height() // 2]
    left, width = bar_span(0, rect.width())
    assert capped.speedup_cap is not None
    bound = round(axis_x(capped.speedup_cap, left, width))
    assert (line[round(left) + 1 : bound - 3] == 0xFFB9C2EE).all()
    assert line[bound] == 0xFF15191F  # the tick
    assert line[bound + 4] == 0xFFE6E9EE  # track


def test_set_aside_leaves_the_ranking_and_comes_back(mode: AnalyseMode) -> None:
    first, second = mode.findings.table.rows.tops[:2]
    mode.context.set_aside(first.id)
    assert first.id not in {f.id for f in mode.findings.table.rows.tops}
    at = mode.findings.table.rows.index_where(lambda f: f.id == second.id).siblingAtColumn(NUMBER)
    assert at.data() == "1"
    mode.findings.set_filter("aside")
    assert [f.id for f in mode.findings.table.rows.tops] == [first.id]
    again = AnalyseMode(mode.context, MODES["analyse"])
    for _ in again.build():
        pass
    assert first.id not in {f.id for f in again.findings.table.rows.tops}
    again.deleteLater()
    mode.context.set_aside(first.id)
    assert mode.findings.pills["aside"].text() == "Set aside 0"


def test_filters_by_side_and_copy(mode: AnalyseMode, opened: OpenRun) -> None:
    mode.findings.pills["fpga"].click()
    model = mode.findings.table.rows
    assert model.tops
    assert all(not f.block.startswith("host.") for f in model.tops)
    lines = mode.findings.table.as_text().splitlines()
    assert lines[0].split("\t") == ["#", "Finding", "Where", "Time", "Upper bound"]
    assert len(lines) == 1 + len(model.tops) + sum(len(p) for p in model.parts)


def test_a_head_sorts_and_the_rows_chosen_are_copied(qtbot: QtBot, mode: AnalyseMode, qapp: QApplication) -> None:
    table, ranked = mode.findings.table, list(mode.findings.table.rows.tops)
    by_time = sorted(ranked, key=lambda f: f.time_s)
    assert by_time not in (ranked, ranked[::-1])
    header = table.header()

    def click(column: int) -> None:
        at = QPoint(header.sectionViewportPosition(column) + 20, 10)
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)

    chosen = table.current
    click(TIME)
    assert [f.time_s for f in table.rows.tops] == [f.time_s for f in reversed(by_time)]
    assert all(f.part_of == top.id for top, parts in zip(table.rows.tops, table.rows.parts, strict=True) for f in parts)
    assert table.current is chosen
    click(TIME)
    assert [f.time_s for f in table.rows.tops] == [f.time_s for f in by_time]
    click(TIME)
    assert table.rows.tops == ranked
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = qapp.clipboard().text().splitlines()
    assert lines == table.as_text().splitlines()[:3]


def test_f8_goes_to_the_next_finding(qtbot: QtBot, mode: AnalyseMode) -> None:
    before = mode.findings.table.current
    mode.findings.table.step(1)
    after = mode.findings.table.current
    assert before is not None
    assert after is not None
    assert before.id != after.id
    mode.findings.table.step(-1)
    assert mode.findings.table.current == before


# ---- graph


def test_a_click_on_a_node_selects_its_block(qtbot: QtBot, mode: AnalyseMode, opened: OpenRun) -> None:
    layout = mode.graph.layout_
    assert layout is not None
    node = next(n for n in layout.nodes if n.title == "lad_if")
    click(qtbot, mode, QPointF(*node.box.centre))
    assert mode.context.navigation.selection == SelectedBlock("pdf2d_top.lad_if")
    assert "wordIn" in texts(mode)
    assert mode.graph.chosen_edges
    assert all(node.key in (e.source, e.target) for e in mode.graph.chosen_edges)
    stack = next(n for n in layout.nodes if n.tiles)
    click(qtbot, mode, QPointF(*stack.tiles[7].box.centre))
    assert mode.context.navigation.selection == SelectedBlock(stack.tiles[7].block_id)
    click(qtbot, mode, QPointF(-20, -20))
    assert mode.context.navigation.selection is None


def test_a_badge_filters_the_findings(qtbot: QtBot, mode: AnalyseMode) -> None:
    layout = mode.graph.layout_
    assert layout is not None
    host = next(n for n in layout.nodes if n.key == "host.main")
    badge = mode.graph.facts["host.main"].badge
    assert badge is not None
    click(qtbot, mode, QPointF(*badge_box(host, badge[1]).centre))
    assert mode.findings.only_node == "host.main"
    assert all(f.block == "host.main" for f in mode.findings.table.rows.tops)
    assert len(mode.findings.table.rows.tops) == badge[1]
    mode.findings.node_pill.click()
    assert mode.findings.only_node == ""


def test_node_facts_add_up(mode: AnalyseMode, opened: OpenRun) -> None:
    layout = mode.graph.layout_
    assert layout is not None
    facts = node_facts(layout, opened.analysis)
    for node in layout.nodes:
        assert sum(share for _, share in facts[node.key].shares) == pytest.approx(1.0 if node.block_ids else 0.0)
    stack = next(n for n in layout.nodes if n.tiles)
    assert len(mode.graph.facts[stack.key].tiles) == 20
    counted = sum(f.badge[1] for f in mode.graph.facts.values() if f.badge)
    assert counted == sum(f.scope != "application" for f in tops(opened.analysis.findings))


def test_the_graph_shows_state_colours_and_the_selection_in_accent(mode: AnalyseMode) -> None:
    pixels = pixels_of(mode.graph.grab().toImage())
    for colour in (0xFF0072B2, 0xFFE69F00, 0xFF3A4BC2):  # send, wait_recv, accent
        assert (pixels == colour).any()
    mode.context.navigation.select(None)
    pixels = pixels_of(mode.graph.grab().toImage())
    assert not (pixels == 0xFF3A4BC2).any()


def test_zoom_keeps_what_is_under_the_pointer_and_fit_shows_all(qtbot: QtBot, mode: AnalyseMode) -> None:
    view = mode.graph
    spot = QPointF(300, 150)
    before = view.to_layout(spot)
    scale = view.magnification
    QApplication.sendEvent(view.viewport(), QWheelEvent(
        spot, QPointF(view.mapToGlobal(spot.toPoint())), QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    ))  # fmt: skip
    assert view.magnification == pytest.approx(scale * 1.25**2)
    assert (view.to_layout(spot) - before).manhattanLength() < 0.01
    qtbot.keyClick(view, Qt.Key.Key_F)
    layout = view.layout_
    assert layout is not None
    assert view.to_layout(QPointF(view.width(), view.height())).x() >= layout.width
    assert view.image(1.0).width() == round(layout.width)
    whole = view.to_layout(QPointF(0, 0))
    start = QPoint(20, 20)
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    for step in (10, 30, 50):
        qtbot.mouseMove(view.viewport(), start + QPoint(step, step))
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=start + QPoint(50, 50))
    moved = (whole - view.to_layout(QPointF(0, 0))) * view.magnification
    assert moved.toTuple() == pytest.approx((50, 50), abs=1.5)


def test_the_keyboard_goes_from_block_to_block(qtbot: QtBot, mode: AnalyseMode) -> None:
    view, navigation = mode.graph, mode.context.navigation

    def chosen() -> str:
        assert isinstance(navigation.selection, SelectedBlock)
        return navigation.selection.block

    assert view.layout_ is not None
    boxes = {node.key: node.box for node in view.layout_.nodes}
    navigation.select(SelectedBlock("host.main"))
    view.zoom(3)  # most blocks are out of view
    seen = ["host.main"]
    for _ in boxes:
        qtbot.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
        if chosen() == seen[-1]:
            break
        seen.append(chosen())
        here = boxes[seen[-1]].centre
        assert view.rect().contains((QPointF(*here) * view.magnification + view.offset).toPoint())
    assert len(seen) >= 3
    across = [boxes[key].centre[0] for key in seen]
    assert across == sorted(across)
    assert across[-1] == max(box.centre[0] for box in boxes.values())
    qtbot.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert boxes[chosen()].centre[0] < across[-1]


def test_the_graph_goes_out_whole(mode: AnalyseMode, tmp_path: Path) -> None:
    """Read again by other programs: an XML reader, Qt's own readers of SVG and PNG, a CSV reader."""
    view = mode.graph
    layout = view.layout_
    assert layout is not None
    view.zoom(4)
    for name in ("blocks.svg", "blocks.png", "blocks.csv"):
        view.save_data(tmp_path / name) if name.endswith("csv") else view.save_picture(tmp_path / name)
    words = {t.text for t in ET.parse(tmp_path / "blocks.svg").iter("{http://www.w3.org/2000/svg}text")}
    assert {node.title for node in layout.nodes} | {"unclassified", "over 2×"} <= words
    sizes = [QImage(str(tmp_path / name)).size().toTuple() for name in ("blocks.svg", "blocks.png")]
    assert sizes[1] == (2 * sizes[0][0], 2 * sizes[0][1])
    with (tmp_path / "blocks.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sum(float(row["time (s)"] or 0) for row in rows) == pytest.approx(sum(e.time_s for e in layout.edges))
    assert {row["from"] for row in rows} >= {"host.main"}


def test_the_speedup_estimates_are_a_chart_that_zooms(
    qtbot: QtBot, mode: AnalyseMode, opened: OpenRun, tmp_path: Path
) -> None:
    mode.findings.tabs["Chart"].click()
    view = mode.findings.speedups
    assert view.isVisible()
    assert [row.key for row in view.bars.rows] == [f.id for f in opened.analysis.findings]
    third = view.lanes().y + 2.5 * ROW_PX
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(100, round(third)))
    assert mode.context.navigation.selection == SelectedFinding(view.bars.rows[2].key)
    assert view.current == view.bars.rows[2].key
    whole, box = view.shown(), view.lanes()
    row = view.bars.rows[0]
    places = [place_of(ratio, view.bars, whole, box) for ratio in (1, row.value, 10 ** whole[1])]
    assert places[0] == box.x < places[1] < places[2] == pytest.approx(box.right)
    view.zoom(2)
    assert view.shown()[1] - view.shown()[0] == pytest.approx((whole[1] - whole[0]) / 2)
    hover(view.viewport(), QPoint(round(box.centre[0]), round(third)))
    canvas = SvgCanvas()
    view.draw_over(canvas)
    ratio = 10 ** (sum(view.shown()) / 2)
    assert f"becomes {time_text(opened.analysis.time_s / ratio)}" in canvas.document(1, 1, "")
    for name in ("gains.svg", "gains.csv"):
        view.save_data(tmp_path / name) if name.endswith("csv") else view.save_picture(tmp_path / name)
    words = [t.text for t in ET.parse(tmp_path / "gains.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert {at_most_text(r.value) for r in view.bars.rows} <= set(words)  # all of them, whatever was in view
    with (tmp_path / "gains.csv").open(newline="") as stream:
        assert [float(r["upper bound"]) for r in csv.DictReader(stream)] == [r.value for r in view.bars.rows]
    mode.findings.tabs["Findings"].click()
    assert mode.findings.table.isVisible()


def test_selecting_a_call_shows_it(mode: AnalyseMode, opened: OpenRun) -> None:
    call = opened.analysis.calls[0]
    mode.context.navigation.select(SelectedCall(call.site_number))
    assert call.site.label in texts(mode)
    assert "Calls" in texts(mode)
    assert mode.graph.chosen == {"host.main"}


# ---- states of the mode


def test_without_a_run_there_is_one_sentence(qtbot: QtBot, mode: AnalyseMode) -> None:
    mode.context.set_run(None)
    assert mode.empty.isVisible()
    assert not mode.empty.button.isVisible()
    assert "Nothing is selected" in texts(mode)


def test_no_finding_and_incomplete_runs_are_said(mode: AnalyseMode, opened: OpenRun) -> None:
    run: Run = replace(
        opened.run, manifest=replace(opened.run.manifest, status=RunStatus.CANCELLED, reason="cancelled after 3 s")
    )
    nothing: Analysis = replace(opened.analysis, findings=())
    mode.context.set_run(replace(opened, run=run, analysis=nothing))
    assert mode.findings.nothing.isVisible()
    assert "No findings" not in mode.findings.nothing.why.text()
    assert mode.shortfall.text.startswith("This run was cancelled: cancelled after 3 s.")
    first = mode.shortfall.mapTo(mode, QPoint(0, 0)).y()
    assert first < mode.graph_head.mapTo(mode, QPoint(0, 0)).y(), "it stands above everything else"
    mode.context.set_run(opened)
    assert not mode.shortfall.isVisible()


# ---- words and curve


def test_words_of_places() -> None:
    group = "top.core[*].ctrl"
    finding = Finding("f", "r", "t", "block", group, "top.core[3].ctrl", 1.0, 2.0, 1.5, "medium", (), group=group)
    assert where_words(finding) == "core[*].ctrl"


def test_the_findings_curve_shows_its_calls_and_the_sizes_to_aim_at(mode: AnalyseMode) -> None:
    curve = mode.details.view.curve
    assert curve is not None
    plot = curve.plot
    assert plot.goal is not None
    assert plot.span is not None
    strong = next(s for s in plot.spots if s.strong)
    assert strong.x < plot.span[0] == plot.goal[0]
    pixels = pixels_of(curve.grab().toImage())
    assert (pixels == 0xFF0072B2).any()
    assert (pixels == 0xFFE2F1EA).any()  # the 95 % band


def test_open_line_in_the_details(qtbot: QtBot, mode: AnalyseMode, monkeypatch: pytest.MonkeyPatch) -> None:
    navigation = mode.context.navigation
    monkeypatch.setattr(mode.context, "resolve", lambda file: Path(__file__))  # the line's file is there
    chosen = navigation.selection
    navigation.select(None)
    navigation.select(chosen)
    button = next(b for b in mode.details.findChildren(Button) if b.text() == "Open line")
    with qtbot.waitSignal(mode.context.navigation.line_wanted):
        button.click()


@pytest.mark.parametrize("scale", [0.2, 0.4, 0.6, 0.75, 0.9, 1.0, 1.5])
def test_no_text_of_the_graph_is_too_small_to_read(
    mode: AnalyseMode, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every text is 11 pixels high or more on the screen, at any zoom; titles are always there."""
    drawn: list[tuple[str, float]] = []

    def spy(canvas: QtCanvas, x: float, middle: float, words: str, ink: str, size: float, *rest: object) -> None:
        drawn.append((words, size * canvas.scale))

    monkeypatch.setattr(QtCanvas, "write", spy)
    layout = mode.graph.layout_
    assert layout is not None
    image = QImage(600, 400, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.scale(scale, scale)
    draw_graph(QtCanvas(painter), layout, mode.graph.facts, mode.graph.notes)
    painter.end()
    assert min(size for _, size in drawn) >= 11 - 0.01
    begun = [words.removesuffix("…") for words, _ in drawn]
    assert all(any(part and node.title.startswith(part) for part in begun) for node in layout.nodes)


def test_bars_of_a_page_are_on_one_scale_whatever_is_beside_them(mode: AnalyseMode, qtbot: QtBot) -> None:
    bars = (
        views.Shares((), "Measured", "46.30 ms", 1.0),
        views.Shares((), "Predicted", "35.8 ms", 0.5, "35.4 ms to 36.7 ms"),
    )
    body = PageBody(mode.context, views.Page("p", "Page", "", (views.Section("", bars),)))
    qtbot.addWidget(body)
    body.resize(300, 200)
    body.show()
    first, second = body.findChildren(ScaleBar)
    assert (first.x(), first.width()) == (second.x(), second.width())
    filled = [(pixels_of(bar.grab().toImage())[5] == rgb(theme.colour("accent"))).mean() for bar in (first, second)]
    assert filled == pytest.approx([1.0, 0.5], abs=0.02)

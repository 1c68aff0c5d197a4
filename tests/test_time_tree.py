"""The run's time by component, block, state and call: sums, places, and the pictures in window, report and command."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from workbench.analysis import Analysis, analyse
from workbench.analysis.html_report import PAGE_PX, SHEET_PX, html_report
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.gui.modes.analyse.times_panel import TimesView, selection_of
from workbench.model.pragma import WAITS, Category
from workbench.model.run import Run
from workbench.pictures.layout_sizes import Box
from workbench.pictures.palette import PAGE
from workbench.pictures.svg import SvgCanvas
from workbench.pictures.time_drawing import FLAME, TREEMAP, cells_of, cells_with_list, draw_cells, name_lines, times_svg
from workbench.pictures.time_tree import LEVELS, Cell, TimeNode, squarified, time_rows, time_tree, treemap_cells
from workbench.session.keep.results import open_knowledge
from workbench.session.program.plugins import load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run


@pytest.fixture(scope="module")
def run() -> Run:
    return synthetic_run(cores=4, rounds=3)


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run, synthetic_platform(), open_knowledge(load_plugins())[0])


@pytest.fixture(scope="module")
def tree(analysis: Analysis) -> TimeNode:
    return time_tree(analysis)


def below(node: TimeNode) -> Iterator[TimeNode]:
    yield node
    for part in node.parts:
        yield from below(part)


def test_each_block_is_the_whole_run_once_and_replicas_are_one(tree: TimeNode, analysis: Analysis) -> None:
    blocks = [node for node in below(tree) if node.level == "block"]
    assert len(blocks) == len(analysis.groups())
    for block in blocks:
        assert block.time_s == pytest.approx(analysis.time_s)
        assert block.share == pytest.approx(1.0)
    assert tree.time_s == pytest.approx(len(blocks) * analysis.time_s)
    assert {node.level for node in below(tree)} == {*LEVELS}
    assert max(block.replicas for block in blocks) == 4
    for node in below(tree):
        assert sum(part.time_s for part in node.parts) <= node.time_s * (1 + 1e-9)
        assert [part.time_s for part in node.parts] == sorted((p.time_s for p in node.parts), reverse=True)
    calls = [node for node in below(tree) if node.level == "call"]
    assert sum(call.time_s for call in calls) == pytest.approx(sum(call.time_s for call in analysis.calls))
    assert {call.site for call in calls} == {call.site_number for call in analysis.calls if call.time_s}


def test_without_waits_only_what_works_is_left(analysis: Analysis, tree: TimeNode) -> None:
    less = time_tree(analysis, waits=False)
    states = [node for node in below(less) if node.level == "state"]
    assert states
    assert not {node.category for node in states} & {*WAITS, None}
    assert less.time_s < tree.time_s


@given(
    st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=40), st.floats(20.0, 2000.0), st.floats(20.0, 2000.0)
)  # fmt: skip
def test_a_treemap_fills_its_box_with_areas_as_large_as_the_times(
    times: list[float], width: float, height: float
) -> None:
    nodes = [TimeNode(f"n{number}", "state", time_s, 0.0) for number, time_s in enumerate(sorted(times, reverse=True))]
    placed = list(squarified(nodes, Box(0, 0, width, height)))
    assert len(placed) == len(nodes)
    total = sum(times)
    for node, box in placed:
        assert math.isclose(box.width * box.height, node.time_s / total * width * height, rel_tol=1e-6, abs_tol=1e-6)
        assert box.x >= -1e-6
        assert box.right <= width + 1e-6
        assert box.y >= -1e-6
        assert box.bottom <= height + 1e-6


def test_parts_are_within_what_they_are_of(tree: TimeNode) -> None:
    for kind in (FLAME, TREEMAP):
        boxes = {id(cell.node): cell.box for cell in cells_of(kind, tree, 900, 400)}
        for node in below(tree):
            for part in node.parts:
                if (inner := boxes.get(id(part))) is not None:
                    outer = boxes[id(node)]
                    assert inner.x >= outer.x - 1e-6
                    assert inner.right <= outer.right + 1e-6
    deep = list(treemap_cells(tree, Box(0, 0, 900, 400)))
    assert {cell.node.level for cell in deep} == {"run", "component", "block", "state"}


def test_the_table_has_a_row_for_every_part(tree: TimeNode) -> None:
    head, *rows = time_rows(tree)
    assert head == ("component", "block", "state", "call", "time_s", "share")
    assert len(rows) == sum(1 for _ in below(tree)) - 1
    assert {len(row) for row in rows} == {len(head)}


def test_report_and_command_draw_both(run: Run, analysis: Analysis, tree: TimeNode, tmp_path: Path) -> None:
    page = html_report(run, analysis, synthetic_platform())
    assert times_svg(FLAME, tree, PAGE, PAGE_PX) in page
    assert times_svg(TREEMAP, tree, PAGE, PAGE_PX) in page
    assert times_svg(FLAME, tree, PAGE, SHEET_PX) in page, "with texts large enough on paper and small screens"
    RunWriter(tmp_path / "run", run.manifest).finish(run.manifest, run.tables)
    for option, more in (("--flame", []), ("--treemap", ["--no-waits"])):
        file = tmp_path / f"{option}.svg"
        assert main(["report", str(tmp_path / "run"), "--predict", "0", "--svg", str(file), option, *more]) == 0
        text = file.read_text()
        assert "component, block, state and call" in text
        assert ("wait_recv" in text) is (option == "--flame")


def test_the_picture_is_walked_by_keys_and_entered(qapp: object, tree: TimeNode) -> None:
    view = TimesView()
    view.resize(800, 300)
    view.chosen.connect(view.set_current)
    opened: list[TimeNode] = []
    view.opened.connect(opened.append)
    back: list[bool] = []
    view.blocks_wanted.connect(lambda: back.append(True))
    view.show_tree(tree)
    key = Qt.Key
    QTest.keyClick(view, key.Key_Down)
    assert view.current is tree.parts[0]
    QTest.keyClick(view, key.Key_Right)
    assert view.current is tree.parts[1]
    QTest.keyClick(view, key.Key_Left)
    QTest.keyClick(view, key.Key_Down)
    assert view.current is tree.parts[0].parts[0]
    QTest.keyClick(view, key.Key_Return)  # shown alone
    assert [node.level for node in view.path] == ["run", "component", "block"]
    QTest.keyClick(view, key.Key_Down)
    assert view.current is not None
    assert view.current.level == "state"
    at = next(cell.box for cell in cells_of(FLAME, view.root, view.width(), view.height()) if cell.depth == 1)
    assert view.node_at(QPointF(*at.centre)) is view.root.parts[0]  # type: ignore[union-attr]
    while view.current.parts:
        QTest.keyClick(view, key.Key_Down)
    QTest.keyClick(view, key.Key_Return)
    assert opened == [view.current]
    assert opened[0].place is not None
    assert selection_of(opened[0]) is not None
    QTest.keyClick(view, key.Key_Escape)
    QTest.keyClick(view, key.Key_Escape)
    assert [node.level for node in view.path] == ["run"]
    assert not back
    QTest.keyClick(view, key.Key_Escape)
    assert back == [True]
    view.show_kind(TREEMAP)
    assert len(list(view.rows() or ())) == sum(1 for _ in below(tree))


def test_a_name_too_long_for_its_cell_goes_on_below_before_a_word() -> None:
    canvas = SvgCanvas(PAGE)
    assert name_lines(canvas, "writeSamples", 54, 400) == ["write", "Samples"]
    assert name_lines(canvas, "writeSamples", 400, 400) == ["writeSamples"]
    assert name_lines(canvas, "wait_for_go", 54, 400) == ["wait_for_", "go"]
    assert name_lines(canvas, "writeSamples", 20, 400) == []
    assert name_lines(canvas, "fpgaRead original.c:41", 42, 400) == ["fpga", "Read…"]
    node = TimeNode("writeSamples", "state", 0.2, 0.2, (), Category.SEND)
    draw_cells(canvas, [Cell(node, Box(0, 0, 62, 52), 3)])
    text = canvas.document(62, 52, "one cell")
    assert ">write<" in text
    assert ">Samples<" in text
    low = SvgCanvas(PAGE)
    draw_cells(low, [Cell(TimeNode("work", "state", 0.2, 0.027, (), Category.WORK), Box(0, 0, 62, 36), 3)])
    text = low.document(62, 36, "one cell")
    assert ">work<" in text
    assert ">2.7" not in text, "its share would be below the cell"


def test_a_name_stays_in_the_head_that_parts_inside_leave() -> None:
    work = TimeNode("work", "state", 0.2, 0.2, (), Category.WORK)
    block = TimeNode("writeSamples", "block", 0.2, 0.2, (work,), None)
    cells = list(treemap_cells(block, Box(0, 0, 62, 90)))
    assert [cell.node for cell in cells] == [block, work]
    canvas = SvgCanvas(PAGE)
    draw_cells(canvas, cells)
    assert ">Samples<" not in canvas.document(62, 90, "a block and its state")


def test_a_name_too_long_for_a_narrow_cell_is_written_upwards() -> None:
    node = TimeNode("takePoints", "state", 0.2, 0.034, (), Category.RECV)
    for high, upwards in ((120, True), (30, False)):
        canvas = SvgCanvas(PAGE)
        draw_cells(canvas, [Cell(node, Box(0, 0, 20, high), 3)])
        text = canvas.document(20, high, "one cell")
        assert ("rotate(-90)" in text) is (">takePoints<" in text) is upwards


def test_a_list_below_names_each_state_where_there_is_room(tree: TimeNode) -> None:
    states = [node for node in below(tree) if node.level == "state"]
    for kind in (FLAME, TREEMAP):
        cells = cells_with_list(kind, tree, 1900, 1085)
        lines = [cell for cell in cells if cell.listed]
        assert sorted(cell.node.name for cell in lines) == sorted(node.name for node in states)
        assert [cell.node.time_s for cell in lines] == sorted((node.time_s for node in states), reverse=True)
        drawn = max(cell.box.bottom for cell in cells if not cell.listed)
        assert all(drawn <= cell.box.y and cell.box.bottom <= 1085 for cell in lines)
        assert not any(cell.listed for cell in cells_with_list(kind, tree, 600, 200))

"""A kernel's hierarchy beside its source: a node and its lines are lit together, whichever of them is chosen."""

from pathlib import Path

import pytest
from predicting import model_path
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.gui.look import theme
from workbench.gui.modes.forms.pair_table import PairTable
from workbench.gui.modes.predict.mode import PredictMode
from workbench.gui.modes.predict.structure_view import StructureView
from workbench.predict.structure import innermost

KERNEL = """__kernel void smooth(__global const float *a, __global float *b, int rounds)
{
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < rounds; k++) {
        if (a[i + k] > 1) {
            sum += a[i + k];
            b[i] = sum;
        } else
            b[i] = a[i] / 3;
        for (int n = 0; n < 4; n++)
            sum += a[i + n] * n;
    }
    b[i] += sum;
}
"""
MODEL = """schema_version: 1
name: smooth
platform: de5_net
kernel_file: smooth.cl
launch:
  global_size: [256]
  arguments: {a: {elements: 512, low: 0, high: 2}, b: {elements: 256}, rounds: 8}
"""


@pytest.fixture
def shown(mode: PredictMode, qtbot: QtBot, tmp_path: Path) -> StructureView:
    folder = tmp_path / "pdf2d"
    (folder / "smooth.cl").write_text(KERNEL)
    (folder / "smooth.opencl.yaml").write_text(MODEL)
    mode.open_document(model_path("dot_product", "density"))
    mode.show_page("Structure")  # which it has not
    assert mode.page == "Results"
    assert mode.pills["Structure"].isHidden()
    mode.open_document(folder / "smooth.opencl.yaml")
    qtbot.waitUntil(lambda: mode.stack.currentWidget() is mode.results)
    mode.pills["Structure"].click()
    assert mode.stack.currentWidget() is mode.structure
    return mode.structure.code


def test_nodes_stand_below_what_they_are_a_part_of(shown: StructureView) -> None:
    rows = [(row.depth, row.name, row.note) for row in shown.tree.bars.rows]
    assert rows[0] == (0, "smooth", "")
    assert (2, "loop L1", "8 rounds") in rows
    assert (3, "loop L2", "4 rounds") in rows
    branch = rows.index((3, "if", ""))
    assert [(depth, name) for depth, name, _ in rows[branch + 1 : branch + 5]] == [
        (4, "then"), (5, "lines 7 to 9"), (4, "else"), (5, "line 10"),
    ]  # fmt: skip
    loop = next(row for row in shown.tree.bars.rows if row.name == "loop L1")
    assert loop.value >= max(row.value for row in shown.tree.bars.rows if row.depth > 2)
    assert [row.strong for row in shown.tree.bars.rows].count(True) == 1  # the slowest
    svg = shown.tree.svg()
    assert all(name in svg for _, name, _ in rows)
    heads, first, *_ = shown.tree.rows()
    assert heads == ("piece", "depth", "first line", "last line", "cycles")
    assert first[:4] == ("smooth", 0, 3, 15)


def test_a_node_chosen_lights_its_lines_and_a_line_its_node(
    shown: StructureView, mode: PredictMode, qtbot: QtBot
) -> None:
    names = [row.name for row in shown.tree.bars.rows]

    def current() -> str:
        return names[[row.key for row in shown.tree.bars.rows].index(shown.tree.current)]

    box, row_px = shown.tree.lanes(), shown.tree.row_px
    shown.tree.show_lane(names.index("loop L2"))
    at = QPoint(40, round(box.y + (names.index("loop L2") - shown.tree.first() + 0.5) * row_px))
    qtbot.mouseClick(shown.tree.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert (current(), sorted(shown.source.marked)) == ("loop L2", [11, 12])
    assert [mark.cursor.blockNumber() + 1 for mark in shown.source.extraSelections()] == sorted(shown.source.marked)
    shown.tree.setFocus()
    qtbot.keyClick(shown.tree, Qt.Key.Key_Down)
    assert current() == names[names.index("loop L2") + 1]
    for line, name in ((8, "lines 7 to 9"), (10, "line 10"), (12, names[names.index("loop L2") + 1]), (5, "loop L1")):
        shown.source.go_to(line)
        assert (current(), line in shown.source.marked) == (name, True)
    qtbot.keyClick(shown.source, Qt.Key.Key_Down)  # the cursor walks in a text that cannot be typed in
    assert shown.source.line == 6
    assert current() == "if"
    with qtbot.waitSignal(mode.context.navigation.line_wanted) as wanted:
        qtbot.keyClick(shown.tree, Qt.Key.Key_Return)
    assert wanted.args == [str(mode.document.path.parent / "smooth.cl"), 6]
    mode.open_document(model_path("dot_product", "density"))
    assert mode.page == "Results"


def test_the_lines_that_are_lit_stay_in_view_when_the_window_shrinks(
    shown: StructureView, mode: PredictMode, qtbot: QtBot
) -> None:
    source = shown.source
    source.go_to(len(KERNEL.splitlines()) - 1)
    shown.resize(700, 600)
    mode.resize(mode.width(), 420)
    qtbot.waitUntil(lambda: source.viewport().rect().contains(source.cursorRect().center()))


def test_pages_have_a_row_of_their_own_where_one_has_no_room(mode: PredictMode, qtbot: QtBot) -> None:
    """Also where the room changed while another mode was shown."""
    pill, head = mode.pills["Structure"], mode.model_head
    for width, below in ((1600, False), (900, True), (1600, False)):
        mode.hide()
        mode.resize(width, 700)
        mode.show()
        qtbot.waitUntil(lambda below=below: (pill.mapTo(head, QPoint(0, 0)).y() >= head.header.height()) is below)
        assert pill.width() >= pill.sizeHint().width()


def test_colours_follow_the_theme(shown: StructureView, qapp: QApplication) -> None:
    def colours() -> set[str]:
        formats = shown.source.document().findBlockByNumber(2).layout().formats()
        marks = shown.source.extraSelections()
        return {one.format.foreground().color().name() for one in formats} | {
            one.format.background().color().name() for one in marks}  # fmt: skip

    for name in ("dark", "light"):
        theme.apply_theme(qapp, name)
        assert {theme.colour("keyword").name(), theme.colour("selection").name()} <= colours(), name


def test_a_line_of_no_node_lights_none(shown: StructureView) -> None:
    assert shown.structure is not None
    assert innermost(shown.structure.root, 2) is None  # an opening bracket
    shown.source.go_to(1)
    assert (shown.tree.current, list(shown.source.marked)) == ("", [1])


def test_a_loops_factor_and_a_vector_are_typed_in_the_form(
    shown: StructureView, mode: PredictMode, qtbot: QtBot
) -> None:
    """A mapping is rows of a name and a number; what is wrong in one of them is said at it."""
    mode.show_page("Model")

    def paste(field: str, text: str) -> PairTable:
        table = mode.form.row(field).editor
        assert isinstance(table, PairTable)
        QApplication.clipboard().setText(text)
        table.setFocus()
        qtbot.keyClick(table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        return table

    factors = paste("unroll", "L1: 2\nL2: 4")
    assert mode.document.value(("unroll",)) == {"L1": 2, "L2": 4}
    vectors = paste("vector_types", "a: wide")
    assert mode.document.value(("vector_types",)) == {"a": "wide"}
    assert "whole number" in vectors.rows.parts[0][0].said
    mode.document.history.undo()
    assert [(row.pair.name, row.pair.value) for row in factors.rows.tops[:-1]] == [("L1", "2"), ("L2", "4")]


def test_factors_are_changed_in_the_drawing(shown: StructureView, mode: PredictMode, qtbot: QtBot) -> None:
    """The hierarchy is the source's; each part's menu has what the model says of it, and one undo takes it back."""

    def choose(piece: str, title: str) -> None:
        shown.choose(piece)
        action = next(action for action in shown.tree.menu().actions() if action.text() == title)
        action.trigger()

    before = mode.document.text
    choose("L1", "Unroll L1 by 2")
    assert mode.document.value(("unroll",)) == {"L1": 2}
    assert shown.structure is not None
    qtbot.waitUntil(lambda: ("loop L1", "4 rounds") in [(row.name, row.note) for row in shown.tree.bars.rows])
    choose("L1", "Remove the factor of L1")
    assert mode.document.value(("unroll", "L1")) is None
    mode.document.history.undo()
    mode.document.history.undo()
    assert mode.document.text == before
    choose("L1", "Let L1 take 16 rounds")
    qtbot.waitUntil(lambda: ("loop L1", "16 rounds") in [(row.name, row.note) for row in shown.tree.bars.rows])
    choose("L1", "Let L1 take the launch's rounds")
    block = next(name for name, all_ in shown.tree.changes.items() if any("Leave out" in one.title for one in all_))
    choose(block, "Take accesses of a as irregular")
    choose(block, "Leave out accesses of a")
    assert (mode.document.value(("strides",)), mode.document.value(("left_out",))) == ({"a": "irregular"}, ["a"])
    mode.document.history.undo()
    choose(block, "Take accesses of a as launched")
    root = shown.structure.root.id
    choose(root, "2 compute units")
    choose(root, "Add a step of tuning")
    assert mode.document.value(("steps",)) == [{"name": "step 1"}]
    qtbot.waitUntil(lambda: any(change.title == "Remove 'step 1'" for change in shown.tree.changes[root]))
    block = next(name for name, all_ in shown.tree.changes.items() if any("Access a as" in one.title for one in all_))
    choose(block, "Access a as vectors of 4")
    assert mode.document.value(("steps",)) == [{"name": "step 1", "vector_types": {"a": 4}}]


def test_what_a_diagram_has_is_opened_in_the_form(mode: PredictMode, qtbot: QtBot) -> None:
    mode.open_document(model_path("pdf2d", "ratss"))
    mode.pills["Structure"].click()
    page = mode.structure.drawn
    assert mode.structure.currentWidget() is page
    assert [*page.pills] == ["Stages", "Platform"]
    assert page.view.layout_ is not None
    for title, path in (("kernels × 2", ("stages", 0, "nodes", 0)), ("scatter Y", ("stages", 0, "transactions", 1))):
        mode.show_page("Structure")
        box = next(
            one for name, one in [*((n.title, n.box) for n in page.view.layout_.nodes),
                                  *((e.label, e.label_box) for e in page.view.layout_.edges)] if name == title
        )  # fmt: skip
        spot = page.view.offset.toPoint() + QPoint(*(round(v * page.view.magnification) for v in box.centre))
        assert page.view._tip("", page.view._node_at(spot.toPointF()), page.view._edge_at(spot.toPointF()))
        qtbot.mouseDClick(page.view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        assert (mode.page, mode.chosen) == ("Model", path)
    mode.show_page("Structure")
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert len(page.view.chosen) == 1
    page.pills["Platform"].click()
    assert page.head.title.text() == "Platform"
    mode.open_document(model_path("blastn", "queueing"))
    assert {node.title for node in page.view.layout_.nodes} == {"outside", "PCI-X", "1a", "1b", "2"}
    mode.open_document(model_path("dot_product", "density"))  # which is not drawn
    assert mode.page == "Results"
    assert mode.pills["Structure"].isHidden()

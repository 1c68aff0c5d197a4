"""The blocks of the file in view: gone to by keys and mouse, however many there are."""

import time
from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from workbench.gui.app import make_application
from workbench.gui.modes.source.blocks_here import BlockRow, BlocksHere, block_rows
from workbench.gui.modes.source.points import points_of
from workbench.model.pragma import Category, PlacedPragma, Pragma
from workbench.model.scan import Branch, HdlBlock, HdlScan, HostScan, ProjectScan

MANY, WHY_NOT = 3000, "Its clock is made of two others."
MARK = PlacedPragma(Pragma("fill", Category.WORK), "core.v", 3, 1)


def block(number: int, pragmas: tuple[PlacedPragma, ...] = (), why_not: str = "") -> HdlBlock:
    line = 8 * number + 2
    arms = (Branch(line, "body", pragma_line=line + 1, end_line=line + 5, pragmas=pragmas),)
    return HdlBlock(
        f"leaf_{number}.line_{line}", f"leaf_{number}", "always", "core.v", line, line + 5, "clk", "posedge", arms,
        why_not=why_not,
    )  # fmt: skip


def scan_of(blocks: Sequence[HdlBlock]) -> ProjectScan:
    return ProjectScan(HostScan(()), HdlScan(tuple(blocks)))


def show(shown: BlocksHere, scan: ProjectScan | None, moved: int = 0) -> None:
    points = points_of(scan, lambda f: f == "core.v") if scan else ()
    shown.show_file(scan, block_rows(scan, lambda f: f == "core.v", points, lambda line: line + moved))


@pytest.fixture
def blocks(qtbot: QtBot, qapp: object) -> BlocksHere:
    make_application()
    made = BlocksHere()
    qtbot.addWidget(made)
    made.resize(260, 400)
    made.show()
    return made


def current(blocks: BlocksHere) -> BlockRow:
    row = blocks.rows.current
    assert isinstance(row, BlockRow)
    return row


def test_rows_are_gone_to_by_keys_and_by_a_click(blocks: BlocksHere, qtbot: QtBot) -> None:
    show(blocks, scan_of([block(0, (MARK,)), block(1), block(2)]))
    assert [(row.title, row.said) for row in blocks.rows.rows.tops] == [
        ("leaf_0: always at 2", "1 state"), ("leaf_1: always at 10", "none"), ("leaf_2: always at 18", "none"),
    ]  # fmt: skip
    assert blocks.rows.accessibleName() == "Blocks in this file"
    chosen: list[int] = []
    blocks.line_chosen.connect(chosen.append)
    blocks.rows.setFocus()
    qtbot.keyClick(blocks.rows, Qt.Key.Key_Down)
    qtbot.keyClick(blocks.rows, Qt.Key.Key_End)
    assert (current(blocks).line, chosen) == (18, [])  # only looked at
    qtbot.keyClick(blocks.rows, Qt.Key.Key_Return)
    second = blocks.rows.visualRect(blocks.rows.rows.index(1, 0)).center()
    qtbot.mouseClick(blocks.rows.viewport(), Qt.MouseButton.LeftButton, pos=second)
    assert chosen == [18, 10]
    tip = blocks.rows.rows.data(blocks.rows.rows.index(0, 0), Qt.ItemDataRole.ToolTipRole)
    assert tip == "leaf_0: always at 2. Go to line 2\nWith a pragma: 1 state"


def test_what_has_no_pragma_is_said_below_the_rows(blocks: BlocksHere, qtbot: QtBot) -> None:
    show(blocks, None)
    assert blocks.nothing.text() == "Reading the sources."
    show(blocks, scan_of([]))
    assert blocks.nothing.text() == "No calls or clocked blocks in this file."
    show(blocks, scan_of([block(0, (MARK,)), block(1, why_not=WHY_NOT)]))
    assert not blocks.nothing.isVisible()
    assert blocks.why.text() == f"leaf_1 has no pragma. {WHY_NOT}"
    with qtbot.waitSignal(blocks.line_chosen) as told:
        qtbot.keyClick(blocks.go, Qt.Key.Key_Space)
    assert told.args == [10]
    show(blocks, scan_of([block(0, (MARK,))]))
    assert not blocks.why.isVisible()


def test_thousands_of_blocks_are_rows_not_widgets_and_stay_in_place_while_one_types(
    blocks: BlocksHere, qtbot: QtBot
) -> None:
    scan = scan_of([block(number) for number in range(MANY)])
    before = time.thread_time()
    show(blocks, scan)
    blocks.grab()
    assert time.thread_time() - before < 1.0  # widgets of their own took 20 s
    assert len(blocks.findChildren(QWidget)) < 20
    blocks.rows.setFocus()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Up):
        qtbot.keyClick(blocks.rows, key)
    scrolled = blocks.rows.verticalScrollBar()
    qtbot.waitUntil(lambda: scrolled.maximum() > 0)
    scrolled.setValue(8 * MANY)  # away from that row
    at = scrolled.value()
    assert at == 8 * MANY
    show(blocks, scan, moved=1)  # a line was typed above
    assert current(blocks).title == f"leaf_{MANY - 2}: always at {8 * (MANY - 2) + 3}"
    assert scrolled.value() == at

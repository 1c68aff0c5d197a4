"""Analyse's table of the design's streams: most stalls first, a key away from the source."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from workbench.analysis import analyse, load_knowledge
from workbench.analysis.streams import stream_table
from workbench.gui.views.canvas import text_width
from workbench.gui.widgets.row_view import RowView
from workbench.gui.widgets.rows import Column, shared_widths
from workbench.gui.widgets.table_view import TableView
from workbench.testing.runs import synthetic_platform, synthetic_run


def table(qtbot: QtBot) -> TableView:
    analysis = analyse(synthetic_run(cores=2, rounds=2), synthetic_platform(), load_knowledge([], [])[0])
    view = TableView(stream_table(analysis.streams, analysis.fifos))
    qtbot.addWidget(view)
    view.resize(1000, 300)
    return view


def texts(view: TableView, row: int) -> list[str]:
    model = view.model()
    found = (model.index(row, column).data(Qt.ItemDataRole.DisplayRole) for column in range(model.columnCount()))
    return [str(text or "").replace("\u202f", " ") for text in found]


def test_a_stream_tells_what_passed_who_stalled_and_how_full_its_fifo_is(qtbot: QtBot) -> None:
    view = table(qtbot)
    rows = [texts(view, row) for row in range(view.model().rowCount())]
    into = next(row for row in rows if row[0] == "in")
    assert into[3].startswith("0")
    assert "50" in into[4]
    assert into[5].startswith("fifo.out")
    assert into[6].startswith("16 of 16, full 50")


def test_enter_opens_the_line_of_its_port(qtbot: QtBot) -> None:
    view = table(qtbot)
    view.choose(lambda row: row[0].stream.id == "pdf2d_top.in")
    with qtbot.waitSignal(view.line_wanted) as told:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert told.args == ["pdf2d.v", 20]


def test_a_column_takes_room_that_another_does_not_need(qtbot: QtBot) -> None:
    assert shared_widths([100, 100, 50], [60, 120, None]) == [80, 120, 50]
    assert shared_widths([100, 100, 50], [60, 180, None]) == [60, 140, 50]
    assert shared_widths([100, 100], [60, 60]) == [100, 100]
    view = RowView(
        "Places", (Column("Name", lambda row: row[0], share=0.7), Column("Where", lambda row: row[1], share=0.3))
    )
    qtbot.addWidget(view)
    text = "a long text that needs more than its share"
    view.show_rows([(("short", text), ())])
    assert 0.3 * view.viewport().width() < text_width(text, 13) < view.columnWidth(1)
    narrow = table(qtbot)
    narrow.show()
    assert narrow.columnWidth(1) == narrow.rows.columns[1].width_px
    narrow.resize(640, 300)  # figures give what they do not need
    assert narrow.columnWidth(1) < narrow.rows.columns[1].width_px
    for number in (5, 6):
        assert narrow.columnWidth(number) > max(text_width(texts(narrow, row)[number], 13) for row in range(2))


def test_cells_that_look_alike_when_shortened_keep_what_differs(qtbot: QtBot) -> None:
    places = [f"host rank[*].main, {count} call sites of one kind" for count in (3, 4)]
    view = RowView("Places", (Column("Where", lambda row: row, share=1.0, elide=Qt.TextElideMode.ElideMiddle),))
    qtbot.addWidget(view)
    view.resize(170, 200)
    view.show_rows([(place, ()) for place in places])
    view.grab()
    (cuts,) = view.cuts.values()
    assert set(cuts) == set(places)
    assert all("…" in cut for cut in cuts.values())
    assert len(set(cuts.values())) == 2


def test_the_keyboard_coming_in_chooses_no_row(qtbot: QtBot) -> None:
    view = RowView("Places", (Column("Name", lambda row: row[0]),))
    told: list[object] = []
    view.chosen.connect(told.append)
    qtbot.addWidget(view)
    view.show_rows([(("one",), ()), (("two",), ())])
    view.show()
    qtbot.waitActive(view)
    view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(view.hasFocus)
    assert told == []
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert told == [("two",)]

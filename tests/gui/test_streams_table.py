"""Analyse's table of the design's streams: most stalls first, a key away from the source."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from workbench.analysis import analyse, load_knowledge
from workbench.analysis.streams import stream_table
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

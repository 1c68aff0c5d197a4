"""A run's streams are asked in the window: by typing, by a click on an edge, and by what the run shows."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from driven.texts import clipped
from pixels import pixels_of, rgb
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot
from rc_workbench_plugins.streaming.agents.kept import table_of_answers
from rc_workbench_plugins.streaming.agents.packets import Answers
from rc_workbench_plugins.streaming.query.measures import FrameValue, Measure, MeasureResult, Metric, Statistic
from rc_workbench_plugins.streaming.query.replies import thinned
from stream_topologies import with_streams

from workbench.api.queries import Curve, Curves, QueriedBlock, QueriedEdge, QueueFill, Reply, Subject
from workbench.api.window import palette
from workbench.formats.run_folder import RunWriter
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.modes.source.mode import SourceMode
from workbench.gui.modes.streams import replies
from workbench.gui.modes.streams.explained import ROW_PX, ExplainedBars
from workbench.gui.modes.streams.graph import graph_of, label_of, laid_out
from workbench.gui.modes.streams.mode import QueryMode
from workbench.gui.modes.streams.plots import apart, asked, course, cumulative, histogram_bars, where_of
from workbench.gui.views.bars_view import BarsView
from workbench.gui.widgets import DiagnosticRow, EmptyState
from workbench.model.blocks import Edge, Side
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.run import PS_PER_S
from workbench.pictures import bars as pictured_bars
from workbench.pictures.edge_labels import block_label, draw_edge_labels, placed_labels
from workbench.pictures.frames import HeatMap, Spreads, draw_heat, draw_spreads, grouped, heat_rows, spread, spread_rows
from workbench.pictures.layout import Box, GraphLayout, NodeBox, RoutedEdge
from workbench.pictures.palette import LIGHT
from workbench.pictures.plot import Axis
from workbench.pictures.svg import SvgCanvas
from workbench.testing.runs import synthetic_run

EXAMPLE = Path(__file__).parents[2] / "resources" / "examples" / "laplace"


@pytest.fixture
def mode(window: MainWindow, qtbot: QtBot, tmp_path: Path, settle: Callable[[MainWindow], None]) -> QueryMode:
    """On a run of Laplace's equation whose split block is slow."""
    run = with_streams(synthetic_run(cores=2, rounds=1))
    RunWriter(tmp_path / "run").finish(run.manifest, run.tables)
    window.context.open_run(tmp_path / "run")
    window.context.navigation.set_mode("streams")
    settle(window)
    found = window.modes.current()
    assert isinstance(found, QueryMode)
    settle(window)
    return found


def test_a_run_is_asked(
    mode: QueryMode, window: MainWindow, qtbot: QtBot, tmp_path: Path, settle: Callable[[MainWindow], None]
) -> None:
    # what it shows unasked stands in words, and at the blocks
    assert mode.subject is not None
    assert [edge.words for edge in mode.subject.edges][:2] == ["2.49\u202fM/s", "1.25\u202fM/s"]
    facts = mode.graph.facts["Laplace.s1"]
    assert (facts.figure, facts.words, facts.limiting) == ("100\u202f%", "busy", True)
    assert mode.graph.shown is not None
    assert mode.graph.shown.queues["Laplace.e1"].depth == 4
    assert 0 < mode.graph.shown.queues["Laplace.e1"].held < 1
    # a right click on an edge writes the statement and asks it
    routed = next(edge for edge in mode.graph.layout_.edges if edge.edges[0].message == "e1")
    place = mode.graph.offset + QPointF(*routed.label_box.centre) * mode.graph.magnification
    menu = mode.graph.asking_menu(place)
    assert menu is not None
    assert (menu.actions()[0].text(), menu.actions()[0].isEnabled()) == ("Measure e1", False)
    next(action for action in menu.actions() if action.text() == "Occupancy, histogram").trigger()
    assert mode.editor.toPlainText() == "measure hist occupancy at e1"
    settle(window)
    (reply,) = mode.replies.replies
    assert reply.words.startswith("most often 4: ")
    assert len(reply.times_s) == 21  # one answer, and its course
    assert [pill.text() for pill in mode.replies.pictures.pills.values() if not pill.isHidden()] == [
        "Over time", "Histogram", "Cumulative"
    ]  # fmt: skip
    assert [one.edges[0].message for one in mode.graph.chosen_edges] == ["e1"]
    assert mode.replies.pictures.words.text() == reply.words  # its row has room for the beginning alone
    assert mode.replies.pictures.bars.isVisibleTo(mode)
    assert not mode.replies.pictures.heat.isVisibleTo(mode)
    # it is a document: unsaved, written beside the run, and undone as text is
    assert mode.document.dirty
    assert "Streams, not saved" in window.rail.buttons["streams"].accessibleName()
    assert mode.save()
    assert (tmp_path / "streams.query").read_text() == "measure hist occupancy at e1"
    assert mode.history.can_undo
    # in frames there is a map of it over time, and numbers have a spread; a broken assertion is told
    mode.frame_length.setText("20 us")
    mode.editor.add_statement("r: measure rate at e4\nassert r > 3 Mtps")
    qtbot.keyClick(mode.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(window)
    assert mode.replies.pictures.heat.map.shares.shape == (len(mode.replies.replies[0].bin_words), 5)
    assert mode.replies_head.subtitle.text() == "3 statements, 1 broken"
    mode.replies.table.setFocus()
    qtbot.keyClick(mode.replies.table, Qt.Key.Key_Down)
    assert [row.name for row in mode.replies.pictures.spreads.spreads.rows] == ["r: rate at e4"]
    assert mode.editor.line == mode.replies.table.current.line == 2
    mode.below_pills[1].click()
    qtbot.keyClick(mode.replies.table, Qt.Key.Key_Up)  # an answer that is chosen is drawn
    assert mode.replies.pictures.isVisibleTo(mode)
    qtbot.keyClick(mode.replies.table, Qt.Key.Key_Down)
    # what is asked by a click is shown, below what was asked before
    mode.add("measure rate at e1")
    settle(window)
    assert mode.replies.table.current.line == 4
    assert mode.replies.pictures.words.text() == mode.replies.table.current.words
    for size in ((1024, 700), (1600, 1000)):
        window.resize(*size)
        settle(window)
        assert clipped(window) == []


def test_a_run_of_which_agents_alone_told_is_drawn_as_the_project(
    window: MainWindow, tmp_path: Path, settle: Callable[[MainWindow], None]
) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "laplace")
    rate = Measure("", "measure rate at e1", Metric.RATE, Statistic.MEAN, ("Two.e1",))
    frame = FrameValue(0, PS_PER_S, PS_PER_S, 3, 3.0, uncertainty_ps=16_000_000)
    counted = {"processor": Answers((MeasureResult(rate, (frame,)),), ())}
    run = synthetic_run(cores=1, rounds=1)
    tables = {**run.tables, **table_of_answers(counted)}
    RunWriter(tmp_path / "run").finish(run.manifest, tables)
    window.context.open_project(tmp_path / "laplace" / "two.workbench.yaml")
    settle(window)
    window.context.open_run(tmp_path / "run")
    settle(window)
    window.context.navigation.set_mode("streams")
    settle(window)
    mode = window.modes.current()
    assert isinstance(mode, QueryMode)
    settle(window)
    assert mode.of_run
    assert [reply.text for reply in mode.replies.replies] == ["measure rate at e1"]
    assert [reply.unsure_s for reply in mode.replies.replies] == [16e-6]
    assert mode.graph_head.subtitle.text() == "Two, 6 blocks, 6 streams, current source"
    assert "Two.mt" in mode.graph.facts


def test_what_agents_counted_is_over_the_bars_of_what_the_run_shows(
    window: MainWindow, tmp_path: Path, settle: Callable[[MainWindow], None], qtbot: QtBot
) -> None:
    """Two rates and a mean: one rate is the trace's, what differs is amber; where events were lost, all of them are."""
    run = with_streams(synthetic_run(cores=2, rounds=1))

    def counted(edge: str, metric: Metric, text: str, value: float) -> MeasureResult:
        measure = Measure("", f"measure {text} at {edge}", metric, Statistic.MEAN, (f"Laplace.{edge}",))
        return MeasureResult(measure, (FrameValue(0, PS_PER_S, PS_PER_S, 3, value),), agent="processor")

    measures = (
        counted("e1", Metric.RATE, "rate", 2.49159e6), counted("e4", Metric.RATE, "rate", 0.5e6),
        counted("e1", Metric.OCCUPANCY, "mean occupancy", 3.93),
    )  # fmt: skip
    lost = Diagnostic("12 events of the streams were lost: the agent did not keep up", severity=Severity.WARNING)

    def bars(*problems: Diagnostic) -> dict[str, ExplainedBars]:
        tables = table_of_answers({"processor": Answers(measures, (), problems)})
        folder = tmp_path / f"run-{len(problems)}"
        RunWriter(folder, run.manifest).finish(run.manifest, {**run.tables, **tables})
        window.context.open_run(folder)
        settle(window)
        window.context.navigation.set_mode("streams")

        def shown() -> dict[str, ExplainedBars]:
            every = window.modes.current().findChildren(ExplainedBars)
            mine = [one for one in every if one.bars[0].counted is None or bool(one.bars[0].warning) == bool(problems)]
            return {one.accessibleName(): one for one in mine}

        qtbot.waitUntil(lambda: "At what rate is data moving?" in shown(), timeout=10_000)
        return shown()

    rates = (of := bars())["At what rate is data moving?"]
    said = [(bar.name, bar.counted is not None, bool(bar.warning)) for bar in rates.bars]
    assert said == [
        ("e1", True, False), ("e21", False, False), ("e22", False, False), ("e31", False, False), ("e32", False, False),
        ("e4", True, True),
    ]  # fmt: skip
    assert "the processor's agent counted 500\u202fk/s" in rates.row_words(5)
    full = of["How full is each queue?"].bars[0]
    assert (full.whole, full.counted, full.warning) == (4, 3.93, "")
    assert of["How busy is each block?"].bars[1].words == "100\u202f%"
    qtbot.waitUntil(lambda: rates.height() > ROW_PX * 5)  # it has its place
    pixels, colours = pixels_of(rates.grab().toImage()), palette()
    amber, plain = (rgb(QColor(colour)) for colour in (colours.medium, colours.accent))
    rows = [{int(pixel) for pixel in pixels[11 + ROW_PX * row]} & {amber, plain} for row in (0, 5)]
    assert rows == [{plain}, {amber}]
    qtbot.mouseClick(rates, Qt.MouseButton.LeftButton, pos=QPoint(40, ROW_PX * 5 + 4))
    assert window.modes.current().editor.toPlainText() == "measure rate at e4"
    warned = bars(lost)["At what rate is data moving?"].bars
    assert "12 events of the streams were lost" in warned[0].warning
    assert [bool(bar.warning) for bar in warned] == [True, False, False, False, False, True]


def test_names_are_proposed_and_what_is_wrong_is_said(
    mode: QueryMode, window: MainWindow, qtbot: QtBot, settle: Callable[[MainWindow], None]
) -> None:
    mode.editor.setFocus()
    qtbot.keyClicks(mode.editor, "measure rate at e2")
    assert mode.editor.completion.words[0].text == "e21"
    qtbot.keyClick(mode.editor.completion.list, Qt.Key.Key_Return)
    assert mode.editor.toPlainText() == "measure rate at e21"
    qtbot.keyClick(mode.editor, Qt.Key.Key_Return)
    qtbot.keyClicks(mode.editor, "measure rat at e1")
    qtbot.waitUntil(lambda: bool(mode.editor.problems))
    assert mode.wrong.text() == "Line 2: 'rat' cannot be measured. Did you mean 'rate'?"
    mode.ask()
    settle(window)
    assert mode.replies_head.subtitle.text() == "not answered: the query has errors"


def test_a_project_is_drawn_as_it_is_written_before_it_is_run(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, settle: Callable[[MainWindow], None]
) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "laplace")
    project, context = tmp_path / "laplace" / "two.workbench.yaml", window.context
    context.open_project(project)
    context.navigation.set_mode("streams")
    settle(window)
    mode = window.modes.current()
    assert isinstance(mode, QueryMode)
    settle(window)
    assert mode.graph_head.subtitle.text() == "Two, 6 blocks, 6 streams"
    assert mode.graph.facts["Two.mt"].words == "any core"
    at = {node.title: node.box.centre[0] for node in mode.graph.layout_.nodes}
    assert at["mt"] < at["s1"] < at["w1"] == at["w2"] < at["a1"] < at["out"]
    # a right click writes a statement; there is nothing to ask yet
    routed = next(edge for edge in mode.graph.layout_.edges if edge.edges[0].message == "e4")
    menu = mode.graph.asking_menu(mode.graph.offset + QPointF(*routed.label_box.centre) * mode.graph.magnification)
    assert menu is not None
    next(action for action in menu.actions() if action.text() == "Values").trigger()
    assert mode.editor.toPlainText() == "measure trace value at e4"
    assert not mode.ask_button.isEnabled()
    assert mode.replies.nothing.title.text() == "No run yet"
    assert mode.document.path == project.parent / "streams.query"
    # a mapping that is typed, and not saved, moves its block; a fault is told with its line, and the graph stays
    for added, stands, said in (("{mt: card}", "FPGA card", []), ("{mt: crad}", "FPGA card", ["mt: crad"])):
        context.navigation.open_line(str(project), 1)
        source = window.modes.current()
        assert isinstance(source, SourceMode)
        assert source.editor is not None
        assert [path.name for path in source.side.tree.files()][:2] == ["laplace.x", "rng.v"]
        text = project.read_text().replace("  top: Two", f"  top: Two\n  mapping: {added}")
        source.editor.file.replace("type", text)
        context.navigation.set_mode("streams")
        settle(window)
        assert (
            source.details_panel.findChildren(EmptyState)[0].why.text() == "Nothing has run yet."
        )  # whatever else was read meanwhile
        assert mode.graph.facts["Two.mt"].words == stands
        rows = mode.findChildren(DiagnosticRow)
        assert [row.diagnostic.line for row in rows] == [1 + text[: text.index(one)].count("\n") for one in said]
    # a run without a trace is said to be one, and the project stays
    run = synthetic_run(cores=1, rounds=1)
    RunWriter(tmp_path / "untraced").finish(run.manifest, run.tables)
    context.open_run(tmp_path / "untraced")
    settle(window)
    settle(window)
    assert mode.replies.nothing.title.text() == "The open run recorded no transfers"
    assert mode.graph.facts["Two.mt"].words == "FPGA card"
    # double-click: where the block is written
    with qtbot.waitSignal(context.navigation.line_wanted) as wanted:
        mode.graph.node_opened.emit("Two.w1")
    file, line = wanted.args
    assert Path(file).read_text().split("\n")[line - 1].strip() == "Walk w1, w2;"


def _one_edge(label: str, detail: str, long: float) -> GraphLayout:
    """Two nodes and an edge between them."""
    boxes = (Box(0, 0, 50, 40), Box(50 + long, 0, 50, 40))
    nodes = tuple(NodeBox(name, name, "", Side.FPGA, (name,), box) for name, box in zip("ab", boxes, strict=True))
    edge = RoutedEdge(
        "a", "b", (Edge("a", "b", "m"),), ((50, 20), (50 + long, 20)), label, detail, Box(50, 11, long, 18)
    )
    return GraphLayout(100 + long, 40, (), nodes, (edge,))


@pytest.mark.parametrize(
    ("label", "detail", "long", "shown"),
    [
        ("12 × 2.00 KiB", "samples", 300, ["12 × 2.00 KiB", "samples"]),
        ("12 × 2.00 KiB", "samples", 100, ["12 × 2.00 KiB", "samples"]),  # under one another
        ("12 × 2.00 KiB", "samples", 62, ["samples"]),
        ("12 × 2.00 KiB", "samples", 30, []),
        ("q1.p1.left", "", 60, ["…p1.left"]),
        ("q1.p1.left", "", 44, ["…left"]),
    ],
)
@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_an_edge_says_whole_words_of_one_size_or_none(
    label: str, detail: str, long: float, shown: list[str], scale: float
) -> None:
    """Not a few letters of them: "12 × 2…" would be read as another size. No gap is cut for words that have no room."""
    layout = _one_edge(label, detail, long / scale)
    canvas = SvgCanvas(LIGHT)
    draw_edge_labels(canvas, layout, placed_labels(canvas, layout, [block_label(layout.edges[0])], scale), scale)
    drawn = canvas.document(400, 100, "")
    assert re.findall(r"<text[^>]*>([^<]*)", drawn) == shown
    assert set(re.findall(r'font-size="([\d.]+)', drawn)) <= {"11"}
    assert ("<rect" in drawn) <= bool(shown)


def test_of_labels_without_room_the_least_important_are_dropped() -> None:
    """Never over a block, another line or another label, and the same ones for the same room."""
    names = [f"b{n}" for n in range(15)]  # a tree of eight leaves
    edges = tuple(
        QueriedEdge(f"T.e{n}", f"T.b{(n - 1) // 2}", f"T.b{n}", "67.2 k/s", (), short=("67 k/s", "67 k"))
        for n in range(1, 15)
    )
    subject = Subject("T", tuple(QueriedBlock(f"T.{name}") for name in names), edges, (), (), lambda text: ())
    layout = laid_out(graph_of(subject), True, 900.0, 700.0)
    queues = {edge.label: QueueFill(1e3 * n, 0.01 * n, 2.0, 4) for n, edge in enumerate(edges, 1)}
    labels = [
        label_of(routed.edges[0].message, edge, queues[edge.label])
        for routed in layout.edges
        for edge in edges
        if edge.label == f"T.{routed.edges[0].message}"
    ]
    shown = {}
    for scale in (0.15, 0.25, 0.5, 1.0):
        placed = placed_labels(SvgCanvas(LIGHT), layout, labels, scale)
        shown[scale] = [one.edge.edges[0].message for one in placed]
        nodes = [Box(*(part * scale for part in (b.x, b.y, b.width, b.height))) for b in (n.box for n in layout.nodes)]
        for number, one in enumerate(placed):
            assert not any(one.box.overlaps(other) for other in (*nodes, *(p.box for p in placed[:number])))
    assert len(shown[0.15]) < len(shown[0.5]) == len(shown[1.0]) == len(edges)
    assert shown[1.0] == [f"e{n}" for n in range(14, 0, -1)]
    assert (0.5, "low") in {form.form.gauge for form in placed_labels(SvgCanvas(LIGHT), layout, labels)}


def test_a_streams_graph_fills_its_room() -> None:
    """A long chain is folded, and blocks are as far from one another as there is room."""
    names = [f"b{n}" for n in range(12)]
    edges = tuple(QueriedEdge(f"T.e{n}", f"T.b{n}", f"T.b{n + 1}", "67 k/s", ()) for n in range(11))
    subject = Subject("T", tuple(QueriedBlock(f"T.{name}") for name in names), edges, (), (), lambda text: ())
    layout = laid_out(graph_of(subject), False, 900.0, 500.0)
    assert layout.frames == ()
    assert 0.8 * 500 < layout.height * min(900 / layout.width, 500 / layout.height) <= 501
    assert len({round(node.box.y) for node in layout.nodes}) > 1
    for count in (40, 88):  # blocks that nothing joins, as of ranks, are no thin column
        alone = tuple(QueriedBlock(f"rank[{n % 4}].b{n}") for n in range(count))
        layout = laid_out(graph_of(replace(subject, blocks=alone, edges=())), False, 900.0, 450.0)
        assert 1.2 < layout.width / layout.height < 3.2


def test_a_large_graph_is_laid_out_in_a_thread(mode: QueryMode, qtbot: QtBot) -> None:
    graph, background = mode.graph, mode.context.background
    blocks = tuple(QueriedBlock(f"rank[{n % 4}].b{n}") for n in range(88))
    graph.show_subject(Subject("T", blocks, (), (), (), lambda text: ()))
    assert (graph.layout_, background.waits("streams-layout")) == (None, True)
    qtbot.waitUntil(lambda: not background.busy)
    assert graph.layout_ is not None
    assert len(graph.layout_.nodes) == 88
    graph.resize(graph.width() // 2, graph.height())  # what was drawn stays until the other is there
    assert graph.layout_.width > 0
    assert background.waits("streams-layout")


def test_several_edges_are_in_one_plot_and_what_was_counted_over_what_was_replayed() -> None:
    times, counted = (
        (0.0, 1.0, 2.0),
        Reply("", "measure rate at e1", "", 0, "transfers/s", (0.0, 1.0, 2.0), (10.0, 20.0)),
    )
    first = replace(counted, line=1, values=(10.0, 20.1), counted=(counted,))
    second = Reply("", "measure rate at e2", "", 2, "transfers/s", times, (5.0, 5.0))
    plot = course(first, [second])
    assert [(line.name, line.joined, line.points) for line in plot.lines] == [
        ("e1", True, False), ("", False, True), ("e2", True, True)
    ]  # fmt: skip
    assert plot.lines[0].ink == plot.lines[1].ink != plot.lines[2].ink
    assert not apart(first)  # by less than a hundredth
    assert apart(replace(first, values=(10.0, 21.0)))
    curves = Curves("Cumulative share", "s", (Curve("counted", (1.0, 2.0), (0.5, 1.0)),))
    both = [replace(one, bin_words=("a",), curves=(curves,)) for one in (first, second)]
    assert [line.name for line in cumulative(both).lines] == ["e1", "e2"]


def test_boxes_have_whiskers_to_what_is_not_outlying() -> None:
    one = spread("r", [1, 2, 3, 4, 5, 30])
    assert (one.least, one.median, one.most, one.outlying) == (1, 3.5, 5, (30,))
    assert (one.lower, one.upper) == (2.25, 4.75)
    canvas = SvgCanvas(LIGHT)
    picture = Spreads(Axis("of each frame", lambda value: f"{value:g}"), (one,))
    draw_spreads(canvas, picture, picture.whole, 0, 400, 100)
    said = canvas.document(400, 100, "Spread")
    assert said.count("<circle") == 1
    assert ">3.5<" in said


def test_answers_say_what_was_asked_and_where(qtbot: QtBot) -> None:
    labelled = Reply("h", "h: measure hist(frame = 20 us) occupancy at e1", "most often 4: 97.5 %", 1)
    plain = Reply("", "measure mean latency at queue.of.results", "3.2 µs", 2)
    assert (asked(labelled), where_of(labelled)) == ("h: hist occupancy at e1", "e1 (h)")
    assert (asked(plain), where_of(plain)) == ("Mean latency at queue.of.results", "queue.of.results")
    table = replies.AnswerTable()  # in two lines where one has no room
    qtbot.addWidget(table)
    table.show()
    for width_px, row_px in ((700, replies.ROW_PX), (250, replies.WRAPPED_PX), (700, replies.ROW_PX)):
        table.resize(width_px, 200)
        table.show_rows([(labelled, ()), (plain, ())])
        assert table.row_px == row_px
        assert table.isColumnHidden(0) is (width_px == 250)


def test_a_histogram_fills_its_room_and_has_no_rows_of_nothing(qtbot: QtBot) -> None:
    shares = (0.5, 0.0, 0.0, 0.0, 0.2, 0.0, 0.3)
    reply = Reply("", "h", "", 1, times_s=(0.0, 1.0), bin_words=tuple("abcdefg"), shares=(shares,))
    bars = histogram_bars(reply)
    assert [(row.name, row.value) for row in bars.rows] == [
        ("a", 0.5), ("b to d", 0.0), ("e", 0.2), ("f", 0.0), ("g", 0.3),
    ]  # fmt: skip
    view = BarsView("Histogram", fills=True)
    qtbot.addWidget(view)
    most_px, least_px = pictured_bars.MOST_ROW_PX, pictured_bars.ROW_PX
    for height_px, row_px in ((400, (400 - 6 - 26) / 5), (10, least_px), (2000, most_px)):
        view.resize(500, height_px)
        view.show_bars(bars)
        assert view.row_px == pytest.approx(row_px, abs=4)
    assert view.lane_at(QPointF(20, 6 + 1.5 * most_px)) == 1


def test_an_edge_without_room_for_all_still_has_the_gauge_of_its_queue() -> None:
    edge = QueriedEdge("T.e1", "T.a", "T.b", "2.49 M/s", (), short=("2.5 M",))
    forms = label_of("e1", edge, QueueFill(2.5e6, 0.87, 3.9, 4)).forms
    with_gauge = [form.height for form in forms if form.gauge]
    assert len(with_gauge) > 3
    assert min(with_gauge) < with_gauge[0] / 2
    assert [form.gauge for form in forms if form.height <= 30][:1] == [(pytest.approx(3.9 / 4), "medium")]


def test_a_heat_map_is_stronger_where_more_was() -> None:
    shares = np.array([[0.4, 0.0, 0.1], [0.0, 0.4, 0.3]])
    found = HeatMap("share", (0.0, 1.0, 2.0, 3.0), ("0", "1"), shares)
    drawn: list[np.ndarray] = []

    class Kept(SvgCanvas):
        def image(self, x: float, y: float, pixels: np.ndarray, density: float = 1.0) -> None:
            drawn.append(pixels)

    draw_heat(Kept(LIGHT), found, (0.0, 3.0), 340, 220)
    (pixels,) = drawn
    high, wide = pixels.shape
    accent, sunken = 0xFF3A4BC2, 0xFFF5F6F8
    assert pixels[high - 1, 0] == accent  # bin 0 is below, and has the most that is anywhere
    assert pixels[0, 0] == sunken
    assert pixels[0, wide // 2] == accent
    red = (pixels >> 16) & 0xFF
    assert red[high - 1, wide - 1] > red[0, wide - 1]  # a tenth below is fainter than three above
    assert list(heat_rows(found))[1:] == [(0.0, 1.0, 0.4, 0.0), (1.0, 2.0, 0.0, 0.4), (2.0, 3.0, 0.1, 0.3)]


def test_edges_of_frames_are_as_soft_as_their_times_are_unsure() -> None:
    shares, times_s = np.array([[1.0, 0.0]]), (0.0, 1.0, 2.0)
    images: list[np.ndarray] = []

    class Kept(SvgCanvas):
        def image(self, x: float, y: float, pixels: np.ndarray, density: float = 1.0) -> None:
            images.append(pixels)

    for unsure_s in (0.0, 0.1):
        canvas = Kept(LIGHT)
        draw_heat(canvas, HeatMap("share", times_s, ("0",), shares, unsure_s), (0.0, 2.0), 440, 120)
        said = canvas.document(440, 120, "")
        assert ("known to \u00b1 100\u202fms" in said) == bool(unsure_s)
    sharp, soft = (image[0] for image in images)
    reach = int(0.05 * len(sharp))
    assert len(np.unique(sharp)) == 2
    changed = np.flatnonzero(soft != sharp)
    assert len(np.unique(soft)) > reach
    assert abs(changed[0] - (len(sharp) / 2 - reach)) <= 2
    assert abs(changed[-1] - (len(sharp) / 2 + reach)) <= 2
    head, first, _ = heat_rows(HeatMap("share", times_s, ("0",), shares, 0.1))
    assert dict(zip(head, first, strict=True))["off by at most (s)"] == 0.1


def test_a_course_has_a_band_of_what_it_may_have_been() -> None:
    """A time may be off either way, and so may a number."""
    reply = Reply("r", "r", "", 1, "elements", (0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 4.0, 4.0, 0.0), unsure_s=0.25)
    plot = course(reply)
    (line,) = plot.lines
    assert line.band
    np.testing.assert_allclose(line.band, [[0, 3, 3, 0], [1, 4, 4, 1]])
    assert plot.x.title == "time, known to \u00b1 250\u202fms"
    assert plot.say(0, 1) == "1.50\u202fs \u00b1 250\u202fms: 4\u202felements"
    off = course(replace(reply, unsure_s=0.0, uncertain=(0.5, 1.0, 0.0, 2.0)))
    np.testing.assert_allclose(off.lines[0].band, [[-0.5, 3, 4, -2], [0.5, 5, 4, 2]])
    assert off.say(0, 1) == "1.50\u202fs: 4\u202felements \u00b1 1\u202felements"
    exact = course(replace(reply, unsure_s=0.0))
    assert (exact.lines[0].band, exact.x.title) == (None, "time")
    step = course(replace(reply, values=(1.0, 5.0), moments_s=(0.5, 2.0), stays=True)).lines[0]
    np.testing.assert_allclose(step.band, [[1, 1, 1, 5], [1, 5, 5, 5]])


def test_boxes_say_how_far_their_numbers_may_be_off() -> None:
    canvas = SvgCanvas(LIGHT)
    picture = Spreads(Axis("of each frame", lambda value: f"{value:g} s"), (spread("r", [1, 2, 3], 0.5),))
    low, high = picture.whole
    assert low <= 0.5
    assert high >= 3.5
    draw_spreads(canvas, picture, picture.whole, 0, 400, 100)
    assert "of each frame, each to \u00b1 0.5 s" in canvas.document(400, 100, "Spread")
    head, row = spread_rows(picture)
    assert (head[-1], row[-1]) == ("off by at most", 0.5)


def test_a_long_trace_is_shown_to_its_end_with_its_extremes() -> None:
    moments, values = np.arange(100_000), np.zeros(100_000)
    values[77_777], values[99_999] = 9.0, -3.0
    at, kept = thinned(moments, values, 3_000)
    assert len(at) <= 3_000
    assert (np.diff(at) > 0).all()
    assert (at[kept == 9].tolist(), at[kept == -3].tolist()) == ([77_777], [99_999])
    few = thinned(moments[:50], values[:50], 3_000)
    assert few[0].tolist() == list(range(50))


def test_what_stays_is_drawn_in_steps() -> None:
    (line,) = course(Reply("o", "o", "", 1, "elements", (0.0, 4.0), (1.0, 5.0), (0.5, 2.0), stays=True)).lines
    assert (line.x.tolist(), line.y.tolist()) == ([0.5, 2.0, 2.0, 4.0], [1.0, 1.0, 5.0, 5.0])


def test_a_map_of_many_bins_holds_all_of_them() -> None:
    names, shares = grouped(tuple(map(str, range(130))), np.full((130, 2), 1 / 130), 64)
    assert (names[0], names[-1], len(names)) == ("0 to 2", "129", 44)
    np.testing.assert_allclose(shares.sum(axis=0), 1)


def test_frames_count_by_their_length() -> None:
    reply = Reply("h", "h", "", 1, "elements", (0.0, 1.0, 4.0), (), (), ("0", "1"), ((1.0, 0.0), (0.0, 1.0)))
    assert [bar.value for bar in histogram_bars(reply).rows] == [0.25, 0.75]
    counted = replace(reply, events=(9.0, 1.0))  # as the words of the answer have it
    assert [bar.value for bar in histogram_bars(counted).rows] == [0.9, 0.1]
    assert histogram_bars(replace(reply, unsure_s=2e-6)).foot == "frames' times known to \u00b1 2.00\u202fµs"
    numbers = Reply("r", "r", "", 1, "s", (0.0, 1.0, 4.0), (2.0, None))
    many = Reply("h", "h", "", 1, times_s=(0.0, 1.0), bin_words=tuple("abcdefghij" * 5), shares=((0.02,) * 50,))
    assert [(bar.name, bar.value) for bar in histogram_bars(many).rows][:1] == [("a to c", pytest.approx(0.06))]
    (line,) = course(numbers).lines
    assert (line.x.tolist(), line.y.tolist()) == ([0.5], [2.0])


def test_in_a_narrow_window_the_graph_has_the_whole_width(
    mode: QueryMode, window: MainWindow, qtbot: QtBot, settle: Callable[[MainWindow], None]
) -> None:
    """What the run shows is a page below it; beside it again in a wide window."""
    summary = mode.below_pills[2]
    window.resize(1600, 1000)
    settle(window)
    assert (summary.isVisible(), mode.shown.head.isVisible()) == (False, True)
    window.resize(800, 500)
    settle(window)
    assert mode.graph.width() > 0.95 * mode.width()
    assert summary.isChecked()  # nothing was asked yet
    assert (mode.shown.isVisible(), mode.shown.head.isVisible()) == (True, False)
    mode.add("measure rate at e1")
    settle(window)
    assert not mode.shown.isVisible()
    pictures, statements = mode.replies.pictures, mode.replies.statements
    qtbot.waitUntil(lambda: pictures.height() > 170)  # they have the height of the query with its answers
    qtbot.waitUntil(lambda: not statements.visibleRegion().isEmpty())
    assert statements.mapTo(mode, QPoint()).y() > mode.editor.mapTo(mode, mode.editor.rect().bottomLeft()).y()
    assert mode.replies.table.as_text().splitlines()[-1].startswith("1\tRate at e1\t")
    window.resize(1600, 1000)
    settle(window)
    assert mode.shown.isVisible()
    assert mode.graph.width() < 0.7 * mode.width()


def test_the_keyboard_stays_in_the_depths_while_they_are_found(
    mode: QueryMode, window: MainWindow, qtbot: QtBot, settle: Callable[[MainWindow], None]
) -> None:
    mode.below_pills[1].click()
    depths = mode.depths
    depths.find_button.setFocus()
    qtbot.keyClick(depths.find_button, Qt.Key.Key_Space)
    assert depths.cancel.hasFocus()
    settle(window)
    focused = window.focusWidget()
    assert focused is not None
    assert depths.isAncestorOf(focused)

"""Plots on pyqtgraph: where values stand, what wheel, drag and keys do, and what goes out to files."""

import csv
import gc
import re
import struct
import weakref
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pixels import pixels_of, rgb
from pointer import hover
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.gui.look import theme
from workbench.gui.modes.analyse.graph import GraphView
from workbench.gui.modes.predict.timing_view import TimingView
from workbench.gui.views.bars_view import BarsView
from workbench.gui.views.house_view import HouseView
from workbench.gui.views.plot_view import PlotView
from workbench.pictures.bars import ROW_PX, Bar, Bars, bars_box, draw_bars
from workbench.pictures.layout_sizes import Box
from workbench.pictures.plot import Axis, Line, Mark, Plot, Spot, fitting, kinds_of, plot_box, plot_rows, ticks
from workbench.pictures.plot_drawing import draw_plot, plot_svg
from workbench.pictures.svg import SvgCanvas

SVG = "{http://www.w3.org/2000/svg}"
X = np.array([1.0, 10.0, 100.0])
PLAIN = Plot(
    Axis("size", "{:g}".format, log=True, unit="B"), Axis("rate", "{:g}".format, unit="B/s"),
    (Line("up", X, X * 2, points=True, band=(X, X * 3)),), say=lambda line, point: f"point {point}",
)  # fmt: skip
MARKED = Plot(
    PLAIN.x,
    PLAIN.y,
    PLAIN.lines,
    (Mark("cache", 10, 5e9, "good", movable=True),),
    Axis("bandwidth", "{:g}".format, True),
)


@pytest.fixture
def view(qtbot: QtBot, qapp: QApplication) -> PlotView:
    theme.apply_theme(qapp, "light")
    made = PlotView("a plot")
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    qtbot.waitExposed(made)
    made.show_plot(PLAIN)
    return made


def wheel(view: PlotView, at: QPointF, clicks: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> bool:
    event = QWheelEvent(
        at, QPointF(view.mapToGlobal(at.toPoint())), QPoint(), QPoint(0, 120 * clicks), Qt.MouseButton.NoButton, keys,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), event)
    return event.isAccepted()


def drag(qtbot: QtBot, view: PlotView, start: QPointF, end: QPointF) -> None:
    target, left = view.viewport(), Qt.MouseButton.LeftButton
    qtbot.mousePress(target, left, pos=start.toPoint())
    for part in (0.3, 0.6, 1.0):
        qtbot.mouseMove(target, (start + (end - start) * part).toPoint())
    qtbot.mouseRelease(target, left, pos=end.toPoint())


def test_values_stand_where_the_axes_say(view: PlotView) -> None:
    box = view.view().box
    assert view.place(10, 1).x() == pytest.approx(box.centre[0])
    assert view.place(1, 1).x() == pytest.approx(box.x)
    ups = [view.place(1, y).y() for y in (0, 100, 200)]
    assert ups[0] - ups[1] == pytest.approx(ups[1] - ups[2])
    assert view.view().value(*view.place(20, 130).toTuple()) == pytest.approx((20, 130))


def test_ticks_are_round_and_few() -> None:
    log, linear, binary = Axis("", str, True), Axis("", str), Axis("", str, True, binary=True)
    assert ticks(0, 2, log, 9) == [1.0, 10.0, 100.0]
    assert ticks(0.0, 1.0, linear, 5) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(0.05, 20.95, linear, 2) == [10, 20]  # a single value shows no scale
    assert ticks(0, 4, binary, 20) == [2.0**n for n in range(14)]
    assert ticks(0, 4, binary, 4) == [2.0**n for n in (2, 6, 10)]
    for low, high in ((0.0, 0.1), (2.3, 2.32), (-9, 9)):
        for axis in (log, linear):
            assert 1 <= len(ticks(low, high, axis, 8)) <= 9, (low, high, axis)


def test_the_wheel_zooms_at_the_pointer_and_a_double_click_shows_all(qtbot: QtBot, view: PlotView) -> None:
    whole, spot = view.view(), view.place(10, 100)
    assert wheel(view, spot, 2)
    zoomed = view.view()
    assert zoomed.x[1] - zoomed.x[0] < 0.7 * (whole.x[1] - whole.x[0])
    assert view.place(10, 100).toTuple() == pytest.approx(spot.toTuple(), abs=0.5)
    drag(qtbot, view, QPointF(200, 100), QPointF(260, 140))
    moved = view.place(10, 100) - spot
    assert moved.toTuple() == pytest.approx((60, 40), abs=2)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 100))
    assert view.view().x == pytest.approx(whole.x)
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    assert view.view().x != pytest.approx(whole.x)
    qtbot.keyClick(view, Qt.Key.Key_F)
    assert view.view().y == pytest.approx(whole.y)


def test_an_axis_zooms_its_own_direction(view: PlotView) -> None:
    whole, box = view.view(), view.view().box
    wheel(view, QPointF(box.centre[0], box.bottom + 20), 2)
    assert view.view().x != pytest.approx(whole.x)
    assert view.view().y == pytest.approx(whole.y)


def test_in_a_page_the_wheel_scrolls_the_page(qtbot: QtBot) -> None:
    made = PlotView("in a page", in_page=True)
    qtbot.addWidget(made)
    made.resize(400, 250)
    made.show()
    made.show_plot(PLAIN)
    whole = made.view()
    assert not wheel(made, made.place(10, 100), 2)
    assert made.view() == whole
    assert wheel(made, made.place(10, 100), 2, Qt.KeyboardModifier.ControlModifier)
    assert made.view() != whole


def test_points_are_told_and_chosen(qtbot: QtBot, view: PlotView) -> None:
    with qtbot.waitSignal(view.pointed) as told:
        hover(view.viewport(), view.place(10, 20).toPoint())
    assert told.args == [0, 1]
    with qtbot.waitSignal(view.chosen) as chosen:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.place(100, 200).toPoint())
    assert chosen.args == [0, 2]
    canvas = SvgCanvas()
    view.draw(canvas)
    assert "point 2" in canvas.document(500, 300, "")


def test_the_crosshair_says_the_values_under_the_pointer(qtbot: QtBot, view: PlotView) -> None:
    hover(view.viewport(), view.place(10, 150).toPoint())
    canvas = SvgCanvas()
    view.draw_over(canvas)
    words = [t.text for t in ET.fromstring(canvas.document(500, 300, "")).iter(f"{SVG}text")]
    assert float(words[0] or 0) == pytest.approx(10, rel=0.02)
    assert float(words[1] or 0) == pytest.approx(150, rel=0.02)


def test_a_handle_is_dragged_and_the_view_stays(qtbot: QtBot, view: PlotView) -> None:
    view.show_plot(MARKED)
    before, start, told = view.view(), view.mark_place(0), []
    view.moved.connect(lambda *where: told.append(where))
    with qtbot.waitSignal(view.dropped):
        drag(qtbot, view, start, start + QPointF(50, -30))
    assert view.view() == before
    number, x, y = told[-1]
    goal = start + QPointF(50, -30)
    assert (number, *view.view().place(x, y, on_right=True)) == pytest.approx((0, *goal.toTuple()), abs=1)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_a_picture_goes_out_as_png_and_svg(view: PlotView, tmp_path: Path, qapp: QApplication, name: str) -> None:
    theme.apply_theme(qapp, name)
    view.show_plot(MARKED)
    png, svg = tmp_path / "plot.png", tmp_path / "plot.svg"
    view.save_picture(png)
    view.save_picture(svg)
    head = png.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", head[16:]) == (1000, 600)
    document = ET.parse(svg).getroot()
    assert {"up", "cache", "rate by size; right: bandwidth"} <= {t.text for t in document.iter(f"{SVG}text")}
    ink = rgb(theme.colour("accent"))
    for image in (QImage(str(png)), QImage(str(svg))):  # the second by Qt's own reader of SVG
        pixels = pixels_of(image)
        assert (pixels == ink).sum() > 100
        assert (pixels == rgb(theme.colour("sunken"))).mean() > 0.3
    theme.apply_theme(qapp, "light")


def test_its_data_go_out_as_csv(view: PlotView, tmp_path: Path) -> None:
    file = tmp_path / "plot.csv"
    view.show_plot(Plot(PLAIN.x, PLAIN.y, PLAIN.lines, spots=(Spot("poll", 4, 8),)))
    view.save_data(file)
    with file.open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["line", "size (B)", "rate (B/s)", "low", "high"]
    assert [[float(cell) for cell in row[1:]] for row in rows[1:4]] == [[x, 2 * x, x, 3 * x] for x in X.tolist()]
    assert rows[4] == ["poll", "4", "8", "", ""]


def test_a_file_of_another_kind_is_not_overwritten(view: PlotView, tmp_path: Path, qtbot: QtBot,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    file = tmp_path / "mine.png"
    file.write_text("my own text\n")
    monkeypatch.setattr("PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *a: (str(file), "Picture (*.png)"))
    with qtbot.waitSignal(view.problem) as told:
        view.ask_picture()
    assert "another kind of file" in told.args[0].message
    assert file.read_text() == "my own text\n"


def test_the_context_menu_has_the_windows_words(view: PlotView, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [action.text().partition("\t")[0] for action in view.menu().actions() if action.text()]
    assert said == ["Show all", "Zoom in", "Zoom out", "Copy picture", "Save picture…", "Save data…"]
    next(a for a in view.menu().actions() if a.text() == "Copy picture").trigger()
    assert QGuiApplication.clipboard().image().width() == 1000
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(10, 10), view.mapToGlobal(QPoint(10, 10)))
    opened: list[object] = []
    monkeypatch.setattr(view, "menu", lambda: SimpleNamespace(exec=opened.append))
    QApplication.sendEvent(view, event)
    assert opened


def test_what_is_not_finite_is_left_out() -> None:
    odd = Plot(PLAIN.x, PLAIN.y, (Line("odd", np.array([0.0, 1, 10, 100]), np.array([1.0, np.nan, np.inf, 5])),))
    view = fitting(odd, plot_box(odd, 500, 300))
    assert all(np.isfinite([*view.x, *view.y]))
    ET.fromstring(plot_svg(odd, "odd"))
    assert len(list(plot_rows(odd))) == 5
    empty = Plot(PLAIN.x, PLAIN.y)
    assert "<text" not in ET.tostring(ET.fromstring(plot_svg(empty, "empty")), "unicode")  # no numbers of nothing


def test_labels_of_spots_do_not_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    spots = tuple(Spot(f"call {n}", 10.0 + n, 100.0 + n, n == 2, "12 B") for n in range(8))
    spots += (Spot("call below the span's middle", 30.0, 12.0),)
    plot = Plot(PLAIN.x, PLAIN.y, PLAIN.lines, spots=spots, span=(20.0, 60.0), span_name="95 % of best")
    canvas = SvgCanvas()
    view = fitting(plot, plot_box(plot, 560, 300))
    placed: list[tuple[float, float, float]] = []

    def note(x: float, middle: float, words: str, ink: str, size: float, weight: int, align: float = 0.0) -> None:
        if words.startswith(("call", "95 %")):
            wide = canvas.width_of(words, size, weight)
            placed.append((x - align * wide, x - align * wide + wide, middle))

    monkeypatch.setattr(canvas, "write", note)
    draw_plot(canvas, plot, view, 560)
    assert len(placed) >= 2
    for n, (left, right, middle) in enumerate(placed):
        for other_left, other_right, other in placed[n + 1 :]:
            assert left >= other_right or right <= other_left or abs(middle - other) >= 11


def test_the_label_of_a_strong_spot_stays_within_a_small_plot() -> None:
    """Where no place is free at the foot of one, it must not lie on the axis's numbers."""
    sizes = 2.0 ** np.arange(2, 18, 2)
    lines = tuple(Line(f"curve {n}", sizes, sizes * 1e4 * 2**n) for n in range(4))
    spots = (
        *(Spot(f"a call {n}", 4.0 * 4**n, 4e4 * 4**n) for n in range(6)),
        Spot("poll", 4, 4e4, True, "4 B, 125 kB/s"),
    )
    plot = Plot(PLAIN.x, PLAIN.y, lines, spots=spots)
    for width, height in ((200, 120), (240, 150), (390, 200)):
        drawn = ET.fromstring(plot_svg(plot, "rates", width, height))
        (label,) = (one for one in drawn.iter(f"{SVG}text") if "125 kB/s" in (one.text or ""))
        assert float(label.attrib["y"]) < plot_box(plot, width, height).bottom, (width, height)


@pytest.mark.parametrize("width", [260, 420, 900])
def test_names_of_lines_and_handles_stand_apart_and_in_the_picture(width: int) -> None:
    names = ["Block RAM, from on-board memory", "On-board memory, from main memory"]
    lines = tuple(Line(name, X, X * (1 + n), named_at_start=True) for n, name in enumerate(names))
    marks = tuple(Mark(name, 2.0 + n, 1.0) for n, name in enumerate(names))
    plot, canvas = Plot(PLAIN.x, PLAIN.y, lines, marks), SvgCanvas()
    view = fitting(plot, plot_box(plot, width, 150))
    placed: list[Box] = []

    def note(x: float, middle: float, words: str, ink: str, size: float, weight: int, align: float = 0.0) -> None:
        if weight == 600:
            wide = canvas.width_of(words, size, weight)
            placed.append(Box(x - align * wide, middle - 6, wide, 12))

    canvas.write = note  # type: ignore[method-assign]
    draw_plot(canvas, plot, view, width)
    assert len(placed) == 4
    for name, other in combinations(placed, 2):
        assert not name.overlaps(other)
    assert all(name.x >= 0 and name.right <= width and name.bottom <= view.box.bottom for name in placed)


def test_lines_differ_by_pattern_and_marker_and_what_belongs_together_does_not() -> None:
    names = ("a", "", "b", "ideal", "c", "d", "e", "f")
    inks = ("accent", "accent", "good", "muted", "low", "text", "keyword", "accent")
    lines = [
        Line(name, X, X * n, ink, dashed=name == "ideal", points=True)
        for n, (name, ink) in enumerate(zip(names, inks, strict=True), 1)
    ]
    assert kinds_of(lines) == [0, 0, 1, 0, 2, 3, 4, 5]
    said = plot_svg(Plot(PLAIN.x, PLAIN.y, tuple(lines), legend=True), "lines", 900, 500)
    drawn = {(ink, dashes) for ink, dashes in re.findall(r'stroke="([^"]+)"[^>]*stroke-dasharray="([^"]+)"', said)}
    assert len({dashes for _, dashes in drawn}) == 5, "four patterns and that of what is ideal; the first line is solid"
    assert said.count("<circle") < said.count("<polygon")


def test_a_legend_that_would_hide_lines_in_a_small_plot_gives_way_to_names() -> None:
    lines = tuple(
        Line(name, X, Y, ink, points=True, filled=(True, *(False for _ in X[1:])))
        for name, Y, ink in (("write", X, "accent"), ("read", X[::-1], "good"))
    )
    large, small = (plot_svg(Plot(PLAIN.x, PLAIN.y, lines, legend=True), "lines", *size) for size in
                    ((1200, 700), (300, 200)))  # fmt: skip
    assert "write, with a source" in large
    assert "write, with a source" not in small
    assert ">write<" in small


def test_bars_have_the_room_that_names_and_figures_leave() -> None:
    rows = tuple(Bar(name, name, 1.0 + n, (f"{n}.00×", "12 %"), ()) for n, name in enumerate(["bins", "efficiency"]))
    bars = Bars(PLAIN.y, (), rows, (0.0, 2.1))
    narrow, wide = (bars_box(bars, width, 400) for width in (240, 800))
    assert narrow.width > 0.25 * 240
    assert wide.width > 0.75 * 800
    assert wide.height == 2 * ROW_PX  # the axis stands right below the rows
    long = replace(bars, rows=tuple(replace(row, name=row.name * 20) for row in rows))
    assert bars_box(long, 800, 400).width > 0.4 * 800


def test_a_long_name_of_a_bar_is_written_in_two_lines() -> None:
    bars = Bars(PLAIN.y, (), (Bar("ram", "Block RAM, from on-board memory", 1.0, ("1.00×",), ()),), (0.0, 2.1))
    narrow, wide = SvgCanvas(), SvgCanvas()
    draw_bars(narrow, bars, bars.whole, 0, 360, 120)
    draw_bars(wide, bars, bars.whole, 0, 900, 120)
    assert ">Block RAM, from<" in narrow.document(360, 120, "")
    assert ">on-board memory<" in narrow.document(360, 120, "")
    assert ">Block RAM, from on-board memory<" in wide.document(900, 120, "")


@pytest.mark.parametrize(
    "make",
    [lambda: PlotView("a plot"), GraphView, lambda: BarsView("bars"), TimingView],
    ids=["plot", "graph", "bars", "timing"],
)
def test_a_view_that_is_closed_leaves_nothing_behind(qapp: QApplication, make: Callable[[], HouseView]) -> None:
    theme.apply_theme(qapp, "light")
    alive: weakref.WeakSet[HouseView] = weakref.WeakSet()
    for _ in range(5):
        view = make()
        view.resize(300, 200)
        view.show()
        view.viewport().repaint()
        alive.add(view)
        view.close()
        view.deleteLater()
        del view
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    assert not len(alive)

"""Pictures have one description: what the window paints and what a file holds are the same."""

import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from pixels import pixels_of
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from workbench.analysis import Analysis, analyse
from workbench.analysis.html_report import html_report
from workbench.analysis.html_views import SHARES_HEIGHT, SHARES_WIDTH
from workbench.analysis.rate_curves import direction_plot
from workbench.gui.frame.context import Context
from workbench.gui.look import fonts, theme
from workbench.gui.modes.analyse.graph import EDGE_PX, GraphView
from workbench.gui.modes.source.details import SourceDetails
from workbench.gui.views.canvas import QtCanvas
from workbench.gui.views.house_view import HouseView
from workbench.gui.views.plot_view import PlotView
from workbench.gui.widgets import ElidedLabel, StateBar
from workbench.model.blocks import Side
from workbench.model.platform import Platform
from workbench.model.pragma import Category
from workbench.model.prediction import Prediction, Trust
from workbench.model.run import Run
from workbench.model.text import at_most_text
from workbench.pictures import letters
from workbench.pictures.canvas import Canvas
from workbench.pictures.graph import STYLE, frame_notes, node_facts
from workbench.pictures.layout import layout_graph
from workbench.pictures.palette import LIGHT, PALETTES
from workbench.pictures.signs import SEVERITIES, draw_badge, draw_severity, draw_speedup_bar, draw_state_bar
from workbench.pictures.states import ORDER
from workbench.pictures.svg import SvgCanvas
from workbench.session.keep.results import OpenRun, open_knowledge
from workbench.session.program.plugins import Plugins, load_plugins
from workbench.testing.runs import synthetic_platform, synthetic_run

SIZE = (240, 60)


def signs(canvas: Canvas) -> None:
    """One of each, without text, whose letters no two programs place alike to the pixel."""
    canvas.rect(0, 0, *SIZE, "panel")
    for n, level in enumerate(SEVERITIES):
        draw_severity(canvas, 4 + 20 * n, 4, 16, level)
    draw_speedup_bar(canvas, 90, 8, 140, 10, 1.5, 3.0, (1.4, 1.7))
    draw_state_bar(canvas, 4, 30, 232, 20, [(category, 1 / 8) for category in ORDER])
    canvas.image(4, 52, np.arange(0xFF000000, 0xFFFFFFFF, 0x81F3, np.uint32)[:480].reshape(4, 120), 2.0)


def painted(theme_name: str, qapp: QApplication) -> QImage:
    theme.apply_theme(qapp, theme_name)
    image = QImage(*SIZE, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    signs(QtCanvas(painter))
    painter.end()
    return image


def rasterised(svg: str, size: tuple[int, int] = SIZE) -> QImage:
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    assert renderer.isValid()
    image = QImage(*size, QImage.Format.Format_RGB32)
    image.fill(0xFFFF00FF)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_window_and_a_file_show_the_same_signs(qapp: QApplication, name: str) -> None:
    canvas = SvgCanvas(PALETTES[name])
    signs(canvas)
    ours, other = (
        pixels_of(image).view("u1").astype(int)
        for image in (painted(name, qapp), rasterised(canvas.document(*SIZE, "signs")))
    )
    far = (abs(ours - other) > 90).mean()  # of hatches, whose phase is each program's own
    assert far < 0.03
    states = {int(PALETTES[name].states[c].removeprefix("#"), 16) | 0xFF000000 for c in ORDER}
    assert states <= set(pixels_of(painted(name, qapp)).ravel().tolist())
    assert states <= set(pixels_of(rasterised(canvas.document(*SIZE, "signs"))).ravel().tolist())


@pytest.mark.parametrize("name", ["light", "dark"])
def test_another_program_draws_the_same_signs(qapp: QApplication, tmp_path: Path, name: str) -> None:
    if shutil.which("rsvg-convert") is None:
        assert "CI" not in os.environ, "librsvg2-bin is not installed"
        pytest.skip("librsvg2-bin is not installed")
    canvas = SvgCanvas(PALETTES[name])
    signs(canvas)
    (tmp_path / "signs.svg").write_text(canvas.document(*SIZE, "signs"), encoding="utf-8")
    subprocess.run(["rsvg-convert", tmp_path / "signs.svg", "-o", tmp_path / "signs.png"], check=True, timeout=60)
    other = QImage(str(tmp_path / "signs.png")).convertToFormat(QImage.Format.Format_RGB32)
    assert other.size().toTuple() == SIZE
    ours = pixels_of(painted(name, qapp)).view("u1").astype(int)
    assert (abs(ours - pixels_of(other).view("u1").astype(int)) > 90).mean() < 0.03


@pytest.mark.parametrize("weight", [400, 500, 600, 700])
def test_text_is_as_wide_where_no_window_is(qapp: QApplication, weight: int) -> None:
    fonts.load_fonts()
    for words in ("readBins 128 B, 12.3 MB/s", "95 % of best × µs – 0,5", "AV To Wort", "αβ → ≤"):
        expected = QFontMetricsF(fonts.ui_font(12, weight)).horizontalAdvance(words)
        assert 0.99 <= letters.text_width(words, 12, weight) / expected <= 1.05  # it knows no kerning


def test_a_drawing_is_xml_whatever_its_words_are() -> None:
    evil = '<script>alert("1")</script>&"\''
    canvas = SvgCanvas()
    with canvas.named(evil, evil), canvas.clipped(0, 0, 10, 10), canvas.placed(1, 2, 2):
        canvas.write(0, 0, evil, "text", 12, 400)
    document = ET.fromstring(canvas.document(10, 10, evil))
    assert not list(document.iter("{http://www.w3.org/2000/svg}script"))
    assert [t.text for t in document.iter("{http://www.w3.org/2000/svg}text")] == [evil]
    assert canvas.scale == 1


def test_an_elided_text_fits_and_says_something() -> None:
    canvas = SvgCanvas()
    words = "Inefficient transfer size or type"
    for room in (300, 120, 80, 60):
        used = canvas.text(0, 0, room, 16, words)
        assert 0 < used <= room + 0.5
    assert canvas.text(0, 0, 20, 16, words) == 0


def test_colours_have_names_and_opacity() -> None:
    canvas = SvgCanvas()
    assert canvas.colour("accent/0.2") == (LIGHT.accent, 0.2)
    assert canvas.colour("state:send") == (LIGHT.states[Category.SEND], 1)
    assert canvas.colour("state:unclassified") == (LIGHT.states[None], 1)
    with pytest.raises(AttributeError):
        canvas.colour("mauve")


def test_a_badge_is_as_wide_as_its_number() -> None:
    one, three = SvgCanvas(), SvgCanvas()
    draw_badge(one, 0, 0, "high", 7)
    draw_badge(three, 0, 0, "high", 700)
    widths = [
        max(
            float(r.get("width", 0))
            for r in ET.fromstring(c.document(60, 20, "")).iter("{http://www.w3.org/2000/svg}rect")
        )
        for c in (one, three)
    ]
    assert widths[1] == widths[0] + 16


# ---- the report's pictures are the window's

DRAWN = ("rect", "path", "shape", "disc", "state", "icon", "write")
Commands = list[tuple[Any, ...]]


def recorded(patch: pytest.MonkeyPatch, kind: type[Canvas], *, widths: type[Canvas] | None = None) -> Commands:
    """All that is drawn on a kind of canvas from now on, with the widths of text as on another."""
    said: Commands = []

    def keep(name: str) -> None:
        draw = getattr(kind, name)

        def kept(self: Canvas, *given: Any, **named: Any) -> Any:
            said.append((name, *map(rounded, given), *named.items()))
            return draw(self, *given, **named)

        patch.setattr(kind, name, kept)

    for name in DRAWN:
        keep(name)
    if widths:
        patch.setattr(kind, "width_of", lambda self, *given: widths.width_of(self, *given))
    return said


def rounded(value: Any) -> Any:
    """Numbers to a thousandth of a pixel: a view's place comes of a range, and back."""
    if isinstance(value, float | int):
        return round(float(value), 3)
    return [rounded(part) for part in value] if isinstance(value, list | tuple) else value


def holds(whole: Commands, part: Commands) -> bool:
    """Whether a run of commands stands in another, one after the other."""
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


@pytest.fixture(scope="module")
def analysed() -> tuple[Run, Analysis, Platform]:
    run, platform = synthetic_run(cores=20, rounds=4, traced=False), synthetic_platform()
    return run, analyse(run, platform, open_knowledge(load_plugins())[0]), platform


def painted_by(view: HouseView, qtbot: QtBot, commands: Commands) -> Commands:
    """What a view paints, from an empty record."""
    qtbot.addWidget(view)
    view.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its ring is no part of the picture
    with qtbot.waitExposed(view):
        view.show()
    view.redraw()
    commands.clear()
    view.viewport().repaint()
    return list(commands)


def test_the_reports_graph_is_the_windows(
    qtbot: QtBot, analysed: tuple[Run, Analysis, Platform], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, analysis, platform = analysed
    layout = layout_graph(analysis.graph, STYLE)
    view = GraphView()
    view.resize(round(layout.width) + 2 * EDGE_PX, round(layout.height) + 2 * EDGE_PX)
    view.show_graph(layout, node_facts(layout, analysis), frame_notes(layout, analysis, platform))
    view.zoom(1 / view.magnification)
    in_window = painted_by(view, qtbot, recorded(monkeypatch, QtCanvas, widths=SvgCanvas))
    in_report = recorded(monkeypatch, SvgCanvas)
    html_report(run, analysis, platform)
    assert len(in_window) > 200
    assert holds(in_report, in_window[1:])  # but for the ground, which is as large as the view


def test_the_reports_curves_are_the_windows(
    qtbot: QtBot, analysed: tuple[Run, Analysis, Platform], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, analysis, platform = analysed
    painted = recorded(monkeypatch, QtCanvas, widths=SvgCanvas)
    in_window = []
    for direction in ("send", "receive"):
        plot = direction_plot(platform, analysis.calls, direction)
        assert plot is not None
        view = PlotView("Transfer rate by size")
        view.resize(560, 300)
        view.show_plot(plot)
        in_window.append(painted_by(view, qtbot, painted))
    in_report = recorded(monkeypatch, SvgCanvas)
    html_report(run, analysis, platform)
    for commands in in_window:
        assert len(commands) > 20
        assert holds(in_report, commands)
    assert in_window[0] != in_window[1]


def test_the_reports_state_bars_are_the_windows(
    qtbot: QtBot, analysed: tuple[Run, Analysis, Platform], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block's bar as Source has it in its details, as large as the report's."""
    run, analysis, platform = analysed
    painted, context = recorded(monkeypatch, QtCanvas), Context(Plugins(()))
    in_window = []
    for group in analysis.groups():
        details = SourceDetails(context)
        qtbot.addWidget(details)
        details.show_blocks(group.members, analysis.time_s)
        bar = details.findChildren(StateBar)[0]
        bar.setParent(None)
        qtbot.addWidget(bar)
        bar.setFixedSize(round(SHARES_WIDTH), round(SHARES_HEIGHT))
        painted.clear()
        bar.grab()
        in_window.append(list(painted))
    in_report = recorded(monkeypatch, SvgCanvas)
    html_report(run, analysis, platform)
    assert len(in_window) > 3
    for commands in in_window:
        assert {"state"} <= {command[0] for command in commands}
        assert holds(in_report, commands)


def test_findings_of_a_block_say_what_they_gain_once_that_is_predicted(
    qtbot: QtBot, analysed: tuple[Run, Analysis, Platform]
) -> None:
    """In Source's details, where the block that is shown stays the same."""
    _, analysis, _ = analysed
    context, finding = Context(Plugins(())), next(f for f in analysis.findings if f.block)
    block = next(b for b in analysis.blocks if b.block.id == finding.block)
    details = SourceDetails(context)
    qtbot.addWidget(details)
    first, *rest = finding.advice
    prediction = Prediction((), Trust.TRUSTED, speedup=1.5)
    for advice, said in ((first, at_most_text(finding.gain)), (replace(first, prediction=prediction), "1.50×")):
        known = replace(finding, advice=(advice, *rest))
        context.opened = cast(OpenRun, SimpleNamespace(analysis=replace(analysis, findings=(known,))))
        details.show_blocks((block,), analysis.time_s)
        assert said in {one.text() for one in details.findChildren(QLabel)}, said


def test_states_of_a_narrow_block_can_be_told_apart(qtbot: QtBot, analysed: tuple[Run, Analysis, Platform]) -> None:
    _, analysis, _ = analysed
    metrics = next(b for b in analysis.blocks if b.block.side is Side.HOST)
    named = tuple(
        replace(one, share=0.1, state=replace(one.state, name=f"fpgaWriteReg_{number}"))
        for number, one in enumerate(metrics.states)
    )
    details = SourceDetails(Context(Plugins(())))
    qtbot.addWidget(details)
    details.resize(200, 600)
    details.show_blocks((replace(metrics, states=named),), analysis.time_s)
    details.show()
    shown = [one.shown() for one in details.findChildren(ElidedLabel) if one.text().startswith("fpgaWriteReg_")]
    assert len(set(shown)) == len(named) > 1
    assert any("…" in text for text in shown)


def test_a_drawing_that_differs_would_be_found() -> None:
    whole = [("rect", 0, 0, 1, 1), ("write", 2, 2, "a"), ("disc", 1, 1, 3)]
    assert holds(whole, whole[1:])
    assert not holds(whole, [whole[0], whole[2]])
    assert not holds(whole, [("write", 2, 2, "b")])

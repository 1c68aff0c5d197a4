"""What can be computed about the look: contrast, states that differ, fonts, icons, numbers as text."""

import re
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, QRectF
from PySide6.QtGui import QColor, QFontInfo, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import createdByPython

import workbench.gui
from workbench.gui.app import make_application
from workbench.gui.frame.header import Crumb, Header
from workbench.gui.frame.main_window import MainWindow
from workbench.gui.look import fonts, theme
from workbench.gui.look.icons import icon, icon_pixmap
from workbench.gui.widgets import Button, PanelHeader, SignField, label, paint_state_bar
from workbench.gui.widgets.boxes import FlowRow
from workbench.gui.widgets.split import Split
from workbench.model.pragma import Category
from workbench.model.text import bytes_text, count_text, percent_text, rate_text, ratio_text, time_text
from workbench.pictures.palette import DARK, LIGHT, PALETTES, Palette
from workbench.pictures.signs import axis_x

BOTH = pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
TEXTS = ("text", "second", "muted", "link", "accent", "high", "medium_text", "low", "good")
SYNTAX = ("keyword", "comment", "pragma", "number", "string")
GROUNDS = ("panel", "sunken", "chrome", "window", "raised")


def luminance(colour: str) -> float:
    """Relative luminance of #RRGGBB, as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@BOTH
def test_every_text_reaches_four_and_a_half_to_one_and_seven_in_high_contrast(palette: Palette) -> None:
    pairs = [(ink, ground) for ink in TEXTS for ground in GROUNDS]
    pairs += [(ink, ground) for ink in SYNTAX for ground in ("panel", "sunken")]
    pairs += [(ink, "selection") for ink in (*SYNTAX, "text", "second", "link")] + [("text", "chosen_text")]
    pairs += [
        (ink, f"{kind}_ground") for kind in ("high", "medium", "low", "good") for ink in ("text", "second", "link")
    ]
    pairs += [("high", "high_ground"), ("medium_text", "medium_ground"), ("low", "low_ground"), ("on_accent", "accent")]
    least = 7.0 if palette.name.endswith("contrast") else 4.5
    weak = {
        (ink, ground): round(contrast(getattr(palette, ink), getattr(palette, ground)), 2)
        for ink, ground in pairs
        if contrast(getattr(palette, ink), getattr(palette, ground)) < least
    }
    assert not weak


@BOTH
def test_edges_of_controls_and_signs_reach_three_to_one(palette: Palette) -> None:
    strong = ("rule",) if palette.name.endswith("contrast") else ()
    for name in ("edge", "accent", "high", "medium", "low", *strong):
        for ground in ("panel", "raised", "sunken"):
            assert contrast(getattr(palette, name), getattr(palette, ground)) >= 2.95, (name, ground)
    for ink in (*palette.states.values(), palette.within_cap) if strong else ():
        assert contrast(ink, palette.panel) >= 2.95, ink


def test_a_head_takes_no_more_room_than_its_title(qtbot: QtBot) -> None:
    head, least = PanelHeader("Sweep"), []
    qtbot.addWidget(head)
    for title in ("Sweep", "A title that is long", "Sweep"):
        head.set_title(title, "is under way")
        least.append(head.title.minimumWidth())
    assert least[0] == least[2] < least[1]


def test_a_title_without_room_is_in_two_lines(qtbot: QtBot) -> None:
    head = PanelHeader("Nallatech H101-PCIXM")
    qtbot.addWidget(head)
    head.show()
    for title_px, wrapped in ((300, False), (110, True), (60, False)):
        head.title.setFixedWidth(title_px)
        qtbot.waitUntil(lambda title_px=title_px: head.title.width() == title_px)
        assert head.title.is_wrapped is wrapped
        assert (head.title.shown() == head.title.text()) is (title_px > 60)
        assert bool(head.title.toolTip()) is (title_px == 60)
    assert head.height() == 40


def test_a_crumb_is_whole_where_there_is_room(qtbot: QtBot) -> None:
    crumbs = tuple(Crumb(lambda menu: None) for _ in range(3))
    header = Header(crumbs, QLineEdit())
    qtbot.addWidget(header)
    header.show_project(True)
    header.show()
    crumbs[1].say("A board with quite a long title", "and_its_file.yaml")
    needs = crumbs[1].sizeHint().width()
    for wide, whole in ((300, False), (1000, True)):
        header.resize(wide, 44)
        assert (crumbs[1].minimumSizeHint().width() >= needs) == whole


def test_a_pane_has_no_more_than_it_needs_until_sizes_are_dragged(qtbot: QtBot) -> None:
    split = Split((QWidget(), 450), (QWidget(), 480), vertical=True)
    qtbot.addWidget(split)
    split.resize(300, 1001)
    split.bound(1, 200)
    assert split.sizes() == [800, 200]
    split.moveSplitter(500, 1)
    split.bound(1, 100)
    assert split.sizes() == [500, 500]


def test_a_pane_that_lacks_room_has_whole_rows(qtbot: QtBot) -> None:
    split = Split((QWidget(), 450), (QWidget(), 480), vertical=True)
    qtbot.addWidget(split)
    split.show()
    split.bound(1, 110 + 20 * 34, 110, 34)
    for height in (500, 521, 640):
        split.resize(300, height)
        above, below = split.sizes()
        assert above + below + split.handleWidth() == height
        assert (below - 110) % 34 == 0
        assert 0 <= round((height - 1) * 480 / 930) - below < 34
    split.resize(300, 4000)
    assert split.sizes()[1] == 110 + 20 * 34


def test_widgets_of_a_row_are_on_one_line_and_hidden_ones_take_no_room(qtbot: QtBot) -> None:
    first, second, third = Button("One"), label("two", "small"), Button("Three")
    row = FlowRow(first, second, third, spacing=8)
    qtbot.addWidget(row)
    row.resize(600, 40)
    row.show()
    middles = [one.geometry().center().y() for one in (first, second, third)]
    assert max(middles) - min(middles) <= 1
    before = third.x()
    second.hide()
    qtbot.waitUntil(lambda: third.x() == first.width() + 8 < before)
    second.setMinimumWidth(200)
    second.show()
    qtbot.waitUntil(lambda: third.x() == first.width() + 200 + 16)


def test_contrast_of_known_pairs() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert contrast("#FFFFFF", "#777777") == contrast("#777777", "#FFFFFF")


@BOTH
def test_states_differ_in_colour_or_pattern(palette: Palette) -> None:
    assert set(palette.states) == {*Category, None}
    assert len(set(palette.states.values())) == 7


@pytest.mark.parametrize("name", ["light", "dark"])
def test_patterns_tell_states_apart_without_colour(qapp: QApplication, name: str) -> None:
    """Each state's fill, reduced to which pixels differ from its own ground, is another picture."""
    theme.apply_theme(qapp, name)
    masks = {}
    for category in (*Category, None):
        image = QImage(60, 60, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        theme.fill_state(painter, QRectF(0, 0, 60, 60), category)
        painter.end()
        plain = theme.state_colour(category)
        masks[category] = tuple(
            abs(QColor(image.pixel(x, y)).lightness() - plain.lightness()) > 8
            for x in range(20, 40)
            for y in range(20, 40)
        )
    assert not any(masks[Category.WORK])
    for one, other in combinations(masks, 2):
        differing = sum(a != b for a, b in zip(masks[one], masks[other], strict=True))
        assert differing > 20, (one, other)


def test_a_narrow_state_is_plain(qapp: QApplication) -> None:
    theme.apply_theme(qapp, "light")
    image = QImage(10, 10, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    theme.fill_state(painter, QRectF(0, 0, 2, 10), Category.SEND)
    painter.end()
    assert {QColor(image.pixel(x, y)).name().upper() for x in (0, 1) for y in range(10)} == {"#0072B2"}


def test_a_bar_fills_as_far_as_its_shares(qapp: QApplication) -> None:
    theme.apply_theme(qapp, "light")
    image = QImage(100, 10, QImage.Format.Format_RGB32)
    image.fill(QColor("#FFFFFF"))
    painter = QPainter(image)
    paint_state_bar(painter, QRectF(0, 0, 100, 10), [(Category.WORK, 0.25), (Category.SEND, 0.5)], frame=False)
    painter.end()
    assert QColor(image.pixel(10, 5)).name().upper() == "#009E73"
    assert QColor(image.pixel(24, 5)).name().upper() == "#009E73"
    assert QColor(image.pixel(26, 5)).blue() > 150
    assert QColor(image.pixel(80, 5)).name().upper() == "#FFFFFF"


def test_the_bundled_fonts_are_used(qapp: QApplication) -> None:
    families = fonts.load_fonts()
    assert {fonts.UI_FAMILY, fonts.CODE_FAMILY, fonts.LINES_FAMILY} <= set(families)
    theme.apply_theme(qapp, "light")
    for weight in (400, 500, 600, 700):
        info = QFontInfo(fonts.ui_font(13, weight))
        assert info.family().startswith("Inter")
    widths = {QFontMetricsF(fonts.ui_font(12)).horizontalAdvance(digit) for digit in "0123456789"}
    assert len(widths) == 1
    code = QFontMetricsF(fonts.code_font(13))
    assert code.horizontalAdvance("i") == code.horizontalAdvance("W")


def test_every_icon_that_the_code_names_is_bundled(qapp: QApplication) -> None:
    theme.apply_theme(qapp, "light")
    bundled = {f.name.removesuffix(".svg") for f in files("workbench.resources").joinpath("icons").iterdir()}
    source = "\n".join(p.read_text() for p in Path(next(iter(workbench.gui.__path__))).rglob("*.py"))
    calls = r"(?:icon|draw_icon|icon_pixmap|IconButton|IconLabel|EmptyState)\((?:painter, )?\"([a-z0-9-]+)\""
    named = set(re.findall(calls, source))
    assert named
    assert named <= bundled
    assert not icon_pixmap("play", "#FF0000").toImage().allGray()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (time_text(64.506), "64.5 s"),
        (time_text(13.94e-6), "13.9 µs"),
        (time_text(0.99996), "1.00 s"),
        (time_text(0), "0 s"),
        (time_text(5e-12), "5.00 ps"),
        (count_text(5976), "5 976"),
        (count_text(1_040_000), "1.04 M"),
        (count_text(99_999), "99 999"),
        (bytes_text(2048), "2 KiB"),
        (bytes_text(128), "128 B"),
        (bytes_text(2.3 * 1024**3), "2.30 GiB"),
        (rate_text(147e6), "147 MB/s"),
        (percent_text(0.874), "87.4 %"),
        (percent_text(0.00001), "< 0.1 %"),
        (percent_text(0), "0 %"),
        (percent_text(1), "100 %"),
        (ratio_text(3.4311), "3.43×"),
    ],
)
def test_numbers_as_people_read_them(text: str, expected: str) -> None:
    assert text.replace("\u202f", " ") == expected


def test_the_speedup_axis_is_logarithmic() -> None:
    assert axis_x(1, 10, 200) == 10
    assert axis_x(20, 10, 200) == 210
    assert axis_x(400, 10, 200) == 210
    assert axis_x(20**0.5, 0, 200) == pytest.approx(100)


def test_the_theme_follows_its_name(qapp: QApplication) -> None:
    assert make_application("dark").palette().window().color().name().upper() == DARK.window
    assert theme.palette() is DARK
    assert make_application("light").palette().window().color().name().upper() == LIGHT.window


def test_the_icon_in_a_field_follows_the_theme(window: MainWindow, project: Path, qtbot: QtBot) -> None:
    """Python's side of an action that Qt made goes when others are collected, while the field is still shown."""
    window.open(project)
    for mode in ("timeline", "platform"):
        assert window.modes.whole(mode) is not None
    fields = window.findChildren(SignField)
    assert {field.placeholderText() for field in fields} >= {"Filter rows", "Find a state or call", "Filter entries"}
    for name in ("dark", "light"):
        window.set_theme(name)
        qtbot.waitUntil(lambda: not window.busy)
        wanted = icon("funnel", theme.palette().muted).cacheKey()
        for field in fields:
            (action,) = field.actions()
            assert createdByPython(action)
            if "Filter" in field.placeholderText():
                assert action.icon().cacheKey() == wanted


def test_numbers_have_a_point_in_every_language() -> None:
    QLocale.setDefault(QLocale(QLocale.Language.German))
    assert QLocale().toString(1.5) == "1,5"
    make_application("light")
    assert QLocale().toString(1.5) == "1.5"

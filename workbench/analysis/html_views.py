"""Renders pages, tables and small drawings as parts of an HTML page, with `resources/report/views.html.j2`."""

from collections.abc import Callable
from html import escape
from pathlib import PurePath
from typing import Any

from markupsafe import Markup

from workbench.api.views import Column, Shares
from workbench.model.finding import Place
from workbench.model.pragma import Category
from workbench.pictures.palette import PAGE
from workbench.pictures.plot_drawing import plot_svg
from workbench.pictures.signs import BAR_KEYS, draw_bar_key, draw_severity, draw_shares, draw_swatch
from workbench.pictures.states import category_name, shares_words
from workbench.pictures.svg import SvgCanvas

PICTURE_WIDTH, PICTURE_HEIGHT = 252.0, 16.0
LONG_CELL = 20  # letters of a cell and its column's head, of which a phone shows two beside each other
PHONE_WIDTH = 360.0  # for pictures drawn again for a phone
SHARES_WIDTH, SHARES_HEIGHT = 790.0, 14.0
Shorten = Callable[[str], str]


def shortener(project: str) -> Shorten:
    """A function that shortens paths in texts: below the project's folder they lose it."""
    folder = str(PurePath(project).parent) + "/" if PurePath(project).is_absolute() else ""

    def short(path: str) -> str:
        return path.replace(folder, "") if folder else path

    return short


def swatch(category: Category | None) -> Markup:
    canvas = SvgCanvas(PAGE)
    draw_swatch(canvas, 0, 0, 16, 11, category)
    return Markup(canvas.document(16, 11, category_name(category), "swatch"))


def share_bar(shares: Any) -> Markup:
    canvas = SvgCanvas(PAGE)
    draw_shares(canvas, SHARES_WIDTH, SHARES_HEIGHT, shares)
    return Markup(canvas.document(SHARES_WIDTH, SHARES_HEIGHT, shares_words(shares)))


def scale_bar(bar: Shares) -> Markup:
    """A bar among others on one scale."""
    canvas, wide = SvgCanvas(PAGE), PICTURE_WIDTH * bar.part
    if bar.shares:
        draw_shares(canvas, wide, 11, bar.shares)
    else:
        canvas.rect(0, 0, wide, 11, "accent")
    return Markup(canvas.document(PICTURE_WIDTH, 11, f"{bar.title} {bar.value}"))


def bar_keys() -> list[dict[str, Any]]:
    """The legend of a speedup bar's parts."""
    keys = []
    for part, name, _ in BAR_KEYS:
        canvas = SvgCanvas(PAGE)
        draw_bar_key(canvas, part, 22, 14)
        keys.append({"svg": Markup(canvas.document(22, 14, name)), "name": name})
    return keys


def sign(severity: str) -> Markup:
    canvas = SvgCanvas(PAGE)
    draw_severity(canvas, 0, 0, 16, severity)
    return Markup(canvas.document(16, 16, severity, "sign"))


def cell(column: Column, row: Any, level: str) -> Markup:
    """The HTML of a cell: its picture, or its text after a swatch or a sign."""
    if column.picture:
        canvas = SvgCanvas(PAGE)
        column.picture(canvas, -20.0, 0.0, PICTURE_WIDTH + 20, PICTURE_HEIGHT, row)
        return Markup(canvas.document(PICTURE_WIDTH, PICTURE_HEIGHT, column.tip_of(row)))
    before = swatch(column.category(row)) if column.category else Markup("")
    return Markup("{}{}{}").format(before, sign(level) if level else "", column.text(row))


def head(column: Column) -> Markup:
    if not column.picture_head:
        return Markup(escape(column.head))
    canvas = SvgCanvas(PAGE)
    column.picture_head(canvas, -20.0, 0.0, PICTURE_WIDTH + 20, 14.0)
    return Markup(canvas.document(PICTURE_WIDTH, 14, column.tip))


def curve(plot: Any, name: str, width: float = 480, height: float = 250) -> Markup:
    """A plot drawn twice: for wide screens and paper, and for a phone, on which the first's texts are too small."""
    sizes = {"desk": (width, height), "phone": (PHONE_WIDTH, PHONE_WIDTH * height / width * 1.25)}
    drawn = {screen: plot_svg(plot, name, *size, PAGE) for screen, size in sizes.items()}
    return Markup("".join(f'<div class="drawing {screen}">{svg}</div>' for screen, svg in drawn.items()))


def place_words(place: Place | None, short: Shorten) -> str:
    return short(f"{place.file}:{place.line}") if place else ""


def functions(short: Shorten) -> dict[str, Any]:
    """The functions that the templates call, by name."""
    return {
        "swatch": swatch, "share_bar": share_bar, "scale_bar": scale_bar, "sign": sign, "cell": cell, "head": head,
        "curve": curve, "kind": lambda item: type(item).__name__, "short": short,
        "LONG": LONG_CELL, "place_words": lambda place: place_words(place, short),
    }  # fmt: skip

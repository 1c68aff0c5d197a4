"""Draws the time of a run by component, block, state and call, as a flame graph and as a treemap."""

import re
from collections.abc import Iterable

from workbench.model.text import percent_text
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.palette import LIGHT, Palette
from workbench.pictures.states import category_name
from workbench.pictures.svg import SvgCanvas
from workbench.pictures.time_list import draw_listed, list_cells, list_height
from workbench.pictures.time_tree import ROW_PX, Cell, TimeNode, flame_cells, flame_height, flame_rows, treemap_cells

FLAME, TREEMAP = "flame", "treemap"
KINDS = {FLAME: "Flame graph", TREEMAP: "Treemap"}
WIDTH, TREEMAP_HEIGHT, PAGE_LEAF_PX, PAGE_LIST_PX = 1100.0, 520.0, 96.0, 240.0
#: Of the rows of states and calls, and of a treemap: only a picture as high as this leaves room for a list.
_LEAF_BEFORE_LIST_PX, _TREEMAP_BEFORE_LIST_PX = 96.0, 320.0
_LEAST_PX = 0.7  # narrower cells are not drawn
_TEXT_FROM_PX, _UP_FROM_PX, _LEAST_UP_PX = 34.0, 15.0, 40.0
_STRIPE_PX = 5.0
_LINE_PX, _NARROW_PX = 15.0, 64.0
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_.])|(?= )")


def cells_of(kind: str, root: TimeNode, width: float, height: float) -> list[Cell]:
    """The cells of a tree in a box of this size; a flame graph is as high as it needs."""
    if kind == FLAME:
        places = flame_cells(root, width, flame_rows(root, height))
    else:
        places = treemap_cells(root, Box(0, 0, width, height))
    return [cell for cell in places if min(cell.box.width, cell.box.height) >= _LEAST_PX]


def cells_with_list(kind: str, root: TimeNode, width: float, height: float) -> list[Cell]:
    """The cells in a box of this size, and below them a list of the states, where there is room for it."""
    least = flame_height(root, _LEAF_BEFORE_LIST_PX) if kind == FLAME else _TREEMAP_BEFORE_LIST_PX
    room = list_height(root, width, height - least)
    cells = cells_of(kind, root, width, height - room)
    bottom = max((cell.box.bottom for cell in cells), default=0.0)
    return [*cells, *list_cells(root, Box(0, bottom, width, height - bottom if room else 0.0))]


def draw_cells(canvas: Canvas, cells: Iterable[Cell], chosen: TimeNode | None = None) -> None:
    """Draw the cells in their order, inner ones after outer ones."""
    marked = []
    for cell in cells:
        (draw_listed if cell.listed else _draw_cell)(canvas, cell)
        if cell.node is chosen:
            marked.append(cell.box)
    for box in marked:
        canvas.rect(box.x + 1, box.y + 1, box.width - 2, box.height - 2, "", "accent", 2.0)


def _draw_cell(canvas: Canvas, cell: Cell) -> None:
    node, box = cell.node, cell.box
    is_state = node.level in ("state", "call")
    with canvas.named(node.text):
        ground = f"state:{category_name(node.category)}/0.22" if is_state else ("sunken", "panel")[cell.depth % 2]
        canvas.rect(box.x, box.y, box.width, box.height, "panel")
        canvas.rect(box.x, box.y, box.width, box.height, ground)
        if is_state:
            canvas.state(box.x, box.bottom - _STRIPE_PX, box.width, _STRIPE_PX, node.category)
        if box.width >= 2:
            canvas.rect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, "", "rule")
        if is_state and _write_up(canvas, cell):
            return
        if box.width >= _TEXT_FROM_PX and box.height >= 16:
            _write(canvas, cell)


def _write_up(canvas: Canvas, cell: Cell) -> bool:
    """Write the name upwards if a cell has more room for it so; returns whether it did."""
    node, box, pad = cell.node, cell.box, 6
    room = box.height - _STRIPE_PX - 2 * pad
    if box.width < _UP_FROM_PX or room < _LEAST_UP_PX:
        return False
    across = name_lines(canvas, node.name, box.width - 2 * _pad(box), 400)
    whole = across and not across[-1].endswith("…")
    if whole or (across and canvas.width_of(node.name, 12) > room):
        return False
    share = percent_text(node.share)
    with canvas.turned(box.x + min(box.width, 22) / 2, box.bottom - _STRIPE_PX - pad):
        used = canvas.text(0, -9, room, 18, node.name, "text", 12)
        if used + 8 + canvas.width_of(share, 11) <= room:
            canvas.write(used + 8, 0, share, "second", 11, 400)
    return True


def _pad(box: Box) -> int:
    return 6 if box.width >= _NARROW_PX else 3


def _write(canvas: Canvas, cell: Cell) -> None:
    node, box = cell.node, cell.box
    weight = 400 if node.level in ("state", "call") else 600
    share, middle = percent_text(node.share), box.y + min(box.height, ROW_PX) / 2 - 2
    pad = _pad(box)
    room, most = box.width - 2 * pad, int((min(box.height, cell.head_px) - 4 - _STRIPE_PX) / _LINE_PX)
    lines = name_lines(canvas, node.name, room, weight)
    if 1 < len(lines) <= most:
        for line in lines:
            canvas.write(box.x + pad, middle, line, "text", 12, weight)
            middle += _LINE_PX
        used, middle, most = room, middle - _LINE_PX, most - len(lines)
    else:
        used, most = canvas.text(box.x + pad, middle - 9, room, 18, node.name, "text", 12, weight, least=4), most - 1
    wide = canvas.width_of(share, 11)
    if used + wide + 10 <= room:
        canvas.write(box.x + pad + used + 8, middle, share, "second", 11, 400)
    elif most > 0 and wide <= room:
        canvas.write(box.x + pad, middle + 16, share, "second", 11, 400)


def name_lines(canvas: Canvas, name: str, room: float, weight: int) -> list[str]:
    """A name in as many lines as it needs, broken before its words: `write`, `Samples`. An ellipsis replaces a word
    that has no room and those behind it; there are no lines if the first has none."""
    lines = [""]
    for word in _WORDS.split(name):
        if canvas.width_of(lines[-1] + word, 12, weight) <= room:
            lines[-1] += word
        elif canvas.width_of(word.strip(), 12, weight) <= room:
            lines.append(word.strip())
        else:
            return [*lines[:-1], f"{lines[-1]}…"] if lines[-1] else []
    return lines


def picture_height(kind: str, root: TimeNode, width: float) -> float:
    """The height of a picture on a page: a flame graph has a list of the longest states."""
    if kind != FLAME:
        return TREEMAP_HEIGHT
    return flame_height(root, PAGE_LEAF_PX) + list_height(root, width, PAGE_LIST_PX)


def times_svg(kind: str, root: TimeNode, palette: Palette = LIGHT, width: float = WIDTH) -> str:
    """The flame graph or the treemap as an SVG document."""
    height, canvas = picture_height(kind, root, width), SvgCanvas(palette)
    canvas.rect(0, 0, width, height, "window")
    draw_cells(canvas, (cells_with_list if kind == FLAME else cells_of)(kind, root, width, height))
    return canvas.document(width, height, f"{KINDS[kind]}: time by component, block, state and call")

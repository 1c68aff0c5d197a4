"""Draws the time of a run by component, block, state and call, as a flame graph and as a treemap."""

import re
from collections.abc import Iterable

from workbench.model.text import percent_text
from workbench.pictures.canvas import Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.palette import LIGHT, Palette
from workbench.pictures.states import category_name
from workbench.pictures.svg import SvgCanvas
from workbench.pictures.time_tree import ROW_PX, Cell, TimeNode, flame_cells, rows_of, treemap_cells

FLAME, TREEMAP = "flame", "treemap"
KINDS = {FLAME: "Flame graph", TREEMAP: "Treemap"}
WIDTH, TREEMAP_HEIGHT = 1100.0, 520.0
_LEAST_PX = 0.7  # narrower cells are not drawn
_TEXT_FROM_PX = 34.0
_STRIPE_PX = 5.0
_LINE_PX, _NARROW_PX = 15.0, 64.0
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_.])|(?= )")


def cells_of(kind: str, root: TimeNode, width: float, height: float) -> list[Cell]:
    """The cells of a tree in a box of this size; a flame graph is as high as it needs."""
    if kind == FLAME:
        row_px = min(max(height / rows_of(root), ROW_PX[0]), ROW_PX[1])
        places = flame_cells(root, width, row_px)
    else:
        places = treemap_cells(root, Box(0, 0, width, height))
    return [cell for cell in places if min(cell.box.width, cell.box.height) >= _LEAST_PX]


def draw_cells(canvas: Canvas, cells: Iterable[Cell], chosen: TimeNode | None = None) -> None:
    """Draw the cells in their order, inner ones after outer ones."""
    marked = None
    for cell in cells:
        _draw_cell(canvas, cell)
        if cell.node is chosen:
            marked = cell.box
    if marked is not None:
        canvas.rect(marked.x + 1, marked.y + 1, marked.width - 2, marked.height - 2, "", "accent", 2.0)


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
        if box.width >= _TEXT_FROM_PX and box.height >= 16:
            _write(canvas, cell)


def _write(canvas: Canvas, cell: Cell) -> None:
    node, box = cell.node, cell.box
    weight = 400 if node.level in ("state", "call") else 600
    share, middle = percent_text(node.share), box.y + min(box.height, ROW_PX[0]) / 2 - 2
    pad = 6 if box.width >= _NARROW_PX else 3
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


def picture_height(kind: str, root: TimeNode) -> float:
    return rows_of(root) * ROW_PX[0] if kind == FLAME else TREEMAP_HEIGHT


def times_svg(kind: str, root: TimeNode, palette: Palette = LIGHT, width: float = WIDTH) -> str:
    """The flame graph or the treemap as an SVG document."""
    height, canvas = picture_height(kind, root), SvgCanvas(palette)
    canvas.rect(0, 0, width, height, "window")
    draw_cells(canvas, cells_of(kind, root, width, height))
    return canvas.document(width, height, f"{KINDS[kind]}: time by component, block, state and call")

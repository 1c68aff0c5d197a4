"""The states of a run as a list below the flame graph or treemap, in which narrow parts have no name."""

from collections.abc import Iterator

from workbench.model.text import percent_text, time_text
from workbench.pictures.canvas import RIGHT, Canvas
from workbench.pictures.layout_sizes import Box
from workbench.pictures.signs import draw_swatch
from workbench.pictures.time_tree import Cell, TimeNode

_LINE_PX, _COLUMN_PX, _AIR_PX, _PAD_PX = 22.0, 300.0, 8.0, 14.0
_TIME_PX, _SHARE_PX = 62.0, 56.0
_LEAST_LINES = 3


def _states(node: TimeNode, within: str = "") -> Iterator[tuple[TimeNode, str]]:
    """The states of a part, or its calls if it is one, each with what it is part of."""
    for part in node.parts:
        if part.level in ("state", "call"):
            yield part, within or node.name
        else:
            yield from _states(part, part.name)


def _columns(width: float) -> int:
    return max(int(width // _COLUMN_PX), 1)


def list_height(root: TimeNode, width: float, room: float) -> float:
    """The height of the list in this room, or 0 if it has none."""
    count = sum(1 for _ in _states(root))
    lines = min(-(-count // _columns(width)), int((room - 2 * _AIR_PX) // _LINE_PX))
    enough = lines >= _LEAST_LINES or lines * _columns(width) >= count > 0
    return lines * _LINE_PX + 2 * _AIR_PX if lines > 0 and enough else 0.0


def list_cells(root: TimeNode, box: Box) -> Iterator[Cell]:
    """A line for each state, the longest first, down one column after another."""
    states = sorted(_states(root), key=lambda state: -state[0].time_s)
    columns = _columns(box.width)
    lines = min(int((box.height - 2 * _AIR_PX) // _LINE_PX), -(-len(states) // columns))
    wide = box.width / columns
    for number, (node, within) in enumerate(states[: max(lines, 0) * columns]):
        column, line = divmod(number, lines)
        place = Box(box.x + column * wide, box.y + _AIR_PX + line * _LINE_PX, wide, _LINE_PX)
        yield Cell(node, place, 0, listed=True, note=within)


def draw_listed(canvas: Canvas, cell: Cell) -> None:
    """Draw a line: the state, its block, its time and its share."""
    node, box = cell.node, cell.box
    middle, right = box.y + box.height / 2, box.right - _PAD_PX
    draw_swatch(canvas, box.x + _PAD_PX, middle - 5, 12, 10, node.category)
    canvas.write(right, middle, percent_text(node.share), "text", 12, 600, RIGHT)
    canvas.write(right - _SHARE_PX, middle, time_text(node.time_s), "second", 12, 400, RIGHT)
    left = box.x + _PAD_PX + 20
    room = right - _SHARE_PX - _TIME_PX - left
    used = canvas.text(left, box.y, room, box.height, node.name, "text", 12, 500)
    canvas.text(left + used + 8, box.y, room - used - 8, box.height, cell.note, "second", 12)

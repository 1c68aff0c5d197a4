"""What a kind takes a source apart into: as rows of a picture, and which piece a line belongs to."""

from collections.abc import Iterator

from workbench.api.predictions import Piece, Structure
from workbench.model.text import count_text
from workbench.pictures.bars import Bar, Bars
from workbench.pictures.plot import Axis

HEADS = ("piece", "depth", "first line", "last line")


def pieces(root: Piece, depth: int = 0) -> Iterator[tuple[Piece, int]]:
    """Every piece with its depth, each before its parts."""
    yield root, depth
    for child in root.children:
        yield from pieces(child, depth + 1)


def structure_bars(structure: Structure) -> Bars:
    """A row for each piece, below what it is a part of."""
    parts = list(pieces(structure.root))
    most = max((piece.value for piece, _ in parts), default=0.0) or 1.0
    return Bars(
        Axis(structure.unit, count_text), (*HEADS, structure.unit), tuple(_row(*one) for one in parts),
        (0.0, most * 1.04), foot=f"{structure.unit}, of all repetitions; strong colour: the slowest",
    )  # fmt: skip


def _row(piece: Piece, depth: int) -> Bar:
    ends = (piece.lines[0], piece.lines[-1]) if piece.lines else ("", "")
    cells = (piece.name, depth, *ends, piece.value)
    return Bar(piece.id, piece.name, piece.value, (piece.text,), cells, piece.note, strong=piece.strong, depth=depth)


def innermost(root: Piece, line: int) -> Piece | None:
    """The piece that a line belongs to: the innermost that begins there by a word of its own, else the smallest."""
    holding = [(piece, depth) for piece, depth in pieces(root) if line in piece.lines]
    headed = [pair for pair in holding if pair[0].head_line == line]
    if headed:
        return max(headed, key=lambda pair: pair[1])[0]
    return min(holding, key=lambda pair: (len(pair[0].lines), -pair[1]), default=(None, 0))[0]

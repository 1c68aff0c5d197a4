"""A few lines of source with one of them marked, coloured as in the editor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Keyword, Number, String, Token, _TokenType
from pygments.util import ClassNotFound
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui import fonts, theme

LINE_PX = 20
Piece = tuple[str, str]  # text, colour name


def read_lines(
    path: Path, line: int, around: int = 3, after: int = 0
) -> tuple[int, tuple[tuple[Piece, ...], ...]] | None:
    """The number of the first line, and coloured lines up to `after` lines past `line`; None where unreadable."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return None
    lines = coloured_lines(path.name, text)
    first, last = max(line - around, 1), min(line + after, len(lines))
    return (first, tuple(lines[first - 1 : last])) if first <= last else None


def coloured_lines(name: str, text: str) -> list[tuple[Piece, ...]]:
    try:
        tokens = list(get_lexer_for_filename(name, stripnl=False).get_tokens(text))
    except ClassNotFound:
        tokens = [(Token.Text, text)]
    lines: list[list[Piece]] = [[]]
    for kind, value in tokens:
        colour = _colour(kind, value)
        for at, part in enumerate(value.split("\n")):
            if at:
                lines.append([])
            if part:
                lines[-1].append((part, colour))
    return [tuple(line) for line in lines]


def _colour(kind: _TokenType, value: str) -> str:
    if "pragma recap" in value:
        return "pragma"
    for group, name in (
        (Comment.Preproc, "keyword"),
        (Comment, "comment"),
        (Keyword, "keyword"),
        (Number, "number"),
        (String, "string"),
    ):
        if kind in group:
            return name
    return "text"


class SourceExcerpt(QWidget):
    """The lines; wide ones are cut off, with the whole line in the tooltip."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._first, self._marked = 1, 1
        self._lines: Sequence[tuple[Piece, ...]] = ()

    def set_lines(self, first: int, lines: Sequence[tuple[Piece, ...]], marked: int) -> None:
        self._first, self._lines, self._marked = first, lines, marked
        self.setFixedHeight(LINE_PX * len(lines) + 12)
        at = marked - first
        self.setToolTip("".join(text for text, _ in lines[at]).strip() if 0 <= at < len(lines) else "")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, LINE_PX * len(self._lines) + 12)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.colour("rule"), 1))
        painter.setBrush(theme.colour("sunken"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        font = fonts.code_font(12)
        painter.setFont(font)
        advance = QFontMetricsF(font).horizontalAdvance("0")
        indent = min((_indent(line) for line in self._lines if line), default=0)
        for at, line in enumerate(self._lines):
            box = QRectF(1, 6 + at * LINE_PX, self.width() - 2, LINE_PX)
            if self._first + at == self._marked:
                painter.fillRect(box, theme.colour("selection"))
            painter.setPen(theme.colour("muted"))
            painter.drawText(QRectF(4, box.top(), 30, LINE_PX), _RIGHT, str(self._first + at))
            x, skip = 46.0, indent
            painter.setClipRect(QRectF(44, box.top(), self.width() - 50, LINE_PX))
            for text, colour in line:
                shown = text.expandtabs(4)[skip:] if skip else text.expandtabs(4)
                skip = max(0, skip - len(text.expandtabs(4)))
                painter.setPen(QColor(theme.colour(colour)))
                painter.drawText(QPointF(x, box.center().y() + 4.5), shown)
                x += advance * len(shown)
            painter.setClipping(False)


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def _indent(line: Sequence[Piece]) -> int:
    text = "".join(part for part, _ in line).expandtabs(4)
    return len(text) - len(text.lstrip()) if text.strip() else 1_000

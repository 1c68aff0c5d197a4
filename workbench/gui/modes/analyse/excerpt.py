"""An excerpt of a source file with one marked line, coloured as in the editor."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.api.languages import Syntax, syntax_of
from workbench.api.window import colour
from workbench.gui.look import fonts
from workbench.gui.modes.source.highlight import pragma_spans
from workbench.gui.modes.source.line_lexer import Span, spans

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
    lines = text.split("\n")[: line + after]
    first = max(line - around, 1)
    syntax = syntax_of(path)
    coloured = (
        coloured_line(text, line_spans, syntax)
        for text, line_spans in zip(lines, spans("\n".join(lines), path.suffix), strict=True)
    )
    return (first, tuple(coloured)[first - 1 :]) if first <= len(lines) else None


def coloured_line(line: str, coloured: Sequence[Span], syntax: Syntax | None) -> tuple[Piece, ...]:
    """A line cut where its colour changes."""
    pieces, at = [], 0
    for start, length, ink in pragma_spans(line, syntax)[:1] or coloured:
        pieces += [(line[at:start], "text"), (line[start : start + length], ink)]
        at = start + length
    return tuple(piece for piece in (*pieces, (line[at:], "text")) if piece[0])


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
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(colour("rule"), 1))
            painter.setBrush(colour("sunken"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
            font = fonts.code_font(12)
            painter.setFont(font)
            advance = QFontMetricsF(font).horizontalAdvance("0")
            indent = min((_indent(line) for line in self._lines if line), default=0)
            for at, line in enumerate(self._lines):
                box = QRectF(1, 6 + at * LINE_PX, self.width() - 2, LINE_PX)
                if self._first + at == self._marked:
                    painter.fillRect(box, colour("selection"))
                painter.setPen(colour("muted"))
                painter.drawText(QRectF(4, box.top(), 30, LINE_PX), _RIGHT, str(self._first + at))
                x, skip = 46.0, indent
                painter.setClipRect(QRectF(44, box.top(), self.width() - 50, LINE_PX))
                for text, ink in line:
                    shown = text.expandtabs(4)[skip:] if skip else text.expandtabs(4)
                    skip = max(0, skip - len(text.expandtabs(4)))
                    painter.setPen(QColor(colour(ink)))
                    painter.drawText(QPointF(x, box.center().y() + 4.5), shown)
                    x += advance * len(shown)
                painter.setClipping(False)


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def _indent(line: Sequence[Piece]) -> int:
    text = "".join(part for part, _ in line).expandtabs(4)
    return len(text) - len(text.lstrip()) if text.strip() else 1_000

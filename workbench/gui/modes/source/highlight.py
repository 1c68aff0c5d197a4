"""Colours of a text in view; pragmas have their own colour: one when right, another when wrong."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QColor, QFont, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QPlainTextEdit

from workbench.api.languages import Syntax
from workbench.api.window import palette
from workbench.gui.modes.source.line_lexer import Span
from workbench.model.diagnostic import Diagnostic

_PRAGMA = r"\s*pragma\s+recap\s+(?P<name>\w+)\s+(?P<category>\w+)"
_ANY_PRAGMA = r"\s*pragma\b.*?(?=\s*$)"
_WORD = re.compile(r"[\w$]+|\S")
_COLOURS = {"name": "text", "category": "pragma", "error": "high", "warning": "medium_text"}


def pragma_spans(text: str, syntax: Syntax | None) -> list[Span]:
    """Spans of a line with a pragma that is right, from its comment's start."""
    match = re.search(_opening(syntax) + _PRAGMA, text, re.IGNORECASE)
    if match is None:
        return []
    parts = [(match.start(part), len(match[part]), part) for part in ("name", "category")]
    return [(match.start(), len(text) - match.start(), "pragma"), *parts]


def _opening(syntax: Syntax | None) -> str:
    """What a pragma may begin with, also where it is written as in another language."""
    return "(?:#|//|--)" if syntax is None else f"(?:#|//|--|{re.escape(syntax.opening)})"


def wrong_spans(text: str, problems: Sequence[Diagnostic], syntax: Syntax | None = None) -> list[Span]:
    """The spans of a line with which something is wrong: its pragma, or else the words at the columns (in bytes)."""
    if match := re.search(_opening(syntax) + _ANY_PRAGMA, text, re.IGNORECASE):
        return [(match.start(), len(match[0]), problems[0].severity.value)]
    spans = []
    for problem in reversed(problems):  # the gravest is drawn last
        before = text.encode()[: (problem.column or 0) - 1].decode(errors="ignore")
        if problem.column and (word := _WORD.match(text, len(before))):
            spans.append((word.start(), len(word[0]), problem.severity.value))
    return spans


class Highlighter(QObject):
    """Colours the lines in view from their spans, and others as they come into view; `names` are words to show as the
    platform's calls. Not Qt's own highlighter, which asks for every line of a text that is opened."""

    def __init__(self, view: QPlainTextEdit) -> None:
        super().__init__(view)
        self._view = view
        self._spans_of: Callable[[int], Sequence[Span]] = lambda number: ()
        #: What each line is coloured with; None where its colours may be others.
        self._drawn: list[Sequence[Span] | None] = [None] * view.document().blockCount()
        self._names: re.Pattern[str] | None = None
        self._palette = palette()
        self._colouring = False
        view.document().contentsChange.connect(self._on_change)
        view.verticalScrollBar().valueChanged.connect(self.refresh)
        view.viewport().installEventFilter(self)

    def set_spans(self, spans: Sequence[Sequence[Span]]) -> None:
        """Colour the lines with these spans."""
        self.follow(lambda number: spans[number] if number < len(spans) else ())

    def follow(self, spans_of: Callable[[int], Sequence[Span]]) -> None:
        """Colour each line, counted from 0, with the spans that the function gives for it."""
        self._spans_of = spans_of
        self.refresh()

    def set_names(self, names: Sequence[str]) -> None:
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b") if names else None
        if pattern != self._names:
            self._names = pattern
            self._colour_anew()

    def set_palette(self) -> None:
        """Colour all anew where the theme is another one."""
        if self._palette is not palette():
            self._palette = palette()
            self._colour_anew()

    def _colour_anew(self) -> None:
        self._drawn = [None] * len(self._drawn)
        self.refresh()

    def _on_change(self, position: int, removed: int, added: int) -> None:
        """Lines came or went, or were changed: their colours are unknown."""
        if self._colouring:
            return
        document = self._view.document()
        end = document.findBlock(position + added)
        first = document.findBlock(position).blockNumber()
        last = end.blockNumber() if end.isValid() else document.blockCount() - 1
        more = document.blockCount() - len(self._drawn)
        self._drawn[first : last + 1 - more] = [None] * (last + 1 - first)

    def refresh(self) -> None:
        """Colour the lines in view whose spans are others than they are coloured with."""
        view = self._view
        first = view.firstVisibleBlock().blockNumber()
        last = first + view.viewport().height() // max(1, view.fontMetrics().lineSpacing()) + 2
        wanted = {number: self._spans_of(number) for number in range(first, min(last, len(self._drawn)))}
        changed = [number for number, spans in wanted.items() if self._drawn[number] != spans]
        for _, run in groupby(enumerate(changed), lambda pair: pair[1] - pair[0]):
            self._colour({number: wanted[number] for _, number in run})

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self.refresh()
        return False

    def _colour(self, lines: Mapping[int, Sequence[Span]]) -> None:
        """Colour lines that follow one another."""
        document = self._view.document()
        formats: dict[str, QTextCharFormat] = {}
        first = block = document.findBlockByNumber(min(lines))
        for number, spans in lines.items():
            self._drawn[number] = spans
            names = [(m.start(), len(m[0]), "link") for m in self._names.finditer(block.text())] if self._names else []
            _set_formats(block.layout(), [*names, *spans], formats)
            last, block = block, block.next()
        self._colouring = True
        document.markContentsDirty(first.position(), last.position() + last.length() - first.position())
        self._colouring = False


def _set_formats(layout: QTextLayout, spans: Sequence[Span], formats: dict[str, QTextCharFormat]) -> None:
    """Colour a line; what an input method is composing in it keeps its own look."""
    at, composed = layout.preeditAreaPosition(), len(layout.preeditAreaText())
    ranges = [own for own in layout.formats() if at <= own.start < at + composed] if composed else []
    for start, length, what in spans:
        one = QTextLayout.FormatRange()
        one.start = start + composed if composed and start >= at else start
        one.length = length + composed if composed and start < at < start + length else length
        one.format = formats.get(what) or formats.setdefault(what, _format(what))
        ranges.append(one)
    layout.setFormats(ranges)


def _format(what: str) -> QTextCharFormat:
    format = QTextCharFormat()
    colour = QColor(getattr(palette(), _COLOURS.get(what, what)))
    format.setForeground(colour)
    if what in ("name", "category"):
        format.setFontWeight(QFont.Weight.Bold)
    if what in ("error", "warning"):
        format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        format.setUnderlineColor(colour)
    return format

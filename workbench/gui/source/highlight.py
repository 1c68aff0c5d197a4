"""Syntax colours from Pygments, line by line, and pragmas in their own colour: one when right, another when wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from pygments.lexer import Lexer
from pygments.lexers import CLexer, CppLexer, TextLexer, VerilogLexer, VhdlLexer, YamlLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token, _TokenType
from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QColor, QFont, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QPlainTextEdit

from workbench.api.source import suffixes
from workbench.gui import theme
from workbench.model.diagnostic import Diagnostic

Span = tuple[int, int, str]  # first column from 0, length, what
_AT_ONCE = 1000  # lines coloured in a turn
_PRAGMA = re.compile(r"(?:#|//|--)\s*pragma\s+recap\s+(?P<name>\w+)\s+(?P<category>\w+)", re.IGNORECASE)
_ANY_PRAGMA = re.compile(r"(?:#|//|--)\s*pragma\b.*?(?=\s*$)", re.IGNORECASE)
_WORD = re.compile(r"[\w$]+|\S")
_COLOURS = {"name": "text", "category": "pragma", "error": "high", "warning": "medium_text"}


class XLexer(CLexer):
    """The X language of streaming applications: comments, strings and numbers as in C, and words of its own."""

    words = frozenset(("block", "input", "output", "config", "impl", "as", "resource", "map", "use"))
    types = frozenset(("core", "fpga", "cpp", "verilog", "vhdl", "string", "float32", "float64"))
    _sized = re.compile(r"(?:un)?signed(?:8|16|32|64)")

    def get_tokens_unprocessed(
        self, text: str, stack: Iterable[str] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        for at, kind, value in super().get_tokens_unprocessed(text, stack):
            if kind in Name or kind in Keyword:
                known = value in self.words or value in self.types or self._sized.fullmatch(value)
                kind = Keyword if known else Name
            yield at, kind, value


_AS_IT_IS = {"stripnl": False, "ensurenl": False}
_LEXERS: dict[str, Lexer] = {  # made with the module, which is read in the background: each compiles its rules first
    **dict.fromkeys((*suffixes.C, ".h", ".cl"), CLexer(**_AS_IT_IS)),
    **dict.fromkeys((*suffixes.CPP, *suffixes.CPP_HEADERS), CppLexer(**_AS_IT_IS)),
    **dict.fromkeys((*suffixes.VERILOG, *suffixes.VERILOG_HEADERS), VerilogLexer(**_AS_IT_IS)),
    **dict.fromkeys(suffixes.VHDL, VhdlLexer(**_AS_IT_IS)),
    **dict.fromkeys((".yaml", ".yml"), YamlLexer(**_AS_IT_IS)),
    ".x": XLexer(**_AS_IT_IS),
}
_NO_LANGUAGE = TextLexer(**_AS_IT_IS)


def spans(text: str, suffix: str) -> list[list[Span]]:
    """Coloured spans of every line of a text, in the language of a file's suffix."""
    lexer = _LEXERS.get(suffix) or _LEXERS.get(suffix.lower(), _NO_LANGUAGE)
    lines: list[list[Span]] = [[]]
    column = 0
    for kind, value in lexer.get_tokens(text):
        what = _what(kind)
        for index, part in enumerate(value.split("\n")):
            if index:
                lines.append([])
                column = 0
            if what and part:
                lines[-1].append((column, len(part), what))
            column += len(part)
    return lines


def pragma_spans(text: str) -> list[Span]:
    """Spans of a line with a pragma that is right, from its comment's start."""
    match = _PRAGMA.search(text)
    if match is None:
        return []
    parts = [(match.start(part), len(match[part]), part) for part in ("name", "category")]
    return [(match.start(), len(text) - match.start(), "pragma"), *parts]


def wrong_spans(text: str, problems: Sequence[Diagnostic]) -> list[Span]:
    """The spans of a line with which something is wrong: its pragma, or else the words at the columns (in bytes)."""
    if match := _ANY_PRAGMA.search(text):
        return [(match.start(), len(match[0]), problems[0].severity.value)]
    found = []
    for problem in reversed(problems):  # the gravest is drawn last
        before = text.encode()[: (problem.column or 0) - 1].decode(errors="ignore")
        if problem.column and (word := _WORD.match(text, len(before))):
            found.append((word.start(), len(word[0]), problem.severity.value))
    return found


def _what(kind: _TokenType) -> str:
    for family, what in (
        (Comment.Preproc, "keyword"),
        (Comment.PreprocFile, "string"),
        (Comment, "comment"),
        (Keyword, "keyword"),
        (Operator.Word, "keyword"),
        (Token.Name.Builtin, "keyword"),
        (Token.Name.Tag, "keyword"),
        (Number, "number"),
        (String, "string"),
    ):
        if kind in family:
            return what
    return ""


class Highlighter(QObject):
    """Colours from spans it is given; `names` are words to show as the platform's calls. Of a long text it colours a
    piece in each turn of the window's. Not Qt's own highlighter, which asks for every line of a text that is opened,
    before anything is known of it."""

    def __init__(self, view: QPlainTextEdit) -> None:
        super().__init__(view)
        self._view = view
        document = view.document()
        self._wanted: list[Sequence[Span]] = []  # what lines are to be coloured with, and were; both move along
        self._drawn: list[Sequence[Span] | None] = [None] * document.blockCount()
        self._names: re.Pattern[str] | None = None
        self._palette = theme.palette()
        self._others: Iterator[int] = iter(())  # lines still to be coloured
        self._timer = QTimer(self, interval=0, singleShot=True)
        self._timer.timeout.connect(self._colour_some)
        document.contentsChange.connect(self._on_change)

    def set_spans(self, spans: Sequence[Sequence[Span]], first: int = 0) -> None:
        """Colour anew the lines whose spans changed, from the line `first` on, counted from 0, and then those above."""
        self._wanted = list(spans)
        self._begin(first)

    def set_names(self, names: Sequence[str]) -> None:
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b") if names else None
        if pattern != self._names:
            self._names = pattern
            self._begin(0, all_lines=True)

    def set_palette(self, first: int = 0) -> None:
        """Colour all anew where the theme is another one."""
        if self._palette is not theme.palette():
            self._palette = theme.palette()
            self._begin(first, all_lines=True)

    def _on_change(self, position: int, removed: int, added: int) -> None:
        """Lines came or went; those that were changed are coloured as before, until they are read."""
        first = self._view.document().findBlock(position).blockNumber()
        more = self._view.document().blockCount() - len(self._drawn)
        if more > 0:
            self._drawn[first + 1 : first + 1] = [None] * more
            if self._wanted:  # else nothing is known of the text yet
                self._wanted[first + 1 : first + 1] = [()] * more
        elif more < 0:
            del self._drawn[first + 1 : first + 1 - more], self._wanted[first + 1 : first + 1 - more]
        if self._wanted:
            last = max(self._view.document().findBlock(position + added).blockNumber(), first)
            self._colour(range(first, min(last + 1, first + _AT_ONCE)))

    def _begin(self, first: int, all_lines: bool = False) -> None:
        if all_lines:
            self._drawn[:] = [None] * len(self._drawn)
        count = len(self._drawn)
        self._others = self._differing(chain(range(first, count), range(first)))
        self._colour_some()

    def _differing(self, numbers: Iterable[int]) -> Iterator[int]:
        for number in numbers:  # lines may become more or fewer meanwhile: then all are told anew
            if number < min(len(self._drawn), len(self._wanted)) and self._drawn[number] != self._wanted[number]:
                yield number

    def _colour_some(self) -> None:
        some = tuple(islice(self._others, _AT_ONCE))
        if some:
            self._colour(some)
        if len(some) == _AT_ONCE:
            self._timer.start()

    def _colour(self, numbers: Sequence[int]) -> None:
        document = self._view.document()
        formats: dict[str, QTextCharFormat] = {}
        for number in numbers:
            block = document.findBlockByNumber(number)
            spans = self._wanted[number] if number < len(self._wanted) else ()
            self._drawn[number] = spans
            found = [(m.start(), len(m[0]), "link") for m in self._names.finditer(block.text())] if self._names else []
            _set_formats(block.layout(), [*found, *spans], formats)
        first, last = document.findBlockByNumber(min(numbers)), document.findBlockByNumber(max(numbers))
        document.markContentsDirty(first.position(), last.position() + last.length() - first.position())


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
    made = QTextCharFormat()
    colour = QColor(getattr(theme.palette(), _COLOURS.get(what, what)))
    made.setForeground(colour)
    if what in ("name", "category"):
        made.setFontWeight(QFont.Weight.Bold)
    if what in ("error", "warning"):
        made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        made.setUnderlineColor(colour)
    return made

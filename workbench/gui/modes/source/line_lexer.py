"""Colours of a source text line by line: what a line is coloured with depends on it and on how the one before ended.

So a key changes the colours of its own line, and of those below only as far as they end otherwise. Which words are
keywords is asked of Pygments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import CLexer, CppLexer, VerilogLexer, VhdlLexer
from pygments.token import Comment, Keyword, Name, Operator, Token, _TokenType

from workbench.api.source import suffixes

Span = tuple[int, int, str]  # first column from 0, length, what
#: How a line ends, and the next one begins: within nothing, a comment, a directive.
PLAIN, COMMENT, DIRECTIVE = range(3)


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


_STRING = (
    r"(?P<string>(?<=include )<[^<>]+>|(?<=include)<[^<>]+>"
    r"|(?:\bR|\bL|\bu8?|\bU)?\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])+'?)"
)
_BLOCK_COMMENT = r"/\*.*?(?:\*/|(?P<open>$))"
_C = re.compile(
    rf"(?P<comment>//.*|{_BLOCK_COMMENT})|{_STRING}|(?P<number>(?<!\w)\.?\d(?:[eEpP][+-]|[\w.'])*)|(?P<word>[A-Za-z_]\w*)"
)
_VERILOG = re.compile(
    rf"(?P<comment>//.*|{_BLOCK_COMMENT})|(?P<string>\"(?:\\.|[^\"\\])*\"?)"
    r"|(?P<number>(?:(?<![\w$])\d[\d_]*\s*)?'[sS]?[bodhBODH]\s*[\w?]+|'[01xXzZ]\b|(?<![\w$])\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<keyword>`\w+)|(?P<word>[A-Za-z_$][\w$]*)"
)
_VHDL = re.compile(
    rf"(?P<comment>--.*|{_BLOCK_COMMENT})|(?P<string>\b[bBoOxX]?\"[^\"]*\"?|'.'(?!'))"
    r"|(?P<number>(?<!\w)\d[\w#.]*(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-z]\w*)"
)
_YAML = re.compile(
    r"(?P<comment>(?:^|(?<=\s))#.*)|(?P<keyword>(?:(?<=^)|(?<=[\s{,]))[^\s:#{}\[\],'\"-][^:#{}\[\],'\"]*(?=:(?:\s|$)))"
    r"|(?P<string>\"(?:\\.|[^\"\\])*\"?|(?<![\w])'[^']*'?)|(?P<number>(?<![\w.-])-?\d[\d.]*(?:[eE][+-]?\d+)?(?![\w.]))"
)
_NOTHING = re.compile(r"(?!)")
_GOES_ON = re.compile(r"/\*|\\$", re.MULTILINE)  # where the next line may begin as no other does


def _comments_close(text: str) -> bool:
    """Whether no comment that begins on a line is open at its end, without a look at what else is there."""
    last = text.rfind("/*")
    return last < 0 or text.find("*/", last + 2) >= 0


class LineLexer:
    """Lexes lines of one language. `directives`: a line that begins with # is the preprocessor's."""

    def __init__(self, parts: re.Pattern[str], words: type[Lexer] | None = None, *, directives: bool = False) -> None:
        self._parts, self._directives, self._comments = parts, directives, "open" in parts.groupindex
        lexer = words() if words else None

        @lru_cache(maxsize=1 << 16)
        def is_keyword(word: str) -> bool:
            kind = next((kind for kind, _ in lexer.get_tokens(word)), Token) if lexer else Token
            return any(kind in family for family in (Keyword, Operator.Word, Name.Builtin, Comment.Preproc))

        self._is_keyword = is_keyword

    def end_of(self, text: str, start: int) -> int:
        """How a line ends that begins as `start` says."""
        if start == PLAIN and not text.endswith("\\") and _comments_close(text):
            return PLAIN
        if start == COMMENT and "*/" not in text:
            return COMMENT
        return self.lex(text, start)[1]

    def lex(self, text: str, start: int) -> tuple[list[Span], int]:
        """The spans of a line that begins as `start` says, in order and apart, and how it ends."""
        spans: list[Span] = []
        at, end = 0, PLAIN
        if start == COMMENT:
            close = text.find("*/")
            at = close + 2 if close >= 0 else len(text)
            if at:
                spans.append((0, at, "comment"))
            if close < 0:
                return spans, COMMENT
        directive = start == DIRECTIVE or (self._directives and text[at:].lstrip().startswith("#"))
        done = at
        for part in self._parts.finditer(text, at):
            what = part.lastgroup or ""
            if self._comments and part["open"] is not None:
                end = COMMENT
            if what == "word":
                what = "keyword" if self._is_keyword(part[0]) else ""
            if directive and what not in ("comment", "string"):
                continue
            if what:
                if directive and part.start() > done:
                    spans.append((done, part.start() - done, "keyword"))
                spans.append((part.start(), len(part[0]), what))
                done = part.end()
        if directive:
            if done < len(text) and end == PLAIN:
                spans.append((done, len(text) - done, "keyword"))
            if end == PLAIN and text.endswith("\\"):
                end = DIRECTIVE
        return spans, end if self._comments else PLAIN


_LEXERS = {
    **dict.fromkeys((*suffixes.C, ".h", ".cl"), LineLexer(_C, CLexer, directives=True)),
    **dict.fromkeys((*suffixes.CPP, *suffixes.CPP_HEADERS), LineLexer(_C, CppLexer, directives=True)),
    **dict.fromkeys((*suffixes.VERILOG, *suffixes.VERILOG_HEADERS), LineLexer(_VERILOG, VerilogLexer)),
    **dict.fromkeys(suffixes.VHDL, LineLexer(_VHDL, VhdlLexer)),
    **dict.fromkeys((".yaml", ".yml"), LineLexer(_YAML)),
    ".x": LineLexer(_C, XLexer),
}
_NO_LANGUAGE = LineLexer(_NOTHING)


def lexer_of(suffix: str) -> LineLexer:
    """The lexer of the language of a file's suffix."""
    return _LEXERS.get(suffix) or _LEXERS.get(suffix.lower(), _NO_LANGUAGE)


def spans(text: str, suffix: str) -> list[list[Span]]:
    """Coloured spans of every line of a text, in the language of a file's suffix."""
    lexer, state, lines = lexer_of(suffix), PLAIN, []
    for line in text.split("\n"):
        found, state = lexer.lex(line, state)
        lines.append(found)
    return lines


class LineColours:
    """The spans of the lines of a text that is edited. `lines` is the text's own list, which is changed before
    `edited` says where."""

    def __init__(self, lines: Sequence[str], suffix: str) -> None:
        self._lines, self._lexer = lines, lexer_of(suffix)
        self._starts = [PLAIN] * len(lines)  # how each line begins
        text, at, number, done = "\n".join(lines), 0, 0, 0
        for part in _GOES_ON.finditer(text):  # of the whole text: lines one by one take ten times as long
            number, at = number + text.count("\n", at, part.start()), part.start()
            if number >= done:
                done = self._fill(number, number)

    def _fill(self, first: int, last: int) -> int:
        """Find how the lines after `first` begin: those up to `last`, and on as far as they begin otherwise. Gives the
        line where it stopped."""
        starts, end_of = self._starts, self._lexer.end_of
        for number in range(first, len(self._lines) - 1):
            end = end_of(self._lines[number], starts[number])
            if starts[number + 1] != end:
                starts[number + 1] = end
            elif number >= last:
                return number + 1
        return len(self._lines)

    def edited(self, first: int, removed: int, added: int) -> None:
        """The lines from `first` on were replaced: `removed` by `added`."""
        self._starts[first + 1 : first + removed] = [PLAIN] * (added - 1)
        self._fill(first, first + added - 1)

    def spans(self, number: int) -> list[Span]:
        """The spans of a line, counted from 0."""
        return self._lexer.lex(self._lines[number], self._starts[number])[0] if number < len(self._starts) else []

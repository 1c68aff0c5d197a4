"""Colours of a source text line by line: what a line is coloured with depends on it and on how the one before ended.

So a key changes the colours of its own line, and of those below only as far as they end otherwise. How a language is
written it says itself (`workbench.api.languages`); which words are keywords is asked of Pygments.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Operator, Token
from pygments.util import ClassNotFound

from workbench.api.languages import Syntax, colours_of

Span = tuple[int, int, str]  # first column from 0, length, what
#: How a line ends, and the next one begins: within nothing, a comment, a directive.
PLAIN, COMMENT, DIRECTIVE = range(3)

_YAML = re.compile(
    r"(?P<comment>(?:^|(?<=\s))#.*)|(?P<keyword>(?:(?<=^)|(?<=[\s{,]))[^\s:#{}\[\],'\"-][^:#{}\[\],'\"]*(?=:(?:\s|$)))"
    r"|(?P<string>\"(?:\\.|[^\"\\])*\"?|(?<![\w])'[^']*'?)|(?P<number>(?<![\w.-])-?\d[\d.]*(?:[eE][+-]?\d+)?(?![\w.]))"
)


class LineLexer:
    """Lexes lines of one language; `parts` are what is coloured of them, where its syntax does not say so."""

    def __init__(self, syntax: Syntax, parts: re.Pattern[str] | None = None) -> None:
        self._parts, self._directives = parts or syntax.parts, syntax.directives
        self._open, self._close = syntax.block or ("", "")
        #: where the next line may begin as no other does
        self.goes_on = re.compile("|".join([*filter(None, [re.escape(self._open)]), r"\\$"]), re.MULTILINE)
        lexer, keywords = None, re.compile(syntax.keywords)
        if syntax.lexer:
            with suppress(ClassNotFound):
                lexer = get_lexer_by_name(syntax.lexer)

        @lru_cache(maxsize=1 << 16)
        def is_keyword(word: str) -> bool:
            kind = next((kind for kind, _ in lexer.get_tokens(word)), Token) if lexer else Token
            known = any(kind in family for family in (Keyword, Operator.Word, Name.Builtin, Comment.Preproc))
            return known or keywords.fullmatch(word) is not None

        self._is_keyword = is_keyword

    def end_of(self, text: str, start: int) -> int:
        """How a line ends that begins as `start` says."""
        if start == PLAIN and not text.endswith("\\") and self._comments_close(text):
            return PLAIN
        if start == COMMENT and self._close not in text:
            return COMMENT
        return self.lex(text, start)[1]

    def _comments_close(self, text: str) -> bool:
        """Whether no comment that begins on a line is open at its end, without a look at what else is there."""
        last = text.rfind(self._open) if self._open else -1
        return last < 0 or text.find(self._close, last + len(self._open)) >= 0

    def _is_open(self, comment: str) -> bool:
        """Whether a comment that begins on a line goes on in the next one."""
        begins = bool(self._open) and comment.startswith(self._open)
        return begins and not comment.endswith(self._close, len(self._open))

    def lex(self, text: str, start: int) -> tuple[list[Span], int]:
        """The spans of a line that begins as `start` says, in order and apart, and how it ends."""
        spans: list[Span] = []
        at, end = 0, PLAIN
        if start == COMMENT:
            close = text.find(self._close)
            at = close + len(self._close) if close >= 0 else len(text)
            if at:
                spans.append((0, at, "comment"))
            if close < 0:
                return spans, COMMENT
        directive = start == DIRECTIVE or (self._directives and text[at:].lstrip().startswith("#"))
        done = at
        for part in self._parts.finditer(text, at):
            what = part.lastgroup or ""
            if what == "comment" and self._is_open(part[0]):
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
        return spans, end


_OF_YAML, _OF_NONE = (LineLexer(Syntax("#", block=None), parts) for parts in (_YAML, re.compile(r"(?!)")))


@lru_cache(maxsize=64)
def _lexer(syntax: Syntax) -> LineLexer:
    return LineLexer(syntax)


def lexer_of(suffix: str) -> LineLexer:
    """The lexer of the language of a file's suffix."""
    if suffix.lower() in (".yaml", ".yml"):
        return _OF_YAML
    syntax = colours_of(suffix)
    return _lexer(syntax) if syntax else _OF_NONE


def spans(text: str, suffix: str) -> list[list[Span]]:
    """Coloured spans of every line of a text, in the language of a file's suffix."""
    lexer, state, lines = lexer_of(suffix), PLAIN, []
    for line in text.split("\n"):
        tokens, state = lexer.lex(line, state)
        lines.append(tokens)
    return lines


class LineColours:
    """The spans of the lines of a text that is edited. `lines` is the text's own list, which is changed before
    `edited` says where."""

    def __init__(self, lines: Sequence[str], suffix: str) -> None:
        self._lines, self._lexer = lines, lexer_of(suffix)
        self._starts = [PLAIN] * len(lines)  # how each line begins
        text, at, number, done = "\n".join(lines), 0, 0, 0
        for part in self._lexer.goes_on.finditer(text):  # of the whole text: lines one by one take ten times as long
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

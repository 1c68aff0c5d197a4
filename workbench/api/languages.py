"""How the text of a language is written: how its files' names end, how comments and pragmas stand in them, which words
are keywords. A language says so once (`FileKind`); New, marks, go to definition, colours and builds ask it here."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from typing import Protocol

from workbench.api.brought import brought
from workbench.api.source import suffixes


@dataclass(frozen=True)
class Syntax:
    """How comments, strings, numbers and words of a language are written, all but the first two as regular expressions.

    `line` begins a comment that ends with its line, `block` is what a longer one stands between, if there are such.
    `names` are names in which nothing is a comment or a string. Keywords are the words that `keywords` matches, and
    those that the Pygments lexer of the name `lexer` takes for one. With `directives` a line that begins with `#` is a
    preprocessor's, as pragmas are then, and `\\` at its end continues it; without, pragmas are comments of a line.
    `includes` matches a line that brings another file, whose name is its first group.
    """

    line: str
    block: tuple[str, str] | None = ("/*", "*/")
    strings: str = r'"(?:\\.|[^"\\\n])*"?'
    numbers: str = r"(?<![\w.])\d[\w.]*"
    words: str = r"[A-Za-z_]\w*"
    names: str = r"(?!)"
    keywords: str = r"(?!)"
    lexer: str = ""
    directives: bool = False
    includes: str = ""

    @property
    def opening(self) -> str:
        """What begins a pragma."""
        return "#" if self.directives else self.line

    @property
    def pragma(self) -> str:
        """What stands before a pragma's own text."""
        return f"{self.opening}pragma recap "

    @property
    def _comment(self) -> str:
        block = r"{}.*?(?:{}|\Z)|".format(*map(re.escape, self.block)) if self.block else ""
        rest = r"(?:\\[ \t]*\r?\n|[^\n])*" if self.directives else r"[^\n]*"
        return rf"(?P<comment>{block}{re.escape(self.line)}{rest})"

    @cached_property
    def tokens(self) -> re.Pattern[str]:
        """Comments, and what none can begin in; the group `comment` is set for the former."""
        return re.compile(f"{self._comment}|{self.strings}|{self.names}", re.DOTALL)

    @cached_property
    def parts(self) -> re.Pattern[str]:
        """What is coloured of a line: the last group that is set says what it is."""
        names = f"(?:{self.names})|(?P<word>{self.words})"
        return re.compile(
            f"{self._comment}|(?P<string>{self.strings})|(?P<number>{self.numbers})|{names}", re.DOTALL
        )  # fmt: skip

    @cached_property
    def any_pragma(self) -> re.Pattern[str]:
        """A regular expression for the beginning of any pragma; group `who` is its addressee, `gap` the blanks after
        that."""
        case = 0 if self.directives else re.IGNORECASE
        return re.compile(rf"{re.escape(self.opening)}[ \t]*pragma[ \t]+(?P<who>\w*)(?P<gap>[ \t]*)", case)

    @cached_property
    def elsewhere(self) -> re.Pattern[str]:
        """The beginning of a comment that is a pragma as other languages have them."""
        block = re.escape(self.block[0]) if self.block else "(?!)"
        line, gap = re.escape(self.line), r"\s*" if self.directives else r"\s*#?\s*"
        if not self.directives:
            line = rf"{line}\s*#" if self.line != "#" else "(?!)"
        return re.compile(rf"(?:{line}\s*|{block}{gap})pragma\s+recap\b", re.IGNORECASE)


@dataclass(frozen=True)
class FileKind:
    """One kind of a language's files: what it is called ("C++"), how their names end, how they are written.

    `compiled` is False for headers, which only others bring in; `included` says that others bring in these. `compiler`
    is what gcc and clang call the language after -x, where these compile the files: `workbench cc` takes such files.
    """

    title: str
    suffixes: tuple[str, ...]
    syntax: Syntax
    compiled: bool = True
    included: bool = False
    compiler: str = ""


class Language(Protocol):
    """A language of either kind, and whatever else has sources of its own."""

    @property
    def files(self) -> tuple[FileKind, ...]: ...


def suffixes_of(languages: Iterable[Language], *, compiled: bool = False, included: bool = False) -> tuple[str, ...]:
    """How the names of these languages' files end, or of those that are compiled, or that others include."""
    kinds = (kind for language in languages for kind in language.files)
    wanted = (kind for kind in kinds if (kind.compiled or not compiled) and (kind.included or not included))
    return tuple(dict.fromkeys(suffix for kind in wanted for suffix in kind.suffixes))


def headers_of(languages: Iterable[Language]) -> tuple[str, ...]:
    """How the names of these languages' headers end."""
    kinds = (kind for language in languages for kind in language.files if not kind.compiled)
    return tuple(dict.fromkeys(suffix for kind in kinds for suffix in kind.suffixes))


def compilers_of(kinds: Iterable[FileKind]) -> dict[str, str]:
    """What gcc and clang call the languages that they compile of these kinds, by how the files' names end."""
    return {suffix: kind.compiler for kind in kinds if kind.compiler for suffix in kind.suffixes}


def reads(language: Language, file: str | PurePath) -> bool:
    """Whether a file is of a language by its name."""
    return str(file).endswith(every := suffixes_of([language])) or str(file).lower().endswith(every)


def marked_languages() -> tuple[Language, ...]:
    """The loaded languages, in whose files pragmas are looked for."""
    return (*brought("host_languages"), *brought("hdl_languages"))


def syntax_of(file: str | PurePath) -> Syntax | None:
    """How a source file is written, by its name; None for a file that can hold no pragmas."""
    return _syntax(PurePath(file).suffix, marked_languages())


def colours_of(suffix: str) -> Syntax | None:
    """How any file is written that a plugin knows, by how its name ends."""
    begun = [kind.begun for kind in brought("model_kinds") if kind.begun]
    return _syntax(suffix, (*begun, *brought("composers"), *marked_languages()))


def _syntax(suffix: str, languages: Iterable[Language]) -> Syntax | None:
    known = {end: kind.syntax for language in languages for kind in language.files for end in kind.suffixes}
    return known.get(suffix) or known.get(suffix.lower())


def check_files(language: Language) -> None:
    """Raise for a language whose files' kinds are none, or whose expressions are not regular."""
    for kind in language.files:
        if not isinstance(kind, FileKind):
            raise TypeError(f"files holds {kind!r:.80}, which is not a FileKind")
        _ = kind.syntax.tokens, kind.syntax.parts, kind.syntax.any_pragma, kind.syntax.elsewhere


def either(languages: Iterable[Language]) -> str:
    """What the sources of these languages are called: "C or C++"."""
    names = list(dict.fromkeys(kind.title for language in languages for kind in language.files if kind.compiled))
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "host"


#: Written as C: comments, strings, numbers and words. C++ has keywords of its own.
C = Syntax(
    "//",
    strings=r"(?<=include )<[^<>\n]+>|(?<=include)<[^<>\n]+>"
    r'|(?:L|u8?|U)?R"(?P<raw>[^\s()\\"]{0,16})\(.*?(?:\)(?P=raw)"|\Z)|(?:\bR|\bL|\bu8?|\bU)?"(?:\\.|[^"\\\n])*"?'
    r"|(?:(?<![0-9A-Za-z_])|(?<=\b[uUL])|(?<=\bu8))'(?:\\.|[^'\\\n])*'?",
    numbers=r"(?<!\w)\.?\d(?:[eEpP][+-]|[\w.'])*",
    lexer="c",
    directives=True,
    includes=r'^[ \t]*#[ \t]*(?:include|include_next|import|embed)[ \t]*["<]([^">\n]+)[">]',
)
CPP = replace(C, lexer="cpp")
VERILOG = Syntax(
    "//",
    numbers=r"(?:(?<![\w$])\d[\d_]*\s*)?'[sS]?[bodhBODH]\s*[\w?]+|'[01xXzZ]\b"
    r"|(?<![\w$])\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?",
    words=r"`\w+|[A-Za-z_$][\w$]*",
    names=r"\\[^\s]+",
    keywords=r"`\w+",
    lexer="verilog",
    includes=r'`[ \t]*include[ \t]*["<]([^">\n]+)[">]',
)
VHDL = Syntax(
    "--",
    strings=r"""(?:\b[bBoOxX])?"(?:""|[^"\n])*"?|(?<![A-Za-z0-9_)\]])'.'""",
    numbers=r"(?<!\w)\d[\w#.]*(?:[eE][+-]?\d+)?",
    words=r"[A-Za-z]\w*",
    names=r"\\(?:\\\\|[^\\\n])*\\?",
    lexer="vhdl",
)
C_FILES = (
    FileKind("C", suffixes.C, C, compiler="c"),
    FileKind("C++", suffixes.CPP, CPP, compiler="c++"),
    FileKind("C header", (".h",), C, compiled=False, included=True),
    FileKind("C++ header", suffixes.CPP_HEADERS, CPP, compiled=False, included=True),
)
VERILOG_FILES = (
    FileKind("Verilog", suffixes.VERILOG, VERILOG, included=True),
    FileKind("Verilog header", suffixes.VERILOG_HEADERS, VERILOG, compiled=False, included=True),
)
VHDL_FILES = (FileKind("VHDL", suffixes.VHDL, VHDL),)

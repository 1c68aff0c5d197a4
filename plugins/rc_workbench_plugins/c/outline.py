"""What a C or C++ file defines and mentions, read as text: for choosing a project's sources before anything can be
parsed."""

import re
from collections.abc import Sequence
from pathlib import Path

from workbench.api import HostFile
from workbench.api.source import suffixes

_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_ARGUMENTS = r"\s*\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)\s*"
#: A name with a type before it, or a scope, or at a line's begin; what may follow the arguments in C++ is bounded.
_FUNCTION = re.compile(
    r"^(?:[ \t]*[A-Za-z_][\w:<>,*&\[\] \t]{0,300}[\s*&>]|[ \t]*(?=\w+(?:<[^<>\n]{0,99}>)?::)|)"
    rf"((?:[A-Za-z_]\w*\s*(?:<[\w\s,]{{0,99}}>)?::\s*)*~?[A-Za-z_]\w*){_ARGUMENTS}"
    r"(?:(?:const|noexcept|override|final|try|requires|&|->|:)[^;{}]{0,999})?\{",
    re.MULTILINE,
)
_SCOPE = re.compile(r"(\w+)\s*(?:<[^<>]*>)?::\s*~?\w+$")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*(?![\w.])")
_KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "catch"}


def outline(root: Path, files: Sequence[str]) -> tuple[HostFile, ...]:
    """What each file (relative to `root`) defines and mentions."""
    return tuple(_outline(root, file) for file in files)


def _outline(root: Path, file: str) -> HostFile:
    try:
        raw = (root / file).read_bytes().decode("utf-8", "replace")
    except OSError:
        raw = ""
    text = _NOISE.sub(" ", raw)
    header = file.endswith(suffixes.C_HEADERS)
    names = map(_used_by, _FUNCTION.findall(text))
    functions = tuple(name for name in dict.fromkeys(names) if name not in _KEYWORDS)
    return HostFile(
        file=file,
        entry="main" in functions and not header,
        header=header,
        functions=functions,
        words=frozenset(_WORD.findall(text)),
        includes=tuple(dict.fromkeys(_INCLUDE.findall(_COMMENT.sub(" ", raw)))),
        numbers=tuple(sorted({_value(number) for number in _NUMBER.findall(text)})),
    )


def _used_by(name: str) -> str:
    """The name by which others use a function: of a method that of its class."""
    scope = _SCOPE.search(name)
    return scope[1] if scope else name


def _value(text: str) -> int:
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    octal = len(text) > 1 and text[0] == "0" and all(digit in "01234567" for digit in text)
    return int(text[:40], 8 if octal else 10)

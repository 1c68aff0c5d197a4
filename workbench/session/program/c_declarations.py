"""Parses the declarations of a C or C++ header, each with the comment above it, without bodies of functions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent

_COMMENT = r"/\*.*?\*/|//[^\n]*"
_NO_CODE = re.compile(rf'{_COMMENT}|^#(?:[^\n]*\\\n)*[^\n]*|extern "C" \{{|"[^"\n]*"', re.DOTALL | re.MULTILINE)
_FUNCTION = re.compile(r"\)(?: const)?(\s*:(?!:)[^;{]*)?\s*(?=\{)")


@dataclass(frozen=True)
class Declaration:
    """A declaration. `text` is its text in the header, with inner comments; `about` is the comment above, as plain
    text."""

    name: str
    text: str
    about: str


def declarations(header: str) -> Iterator[Declaration]:
    """The declarations at a header's top level, in order."""
    code = _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), header)
    begin = 0
    for end in _ends(code):
        start = begin + len(code[begin:end]) - len(code[begin:end].lstrip())
        name = _name(code[start:end])
        if name:
            above = header[begin:start].rpartition("\n\n")[2]
            yield Declaration(name, dedent(_without_bodies(header[start:end], code[start:end])), _plain(above))
        begin = end


def _ends(code: str) -> Iterator[int]:
    """The end of each declaration: its semicolon, or a function's closing brace."""
    begin, at = 0, 0
    while match := re.compile(r"[;{}]").search(code, at):
        at = match.end()
        if match[0] == "{":
            function = re.search(r"\)(?: const)?\s*$", code[begin : match.start()])
            at = _closed(code, match.start())
            if not function:
                continue
        yield at
        begin = at


def _closed(code: str, opening: int) -> int:
    """The position after the brace that closes the one at `opening`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, opening):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return len(code)


def _name(code: str) -> str:
    """The declared name: of a type, or before the first parenthesis or the end."""
    match = re.match(r"\s*(?:struct|class)\s+(\w+)", code) or re.search(r"(\w+)\s*\((?!\()", code.split("{")[0])
    if match is None or code.lstrip().startswith("typedef"):
        match = re.search(r"(\w+)\s*;\s*$", code)
    return match[1] if match else ""


def _without_bodies(text: str, code: str) -> str:
    """A declaration in which functions, also member functions, end after their parameters."""
    pieces, at = [], 0
    while match := _FUNCTION.search(code, at):
        end = _closed(code, match.end())
        while match[1] and re.match(r"\s*[,{]", code[end:]):  # within the initialisers
            end = _closed(code, code.index("{", end))
        pieces.append(text[at : match.start(1) if match[1] else match.end()].rstrip() + ";")
        at = end
    return "".join([*pieces, text[at:]])


def _plain(comments: str) -> str:
    """The text of comments."""
    lines = re.sub(r"/\*|\*/|^\s*//|^\s*\* ?|^#.*", "", comments, flags=re.MULTILINE).splitlines()
    return "\n".join(line.strip() for line in lines).strip()

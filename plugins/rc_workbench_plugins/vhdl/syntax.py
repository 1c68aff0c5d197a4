"""A VHDL file as tree-sitter reads it: its bytes, its tree, and small things to ask of both."""

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

import tree_sitter_vhdl
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from workbench.api import source_bytes
from workbench.api.languages import VHDL
from workbench.api.source.left_out import synthesised
from workbench.api.source.lines import line_starts

_COMMENTS = ("line_comment", "block_comment")
_SPACES = bytes.maketrans(b"\f\v\x1a", b"   ")
_BLANK = re.compile(rb"(?:\s|--[^\n]*|/\*.*?\*/)*", re.DOTALL)
#: The type of an index in a constraint, as in `array (natural range 0 to 3)`, which the parser does not know.
_RANGED = re.compile(rb"[(,]\s*[a-z][\w.]*\s+range\b(?!\s*<>)", re.IGNORECASE)
#: The direction of a file, as VHDL-87 has it, which the parser does not know.
_DIRECTED = re.compile(rb"(\bfile\s+[\w\s,]+:\s*[\w.]+\s+is\s+)(in|out)\b", re.IGNORECASE)
#: PSL's statements, which say nothing that becomes hardware, and which the parser does not know.
_BRACED = rb"(?:\{(?:[^{}]|\{[^{}]*\})*\}|[^;{}])*;"
_PSL = re.compile(
    rb"\bdefault\s+clock\s+is\b[^;]*;|\b(?:sequence|property)\s+\w+(?:\s*\([^)]*\))?\s+is\b" + _BRACED
    + rb"|(?:\b\w+\s*:\s*)?\b(?:assert|assume|assume_guarantee|restrict|restrict_guarantee|cover)"
    rb"\s*(?:\b(?:always|never|eventually)\b|(?=\{))" + _BRACED,
    re.IGNORECASE,
)  # fmt: skip
#: Words that 2008 reserves and 93 has names of, which the parser knows by the former alone; what stands for their ends.
_RESERVED = (
    "assume", "assume_guarantee", "context", "cover", "default", "fairness", "force", "parameter", "property",
    "protected", "release", "restrict", "restrict_guarantee", "sequence", "strong", "vmode", "vprop", "vunit",
)  # fmt: skip
_END = "zq"
_HELD = {word[:-2]: word[-2:] for word in _RESERVED}
_WORDS = re.compile(rb"\b(?:" + "|".join(_RESERVED).encode() + rb")\b", re.IGNORECASE)
_STANDS = re.compile(rf"\b({'|'.join(_HELD)}){_END}\b", re.IGNORECASE)
_COMMENT = re.compile(r'"[^"\n]*"|--[^\n]*|/\*.*?\*/', re.DOTALL)


@cache
def language() -> Language:
    return Language(tree_sitter_vhdl.language())


@cache
def query(text: str) -> Query:
    return Query(language(), text)


def matches(node: Node, text: str) -> list[Node]:
    """What a query captures below a node, in the order it stands."""
    captures = QueryCursor(query(text)).captures(node)
    return sorted((one for nodes in captures.values() for one in nodes), key=lambda one: one.start_byte)


@dataclass(frozen=True, eq=False)
class VhdlFile:
    """A source file. `number` is its place among the design's, `library` the one it is analysed into."""

    path: Path
    library: str
    number: int
    data: bytes
    tree: Tree

    @cached_property
    def starts(self) -> list[int]:
        return line_starts(self.data)

    def place(self, node: Node) -> tuple[int, int]:
        """Line and column (in bytes) of a node, from 1."""
        return node.start_point.row + 1, node.start_point.column + 1

    def line(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def after_blanks(self, offset: int) -> int:
        """Where the next word after an offset begins: behind blanks and comments."""
        blank = _BLANK.match(self.data, offset)
        return blank.end() if blank else offset

    def faults(self) -> list[Node]:
        """What the parser could not make out."""
        return _faults(self.tree)


def read_file(path: Path, library: str, number: int) -> VhdlFile:
    """A file with blanks in place of what synthesis leaves out, and of what GHDL or the parser does not take: a byte
    order mark, form feeds and the like, and DOS's end of a file."""
    data = synthesised(source_bytes(path), VHDL).translate(_SPACES)
    if data.startswith(BOM_UTF8):
        data = data.replace(BOM_UTF8, b" " * len(BOM_UTF8), 1)
    return _file(path, library, number, data)


def with_data(file: VhdlFile, data: bytes) -> VhdlFile:
    """The file, if it held other bytes."""
    return _file(file.path, file.library, file.number, data)


@lru_cache(2000)
def _file(path: Path, library: str, number: int, data: bytes) -> VhdlFile:
    return VhdlFile(path, library, number, data, _tree(data))


@lru_cache(2000)
def _tree(data: bytes) -> Tree:
    tree = Parser(language()).parse(data)
    if not tree.root_node.has_error:
        return tree
    ranged = _RANGED.sub(lambda match: re.sub(rb"[^\s(,]", b" ", match[0]), data)
    ranged = _DIRECTED.sub(lambda match: match[1] + b" " * len(match[2]), ranged)
    ranged = _PSL.sub(lambda match: re.sub(rb"\S", b" ", match[0]), ranged)
    named = _WORDS.sub(lambda match: _cased(match[0].decode(), _END).encode(), ranged)
    others = (Parser(language()).parse(text) for text in dict.fromkeys((ranged, named)) if text != data)
    return min((tree, *others), key=lambda one: len(_faults(one)))


def _faults(tree: Tree) -> list[Node]:
    return matches(tree.root_node, "[(ERROR) (MISSING)] @e") if tree.root_node.has_error else []


def _cased(word: str, end: str) -> str:
    """A word with another end, in small and large letters as it was."""
    kept = word[: -len(end)]
    return kept + "".join(
        new.upper() if old.isupper() else new for old, new in zip(word[len(kept) :], end, strict=True)
    )


def text_of(node: Node | None) -> str:
    if node is None or node.text is None:
        return ""
    text = node.text.decode("utf-8", "replace")
    return _STANDS.sub(lambda match: _cased(match[0], _HELD[match[1].lower()]), text) if _END in text.lower() else text


def without_comments(text: str) -> str:
    """Comments as a blank each; what looks like one in a string stays."""
    return (
        _COMMENT.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)
        if "--" in text or "/*" in text
        else text
    )


def tidy(node: Node | None) -> str:
    """The text of a node without comments, on one line."""
    return " ".join(without_comments(text_of(node)).split())


def plain(name: str) -> str:
    """A name as names are compared: VHDL's basic identifiers have no case."""
    return name if name.startswith("\\") else name.lower()


def children(node: Node | None, *kinds: str) -> Iterator[Node]:
    """The children of these kinds; all that are no comments, where none is named."""
    for child in node.children if node is not None else ():
        if child.type in kinds or (not kinds and child.type not in _COMMENTS):
            yield child


def child(node: Node | None, *kinds: str) -> Node | None:
    return next(children(node, *kinds), None)


def declared_in(node: Node) -> Iterator[tuple[str, str]]:
    """The names that a declaration has, each with the type as it is written."""
    kind = tidy(child(node, "subtype_indication"))
    for name in children(child(node, "identifier_list")):
        if name.type != ",":
            yield text_of(name), kind

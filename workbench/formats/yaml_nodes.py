"""YAML texts as nodes with their places: libyaml's parser, this program's limits and YAML 1.2's scalars.

libyaml's marks count characters, as those of PyYAML's own scanner do. Only events are taken from it: what it builds
from them recurses in C and would end the process on deep nesting.
"""

import re
from functools import lru_cache
from typing import Any

import yaml

#: Far above what a person writes; the reader of a larger one would keep its user waiting.
SIZE_LIMIT = 4 << 20  # bytes of a file, characters of a text
NODE_LIMIT = 200_000
DEPTH_LIMIT = 60
TOO_LARGE = ("this document is too large or too deep", "Write aliases out, or split the file.")

_TAG = "tag:yaml.org,2002:"
_Parser = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # the second where PyYAML was built without libyaml


class YamlError(Exception):
    """A text that is not YAML, or too much of it: what is wrong and where (line and column from 1)."""

    def __init__(self, message: str, hint: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message, self.hint, self.line, self.column = message, hint, line, column


class Scalars(yaml.resolver.BaseResolver):
    """What a scalar without quotes is: `1e-6` is a number, `on` and `12:30` are texts."""


Scalars.yaml_implicit_resolvers = {}
for _kind, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    Scalars.add_implicit_resolver(_TAG + _kind, re.compile(rf"(?:{_pattern})\Z"), list(_first))


@lru_cache(maxsize=4)  # a document, its edit and what is undone are each read by several: parsed once
def compose(text: str) -> yaml.Node | None:
    """The only document's top node, not to be changed; None where the text holds none. Raises YamlError."""
    if len(text) > SIZE_LIMIT:
        raise YamlError(*TOO_LARGE)
    if bad := yaml.reader.Reader.NON_PRINTABLE.search(text):
        line, column = text.count("\n", 0, bad.start()) + 1, bad.start() - text.rfind("\n", 0, bad.start())
        raise YamlError("this character is not allowed in YAML", "Remove it, or write it as an escape.", line, column)
    try:
        return _Composer(_Parser(text)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        if "nesting depth" in str(error.problem):  # libyaml's own limit, of PyYAML 6.0.4 on
            raise YamlError(*TOO_LARGE, line, column) from None
        raise YamlError(*_syntax(error, text[mark.index : mark.index + 1] if mark else ""), line, column) from None


class _Composer:
    def __init__(self, parser: Any) -> None:
        self._parser, self._scalars = parser, Scalars()
        self._anchors: dict[str, yaml.Node] = {}
        self._sizes: dict[str, int] = {}  # of what an alias brings, in nodes
        self._count = 0  # aliases written out

    def document(self) -> yaml.Node | None:
        parser = self._parser
        parser.get_event()  # the stream's start
        if parser.check_event(yaml.StreamEndEvent):
            return None
        parser.get_event()  # the document's start
        node = self._node(0)
        parser.get_event()
        if not parser.check_event(yaml.StreamEndEvent):
            mark = parser.get_event().start_mark
            raise yaml.composer.ComposerError(None, None, "but found another document", mark)
        return node

    def _node(self, depth: int) -> Any:
        event: Any = self._parser.get_event()
        start, end = event.start_mark, event.end_mark
        if type(event) is yaml.AliasEvent:
            if event.anchor not in self._anchors:
                raise yaml.composer.ComposerError(None, None, f"found undefined alias '{event.anchor}'", start)
            self._counted(self._sizes[event.anchor], depth, start)
            return self._anchors[event.anchor]
        before = self._count
        self._counted(1, depth, start)
        if type(event) is yaml.ScalarEvent:
            tag = self._tag(event, yaml.ScalarNode, event.value)
            return self._anchored(event, yaml.ScalarNode(tag, event.value, start, end, event.style))
        kind = yaml.MappingNode if type(event) is yaml.MappingStartEvent else yaml.SequenceNode
        node: Any = kind(self._tag(event, kind, None), [], start, None, event.flow_style)
        self._anchored(event, node)
        while not self._parser.check_event(yaml.SequenceEndEvent, yaml.MappingEndEvent):
            item = self._node(depth + 1)
            node.value.append(item if kind is yaml.SequenceNode else (item, self._node(depth + 1)))
        node.end_mark = self._parser.get_event().end_mark
        if event.anchor is not None:
            self._sizes[event.anchor] = self._count - before
        return node

    def _counted(self, nodes: int, depth: int, start: Any) -> None:
        self._count += nodes
        if self._count > NODE_LIMIT or depth > DEPTH_LIMIT:
            raise YamlError(*TOO_LARGE, start.line + 1, start.column + 1)

    def _tag(self, event: Any, kind: type[yaml.Node], value: str | None) -> str:
        if event.tag is None or event.tag == "!":
            return str(self._scalars.resolve(kind, value, event.implicit))
        return str(event.tag)

    def _anchored(self, event: Any, node: yaml.Node) -> yaml.Node:
        if event.anchor is not None:
            self._anchors[event.anchor] = node
            self._sizes[event.anchor] = 1
        return node


def plain_value(node: yaml.ScalarNode) -> bool | int | float | str | None:
    """What a scalar represents. Raises ValueError where it is not of the kind that its tag says, or of none known."""
    text, kind = str(node.value), node.tag.removeprefix(_TAG)
    if kind == "null":
        return None
    if kind == "str":
        text.encode("utf-8")  # half a surrogate pair, written as an escape, is no character
        return text
    if kind == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind == "int":
        return int(text, 0 if text[:2].lower() in ("0x", "0o") else 10)
    if kind == "float" and (value := float(text)) == value:
        return value
    raise ValueError(kind)


def plain_scalar(text: str) -> bool | int | float | str | None:
    """What a text without quotes represents: a number, true or false, nothing, or itself."""
    tag = Scalars().resolve(yaml.ScalarNode, text, (True, False))
    try:
        return plain_value(yaml.ScalarNode(tag, text))
    except ValueError:
        return text


def _syntax(error: yaml.MarkedYAMLError, character: str) -> tuple[str, str]:
    problem = error.problem or "this is not YAML"
    hints = {
        "mapping values are not allowed": "Check the indentation; a text with a colon in it needs quotes.",
        "tab character": "Indent with blanks, not tabs.",
        "cannot start any token": "Indent with blanks, not tabs." if character == "\t" else "Put this text in quotes.",
        "did not find expected key": "Check the indentation of this line.",
        "did not find expected '-'": "Check the indentation of this line.",
        "expected ',' or": "A bracket is not closed, or a comma is missing.",
        "expected node content": "A bracket is not closed, or a value is missing.",
        "unexpected end of stream": "A quote is not closed.",
        "could not find expected ':'": "Write `key: value`, with a blank after the colon.",
        "undefined alias": "Texts that begin with * need quotes.",
        "alphabetic or numeric": "Texts that begin with & or * need quotes.",
        "unexpected ':'": "Write `key: value`, with a blank after the colon.",
        "comment or line break": "The text after | or > begins on the next line; texts that begin so need quotes.",
        "block sequence entries": "Begin a list on a line of its own, one `- item` a line.",
        "whitespace or line break": "Texts that begin with ! or % need quotes.",
        "another document": "Keep one document in the file: remove the line with ---.",
    }
    otherwise = "Check the indentation, the brackets and the quotes of this line."
    hint = next((text for part, text in hints.items() if part in problem), otherwise)
    return f"this is not YAML: {problem}", hint

"""Edits of YAML texts by slices: what is not named stays as it is, comments and layout included.

Each edit is verified: the new text read again must hold the old data with just the one change; otherwise
(aliases, odd layouts) WorkbenchError is raised and the place is to be edited by hand.
"""

import copy
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from workbench.formats.schema import Path as DataPath
from workbench.formats.yaml_marks import read_marked, value_at
from workbench.formats.yaml_nodes import Scalars, YamlError, compose
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.files import read_file, write_files

_WIDTH = 110


class _Dumper(yaml.SafeDumper):
    """Quotes what the workbench would not read as the same text."""


class Address(int):
    """A number that is written as addresses are: 0x8000."""


_Dumper.yaml_implicit_resolvers = Scalars.yaml_implicit_resolvers
_Dumper.add_representer(Address, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:int", f"{value:#x}"))


def set_value(text: str, path: DataPath, value: Any) -> str:
    """The text with the value at `path` replaced, or added to its mapping (which is added too where it is missing).

    `value` is plain data: a number, a text (units as in "13.94 us"), or lists and dicts of them.
    """

    def change(data: Any) -> None:
        value_at(data, path[:-1])[path[-1]] = value

    if path and (nodes := _nodes(text, path)):
        return _verified(text, _replaced(text, nodes, value), change)
    parent = _node(text, path[:-1]) if path else None
    if isinstance(parent, yaml.MappingNode):
        return _verified(text, _key_added(text, parent, str(path[-1]), value), change)
    if not path or isinstance(path[-1], int):
        raise _by_hand()
    return set_value(text, path[:-1], {path[-1]: value})


def insert_item(text: str, path: DataPath, index: int, *values: Any) -> str:
    """The text with one or more items put before item `index` of the list at `path` (its length appends)."""

    def change(data: Any) -> None:
        value_at(data, path)[index:index] = values

    node = _node(text, path)
    if not isinstance(node, yaml.SequenceNode) or not 0 <= index <= len(node.value):
        raise _by_hand()
    if node.flow_style:
        new = _spliced(text, _flow_place(text, node, index), ", ".join(map(_flow, values)), index < len(node.value))
    else:
        column = node.start_mark.column
        lines = _newline(text).join(_block_item(value, column, _newline(text)) for value in values)
        if index == len(node.value):
            new = _line_added(text, _end(text, node), lines)
        else:
            start = _line_start_above_comments(text, _dashes(text, node)[index])
            new = text[:start] + lines + _newline(text) + text[start:]
    return _verified(text, new, change)


def remove_item(text: str, path: DataPath) -> str:
    """The text without the list item or the key at `path`. Comments on lines of their own stay."""

    def change(data: Any) -> None:
        del value_at(data, path[:-1])[path[-1]]

    parent = _node(text, path[:-1]) if path else None
    if not isinstance(parent, yaml.CollectionNode) or _node(text, path) is None:
        raise _by_hand()
    heads, values = _children(parent)
    index = path[-1] if isinstance(path[-1], int) else [head.value for head in heads].index(path[-1])
    last = index == len(values) - 1
    if parent.flow_style:
        start = heads[index].start_mark.index
        if not last:
            new = text[:start] + text[heads[index + 1].start_mark.index :]
        elif index:
            new = text[: _end(text, values[index - 1])] + text[_end(text, values[index]) :]
        else:
            new = text[:start] + text[_end(text, values[index]) :]
    else:
        starts = _dashes(text, parent) if isinstance(parent, yaml.SequenceNode) else _starts(heads)
        new = _lines_removed(text, starts[index], _end(text, values[index]), None if last else starts[index + 1])
        if len(values) == 1:
            gap = text.rfind(":", 0, parent.start_mark.index) + 1
            empty = "[]" if isinstance(parent, yaml.SequenceNode) else "{}"
            new = new[:gap] + f" {empty}" + new[gap:] if len(path) > 1 else empty + _newline(text) + new
    return _verified(text, new, change)


def rename_key(text: str, path: DataPath, name: str) -> str:
    """The text with another name for the key at `path`, which no other of its mapping has."""

    def change(data: Any) -> None:
        above = value_at(data, path[:-1])
        items = [(name if key == path[-1] else key, value) for key, value in above.items()]
        above.clear()
        above.update(items)

    parent = _node(text, path[:-1]) if path else None
    keys = parent.value if isinstance(parent, yaml.MappingNode) else []
    key = next((key for key, _ in keys if key.value == path[-1]), None)
    if key is None or any(other.value == name for other, _ in keys):
        raise _by_hand()
    new = text[: key.start_mark.index] + _flow(name) + text[key.end_mark.index :]
    return _verified(text, new, change)


def swap_items(text: str, path: DataPath, first: int, second: int) -> str:
    """The text with two items of the list at `path` in each other's place; comments stay where they are."""
    first, second = sorted((first, second))

    def change(data: Any) -> None:
        items = value_at(data, path)
        items[first], items[second] = items[second], items[first]

    one, two = _node(text, (*path, first)), _node(text, (*path, second))
    if one is None or two is None or first == second:
        raise _by_hand()
    a, b = one.start_mark.index, _end(text, one)
    c, d = two.start_mark.index, _end(text, two)
    return _verified(text, text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:], change)


def write_checked(path: Path, old_text: str, new_text: str) -> None:
    """Replace a file atomically if it still holds `old_text`. WorkbenchError otherwise, with the file as it was."""
    data = read_file(path)
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    if data.removeprefix(mark) != old_text.encode("utf-8"):
        message = "this file was changed by another program since it was read"
        raise WorkbenchError(Diagnostic(message, "Reload it and try again; nothing was written.", file=str(path)))
    write_files({path: mark + new_text.encode("utf-8")})


def value_text(value: Any, indent: int) -> str:
    """A value that is no mapping, as it is written behind a key or a dash at this column; a long text is folded."""
    return _scalar(value, indent, "\n") if isinstance(value, str) else _flow(value)


def _by_hand() -> WorkbenchError:
    return WorkbenchError(Diagnostic("this place of the file cannot be changed here", "Edit the text by hand."))


def _verified(old: str, new: str, change: Callable[[Any], None]) -> str:
    before, problems = read_marked(old)
    if before is None:
        raise WorkbenchError(*problems)
    after, _ = read_marked(new)
    wanted = copy.deepcopy(before.data)
    change(wanted)
    if after is None or after.data != wanted:
        raise _by_hand()
    return new


def _nodes(text: str, path: DataPath) -> list[Any]:
    """The nodes from the top down to the one at `path`; empty where there is none."""
    try:
        node: Any = compose(text)
    except YamlError:
        raise _by_hand() from None
    nodes = [node]
    for part in path:
        if isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == part), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
        else:
            return []
        nodes.append(node)
    return nodes if node is not None else []


def _node(text: str, path: DataPath) -> yaml.Node | None:
    nodes = _nodes(text, path)
    return nodes[-1] if nodes else None


def _children(node: yaml.CollectionNode) -> tuple[list[yaml.Node], list[yaml.Node]]:
    """What each entry begins with (its key, or the item itself), and its values."""
    if isinstance(node, yaml.MappingNode):
        return [key for key, _ in node.value], [value for _, value in node.value]
    return list(node.value), list(node.value)


def _starts(nodes: list[yaml.Node]) -> list[int]:
    return [node.start_mark.index for node in nodes]


def _end(text: str, node: yaml.Node) -> int:
    """Where a node's own text ends, without the comments and blanks that its mark may include."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        return _end(text, _children(node)[1][-1])
    start, end = node.start_mark.index, node.end_mark.index
    return start + len(text[start:end].rstrip())


def _dashes(text: str, node: yaml.SequenceNode) -> list[int]:
    """Where the items' dashes are, in a list of block style: all in one column, each but the first on a new line."""
    dash = re.compile(rf"^ {{{node.start_mark.column}}}(?=-(?:\s|\Z))", re.MULTILINE)
    dashes = [node.start_mark.index]
    for before in node.value[:-1]:
        if (match := dash.search(text, _end(text, before))) is None:
            raise _by_hand()
        dashes.append(match.end())
    return dashes


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def _line_start_above_comments(text: str, offset: int) -> int:
    """The start of an entry's line, or of the comment lines that are right above it."""
    start = _line_start(text, offset)
    if text[start:offset].strip():
        raise _by_hand()
    while start and text[_line_start(text, start - 1) : start].lstrip().startswith("#"):
        start = _line_start(text, start - 1)
    return start


def _line_added(text: str, offset: int, lines: str) -> str:
    """Lines put after the line that `offset` is on."""
    end = text.find("\n", offset)
    if end < 0:
        return text + _newline(text) + lines
    return text[: end + 1] + lines + _newline(text) + text[end + 1 :]


def _lines_removed(text: str, start: int, end: int, following: int | None) -> str:
    line = _line_start(text, start)
    if text[line:start].strip():  # the first key of a list's item: what follows takes its place
        if following is None:
            return text[:start] + text[end:]
        return text[:start] + text[following:]
    line_end = text.find("\n", end)
    return text[:line] + (text[line_end + 1 :] if line_end >= 0 else "")


def _replaced(text: str, nodes: list[Any], value: Any) -> str:
    *above, node = nodes
    in_flow = any(outer.flow_style for outer in above)
    indent = above[-1].start_mark.column if above else 0
    start, end = node.start_mark.index, _end(text, node)
    style = node.style if isinstance(node, yaml.ScalarNode) else None
    if above and not in_flow and _spreads(value):
        in_place = isinstance(node, yaml.CollectionNode) and not node.flow_style  # on lines of its own already
        column = node.start_mark.column if in_place else indent + 2
        new = textwrap.indent(_block(value, column, _newline(text)), " " * column)
        before = text[:start] if in_place else text[:start].rstrip(" ") + _newline(text)
        return before + (new.lstrip() if in_place else new) + text[end:]
    if in_flow or not isinstance(value, str):
        new = _flow(value)
    elif style in ("'", '"'):
        new = _dump(value, default_style=style)
    else:
        new = _scalar(value, indent + 2, _newline(text))
    gap = "" if start == 0 or text[start - 1].isspace() or text[start - 1] in "[{," else " "
    return text[:start] + gap + new + text[end:]


def _key_added(text: str, node: yaml.MappingNode, key: str, value: Any) -> str:
    if node.flow_style:
        inside = _flow({key: value})[1:-1]
        return _spliced(text, _flow_place(text, node, len(node.value)), inside, False)
    column = node.start_mark.column
    lines = textwrap.indent(_block({key: value}, column, _newline(text)), " " * column)
    return _line_added(text, _end(text, node), lines)


def _flow_place(text: str, node: yaml.CollectionNode, index: int) -> tuple[int, bool]:
    """Where an entry goes in brackets, and whether another is before it."""
    heads, values = _children(node)
    if index < len(heads):
        return heads[index].start_mark.index, False
    if values:
        return _end(text, values[-1]), True
    return node.start_mark.index + 1, False


def _spliced(text: str, place: tuple[int, bool], new: str, more: bool) -> str:
    offset, before = place
    return text[:offset] + (", " if before else "") + new + (", " if more else "") + text[offset:]


def _block_item(value: Any, column: int, newline: str) -> str:
    """A list item with its dash at `column`. Small records go on one line."""
    if isinstance(value, dict) and not (
        len(value) <= 3 and len(_flow(value)) <= _WIDTH - column and not _spreads(value)
    ):
        body = textwrap.indent(_block(value, column + 2, newline), " " * (column + 2)).lstrip()
    else:
        body = _scalar(value, column + 2, newline) if isinstance(value, str) else _flow(value)
    return " " * column + "- " + body


def _spreads(value: Any) -> bool:
    """Whether data is written on lines of its own rather than in brackets: lists of records, what holds any, and long
    records."""
    if isinstance(value, list):
        return any(isinstance(item, dict) for item in value)
    return isinstance(value, dict) and (len(_flow(value)) > _WIDTH or any(map(_spreads, value.values())))


def _block(value: Any, indent: int, newline: str) -> str:
    """A mapping or list in block style, one key or item a line; small nested data in brackets."""
    if isinstance(value, list):
        return newline.join(_block_item(item, 0, newline) for item in value)
    lines: list[str] = []
    for key, item in value.items():
        if _spreads(item):
            lines += [f"{_dump(key)}:", textwrap.indent(_block(item, indent + 2, newline), "  ")]
        else:
            new = _scalar(item, 2, newline) if isinstance(item, str) else _flow(item)
            lines.append(f"{_dump(key)}: {new}")
    return newline.join(lines)


def _scalar(value: str, indent: int, newline: str) -> str:
    """A text outside brackets: plain or quoted on one line, or folded where it is long."""
    if len(value) > _WIDTH - indent and value == " ".join(value.split()):
        margin = newline + " " * indent
        return ">-" + margin + margin.join(textwrap.wrap(value, _WIDTH - indent, break_long_words=False))
    return _dump({"k": value}).removeprefix("k: ") if "\n" not in value else _dump(value, default_style='"')


def _flow(value: Any) -> str:
    """Plain data on one line, fit to be in brackets."""
    return _dump([value], default_flow_style=True)[1:-1]


def _dump(value: Any, **options: Any) -> str:
    return yaml.dump(
        value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10**6, **options
    ).removesuffix("\n").removesuffix("\n...")  # fmt: skip

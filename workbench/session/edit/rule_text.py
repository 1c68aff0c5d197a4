"""Edits rules in the text of a rule file with a readable diff: adds, changes and removes them.

A rule is written with its keys in the order of their schema, one value in each line, long texts folded. All else keeps
every byte: other rules, comments, and the keys of a changed rule with unchanged values. Each edit is verified: the new
text holds the old data with only this change; otherwise WorkbenchError is raised, for an edit by hand.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from workbench.analysis.knowledge import CheckedRule, Rule, Select, Suggestion
from workbench.formats.yaml_edit import value_text
from workbench.formats.yaml_marks import Marked, read_marked, value_at
from workbench.model.diagnostic import Diagnostic, WorkbenchError

INDENT = 4  # of the keys of a rule in a new file
STARTER = "schema_version: 1\n\nrules: []\n"
_PARTS: Mapping[str, type[BaseModel]] = {"select": Select, "suggestions": Suggestion}
Data = dict[str, Any]


def rule_data(rule: CheckedRule) -> Data:
    """A rule as a rule file holds it, without default values."""
    plain: Data = rule.rule.model_dump(mode="json", exclude_defaults=True)
    return plain


def with_rule_added(text: str, data: Data) -> str:
    """The text with a rule after the last one."""

    def change(document: Any) -> None:
        document["rules"] = [*(document.get("rules") or []), data]

    marked = _marked(text)
    lines, count = text.splitlines(keepends=True), _count(marked)
    if count:
        after = _extent(text, marked, count - 1)[1]
        indent = marked.span(("rules", count - 1)).column - 1
        new = [*_ended(lines[:after]), "\n", *_item(data, indent), *lines[after:]]
    elif ("rules",) in marked.keys:
        at = marked.span(("rules",), key=True).line - 1
        new = [*lines[:at], "rules:\n", *_item(data, INDENT), *lines[at + 1 :]]
    else:
        new = [*_ended(lines), "\n", "rules:\n", *_item(data, INDENT)]
    return _verified(text, marked, "".join(new), change)


def with_rule_changed(text: str, number: int, data: Data) -> str:
    """The text with other data for a rule. New keys are placed in the order of their schema."""

    def change(document: Any) -> None:
        document["rules"][number] = data

    marked = _marked(text)
    first, after = _extent(text, marked, number)
    indent = marked.span(("rules", number)).column - 1
    lines = text.splitlines(keepends=True)
    chunks = _chunks(lines, marked, number, after)
    new = _item(data, indent) if chunks is None else _merged(chunks, text, marked, number, data)
    if after < len(lines) or text.endswith("\n"):
        new = _ended(new)
    return _verified(text, marked, "".join([*lines[:first], *new, *lines[after:]]), change)


def with_rule_removed(text: str, number: int) -> str:
    """The text without a rule and the comment lines right above it."""

    def change(document: Any) -> None:
        del document["rules"][number]

    marked = _marked(text)
    lines, count = text.splitlines(keepends=True), _count(marked)
    first, after = _extent(text, marked, number)
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    if count == 1:
        at = marked.span(("rules",), key=True).line - 1
        new = [*lines[:at], "rules: []\n", *lines[after:]]
    elif number < count - 1:
        while after < len(lines) and not lines[after].strip():
            after += 1
        new = [*lines[:first], *lines[after:]]
    else:
        while first and not lines[first - 1].strip():
            first -= 1
        new = [*lines[:first], *lines[after:]]
    return _verified(text, marked, "".join(new), change)


# ---- a rule's lines


def _item(data: Data, indent: int) -> list[str]:
    """A rule as a list item, with its keys at a column."""
    return _dashed([line for key in _ordered(data, Rule) for line in _lines(key, data[key], indent, Rule)], indent)


def _dashed(lines: list[str], indent: int) -> list[str]:
    """The lines of a mapping, with a dash before the first line that is not a comment."""
    at = next(n for n, line in enumerate(lines) if not line.lstrip().startswith("#"))
    return [*lines[:at], f"{' ' * (indent - 2)}- {lines[at][indent:]}", *lines[at + 1 :]]


def _ordered(data: Data, schema: type[BaseModel]) -> list[str]:
    schema_keys = list(schema.model_fields)
    return sorted(data, key=lambda key: schema_keys.index(key) if key in schema_keys else len(schema_keys))


def _lines(key: str, value: Any, indent: int, schema: type[BaseModel] | None) -> list[str]:
    """A key with its value; items of lists and keys of mappings have lines of their own."""
    head, inner = f"{' ' * indent}{key}:", _PARTS.get(key) if schema is Rule else None
    if isinstance(value, dict) and value:
        keys = _ordered(value, inner) if inner else list(value)
        return [f"{head}\n", *(line for one in keys for line in _lines(one, value[one], indent + 2, inner))]
    if isinstance(value, list) and value:
        return [f"{head}\n", *(line for one in value for line in _item_lines(one, indent + 2, inner))]
    return f"{head} {value_text(value, indent + 2)}\n".splitlines(keepends=True)


def _item_lines(value: Any, indent: int, schema: type[BaseModel] | None) -> list[str]:
    if isinstance(value, dict) and value:
        keys = _ordered(value, schema) if schema else list(value)
        return _dashed([line for key in keys for line in _lines(key, value[key], indent + 2, schema)], indent + 2)
    return f"{' ' * indent}- {value_text(value, indent + 2)}\n".splitlines(keepends=True)


# ---- a rule's place in the text


def _extent(text: str, marked: Marked, number: int) -> tuple[int, int]:
    """The index of a rule's first line, and of the line after its last; comments below belong to the next rule."""
    path = ("rules", number)
    if path not in marked.values:
        raise _by_hand()
    rule_values = [(at, one) for at, one in marked.values.items() if at[:2] == path]
    ends = [  # a block's end may be after the following line
        one.start + len(text[one.start : one.end].rstrip())
        for at, one in rule_values
        if text[one.start : one.start + 1] in ("[", "{") or not isinstance(value_at(marked.data, at), dict | list)
    ]
    return marked.values[path].line - 1, text.count("\n", 0, max(ends)) + 1


def _chunks(lines: Sequence[str], marked: Marked, number: int, after: int) -> dict[str, list[str]] | None:
    """A rule's lines by key, with the comments above each key; a space replaces the dash. None if keys share lines."""
    path, indent = ("rules", number), marked.span(("rules", number)).column - 1
    keys = [str(key) for key in marked.data["rules"][number]]
    spans = [marked.keys[(*path, key)] for key in keys]
    starts = [span.line - 1 for span in spans]
    first = lines[starts[0]]
    if len(set(starts)) < len(starts) or first[:indent].strip() != "-" or first[indent - 2] != "-":
        return None
    for at in range(1, len(starts)):
        while lines[starts[at] - 1].lstrip().startswith("#") and starts[at] - 1 > starts[at - 1]:
            starts[at] -= 1
    ends = [*starts[1:], after]
    chunks = {key: list(lines[a:b]) for key, a, b in zip(keys, starts, ends, strict=True)}
    chunks[keys[0]][0] = " " * indent + first[indent:]
    return chunks


def _merged(chunks: dict[str, list[str]], text: str, marked: Marked, number: int, data: Data) -> list[str]:
    """A changed rule: its old lines for unchanged values, new lines for others."""
    old, path = marked.data["rules"][number], ("rules", number)
    indent = marked.span(path).column - 1
    order = _ordered({**old, **data}, Rule)
    keys = [key for key in old if key in data]
    for key in order:
        if key in data and key not in keys:
            later = order[order.index(key) + 1 :]
            keys.insert(next((n for n, one in enumerate(keys) if one in later), len(keys)), key)
    new: list[str] = []
    for key in keys:
        if key in old and old[key] == data[key]:
            new += _ended(chunks[key])
        else:
            new += _renewed(chunks.get(key, []), _lines(key, data[key], indent, Rule), indent)
    return _dashed(new, indent)


def _renewed(old: Sequence[str], new: list[str], indent: int) -> list[str]:
    """A key's new lines, with the comments above it and the one at its end."""
    above = [line for n, line in enumerate(old) if line.lstrip().startswith("#") and _only_comments(old[:n])]
    at = len(above)
    behind = old[at].partition(" #")[2].strip() if at < len(old) and len(old) == at + 1 and _is_plain(old[at]) else ""
    if behind and len(new) == 1:
        new = [f"{new[0].rstrip()} # {behind}\n"]
    elif behind:
        new = [f"{' ' * indent}# {behind}\n", *new]
    return [*above, *new]


def _only_comments(lines: Sequence[str]) -> bool:
    return all(line.lstrip().startswith("#") for line in lines)


def _is_plain(line: str) -> bool:
    """Whether a comment sign in the line can only begin a comment, since no quote precedes it."""
    return not {"'", '"'} & set(line.partition(" #")[0])


# ---- checks


def _ended(lines: Sequence[str]) -> list[str]:
    """The lines, with a newline at the end of the last."""
    return [*lines[:-1], lines[-1] if lines[-1].endswith("\n") else f"{lines[-1]}\n"] if lines else []


def _count(marked: Marked) -> int:
    rules = marked.data.get("rules") if isinstance(marked.data, dict) else None
    if not isinstance(marked.data, dict) or not isinstance(rules, list | None):
        raise _by_hand()
    return len(rules or ())


def _marked(text: str) -> Marked:
    marked, problems = read_marked(text)
    if marked is None:
        raise WorkbenchError(*problems)
    _count(marked)
    return marked


def _verified(old: str, before: Marked, new: str, change: Callable[[Any], None]) -> str:
    if "\r\n" in old:
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    expected = copy.deepcopy(before.data)
    change(expected)
    after, _ = read_marked(new)
    if after is None or after.data != expected:
        raise _by_hand()
    return new


def _by_hand() -> WorkbenchError:
    return WorkbenchError(Diagnostic("this place of the file cannot be changed here", "Edit the text by hand."))

"""Mappings of names to values as rows of a form: read from the document, from a text, and changed."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.formats import yaml_edit
from workbench.model.diagnostic import Diagnostic
from workbench.model.text import counted
from workbench.session.edit.yaml_document import Path_, YamlDocument

#: A line of a text that is pasted: NAME: VALUE, NAME=VALUE, -DNAME=VALUE, or two cells of a spreadsheet.
_LINE = re.compile(r"(?:-D)?(?P<name>.+?)\s*(?:(?:(?<!:):(?!:)|=|\t)\s*(?P<value>.*))?")


@dataclass(frozen=True)
class Pair:
    """`key` is the name as the document has it, None for the one to come."""

    number: int
    key: Any
    name: str
    value: str
    problem: Diagnostic | None = None


def shown_value(value: object) -> str:
    """A value of a mapping as it is written in a form."""
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def pasted_pairs(text: str) -> dict[str, str]:
    """The names and values of a text's lines."""
    found = (_LINE.fullmatch(line.strip()) for line in text.splitlines() if line.strip())
    return {match["name"].strip("\"'"): (match["value"] or "").strip() for match in found if match}


class Pairs:
    """The mapping at a path of a document. `read` makes a value of a text."""

    def __init__(self, document: YamlDocument, path: Path_, title: str, read: Callable[[str], object]) -> None:
        self.document, self._path, self._title, self._read = document, path, title.lower(), read

    def rows(self) -> tuple[Pair, ...]:
        """With what is wrong with each; empty where there is no mapping."""
        return tuple(
            Pair(n, key, str(key), shown_value(value), self._problem((*self._path, key)))
            for n, (key, value) in enumerate(self._values().items())
        )

    def _values(self) -> Mapping[Any, Any]:
        values = self.document.value(self._path)
        return values if isinstance(values, Mapping) else {}

    def _problem(self, path: Path_) -> Diagnostic | None:
        return self.document.problem_at(path) or next(iter(self.document.problems_below(path)), None)

    def has(self, name: str) -> bool:
        return any(str(key) == name for key in self._values())

    def put(self, pairs: Mapping[str, str], label: str = "") -> bool:
        """Set values, those of new names behind the others, as one step."""
        values = {name: self._read(text) for name, text in pairs.items()}
        label = label or f"Change {self._title}: {', '.join(pairs)}"
        if not self._values():
            return bool(values) and self.document.apply(
                label, lambda text: yaml_edit.set_value(text, self._path, values)
            )
        keys = {str(key): key for key in self._values()}

        def edit(text: str) -> str:
            for name, value in values.items():
                text = yaml_edit.set_value(text, (*self._path, keys.get(name, name)), value)
            return text

        return self.document.apply(label, edit)

    def paste(self, text: str) -> bool:
        """Set what the lines of a text say."""
        pairs = pasted_pairs(text)
        return bool(pairs) and self.put(pairs, f"Paste {counted(len(pairs), 'row')} into {self._title}")

    def rename(self, pair: Pair, name: str) -> bool:
        label = f"Rename {pair.name}"
        return self.document.apply(label, lambda text: yaml_edit.rename_key(text, (*self._path, pair.key), name))

    def remove(self, pairs: Sequence[Pair]) -> bool:
        """Take rows out; the mapping goes with the last."""
        label = f"Remove {', '.join(pair.name for pair in pairs)}"
        if len(pairs) == len(self._values()):
            return self.document.remove(self._path, label)

        def edit(text: str) -> str:
            for pair in pairs:
                text = yaml_edit.remove_item(text, (*self._path, pair.key))
            return text

        return self.document.apply(label, edit)

"""A rule file in the editor, and the project that names it."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from workbench.analysis.knowledge import CheckedRule, read_knowledge
from workbench.api.metrics import Metrics
from workbench.formats import yaml_edit
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.edit.history import HistoryStep
from workbench.session.edit.rule_text import STARTER, Data, with_rule_added, with_rule_changed, with_rule_removed
from workbench.session.edit.yaml_document import Notify, Path_, YamlDocument
from workbench.session.program.files import write_atomically
from workbench.system.files import read_file, write_files

LIST = ("rules",)
#: An initial rule: valid, and likely to fire.
NEW_RULE: Data = {
    "name": "new rule",
    "title": "Waiting takes %s of the run",
    "title_arguments": ["share as share"],
    "category": "synchronization",
    "select": {"categories": ["wait_send", "wait_recv"]},
    "when": "share > 0.1",
    "suggestions": [{"text": "Wait less than %s, %s each time.", "arguments": ["time as time", "time_each as time"]}],
}


class RulesDocument(YamlDocument):
    """A rule file with its rules at ("rules", NUMBER). `rules` are the valid ones. When the file is saved, its project
    gets an entry for it: both are written or neither, and undo removes the entry."""

    kind = "analyse"
    title = "rule file"

    def __init__(self, metrics: Metrics, notify: Notify) -> None:
        super().__init__(notify)
        self.metrics = metrics
        self.project: Path | None = None
        self.rules: tuple[CheckedRule, ...] = ()

    def begin(self, path: Path, project: Path | None) -> None:
        """A project's rule file, or the initial text of one."""
        self.project = project
        if path.is_file():
            self.open(path)
        else:
            self._take(path, None, STARTER)

    def parse(self, file: str | None) -> tuple[Diagnostic, ...]:
        self.rules, _, problems = read_knowledge(self.text, file or "", self.metrics)
        return problems

    @property
    def count(self) -> int:
        """The number of rules in the file, valid or not."""
        listed = self.value(LIST)
        return len(listed) if isinstance(listed, list) else 0

    def rule(self, number: int, path: Path_ = (), value: Any = None) -> CheckedRule | None:
        """A rule by its number, as it is or with a typed value at a path; None if it is not valid."""
        text = self.text
        if path:
            with suppress(WorkbenchError):
                data = _with(self.value((*LIST, number)), path[2:], None if value in ("", [], {}) else value)
                text = with_rule_changed(text, number, data)
        marked, _ = read_marked(text)
        rules = self.rules if text == self.text else read_knowledge(text, str(self.path or ""), self.metrics)[0]
        line = marked.span((*LIST, number)).line if marked else None
        return next((rule for rule in rules if rule.line == line), None)

    def number_of(self, rule: CheckedRule) -> int | None:
        """The number of the rule with this name, side and scope."""
        lines = {one.line for one in self.rules if one.key == rule.key}
        places = ((n, self.marked.span((*LIST, n)).line) for n in range(self.count) if self.marked)
        return next((number for number, line in places if line in lines), None)

    # ---- changing

    def add(self, data: Data, label: str) -> int | None:
        """Add a rule after all others; returns its number, or None, with a notice, if that fails."""
        return self.count - 1 if self.apply(label, lambda text: with_rule_added(text, data)) else None

    def set(self, path: Path_, value: Any, label: str = "") -> bool:
        """Set a value as in any document; new keys of a rule are placed in the order of their schema, list items on
        lines of their own."""
        old, empty = self.value(path), value is None or value in ("", [], {})
        plain = isinstance(old, str | int | float) and isinstance(value, str | int | float) and not empty
        if path[:1] != LIST or len(path) < 3 or plain or value == old or (old is None and empty):
            return super().set(path, value, label)
        number = path[1]
        assert isinstance(number, int)
        data = _with(self.value(path[:2]), path[2:], None if empty else value)
        name = label or f"Change {str(path[-1]).replace('_', ' ')}"
        return self.apply(name, lambda text: with_rule_changed(text, number, data))

    def remove(self, path: Path_, label: str) -> bool:
        number = path[1] if len(path) == 2 and path[:1] == LIST else None
        if isinstance(number, int):
            return self.apply(label, lambda text: with_rule_removed(text, number))
        if path[:1] != LIST or len(path) < 3:
            return super().remove(path, label)
        return self.set(path, None, label)

    # ---- saving

    def put(self, path: Path, data: bytes) -> None:
        entry = with_rule_file(self.project, path) if self.project else None
        if self.project is None or entry is None:
            write_atomically(path, data)
            return
        before, after = entry
        write_files({path: data, self.project: after})
        name = f"Name {path.name} in the project"
        write = partial(_replace, self.project)
        self.history.do(HistoryStep(name, partial(write, before, after), partial(write, after, before)))


def with_rule_file(project: Path, file: Path) -> tuple[bytes, bytes] | None:
    """A project file's bytes before and after adding an entry for a rule file; None if it has one. Raises
    WorkbenchError."""
    old = read_file(project)
    text = old.decode("utf-8-sig")
    marked, problems = read_marked(text, str(project))
    if marked is None or not isinstance(marked.data, dict):
        raise WorkbenchError(*problems)
    rule_paths = marked.data.get("rules") or []
    name = Path(os.path.relpath(file, project.parent)).as_posix()
    if isinstance(rule_paths, list) and name in rule_paths:
        return None
    new = (
        yaml_edit.insert_item(text, LIST, len(rule_paths), name)
        if rule_paths
        else yaml_edit.set_value(text, LIST, [name])
    )
    mark = old[: len(old) - len(old.removeprefix(b"\xef\xbb\xbf"))]
    return old, mark + new.encode("utf-8")


def _replace(path: Path, before: bytes, after: bytes) -> None:
    """Write the new bytes to a file that holds the old ones; a file with the new bytes stays."""
    now = read_file(path)
    if now == before:
        write_files({path: after})
    elif now != after:
        message = "this file was changed by another program since it was written here"
        raise WorkbenchError(Diagnostic(message, "Edit its `rules` by hand.", file=str(path)))


def _with(data: Any, path: Path_, value: Any) -> Any:
    """A copy of plain data with a value at a path; None removes it, and a part that becomes empty."""
    if not path:
        return value
    key, *below = path
    if isinstance(data, list) and isinstance(key, int):
        inner = _with(data[key] if key < len(data) else None, tuple(below), value)
        return [*data[:key], *([] if inner is None else [inner]), *data[key + 1 :]]
    old: dict[Any, Any] = data if isinstance(data, dict) else {}
    inner = _with(old.get(key), tuple(below), value)
    if inner is None:
        return {name: one for name, one in old.items() if name != key} or None
    return {**old, key: inner}

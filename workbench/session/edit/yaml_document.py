"""A YAML document in the editor: its data, its problems, and edits with undo that keep the layout."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.formats import yaml_edit
from workbench.formats.documents import read_text
from workbench.formats.units import UnitError, quantity
from workbench.formats.yaml_marks import Marked, read_marked
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.session.edit.documents import Document
from workbench.session.edit.history import HistoryStep

Path_ = tuple[int | str, ...]
Notify = Callable[..., None]
_MARK = b"\xef\xbb\xbf"


class YamlDocument(Document):
    """A YAML text. Every edit makes a new text, which is parsed again.

    `title` names the kind of file. `notify` is called with the reason if an edit is not possible.
    """

    title = "document"

    def __init__(self, notify: Notify) -> None:
        super().__init__()
        self._notify = notify
        self.marked: Marked | None = None
        self.problems: tuple[Diagnostic, ...] = ()

    # ---- reading

    def decode(self, data: bytes) -> str:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            message = "this file is not UTF-8 text"
            raise WorkbenchError(Diagnostic(message, "Save it as UTF-8.", file=str(self.path))) from None

    def encode(self, text: str) -> bytes:
        marked = self._on_disk is not None and self._on_disk.startswith(_MARK)
        return (_MARK if marked else b"") + text.encode("utf-8")

    def open(self, path: Path) -> None:
        """Open a file. A file that cannot be read becomes an empty document with the reason among its problems."""
        text, problems = read_text(path, self.title)
        if text is not None:
            super().open(path)
            return
        super().close()
        self.path, self.problems = path, problems
        self.changed.emit()

    def read(self) -> None:
        file = str(self.path) if self.path else None
        self.marked, _ = read_marked(self.text, file)
        self.problems = self.parse(file)
        if self.path is None:
            self.problems = ()

    def parse(self, file: str | None) -> tuple[Diagnostic, ...]:
        """Parse the text; returns its problems."""
        raise NotImplementedError

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(d for d in self.problems if d.severity is Severity.ERROR)

    def check(self) -> None:
        """Raise WorkbenchError for errors, since users of the file could not read it."""
        if self.errors:
            raise WorkbenchError(*self.errors)

    def value(self, path: Path_) -> Any:
        """The value at a path as written, or None."""
        here: Any = self.marked.data if self.marked else None
        for part in path:
            keyed = isinstance(here, Mapping) and part in here
            if keyed or (isinstance(here, list) and isinstance(part, int) and part < len(here)):
                here = here[part]
            else:
                return None
        return here

    def number(self, path: Path_, unit: str) -> float | None:
        """The value at a path in a unit; None if there is none, or if it is not a quantity."""
        value = self.value(path)
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            return float(value)
        try:
            return quantity(str(value), unit)
        except UnitError:
            return None

    def problem_at(self, path: Path_) -> Diagnostic | None:
        """The first problem at a path's value or key; errors before warnings."""
        if self.marked is None:
            return None
        spans = [s for s in (self.marked.values.get(path), self.marked.keys.get(path)) if s]
        at = {(s.line, s.column) for s in spans}
        here = [d for d in self.problems if (d.line, d.column) in at]
        return min(here, key=lambda d: d.severity is not Severity.ERROR, default=None)

    def place_of(self, problem: Diagnostic) -> Path_:
        """The path of the value or key to which a problem belongs; () if to none."""
        if self.marked is None:
            return ()
        at = (problem.line, problem.column)
        paths = (
            p for spans in (self.marked.values, self.marked.keys) for p, s in spans.items() if (s.line, s.column) == at
        )
        return max(paths, key=len, default=())

    def problems_below(self, path: Path_) -> tuple[Diagnostic, ...]:
        """The problems within a part of the document."""
        span = self.marked.values.get(path) if self.marked else None
        if span is None:
            return ()
        last = span.line + self.text[span.start : span.end].rstrip().count("\n")
        key = self.marked.keys.get(path) if self.marked else None
        first = key.line if key else span.line
        return tuple(d for d in self.problems if d.line is not None and first <= d.line <= last)

    # ---- changing

    def set(self, path: Path_, value: Any, label: str = "") -> bool:
        """Set a value; None or an empty text removes it. False, with a notice, if that fails."""
        old = self.value(path)
        empty = value is None or value in ("", [], {})
        if value == old or (old is None and empty):
            return True
        name = label or f"Change {str(path[-1]).replace('_', ' ')}"
        if empty:
            return self.apply(name, lambda text: yaml_edit.remove_item(text, path))
        return self.apply(name, lambda text: yaml_edit.set_value(text, path, value))

    def append(self, path: Path_, value: Any, label: str) -> bool:
        """Append an item to a list, which is created if necessary."""
        old = self.value(path)
        if not old:
            return self.apply(label, lambda text: yaml_edit.set_value(text, path, [value]))
        return self.apply(label, lambda text: yaml_edit.insert_item(text, path, len(old), value))

    def remove(self, path: Path_, label: str) -> bool:
        return self.apply(label, lambda text: yaml_edit.remove_item(text, path))

    def apply(self, label: str, edit: Callable[[str], str]) -> bool:
        """Apply a change as an undo step."""
        old = self.text
        try:
            new = edit(old)
        except WorkbenchError as error:
            self._notify(*error.diagnostics)
            return False
        if new != old:
            self.history.do(HistoryStep(label, lambda: self.type(new), lambda: self.type(old)))
        return True

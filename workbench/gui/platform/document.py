"""A platform template being edited: its text, what is wrong with it, and changes that undo and keep the layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.formats import yaml_edit
from workbench.formats.documents import read_text
from workbench.formats.platform_file import parse_platform
from workbench.formats.units import UnitError, quantity
from workbench.formats.yaml_marks import Marked, read_marked
from workbench.gui.context import Context
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import Platform
from workbench.session.files import write_atomically
from workbench.session.history import Command

Path_ = tuple[int | str, ...]


class PlatformDocument(QObject):
    """The text is what counts: every edit makes a new text, which is read again. Undo goes through the context."""

    changed = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.path: Path | None = None
        self.text = ""
        self.saved_text = ""
        self.marked: Marked | None = None
        self.platform: Platform | None = None
        self.problems: tuple[Diagnostic, ...] = ()

    # ---- reading

    def open(self, path: Path) -> None:
        """Show a file. One that cannot be read leaves an empty document with the reason among its problems."""
        text, problems = read_text(path, "platform template")
        self.path = path
        self.text = self.saved_text = text or ""
        self._read()
        if text is None:
            self.problems = problems
        self.changed.emit()

    def close(self) -> None:
        self.path, self.text, self.saved_text = None, "", ""
        self.marked, self.platform, self.problems = None, None, ()
        self.changed.emit()

    def _read(self) -> None:
        file = str(self.path) if self.path else None
        self.marked, _ = read_marked(self.text, file)
        self.platform, self.problems = parse_platform(self.text, file)

    @property
    def edited(self) -> bool:
        return self.text != self.saved_text

    @property
    def read_only(self) -> bool:
        """Templates of the package and of plugins are not changed: a copy in the project is."""
        return self.path is not None and any(s.template == self.path for s in self.context.plugins.platforms.values())

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(d for d in self.problems if d.severity is Severity.ERROR)

    def value(self, path: Path_) -> Any:
        """The value at a path as it was written, or None."""
        here: Any = self.marked.data if self.marked else None
        for part in path:
            keyed = isinstance(here, Mapping) and part in here
            if keyed or (isinstance(here, list) and isinstance(part, int) and part < len(here)):
                here = here[part]
            else:
                return None
        return here

    def number(self, path: Path_, unit: str) -> float | None:
        """The value at a path in a unit; None where there is none or it is no quantity."""
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
        """The first problem that stands at a path's value or key; errors before warnings."""
        if self.marked is None:
            return None
        spans = [s for s in (self.marked.values.get(path), self.marked.keys.get(path)) if s]
        at = {(s.line, s.column) for s in spans}
        found = [d for d in self.problems if (d.line, d.column) in at]
        return min(found, key=lambda d: d.severity is not Severity.ERROR, default=None)

    def problems_below(self, path: Path_) -> tuple[Diagnostic, ...]:
        """The problems inside a part of the document."""
        span = self.marked.values.get(path) if self.marked else None
        if span is None:
            return ()
        last = span.line + self.text[span.start : span.end].rstrip().count("\n")
        key = self.marked.keys.get(path) if self.marked else None
        first = key.line if key else span.line
        return tuple(d for d in self.problems if d.line is not None and first <= d.line <= last)

    # ---- changing

    def set(self, path: Path_, value: Any, label: str = "") -> bool:
        """Set a value, or take it out with None or an empty text. False, with a notice, where that fails."""
        old = self.value(path)
        empty = value is None or value in ("", [])
        if value == old or (old is None and empty):
            return True
        name = label or f"Change {str(path[-1]).replace('_', ' ')}"
        if empty:
            return self.apply(name, lambda text: yaml_edit.remove_item(text, path))
        return self.apply(name, lambda text: yaml_edit.set_value(text, path, value))

    def append(self, path: Path_, value: Any, label: str) -> bool:
        """Put an item at the end of a list, which is made where there is none."""
        old = self.value(path)
        if not old:
            return self.apply(label, lambda text: yaml_edit.set_value(text, path, [value]))
        return self.apply(label, lambda text: yaml_edit.insert_item(text, path, len(old), value))

    def remove(self, path: Path_, label: str) -> bool:
        return self.apply(label, lambda text: yaml_edit.remove_item(text, path))

    def apply(self, label: str, edit: Callable[[str], str]) -> bool:
        """Make a change that Ctrl+Z takes back."""
        old = self.text
        try:
            new = edit(old)
        except WorkbenchError as error:
            self.context.notify(*error.diagnostics)
            return False
        if new == old:
            return True
        return self.context.do(Command(label, lambda: self._show(new), lambda: self._show(old)))

    def _show(self, text: str) -> None:
        self.text = text
        self._read()
        self.changed.emit()

    # ---- saving

    def save(self) -> bool:
        """Write the file, if it has no errors and nobody else changed it. False, with a notice, where that fails."""
        if self.path is None or self.read_only or self.errors:
            return False
        try:
            yaml_edit.write_checked(self.path, self.saved_text, self.text)
        except WorkbenchError as error:
            self.context.notify(*error.diagnostics)
            return False
        self.saved_text = self.text
        self.context.file_saved.emit(str(self.path))
        self.changed.emit()
        return True

    def save_copy(self, folder: Path) -> Path | None:
        """Write the text beside a project under the template's file name and go on with that file.

        None, with a notice, where there is such a file already or none can be written.
        """
        if self.path is None or self.errors:
            return None
        target = folder / self.path.name
        if target.exists():
            self.context.notify(
                Diagnostic(f"{target.name} is there already", "Move it away, or edit that one.", file=str(target))
            )
            return None
        try:
            write_atomically(target, self.text)
        except WorkbenchError as error:
            self.context.notify(*error.diagnostics)
            return None
        self.path, self.saved_text = target, self.text
        self._read()
        self.changed.emit()
        return target

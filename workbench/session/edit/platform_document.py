"""A platform template in the editor."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.api import PortKind
from workbench.formats.platform_file import parse_platform
from workbench.model.diagnostic import Diagnostic
from workbench.model.platform import SCHEMA_VERSION, Platform
from workbench.session.begin.new_entries import with_entry_kind
from workbench.session.edit.port_entries import PORTS, with_kind
from workbench.session.edit.yaml_document import Notify, Path_, YamlDocument
from workbench.session.program.plugins import Plugins
from workbench.system.files import read_file


def templates_in(folder: Path) -> tuple[Path, ...]:
    """The YAML files of a folder that are not projects, models or rules."""
    plain = (p for p in folder.glob("*.yaml") if p.name.count(".") == 1)
    return tuple(sorted(p for p in plain if _NAMED.search(p.read_text("utf-8", "replace"))))


def starter(name: str) -> str:
    """The text of a new template."""
    title = name.replace("_", " ").capitalize()
    return (
        "# What a machine can do. Each part can be added in Platform mode, or by hand; the guide has its fields.\n"
        f"schema_version: {SCHEMA_VERSION}\nname: {name}\ntitle: {title}\n"
    )


_NAMED = re.compile(r"(?m)^name:")


class PlatformDocument(YamlDocument):
    """A template; `platform` is None while the text has errors. Compile errors of its expressions arrive later, and do
    not prevent saving."""

    kind = "platform"
    title = "platform template"

    def __init__(self, plugins: Plugins, notify: Notify) -> None:
        super().__init__(notify)
        self._plugins = plugins
        self._of_expressions: tuple[Diagnostic, ...] = ()
        self.platform: Platform | None = None

    @property
    def port_kinds(self) -> Mapping[str, PortKind]:
        """The port kinds that a template may use."""
        return self._plugins.port_kinds

    @property
    def read_only(self) -> bool:
        """Whether the template belongs to the package or a plugin; only a copy in the project can be edited."""
        return self.path is not None and any(s.template == self.path for s in self._plugins.platforms.values())

    def set(self, path: Path_, value: Any, label: str = "") -> bool:
        """Set a value as in any document. A port or call whose kind changes gets the new kind's fields in the same undo
        step."""
        if path[:2] == ("host", "entries") and path[3:] == ("kind",) and value != self.value(path):
            call = path[2]
            assert isinstance(call, int)
            return self.apply(label or "Change kind", lambda text: with_entry_kind(text, call, str(value)))
        if path[:2] != PORTS or path[3:] != ("kind",) or value == self.value(path):
            return super().set(path, value, label)
        number, kind = path[2], str(value)
        assert isinstance(number, int)
        return self.apply(label or "Change kind", lambda text: with_kind(text, number, kind, self.port_kinds))

    def save_as(self, path: Path) -> None:
        """Save a copy. The copy of a template that holds only an API gets the API's example board."""
        boards = {support.template: support.board for support in self._plugins.platforms.values()}
        board = boards.get(self.path) if self.path else None
        super().save_as(path)
        if board is not None:
            self.replace("Add the example board", f"{self.text.rstrip()}\n\n{read_file(board).decode('utf-8')}")
            self.save()

    def parse(self, file: str | None) -> tuple[Diagnostic, ...]:
        self.platform, problems = parse_platform(self.text, file, self._plugins.port_kinds)
        self._of_expressions = ()
        return problems

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(d for d in super().errors if d not in self._of_expressions)

    def tell(self, text: str, problems: tuple[Diagnostic, ...]) -> None:
        """Add the compile errors of a text's expressions, if it is still the document's text."""
        if text == self.text and self.path is not None:
            self._of_expressions = problems
            self.problems = (*self.problems, *problems)

"""Begins a platform template: a copy of another one, or an empty one, with an entry for each call of a header, and with
the hardware of the design in its folder."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.model.diagnostic import Diagnostic, WorkbenchError, unknown_name
from workbench.model.platform import CallKind
from workbench.session.begin.entry_problems import entry_problems
from workbench.session.begin.new_entries import header_entries, with_entries
from workbench.session.edit.platform_document import starter
from workbench.session.program.plugins import Plugins
from workbench.system.files import read_file, write_files


@dataclass(frozen=True)
class NewTemplate:
    """The text of a template before it is written, the entries from a header, and its problems."""

    text: str
    entries: tuple[dict[str, Any], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def begin_template(file: Path, plugins: Plugins, of: str = "", header: Path | None = None) -> NewTemplate:
    """The new template for `file`. `of` is the name or path of the template to copy; with a header it may be empty.
    WorkbenchError if one of them cannot be read."""
    from workbench.session.begin.new_hardware import with_hardware

    begun = template_text(of, plugins) if of else starter(file.name.partition(".")[0])
    if header is None:
        return NewTemplate(begun)
    entries, api = header_entries(plugins, header)
    moves = any(CallKind(entry["kind"]).moves for entry in entries)
    begun, lacking = with_hardware(begun, file, plugins) if moves else (begun, ())
    text, added = with_entries(begun, entries, file.absolute(), header.absolute())
    wrong = entry_problems(text, file.absolute(), plugins)
    return NewTemplate(text, tuple(added), (*api.diagnostics, *lacking, *wrong))


def template_text(name: str, plugins: Plugins) -> str:
    """The text of a template: by its name with its example board, or by its path."""
    board = plugins.platforms[name].board if name in plugins.platforms else None
    texts = [
        read_file(path).decode("utf-8").strip("\n") + "\n" for path in (template_path(name, plugins), board) if path
    ]
    return "\n".join(texts)


def write_template(file: Path, template: NewTemplate) -> None:
    """Write a new template. WorkbenchError if the file exists, or cannot be written."""
    if file.exists():
        raise WorkbenchError(Diagnostic("this file exists already", "Choose another name.", file=str(file)))
    write_files({file: template.text.encode()})


def template_path(name: str, plugins: Plugins) -> Path:
    """The path of a template that is given by name or path. WorkbenchError if there is none."""
    if name in plugins.platforms:
        return plugins.platforms[name].template
    if os.path.isfile(name):
        return Path(name)
    raise WorkbenchError(unknown_name("platform template", name, plugins.platforms))

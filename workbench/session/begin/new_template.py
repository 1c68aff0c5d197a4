"""A platform template that is begun: a copy of another, or an empty one, with an entry for each call of a header, and
the hardware of the design beside it."""

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
    """The text of a template that is not written yet, the entries that a header gave, and what is wrong with them."""

    text: str
    entries: tuple[dict[str, Any], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def begin_template(file: Path, plugins: Plugins, of: str = "", header: Path | None = None) -> NewTemplate:
    """The template that `file` is to hold. `of` names the one to start from, or its path; with a header it may be
    empty. WorkbenchError where one of them cannot be read."""
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
    """The text of a template by its name, with its example board, or of the one at a path."""
    board = plugins.platforms[name].board if name in plugins.platforms else None
    texts = [
        read_file(path).decode("utf-8").strip("\n") + "\n" for path in (template_path(name, plugins), board) if path
    ]
    return "\n".join(texts)


def write_template(file: Path, template: NewTemplate) -> None:
    """WorkbenchError where there is such a file already, or none can be written."""
    if file.exists():
        raise WorkbenchError(Diagnostic("this file exists already", "Choose another name.", file=str(file)))
    write_files({file: template.text.encode()})


def template_path(name: str, plugins: Plugins) -> Path:
    """A template by its name, or its path. WorkbenchError where there is none."""
    if name in plugins.platforms:
        return plugins.platforms[name].template
    if os.path.isfile(name):
        return Path(name)
    raise WorkbenchError(unknown_name("platform template", name, plugins.platforms))

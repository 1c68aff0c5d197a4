"""Finds the certain fixes for the problems of a project, a platform template or a rule file, and writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api.job import Job
from workbench.api.source.edits import decode, encode
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.edit.quick_fix import quick_fix
from workbench.session.open.opening import open_workspace
from workbench.system.files import read_file, write_files

if TYPE_CHECKING:
    from workbench.session.program.plugins import Plugins


@dataclass(frozen=True)
class Fixed:
    """A file's text with its certain fixes, each as a problem and the fix's label, and the hash of the file as it was
    read."""

    before: bytes
    text: str
    fixes: tuple[tuple[Diagnostic, str], ...]


def problems_of(file: Path, plugins: Plugins) -> tuple[Diagnostic, ...]:
    """The problems of a project and its sources, or of a platform template (a file with `host:`). Nothing is run."""
    if file.is_file() and not file.name.endswith(".workbench.yaml"):
        from workbench.formats.platform_file import load_platform
        from workbench.session.begin.entry_problems import entry_problems

        platform, problems = load_platform(file, plugins.port_kinds)
        calls = entry_problems(decode(read_file(file)), file.absolute(), plugins) if platform else ()
        return *problems, *calls
    try:
        workspace = open_workspace(file, plugins, faulty=True)
    except WorkbenchError as error:
        return error.diagnostics
    return *workspace.diagnostics, *workspace.scan({}, Job()).diagnostics


def certain_fixes(problems: Iterable[Diagnostic]) -> Mapping[Path, Fixed]:
    """The certain fixes by file, from the last line up, so that a fix does not move another one's place."""
    by_file: dict[str, list[Diagnostic]] = {}
    for problem in dict.fromkeys(problems):
        if problem.file and problem.line:
            by_file.setdefault(problem.file, []).append(problem)
    fixed = {}
    for file, file_problems in by_file.items():
        try:
            data = read_file(Path(file))
        except WorkbenchError:
            continue  # reported as a problem
        text, fixes = decode(data), []
        for problem in sorted(file_problems, key=lambda one: (one.line or 0, one.column or 0), reverse=True):
            if (fix := quick_fix(problem, text)) is not None:
                text = fix.edit(text)
                fixes.append((problem, fix.label))
        if fixes:
            fixed[Path(file)] = Fixed(data, text, tuple(reversed(fixes)))
    return fixed


def write_fixes(fixed: Mapping[Path, Fixed]) -> None:
    """Write all fixes or none. WorkbenchError if a file cannot be written, or changed since it was read."""
    for path, one in fixed.items():
        if read_file(path) != one.before:
            raise WorkbenchError(
                Diagnostic("this file changed while it was read", "Ask again; nothing was written.", file=str(path))
            )
    write_files({path: encode(one.text, one.before) for path, one in fixed.items()})

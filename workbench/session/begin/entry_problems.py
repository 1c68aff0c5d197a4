"""Compiles a template's expressions, and reports errors at their lines, also for an expression that is being typed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from workbench.api.c_header import guessed_types, header_of
from workbench.api.source.includes import Includes
from workbench.formats import yaml_edit
from workbench.formats.platform_file import parse_platform
from workbench.formats.yaml_marks import Marked, read_marked
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import NO_DATA_MOVES, Host
from workbench.model.prototypes import callbacks, parse_prototype
from workbench.model.text import listed
from workbench.session.begin.new_entries import knows_apis
from workbench.session.edit.yaml_document import Path_
from workbench.session.open.own_api import own_support
from workbench.session.open.reading import read
from workbench.session.program.plugins import Plugins

_POLL = (
    "A host that waits for it waits forever. Let it poll, or wait by a call (kind: wait or interrupt), or name "
    "sources that implement the API and call it: host.api_sources."
)


def entry_problems(text: str, template: Path, plugins: Plugins) -> tuple[Diagnostic, ...]:
    """Errors, and warnings if a missing header may declare an unknown name. Empty if the template has errors of another
    kind."""
    platform, _ = parse_platform(text, str(template), plugins.port_kinds)
    marked, _ = read_marked(text, str(template))
    language = knows_apis(plugins)
    if platform is None or marked is None or language is None or not isinstance(marked.data, Mapping):
        return ()
    try:
        support = own_support(platform, template, plugins.platforms)
    except WorkbenchError as error:
        return error.diagnostics
    folders = [template.parent, *([support.api_dir] if support and support.api_dir else [])]
    if refused := _refused(platform.host.include_lines, folders, marked):
        return refused
    wrong = read(lambda: language.wrong_expressions(platform, folders), template)
    problems = [
        marked.diagnostic((*_place(one.entry), one.field), one.message, one.hint,
                          Severity.ERROR if one.certain else Severity.WARNING)
        for one in wrong
    ]  # fmt: skip
    if guessed := guessed_types(platform.host):
        message = f"no named header declares {listed(guessed)}"
        hint = "Taken as a number. Name the header: Include lines, under Header and sources (host.include_lines)."
        problems.append(marked.diagnostic(("host", "include_lines"), message, hint, Severity.WARNING))
    if not (support and support.api_sources):  # otherwise the API's own sources call them
        problems += _never_called(platform.host, marked)
    entries = platform.host.entries
    if entries and not any(entry.kind.exchanges for entry in entries):
        still = NO_DATA_MOVES
        problems.append(marked.diagnostic(("host", "entries"), still.message, still.hint, still.severity))
    return tuple(problems)


def _refused(lines: Sequence[str], folders: Sequence[Path], marked: Marked) -> tuple[Diagnostic, ...]:
    """Problems of include lines, of the template and of its headers, that lead to files that must not be opened, such
    as devices. A header may be anywhere."""
    includes, problems = Includes(folders, [Path("/")]), list[Diagnostic]()
    for number, line in enumerate(lines):
        path, why = includes.resolved(str(folders[0]), header_of(line))
        if why:
            hint = "Name a header file."
            problems.append(marked.diagnostic(("host", "include_lines", number), f"the included file {why}", hint))
        elif path:
            problems += includes.problems(Path(path))
    return tuple(problems)


def _never_called(host: Host, marked: Marked) -> Iterator[Diagnostic]:
    """A warning for each callback that an entry takes, since a generated library never calls it."""
    for number, entry in enumerate(host.entries):
        prototype = parse_prototype(entry.prototype)
        if prototype and not entry.inline and (callback_names := callbacks(prototype)):
            message = f"{listed(callback_names)}: a callback, which the simulated card never calls"
            yield marked.diagnostic(("host", "entries", number, "prototype"), message, _POLL, Severity.WARNING)


def _place(entry: int | None) -> Path_:
    return ("host", "transfers") if entry is None else ("host", "entries", entry)


def typed_problem(text: str, path: Path_, value: object, template: Path, plugins: Plugins) -> Diagnostic | None:
    """The problem at this place of a template if it held `value`; None if there is none."""
    try:
        new = yaml_edit.set_value(text, path, value)
    except WorkbenchError as error:
        return error.diagnostics[0]
    problems = (*parse_platform(new, str(template), plugins.port_kinds)[1], *entry_problems(new, template, plugins))
    marked, _ = read_marked(new, str(template))
    at = marked.values[path] if marked else None
    return next((d for d in problems if at and (d.line, d.column) == (at.line, at.column)), None)

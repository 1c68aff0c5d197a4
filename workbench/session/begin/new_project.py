"""Begins a project from sources: the use of each file in a folder, and a project file for them."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from workbench.api import HdlLanguage, HostLanguage
from workbench.api.brought import brought
from workbench.api.instrument.wrapper import wrong_widths
from workbench.api.job import Job
from workbench.api.languages import either, reads, suffixes_of
from workbench.model.application import HostSources
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, unknown_name
from workbench.model.scan import HdlTop, HostFile
from workbench.model.text import listed
from workbench.session.begin.new_choice import Choice, UnknownApi, unknown_values
from workbench.session.begin.new_platform import Notes, PlatformFound, find_platforms, say_unknown_api
from workbench.session.begin.new_standard import standard_flag
from workbench.session.begin.new_top import find_constants, find_read_out, find_top
from workbench.session.begin.project_text import Decision, HardwareParts, project_text
from workbench.session.begin.unknown_use import (
    BuildValue,
    build_values,
    first_macro_uses,
    given_reason,
    place_of,
    unknown_reason,
)
from workbench.session.open.hdl_language import languages_of
from workbench.session.open.own_api import own_support
from workbench.session.open.project_path import PROJECT_SUFFIX
from workbench.session.open.reading import read
from workbench.session.open.top_names import with_own_names
from workbench.session.program.plugins import Plugins
from workbench.system.files import real, write_files

_MOST_FILES = 2000
_LARGEST_BYTES = 4 << 20
_LONGEST_NAME = 200  # bytes; a file's name has at most 255
_SKIPPED = {"runs", "build", "obj_dir", "node_modules", "__pycache__"}
_MACRO = re.compile(r"[A-Z_][A-Z0-9_]*|k[A-Z]\w*")
_UNDECLARED = re.compile(r"undeclared identifier '(\w+)'")


Value = int | float | str
Values = Mapping[str, Value]
InBuild = Mapping[str, tuple[BuildValue, ...]]  # what build files say, by name


@dataclass(frozen=True)
class Proposal:
    """A proposed project: `files` are the texts of its files, the project file first. Nothing is written yet."""

    path: Path
    files: Mapping[Path, str]
    decisions: tuple[Decision, ...]
    left_out: tuple[tuple[str, str], ...]  # file, why
    diagnostics: tuple[Diagnostic, ...] = ()
    unknown_api: UnknownApi | None = None


def propose(folder: Path, plugins: Plugins, choice: Choice | None = None) -> Proposal:
    """Propose a project for the sources below `folder`, which are only read. WorkbenchError without a design."""
    choice, notes, root = choice or Choice(), Notes(), real(folder)
    if not root.is_dir():
        raise WorkbenchError(
            Diagnostic("there is no such folder", "Name the folder of your sources.", file=str(folder))
        )
    if _in_utf_8(str(root)) != str(root):
        hint = "Rename the folder or its parent: a project file contains UTF-8 names only."
        raise WorkbenchError(Diagnostic("the name of this folder is not in UTF-8", hint, file=_in_utf_8(str(root))))
    if choice.name and not (re.fullmatch(r"\w[\w.-]*", choice.name) and len(choice.name.encode()) <= _LONGEST_NAME):
        hint = f"Write letters, digits, dots, dashes and underscores, at most {_LONGEST_NAME} bytes."
        raise WorkbenchError(Diagnostic(f"'{choice.name[:40]}' cannot name a project", hint))
    files = files_below(root, notes)
    languages = plugins.hdl_languages
    of_languages = languages_of(files, languages)
    hdl_files = [file for own_files in of_languages.values() for file in own_files]
    host_language, outlines = _outlines(root, files, plugins)
    platforms = find_platforms(plugins, choice, root, files, notes)
    host = _host(root, outlines, files, platforms, choice, notes)
    designs = [(languages[name], own_files) for name, own_files in of_languages.items()]
    tops = design_tops(designs, root, choice.top, choice.defines)
    unknown_macros = {(top.name, top.file): top.unknown_macros for top in tops if top.unknown_macros}
    names = [name for one in unknown_macros.values() for name in one]
    in_build = build_values(root, files, names)
    if names:  # ports and widths need some value
        tops = design_tops(designs, root, choice.top, {**_assumed(names, in_build), **choice.defines})
    before = len(notes.problems)
    top, chosen, match = find_top(tops, platforms, host, plugins.port_kinds, choice, root, notes)
    if match and not match.missing and (top.name, top.file) not in unknown_macros:
        named = with_own_names(chosen.platform, match.renames, root).hardware
        notes.problems += wrong_widths(top.ports, named) if named else ()
    used = first_macro_uses(root, files, names)
    defines = _defines(unknown_macros.get((top.name, top.file), ()), used, in_build, choice, notes)
    _say_left_out(hdl_files, top, tops, languages.values(), notes)
    include_dirs = _include_dirs(root, host, files)
    compiled = tuple(f.file for f in host if not f.header)
    sources = HostSources(language=host_language.name, sources=compiled, include_dirs=include_dirs,
                          flags=_flags(root, files, outlines if host else (), notes))  # fmt: skip
    of_port = notes.problems[before:]
    unknown = say_unknown_api(chosen, host, platforms, root, plugins, notes)
    if unknown and not choice.platform:  # missing signals of another board's port are irrelevant
        notes.problems = [one for one in notes.problems if one not in of_port]
    api = None if chosen.lacks else own_support(chosen.platform, chosen.template, plugins.platforms)
    with_api = (*include_dirs, *((str(api.api_dir),) if api and api.api_dir else ()))
    with_header = sources.model_copy(update={"include_dirs": with_api})
    scan = read(lambda: host_language.scan(root, with_header, chosen.platform, {}, Job()), root)
    words = frozenset(word for file in host for word in file.words)
    if chosen.calls(words) and not chosen.lacks:
        missing = (one for one in scan.diagnostics if one.message.endswith("file not found"))
        notes.problems += [replace(one, severity=Severity.WARNING) for one in missing]
    undeclared: dict[str, str] = {}  # with the first place of each
    for one in scan.diagnostics:
        for identifier in _UNDECLARED.findall(one.message):
            undeclared.setdefault(identifier, place_of(root, one))
    settings = _settings(undeclared, build_values(root, files, list(undeclared)), words, top, choice, notes)
    name = choice.name or re.sub(r"\W+", "_", root.name).strip("_").lower()[: _LONGEST_NAME // 4] or "project"
    path = root / f"{name}{PROJECT_SUFFIX}"
    numbers = {n for file in host for n in file.numbers} | set(top.numbers)
    read_out = find_read_out(top, match, chosen.platform, numbers, notes)
    own_names: Mapping[str, str] = {}
    constants: Mapping[str, int] = {}
    if match:
        own_names = match.renames
    if match and not match.missing:
        constants = find_constants(top, match, chosen.platform, plugins.port_kinds, choice, notes)
    hardware = HardwareParts(top, read_out, own_names, constants, defines)
    text = project_text(name, chosen.key, sources, hardware, settings, notes.decisions)
    files_made = {path: text} | {root / file: generated for file, generated in top.made}
    return Proposal(path, files_made, tuple(notes.decisions), tuple(notes.left_out.items()),
                    tuple(notes.problems), unknown)  # fmt: skip


def create(proposal: Proposal) -> Path:
    """Write the proposed files, or none if one of them exists already. Returns the project file."""
    for path in proposal.files:
        if path.exists():
            hint = "Give the project another name, or remove this file."
            raise WorkbenchError(Diagnostic("this file exists already and was not changed", hint, file=str(path)))
    write_files({path: text.encode() for path, text in proposal.files.items()})
    return proposal.path


# ---- files, host


def files_below(root: Path, notes: Notes) -> list[str]:
    """The regular files below the folder, as relative names, without hidden files, build products and links."""
    files: list[str] = []
    unknown: list[str] = []  # names that a project file cannot contain
    for folder, folders, names in os.walk(root):
        unknown += [_in_utf_8(str(Path(folder, n).relative_to(root))) for n in (*folders, *names) if n != _in_utf_8(n)]
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in _SKIPPED and n == _in_utf_8(n))
        for name in sorted(n for n in names if n == _in_utf_8(n)):
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                continue
            relative = path.relative_to(root).as_posix()
            if path.stat().st_size > _LARGEST_BYTES:
                notes.left_out[relative] = "larger than 4 MiB"
                continue
            files.append(relative)
            if len(files) >= _MOST_FILES:
                message = f"only the first {_MOST_FILES} files of this folder were read"
                notes.problems.append(Diagnostic(message, "Start in a smaller folder.", Severity.WARNING, str(root)))
                return files
    if unknown:
        problem = f"{'names' if len(unknown) > 1 else 'a name'} not in UTF-8: {listed(unknown)}"
        hint = "Rename the files that belong to the project: a project file contains UTF-8 names only."
        notes.problems.append(
            Diagnostic(f"files or folders were left out: {problem}", hint, Severity.WARNING, str(root))
        )
        notes.left_out |= dict.fromkeys(unknown, "its name is not in UTF-8")
    return files


def _in_utf_8(name: str) -> str:
    """A file name as text, with bytes that are not UTF-8 as `\xe9`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def design_tops(
    designs: Sequence[tuple[HdlLanguage, Sequence[str]]], root: Path, chosen: str, defines: Values
) -> list[HdlTop]:
    """The modules in a folder's designs that may be a top. Macros without a value are not defined."""

    def of(language: HdlLanguage, files: Sequence[str]) -> tuple[HdlTop, ...]:
        return language.tops(root, files, chosen, defines) if defines else language.tops(root, files, chosen)

    return [top for language, files in designs for top in read(partial(of, language, files), root)]


def _outlines(root: Path, files: Sequence[str], plugins: Plugins) -> tuple[HostLanguage, tuple[HostFile, ...]]:
    """The language of most of the folder's designs (a built-in language before others), and its files."""
    outlines = {name: _of_language(root, files, language) for name, language in plugins.host_languages.items()}
    name = max(outlines, key=lambda name: sum(file.entry for file in outlines[name]))
    return plugins.host_languages[name], outlines[name]


def _of_language(root: Path, files: Sequence[str], language: HostLanguage) -> tuple[HostFile, ...]:
    own_files = [file for file in files if reads(language, file)]
    return read(lambda: language.outline(root, own_files), root) if own_files else ()


def _host(
    root: Path, outlines: Sequence[HostFile], files: Sequence[str], platforms: Sequence[PlatformFound], choice: Choice,
    notes: Notes,
) -> tuple[HostFile, ...]:  # fmt: skip
    programs = [file for file in outlines if file.entry]
    if not programs:
        kinds = either(brought("host_languages"))
        hint = (
            f"The host program is a {kinds} source with main: name it under host.sources before a run. Until then the "
            "hardware can be scanned, marked and proved."
        )
        if choice.host:
            raise WorkbenchError(unknown_name("program", choice.host, [f.file for f in outlines if not f.header], root))
        notes.problems.append(Diagnostic(f"no {kinds} program was found here", hint, Severity.WARNING, str(root)))
        return ()
    excluded = {name for one in platforms for name in one.platform.host.exclude_files}

    def calls(file: HostFile) -> int:
        return max((len(one.calls(file.words)) for one in platforms), default=0)

    ranked = sorted(programs, key=lambda file: -calls(file))
    if choice.host:
        ranked = [f for f in programs if choice.host in (f.file, str(root / f.file), Path(f.file).name)]
        if not ranked:
            raise WorkbenchError(unknown_name("program", choice.host, [f.file for f in programs], root))
    main, other_sources = ranked[0], [file for file in outlines if not file.entry]
    chosen, reasons = (
        [main],
        [f"the main function is in {main.file}" + (", which calls the board's API" if calls(main) else "")],
    )
    grew = True
    while grew:
        words = {word for file in chosen for word in file.words if not file.header or file.functions}
        included = {Path(name).name for file in chosen for name in file.includes}
        grew = False
        for file in other_sources:
            name = Path(file.file).name
            used = [name] if file.header and name in included else []
            used = used or [name for name in file.functions if name in words and not file.header]
            if file not in chosen and used and name not in excluded:
                chosen.append(file)
                reasons += [] if file.header else [f"it uses {used[0]}, which is in {file.file}"]
                grew = True
    for file in outlines:
        if file not in chosen and not file.header:
            why = "not used"
            if file.entry:
                why = "another program: it has a main() too"
            elif Path(file.file).name in excluded:
                why = "the platform's API itself"
            notes.left_out[file.file] = why
    others = tuple(file.file for file in programs if file is not main)
    notes.decisions.append(
        Decision("host sources", ", ".join(f.file for f in chosen if not f.header), "; ".join(reasons), others)
    )
    return tuple(chosen)


def _include_dirs(root: Path, host: Sequence[HostFile], files: Sequence[str]) -> tuple[str, ...]:
    """The folders of headers that are neither next to their includer nor found by the included path."""
    folders: dict[str, None] = {}
    for file in host:
        for name in file.includes:
            if os.path.isfile((root / file.file).parent / name):
                continue
            for other in files:
                if other == name or other.endswith("/" + name):
                    folders[other[: -len(name)].rstrip("/") or "."] = None
                    break
    return tuple(folders)


def _flags(root: Path, files: Sequence[str], outlines: Sequence[HostFile], notes: Notes) -> tuple[str, ...]:
    flag, reason = standard_flag(root, files, outlines)
    notes.decisions += [reason] if reason else []
    default: tuple[str, ...] = HostSources.model_fields["flags"].default
    return (*default, flag) if flag else default


def _say_left_out(
    hdl_files: Sequence[str], top: HdlTop, tops: Sequence[HdlTop], languages: Iterable[HdlLanguage], notes: Notes
) -> None:
    sources = suffixes_of(languages, compiled=True)
    for file in hdl_files:
        if file not in top.sources and file.endswith(sources):
            other = next((one.name for one in tops if file in one.sources), "")
            why = f"not reached from {top.name}" + (f", but from {other}" if other else "")
            notes.left_out[file] = f"a second {top.name}, besides the one in {top.file}" if other == top.name else why


def _assumed(names: Iterable[str], in_build: InBuild) -> dict[str, Value]:
    """The value of each name: what the build files say, or 1 if they give none, or different ones."""
    found = {name: in_build.get(name, ()) for name in names}
    return {name: values[0].value if len(values) == 1 else 1 for name, values in found.items()}


def _defines(
    unknown: Sequence[str], used: Mapping[str, str], in_build: InBuild, choice: Choice, notes: Notes
) -> dict[str, Value]:
    """The values of the design's macros: the chosen ones, and for those that nothing defines those of build files, or
    1. `used` are the places that use them."""
    assumed = _assumed(unknown, in_build)
    asked = []
    for name, value in assumed.items():
        found = in_build.get(name, ())
        if is_unknown := len(found) != 1:
            asked.append(name)
        why = unknown_reason(name, used.get(name, ""), found) if is_unknown else given_reason(found[0])
        notes.decisions.append(Decision("macro", f"{name} = {value}", why, unknown=is_unknown))
    notes.problems += unknown_values(asked, "macro")
    for name, value in choice.defines.items():
        notes.decisions.append(Decision("macro", f"{name} = {value}", "as given"))
    return {**assumed, **choice.defines}


def _settings(
    names: Mapping[str, str], in_build: InBuild, words: Collection[str], top: HdlTop, choice: Choice, notes: Notes
) -> dict[str, Value]:
    """The settings of runs: the top's parameters, and names that the host uses (at a place) but does not declare."""
    values: dict[str, Value] = {}
    asked: list[str] = []
    for name, value in top.parameters:
        if name in names or name not in words:  # otherwise the host uses the name differently
            values[name] = value = choice.settings.get(name, value)
            meaning = "a macro of the host, and a parameter of the top" if name in names else "a parameter of the top"
            notes.decisions.append(Decision("setting", f"{name} = {value}", meaning))
    for name in names:
        if name in values or not (_MACRO.fullmatch(name) or name in choice.settings):
            continue
        values[name] = choice.settings.get(name, _assumed([name], in_build)[name])
        found = in_build.get(name, ())
        if unknown := name not in choice.settings and len(found) != 1:
            asked.append(name)
        given = name in choice.settings
        why = "as given" if given else unknown_reason(name, names[name], found) if unknown else given_reason(found[0])
        notes.decisions.append(Decision("setting", f"{name} = {values[name]}", why, unknown=unknown))
    notes.problems += unknown_values(asked)
    if wrong := [name for name in choice.settings if name not in values]:
        raise WorkbenchError(*(unknown_name("setting", name, values) for name in wrong))
    return values

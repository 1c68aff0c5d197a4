"""Reads all of a project's host sources once: every use of an API function, with its pragmas, over all files."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from clang.cindex import TranslationUnit

from rc_workbench_plugins.c import clang_parse
from rc_workbench_plugins.c.accesses import Pointers, access_callees, chosen, find_accesses, mapping_calls
from rc_workbench_plugins.c.clang_parse import TokenPlace
from rc_workbench_plugins.c.facts import Range, Reading, Use, innermost
from rc_workbench_plugins.c.loops import note_decisions
from rc_workbench_plugins.c.placing import Placing, place_pragmas
from rc_workbench_plugins.c.polls import concerned, polls, reaching
from rc_workbench_plugins.c.reading import read_unit
from workbench.api import (
    Callee,
    Diagnostic,
    HostSources,
    Job,
    PlacedPragma,
    Platform,
    Severity,
    callees,
    counted,
    find_pragmas,
    listed,
    source_bytes,
)
from workbench.api.languages import C
from workbench.api.source import suffixes
from workbench.api.source.flags import folders_of_all
from workbench.api.source.lines import line_starts
from workbench.api.source.suffixes import is_cpp
from workbench.api.unstable import opened, opened_names

_COMPILED = (*suffixes.C, *suffixes.CPP)
_NAME = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CALL_OR_NOT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\b([A-Za-z_]\w*)\s*\(', re.DOTALL)
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.MULTILINE)


@dataclass(frozen=True)
class ApiUse:
    """A use of an API function, and what stands around it. `why_missed` is empty where it can be instrumented.

    `waits_when`: it only waits for the FPGA, always (empty) or where this condition holds; None where it does not."""

    use: Use
    callee: Callee
    function: str
    pragmas: tuple[PlacedPragma, ...]
    pragma_line: int
    indent: int
    why_missed: str = ""
    waits_when: str | None = None

    @property
    def file(self) -> Path:
        return self.use.place.file


@dataclass(frozen=True)
class SurveyedUnit:
    """One source and what it says. `whole`: nothing in it is beyond the parser, whose arguments are `words`."""

    source: Path
    words: tuple[str, ...]
    reading: Reading
    whole: bool


class Files:
    """The texts of the user's files, and which files those are. Of `all_sources`, `sources` are those that are read."""

    def __init__(self, root: Path, host: HostSources, exclude: Iterable[str]) -> None:
        self.root = Path(os.path.realpath(root))
        self.all_sources = tuple(Path(os.path.realpath(self.root / source)) for source in host.sources)
        self.sources = self.all_sources
        self.exclude = tuple(exclude)
        folders = [(folder, Path(os.path.realpath(self.root / folder))) for folder in host.include_dirs]
        foreign = [f for text, f in folders if Path(text).is_absolute() and not _related(f, self.root)]
        self.foreign = tuple(foreign)
        own = (f for _, f in folders if f not in foreign)
        include_folders = [path for path in map(Path, folders_of_all(host)) if _below(path, self.root)]
        self.own = (self.root, *own, *include_folders, *(source.parent for source in self.sources))
        self._texts: dict[Path, bytes] = {}
        self._is_user: dict[Path, bool] = {}

    def text(self, file: Path) -> bytes:
        if file not in self._texts:
            self._texts[file] = source_bytes(file)
        return self._texts[file]

    @property
    def read(self) -> tuple[Path, ...]:
        """The sources, and all files whose texts were asked for."""
        return tuple(dict.fromkeys((*self.all_sources, *self._texts)))

    def is_user(self, file: Path) -> bool:
        """One of the project's own files: not the API's, nor the system's."""
        if file not in self._is_user:
            own = any(_below(file, folder) for folder in self.own)
            foreign = any(_below(file, folder) for folder in self.foreign)
            self._is_user[file] = file in self.sources or (own and not foreign)
        return self._is_user[file]

    def excluded(self, file: Path) -> bool:
        """Named by the template's list of files whose calls are not to be seen (section 3.1)."""
        relative = file.relative_to(self.root).as_posix() if _below(file, self.root) else file.as_posix()
        return any(fnmatch(relative, pattern) or fnmatch(file.name, pattern) for pattern in self.exclude)


@dataclass(frozen=True)
class Survey:
    files: Files
    words: tuple[str, ...]  # the parser's arguments for C
    callees: dict[str, Callee]
    units: tuple[SurveyedUnit, ...]
    user_files: tuple[Path, ...]  # the sources, and the user's own headers that they include
    uses: tuple[ApiUse, ...]  # each once, by file and place, sources in the project's order
    diagnostics: tuple[Diagnostic, ...]


def survey(
    root: Path, host: HostSources, platform: Platform, defines: dict[str, str], job: Job | None = None
) -> Survey:
    """Parse every source. Whatever is wrong with them becomes diagnostics."""
    clang_parse.forget_files()
    files = Files(root, host, platform.host.exclude_files)
    known, problems = callees(platform.host.calls)
    accesses, maps, pointers = access_callees(platform.host.entries), mapping_calls(platform.host.entries), Pointers()
    diagnostics = dict.fromkeys(problems)
    words = tuple(clang_parse.arguments(files.root, host, defines))
    words_of = {source: tuple(clang_parse.arguments(files.root, host, defines, cpp=is_cpp(source), source=name))
                for source, name in zip(files.all_sources, host.sources, strict=True)}  # fmt: skip
    files.sources = tuple(one for one in files.all_sources if not is_cpp(one) or not one.is_file()
                          or accesses or _concerns(one, files, known, platform.host.lacks))  # fmt: skip
    find = partial(find_accesses, maps=maps, names=known.keys(), is_user=files.is_user, text=files.text,
                   pointers=pointers)  # fmt: skip
    finds = find if accesses else None
    units: list[SurveyedUnit] = []
    skipped: dict[Path, list[Range]] = {}
    job = job or Job()
    for number, source in enumerate(files.sources):
        job.progress(number / len(files.sources), source.name)
        unit, more = _read(source, files, words_of[source], known, skipped, finds)
        diagnostics.update(dict.fromkeys(more))
        if unit:
            units.append(unit)
    reach = reaching(unit.reading for unit in units)
    for number, unit in enumerate(units):
        if concerned(unit.reading, reach) - unit.reading.deciding:  # its loops call functions of other sources
            again, _ = _read(unit.source, files, unit.words, known, {}, finds, reach)
            units[number] = again or unit
    for unit in units:
        unit.reading.uses += (use for use in chosen(unit.reading.accesses, pointers) if use.callee in accesses)
    known |= accesses
    placings: dict[Path, Placing] = {}
    included = (path.resolve() for unit in units for _, path in unit.reading.includes)
    user_files = tuple(dict.fromkeys((*files.sources, *(path for path in included if files.is_user(path)))))
    unread = {*files.sources} - {unit.source for unit in units}
    for file in user_files:
        if file not in unread and not files.excluded(file):
            placings[file], more = _place(file, files, units, skipped.get(file, []))
            diagnostics.update(dict.fromkeys(more))
            diagnostics.update(dict.fromkeys(_lacking(file, files, skipped.get(file, []), platform.host.lacks)))
    uses: dict[tuple[Path, int, str, int], ApiUse] = {}
    waits = polls(units, known)
    for unit in units:
        for use in sorted(
            unit.reading.uses, key=lambda u: (u.place.file != unit.source, str(u.place.file), u.place.offset)
        ):
            if use.place.file in placings:
                key = (use.place.file, use.place.offset, use.callee, use.access.place.end if use.access else 0)
                when = waits.get(((use.place.file, use.place.offset), use.callee))
                uses.setdefault(key, _api_use(use, known[use.callee], unit.reading, placings[use.place.file], when))
    diagnostics.update(dict.fromkeys(_unopened(uses.values())))
    return Survey(files, words, known, tuple(units), user_files, tuple(uses.values()), tuple(diagnostics))


def _unopened(uses: Iterable[ApiUse]) -> Iterator[Diagnostic]:
    """For each call that holds only for what was opened by a name: that no source makes a call that opens it."""
    uses = list(uses)
    opened_by = set(opened_names(entry for use in uses for _, entry in use.callee.entries if not entry.of))
    for entry in (entry for use in uses for _, entry in use.callee.entries if entry.opens):
        of = opened(entry.of)  # a mapping of an opened file, say
        opened_by.update(opened_names([entry]) if of and not opened_by.isdisjoint(of.names) else ())
    reported: set[str] = set()
    for use in uses:
        wanted = [what.names if (what := opened(entry.of)) else () for _, entry in use.callee.entries]
        if use.callee.name not in reported and all(names and opened_by.isdisjoint(names) for names in wanted):
            reported.add(use.callee.name)
            names = " or ".join(dict.fromkeys(name for one in wanted for name in one))
            unrecorded = f"calls of {use.callee.name} are not recorded"
            message = f"{unrecorded}: no call in the sources opens {names} (see `opens` in the template)"
            hint = "If a library opens it, add the library's source, or a template entry that `opens` it."
            where = use.use.place
            yield Diagnostic(message, hint, Severity.WARNING, str(where.file), where.line, where.column)


def _lacking(file: Path, files: Files, skipped: list[Range], lacks: Mapping[str, str]) -> Iterator[Diagnostic]:
    """The calls of a file that the simulated card does not have."""
    text = files.text(file).decode("latin-1")  # a character for each byte
    for found in _CALL_OR_NOT.finditer(text) if lacks else ():
        if found[1] in lacks and not any(r.file == file and r.start <= found.start() < r.end for r in skipped):
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            message = f"the simulated card does not have {found[1]}: {lacks[found[1]]}"
            hint = "Remove the call, or run the program on a real machine."
            yield Diagnostic(message, hint, Severity.WARNING, str(file), line, column)


def _concerns(source: Path, files: Files, known: dict[str, Callee], lacks: Mapping[str, str]) -> bool:
    """Whether a C++ source, or a file of the user's that it includes, may call the API or has pragmas: others are not
    parsed, and built as they are."""
    names = {word for callee in known.values() for word in _NAME.findall(callee.prototype.name)} | {"recap", *lacks}
    special = any(c.prototype.is_constructor or c.prototype.is_destructor for c in known.values())
    if special or "operator" in names:  # which are called without a name
        return True
    pending = [source]
    for file in pending:
        text = _COMMENT.sub(" ", _decoded(files.text(file)))
        if not names.isdisjoint(_NAME.findall(text)):
            return True
        included = (Path(os.path.realpath(folder / name))
                    for name in _INCLUDE.findall(text) for folder in (file.parent, *files.own))  # fmt: skip
        pending += [path for path in dict.fromkeys(included)
                    if path not in pending and path.is_file() and files.is_user(path)]  # fmt: skip
    return False


def _standard(words: tuple[str, ...]) -> int:
    """The year of C++ that a source is in; the compilers' default is 17."""
    standard = next((word for word in reversed(words) if word.startswith("-std=")), "")
    early = re.search(r"\+\+(?:98|03|0x|11|1y|14)$", standard)
    return 17 if early is None else 14 if early[0] in ("++1y", "++14") else 11


def _below(file: Path, folder: Path) -> bool:
    return file == folder or folder in file.parents


def _related(one: Path, other: Path) -> bool:
    return _below(one, other) or _below(other, one)


def _read(
    source: Path,
    files: Files,
    words: tuple[str, ...],
    known: dict[str, Callee],
    skipped: dict[Path, list[Range]],
    finds: Callable[[TranslationUnit, Reading], list[Use]] | None,
    names: Set[str] = frozenset(),
) -> tuple[SurveyedUnit | None, tuple[Diagnostic, ...]]:
    if not source.is_file():
        hint = "Fix the project's list of host sources, or add the file."
        return None, (Diagnostic("this host source does not exist", hint, file=str(source)),)
    if source.suffix not in _COMPILED:
        hint = f"Host language 'c' reads {listed(_COMPILED)}."
        return None, (Diagnostic(f"'{source.suffix}' is not a C or C++ source", hint, file=str(source)),)
    parsed = clang_parse.parse(source, words)
    if parsed is None:
        return None, (Diagnostic("the host source cannot be read", "Is it a text file?", file=str(source)),)
    reading = read_unit(parsed, known, files.is_user, files.text, cpp=is_cpp(source), standard=_standard(words))
    reading.accesses = finds(parsed, reading) if finds else []
    note_decisions(reading, concerned(reading, reaching([reading]) | names))
    for file, start, end in clang_parse.skipped_ranges(parsed):
        if files.is_user(file):
            skipped.setdefault(file, []).append(Range(file, start, end))
    problems = clang_parse.problems(parsed)
    return SurveyedUnit(source, words, reading, not problems), problems


def _place(
    file: Path, files: Files, units: list[SurveyedUnit], skipped: list[Range]
) -> tuple[Placing, tuple[Diagnostic, ...]]:
    data = files.text(file)
    pragmas, problems = find_pragmas(_decoded(data), C, str(file))
    offsets = line_starts(data)
    live = [p for p in pragmas if not any(r.start <= offsets[p.line - 1] < r.end for r in skipped)]
    calls = {u.place: u for unit in units for u in unit.reading.uses if u.place.file == file and u.is_call}
    statements = dict.fromkeys(s for unit in units for s in unit.reading.statements if s.range.file == file)
    placing, more = place_pragmas(data, offsets, live, sorted(calls, key=lambda c: c.offset), list(statements))
    return placing, (*problems, *more)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _api_use(use: Use, callee: Callee, reading: Reading, placing: Placing, waits_when: str | None) -> ApiUse:
    function = innermost(reading.functions, use.place)
    where = use.place
    line, indent = placing.insertion(where)
    return ApiUse(
        use,
        callee,
        function.name if function else "",
        placing.of_call.get(where, ()) if use.is_call else (),
        line,
        indent,
        _why_missed(use, callee, reading),
        waits_when,
    )


def _why_missed(use: Use, callee: Callee, reading: Reading) -> str:
    if use.access and use.access.why_missed:
        return use.access.why_missed
    if use.access and innermost(reading.functions, use.place) is None:
        return "it is outside every function"
    if use.why_missed or use.form:
        return use.why_missed or (
            "" if innermost(reading.declarations, use.place) else "it is outside every declaration"
        )
    wanted = len(callee.prototype.parameters)
    if use.signature is not None:
        if use.signature.parameters is None:
            return f"{use.callee} is declared without parameters there; include the API's header"
        if len(use.signature.parameters) != wanted:
            declared = len(use.signature.parameters)
            return f"{use.callee} is declared with {counted(declared, 'parameter')}, the platform's entry has {wanted}"
        if use.signature.variadic and not use.is_call:
            return f"the address of {use.callee} is taken, and {use.callee} takes a varying number of arguments"
        if any(_unspellable(t) for t in use.arguments):
            return f"an argument of {use.callee} has a type that only this file knows"
    if innermost(reading.declarations, use.place) is None:
        return f"this use of {use.callee} is outside every function of the file"
    return ""


def _unspellable(kind: str) -> bool:
    return not kind or "struct " in kind or "union " in kind or "(" in kind


def missed_diagnostic(use: ApiUse) -> Diagnostic:
    where: TokenPlace = use.use.place
    what = use.use.callee if use.use.access else f"use of {use.callee.name}"
    message = f"this {what} is not instrumented: {use.why_missed}"
    return Diagnostic(message, "", Severity.WARNING, str(where.file), where.line, where.column)

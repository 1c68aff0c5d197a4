"""Project files (`*.workbench.yaml`) read from YAML, and held against the folder they are in."""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.api.brought import brought
from workbench.api.languages import headers_of
from workbench.api.source.files import (
    ENTRY_LIMIT,
    MATCH_LIMIT,
    TooManyFiles,
    expand_sources,
    fixed_folder,
    is_pattern,
    matches,
    within,
)
from workbench.formats.documents import Schema, load_document, warning
from workbench.formats.queue_calls import check_queues
from workbench.formats.yaml_marks import Marked
from workbench.model.application import STREAM_TOP, Design, Project
from workbench.model.diagnostic import Diagnostic, did_you_mean, near, nearest
from workbench.system.files import SOURCE_LIMIT, locale_hint, read_regular

STREAM_READ_OUT = {"first": 0xFFFF0000, "last": 0xFFFF000F}  # which a design made of streams leaves unused
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LINK_END = re.compile(r"[A-Za-z]\w*\.\w*\*\w*")


def load_project(path: Path | str) -> tuple[Project | None, tuple[Diagnostic, ...]]:
    """Read a project file and check that its sources are there. None where there is an error."""
    return load_document(SCHEMA, Path(path))


def _semantic(project: Project, marked: Marked) -> list[Diagnostic]:
    problems = [*_check_fpgas(project, marked), *_check_links(project, marked), *_check_settings(project, marked)]
    problems += [*_check_clocks(project, marked), *check_queues(project.host.queues, marked)]
    for keys, design in _designs(project):
        problems += _check_design(keys, design, marked)
    if marked.file is not None:
        root = Path(marked.file).parent
        problems += list(_check_sources(project, marked, root)) or _check_use_of_settings(project, marked, root)
    return problems


def _made_of_streams(data: dict[str, Any]) -> dict[str, Any]:
    """Fill in the host and hardware of a streaming application, which are generated."""
    if not data.get("streaming"):
        return data
    hardware = {"sources": [], "top": STREAM_TOP, "read_out": STREAM_READ_OUT}
    filled: dict[str, dict[str, Any]] = {"host": {"sources": []}, "hardware": hardware}
    own = {part: data[part] for part in filled if part in data}
    together = {part: {**filled[part], **said} if isinstance(said, dict) else said for part, said in own.items()}
    return {**data, **filled, **together}


SCHEMA: Schema[Project] = Schema("project file", Project, prepare=_made_of_streams, semantic=_semantic)


def _designs(project: Project) -> Iterator[tuple[tuple[str | int, ...], Design]]:
    """Where a design's fields are, and those: the hardware's, and what FPGAs say of their own."""
    yield ("hardware",), project.hardware
    for number, fpga in enumerate(project.hardware.fpgas):
        yield ("hardware", "fpgas", number), fpga


def _check_fpgas(project: Project, marked: Marked) -> Iterator[Diagnostic]:
    hardware, names = project.hardware, [fpga.name for fpga in project.hardware.fpgas]
    if names and project.streaming:
        message = "the designs of a streaming application are generated"
        yield marked.diagnostic(("hardware", "fpgas"), message, "Remove fpgas: the topology names them.")
    if names and "cards" in hardware.model_fields_set:
        message = "the FPGAs are given twice, by their number (cards) and one by one (fpgas)"
        yield marked.diagnostic(("hardware", "cards"), message, "Remove one of the two.")
    for number, name in enumerate(names):
        if not _IDENTIFIER.fullmatch(name):
            keys = ("hardware", "fpgas", number, "name")
            yield marked.diagnostic(keys, f"'{name}' is not a name", "Write letters, digits and underscores.")
        if name in names[:number]:
            keys = ("hardware", "fpgas", number, "name")
            yield marked.diagnostic(keys, f"the name '{name}' is given twice in fpgas", "Give each its own name.")


def _check_clocks(project: Project, marked: Marked) -> Iterator[Diagnostic]:
    known: dict[str, float] = {}
    for keys, design in _designs(project):
        for number, clock in enumerate(design.clocks):
            if known.setdefault(clock.name, clock.frequency_hz) != clock.frequency_hz:
                message = f"the clock '{clock.name}' has two frequencies"
                hint = "A clock's name means one frequency in all FPGAs: rename the PLL in one of the designs."
                yield marked.diagnostic((*keys, "clocks", number, "frequency_hz"), message, hint)


def _check_links(project: Project, marked: Marked) -> Iterator[Diagnostic]:
    names, taken = [fpga.name for fpga in project.hardware.fpgas], set[str]()
    for number, link in enumerate(project.hardware.links):
        for side, end in (("source", link.source), ("target", link.target)):
            keys, fpga = ("hardware", "links", number, side), end.partition(".")[0]
            if not _LINK_END.fullmatch(end):
                hint = "Write the FPGA's name and its signals, with * for valid, ready and data, such as left.out_*."
                yield marked.diagnostic(keys, f"'{end}' is not an end of a link", hint)
            elif fpga not in names:
                hint = (
                    near(fpga, names, "The FPGAs are") if names else "Name them: fpgas: [{name: left}, {name: right}]."
                )
                yield marked.diagnostic(keys, f"there is no FPGA '{fpga}' in fpgas", hint)
            elif end in taken:
                yield marked.diagnostic(keys, f"'{end}' is the end of another link already", "A link has two ends.")
            taken.add(end)


def _check_design(keys: tuple[str | int, ...], design: Design, marked: Marked) -> Iterator[Diagnostic]:
    read_out = design.read_out
    if read_out.last < read_out.first:
        message = f"the read-out ends ({read_out.last:#x}) before it begins ({read_out.first:#x})"
        yield marked.diagnostic((*keys, "read_out", "last"), message, "Swap the two.")
    if "top" in design.model_fields_set and not _IDENTIFIER.fullmatch(design.top):
        hint = "Write the top module's name, without a path or file type."
        yield marked.diagnostic((*keys, "top"), f"'{design.top}' is not a module name", hint)
    for name in design.parameters:
        if not _IDENTIFIER.fullmatch(name):
            hint = "Write letters, digits and underscores: it is the name of a parameter."
            yield marked.diagnostic((*keys, "parameters", name), f"'{name}' is not a name", hint, key=True)


def _check_settings(project: Project, marked: Marked) -> Iterator[Diagnostic]:
    hint = "Write letters, digits and underscores: it becomes a macro."
    for path, names in (
        (("settings",), project.settings),
        (("host", "defines"), project.host.defines),
    ):
        for name in names:
            if not _IDENTIFIER.fullmatch(name):
                yield marked.diagnostic((*path, name), f"'{name}' is not a name", hint, key=True)
    for name in project.settings.keys() & project.host.defines.keys():
        message = f"the setting '{name}' replaces the define of that name"
        yield warning(marked, ("host", "defines", name), message, "Remove one of them.")


def _check_sources(project: Project, marked: Marked, root: Path) -> Iterator[Diagnostic]:
    for index, folder in enumerate(project.outside):
        if not os.path.isdir(root / folder):
            yield marked.diagnostic(("outside", index), f"there is no folder '{folder}'")
    allowed = (root, *(root / folder for folder in project.outside))
    of_designs = [
        ((*keys, key), named)
        for keys, design in _designs(project)
        for key, named in (("sources", design.sources), ("library", design.library))
        if key in design.model_fields_set
    ]
    of_host = [(("host", "sources"), project.host.sources)] if "host" in project.model_fields_set else []
    for index, name in enumerate(project.rules):
        if not within(root / name, allowed):
            yield marked.diagnostic(("rules", index), *_outside(name, os.path.dirname(name)))
        elif not os.path.isfile(root / name):
            hint = "Its rules are left out: remove the entry, or add the file."
            yield warning(marked, ("rules", index), f"there is no file '{name}'", hint)
    for keys, sources in (*of_host, *of_designs):
        if not sources and keys[-1] == "sources" and not project.streaming:
            yield marked.diagnostic(keys, "no sources are named", "Write sources: [src/*.c].")
        for index, pattern in enumerate(sources):
            if why := _why_not(root, pattern, allowed):
                yield marked.diagnostic((*keys, index), *why)
    if project.streaming and project.host.build:
        message = "the host of a streaming application is generated from its blocks, and not built by a command"
        yield marked.diagnostic(("host", "build"), message, "Remove it.")
    if name := project.host.compile_commands:
        if not os.path.isfile(root / name):
            hint = "CMake writes it where CMAKE_EXPORT_COMPILE_COMMANDS is set."
            yield marked.diagnostic(("host", "compile_commands"), f"there is no file '{name}'", hint)
        elif not within(root / name, allowed):
            yield marked.diagnostic(("host", "compile_commands"), *_outside(name, os.path.dirname(name)))
    parts = ((("host",), project.host.include_dirs), *((keys, one.include_dirs) for keys, one in _designs(project)))
    for keys, folders in parts:
        for index, folder in enumerate(folders):
            if not os.path.isdir(root / folder):
                yield marked.diagnostic((*keys, "include_dirs", index), f"there is no folder '{folder}'")
            elif not within(root / folder, allowed):
                yield marked.diagnostic((*keys, "include_dirs", index), *_outside(folder, folder))


def _why_not(root: Path, pattern: str, allowed: tuple[Path, ...]) -> tuple[str, str] | None:
    """Why the project cannot use a source or a pattern, and what would be right."""
    folder = fixed_folder(pattern)
    if is_pattern(pattern) and not within(root / folder, allowed):
        return _outside(pattern, folder)
    try:
        files = matches(root, pattern)
    except TooManyFiles:
        message = f"'{pattern}' searches more than {ENTRY_LIMIT} files, or matches more than {MATCH_LIMIT}"
        return message, "Name the folders that hold the sources."
    if not files:
        if os.path.lexists(root / pattern):
            return f"'{pattern}' is not a readable file", "Name a file, or a pattern such as src/*.c."
        verb = "matches no file" if is_pattern(pattern) else "is not there"
        where = os.path.basename(os.path.realpath(root)) or str(root)
        return f"'{pattern}' {verb} in {where}", _nearest_source(root, pattern)
    for path in files:
        name = os.path.relpath(path, root)
        whole = os.path.realpath(path)
        if any("\ud800" <= sign <= "\udfff" for sign in whole):
            if hint := locale_hint(whole):
                return f"the path of '{name}' cannot be read in this locale", hint
            return f"the path of '{name}' is not UTF-8", "Rename the file, or the folder that it lies in."
        if not within(path, allowed):
            return _outside(name, os.path.dirname(os.path.relpath(os.path.realpath(path), os.path.realpath(root))))
        if path.stat().st_size > SOURCE_LIMIT:
            return f"'{name}' is larger than {SOURCE_LIMIT >> 20} MiB", "Is it a source?"
    return None


def _outside(name: str, folder: str) -> tuple[str, str]:
    above = not folder.strip("./")  # what holds the project itself is more than anyone means
    say = f"Copy it in, or name its folder in the project: outside: [{'FOLDER' if above else folder}]."
    return f"'{name}' lies outside of the project's folder", say


def _nearest_source(root: Path, pattern: str) -> str:
    """The file that may be meant, or those of the same type."""
    files = list(_files(root))
    name = Path(pattern).name
    close = nearest(pattern, files) or next((file for file in files if Path(file).name == name), "")
    if close:
        return f"Did you mean '{close}'?"
    alike = [file for file in files if Path(file).suffix == Path(pattern).suffix][:3]
    return f"Files of that type: {', '.join(alike)}." if alike else "Paths are relative to the project file."


def _files(root: Path) -> Iterator[str]:
    """Files below a folder as relative names, without hidden folders and run folders; not endlessly many."""
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "runs")
        for name in sorted(names):
            yield (Path(folder) / name).relative_to(root).as_posix()
        count += 1 + len(names)
        if count >= MATCH_LIMIT:
            return


def _check_use_of_settings(project: Project, marked: Marked, root: Path) -> Iterator[Diagnostic]:
    """A setting that nothing reads is a misspelt one."""
    sources = expand_sources(root, project.host.sources)
    folders = {source.parent for source in sources} | {root / folder for folder in project.host.include_dirs}
    inside = (path for folder in sorted(folders) if folder.is_dir() for path in folder.iterdir())
    ends = (*headers_of(brought("host_languages")), ".inc")
    headers = [path for path in islice(inside, ENTRY_LIMIT) if path.suffix in ends]
    parameters = {name for _, design in _designs(project) for name in design.parameters}
    used = set(parameters)
    for path in (*sources, *headers):
        try:
            used.update(_IDENTIFIER.findall(read_regular(path).decode("utf-8", errors="replace")))
        except OSError:
            return
    for name in project.settings:
        if name not in used:
            candidates = [other for other in used if other.isupper() or other in parameters]
            hint = did_you_mean(name, candidates) or "Use it in the host's sources, or as a parameter."
            message = f"the setting '{name}' is used by no host source and is not a parameter of the top module"
            yield warning(marked, ("settings", name), message, hint)

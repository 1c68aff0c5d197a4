"""Cores of FuseSoC (CAPI 2, https://fusesoc.readthedocs.io): of the targets `default`, else all file sets.

A core that another depends on is looked for in the project's folders.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.api.source import suffixes
from workbench.api.source.files import TooManyFiles, matches
from workbench.formats.documents import read_text
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Severity
from workbench.session.listed import DEPTH, Cores, Listed, Told
from workbench.session.listed import value as text_value

_HDL = (*suffixes.VERILOG, *suffixes.VERILOG_HEADERS, *suffixes.VHDL)
_CONDITION = re.compile(r"\s*(!?)\s*(\w+)\s*\?\s*\((.*)\)\s*")
_STANDARD = re.compile(r"vhdlSource-(\d+)")
_TRUE = {"tool_verilator", "target_default"}


def read_core(path: Path, listed: Listed, depth: int = 0) -> None:
    if path in listed.read:
        return
    text, problems = read_text(path, "core")
    listed.read[path] = None
    listed.problems += problems
    if text is None:
        return
    unmerged = re.sub(r"([\s{,])<<(?=\s*:)", r'\1"<<"', text)  # in targets that extend others
    marked, problems = read_marked(unmerged, str(path))
    listed.problems += problems
    if marked is None:
        return

    def told(where: tuple[int | str, ...], message: str, hint: str = "") -> None:
        listed.problems.append(marked.diagnostic(where, message, hint, Severity.WARNING))

    data = _mapping(marked.data)
    sets, targets = _mapping(data.get("filesets")), _mapping(data.get("targets"))
    if not sets:
        told((), "this core has no file sets", "The workbench reads cores of CAPI 2.")
        return
    target = _mapping(targets.get("default"))
    chosen = [name for name in _texts(target.get("filesets")) if name in sets] if target else list(sets)
    for name in chosen:
        kept = _mapping(sets[name])
        for number, wanted in enumerate(kept.get("depend") or ()):
            for vlnv in _texts([wanted]):
                if (other := _find_core(vlnv, listed)) is None:
                    told(("filesets", name, "depend", number), f"no core '{vlnv}' lies in the project: it is left out",
                         "Copy it there, or add its folder to `outside`.")  # fmt: skip
                elif depth < DEPTH:
                    read_core(other, listed, depth + 1)
        for number, entry in enumerate(kept.get("files") or ()):
            _core_file(entry, path, kept, listed, lambda *said, at=("filesets", name, "files", number): told(at, *said))
    _core_parameters(data.get("parameters"), _texts(target.get("parameters")), listed)


def _core_file(entry: Any, core: Path, of_set: Mapping[Any, Any], listed: Listed, told: Told) -> None:
    """One file of a set: a name, or a name with what it is, where that is not as the set says."""
    names, own = (list(entry), next(iter(entry.values()), None)) if isinstance(entry, dict) else ([entry], None)
    traits = {**of_set, **_mapping(own)}
    library = str(traits.get("logical_name", ""))
    for name in _texts(names):
        path = Path(os.path.normpath(core.parent / name))
        if traits.get("is_include_file"):
            folder = core.parent / str(traits.get("include_path", os.path.dirname(name)))
            if listed.folder(folder, told):
                listed.include_dirs[Path(os.path.normpath(folder))] = None
        elif path.suffix in _HDL:
            listed.source(path, told)
            if standard := _STANDARD.fullmatch(str(traits.get("file_type", ""))):
                listed.vhdl_standards.add("93" if standard[1] in ("87", "93") else "2008")
            if library:
                listed.libraries.setdefault(library, []).append(path)


def _core_parameters(declared: Any, used: Sequence[str], listed: Listed) -> None:
    """The values that a target gives to macros and to the top's parameters."""
    for text in used:
        name, given, value = text.partition("=")
        traits = _mapping(_mapping(declared).get(name))
        default = traits.get("default")
        if not given and default is None:
            continue
        found = text_value(value) if given else default
        if isinstance(found, bool) or found in ("true", "false"):
            found = int(found in (True, "true"))
        if isinstance(found, int | float | str):
            if traits.get("paramtype") == "vlogdefine":
                listed.defines.setdefault(name, found)
            elif traits.get("paramtype") == "vlogparam":
                listed.parameters.setdefault(name, found)


def _mapping(entry: Any) -> dict[Any, Any]:
    return entry if isinstance(entry, dict) else {}


def _texts(entries: Any) -> list[str]:
    """The texts of a list, without those whose condition does not hold: `tool_vivado? (ip.xci)`."""
    found: list[str] = []
    for entry in entries if isinstance(entries, list) else ():
        text = str(entry)
        while text and (match := _CONDITION.fullmatch(text)):
            text = match[3].strip() if (match[2] in _TRUE) != bool(match[1]) else ""
        found += text.split() if text else ()
    return found


def _find_core(vlnv: str, listed: Listed) -> Path | None:
    """The core of that name where the project may look, or the first that stands for it as a virtual one; of several
    versions the one asked for, or the last."""
    if not listed.cores:
        listed.cores.update(_all_cores(listed.allowed))
    *wanted, version = _named(vlnv)
    named, stand_ins = listed.cores.get(tuple(wanted), ([], []))
    if named:
        return max((told == version, told, path) for told, path in named)[2]
    return next((path for path in stand_ins if path in listed.read), stand_ins[0] if stand_ins else None)


def _all_cores(folders: Iterable[Path]) -> Cores:
    """Every core by its vendor, library and name, with those that stand for it."""
    found: Cores = defaultdict(lambda: ([], []))
    for path in _cores(folders):
        text = read_text(path, "core")[0] or ""
        for name in re.findall(r"^name\s*:\s*[\"']?([^\s\"'#]+)", text, re.MULTILINE)[:1]:
            *own, version = _named(name)
            found[tuple(own)][0].append((version, path))
        for names in re.findall(r"^virtual\s*:((?:\s*-\s*\S+)+)", text, re.MULTILINE):
            for name in re.findall(r"-\s*[\"']?([^\s\"'#]+)", names):
                found[_named(name)[:3]][1].append(path)
    return found


def _cores(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        try:
            yield from matches(folder, "**/*.core")
        except TooManyFiles:
            continue


def _named(vlnv: str) -> tuple[str, ...]:
    """Vendor, library, name and version: `>=a:b:c:1.0`, `::c:1.0`, `c-1.0` or `c`."""
    text = vlnv.lstrip("<>=^~! ")
    if ":" not in text:
        name, _, version = text.rpartition("-") if re.search(r"-\d[\w.]*$", text) else (text, "", "")
        return "", "", name, version
    return tuple([*text.split(":"), "", ""][:4])

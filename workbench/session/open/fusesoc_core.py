"""Reads cores of FuseSoC (CAPI 2, https://fusesoc.readthedocs.io): the file sets of target `default`, or all.

A core that another one depends on is searched in the project's folders.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from workbench.api.brought import brought
from workbench.api.languages import suffixes_of
from workbench.api.source.files import TooManyFiles, matches
from workbench.formats.documents import read_text
from workbench.formats.yaml_marks import Marked, read_marked, value_at
from workbench.model.diagnostic import Severity
from workbench.session.open.listed import DEPTH, Cores, Listed, Warn
from workbench.session.open.listed import value as text_value

_CONDITION = re.compile(r"(!?)\s*(\w+)\s*\?\s*\((.*)\)", re.DOTALL)  # a text without outer spaces
_CONDITIONS = 20  # within one another
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

    core = _Core(path, listed, depth, marked)
    if core.sets:
        core.read()
    else:
        core.warn((), "this core has no file sets", "The workbench reads cores of CAPI 2.")


class _Core:
    """Adds the file sets of a core's target."""

    def __init__(self, path: Path, listed: Listed, depth: int, marked: Marked) -> None:
        self._path, self._listed, self._depth, self._marked = path, listed, depth, marked
        self._data = _mapping(marked.data)
        self.sets = _mapping(self._data.get("filesets"))

    def read(self) -> None:
        target = ("targets", "default")
        has_target = _mapping(_mapping(self._data.get("targets")).get("default"))
        for name in dict.fromkeys(self._texts_at(*target, "filesets") if has_target else self.sets):
            if isinstance(self.sets.get(name), dict):
                self._dependencies(name)
                self._files(name)
            else:
                where = ("filesets", name) if name in self.sets else (*target, "filesets")
                self.warn(where, f"'{name}' is not a file set: it is ignored", "Write its files below `files:`.")
        _core_parameters(self._data.get("parameters"), self._texts_at(*target, "parameters"), self._listed)

    def warn(self, where: tuple[int | str, ...], message: str, hint: str = "") -> None:
        self._listed.problems.append(self._marked.diagnostic(where, message, hint, Severity.WARNING))

    def _dependencies(self, name: str) -> None:
        """Read the cores that a file set depends on."""
        for number, entry in enumerate(self._list_at("filesets", name, "depend")):
            at = ("filesets", name, "depend", number)
            for vlnv in self._texts(entry, at):
                if (other := _find_core(vlnv, self._listed)) is None:
                    self.warn(at, f"there is no core '{vlnv}' in the project: it is left out",
                              "Copy it there, or add its folder to `outside`.")  # fmt: skip
                elif self._depth < DEPTH:
                    read_core(other, self._listed, self._depth + 1)

    def _files(self, name: str) -> None:
        for number, entry in enumerate(self._list_at("filesets", name, "files")):
            at = ("filesets", name, "files", number)
            if entry == {}:
                self.warn(at, "this names no file: it is left out", "Write a name.")
            for key, attributes in entry.items() if isinstance(entry, dict) else ((entry, {}),):
                if not isinstance(attributes, dict):
                    self.warn(at, f"the value of '{key}' should be keys with values: it is ignored",
                              f"Write `{key}: {{file_type: verilogSource}}`.")  # fmt: skip
                traits = {**self.sets[name], **_mapping(attributes)}
                _core_files(self._texts(key, at), self._path, traits, self._listed, partial(self.warn, at))

    def _list_at(self, *where: int | str) -> list[Any]:
        """The items of a list; if there is something else, none, with a report."""
        items = value_at(self._data, where) if _has(self._data, where) else None
        if items is not None and not isinstance(items, list):
            self.warn(where, f"'{where[-1]}' should be a list: it is left out", "Begin each item with '- '.")
        return items if isinstance(items, list) else []

    def _texts_at(self, *where: int | str) -> list[str]:
        entries = enumerate(self._list_at(*where))
        return [text for number, entry in entries for text in self._texts(entry, (*where, number))]

    def _texts(self, entry: Any, where: tuple[int | str, ...]) -> list[str]:
        if isinstance(entry, dict | list) or entry is None:
            self.warn(where, "this should be a text: it is left out", "Write a name.")
            return []
        words = _words(str(entry))
        if words is None:
            self.warn(where, f"conditions are nested more than {_CONDITIONS} deep: this is left out")
        return words or []


def _has(data: Any, where: Sequence[int | str]) -> bool:
    """Whether these keys lead to a value."""
    for key in where:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True


def _core_files(names: Iterable[str], core: Path, traits: Mapping[Any, Any], listed: Listed, warn: Warn) -> None:
    """The files of a set, with the attributes of the set and of each file."""
    library = str(traits.get("logical_name") or "")
    for name in names:
        path = Path(os.path.normpath(core.parent / name))
        if traits.get("is_include_file"):
            folder = core.parent / str(traits.get("include_path") or os.path.dirname(name))
            if listed.folder(folder, warn):
                listed.include_dirs[Path(os.path.normpath(folder))] = None
        elif path.suffix in suffixes_of(brought("hdl_languages")):
            listed.source(path, warn)
            if standard := _STANDARD.fullmatch(str(traits.get("file_type", ""))):
                listed.vhdl_standards.add("93" if standard[1] in ("87", "93") else "2008")
            if library:
                listed.libraries.setdefault(library, []).append(path)


def _core_parameters(declared: Any, used: Sequence[str], listed: Listed) -> None:
    """The values that a target gives to macros and to the top's parameters."""
    for text in used:
        name, equals, value = text.partition("=")
        traits = _mapping(_mapping(declared).get(name))
        default = traits.get("default")
        if not equals and default is None:
            continue
        assigned = text_value(value) if equals else default
        if isinstance(assigned, bool) or assigned in ("true", "false"):
            assigned = int(assigned in (True, "true"))
        if isinstance(assigned, int | float | str):
            if traits.get("paramtype") == "vlogdefine":
                listed.defines.setdefault(name, assigned)
            elif traits.get("paramtype") == "vlogparam":
                listed.parameters.setdefault(name, assigned)


def _mapping(entry: Any) -> dict[Any, Any]:
    return entry if isinstance(entry, dict) else {}


def _words(text: str) -> list[str] | None:
    """The words of a text with conditions such as `tool_vivado? (ip.xci)`, without those whose condition is false; None
    if conditions are nested too deeply."""
    text = text.strip()
    for _ in range(_CONDITIONS):
        if not (match := _CONDITION.fullmatch(text)):
            return text.split()
        text = match[3].strip() if (match[2] in _TRUE) != bool(match[1]) else ""
    return None


def _find_core(vlnv: str, listed: Listed) -> Path | None:
    """The core of that name in the project's folders, or the first core that provides it as a virtual one; of several
    versions the requested or the last."""
    if not listed.cores:
        listed.cores.update(_all_cores(listed.allowed))
    *vln, version = _name_parts(vlnv)
    exact, stand_ins = listed.cores.get(tuple(vln), ([], []))
    if exact:
        return max((stated == version, stated, path) for stated, path in exact)[2]
    return next((path for path in stand_ins if path in listed.read), stand_ins[0] if stand_ins else None)


def _all_cores(folders: Iterable[Path]) -> Cores:
    """Every core by its vendor, library and name, with the cores that provide it."""
    cores: Cores = defaultdict(lambda: ([], []))
    for path in _cores(folders):
        text = read_text(path, "core")[0] or ""
        for name in re.findall(r"^name\s*:\s*[\"']?([^\s\"'#]+)", text, re.MULTILINE)[:1]:
            *vln, version = _name_parts(name)
            cores[tuple(vln)][0].append((version, path))
        for names in re.findall(r"^virtual\s*:((?:\s*-\s*\S+)+)", text, re.MULTILINE):
            for name in re.findall(r"-\s*[\"']?([^\s\"'#]+)", names):
                cores[_name_parts(name)[:3]][1].append(path)
    return cores


def _cores(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        try:
            yield from matches(folder, "**/*.core")
        except TooManyFiles:
            continue


def _name_parts(vlnv: str) -> tuple[str, ...]:
    """Vendor, library, name and version of `>=a:b:c:1.0`, `::c:1.0`, `c-1.0` or `c`."""
    text = vlnv.lstrip("<>=^~! ")
    if ":" not in text:
        name, _, version = text.rpartition("-") if re.search(r"-\d[\w.]*$", text) else (text, "", "")
        return "", "", name, version
    return tuple([*text.split(":"), "", ""][:4])

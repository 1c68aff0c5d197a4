"""Verilog of a VHDL design, as GHDL synthesises it: what is simulated, and where its streams are looked for."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from rc_workbench_plugins.vhdl.constants import kept_apart
from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.elaborate import Text, dialect
from rc_workbench_plugins.vhdl.slices import with_one_bound
from rc_workbench_plugins.vhdl.syntax import VhdlFile, plain
from workbench.api import Diagnostic, Hardware, Job, WorkbenchError
from workbench.api.unstable import VhdlStandard
from workbench.hdl import ghdl
from workbench.hdl.instances import Instance

_T = TypeVar("_T")
PART_FILE = re.compile(r".*/f(\d+)_\d+\.vhd")
_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
_INDEXED = re.compile(r"(.*)\[(-?\d+)\]")


def translated(
    design: Design, texts: Mapping[Path, bytes], unit: str, generics: Mapping[str, str], job: Job | None = None
) -> str:
    """Verilog of the unit with these texts of the design's files. WorkbenchError, with the files' own paths."""
    job = job or Job()
    job.progress(None, f"GHDL synthesises '{unit}'")
    synthesised = partial(ghdl.synthesised, run=partial(job.run, on_line=lambda line: None))
    known = {plain(generic.name) for generic in design.top.generics} if design.top is not None else set()
    values = tuple(f"{plain(name)}={value}" for name, value in generics.items() if plain(name) in known)
    last = design.top.library if design.top is not None else ""
    own = [(file, texts[file.path]) for file in design.needed]
    paths = {file.number: file.path for file in design.files}

    def netlist(files: Iterable[tuple[VhdlFile, bytes]]) -> str:
        given = [Text(file.number, file.library, text) for file, text in files]
        with TemporaryDirectory() as folder, at_their_paths(paths):
            return ghdl.kept(
                asked_of(given, design.standard, Path(folder), unit, last, values, design.root), synthesised
            )

    try:
        return netlist(apart := list(kept_apart(own)))
    except WorkbenchError as error:
        bounded = list(with_one_bound(own))
        if bounded != own and all(one.message == ghdl.VARYING_SLICE for one in error.diagnostics):
            with suppress(WorkbenchError):
                return netlist(kept_apart(bounded))
        if apart == own:
            raise
        return netlist(own)  # so that what is wrong is told of the user's text


def asked_of(
    texts: Iterable[Text], standard: VhdlStandard, folder: Path, unit: str, library: str, values: Sequence[str],
    root: Path,
) -> ghdl.Design:  # fmt: skip
    """What GHDL is asked for: a unit of a library in these texts, which are written into a folder. `root` is where
    files are that the design reads."""
    ordered = sorted(texts, key=lambda one: one.library == library)
    written = [(text.library, name) for text in ordered for name in text.write(folder)]
    libraries, names = zip(*written, strict=True)
    return ghdl.Design(names, unit.lower(), tuple(values), root, libraries, dialect(standard))


@contextmanager
def at_their_paths(paths: Mapping[int, Path]) -> Iterator[None]:
    """Diagnostics of written texts, with the files' own paths."""
    try:
        yield
    except WorkbenchError as error:
        raise WorkbenchError(*(_of_file(d, paths) for d in error.diagnostics)) from None


def _of_file(problem: Diagnostic, paths: Mapping[int, Path]) -> Diagnostic:
    part = PART_FILE.fullmatch(problem.file or "")
    return replace(problem, file=str(paths[int(part[1])])) if part else problem


def spelled(text: str, names: Iterable[str]) -> str:
    """The last module with names as they are written there: GHDL writes small letters, VHDL's names have no case."""
    before, module, last = text.rpartition("\nmodule ") if "\nmodule " in text else ("", "module ", text[7:])
    for name in dict.fromkeys(names):
        if name != name.lower() and name.isidentifier():
            last = re.sub(rf"(?<!\.)\b{name.lower()}\b", name, last)  # not the pins of instances
    return f"{before}{module}{last}"


def top_module(text: str) -> str:
    """GHDL writes the top last."""
    return _MODULE.findall(text)[-1]


def places_of(clocks: Mapping[str, _T], called: Iterable[tuple[str, Instance]], below: str) -> dict[str, _T]:
    """Clocks by where they stand in the translated design, of those by their names in VHDL; both behind `below`.
    `called` are the instances by their paths there."""
    written = {instance.path.partition(".")[2]: path.partition(".")[2] for path, instance in called}
    of_instance = {name: name.removeprefix(below).rpartition(".") for name in clocks}
    return {
        f"{below}{written.get(path, path)}{dot}{port}": clocks[name] for name, (path, dot, port) in of_instance.items()
    }


def children_called(instance: Instance, path: str) -> Iterator[tuple[str, Instance]]:
    """What an entity instantiates, by the paths that GHDL gives it below `path`."""
    names = names_called(child.path[len(instance.path) + 1 :] for child in instance.children)
    return ((f"{path}.{name}", child) for name, child in zip(names, instance.children, strict=True))


def names_called(places: Iterable[str]) -> list[str]:
    """The names that GHDL gives to what stands at these paths in an entity: labels are joined, iterations numbered in
    their order."""
    numbers: dict[str, dict[str, int]] = {}
    names = []
    for path in places:
        parts = []
        place = ""
        for part in path.split("."):
            place += f".{part}"
            indexed = _INDEXED.fullmatch(part)
            if indexed is None:
                parts.append(part.lower())
                continue
            seen = numbers.setdefault(place[: -len(part)] + indexed[1], {})
            parts.append(f"{indexed[1].lower()}_n{seen.setdefault(indexed[2], len(seen) + 1)}")
        names.append("_".join(parts))
    return names


def outside_of(hardware: Hardware) -> Iterator[str]:
    """All names that a platform has for the top's ports."""
    for clock in hardware.clocks:
        yield from (clock.pin, clock.reset)
    if hardware.interrupt:
        yield hardware.interrupt
    for port in hardware.ports:
        if signals := getattr(port, "signals", None):
            yield from (signal.name for signal in signals().values())

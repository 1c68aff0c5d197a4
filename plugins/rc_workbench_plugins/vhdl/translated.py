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
from rc_workbench_plugins.vhdl.design import Design, library_of
from rc_workbench_plugins.vhdl.elaborate import Text, dialect
from rc_workbench_plugins.vhdl.slices import with_one_bound
from rc_workbench_plugins.vhdl.syntax import VhdlFile, plain
from workbench.api import Clock, Diagnostic, Hardware, HardwareSources, Job, WorkbenchError
from workbench.api.unstable import Fifo, Stream, VhdlStandard
from workbench.hdl import ghdl
from workbench.hdl.instances import Instance
from workbench.hdl.own import streams_called
from workbench.hdl.verilog import blocks as verilog_blocks
from workbench.hdl.verilog import design as verilog
from workbench.hdl.verilog import elaborate as verilog_instances
from workbench.hdl.verilog.streams import FoundStreams, find_streams, only

PART_FILE = re.compile(r".*/f(\d+)_\d+\.vhd")
_Kind = TypeVar("_Kind", Stream, Fifo)
_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
_INDEXED = re.compile(r"(.*)\[(-?\d+)\]")


def translated(
    design: Design, texts: Mapping[Path, bytes], unit: str, generics: Mapping[str, str], job: Job | None = None
) -> str:
    """Verilog of the unit with these texts of the design's files. WorkbenchError, with the files' own paths."""
    job = job or Job()
    job.progress(None, f"GHDL synthesises '{unit}'")
    synthesised = partial(ghdl.synthesised, run=partial(job.run, on_line=lambda line: None))
    interface = design.top.interface if design.top is not None else None
    known = {plain(generic.name) for generic in interface.generics} if interface is not None else set()
    values = tuple(f"{plain(name)}={value}" for name, value in generics.items() if plain(name) in known)
    last = design.top.library if design.top is not None else ""
    own = [(file, texts[file.path]) for file in design.needed]
    paths = {file.number: file.path for file in design.files}

    def made(files: Iterable[tuple[VhdlFile, bytes]]) -> str:
        found = [Text(file.number, file.library, text) for file, text in files]
        with TemporaryDirectory() as folder, at_their_paths(paths):
            return ghdl.kept(
                asked_of(found, design.standard, Path(folder), unit, last, values, design.root), synthesised
            )

    try:
        return made(apart := list(kept_apart(own)))
    except WorkbenchError as error:
        bounded = list(with_one_bound(own))
        if bounded != own and all(one.message == ghdl.VARYING_SLICE for one in error.diagnostics):
            with suppress(WorkbenchError):
                return made(kept_apart(bounded))
        if apart == own:
            raise
        return made(own)  # so that what is wrong is told of the user's text


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
    """What is said of written texts, by the files' own paths."""
    try:
        yield
    except WorkbenchError as error:
        raise WorkbenchError(*(_of_file(d, paths) for d in error.diagnostics)) from None


def _of_file(problem: Diagnostic, paths: Mapping[int, Path]) -> Diagnostic:
    found = PART_FILE.fullmatch(problem.file or "")
    return replace(problem, file=str(paths[int(found[1])])) if found else problem


def spelled(made: str, names: Iterable[str]) -> str:
    """The last module with names as they are written there: GHDL writes small letters, VHDL's names have no case."""
    before, module, last = made.rpartition("\nmodule ") if "\nmodule " in made else ("", "module ", made[7:])
    for name in dict.fromkeys(names):
        if name != name.lower() and name.isidentifier():
            last = re.sub(rf"(?<!\.)\b{name.lower()}\b", name, last)  # not the pins of instances
    return f"{before}{module}{last}"


def top_module(made: str) -> str:
    """GHDL writes the top last."""
    return _MODULE.findall(made)[-1]


def read_translated(folder: Path, file: Path, top: str, hardware: HardwareSources) -> verilog.Design:
    """The Verilog as the Verilog plugin reads it, with what the project says of streams."""
    said = {"streams": hardware.streams, "fifos": hardware.fifos, "read_out": hardware.read_out}
    return verilog.read_design(folder, HardwareSources(sources=(str(file),), top=top, **said), {})


def places_of(made: Mapping[str, Clock], top: Instance, below: str = "") -> dict[str, Clock]:
    """Clocks by where they stand in the translated design, of those by their names in VHDL; both behind `below`."""
    written = {
        instance.path.partition(".")[2]: path.partition(".")[2] for path, instance in instances_called(top, top.path)
    }
    of_instance = {name: name.removeprefix(below).rpartition(".") for name in made}
    return {
        f"{below}{written.get(path, path)}{dot}{port}": made[name] for name, (path, dot, port) in of_instance.items()
    }


def streams_of(
    made: verilog.Design, design: Design, top: Instance, hardware: HardwareSources, outside: Iterable[str]
) -> FoundStreams:
    """The streams of the translated design, by the instances' names in VHDL, with their lines; of a library's only
    those with an end in the application."""
    blocks, _ = verilog_blocks.read_blocks(made)
    read = verilog_instances.elaborate(made, {block.key: block for block in blocks})
    found = find_streams(made, read, hardware, outside)
    names = dict(instances_called(top, top.path))
    called = {path.partition(".")[2]: instance.path for path, instance in names.items()}
    streams, fifos = streams_called(found.streams, found.fifos, top.path, called)
    by_path = {instance.path: instance for instance in names.values()}
    lines = {path: _place(design, instance) for path, instance in by_path.items()}
    streams = tuple(_at(one, lines.get(one.source or one.target, ("", 0))) for one in streams)
    modules = {path: instance.module for path, instance in by_path.items()}
    fifos = tuple(_at(replace(f, module=modules.get(f.id, f.module)), lines.get(f.id, ("", 0))) for f in fifos)
    found = replace(found, streams=streams, fifos=fifos, ends={})
    library = library_of(design, hardware)
    held = {path for path, one in by_path.items() if one.body is not None and one.body.file.path in library}
    return only(found, [n for n, s in enumerate(found.streams) if not {s.source, s.target} <= held])


def instances_called(instance: Instance, path: str) -> Iterator[tuple[str, Instance]]:
    """The instances by the paths that GHDL gives them."""
    yield path, instance
    for name, child in children_called(instance, path):
        yield from instances_called(child, name)


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


def _place(design: Design, instance: Instance) -> tuple[str, int]:
    entity = design.entity_of(instance.body) if instance.body is not None else None
    return (design.name_of(entity.file.path), entity.line) if entity is not None else ("", 0)


def _at(one: _Kind, place: tuple[str, int]) -> _Kind:
    return replace(one, file=place[0], line=place[1])


def outside_of(hardware: Hardware) -> Iterator[str]:
    """All names that a platform has for the top's ports."""
    for clock in hardware.clocks:
        yield from (clock.pin, clock.reset)
    if hardware.interrupt:
        yield hardware.interrupt
    for port in hardware.ports:
        if signals := getattr(port, "signals", None):
            yield from (signal.name for signal in signals().values())

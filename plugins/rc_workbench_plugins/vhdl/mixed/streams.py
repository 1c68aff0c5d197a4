"""The streams of a design in both languages, found in what is simulated, by the instances' names in the sources."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from rc_workbench_plugins.vhdl.mixed.joined import Joined
from rc_workbench_plugins.vhdl.mixed.linked import INNER, block_of
from rc_workbench_plugins.vhdl.translated import children_called
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api import HardwareSources
from workbench.hdl.instances import Instance
from workbench.hdl.own import streams_called
from workbench.hdl.verilog import design as verilog
from workbench.hdl.verilog.blocks import read_blocks
from workbench.hdl.verilog.elaborate import elaborate
from workbench.hdl.verilog.labels import is_nameless
from workbench.hdl.verilog.streams import FoundStreams, find_streams, only


def streams_below(
    made: verilog.Design, joined: Joined, top: Instance, hardware: HardwareSources, outside: Iterable[str],
    library: Collection[Path],
) -> FoundStreams:  # fmt: skip
    """Those of the simulated design `made`, with their lines; of a library's only those with an end in the
    application."""
    blocks, _ = read_blocks(made)
    read = elaborate(made, {block.key: block for block in blocks})
    if read is None:
        return FoundStreams()
    found = find_streams(made, read, hardware, outside)
    by_name = dict(instances_called(joined, top, read.path))
    called = {name.partition(".")[2]: instance.path for name, instance in by_name.items()}
    streams, fifos = streams_called(found.streams, found.fifos, read.path, called)
    places = {instance.path: _place(joined, instance) for instance in by_name.values()}
    modules = {instance.path: instance.module for instance in by_name.values()}
    streams = tuple(
        replace(s, file=at[0], line=at[1]) if (at := places.get(s.source or s.target)) and at[0] else s for s in streams
    )
    fifos = tuple(
        replace(f, module=modules.get(f.id, f.module), file=at[0], line=at[1])
        if (at := places.get(f.id)) and at[0] else f
        for f in fifos
    )  # fmt: skip
    idle = tuple(name for name in found.idle if not is_nameless(name, read.path, {}))
    found = replace(found, streams=streams, fifos=fifos, ends={}, labels={}, idle=idle)
    held = {i.path for i in by_name.values() if isinstance(i.body, Unit) and i.body.file.path in library}
    return only(found, [n for n, s in enumerate(found.streams) if not {s.source, s.target} <= held])


def instances_called(joined: Joined, instance: Instance, path: str) -> Iterator[tuple[str, Instance]]:
    """The instances by their paths in what is simulated."""
    yield path, instance
    part = joined.parts.get(instance.path)
    if part is not None:
        path = f"{path}.{block_of(part)}.{INNER}"
        yield path, instance
    if isinstance(instance.body, Unit):
        for name, child in children_called(instance, path):
            yield from instances_called(joined, child, name)
    else:
        for child in instance.children:
            yield from instances_called(joined, child, f"{path}{child.path[len(instance.path) :]}")


def _place(joined: Joined, instance: Instance) -> tuple[str, int]:
    """Where an entity stands; ("", 0) for a module, whose lines are those of its copy."""
    entity = joined.entities.entity_of(instance.body) if isinstance(instance.body, Unit) else None
    return (joined.name_of(entity.file.path), entity.line) if entity is not None else ("", 0)

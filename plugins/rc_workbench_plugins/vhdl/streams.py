"""The streams of a design, found in what is simulated, by the instances' names in the sources."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rc_workbench_plugins.vhdl.joined import Joined
from rc_workbench_plugins.vhdl.linked import INNER, block_of
from rc_workbench_plugins.vhdl.translated import children_called, places_of
from rc_workbench_plugins.vhdl.units import Unit
from workbench.api import HardwareSources
from workbench.api.unstable import Fifo, Stream
from workbench.hdl.derived import pll_nets
from workbench.hdl.instances import Instance
from workbench.hdl.own import streams_called
from workbench.hdl.verilog import design as verilog
from workbench.hdl.verilog.blocks import read_blocks
from workbench.hdl.verilog.elaborate import elaborate
from workbench.hdl.verilog.labels import is_nameless
from workbench.hdl.verilog.streams import FoundStreams, find_streams, only

_Kind = TypeVar("_Kind", Stream, Fifo)


def streams_below(
    simulated: verilog.Design, joined: Joined, top: Instance, hardware: HardwareSources, outside: Iterable[str],
    library: Collection[Path],
) -> FoundStreams:  # fmt: skip
    """The streams of the design `simulated`, with their lines; of a library only those with an end in the
    application."""
    blocks, _ = read_blocks(simulated)
    read = elaborate(simulated, {block.key: block for block in blocks})
    if read is None:
        return FoundStreams()
    by_name = dict(instances_called(joined, top, read.path))
    nets = {name: place for place, name in places_of(pll_nets(top), by_name.items(), "").items()}
    seen = find_streams(simulated, read, hardware, nets, outside)
    called = {name.partition(".")[2]: instance.path for name, instance in by_name.items()}
    streams, fifos = streams_called(seen.streams, seen.fifos, read.path, called)
    by_path = {instance.path: instance for instance in by_name.values()}

    def in_source(signal: str) -> str:
        """A signal below the top by its instance's name in the sources."""
        place, _, port = signal.lstrip("!").rpartition(".")
        inner = called.get(place, f"{top.path}.{place}").removeprefix(top.path).lstrip(".")
        return "!" * signal.startswith("!") + ".".join(filter(None, (inner, port)))

    streams = tuple(
        replace(
            _placed(joined, one, by_path.get(one.source or one.target)),
            pairs=tuple((in_source(valid), in_source(ready)) for valid, ready in one.pairs),
            data=tuple(map(in_source, one.data)),
        )
        for one in streams
    )
    fifos = tuple(
        replace(_placed(joined, one, by_path.get(one.id)), module=by_path[one.id].module) if one.id in by_path else one
        for one in fifos
    )
    idle = tuple(name for name in seen.idle if not is_nameless(name, read.path, {}))
    seen = replace(seen, streams=streams, fifos=fifos, ends={}, labels={}, idle=idle)
    held = {path for path, i in by_path.items() if isinstance(i.body, Unit) and i.body.file.path in library}
    return only(seen, [n for n, s in enumerate(seen.streams) if not {s.source, s.target} <= held])


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


def _placed(joined: Joined, one: _Kind, instance: Instance | None) -> _Kind:
    """At an entity's line; in a module, whose lines are those of its copy, as it is."""
    if instance is not None and instance.body is not None and not isinstance(instance.body, Unit):
        return one
    entity = joined.entities.entity_of(instance.body) if instance is not None and instance.body is not None else None
    file, line = (joined.name_of(entity.file.path), entity.line) if entity is not None else ("", 0)
    return replace(one, file=file, line=line)

"""What of a design is the application's own: all but the blocks and streams of its library (`hardware.library`)."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import replace
from pathlib import Path

from rc_workbench_plugins.verilog.blocks import SourceBlock
from rc_workbench_plugins.verilog.design import Design, source_files
from rc_workbench_plugins.verilog.instances import Instance
from rc_workbench_plugins.verilog.streams import FoundStreams, only
from workbench.api import HdlBuild
from workbench.model.application import HardwareSources
from workbench.model.streams import Fifo, Stream


def library_of(design: Design, hardware: HardwareSources) -> frozenset[Path]:
    """The sources that are not the application's own."""
    vendors = [design.primitives.file] if design.primitives else []
    return frozenset((*source_files(design.root, hardware.library)[0], *vendors))


def is_own(block: SourceBlock, library: Container[Path]) -> bool:
    return block.path not in library or bool(block.pragmas)


def own_streams(
    design: Design, found: FoundStreams, top: Instance | None, hardware: HardwareSources, library: Collection[Path]
) -> FoundStreams:
    """Those with an end that is the application's, outside of the design, pointed at or called by a name."""
    if top is None or not library:
        return found
    held = {i.path for i in top.walk() if design.place(i.body.definition.location)[0] in library}
    held -= {f"{top.path}.{name}" for name in (*hardware.names, *hardware.fifos) if name}
    pointed = {f"{top.path}.{signals.name}" for signals in hardware.streams}
    return only(
        found, [n for n, s in enumerate(found.streams) if s.id in pointed or not {s.source, s.target} <= held]
    )  # fmt: skip


def streams_called(
    streams: tuple[Stream, ...], fifos: tuple[Fifo, ...], top: str, names: Mapping[str, str]
) -> tuple[tuple[Stream, ...], tuple[Fifo, ...]]:
    """Both with their instances by the names that the project gives them."""
    called = _called(top, names)

    def port_of(id_: str) -> str:
        instance, dot, port = id_.rpartition(".")
        return f"{called.get(instance, instance)}{dot}{port}"

    by_name = tuple(
        replace(s, id=port_of(s.id), source=called.get(s.source, s.source), target=called.get(s.target, s.target))
        for s in streams
    )
    return by_name, tuple(replace(fifo, id=called.get(fifo.id, fifo.id)) for fifo in fifos)


def build_called(build: HdlBuild, top: str, names: Mapping[str, str]) -> HdlBuild:
    streams, fifos = streams_called(build.streams, build.fifos, top, names)
    varied = {_called(top, names).get(fifo, fifo): place for fifo, place in build.varied.items()}
    return replace(build, streams=streams, fifos=fifos, varied=varied)


def _called(top: str, names: Mapping[str, str]) -> dict[str, str]:
    return {f"{top}.{instance}" if instance else top: name for instance, name in names.items()}

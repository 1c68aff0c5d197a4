"""Separates the application's own Verilog from its library's."""

from collections.abc import Collection
from pathlib import Path

from workbench.hdl.instances import Instance
from workbench.hdl.verilog.design import Design, source_files
from workbench.hdl.verilog.streams import FoundStreams, only
from workbench.model.application import HardwareSources


def library_of(design: Design, hardware: HardwareSources) -> frozenset[Path]:
    """The sources that are not the application's own."""
    vendors = [design.primitives.file] if design.primitives else []
    return frozenset((*source_files(design.root, hardware.library)[0], *vendors))


def own_streams(
    design: Design, streams: FoundStreams, top: Instance | None, hardware: HardwareSources, library: Collection[Path]
) -> FoundStreams:
    """The streams with an end that is in the application, outside of the design, or named in the project."""
    if top is None or not library:
        return streams
    held = {i.path for i in top.walk() if design.place(i.body.definition.location)[0] in library}
    held -= {f"{top.path}.{name}" for name in (*hardware.names, *hardware.fifos) if name}
    pointed = {f"{top.path}.{signals.name}" for signals in hardware.streams}
    return only(
        streams, [n for n, s in enumerate(streams.streams) if s.id in pointed or not {s.source, s.target} <= held]
    )  # fmt: skip

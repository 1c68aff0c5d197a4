"""Separates the application's own blocks and streams from those of its library (`hardware.library`)."""

from collections.abc import Container, Mapping
from dataclasses import replace
from pathlib import Path

from workbench.api import HdlBuild
from workbench.hdl.blocks import SourceBlock
from workbench.model.streams import Fifo, Stream


def is_own(block: SourceBlock, library: Container[Path]) -> bool:
    return block.path not in library or bool(block.named)


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
    varied = {_called(top, names).get(fifo, fifo): place for fifo, place in build.simulation.varied.items()}
    return replace(build, streams=streams, fifos=fifos, simulation=replace(build.simulation, varied=varied))


def _called(top: str, names: Mapping[str, str]) -> dict[str, str]:
    return {f"{top}.{instance}" if instance else top: name for instance, name in names.items()}

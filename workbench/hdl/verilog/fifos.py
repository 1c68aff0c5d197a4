"""Finds a design's FIFOs and their depths."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.hdl.instances import Instance
from workbench.hdl.verilog.design import Design
from workbench.hdl.verilog.expressions import Kind
from workbench.model.streams import Fifo, Stream

_FIFO = re.compile(r"fifo|queue|buf|skid", re.IGNORECASE)


def find_fifos(
    design: Design, instances: Mapping[str, Instance], streams: Sequence[Stream], pointed: Sequence[str]
) -> Iterator[Fifo]:
    """The instances with one stream in and one out, as wide, that are called a FIFO or are pointed at. (Other blocks
    have memories between their streams, too: only their names tell them apart.)"""
    into: dict[str, list[int]] = defaultdict(list)
    out: dict[str, list[int]] = defaultdict(list)
    for number, stream in enumerate(streams):
        into[stream.target].append(number)
        out[stream.source].append(number)
    for path, instance in instances.items():
        if len(into[path]) != 1 or len(out[path]) != 1 or into[path] == out[path]:
            continue
        first, last = streams[into[path][0]], streams[out[path][0]]
        if first.bits and last.bits and first.bits != last.bits:
            continue
        if _FIFO.search(instance.module) or path.partition(".")[2] in pointed:
            file, line, _ = design.place(instance.body.definition.location)
            depth = _memory_words(instance, first.bits)
            yield Fifo(path, instance.module, into[path][0], out[path][0], depth, design.name_of(file), line)


def _memory_words(instance: Instance, bits: int) -> int:
    """The words of the largest memory below an instance that are wide enough for its data."""
    words = 0

    def look(scope: Any) -> None:
        nonlocal words
        for member in scope:
            if member.kind in (Kind.Variable, Kind.Net):
                kind = member.type.canonicalType
                if kind.isUnpackedArray and kind.hasFixedRange and kind.elementType.bitWidth >= max(bits, 1):
                    words = max(words, int(kind.fixedRange.width))
            elif member.kind == Kind.GenerateBlock and not member.isUninstantiated:
                look(member)
            elif member.kind == Kind.GenerateBlockArray:
                for entry in member.entries:
                    look(entry)

    for one in instance.walk():
        look(one.body)
    return words if words > 1 else 0

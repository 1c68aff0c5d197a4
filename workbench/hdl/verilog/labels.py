"""Names unnamed generate blocks, since the simulator confuses those of an if with those of its else."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyslang import syntax

from workbench.api.source.lines import source_bytes
from workbench.hdl.verilog.design import Design

_NAMELESS = re.compile(r"genblk\d+")


@dataclass(frozen=True)
class Label:
    """A name that a block is given in the copy of its file, right behind `offset` (bytes)."""

    path: Path
    offset: int
    name: str


def labels_for(design: Design, nameless: Mapping[str, Any]) -> dict[str, Label]:
    """Labels for generate blocks by their hierarchical path. None where something in the sources may go by the names
    that such blocks have by themselves, or a block has no `begin` in a source."""
    if any(b"genblk" in source_bytes(path) for path in design.needed):
        return {}
    labels: dict[str, Label] = {}
    for place, node in nameless.items():
        if not isinstance(node, syntax.GenerateBlockSyntax):
            continue
        path = design.place(node.begin.location)[0]
        offset = design.offset(node.begin.location, path)
        if offset is not None and path in design.sources:
            end = offset + len(node.begin.rawText.encode())
            labels[place] = Label(path, end, f"recap_gen_{offset}")
    return labels


def labelled(signal: str, top: str, labels: Mapping[str, Label]) -> str:
    """A hierarchical name below the top as the copies have it."""
    low, name = ("!", signal[1:]) if signal.startswith("!") else ("", signal)
    path, parts = top, []
    for part in name.split("."):
        path += f".{part}"
        parts.append(labels[path].name if path in labels else part)
    return low + ".".join(parts)


def is_nameless(signal: str, top: str, labels: Mapping[str, Label]) -> bool:
    """Whether a name goes through a block that has none, and is given none. (Those of loops have an index.)"""
    return any(_NAMELESS.fullmatch(part) for part in labelled(signal, top, labels).lstrip("!").split("."))

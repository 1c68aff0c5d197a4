"""Slices that GHDL cannot synthesise, as it can: it must see that both bounds have one varying part, and does not see
that of `v(to_integer(a & "000") + 7 downto to_integer(a & "000")) <= x;`.

A variable of the process gets the lower bound before the assignment, and both bounds are written by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from rc_workbench_plugins.verilog.rewrite import Edits
from rc_workbench_plugins.vhdl.constants import declares_at
from rc_workbench_plugins.vhdl.elaborate import PART
from rc_workbench_plugins.vhdl.syntax import VhdlFile, child, matches, text_of, with_data, without_comments

_ASSIGNED = "(simple_waveform_assignment) @a (simple_variable_assignment) @a"
_IMPURE = re.compile(rb"\bimpure\b", re.IGNORECASE)
_SLICE = re.compile(
    r"(?P<of>\w+) ?\( ?(?P<low>.+?) ?\+ ?(?P<above>\d+) (?i:downto) (?P=low) ?\)"
)  # of one blank each; 'a' and 'A' differ
_BOUND = "recap_low"


def with_one_bound(texts: Iterable[tuple[VhdlFile, bytes]]) -> Iterator[tuple[VhdlFile, bytes]]:
    """A design's files with their texts, each line where it was. A design with impure functions stays as it is: a bound
    that is computed once may not be what it is when computed twice."""
    given = list(texts)
    if any(_IMPURE.search(text) for _, text in given):
        yield from given
        return
    for file, text in given:
        yield file, PART.join(_rewritten(with_data(file, part)) for part in text.split(PART))


def _rewritten(file: VhdlFile) -> bytes:
    edits = Edits(file.path)
    for process in matches(file.tree.root_node, "(process_statement) @p"):
        declared = ""
        for number, statement in enumerate(matches(process, _ASSIGNED)):
            target = child(statement, "name")
            slice_ = _SLICE.fullmatch(" ".join(without_comments(text_of(target)).split()))
            if target is None or slice_ is None or _in_subprogram(statement, process):
                continue
            name = f"{_BOUND}_{number}"
            declared += f" variable {name} : integer;"
            edits.insert(statement.start_byte, f"{name} := {slice_['low']}; ")
            bounds = f"{slice_['of']}({name} + {slice_['above']} downto {name})"
            edits.replace(target.start_byte, target.end_byte, bounds + "\n" * text_of(target).count("\n"))
        if declared:
            edits.insert(declares_at(process), f"{declared} ")
    return edits.apply(file.data)


def _in_subprogram(statement: Node, process: Node) -> bool:
    """Whether it is one of a subprogram within the process, which does not see the process's variables as its own."""
    node = statement.parent
    while node is not None and node != process:
        if node.type == "subprogram_definition":
            return True
        node = node.parent
    return False

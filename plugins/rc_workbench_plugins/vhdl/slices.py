"""Slices that GHDL cannot synthesise, as it can: it must see that both bounds have one varying part, and does not see
that of `v(to_integer(a & "000") + 7 downto to_integer(a & "000"))`.

The lower bound is computed once, and both bounds are written by it: in a process or subprogram by a variable, before
the statement; for a concurrent assignment by a signal, in a block around it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from rc_workbench_plugins.vhdl.constants import declares_at
from rc_workbench_plugins.vhdl.elaborate import PART
from rc_workbench_plugins.vhdl.syntax import VhdlFile, child, matches, text_of, with_data, without_comments
from workbench.hdl.edits import Edits

_IMPURE = re.compile(rb"\bimpure\b", re.IGNORECASE)
#: Of one blank each; 'a' and 'A' differ. A bound that calls nothing is seen to be the same.
_BOUNDS = re.compile(r"(?P<low>.+\(.+\)(?: ?[-+*] ?\w+)*) ?(?P<above>[-+].+) (?i:downto) (?P=low)")
#: What may stand behind the statement that computes the bound. (A loop asks its condition again.)
_SEQUENTIAL = (
    "simple_waveform_assignment", "simple_variable_assignment", "conditional_waveform_assignment", "return_statement",
    "conditional_variable_assignment", "selected_waveform_assignment", "selected_variable_assignment",
    "conditional_signal_assignment", "procedure_call_statement", "if_statement_block",
)  # fmt: skip
_CONCURRENT = re.compile(r"concurrent_\w+_signal_assignment")
_SCOPES = ("process_statement", "subprogram_definition")
_BOUND, _AROUND = "recap_low", "recap_slice"


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
    declared: dict[int, str] = defaultdict(str)  # by where it is declared
    around: dict[int, tuple[Node, list[tuple[str, str]]]] = {}  # by where the statement begins
    for number, node in enumerate(matches(file.tree.root_node, "(simple_range) @r")):
        bounds = _BOUNDS.fullmatch(" ".join(without_comments(text_of(node)).split()))
        statement = _statement(node) if bounds else None
        if bounds is None or statement is None:
            continue
        name = f"{_BOUND}_{number}"
        if _CONCURRENT.fullmatch(statement.type):
            around.setdefault(statement.start_byte, (statement, []))[1].append((name, bounds["low"]))
        elif (place := _declares_at(statement)) is not None:
            declared[place] += f" variable {name} : integer;"
            edits.insert(statement.start_byte, f"{name} := {bounds['low']}; ")
        else:
            continue
        written = f"{name} {bounds['above']} downto {name}"
        edits.replace(node.start_byte, node.end_byte, written + "\n" * text_of(node).count("\n"))
    for place, variables in declared.items():
        edits.insert(place, f"{variables} ")
    for number, (statement, bound) in enumerate(around.values()):
        signals = " ".join(f"signal {name} : integer;" for name, _ in bound)
        computed = " ".join(f"{name} <= {low};" for name, low in bound)
        edits.insert(statement.start_byte, f"{_AROUND}_{number} : block {signals} begin {computed} ")
        edits.insert(statement.end_byte, " end block;")
    return edits.apply(file.data)


def _statement(node: Node) -> Node | None:
    """The statement that a range stands in; None where its bounds are no values of that alone."""
    above: Node | None = node.parent
    while above is not None and above.type not in (*_SEQUENTIAL, *_SCOPES):
        if _CONCURRENT.fullmatch(above.type):
            return above
        above = None if above.type.endswith(("_body", "_head")) or "loop" in above.type else above.parent
    return above if above is not None and above.type in _SEQUENTIAL else None


def _declares_at(statement: Node) -> int | None:
    """Where the process or subprogram around a statement declares what only it has."""
    scope = statement.parent
    while scope is not None and scope.type not in _SCOPES:
        scope = scope.parent
    if scope is None or scope.type == "process_statement":
        return declares_at(scope) if scope is not None else None
    begins = child(scope, "sequential_block")
    return begins.start_byte if begins is not None else None

"""The assertions and branches of a design that are counted, for every hardware language."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeVar

from workbench.api.instrument.checker import checker
from workbench.hdl.blocks import SourceBlock
from workbench.hdl.metrics import ClockedRegister as ClockedRegister
from workbench.hdl.metrics import Mark, MetricBlock
from workbench.model import properties as properties
from workbench.model import sequences as sequences
from workbench.model.custom import IMPLIED as IMPLIED
from workbench.model.custom import PlacedMetric
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.properties import Property as Property
from workbench.model.properties import Temporal as Temporal
from workbench.model.properties import temporal as temporal
from workbench.model.sequences import ANY as ANY
from workbench.model.sequences import MOST_STATES
from workbench.model.sequences import TooLarge as TooLarge

#: The largest number of cycles in an assertion.
MOST_DELAY = 256
_MOST_LETTERS = 60

ALONE = "it is in the only block of a generate without begin and end: add begin and end"
IN_LOOP = "it is in a loop"
IN_MACRO = "it is in a macro, or in an included file"
IN_RESET = "it is in an asynchronous reset, whose cycles are not counted"
TOO_LARGE = f"it takes more than {MOST_STATES} registers: ask for fewer cycles, or wait for one event at a time"
NO_CLOCK = "its block does not run on one clock edge: it would be checked at each change, not once a cycle"
NOT_AT_EDGE = "it is outside of the branch for its clock's edge"
NOT_CLEAR = "they have no clock of their own, and their module has no clocked block, or blocks on several clocks"

#: What has a name already: its module, and the name in small letters.
Places = Set[tuple[str, str]]
M = TypeVar("M", bound=MetricBlock)
B = TypeVar("B", bound=SourceBlock)


class Unwatched(Exception):
    """Why an assertion is not watched."""


def checked(temporal: Temporal) -> Temporal:
    """An assertion that can be watched. Raises Unwatched."""
    try:
        checker(temporal)
    except TooLarge:
        raise Unwatched(TOO_LARGE) from None
    return temporal


@dataclass
class AssertionBlocks:
    """What was found so far, and what is wrong. `taken` are names of blocks."""

    taken: Places
    blocks: list[MetricBlock] = field(default_factory=list)
    wrong: list[Diagnostic] = field(default_factory=list)
    signed: set[tuple[int, int]] | None = None  # where Verilog asks for a signed value of a cycle before, once known
    _names: set[tuple[str, str]] = field(default_factory=set)

    def name(self, module: str, wanted: str, line: int) -> str:
        """A name that nothing else in the module has: as wanted, or with its line."""
        tries = (wanted, f"{wanted}_line_{line}", *(f"{wanted}_line_{line}_{n}" for n in range(2, 1000)))
        free = next(one for one in tries if (module, one.lower()) not in self._names | self.taken)
        self._names.add((module, free.lower()))
        return free

    def not_watched(self, why: str, file: str, line: int, column: int) -> None:
        message = f"this assertion is not watched: {why}"
        self.wrong.append(Diagnostic(message, "", Severity.WARNING, file, line, column))

    def not_counted(self, what: str, why: str, file: str, line: int, column: int) -> None:
        self.wrong.append(Diagnostic(f"{what} are not counted: {why}", "", Severity.NOTE, file, line, column))


def beside(
    kind: type[M], anchor: SourceBlock, placed: PlacedMetric, offset: int, at: int, marks: tuple[Mark, ...] = (),
    node: Any = None, first: bool = False,
) -> M:  # fmt: skip
    """What is counted, of that `kind`, by the clock of `anchor`: it stands at `offset` of its file, and what leads it
    up goes to `at`. The marks are in that block, or in another, a `node` without a clock; `first`: it begins
    with them."""
    where = anchor.node if node is None else node
    return kind(
        (str(anchor.path), offset), anchor.path, anchor.module, placed.metric.name, placed.metric.kind.value, where,
        anchor.clock, anchor.edge, int(first), placed.line, placed.line, placed=placed, anchor=anchor, marks=marks,
        at=at,
    )  # fmt: skip


def only_clock(blocks: Sequence[B]) -> B | None:
    """The first of some blocks, where all of them have its clock."""
    usable = [block for block in blocks if block.clock and not block.why_not]
    clocks = {(block.clock.lower(), block.edge) for block in usable}
    return usable[0] if len(clocks) == 1 else None


def arm_name(kind: str, label: str) -> str:
    """What a branch is called: its kind, and what it is taken for."""
    words = kind if kind in ("else", "default") else f"{kind} {label}".strip()
    return words if len(words) <= _MOST_LETTERS else words[: _MOST_LETTERS - 3] + "..."


def unclocked(text: str) -> bool:
    """Whether an always block in Verilog waits for changes, and for no edge."""
    head = re.match(r"\s*always\s*@\s*(\*|\(\s*\*\s*\)|\(([^)]*)\))", text)
    return head is not None and not re.search(r"\b(posedge|negedge)\b", head[2] or "")

"""The clocked blocks of a source: their branches, and the pragmas before each first statement."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.api.instrument.probes import state_bits
from workbench.model.blocks import State
from workbench.model.diagnostic import Diagnostic
from workbench.model.pragma import PlacedPragma, Pragma


@dataclass(frozen=True)
class Arm:
    """A branch. A pragma belongs to it when it stands in `region`: after what opens it, before its first statement.

    `in_reset` is true for the arms of an asynchronous reset and what stands within them.
    """

    kind: str
    label: str
    statement: Any
    region: tuple[int, int]
    line: int
    end_line: int
    pragma_line: int
    indent: int
    in_reset: bool
    pragmas: tuple[PlacedPragma, ...] = ()
    pragma_column: int = 0


@dataclass(frozen=True)
class SourceBlock:
    """`key` is its file and the byte offset at which it begins. `resets` counts its asynchronous resets."""

    key: tuple[str, int]
    path: Path
    module: str
    label: str
    kind: str
    node: Any
    clock: str
    edge: str
    resets: int
    line: int
    end_line: int
    arms: tuple[Arm, ...] = ()
    why_not: str = ""

    @property
    def pragmas(self) -> tuple[PlacedPragma, ...]:
        return tuple(p for arm in self.arms for p in arm.pragmas)

    @property
    def states(self) -> tuple[PlacedPragma, ...]:
        """One pragma for each state from 1 on: pragmas that say the same share a state."""
        distinct: dict[object, PlacedPragma] = {}
        for placed in self.pragmas:
            distinct.setdefault(meaning(placed.pragma), placed)
        return tuple(distinct.values())

    @property
    def named(self) -> tuple[State, ...]:
        """What it is known to do, in the run's terms: the states from 1 on."""
        return tuple(
            State(number, one.pragma.name, one.pragma.category, one.pragma.reasons, one.pragma.targets,
                  one.pragma.messages, one.file, one.line)
            for number, one in enumerate(self.states, 1)
        )  # fmt: skip

    @property
    def own_bits(self) -> int:
        """How many bits tell it in the design."""
        return state_bits(len(self.states) + 1)


def meaning(pragma: Pragma) -> tuple[object, ...]:
    """What makes two pragmas the same state: everything but the condition."""
    return (pragma.name, pragma.category, pragma.reasons, pragma.targets, pragma.messages)


def check_names(block: SourceBlock) -> Iterator[Diagnostic]:
    seen: dict[str, PlacedPragma] = {}
    for placed in block.states:
        other = seen.setdefault(placed.pragma.name, placed)
        if other is not placed:
            yield placed.diagnostic(
                f"the name '{placed.pragma.name}' is used for two different states of one block (the other in line "
                f"{other.line})",
                "Give them different names.",
            )
    for arm in block.arms:
        for placed in arm.pragmas if arm.in_reset else ():
            if placed.pragma.condition:
                yield placed.diagnostic(
                    "a pragma in the arm of an asynchronous reset cannot have a condition, and is not used",
                    "Leave the condition out: cycles in reset are not counted anyway.",
                )

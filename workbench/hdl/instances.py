"""The elaborated hierarchy, whatever its language: every instance, and every clocked block in it with its clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.hdl.blocks import SourceBlock

Key = tuple[str, int]
GATE, DIVIDER = "a gate", "a divider"


@dataclass(frozen=True)
class Loop:
    """A generate loop around something (`name` is its genvar), or an instance array (`name` is '')."""

    name: str
    index: int


@dataclass(frozen=True)
class BlockUse:
    """A clocked block in one instance. `root_clock` is the top level's port that drives its clock, or ''; `reset` the
    one that its first condition asks for, and whether it is low then; `scope` is slang's, in which the block stands."""

    path: str
    source: SourceBlock
    loops: tuple[Loop, ...]
    root_clock: str
    scope: Any
    reset: tuple[str, bool] | None = None
    body: Any = None  # slang's statement
    clock_turned: bool = False  # whether it runs on the inverse of that clock
    clock_maker: str = ""  # what makes its own clock of that one; '' where it is the same
    clock_net: str = ""  # which that is, among the clocks that are made


@dataclass(frozen=True)
class Origin:
    """The top's inputs that a clock depends on with no register between, `maker` the vendor's primitive on its way (""
    for none), and whether it is a register's output: the inputs are then those that clock that. `net` is what tells
    it from other clocks, "" where that is not known."""

    inputs: frozenset[str] = frozenset()
    maker: str = ""
    divided: bool = False
    net: str = ""

    @property
    def clock_maker(self) -> str:
        return self.maker or (DIVIDER if self.divided else GATE)


@dataclass
class Instance:
    """An elaborated instance. `key` is where its instantiation stands in the parent; `loops` are those around it. Of
    what another language defines, `inputs` are the top's inputs behind its own, and whether inverted, `clock_origins`
    what the other clocks behind them are made of. `regions` are the parts of its body that are elaborated, in VHDL:
    each with its path and the loops around it."""

    path: str
    module: str
    key: Key
    loops: tuple[Loop, ...]
    array: tuple[int, int] | None = None  # left and right bound of the instance array it belongs to
    ports: int = 0
    node: Any = None  # the instantiation's syntax
    body: Any = None  # slang's
    blocks: list[BlockUse] = field(default_factory=list)
    metrics: list[BlockUse] = field(default_factory=list)
    children: list[Instance] = field(default_factory=list)
    inputs: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    clock_origins: Mapping[str, Origin] = field(default_factory=dict)
    regions: list[tuple[Any, str, tuple[Loop, ...]]] = field(default_factory=list)

    @property
    def observed(self) -> list[BlockUse]:
        """The blocks, and the metrics beside them."""
        return [*self.blocks, *self.metrics]

    def walk(self) -> Iterator[Instance]:
        yield self
        for child in self.children:
            yield from child.walk()


def uses_in(top: Instance | None) -> Iterator[BlockUse]:
    """The clocked blocks in an instance and all below it, none where there is none."""
    for instance in top.walk() if top is not None else ():
        yield from instance.blocks


def keys_in(top: Instance | None) -> set[Key]:
    """Where these stand in the sources."""
    return {use.source.key for use in uses_in(top)}

"""The application as one graph: blocks that run in parallel, and the messages between them.

A block is a host thread, a VHDL process, a Verilog always block or a streaming block
(ReCAP 2011, section 4): one kind of node, with a side, a clock and states.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from workbench.model.custom import FAILED, MetricKind
from workbench.model.pragma import Category

#: What pydantic asks of a field, as the metadata that it looks for; importing it for that would cost every start.
COUNT = {"ge": 0, "lt": 1 << 63}
#: What begins the names in one of several FPGAs.
_PLACE = re.compile(r"(?:rank\[\d+\]\.)?(?:card\[\d+\]\.|\w+:)|rank\[\d+\]\.")
_RANK = re.compile(r"(?:host\.)?(rank\[\d+\])\.")
#: The kind of block that an observed port is, and what its states are drawn as.
PORT = "port"
#: What the name of a memory port's node in the block graph begins with.
MEMORY = "memory:"
_DRAWN = {"moving": Category.SEND, "waiting": Category.WAIT_RECV, "held": Category.WAIT_SEND}


def below_top(instance: str) -> str:
    """An instance's name without the top's, behind its FPGA's where there are several: card[1].fifo of
    card[1].top.fifo, left:fifo of left:top.fifo."""
    place = fpga_of(instance)
    name = instance.removeprefix(place)
    return place + (name.partition(".")[2] or name)


def fpga_of(name: str) -> str:
    """What a name begins with in one of several FPGAs: left: of left:top.fifo, card[1]. of card[1].top.fifo."""
    return match[0] if (match := _PLACE.match(name)) else ""


def rank_of(name: str) -> str:
    """The process that a block belongs to, on the host or in one of its FPGAs, where there are several: rank[1]."""
    return match[1] if (match := _RANK.match(name)) else ""


def within_rank(name: str) -> str:
    """What is in an FPGA without the rank that the FPGA is of: top.core of rank[1].top.core."""
    return re.sub(r"^rank\[\d+\]\.", "", name)


def as_target(name: str) -> str:
    """A block or an instance as pragmas name it: left.top.fifo of left:top.fifo."""
    return name.replace(":", ".")


class Side(StrEnum):
    """Where a block runs."""

    HOST = "host"
    FPGA = "fpga"


#: The last states of every host block of a run whose threads waited for one another: it waits for another thread or
#: for a moment, or is ready while others have the cores.
WAITING, QUEUED = "waiting", "queued"


@dataclass(frozen=True)
class State:
    """A state of a block. Index 0 is always `unclassified`, with category None, as all states of a port's are.

    On the host a state belongs to a call site (or is the `work` between calls); in hardware to a branch.
    """

    index: int = field(metadata={"description": "its number in the block; 0 is `unclassified`"})
    name: str = field(metadata={"description": "the pragma's name, or the call's"})
    category: Category | None = field(
        default=None, metadata={"description": "its category; none for `unclassified` and for ports"}
    )
    reasons: tuple[str, ...] = field(default=(), metadata={"description": "the pragma's reason"})
    targets: tuple[str, ...] = field(default=(), metadata={"description": "the other blocks that it names as targets"})
    messages: tuple[str, ...] = field(default=(), metadata={"description": "which of several messages"})
    file: str | None = field(default=None, metadata={"description": "the source"})
    line: int | None = field(default=None, metadata={"description": "from 1"})
    depends: tuple[str, ...] = field(
        default=(),
        metadata={
            "description": "of a hardware state that waits, or may wait (it has no pragma, or its block has no pragma "
            "of a wait): the ids of all other blocks whose registers may end it, in any language; $CPU: signals from "
            "outside the design. Empty: the block itself, or not all are known",
            "examples": [["pdf2d_top.core[3].ctrl", "$CPU"]],
        },
    )


@dataclass(frozen=True)
class Block:
    """One block.

    `id` is hierarchical and unique in a run: `host.main`, `pdf2d_top.core[3].ctrl`; of several ranks
    `host.rank[1].main`, `rank[1].pdf2d_top.core[3].ctrl`.
    `component` is the instance (or host program) that contains it: `pdf2d_top.core[3]`.
    `group` is the id with every index starred (`pdf2d_top.core[*].ctrl`): replicas share it; a block without
    replicas has its own id there.
    """

    id: str = field(metadata={"description": "unique in the run, by hierarchy: pdf2d_top.core[3].ctrl"})
    side: Side = field(metadata={"description": "on the host or in the FPGA"})
    component: str = field(metadata={"description": "the instance or host program that contains it"})
    kind: str = field(metadata={"description": "its kind in its language"})
    group: str = field(metadata={"description": "the id with every index starred: replicas share it"})
    states: tuple[State, ...] = field(metadata={"min_length": 1, "description": "its states, in order"})
    file: str | None = field(default=None, metadata={"description": "the source"})
    line: int | None = field(default=None, metadata={"description": "from 1"})
    clock: str | None = field(default=None, metadata={"description": "its clock's name; none on the host"})

    @property
    def works(self) -> bool:
        """Whether it does the application's work, and is no port or metric that is watched beside it."""
        return self.kind != PORT and not self.is_metric

    @property
    def is_metric(self) -> bool:
        """Whether it is a metric of one's own in hardware: its states say what was the case in a cycle."""
        return self.side is Side.FPGA and self.kind in set(MetricKind)

    def drawn_as(self, state: State) -> Category | None:
        """The category that one of its states has in pictures: its own, or what a port's states amount to."""
        if self.kind == MetricKind.ASSERT:
            return Category.OVERHEAD if state.index == FAILED else None
        if self.is_metric:
            return Category.OVERHEAD if state.index else None
        return _DRAWN.get(state.name) if self.kind == PORT else state.category


@dataclass(frozen=True)
class Edge:
    """Messages from one block to another, by message id, or a stream's words. `count` and `bytes` are None where no run
    shows them. A stream also has its `rate` in words, and the share of cycles, 0 to 1, in which it was `stalled`:
    offered and not taken.
    """

    source: str
    target: str
    message: str
    reason: str | None = None
    count: int | None = None
    bytes: int | None = None
    time_s: float | None = None
    rate: str = ""
    stalled: float = 0.0


@dataclass(frozen=True)
class BlockGraph:
    blocks: tuple[Block, ...]
    edges: tuple[Edge, ...]

    def block(self, block_id: str) -> Block:
        return next(b for b in self.blocks if b.id == block_id)


def short_labels(blocks: Sequence[Block]) -> dict[str, str]:
    """Names without the top level, and without the always block's label where its instance has just one block. Those of
    several ranks begin with the rank."""
    per_component: dict[str, int] = {}
    for block in blocks:
        per_component[block.component] = per_component.get(block.component, 0) + 1
    labels = {}
    for block in blocks:
        component, _, rest = within_rank(block.component).partition(".")
        local = block.id[len(block.component) + 1 :]
        if not rest:
            label = local or component
        elif per_component[block.component] == 1:
            label = rest
        else:
            label = f"{rest}.{local}"
        labels[block.id] = f"{rank}.{label}" if (rank := rank_of(block.id)) else label
    return labels

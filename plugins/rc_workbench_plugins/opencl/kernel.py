"""An OpenCL kernel as plain frozen data: what it is (read from LLVM IR), its hierarchy, and what a launch of it did.

Three parts, each named by the others with plain strings:

    Kernel     arguments, variables and basic blocks of instructions         (compile.py)
    Node       the hierarchy of Fig. 5: sequences, branches, switches, loops over leaves   (hierarchy.py)
    Profile    executions, trips and strides of one launch                   (interpret.py)

A block is named in `Node` and `Profile` by `BasicBlock.name`, a loop by `Loop.id`, an access by `Access.id`. Lines
count from 1 in the kernel's own file; 0 is "no line". Sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property


class Space(StrEnum):
    """Where a pointer points: OpenCL's address spaces."""

    PRIVATE = "private"
    GLOBAL = "global"
    CONSTANT = "constant"
    LOCAL = "local"


class Kind(StrEnum):
    INT = "int"
    FLOAT = "float"
    POINTER = "pointer"
    VOID = "void"


@dataclass(frozen=True)
class Type:
    """The type of a value: `bits` is one element's width, `lanes` above 1 a vector's length; `space` is a pointer's."""

    kind: Kind
    bits: int = 0
    lanes: int = 1
    space: Space | None = None

    @property
    def bytes(self) -> int:
        return self.lanes * ((self.bits + 7) // 8)


VOID = Type(Kind.VOID)


@dataclass(frozen=True)
class Constant:
    """A literal operand: one number for each lane; an undefined one is zero."""

    type: Type
    values: tuple[int | float, ...]


#: What an instruction reads: a value by name ("%x" of an argument or an instruction, "@x" of a variable), or a literal.
Operand = str | Constant


class Way(StrEnum):
    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


@dataclass(frozen=True)
class Access:
    """A memory operation of one instruction.

    `bytes` is what one work item moves by it (a vector's whole), or of a group's copy one element. `object` names
    the argument or variable that is addressed, as the source says it; "" where several may be.
    """

    id: str  #: "a1", "a2", ... in the order of the kernel's blocks
    way: Way
    space: Space
    bytes: int
    object: str
    line: int


@dataclass(frozen=True)
class Instruction:
    """One LLVM instruction, by LLVM's opcode.

    `variant` is what the opcode leaves open: the predicate of `icmp` and `fcmp`, the operation of `atomicrmw`, the
    plain name of a called built-in ("sqrt", "get_global_id", "barrier", "smax").
    `numbers`: of `getelementptr` a constant offset and then the bytes by which each further operand counts; of `alloca`
    the offset in the work item's private memory; of `shufflevector` the mask (-1 undefined); of `switch` the cases'
    values.
    `labels`: of `phi` the blocks that its operands come from.
    """

    opcode: str
    type: Type = VOID
    operands: tuple[Operand, ...] = ()
    result: str = ""  #: the value's name, "%x"; "" where it has none
    line: int = 0
    column: int = 0
    variant: str = ""
    numbers: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    operand_types: tuple[Type, ...] = ()
    unsigned: bool = False  #: whether a built-in's first parameter is
    align: int = 0  #: of a memory operation, what the address is a multiple of
    accesses: tuple[Access, ...] = ()  #: of a copy what it writes, then what it reads


@dataclass(frozen=True)
class BasicBlock:
    """A basic block. The last instruction ends it (`br`, `switch`, `ret`); `successors` are in its order: of a
    conditional `br` the taken one first, of a `switch` the default first."""

    name: str
    instructions: tuple[Instruction, ...]
    successors: tuple[str, ...]

    @property
    def accesses(self) -> tuple[Access, ...]:
        return tuple(access for i in self.instructions for access in i.accesses)


@dataclass(frozen=True)
class Argument:
    """`type_name` as OpenCL C says it ("float*"), or the source where the type is its own ("Place*"); `element_bytes`
    is what a pointer's elements take (0: unknown).

    A pointer in local space is given a size at launch, one in global or constant space a buffer, all else a value. One
    in private space is a structure by value: `fields` are its numbers, each with its offset, `private_at` where it
    lies in a work item's private memory.
    """

    name: str
    type: Type
    type_name: str
    element_bytes: int = 0
    constant: bool = False  #: declared const: only read
    fields: tuple[tuple[int, Type], ...] = ()
    private_at: int = 0

    @property
    def by_value(self) -> bool:
        return self.type.space is Space.PRIVATE


@dataclass(frozen=True)
class Variable:
    """A local array, or a table in constant space; `initial` are its bytes, one a number, None where it has none."""

    name: str  #: as operands say it, "@tile"
    space: Space
    bytes: int
    align: int
    initial: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Kernel:
    """`blocks` are in reverse postorder: the entry first, and every block after those it is reached from, but in loops.

    `attributes` are what the source asks of compilers, with the numbers given ("reqd_work_group_size": (64, 1, 1),
    "num_simd_work_items": (4,)). By a loop's header block, `unrolls` is the factor that `#pragma unroll` gives it
    (0: fully), and `loop_lines` where the source's loop begins and ends.
    """

    name: str
    file: str
    line: int
    arguments: tuple[Argument, ...]
    variables: tuple[Variable, ...]
    blocks: tuple[BasicBlock, ...]
    private_bytes: int = 0  #: of each work item's arrays that are no plain values
    attributes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    unrolls: Mapping[str, int] = field(default_factory=dict)
    loop_lines: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def block(self) -> Mapping[str, BasicBlock]:
        return {block.name: block for block in self.blocks}

    @property
    def accesses(self) -> tuple[Access, ...]:
        return tuple(access for block in self.blocks for access in block.accesses)

    @property
    def local_bytes(self) -> int:
        """Bytes of local arrays that the kernel declares; arguments in local space come at launch."""
        return sum(v.bytes for v in self.variables if v.space is Space.LOCAL)


@dataclass(frozen=True)
class Leaf:
    """A basic block."""

    id: str  #: the block's name
    lines: tuple[int, int]

    @property
    def children(self) -> tuple[Node, ...]:
        return ()


@dataclass(frozen=True)
class Sequence:
    """Nodes that one work item passes one after another."""

    id: str
    lines: tuple[int, int]
    children: tuple[Node, ...]


@dataclass(frozen=True)
class Branch:
    """An if: the arms of the condition at the end of `condition`, a leaf that stands before it. An arm may be an empty
    sequence. What both arms reach before they join stands in the first."""

    id: str
    lines: tuple[int, int]
    condition: str
    children: tuple[Node, ...]  #: where it holds, where it does not


@dataclass(frozen=True)
class Switch:
    """A branch with an arm for each distinct target, the default first."""

    id: str
    lines: tuple[int, int]
    condition: str
    children: tuple[Node, ...]


@dataclass(frozen=True)
class Loop:
    """A loop, after rotation: the header is the first block of the body, and the test stands at its end."""

    id: str  #: "L1", "L2", ... by where they begin in the source
    lines: tuple[int, int]
    header: str
    children: tuple[Node, ...]
    unroll: int | None = None  #: as `#pragma unroll` asks; 0 is fully


Node = Leaf | Sequence | Branch | Switch | Loop


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, parents first."""
    yield node
    for child in node.children:
        yield from walk(child)


def leaves(node: Node) -> tuple[Leaf, ...]:
    return tuple(n for n in walk(node) if isinstance(n, Leaf))


def enclosing(root: Node) -> dict[str, tuple[Loop, ...]]:
    """The loops around each block and each loop (by id), the outermost first."""
    loops_around: dict[str, tuple[Loop, ...]] = {}

    def into(node: Node, around: tuple[Loop, ...]) -> None:
        if isinstance(node, Leaf | Loop):
            loops_around[node.id] = around
        for child in node.children:
            into(child, (*around, node) if isinstance(node, Loop) else around)

    into(root, ())
    return loops_around


@dataclass(frozen=True)
class Trips:
    """How often a loop's body was begun, for each time that a work item came to it. What is a part of the loop's own
    test is no body: where the last test fails, its block was executed once more. `counts` says how many times each
    number of iterations came; it is empty if there are too many."""

    entries: int
    iterations: int
    least: int
    most: int
    counts: Mapping[int, int] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        return self.iterations / self.entries if self.entries else 0.0


@dataclass(frozen=True)
class Stride:
    """By how much an access' address moves from one work item, or one iteration, to the next.

    `bytes` is the commonest step and `share` how many of the compared `pairs` make it; None where nothing could be
    compared. 0 is "the same address".
    """

    bytes: int | None
    share: float
    pairs: int


@dataclass(frozen=True)
class AccessProfile:
    """`work_items`: from a work item to the next along get_global_id(0), in the same iteration of every loop; `rows`:
    along get_global_id(1).
    `loops`: by the enclosing loop's id, from one iteration of it to the next, with those of all others held. Of a
    group's copy `executions` are the elements that it moves, and `work_items` the step from one to the next. `first` is
    the address of the first work item's first iteration, to be compared with other accesses'."""

    executions: int
    work_items: Stride
    loops: Mapping[str, Stride]
    rows: Stride = Stride(None, 0.0, 0)
    first: int | None = None


@dataclass(frozen=True)
class Profile:
    """What a launch did. All counts are sums over the work items that ran, which are those of `groups_sampled` of
    `groups_launched` work groups; strides are seen on some of them."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    groups_launched: int
    groups_sampled: int
    work_items: int
    blocks: Mapping[str, int]
    edges: Mapping[tuple[str, str], int]
    loops: Mapping[str, Trips]
    accesses: Mapping[str, AccessProfile]

    @property
    def sampled(self) -> bool:
        """Whether less than the whole launch ran."""
        return self.groups_sampled < self.groups_launched

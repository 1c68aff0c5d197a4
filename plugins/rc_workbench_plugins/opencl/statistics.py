"""What the model reads of a kernel: each block's critical path and its accesses of global memory, each loop's trips.

Wang, He, Zhang and Jiang: "A performance analysis framework for optimizing OpenCL applications on FPGAs", HPCA 2016,
section 3.2. Latencies are the board's table (Table 2). `ERRATA.md` here numbers the readings ("R1").
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from rc_workbench_plugins.opencl.dependent import Multiplication, multiplications, shared_by_atomics, varying
from rc_workbench_plugins.opencl.kernel import (
    BasicBlock,
    Instruction,
    Kernel,
    Node,
    Profile,
    Space,
    Way,
)
from rc_workbench_plugins.opencl.recurrence import Interval, intervals
from rc_workbench_plugins.opencl.storage import Storage, storage_of
from rc_workbench_plugins.opencl.streams import Stream, stream_of
from workbench.api import Diagnostic, Severity, Values, WorkbenchError
from workbench.api.unstable import KernelBoard

#: Instructions by the kind that Table 2 counts them as; what stands in neither list is wires, and takes no cycle.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "int_add": ("add", "sub", "and", "or", "xor", "shl", "lshr", "ashr", "icmp", "select", "getelementptr", "fneg"),
    "int_mul": ("mul",),
    "int_div": ("udiv", "sdiv", "urem", "srem"),
    "fp_add": ("fadd", "fsub"),
    "fp_mul": ("fmul",),
    "fp_div": ("fdiv", "frem"),
    "branch": ("br", "switch", "ret"),
    "other": ("fcmp", "sitofp", "uitofp", "fptosi", "fptoui", "fpext", "fptrunc"),
}
_CALLS: Mapping[str, tuple[str, ...]] = {
    "int_add": ("smax", "smin", "umax", "umin", "abs", "max", "min", "fabs", "bitselect", "clamp", "rotate"),
    "int_mul": ("mul_hi", "mul24", "umul_hi"),
    "fp_sqrt": ("sqrt", "native_sqrt", "half_sqrt"),
    "fp_div": ("native_divide", "half_divide", "native_recip", "fmod"),
}
_FUSED = ("fma", "mad", "fmuladd", "mad24", "mad_hi")
_FREE_CALLS = ("get_", "barrier", "mem_fence", "read_mem_fence", "write_mem_fence", "work_group_barrier", "prefetch")
_KIND_OF = {opcode: kind for kind, opcodes in _KINDS.items() for opcode in opcodes}
_CALL_KIND = {name: kind for kind, names in _CALLS.items() for name in names}
_MULTIPLIERS = ("int_mul", "fp_mul")
_BARRIERS = ("barrier", "work_group_barrier")


@dataclass(frozen=True)
class BlockWork:
    """A block: `cycles` on its critical path (#Cycle), its streams, how many operations and multipliers it has, and the
    logic and DSP blocks that they are estimated to take.

    `dsps` are of floats, `integers` the multiplications of whole numbers. `line` is that of the block's first
    instruction, `lines` those of all where it stands in the source."""

    id: str
    line: int
    cycles: float
    streams: tuple[Stream, ...] = ()
    operations: int = 0
    multipliers: int = 0
    lines: tuple[int, ...] = ()
    dsps: float = 0.0
    logic: float = 0.0
    integers: tuple[Multiplication, ...] = ()
    barriers: int = 0


@dataclass(frozen=True)
class Work:
    """A kernel as the model takes it: its hierarchy, what is in each block, each loop's trips, and in `rounds` how many
    times each number of them came.

    `task`: a single work item runs, in pipelined loops, each with its interval if that is over a cycle. `varying` are
    the lines of loops and branches that SIMD does not take, `shared` the arrays of all groups, with a line of each.
    """

    kernel: str
    root: Node
    blocks: Mapping[str, BlockWork]
    trips: Mapping[str, Values]
    rounds: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    task: bool = False
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    varying: tuple[int, ...] = ()
    shared: Mapping[str, int] = field(default_factory=dict)
    storage: Storage = field(default_factory=Storage)


def work_of(
    kernel: Kernel, root: Node, profile: Profile, board: KernelBoard, problems: list[Diagnostic] | None = None
) -> Work:
    """The kernel as the model takes it; notes on what the board's table leaves out go to `told`. WorkbenchError where
    the table has no latency for an instruction at all."""
    latencies = _Latencies(board, kernel.file)
    integers = multiplications(kernel, root)
    blocks = {b.name: _block_work(b, profile, latencies, integers.get(b.name, ())) for b in kernel.blocks}
    if problems is not None:
        problems += latencies.notes()
    task = math.prod(profile.global_size) == 1

    def cycles_of(one: Instruction) -> float:
        loads = any(access.way is Way.LOAD and access.space is Space.GLOBAL for access in one.accesses)
        return latencies.of(one) + (board.dram_latency_cycles if loads else 0.0)

    return Work(
        kernel.name,
        root,
        blocks,
        {name: trips.mean for name, trips in profile.loops.items()},
        {name: trips.counts for name, trips in profile.loops.items() if trips.counts},
        task,
        intervals(kernel, root, profile.accesses, cycles_of) if task else {},
        tuple(node.lines[0] for node in varying(kernel, root)),
        shared_by_atomics(kernel),
        storage_of(kernel, root, profile, latencies.of),
    )


def latencies(board: KernelBoard, file: str) -> Callable[[Instruction], float]:
    """An instruction's latency by the board's table; of a kernel in `file`, which errors name."""
    return _Latencies(board, file).of


class _Latencies:
    """The board's table, and which instructions it has only under `other`."""

    def __init__(self, board: KernelBoard, file: str) -> None:
        self.board, self._cycles, self._file = board, board.latency_cycles, file
        self._unnamed: dict[str, int] = {}

    def kinds(self, instruction: Instruction) -> tuple[str, ...]:
        """What Table 2 counts an instruction as: none for wires, two for a fused multiply and add."""
        opcode, reached = instruction.opcode, {access.space for access in instruction.accesses}
        if reached:  # local memory and the cache of constants are on the chip, global memory is the model's (R13)
            return ("local_memory",) if reached & {Space.LOCAL, Space.CONSTANT} else ()
        if opcode == "getelementptr" and len(instruction.operands) <= 1:
            return ()
        if opcode != "call":
            kind = _KIND_OF.get(opcode)
            return (kind,) if kind else ()
        name = instruction.variant
        if name.startswith(_FREE_CALLS):
            return ()
        if name in _FUSED:
            return ("int_mul", "int_add") if name.startswith("mad") and name != "mad" else ("fp_mul", "fp_add")
        return (_CALL_KIND.get(name, "other"),)

    def of(self, instruction: Instruction) -> float:
        total = 0.0
        what = instruction.variant if instruction.opcode == "call" else instruction.opcode
        for kind in self.kinds(instruction):
            cycles = getattr(self._cycles, kind)
            if cycles is None or kind == "other":
                self._unnamed.setdefault(what, instruction.line)
                cycles = self._cycles.other if cycles is None else cycles
            if cycles is None:
                hint = f"Add `{kind}` to the platform's opencl.latency_cycles, or `other` for all other operations."
                message = f"the board's table has no latency for '{what}'"
                raise WorkbenchError(Diagnostic(message, hint, file=self._file, line=instruction.line))
            total += cycles
        return total

    def notes(self) -> Iterator[Diagnostic]:
        for what, line in self._unnamed.items():
            cycles = self._cycles.other or 0.0
            message = f"'{what}' counts as {cycles:g} cycle{'s' if cycles != 1 else ''}: Table 2 has no such row"
            hint = "Set `other` in the platform's opencl.latency_cycles to the value in your compiler's report."
            yield Diagnostic(message, hint, Severity.NOTE, file=self._file, line=line)


def _block_work(
    block: BasicBlock, profile: Profile, latencies: _Latencies, integers: tuple[Multiplication, ...]
) -> BlockWork:
    kinds = Counter(kind for i in block.instructions for kind in latencies.kinds(i))
    line = next((i.line for i in block.instructions if i.line), 0)
    streams = tuple(stream_of(a, profile, block.name) for a in block.accesses if a.space is Space.GLOBAL)
    cycles = critical_path(block, latencies.of)
    board, built = latencies.board, Counter[str]()
    for one in block.instructions:
        built += _built(one, latencies.kinds(one))
    multiplied = built["fp_mul"]
    dsps = multiplied * board.fp_mul_dsps + max(built["fp_add"] - multiplied, 0) * board.fp_add_dsps
    logic = sum(number * getattr(board.logic_cost, kind) for kind, number in built.items() if kind != "int_mul")
    return BlockWork(
        block.name, line, cycles, streams, kinds.total(), sum(kinds[kind] for kind in _MULTIPLIERS), _lines(block),
        dsps, logic, integers, sum(i.opcode == "call" and i.variant in _BARRIERS for i in block.instructions),
    )  # fmt: skip


def _built(one: Instruction, kinds: tuple[str, ...]) -> Counter[str]:
    """The operations that an instruction is built of: of vectors one for each lane."""
    lanes = max((kind.lanes for kind in (one.type, *one.operand_types)), default=1)
    if one.opcode == "call" and one.variant == "dot":
        return Counter(fp_mul=lanes, fp_add=lanes - 1)
    return Counter({kind: kinds.count(kind) * lanes for kind in kinds})


def _lines(block: BasicBlock) -> tuple[int, ...]:
    return tuple(sorted({i.line for i in block.instructions if i.line}))


def critical_path(block: BasicBlock, cycles_of: Callable[[Instruction], float]) -> float:
    """#Cycle_i: cycles of the longest chain of dependent instructions, at least 1 (section 3.2)."""
    ready: dict[str, float] = {}
    longest = 1.0
    for instruction in block.instructions:
        inputs = () if instruction.opcode == "phi" else instruction.operands
        start = max((ready.get(o, 0.0) for o in inputs if isinstance(o, str)), default=0.0)
        end = start + cycles_of(instruction)
        longest = max(longest, end)
        if instruction.result:
            ready[instruction.result] = end
    return longest

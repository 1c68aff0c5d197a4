"""Runs a kernel on data, and counts: the work items of many groups in step, an instruction at a time on NumPy arrays.

Work items that go different ways are parted, and go on together again where their ways meet: of the blocks that some
wait before, the first in the hierarchy's order runs next. At a barrier a group waits for all its work items.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.opencl.calls import Calls
from rc_workbench_plugins.opencl.flow import FlowEdge, Segment, counter, flow, ways_of
from rc_workbench_plugins.opencl.hierarchy import hierarchy
from rc_workbench_plugins.opencl.in_step import InStep, joined
from rc_workbench_plugins.opencl.kernel import (
    Access,
    AccessProfile,
    Constant,
    Instruction,
    Kernel,
    Operand,
    Profile,
    Space,
    Stride,
    enclosing,
)
from rc_workbench_plugins.opencl.memory import Memory, Outside
from rc_workbench_plugins.opencl.ndrange import NDRange
from rc_workbench_plugins.opencl.strides import Addresses, trips_of
from rc_workbench_plugins.opencl.values import Array, DivisionByZero, constant, dtype_of
from workbench.api import Diagnostic, Job, WorkbenchError

#: how many work items are in step: enough that NumPy's own cost is little, few enough that values stay in caches
_LANES = 1 << 14
#: how many work items' addresses are looked at
_TRACED = 256
#: how many pieces of blocks run between two looks at whether the job was cancelled
_PIECES = 512
#: how many pieces a launch may run: about a minute
MOST_PIECES = 2_000_000


@dataclass(frozen=True)
class Ran:
    """What a launch did, and what its buffers hold after it (1-D, as they were given)."""

    profile: Profile
    buffers: Mapping[str, NDArray[Any]]


def run(
    kernel: Kernel, size: NDRange, arguments: Mapping[str, object], groups: int | None = None, job: Job | None = None
) -> Ran:
    """Run a kernel on `arguments`, by name: an array for each pointer to global or constant memory, a number of bytes
    for one to local memory, a number (or a vector's numbers) for a value.

    Of more than `groups` work groups that many run, spread evenly over the launch. WorkbenchError, at the kernel's own
    line, of what the interpreter does not know, an access outside of a buffer, an integer divided by zero, and a
    barrier that some work items of a group do not reach.
    """
    return _Launch(kernel, size, arguments, job or Job()).run(groups)


_Step = tuple[str, Callable[..., Array], tuple[str, ...], Instruction]


class _Launch:
    def __init__(self, kernel: Kernel, size: NDRange, arguments: Mapping[str, object], job: Job) -> None:
        self._kernel, self._size, self._job = kernel, size, job
        root = hierarchy(kernel)
        self._loops = {name: tuple(loop.id for loop in loops) for name, loops in enclosing(root).items()}
        self._first = flow(kernel, root)
        self._fixed: dict[str, Array] = {}
        self._local_bytes = 0
        self._given: dict[str, NDArray[Any]] = {}
        self._memory = self._place(arguments)
        self.calls = Calls(self._memory, size, self._trace, self._copied)
        self._steps: dict[int, list[_Step]] = {}
        self._ways: dict[int, list[tuple[str, str]]] = {}
        self._names: dict[Constant, str] = {}
        self._compile()
        self._taken: dict[int, int] = defaultdict(int)
        self._edges: dict[int, FlowEdge] = {}
        self._entries = 0
        self._trips: dict[str, Counter[int]] = {}
        self._copies: dict[str, tuple[int, int | None]] = {}  # elements of group copies, and the step between them
        self._pieces = 0

    def run(self, groups: int | None) -> Ran:
        chosen = self._size.sample(groups)
        each = self._size.group_items
        traced = min(len(chosen), -(-_TRACED // each))
        at_once = max(1, _LANES // each)
        batches = [chosen[:traced], *(chosen[at : at + at_once] for at in range(traced, len(chosen), at_once))]
        items = np.zeros((0, 4), np.int64)
        with np.errstate(all="ignore"):
            for number, batch in enumerate(batches):
                if not len(batch):
                    continue
                self._job.progress(number / len(batches))
                self.calls.batch(batch, self._local_bytes, self._kernel.private_bytes)
                if number == 0:
                    items = self.calls.items()[:_TRACED]
                    around = {a.id: self._loops[b.name] for b in self._kernel.blocks for a in b.accesses}
                    self._addresses: Addresses | None = Addresses(around, items)
                    self._seen = self._addresses
                else:
                    self._addresses = None
                self._batch(len(batch) * each)
        return Ran(self._profile(len(chosen)), {name: self._after(name) for name in self._given})

    # ---- what is there before

    def _place(self, arguments: Mapping[str, object]) -> Memory:
        """The arguments' buffers and the kernel's variables in memory, and what operands name them."""
        kernel, buffers, private = self._kernel, {}, {}
        if lacking := [a.name for a in kernel.arguments if a.name not in arguments]:
            hint = f"Give a value for each of: {', '.join(a.name for a in kernel.arguments)}."
            raise WorkbenchError(self._problem(f"the argument '{lacking[0]}' has no value", hint, kernel.line))
        for argument in kernel.arguments:
            given, name = arguments[argument.name], f"%{argument.name}"
            if argument.type.space is Space.LOCAL:
                self._fixed[name] = np.array([self._local(int(np.asarray(given)), 16)], np.int64)
            elif argument.by_value:
                self._fixed[name] = np.array([argument.private_at], np.int64)
                private[argument.private_at] = np.ascontiguousarray(given).reshape(-1).view(np.uint8)
            elif argument.type.space is not None:
                self._given[argument.name] = np.ascontiguousarray(given)
                buffers[name] = self._given[argument.name].reshape(-1).view(np.uint8)
            else:
                value = np.array(given, dtype_of(argument.type))
                self._fixed[name] = value.reshape(1, -1) if argument.type.lanes > 1 else value.reshape(1)
        for variable in kernel.variables:
            if variable.space is Space.LOCAL:
                self._fixed[variable.name] = np.array([self._local(variable.bytes, variable.align)], np.int64)
            else:
                buffers[variable.name] = np.array(variable.initial or (0,) * variable.bytes, np.uint8)
        memory = Memory(buffers, private)
        self._fixed |= {name: np.array([region.begin], np.int64) for name, region in memory.regions.items()}
        return memory

    def _local(self, size: int, align: int) -> int:
        begin = -(-max(self._local_bytes, 16) // align) * align
        self._local_bytes = begin + size
        return begin

    def _after(self, name: str) -> NDArray[Any]:
        given = self._given[name]
        return self._memory.content(f"%{name}").view(given.dtype).reshape(given.shape)

    # ---- compiling

    def _compile(self) -> None:
        """Steps for each segment; WorkbenchError with everything that is not known, each with its line."""
        unknown: list[Diagnostic] = []
        waiting, seen = [self._first], {id(self._first)}
        while waiting:
            segment = waiting.pop()
            steps = []
            for one in segment.instructions:
                operation = self.calls.operation(one)
                if operation is None:
                    what = f"`{one.variant}`" if one.opcode == "call" else f"the instruction `{one.opcode}`"
                    hint = "The kernel can be compiled and analysed, but not run."
                    unknown.append(self._problem(f"the interpreter does not know {what}", hint, one.line))
                elif operation is not self.calls.nothing:
                    steps.append((one.result, operation, tuple(map(self._key, one.operands)), one))
            self._steps[id(segment)] = steps
            for operand in segment.end.operands:
                self._key(operand)
            for edge in segment.edges:
                self._ways[id(edge)] = [(result, self._key(operand)) for result, operand in edge.phis]
            for target in [*(edge.target for edge in segment.edges), segment.following]:
                if target is not None and id(target) not in seen:
                    seen.add(id(target))
                    waiting.append(target)
        if unknown:
            raise WorkbenchError(*sorted(unknown, key=lambda d: d.line or 0))

    def _key(self, operand: Operand) -> str:
        """The name under which an operand's value is found."""
        if isinstance(operand, str):
            if operand not in self._fixed and operand.startswith("@"):
                name, _, offset = operand.partition("+")
                self._fixed[operand] = self._fixed[name] + int(offset)
            return operand
        name = self._names.setdefault(operand, f"={len(self._names)}")
        self._fixed[name] = constant(operand)
        return name

    # ---- running

    def _batch(self, lanes: int) -> None:
        """Every work item of a batch to its end."""
        self._entries += lanes
        self._pending: dict[int, tuple[Segment, list[InStep]]] = {}
        self._held: dict[int, tuple[Segment, list[InStep]]] = {}
        self._wait(self._first, InStep(np.arange(lanes), dict(self._fixed)))
        while self._pending or self._held:
            if not self._pending:
                self._release()
            segment, parts = self._pending.pop(min(self._pending, key=lambda key: self._pending[key][0].order))
            self._go(segment, joined(self._fixed, segment, parts))

    def _wait(self, segment: Segment, items: InStep) -> None:
        self._pending.setdefault(id(segment), (segment, []))[1].append(items)

    def _go(self, segment: Segment | None, items: InStep) -> None:
        """Run work items as long as they stay together, and nobody else has to run before them."""
        while segment is not None:
            self._pieces += 1
            if self._pieces % _PIECES == 0:
                self._look(segment)
            values = items.values
            self.calls.lanes = items.lanes
            self._items = items
            for result, function, keys, one in self._steps[id(segment)]:
                try:
                    values[result] = function(*[values[key] for key in keys])
                except (Outside, DivisionByZero) as fault:
                    raise WorkbenchError(self._fault(one, fault)) from None
            if segment.is_barrier:
                self._held.setdefault(id(segment), (segment, []))[1].append(items)
                return
            segment = self._on(segment, items)

    def _look(self, segment: Segment) -> None:
        """WorkbenchError for what does not seem to end."""
        self._job.check()
        if self._pieces % (200 * _PIECES) == 0:
            self._job.progress(None, f"{self._pieces:,} blocks executed")
        if self._pieces > MOST_PIECES:
            line = next((one.line for one in segment.instructions if one.line), segment.end.line)
            message = f"the kernel is still running after {MOST_PIECES:,} blocks"
            hint = "The workbench cannot predict an endless kernel. If this one ends, launch it with less data."
            raise WorkbenchError(self._problem(message, hint, line))

    def _on(self, segment: Segment, items: InStep) -> Segment | None:
        """Where work items go that did a segment: a segment, if they can go there at once."""
        edges, end = segment.edges, segment.end
        if not edges:
            return None
        if len(edges) == 1:
            return self._take(edges[0], items)
        condition = items.values[self._key(end.operands[0])]
        for way, chosen in ways_of(end, condition):
            if chosen is None:
                return self._take(edges[way], items)
            part = items.part(self._fixed, chosen, edges[way])
            target = self._take(edges[way], part)
            if target is not None:
                self._wait(target, part)
        return None

    def _take(self, edge: FlowEdge, items: InStep) -> Segment | None:
        """Go along an edge; the segment behind it, or None where others have to run before."""
        values, count = items.values, len(items.lanes)
        self._taken[id(edge)] += count
        self._edges[id(edge)] = edge
        for loop in edge.left:
            self._left(loop, values[counter(loop)], count)
        for loop in edge.entered:
            values[counter(loop)] = np.zeros(1, np.int64)
        for loop in edge.begun:
            values[counter(loop)] = values[counter(loop)] + 1
        if ways := self._ways[id(edge)]:
            fresh = [values[key] for _, key in ways]
            for (result, _), value in zip(ways, fresh, strict=True):
                values[result] = value
        if not self._pending:
            return edge.target
        self._wait(edge.target, items)
        return None

    def _left(self, loop: str, rounds: Array, count: int) -> None:
        counts = self._trips.setdefault(loop, Counter())
        if len(rounds) == count:
            for number, times in zip(*np.unique(rounds, return_counts=True), strict=True):
                counts[int(number)] += int(times)
        else:
            counts[int(rounds[0])] += count

    def _release(self) -> None:
        """Let the groups go on whose work items all wait at one barrier."""
        each, released = self._size.group_items, False
        for key, (segment, parts) in list(self._held.items()):
            items = joined(self._fixed, segment.following or segment, parts)
            waiting = np.bincount(items.lanes // each)
            complete = waiting[items.lanes // each] == each
            if not complete.any():
                continue
            released = True
            del self._held[key]
            assert segment.following is not None
            live = FlowEdge("", segment.following, (), (), (), (), segment.following.live)
            self._wait(segment.following, items if complete.all() else items.part(self._fixed, complete, live))
            if not complete.all():
                self._held[key] = (segment, [items.part(self._fixed, ~complete, live)])
        if not released:
            segment, parts = next(iter(self._held.values()))
            waiting = np.bincount(np.concatenate([part.lanes for part in parts]) // each)
            message = f"{waiting[waiting > 0][0]} of a group's {each} work items reach this barrier, the others do not"
            hint = "Move it out of the branch, or out of the loop that work items leave at different times."
            raise WorkbenchError(self._problem(message, hint, segment.end.line))

    # ---- what is told after

    def _trace(self, access: Access, address: Array) -> None:
        if self._addresses is not None:
            loops = self._addresses.loops[access.id]
            rounds = [self._items.values[counter(loop)] for loop in loops]
            self._addresses.note(access.id, address, self._items.lanes, rounds)

    def _copied(self, access: Access, elements: int, step: int) -> None:
        before, same = self._copies.get(access.id, (0, step))
        self._copies[access.id] = before + elements, step if same == step else None

    def _profile(self, sampled: int) -> Profile:
        blocks: dict[str, int] = {block.name: 0 for block in self._kernel.blocks}
        blocks[self._first.block] = self._entries
        edges: dict[tuple[str, str], int] = {}
        for key, count in self._taken.items():
            edge = self._edges[key]
            edges[edge.source, edge.target.block] = count
            blocks[edge.target.block] += count
        return Profile(
            kernel=self._kernel.name,
            global_size=self._size.global_size,
            local_size=self._size.local_size,
            groups_launched=self._size.groups,
            groups_sampled=sampled,
            work_items=self._entries,
            blocks=blocks,
            edges=edges,
            loops={
                loop.id: trips_of(self._trips.get(loop.id, Counter()))
                for loops in enclosing(hierarchy(self._kernel)).values()
                for loop in loops
            },
            accesses={
                access.id: self._accessed(access, blocks[block.name])
                for block in self._kernel.blocks
                for access in block.accesses
            },
        )

    def _accessed(self, access: Access, executions: int) -> AccessProfile:
        profile = self._seen.profile(access, executions)
        if access.id not in self._copies:
            return profile
        elements, step = self._copies[access.id]
        return replace(profile, executions=elements, work_items=Stride(step, 1.0, elements), rows=Stride(None, 0.0, 0))

    def _fault(self, one: Instruction, fault: Exception) -> Diagnostic:
        if isinstance(fault, Outside):
            lanes = self._items.lanes
            who = self.calls.who(int(lanes[min(fault.lane, len(lanes) - 1)]))
            way = one.accesses[0].way if len(one.accesses) == 1 else "copy" if one.accesses else "access"
            message = f"this {way} of work item {who} reaches {fault}"
            return self._problem(message, "Give a larger buffer, or check the index.", one.line)
        return self._problem("an integer is divided by zero here", "Test the divisor before the division.", one.line)

    def _problem(self, message: str, hint: str, line: int) -> Diagnostic:
        return Diagnostic(message, hint, file=self._kernel.file, line=line or self._kernel.line)

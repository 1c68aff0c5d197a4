"""Optimisations applied analytically: what a kernel's blocks, accesses and loops would be, before its code is changed.

Section 2.1 and 6.5.1 of the paper: local memory (SM), coalescing (MC), unrolling (UL), vectorisation (SIMD), compute
units (CU), private memory (PM), vector types (VT). SIMD, CU and UL are the model's own parameters; the others rewrite
the accesses of one argument, by what its addresses do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rc_workbench_plugins.opencl.kernel import Leaf, Loop, Node, enclosing
from rc_workbench_plugins.opencl.kernel import Sequence as Sequenced
from rc_workbench_plugins.opencl.statistics import BlockWork, Work
from rc_workbench_plugins.opencl.storage import Array, Port, PrivateArray, Storage
from rc_workbench_plugins.opencl.streams import Stream
from workbench.api import Diagnostic, Values, WorkbenchError, near
from workbench.api.unstable import KernelBoard

LOCAL, COALESCED, PRIVATE, VECTOR = WHATS = "SM", "MC", "PM", "VT"


@dataclass(frozen=True)
class Change:
    """One optimisation of one argument's accesses: `what` is SM, MC, PM or VT, `factor` the width of VT."""

    what: str
    object: str
    factor: int = 1

    def __str__(self) -> str:
        return f"{self.what}{self.factor if self.what == VECTOR else ''} {self.object}"


def applied(work: Work, changes: Sequence[Change], board: KernelBoard) -> Work:
    """The kernel with its accesses changed. WorkbenchError where one cannot be changed so, saying why."""
    for change in changes:
        objects = {stream.object for block in work.blocks.values() for stream in block.streams} - {""}
        if change.object not in objects:
            hint = near(change.object, objects, "The kernel's arrays in global memory")
            raise WorkbenchError(Diagnostic(f"no global memory access reads or writes '{change.object}'", hint))
        work = _APPLY[change.what](work, change, board)
    return work


def _coalesced(work: Work, change: Change, board: KernelBoard) -> Work:
    """MC: the array is laid out so that neighbouring work items find neighbouring elements (section 2.1); what lay side
    by side along a loop then lies a row of work items apart."""

    def moved(stream: Stream) -> Stream:
        loops = {name: step if step == 0 else None for name, step in stream.loop_bytes.items()}
        return replace(stream, item_bytes=stream.bytes, loop_bytes=loops)

    return _rewritten(work, change.object, moved)


def _vector(work: Work, change: Change, board: KernelBoard) -> Work:
    """VT: so many neighbouring elements are one access of a vector type, made so many times less often (6.5.1). An
    access that finds no neighbours along its innermost loop stays."""
    above = enclosing(work.root)
    inner = {s.id: above[name][-1].id for name, block in work.blocks.items() for s in block.streams if above[name]}

    def moved(stream: Stream) -> Stream:
        loop = inner.get(stream.id, "")
        if stream.loop_bytes.get(loop) != stream.bytes:
            return stream
        wide = stream.bytes * change.factor
        loops = {**stream.loop_bytes, loop: wide}
        return replace(stream, bytes=wide, share=stream.share / change.factor, loop_bytes=loops)

    rewritten = _rewritten(work, change.object, moved)
    if rewritten == work:
        message = (
            f"no access of '{change.object}' reads neighbouring elements along its loop, so no vector can take them"
        )
        raise WorkbenchError(Diagnostic(message, "Change the order of the loop, or of the array (MC)."))
    return rewritten


def _private(work: Work, change: Change, board: KernelBoard) -> Work:
    """PM: each work item loads an element once and keeps it in registers (6.5.1)."""
    return _kept(work, change, 0.0)


def _local(work: Work, change: Change, board: KernelBoard) -> Work:
    """SM: a group loads what its work items share once, side by side, into local memory; there an access takes the
    board's latency of local memory (section 2.1)."""
    return _kept(work, change, board.latency_cycles.local_memory or 0.0)


def _kept(work: Work, change: Change, latency_cycles: float) -> Work:
    """The array's accesses made on the chip, and a loop before the kernel that fetches what they need.

    A work item fetches each element once, whatever loops do not move its address; in local memory those of a group that
    find the same address share it, and fetch side by side. An access whose elements are used once stays.
    """
    local = change.what == LOCAL
    above = enclosing(work.root)
    blocks, trips = dict(work.blocks), dict(work.trips)
    fetched: list[Node] = []
    storage = work.storage
    for name, block in work.blocks.items():
        for stream in block.streams:
            moving = [loop for loop in above[name] if stream.loop_bytes.get(loop.id) != 0]
            shared = stream.shared if local else 1.0
            if stream.object != change.object or (shared == 1 and len(moving) == len(above[name])):
                continue  # each of its elements is used once
            times: Values = stream.share / shared
            for loop in moving:
                times = times * work.trips.get(loop.id, 0.0)
            rest = tuple(other for other in blocks[name].streams if other != stream)
            blocks[name] = replace(blocks[name], streams=rest, cycles=block.cycles + latency_cycles)
            leaf, loop_id = f"{change} {stream.id}", f"{change} {stream.id} loop"
            step = stream.bytes if local else stream.item_bytes
            one = replace(stream, share=1.0, item_bytes=step, loop_bytes={})
            blocks[leaf] = BlockWork(leaf, stream.line, max(1.0, latency_cycles), (one,), barriers=int(local))
            lines = (stream.line, stream.line)
            fetched.append(Loop(loop_id, lines, leaf, (Leaf(leaf, lines),)))
            trips[loop_id] = times
            storage = _with_array(storage, f"{change} {stream.id}", Port(name, stream), float(np.mean(times)), local)
    if not fetched:
        message = f"no element of '{change.object}' is used twice{' in a group' if local else ' by a work item'}"
        raise WorkbenchError(Diagnostic(message, f"{change.what} saves nothing here."))
    root = Sequenced(f"{change}", work.root.lines, (*fetched, work.root))
    return replace(work, root=root, blocks=blocks, trips=trips, storage=storage)


def _with_array(storage: Storage, name: str, port: Port, elements: float, local: bool) -> Storage:
    """What is kept on the chip, with an array of which each work item fetches so many elements."""
    size = elements * port.stream.bytes
    if local:
        return replace(storage, local=(*storage.local, Array(name, size * storage.group_items, (port,))))
    kept = PrivateArray(name, size, frozenset({port.block}), (port,))
    return replace(storage, private=(*storage.private, kept))


def _rewritten(work: Work, name: str, moved: Callable[[Stream], Stream]) -> Work:
    blocks = {
        key: replace(block, streams=tuple(moved(s) if s.object == name else s for s in block.streams))
        for key, block in work.blocks.items()
    }
    return replace(work, blocks=blocks)


_APPLY = {LOCAL: _local, COALESCED: _coalesced, PRIVATE: _private, VECTOR: _vector}

"""Memory blocks that a kernel is estimated to take before it is built: its arrays, accesses, and values that wait.

The costs are the board's, fitted to published builds (`tests/benchmarks/opencl_memory.py`); no source documents them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from rc_workbench_plugins.opencl.kernel import Loop, Way, enclosing, walk
from rc_workbench_plugins.opencl.model import Setting, unrolled_whole
from rc_workbench_plugins.opencl.model import side_by_side as beside
from rc_workbench_plugins.opencl.statistics import Work
from rc_workbench_plugins.opencl.storage import CARRIED_BYTES, Array, PrivateArray
from rc_workbench_plugins.opencl.streams import Stream
from workbench.api import Values
from workbench.api.unstable import KernelBoard

#: Reads that a local array's memory serves at once: it runs at twice the clock, with one of its four ports for writing.
READS_AT_ONCE = 3
#: Parts of the estimate, by the field of the board's `memory_cost` that each is multiplied by.
PARTS = ("kernel", "load", "store", "irregular", "cache", "constant", "barrier", "waiting", "loop_array",
         "private_items")  # fmt: skip
#: How far from a share of the logic on queues move to memory blocks.
MOVED_WITHIN = 0.05


def memory_blocks(work: Work, setting: Setting, board: KernelBoard, logic: Values | None) -> Values:
    """The blocks, without the board's own; `logic` is the design's share of it, with the board's own.

    As the logic fills up, compilers build queues of memory blocks that they build of logic before.
    """
    cost = board.memory_cost
    total: Values = np.float64(0.0)
    for name, amount in quantities(work, setting, board).items():
        total = total + getattr(cost, name) * amount
    return (total * crowding(board, logic) + local_blocks(work, setting, board)) * setting.compute_units


def crowding(board: KernelBoard, logic: Values | None) -> Values:
    """How many times as many blocks queues take at a share of the logic."""
    if logic is None:
        return np.float64(1.0)
    moved = np.clip((logic - board.memory_cost.crowded_logic) / MOVED_WITHIN, 0.0, 1.0)
    return 1 + (board.memory_cost.crowded - 1) * moved


def quantities(work: Work, setting: Setting, board: KernelBoard) -> dict[str, Values]:
    """What of each part a compute unit has, by `PARTS`."""
    above, storage = enclosing(work.root), work.storage
    width, depth, items = float(board.memory_block_width), board.memory_block_depth, setting.simd
    parts: dict[str, Values] = dict.fromkeys(PARTS, np.float64(0.0))
    parts["kernel"] = np.float64(1.0)
    for name, block in work.blocks.items():
        loops = above.get(name, ())
        for stream in adjacent(block.streams):
            extent, copies = side_by_side(stream, loops, setting)
            way = "store" if stream.way is Way.STORE else "load"
            parts[way] = parts[way] + copies * (2 if stream.way is Way.ATOMIC else 1)
            parts["irregular"] = parts["irregular"] + copies * _irregular(stream, extent, setting, work)
        factor = items
        for loop in loops:
            factor = factor * setting.unroll.get(loop.id, 1.0)
        parts["waiting"] = parts["waiting"] + storage.waiting_bits.get(name, 0.0) * factor / width
        bits = storage.barrier_bits.get(name, 0.0) + block.barriers * board.memory_cost.barrier_bits
        if storage.group_items > 1 and bits:
            words = np.ceil(storage.group_items / items / depth)
            parts["barrier"] = parts["barrier"] + bits * items / width * words
    for name in dict.fromkeys(port.block for port in storage.constants):
        for stream in adjacent(port.stream for port in storage.constants if port.block == name):
            extent, copies = side_by_side(stream, above.get(name, ()), setting)
            parts["constant"] = parts["constant"] + copies * np.ceil(extent / board.transaction_bytes)
    if storage.constants:
        parts["cache"] = 1 / setting.compute_units
    for array in storage.private:
        if array.bytes <= CARRIED_BYTES:
            loops_of = _kept_loops(work, array, setting)
            parts["loop_array"] = parts["loop_array"] + loops_of * array.bytes * 8 * items / width
        elif not work.task:
            parts["private_items"] = parts["private_items"] + array.bytes * 8 * items / (width * depth)
    return parts


def local_blocks(work: Work, setting: Setting, board: KernelBoard) -> Values:
    """Memory blocks of local arrays in a compute unit: as wide as the widest load, and as often as loads need ports."""
    above = enclosing(work.root)
    total: Values = np.float64(0.0)
    for array in work.storage.local:
        total = total + _array_blocks(array, above, setting, board)
    for private in work.storage.private if work.task else ():
        if private.bytes > CARRIED_BYTES:
            total = total + np.ceil(private.bytes * 8 / (board.memory_block_width * board.memory_block_depth))
    return total


def _array_blocks(array: Array, above: dict[str, tuple[Loop, ...]], setting: Setting, board: KernelBoard) -> Values:
    widest: Values = np.float64(4.0)
    reads: Values = np.float64(0.0)
    for port in array.loads:
        extent, copies = side_by_side(_assumed(port.stream), above.get(port.block, ()), setting)
        widest, reads = np.maximum(widest, extent), reads + copies
    widest = np.minimum(widest, max(array.bytes, 4.0))
    words = np.maximum(np.ceil(array.bytes / widest / board.memory_block_depth), 1.0)
    copies = np.maximum(np.ceil(reads / READS_AT_ONCE), 1.0)
    return np.ceil(widest * 8 / board.memory_block_width) * words * copies


def adjacent(streams: Iterable[Stream]) -> Iterator[Stream]:
    """A block's accesses, those of neighbouring elements as one, wide; those that were not seen side by side."""
    alike: dict[object, list[Stream]] = {}
    for stream in map(_assumed, streams):
        key = stream.object, stream.way, stream.item_bytes, tuple(sorted(stream.loop_bytes.items()))
        alike.setdefault(key if stream.first is not None and stream.object else stream.id, []).append(stream)
    for group in alike.values():
        first, *rest = sorted(group, key=lambda stream: stream.first or 0)
        for stream in rest:
            begin, end = first.first or 0, (first.first or 0) + first.bytes
            if (at := stream.first or 0) <= end:
                first = replace(first, bytes=max(end, at + stream.bytes) - begin)
            else:
                yield first
                first = stream
        yield first


def side_by_side(stream: Stream, loops: Iterable[Loop], setting: Setting) -> tuple[Values, Values]:
    """As the model's, but that accesses of one address are built once."""
    same = [loop.id for loop in loops if stream.loop_bytes.get(loop.id) == 0]
    once = replace(setting, unroll={**setting.unroll, **dict.fromkeys(same, 1.0)})
    return beside(stream, loops, replace(once, simd=1.0) if stream.item_bytes == 0 else once)


def _assumed(stream: Stream) -> Stream:
    """An access with too few work items compared, taken to move as most do: from one to the next by its own size."""
    if stream.item_bytes is not None or stream.compared:
        return stream
    steps = {name: step for name, step in stream.loop_bytes.items() if step is not None}
    return replace(stream, item_bytes=stream.bytes, loop_bytes=steps)


def _irregular(stream: Stream, extent: Values, setting: Setting, work: Work) -> Values:
    """1 where an access' addresses do not follow each other from a work item to the next (of a task: from a round to
    the next), else 0."""
    if work.task:
        return np.float64(all(step is None for step in stream.loop_bytes.values()))
    if stream.item_bytes is None:
        return np.float64(1.0)
    return np.where(abs(stream.item_bytes) * setting.simd <= extent, 0.0, 1.0)


def _kept_loops(work: Work, array: PrivateArray, setting: Setting) -> Values:
    """How many loops keep an array for each work item: those that are not fully unrolled."""
    total: Values = np.float64(0.0)
    for loop in () if work.task else (n for n in walk(work.root) if isinstance(n, Loop)):
        if loop.header in array.blocks:
            total = total + np.where(unrolled_whole(work, loop, setting), 0.0, 1.0)
    return total

"""A kernel's loops and accesses as the model's document says them, in place of what the launch showed: for a change of
the algorithm, or for data that are not at hand.

Loops are named by id or line, accesses by array or line.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from rc_workbench_plugins.opencl.kernel import Loop, Node, enclosing, walk
from rc_workbench_plugins.opencl.statistics import Work
from rc_workbench_plugins.opencl.streams import Stream
from workbench.api import Diagnostic, Values, WorkbenchError, near

IRREGULAR = "irregular"


def loop_named(root: Node, name: str) -> str:
    """A loop's id by what a model calls it. WorkbenchError where the kernel has no such loop."""
    loops = [node for node in walk(root) if isinstance(node, Loop)]
    names = {loop.id: loop.id for loop in loops} | {str(loop.lines[0]): loop.id for loop in reversed(loops)}
    if name not in names:
        hint = near(name, names, "Its loops, by name and line") or "The kernel has no loops."
        raise WorkbenchError(Diagnostic(f"the kernel has no loop '{name}'", hint))
    return names[name]


def with_trips(work: Work, name: str, number: Values) -> Work:
    """The kernel with so many rounds of a loop, each time that a work item comes to it. WorkbenchError where it has no
    such loop."""
    loop = loop_named(work.root, name)
    rounds = {key: counts for key, counts in work.rounds.items() if key != loop}  # those are of the rounds that ran
    return replace(work, trips={**work.trips, loop: number}, rounds=rounds)


def with_stride(work: Work, name: str, step: float | None) -> Work:
    """The kernel with accesses whose address moves by `step` bytes from a work item to the next (of a task: from a
    round of the innermost loop); None: by no regular step. WorkbenchError where it has no such access."""
    above = enclosing(work.root)
    return _with_accesses(work, name, lambda stream, block: _stepping(stream, step, work, above[block]))


def without(work: Work, name: str) -> Work:
    """The kernel without some of its accesses. WorkbenchError where it has no such access."""
    return _with_accesses(work, name, lambda stream, block: None)


def _with_accesses(work: Work, name: str, changed: Callable[[Stream, str], Stream | None]) -> Work:
    streams = [stream for block in work.blocks.values() for stream in block.streams]
    if not any(name in (stream.object, str(stream.line)) for stream in streams):
        names = {stream.object for stream in streams} - {""} | {str(stream.line) for stream in streams}
        hint = near(name, sorted(names), "Its accesses of global memory, by array and line")
        raise WorkbenchError(Diagnostic(f"no access of global memory uses '{name}'", hint or "It has none."))
    blocks = {}
    for key, block in work.blocks.items():
        kept = [changed(s, key) if name in (s.object, str(s.line)) else s for s in block.streams]
        blocks[key] = replace(block, streams=tuple(stream for stream in kept if stream is not None))
    return replace(work, blocks=blocks)


def _stepping(stream: Stream, step: float | None, work: Work, loops: Sequence[Loop]) -> Stream:
    """An access whose address moves by another step; of an irregular one no loop's step is known either."""
    moves = {name: None if step is None and by != 0 else by for name, by in stream.loop_bytes.items()}
    if work.task:
        inner = {loops[-1].id: step} if loops else {}
        return replace(stream, loop_bytes={**moves, **inner}, compared=True)
    shared = float(work.storage.group_items) if step == 0 else 1.0
    return replace(stream, item_bytes=step, loop_bytes=moves, shared=shared, compared=True)

"""An access of memory as the model sees it: by how much its address moves with work items and with loops."""

from collections.abc import Mapping
from dataclasses import dataclass

from rc_workbench_plugins.opencl.kernel import Access, Profile, Stride, Way

#: A stride is regular where so many of the compared pairs make it; rows' ends break a few.
REGULAR_SHARE = 0.75
#: With fewer pairs of work items compared, nothing is known of a stride.
FEW = 8


@dataclass(frozen=True)
class Stream:
    """A load or store of global memory, as the model sees it.

    `bytes` is what one work item moves, `share` how often it is done each time that its block is executed. `item_bytes`
    is the address' step from a work item to the next, `loop_bytes` that of each enclosing loop; None where it has none.
    `shared` is how many work items of a group find the same address, by the steps along two dimensions. `first` is the
    address of the first work item; `compared` is False where too few work items came to tell a step.
    """

    id: str
    object: str
    line: int
    way: Way
    bytes: float
    share: float
    item_bytes: float | None
    loop_bytes: Mapping[str, float | None]
    shared: float = 1.0
    first: int | None = None
    compared: bool = True

    def __str__(self) -> str:
        return f"{self.way.value} of {self.object or 'memory'}, line {self.line}"


def stream_of(access: Access, profile: Profile, block: str) -> Stream:
    counted = profile.accesses.get(access.id)
    executed = profile.blocks.get(block, 0)
    twice = 2.0 if access.way is Way.ATOMIC else 1.0  # it reads, and it writes
    share = twice * (counted.executions / executed if counted and executed else 1.0)
    item = _regular(counted.work_items) if counted else None
    loops = {name: _regular(stride) for name, stride in counted.loops.items()} if counted else {}
    shared = 1.0
    for step, size in zip((counted.work_items, counted.rows) if counted else (), profile.local_size, strict=False):
        shared *= size if _regular(step) == 0 else 1
    first = counted.first if counted else None
    compared = counted is not None and counted.work_items.pairs >= FEW and counted.executions >= 2 * FEW
    return Stream(
        access.id, access.object, access.line, access.way, access.bytes, share, item, loops, shared, first, compared
    )


def _regular(stride: Stride) -> float | None:
    return None if stride.bytes is None or stride.share < REGULAR_SHARE else float(stride.bytes)

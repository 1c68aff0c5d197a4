"""The memories of a launch: buffers, work groups' local arrays and work items' own, and what lies outside of them.

A pointer is a number: in global and constant space a place in one common array, in local space a place in its group's
memory, in private space one in its work item's.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.opencl.kernel import Space, Type
from rc_workbench_plugins.opencl.values import Array, dtype_of

#: between buffers, so that what runs over one's end does not reach the next
_GAP_BYTES = 256
#: buffers begin at a multiple of the longest vector
_ALIGN_BYTES = 128
#: where the first buffer begins; what points nearer to nothing than half of that points to nothing
_FIRST = 4096
Positions = NDArray[np.int64]


class Outside(Exception):
    """An access that lies outside of what its pointer was given: the first lane that makes it, and where."""

    def __init__(self, lane: int, said: str) -> None:
        super().__init__(said)
        self.lane = lane


@dataclass(frozen=True)
class Region:
    """A buffer in the common array."""

    name: str
    begin: int
    bytes: int

    @property
    def end(self) -> int:
        return self.begin + self.bytes


class Memory:
    """`buffers` are the contents of everything in global and constant space, by name; they are copied. `private` are
    what every work item's own memory holds first, by where."""

    def __init__(
        self, buffers: Mapping[str, NDArray[np.uint8]], private: Mapping[int, NDArray[np.uint8]] | None = None
    ) -> None:
        self._first = private or {}
        begin = _FIRST
        self.regions: dict[str, Region] = {}
        for name, data in buffers.items():
            self.regions[name] = Region(name, begin, len(data))
            begin = -(-(begin + len(data) + _GAP_BYTES) // _ALIGN_BYTES) * _ALIGN_BYTES
        self._all = list(self.regions.values())
        self._begins = [region.begin for region in self._all]
        self._shared = np.zeros(begin, np.uint8)
        for name, data in buffers.items():
            self._shared[self.regions[name].begin : self.regions[name].end] = data
        self.groups(1, 0, np.zeros(0, np.int64), 0)

    def content(self, name: str) -> NDArray[np.uint8]:
        region = self.regions[name]
        return self._shared[region.begin : region.end]

    def groups(self, count: int, local_bytes: int, group: Positions, private_bytes: int) -> None:
        """Fresh local and private memory for `count` groups; `group` is that of each lane."""
        self._local_bytes, self._private_bytes = _whole(local_bytes), _whole(private_bytes)
        self._local = np.zeros(count * self._local_bytes, np.uint8)
        self._private = np.zeros(len(group) * self._private_bytes, np.uint8)
        if len(group):
            for at, data in self._first.items():
                self._private.reshape(len(group), -1)[:, at : at + len(data)] = data
        self._group = group if count > 1 else np.zeros(1, np.int64)

    def load(self, space: Space, kind: Type, pointer: Array, lanes: Positions) -> Array:
        """What lies at a pointer, for each of `lanes` (or for all the same)."""
        store, at = self._at(space, pointer, kind.bytes, lanes)
        element = dtype_of(kind)
        size = element.itemsize
        shift = size.bit_length() - 1
        if size > 1 and np.bitwise_or.reduce(at) & (size - 1):
            loaded = store[at[:, None] + np.arange(kind.lanes * size)].view(element)
        elif kind.lanes == 1:
            return store.view(element)[at >> shift]
        else:
            loaded = store.view(element)[(at >> shift)[:, None] + np.arange(kind.lanes)]
        return loaded if kind.lanes > 1 else loaded[:, 0]

    def store(self, space: Space, kind: Type, pointer: Array, value: Array, lanes: Positions) -> None:
        """Put a value; of several lanes at one place the last wins."""
        store, at = self._at(space, pointer, kind.bytes, lanes)
        element = dtype_of(kind)
        size = element.itemsize
        shift = size.bit_length() - 1
        rows = max(len(at), len(value))
        at = np.broadcast_to(at, rows)
        if size > 1 and np.bitwise_or.reduce(at) & (size - 1):
            wide = np.ascontiguousarray(np.broadcast_to(value.reshape(len(value), -1), (rows, kind.lanes)))
            store[at[:, None] + np.arange(kind.lanes * size)] = wide.view(np.uint8)
        elif kind.lanes == 1:
            store.view(element)[at >> shift] = value
        else:
            store.view(element)[(at >> shift)[:, None] + np.arange(kind.lanes)] = value

    def change(
        self, space: Space, kind: Type, pointer: Array, lanes: Positions,
        function: Callable[[Array, Positions], Array], running: Callable[[Array, Positions, Array], Array] | None,
    ) -> Array:  # fmt: skip
        """Read and write in one, one lane after another; returns what each lane found.

        `function(old, who)` says what the lanes numbered `who` put where they found `old`. `running`, where it is
        known, says for all lanes at once what each finds: of what stood at each place first, of the lanes in order of
        place, and of where each place's lanes begin.
        """
        store, at = self._at(space, pointer, kind.bytes, lanes)
        element = dtype_of(kind)
        cells = store.view(element)
        at = np.broadcast_to(at // element.itemsize, len(lanes))
        order = np.argsort(at, kind="stable")
        places = at[order]
        first = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
        before = np.empty(len(lanes), element)
        if running is not None:
            old = running(cells[places[first]], order, first)
            before[order] = old
            last = np.concatenate([first[1:], [len(order)]]) - 1
            cells[places[last]] = function(old[last], order[last])
            return before
        rank = np.arange(len(order)) - np.repeat(first, np.diff(np.concatenate([first, [len(order)]])))
        for turn in range(int(rank.max()) + 1):
            who = order[rank == turn]
            before[who] = cells[at[who]]
            cells[at[who]] = function(before[who], who)
        return before

    def _at(self, space: Space, pointer: Array, size: int, lanes: Positions) -> tuple[NDArray[np.uint8], Positions]:
        """The array that a space's pointers lead into, and where."""
        low, high = int(pointer.min()), int(pointer.max()) + size
        if space in (Space.GLOBAL, Space.CONSTANT):
            region = bisect_right(self._begins, low) - 1
            if region < 0 or high > self._all[region].end:
                self._search(pointer, size)
            return self._shared, pointer
        bytes_each = self._local_bytes if space is Space.LOCAL else self._private_bytes
        if low < 0 or high > bytes_each:
            lane = int(np.flatnonzero((pointer < 0) | (pointer + size > bytes_each))[0])
            raise Outside(lane, f"byte {int(pointer[lane])} of the {bytes_each} bytes of {space} memory")
        if space is Space.PRIVATE:
            return self._private, pointer + lanes * bytes_each
        return self._local, pointer + (self._group[lanes] if len(self._group) > 1 else self._group) * bytes_each

    def _search(self, pointer: Array, size: int) -> None:
        """The buffer of each pointer; raises Outside for a pointer in none."""
        regions = np.searchsorted(self._begins, pointer, side="right") - 1
        ends = np.array([region.end for region in self._all] or [0])
        bad = (regions < 0) | (pointer + size > ends[regions])
        if bad.any():
            lane = int(np.flatnonzero(bad)[0])
            place = int(pointer[lane])
            if abs(place) < _FIRST // 2:
                raise Outside(lane, "a pointer that points to nothing")
            near = min(self._all, key=lambda region: min(abs(place - region.begin), abs(place - region.end)))
            raise Outside(lane, f"byte {place - near.begin} of the {near.bytes} bytes of '{near.name.lstrip('%@')}'")


def _whole(size: int) -> int:
    """A size that arrays of any element fit into."""
    return -(-size // 8) * 8

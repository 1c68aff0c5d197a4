"""A graph of waits, and its sweep in C, which computes all times (`resources/replay/sweep.c`)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.model.cycles import starts_ps
from workbench.model.run_tables import RowArray
from workbench.replay.compiled import compiled

PLAIN, TRANSFER, POLLS = 0, 1, 2
BY_END, BY_BEGIN, BY_BUS = 0, 1, 2
HOST = 0  # the domain of picoseconds; clocks follow
Numbers = NDArray[np.int64]
#: a row of polls: see `polls` in sweep.c
POLLS_ROW = np.dtype(
    [
        ("gap_ps", "<i8"), ("sample_ps", "<i8"), ("gap_first", "<i8"), ("gap_count", "<i8"),
        ("clock", "<i4"), ("shorter", "<i4"), ("asked", "<i8"),
    ]
)  # fmt: skip
_PERIOD = np.dtype([("num", "<i8"), ("den", "<i8")])


@dataclass
class Graph:
    """Nodes in flat arrays; `sweep.c` describes each array.

    The causes of node i are `cause[cause_first[i]:cause_first[i + 1]]`, each with its `lag`; the last cause of a node
    of polls is the polled event. A sweep fills `begin` and `end`, in picoseconds (domain 0) or cycles, and `poll_ends`,
    the end of the poll before each of `gaps`.
    """

    cause_first: Numbers
    cause: NDArray[np.int32]
    lag: Numbers
    work: Numbers
    kind: NDArray[np.uint8]
    domain: NDArray[np.uint8]
    extra: NDArray[np.int32]
    periods_ps: Sequence[Fraction]  # one for each clock: domain 1 is the first
    buses: int
    polls: RowArray = field(default_factory=lambda: np.zeros(0, POLLS_ROW))
    gaps: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    bus_of_polls: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    alone: bool = True  # one thread makes all calls, so no other uses a bus between two polls

    def __post_init__(self) -> None:
        self.begin = np.zeros(len(self.work), np.int64)
        self.end = np.zeros(len(self.work), np.int64)
        self._after = np.full(len(self.work), -1, np.int32)
        self._clocks = np.array([(1, 1), *((p.numerator, p.denominator) for p in self.periods_ps)], _PERIOD)

    def __len__(self) -> int:
        return len(self.work)

    def sweep(self, order: NDArray[np.int32] | None = None) -> None:
        """Compute `begin` and `end` of all nodes, in an order that has causes before the nodes that wait for them."""
        library = _library()
        order_pointer = None if order is None else order.ctypes.data_as(ctypes.c_void_p)
        library.replay_sweep(ctypes.byref(self._structure()), order_pointer)

    def sweep_in_time(self) -> NDArray[np.int32] | None:
        """Compute all times, with each bus given to the earliest request, and return the order; None if nodes wait for
        each other."""
        order = np.empty(len(self), np.int32)
        placed = _library().replay_in_time(ctypes.byref(self._structure()), order.ctypes.data_as(ctypes.c_void_p))
        if placed < 0:
            raise MemoryError
        return order if placed == len(self) else None

    def reordered(self, order: NDArray[np.int32]) -> tuple[Graph, Numbers]:
        """The same graph with its nodes in another order, and the new position of each edge. A sweep by numbers is
        several times faster than one in `order`, which jumps through memory."""
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        counts = np.diff(self.cause_first)[order]
        cause_first = np.append(0, np.cumsum(counts))
        edges = np.repeat(self.cause_first[order] - cause_first[:-1], counts) + np.arange(len(self.cause))
        cause = self.cause[edges]
        graph = replace(
            self, cause_first=cause_first, cause=np.where(cause < 0, ~place[~cause], place[cause]), lag=self.lag[edges],
            work=self.work[order], kind=self.kind[order], domain=self.domain[order], extra=self.extra[order],
            polls=self.polls.copy(),
        )  # fmt: skip
        place_of_edge = np.empty(len(edges), np.int64)
        place_of_edge[edges] = np.arange(len(edges))
        return graph, place_of_edge

    def path(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The nodes of the critical path to a node's end, from the run's begin, and for each whether its end (1) or
        only its beginning is on the path. Needs a sweep."""
        limit = 2 * len(self) + 1
        nodes, on_end = np.empty(limit, np.int32), np.empty(limit, np.uint8)
        pointers = (array.ctypes.data_as(ctypes.c_void_p) for array in (nodes, on_end))
        count = _library().replay_path(ctypes.byref(self._structure()), node, *pointers, limit)
        return nodes[:count][::-1], on_end[:count][::-1]

    def due(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """For each node the node that its end depends on (-1: none), and `how`: on that node's end, its beginning, or
        the bus that it held (`BY_END`, `BY_BEGIN`, `BY_BUS`). Needs a sweep."""
        due, how = np.empty(len(self), np.int32), np.empty(len(self), np.uint8)
        pointers = (array.ctypes.data_as(ctypes.c_void_p) for array in (due, how))
        _library().replay_due(ctypes.byref(self._structure()), *pointers)
        return due, how

    def latest(self, last: int, order: NDArray[np.int32] | None = None) -> tuple[Numbers, Numbers]:
        """The latest begin and end of each node that do not delay the end of `last`: each node alone, with buses in the
        same order. Needs a sweep in an order."""
        begin, end = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
        pointers = (array.ctypes.data_as(ctypes.c_void_p) for array in (begin, end))
        order_pointer = None if order is None else order.ctypes.data_as(ctypes.c_void_p)
        _library().replay_latest(ctypes.byref(self._structure()), order_pointer, last, *pointers)
        return begin, end

    def _structure(self) -> _Graph:
        bus_free = np.zeros(max(self.buses, 1), np.int64)
        bus_user = np.full(max(self.buses, 1), -1, np.int32)
        self.poll_ends = np.zeros(len(self.gaps), np.int64)
        arrays: dict[str, NDArray[Any]] = {
            "cause_first": self.cause_first, "cause": self.cause, "lag": self.lag, "work": self.work,
            "kind": self.kind, "domain": self.domain, "extra": self.extra, "clocks": self._clocks,
            "rows": self.polls, "gaps": self.gaps, "poll_ends": self.poll_ends,
            "bus_of_polls": self.bus_of_polls, "begin": self.begin,
            "end": self.end, "bus_free": bus_free, "bus_user": bus_user, "after": self._after,
        }  # fmt: skip
        for name, kind in _KINDS.items():
            assert arrays[name].dtype == kind, name
            assert arrays[name].flags.c_contiguous, name
        graph = _Graph(len(self), self.alone, *(array.ctypes.data for array in arrays.values()))
        graph.kept = arrays  # kept while C reads them: threads may sweep a graph at the same time
        return graph


def times_ps(graph: Graph, nodes: Numbers, times: Numbers) -> Numbers:
    """Times of nodes (in cycles of their own clocks) in picoseconds."""
    settled = times.astype(np.int64).copy()
    domain = graph.domain[nodes]
    for number, period in enumerate(graph.periods_ps, start=1):
        mine = domain == number
        settled[mine] = starts_ps(settled[mine], period)
    return settled


_KINDS = {
    "cause_first": np.int64, "cause": np.int32, "lag": np.int64, "work": np.int64, "kind": np.uint8,
    "domain": np.uint8, "extra": np.int32, "rows": POLLS_ROW, "gaps": np.int64, "poll_ends": np.int64,
    "bus_of_polls": np.int32,
}  # fmt: skip


class _Graph(ctypes.Structure):
    kept: dict[str, NDArray[Any]]
    _fields_ = (
        ("nodes", ctypes.c_int64),
        ("alone", ctypes.c_int64),
        *(
            (name, ctypes.c_void_p)
            for name in (
                "cause_first", "cause", "lag", "work", "kind", "domain", "extra", "clocks", "rows", "gaps", "poll_ends",
                "bus_of_polls", "begin", "end", "bus_free", "bus_user", "after",
            )
        ),
    )  # fmt: skip


@cache
def _library() -> ctypes.CDLL:
    library = compiled("sweep")
    library.replay_sweep.restype = None
    library.replay_sweep.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.replay_in_time.restype = ctypes.c_int64
    library.replay_in_time.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.replay_path.restype = ctypes.c_int64
    library.replay_path.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    library.replay_due.restype = None
    library.replay_due.argtypes = [ctypes.c_void_p] * 3
    library.replay_latest.restype = None
    library.replay_latest.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    return library

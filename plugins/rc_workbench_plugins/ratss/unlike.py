"""Collectives between nodes that are not alike: o and g of each node, L and G of each pair.

HLogGP (Bosque, Pastor, "A Parallel Computational Model for Heterogeneous Clusters", IEEE TPDS 17(12), 2006; only its
abstract was to be had) makes LogGP's scalars vectors and matrices. Here they are in the rounds of the paper's Eqs. 19
and 20 and of the exchanges (`equations.py`): a message from i to j of m bytes takes o_i + L_ij + G_ij m + o_j (LogGP,
Alexandrov et al. 1997, with G m for their G (m - 1)), and a round is over with its slowest message. Node 0 is the root.
With equal numbers everywhere this is what those equations give.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.ratss import equations as eq

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Nodes:
    """`overhead_s` and `gap_s` have a number for each of N nodes; `latency_s` and `gap_s_per_byte` are N x N, from node
    (row) to node (column)."""

    overhead_s: Numbers
    gap_s: Numbers
    latency_s: Numbers
    gap_s_per_byte: Numbers


@dataclass(frozen=True)
class Round:
    """The messages of a round: who sends, who receives, and how many shares of k bytes. `together` of them share the
    network."""

    source: NDArray[np.intp]
    sink: NDArray[np.intp]
    shares: Numbers
    together: int


def t_collective(
    kind: str, nodes: int, message_bytes: float, of: Nodes, additions_s: float, short_gap: bool, capacity: float | None
) -> float:
    """Seconds that a collective takes among the first `nodes` of some nodes, k being `message_bytes`.

    Scatter and gather (Eq. 19): the sum over rounds of max(L_ij + G_ij m), and once o of the root and the largest of
    the others. All others: the sum over rounds of max(o_i + L_ij + G_ij m + o_j). A reduce adds `additions_s` a round
    (gamma k, Eq. 20), and with `short_gap` the largest g of who sends (erratum R7). With a `capacity` G counts as many
    times as messages of a round share it (`equations.shared`).
    """
    shrinking = kind in ("scatter", "gather")
    whole_s = 0.0
    for one in _rounds(kind, nodes):
        pairs = one.source, one.sink
        slower = 1.0 if capacity is None else float(eq.shared(one.together, capacity))
        each_s = of.latency_s[pairs] + of.gap_s_per_byte[pairs] * one.shares * message_bytes * slower
        if not shrinking:
            each_s = each_s + of.overhead_s[one.source] + of.overhead_s[one.sink]
        whole_s += float(each_s.max())
        if kind == "reduce":
            whole_s += additions_s + (float(of.gap_s[one.source].max()) if short_gap else 0.0)
    if shrinking and nodes > 1:
        whole_s += float(of.overhead_s[0] + of.overhead_s[1:nodes].max())
    return whole_s


def _rounds(kind: str, nodes: int) -> Iterator[Round]:
    all_nodes = np.arange(nodes)
    last = int(eq.rounds(nodes))
    if kind == "all-to-all":
        for distance in range(1, nodes):
            yield Round(all_nodes, (all_nodes + distance) % nodes, np.ones(nodes), nodes)
    elif kind in ("all-gather", "barrier"):
        for distance in (2**n for n in range(last)):
            shares = float(min(distance, nodes - distance)) if kind == "all-gather" else 0.0
            yield Round(all_nodes, (all_nodes - distance) % nodes, np.full(nodes, shares), nodes)
    elif kind in ("scatter", "gather"):
        for n in range(last):
            distance = 2 ** (last - n - 1)
            source = all_nodes[:: 2 * distance]
            source = source[source + distance < nodes]
            sink = source + distance
            shares = np.minimum(distance, nodes - sink).astype(np.float64)
            sends, receives = (source, sink) if kind == "scatter" else (sink, source)
            yield Round(sends, receives, shares, min(2**n, nodes - 2**n))
    else:
        for distance in (2**n for n in range(last)):
            source = all_nodes[: min(distance, nodes - distance)]
            sends, receives = (source, source + distance) if kind == "broadcast" else (source + distance, source)
            yield Round(sends, receives, np.ones(len(source)), len(source))

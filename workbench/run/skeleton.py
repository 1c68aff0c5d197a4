"""The host's call order as a loop skeleton: what a profile keeps of it when the calls themselves are not kept.

After Ketterlin and Clauss, "Prediction and trace compression of data access addresses through nested loop recognition"
(CGO 2008), reduced to loops whose bodies repeat exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from workbench.model.run import TABLES, Table

LONGEST_BODY = 64

Call = tuple[int, int]  # (site, state)


@dataclass(frozen=True)
class Node:
    """A call (no body) or a loop over `body`, `repeat` times."""

    call: Call | None
    repeat: int
    body: tuple[Node, ...] = ()


def fold(calls: Iterable[Call]) -> list[Node]:
    """The shortest skeleton that folding from the left finds. `list(unfold(fold(x))) == list(x)` for every x."""
    nodes: list[Node] = []
    for call in calls:
        nodes.append(Node(call, 1))
        while _fold_end(nodes):
            pass
    return nodes


def _fold_end(nodes: list[Node]) -> bool:
    last = nodes[-1]
    if len(nodes) > 1 and last.call is not None and nodes[-2].call == last.call:
        nodes[-2:] = [Node(last.call, nodes[-2].repeat + last.repeat)]
        return True
    for size in range(2, min(LONGEST_BODY, len(nodes) - 1) + 1):
        before = nodes[-size - 1]
        if before.call is None and before.body[-1] == last and before.body == tuple(nodes[-size:]):
            nodes[-size - 1 :] = [Node(None, before.repeat + 1, before.body)]
            return True
        if 2 * size <= len(nodes) and nodes[-size - 1] == last and nodes[-2 * size : -size] == nodes[-size:]:
            nodes[-2 * size :] = [Node(None, 2, tuple(nodes[-size:]))]
            return True
    return False


def unfold(nodes: Iterable[Node]) -> Iterator[Call]:
    for node in nodes:
        for _ in range(node.repeat):
            if node.call is not None:
                yield node.call
            else:
                yield from unfold(node.body)


def to_table(nodes: Iterable[Node]) -> Table:
    """Rows in pre-order, as table `call_order` (model/run.py)."""
    rows: list[tuple[int, int, int, int]] = []
    _append(nodes, rows)
    columns = list(zip(*rows, strict=True)) or [()] * 4
    return {
        name: np.array(column, dtype=kind)
        for (name, kind), column in zip(TABLES["call_order"].items(), columns, strict=True)
    }


def _append(nodes: Iterable[Node], rows: list[tuple[int, int, int, int]]) -> None:
    for node in nodes:
        if node.call is not None:
            rows.append((*node.call, node.repeat, 0))
        else:
            at = len(rows)
            rows.append((-1, -1, node.repeat, 0))
            _append(node.body, rows)
            rows[at] = (-1, -1, node.repeat, len(rows) - at - 1)


def from_table(table: Table) -> list[Node]:
    rows = list(zip(*(table[name].tolist() for name in TABLES["call_order"]), strict=True))

    def nodes(start: int, end: int) -> list[Node]:
        found = []
        while start < end:
            site, state, repeat, body = rows[start]
            inner = tuple(nodes(start + 1, start + 1 + body))
            found.append(Node(None, repeat, inner) if body else Node((site, state), repeat))
            start += 1 + body
        return found

    return nodes(0, len(rows))

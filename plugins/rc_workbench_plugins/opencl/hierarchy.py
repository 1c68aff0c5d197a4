"""The hierarchy of a kernel (Wang 2016, Fig. 5, section 3.2): sequences, branches, switches and loops over its blocks.

Loops are the natural ones of the control-flow graph. What lies between them is a graph without cycles, whose branches
end where all their ways meet again (the nearest post-dominator).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeVar

import networkx as nx

from rc_workbench_plugins.opencl.kernel import Branch, Kernel, Leaf, Loop, Node, Sequence, Switch, leaves
from workbench.api import Diagnostic, WorkbenchError

#: where every way out of a region leads
_END = ""
_Node = TypeVar("_Node", bound=Node)


@dataclass
class _Region:
    """A loop's blocks, or the whole kernel's, with the loops directly inside."""

    header: str
    blocks: set[str]
    inner: list[_Region] = field(default_factory=list)


def hierarchy(kernel: Kernel) -> Sequence:
    """The kernel's root node. WorkbenchError where a loop is entered at more than one place."""
    return _Builder(kernel).root()


class _Builder:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._graph = nx.DiGraph([(b.name, s) for b in kernel.blocks for s in b.successors])
        self._graph.add_nodes_from(kernel.block)
        self._whole = self._regions()
        self._ids = self._loop_ids()

    def root(self) -> Sequence:
        children = self._inside(self._whole)
        return _numbered(Sequence("", _lines(children), children), count(1))

    def _regions(self) -> _Region:
        """The whole kernel, with its loops one in another."""
        entry = self._kernel.blocks[0].name
        above = nx.immediate_dominators(self._graph, entry)
        at = {block.name: number for number, block in enumerate(self._kernel.blocks)}
        loops: dict[str, _Region] = {}
        for latch, header in self._graph.edges:
            if at[header] > at[latch]:
                continue
            if header not in _upwards(latch, above):
                line = next((i.line for i in self._kernel.block[header].instructions if i.line), self._kernel.line)
                hint = "Write it with for, while or do, without jumps into it."
                message = "this loop has more than one entry, which the model cannot represent"
                raise WorkbenchError(Diagnostic(message, hint, file=self._kernel.file, line=line))
            body = {header, latch}
            waiting = [latch] if latch != header else []
            while waiting:
                fresh = set(self._graph.predecessors(waiting.pop())) - body
                body |= fresh
                waiting += fresh
            loops.setdefault(header, _Region(header, set())).blocks |= body
        whole = _Region(entry, set(self._kernel.block))
        for loop in sorted(loops.values(), key=lambda loop: len(loop.blocks), reverse=True):
            around = whole
            while inner := next((r for r in around.inner if loop.header in r.blocks), None):
                around = inner
            around.inner.append(loop)
        return whole

    def _loop_ids(self) -> Mapping[str, str]:
        """ "L1", "L2", ... by where loops begin in the source."""
        places: list[tuple[tuple[int, int, int], str]] = []

        def into(region: _Region, depth: int) -> None:
            for number, loop in enumerate(region.inner):
                places.append(((self._loop_lines(loop)[0], depth, number), loop.header))
                into(loop, depth + 1)

        into(self._whole, 0)
        return {header: f"L{number}" for number, (_, header) in enumerate(sorted(places), 1)}

    def _loop_lines(self, loop: _Region) -> tuple[int, int]:
        lines = self._kernel.loop_lines.get(loop.header)
        return lines or _span(self._block_lines(name) for name in loop.blocks)

    def _inside(self, region: _Region) -> tuple[Node, ...]:
        """The nodes of a region, in the order that a work item passes them."""
        unit = {name: name for name in region.blocks}
        unit |= {name: inner.header for inner in region.inner for name in inner.blocks}
        graph: nx.DiGraph = nx.DiGraph()
        for name in region.blocks:
            for target in self._kernel.block[name].successors:
                to = unit[target] if target in region.blocks and target != region.header else _END
                if to != unit[name]:
                    graph.add_edge(unit[name], to)
        for name in set(unit.values()):
            if name not in graph or not graph.out_degree(name):
                graph.add_edge(name, _END)
        ends: nx.DiGraph = nx.DiGraph(graph.reverse())  # a conditional way out of a loop is no join of what follows it
        ends.remove_edges_from([(_END, name) for name in graph.pred[_END] if graph.out_degree(name) > 1])
        joins = nx.immediate_dominators(ends, _END)
        loops = {inner.header: inner for inner in region.inner}
        placed: set[str] = set()

        def sequence(name: str, stop: str) -> tuple[Node, ...]:
            nodes: list[Node] = []
            while name not in (stop, _END) and name not in placed:
                placed.add(name)
                nodes.append(self._loop(loops[name]) if name in loops else Leaf(name, self._block_lines(name)))
                arms = self._targets(name, loops.get(name), unit, graph)
                if len(arms) > 1:
                    nodes += branch(name, nodes[-1], arms, joins[name])
                name = joins[name]
            return tuple(nodes)

        def branch(name: str, condition: Node, arms: Iterable[str], join: str) -> list[Node]:
            branches = []
            for arm in arms:
                inside = sequence(arm, join)
                branches.append(Sequence("", _lines(inside), inside))
            if not any(arm.children for arm in branches):
                return []
            is_switch = name not in loops and self._kernel.block[name].instructions[-1].opcode == "switch"
            lines = _span([(condition.lines[1], condition.lines[1]), *(arm.lines for arm in branches)])
            return [(Switch if is_switch else Branch)("", lines, condition.id, tuple(branches))]

        return sequence(region.header, _END)

    def _targets(self, name: str, loop: _Region | None, unit: Mapping[str, str], graph: nx.DiGraph) -> list[str]:
        """Where a unit's ways lead, each once, in the order of the block that decides."""
        if loop is not None:
            return sorted(graph.successors(name))
        inside = [unit.get(target, _END) for target in self._kernel.block[name].successors]
        return list(dict.fromkeys(to if graph.has_edge(name, to) else _END for to in inside))

    def _loop(self, loop: _Region) -> Loop:
        children = self._inside(loop)
        lines, unroll = self._loop_lines(loop), self._kernel.unrolls.get(loop.header)
        return Loop(self._ids[loop.header], lines, loop.header, children, unroll)

    def _block_lines(self, name: str) -> tuple[int, int]:
        return _span((i.line, i.line) for i in self._kernel.block[name].instructions)


def _numbered(node: _Node, numbers: Iterator[int]) -> _Node:
    """The node with a name for each branch and sequence below, in their order."""
    named = node.id or f"{type(node).__name__[0]}{next(numbers)}"
    if isinstance(node, Leaf):
        return node
    return replace(node, id=named, children=tuple(_numbered(child, numbers) for child in node.children))


def _upwards(name: str, above: Mapping[str, str]) -> Iterable[str]:
    """A block and all that dominate it."""
    yield name
    while above.get(name, name) not in (name, None):
        name = above[name]
        yield name


def _lines(nodes: Iterable[Node]) -> tuple[int, int]:
    return _span(node.lines for node in nodes)


def _span(lines: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The first and the last of lines; (0, 0) where none is known."""
    known = [pair for pair in lines if pair[0]]
    return (min(a for a, _ in known), max(b for _, b in known)) if known else (0, 0)


def execution_order(root: Node) -> tuple[str, ...]:
    """The blocks in an order in which work items that went different ways meet again: a loop's before the next."""
    return tuple(leaf.id for leaf in leaves(root))

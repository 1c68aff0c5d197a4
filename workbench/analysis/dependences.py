"""Which blocks work side by side, and which one after another, as the application's block graph has it.

ReCAP 2011, section 5.4, finds imbalances "by searching through the block dependency graph given by user pragmas":
parallel blocks "receive data, potentially indirectly, from the same source block", stages of a pipeline depend on one
another.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.api.results import BlockMetrics
from workbench.model.blocks import BlockGraph, Side
from workbench.model.pragma import Category

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Dependences:
    """The FPGA's blocks of a graph, each with the blocks that it receives from."""

    blocks: Sequence[BlockMetrics]
    graph: BlockGraph

    def parallel(self, block: BlockMetrics) -> tuple[BlockMetrics, ...]:
        """The block and those that work beside it: its replicas, and those that receive from the same block, if need be
        by way of blocks without work, and neither from it nor for it."""
        mine, own = self._nearest(block.block.id), self._chain(block.block.id)
        return tuple(
            one
            for one in self._working
            if one.block.group == block.block.group or (one.block.id not in own and mine & self._sources[one.block.id])
        )

    def stages(self, block: BlockMetrics) -> tuple[tuple[BlockMetrics, ...], ...]:
        """The stages of the pipeline that the block stands in, each with its replicas. Blocks that depend on each other
        both ways are no stages: one of them waits while the other works."""
        before, after = self._reached(block.block.id, self._senders), self._reached(block.block.id, self._receivers)
        there = {block.block.id} | (before ^ after)
        groups: dict[str, list[BlockMetrics]] = {}
        for one in self._working:
            if one.block.id in there:
                groups.setdefault(one.block.group, []).append(one)
        return tuple(map(tuple, groups.values()))

    @cached_property
    def _working(self) -> tuple[BlockMetrics, ...]:
        return tuple(b for b in self.blocks if b.block.side is Side.FPGA and b.time_of(Category.WORK) > 0)

    @cached_property
    def _senders(self) -> Mapping[str, frozenset[str]]:
        """The blocks from which each of the FPGA's blocks receives."""
        members: dict[str, list[str]] = {}
        for one in self.blocks:
            if one.block.side is Side.FPGA:
                for name in {one.block.id, one.block.group}:
                    members.setdefault(name, []).append(one.block.id)
        senders: dict[str, set[str]] = {}
        for edge in self.graph.edges:
            for target in members.get(edge.target, ()):
                senders.setdefault(target, set()).update(members.get(edge.source, ()))
        return {target: frozenset(sources - {target}) for target, sources in senders.items()}

    @cached_property
    def _receivers(self) -> Mapping[str, frozenset[str]]:
        receivers: dict[str, set[str]] = {}
        for target, sources in self._senders.items():
            for source in sources:
                receivers.setdefault(source, set()).add(target)
        return {source: frozenset(targets) for source, targets in receivers.items()}

    @cached_property
    def _sources(self) -> Mapping[str, frozenset[str]]:
        """The nearest of each block with work."""
        return {block: self._nearest(block) for block in self._works}

    @cached_property
    def _works(self) -> frozenset[str]:
        return frozenset(one.block.id for one in self._working)

    def _nearest(self, block: str) -> frozenset[str]:
        """The nearest blocks with work that a block receives from, or where there are none, all without."""
        passed: set[str] = set()
        ahead, nearest = [block], set[str]()
        while ahead:
            for source in self._senders.get(ahead.pop(), _NONE) - passed:
                passed.add(source)
                (nearest.add if source in self._works else ahead.append)(source)
        return frozenset(nearest or passed)

    def _chain(self, block: str) -> frozenset[str]:
        return self._reached(block, self._senders) | self._reached(block, self._receivers)

    @staticmethod
    def _reached(block: str, ways: Mapping[str, Iterable[str]]) -> frozenset[str]:
        reached: set[str] = set()
        ahead = [block]
        while ahead:
            new = set(ways.get(ahead.pop(), ())) - reached - {block}
            reached |= new
            ahead += new
        return frozenset(reached)

"""Which FPGA blocks work in parallel and which in sequence, according to the application's block graph.

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
    """The FPGA blocks of a graph, each with the blocks that it receives from."""

    blocks: Sequence[BlockMetrics]
    graph: BlockGraph

    def parallel(self, block: BlockMetrics) -> tuple[BlockMetrics, ...]:
        """The block and all blocks that work in parallel with it: its replicas, and blocks that neither feed it nor
        receive from it and have a source in common with it (directly, or through blocks without work)."""
        sources, chain = self._nearest(block.block.id), self._chain(block.block.id)
        return tuple(
            other
            for other in self._working
            if other.block.group == block.block.group
            or (other.block.id not in chain and sources & self._sources[other.block.id])
        )

    def stages(self, block: BlockMetrics) -> tuple[tuple[BlockMetrics, ...], ...]:
        """The stages of the block's pipeline, each with its replicas. Blocks that depend on each other in both
        directions are not stages, since one waits while the other works."""
        before, after = self._reached(block.block.id, self._senders), self._reached(block.block.id, self._receivers)
        pipeline = {block.block.id} | (before ^ after)
        groups: dict[str, list[BlockMetrics]] = {}
        for other in self._working:
            if other.block.id in pipeline:
                groups.setdefault(other.block.group, []).append(other)
        return tuple(map(tuple, groups.values()))

    @cached_property
    def _working(self) -> tuple[BlockMetrics, ...]:
        return tuple(b for b in self.blocks if b.block.side is Side.FPGA and b.time_of(Category.WORK) > 0)

    @cached_property
    def _senders(self) -> Mapping[str, frozenset[str]]:
        """For each FPGA block the blocks that it receives from."""
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
        """For each block with work its nearest blocks with work."""
        return {block: self._nearest(block) for block in self._works}

    @cached_property
    def _works(self) -> frozenset[str]:
        return frozenset(one.block.id for one in self._working)

    def _nearest(self, block: str) -> frozenset[str]:
        """The nearest blocks with work that a block receives from; if there are none, all blocks without work before
        it."""
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

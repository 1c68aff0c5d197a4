"""Which model a kernel has: the paper's of many work items, or that of one work item, with loops as pipelines."""

from collections.abc import Mapping

import numpy as np

from rc_workbench_plugins.opencl.kernel import Branch, Leaf, Loop, Node, Switch, Way, leaves
from rc_workbench_plugins.opencl.model import REPAIRED, BlockEstimate, Estimate, RangeModel, Setting, largest, total
from rc_workbench_plugins.opencl.recurrence import is_innermost
from rc_workbench_plugins.opencl.statistics import Stream, Work
from workbench.api import Values
from workbench.api.unstable import KernelBoard


def estimate(work: Work, board: KernelBoard, setting: Setting, profile: str = REPAIRED) -> Estimate:
    """Cycles of a kernel's launch, and every number on the way. A kernel of one work item, which the paper does not
    model, is estimated as one unless the equations are asked for as printed."""
    model = TaskModel if work.task and profile == REPAIRED else RangeModel
    return model(work, board, setting, profile).estimate()


class TaskModel(RangeModel):
    """A kernel of one work item: its innermost loops are pipelines, an iteration every initiation interval; all else is
    done one after another (`ERRATA.md`, "T1" to "T4"). The paper models many work items."""

    def estimate(self) -> Estimate:
        statistics = {name: self._statistics(name) for name in self.order}
        blocks: dict[str, BlockEstimate] = {}
        nodes: dict[str, Values] = {}
        cycles = self._serial(self.work.root, np.float64(1.0), statistics, blocks, nodes)
        ordered = {name: blocks[name] for name in self.order}
        return Estimate(
            self.work, self.setting, self.profile, ordered, nodes, self.rounds, cycles, tuple(self.book.numbers)
        )

    def _next(self, stream: Stream, loops: tuple[Loop, ...]) -> tuple[float | None, Values]:
        """Consecutive iterations of the innermost loop enter the pipeline one after another."""
        return (stream.loop_bytes.get(loops[-1].id), self._unroll(loops[-1])) if loops else (None, 1.0)

    def _serial(
        self, node: Node, times: Values, statistics: Mapping[str, tuple[Values, ...]],
        blocks: dict[str, BlockEstimate], nodes: dict[str, Values],
    ) -> Values:  # fmt: skip
        """Cycles of a node each time that it is come to, which is `times`."""
        if isinstance(node, Leaf):
            depth = self._depth(node)
            blocks[node.id] = self._estimated(node.id, statistics, np.float64(1.0), times, depth)
            return blocks[node.id].cycles
        if isinstance(node, Loop) and is_innermost(node):
            return self._pipelined(node, times, statistics, blocks, nodes)
        rounds = self.rounds[node.id] if isinstance(node, Loop) else np.float64(1.0)
        parts = {one.id: self._serial(one, times * rounds, statistics, blocks, nodes) for one in node.children}
        arms = isinstance(node, Branch | Switch)
        cycles = largest(parts.values()) if arms else rounds * total(parts.values())
        nodes[node.id] = self.book("C", node.id, "T4", cycles, {**parts, "#Trip": rounds})
        return nodes[node.id]

    def _pipelined(
        self, loop: Loop, times: Values, statistics: Mapping[str, tuple[Values, ...]],
        blocks: dict[str, BlockEstimate], nodes: dict[str, Values],
    ) -> Values:  # fmt: skip
        rounds, factor = self.rounds[loop.id], self._unroll(loop)
        limit = self.work.intervals.get(loop.id)
        least = limit.cycles if limit else 1.0
        interval = least * (factor if limit and limit.grows else 1.0)
        depth = self._depth(loop) + (interval - least)
        self.book("II", loop.id, "T1", interval, {"least": np.float64(least), "#UL": factor})
        self.book("depth", loop.id, "T2", depth, {})
        comp = np.where(rounds > 0, interval * np.maximum(rounds - 1, 0.0) + depth, 0.0)
        for leaf in leaves(loop):
            blocks[leaf.id] = self._estimated(leaf.id, statistics, rounds, times, comp)
        memory = total(blocks[leaf.id].mem for leaf in leaves(loop))
        inputs = {"II": interval, "#Trip": rounds, "depth": depth, "Mem": memory}
        nodes[loop.id] = self.book("C", loop.id, "T3", np.maximum(comp, memory), inputs)
        return nodes[loop.id]

    def _estimated(
        self, name: str, statistics: Mapping[str, tuple[Values, ...]], rounds: Values, times: Values, comp: Values
    ) -> BlockEstimate:
        insts, bytes_, burst, busy = statistics[name]
        mem = self.book("Mem", name, "T3", insts / burst * busy * rounds / float(self.board.banks),
                        {"#Mem_insts": insts, "#Mem_burst": burst, "#Trip": rounds, "cycles each": busy})  # fmt: skip
        cycles = np.maximum(comp, mem)
        weight = times * rounds
        return BlockEstimate(
            self.work.blocks[name], insts, bytes_, burst, rounds, times, weight, comp, comp, mem, mem, cycles
        )

    def _depth(self, node: Node) -> Values:
        """Cycles from an iteration's begin to its end: its blocks' critical paths one after another, the longer arm of
        each branch, and an answer of global memory where something is loaded."""
        if isinstance(node, Leaf):
            block = self.work.blocks[node.id]
            loads = any(stream.way is not Way.STORE for stream in block.streams)
            return np.float64(block.cycles + (self.board.dram_latency_cycles if loads else 0.0))
        parts = [self._depth(child) for child in node.children]
        return largest(parts) if isinstance(node, Branch | Switch) else total(parts)

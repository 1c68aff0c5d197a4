"""The analytical model: cycles of a kernel on a board, from its blocks' statistics (sections 3.2 and 4; Eqs. 1 to 19).

Times are cycles of the kernel's clock, sizes bytes. Numbers may be arrays that broadcast, as in a sweep. Each one is
kept with its equation and what went into it. In the profile `printed` the equations are the paper's as they stand; in
`repaired` they are read as `ERRATA.md` here says ("R1" to "R16").
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.opencl.kernel import Branch, Leaf, Loop, Node, Switch, Way, enclosing, leaves, walk
from rc_workbench_plugins.opencl.statistics import BlockWork, Work
from rc_workbench_plugins.opencl.streams import Stream
from workbench.api import Values
from workbench.api.unstable import KernelBoard

PRINTED, REPAIRED = "printed", "repaired"


@dataclass(frozen=True)
class Setting:
    """How a kernel is launched and replicated: #WI, #CU, #SIMD, and #UL of loops by their ids."""

    work_items: Values
    compute_units: Values = 1.0
    simd: Values = 1.0
    unroll: Mapping[str, Values] = field(default_factory=dict)


@dataclass(frozen=True)
class Number:
    """One number of the model: its symbol in the paper, the node that it is of ("" for the kernel), its equation, and
    what it was computed from. `reading` names the repair that was made, "" where the equation is as printed."""

    symbol: str
    node: str
    equation: str
    value: Values
    inputs: Mapping[str, Values]
    reading: str = ""


@dataclass(frozen=True)
class BlockEstimate:
    """A block's numbers (Eqs. 1 to 5, 10 to 14, 24). `trips` is what C_k includes (the leaf's own), `times` how often
    C_k is repeated besides, by the loops above; `weight` how often a work item executes it."""

    work: BlockWork
    mem_insts: Values
    mem_bytes: Values
    mem_burst: Values
    trips: Values
    times: Values
    weight: Values
    comp_min: Values
    comp: Values
    mem: Values
    mem_min: Values
    cycles: Values

    @property
    def total_cycles(self) -> Values:
        """C_k of all its repetitions (R6)."""
        return self.cycles * self.times


@dataclass(frozen=True)
class Estimate:
    """What the model comes to: `cycles` is C_S of the whole kernel (Eq. 6's numerator), `rounds` are the loops' #Trip
    after unrolling."""

    work: Work
    setting: Setting
    profile: str
    blocks: Mapping[str, BlockEstimate]
    nodes: Mapping[str, Values]
    rounds: Mapping[str, Values]
    cycles: Values
    numbers: tuple[Number, ...]

    @property
    def slowest(self) -> str:
        """The block that takes longest (on average, for arrays)."""
        return max(self.blocks, key=lambda name: float(np.mean(self.blocks[name].total_cycles)))


class _Book:
    """Keeps every number with its equation and inputs."""

    def __init__(self) -> None:
        self.numbers: list[Number] = []

    def __call__(
        self, symbol: str, node: str, equation: str, value: Values, inputs: Mapping[str, Values], reading: str = ""
    ) -> Values:
        self.numbers.append(Number(symbol, node, equation, value, inputs, reading))
        return value


class RangeModel:
    """The paper's model, of an NDRange of many work items."""

    def __init__(self, work: Work, board: KernelBoard, setting: Setting, profile: str) -> None:
        self.work, self.board, self.setting, self.profile = work, board, setting, profile
        self.repaired = profile == REPAIRED
        self.book = _Book()
        self.above = enclosing(work.root)
        self.order = [leaf.id for leaf in leaves(work.root)]
        self.rounds = {node.id: self._rounds(node) for node in walk(work.root) if isinstance(node, Loop)}
        #: #WI: SIMD takes that many work items at once (section 2.1; R12).
        self.items = self.book(
            "#WI", "", "section 2.1", setting.work_items / setting.simd,
            {"work items": setting.work_items, "#SIMD": setting.simd}, "R12",
        )  # fmt: skip

    def estimate(self) -> Estimate:
        statistics = {name: self._statistics(name) for name in self.order}
        shares = self._totals(statistics)
        blocks = {name: self._block(name, statistics[name], shares) for name in self.order}
        nodes: dict[str, Values] = {}
        cycles = self._node(self.work.root, blocks, nodes)
        numbers = tuple(self.book.numbers)
        return Estimate(self.work, self.setting, self.profile, blocks, nodes, self.rounds, cycles, numbers)

    # ---- loops

    def _unroll(self, loop: Loop) -> Values:
        return self.setting.unroll.get(loop.id, 1.0)

    def _rounds(self, loop: Loop) -> Values:
        """#Trip of a loop, reduced by its unrolling (section 3.3); one is left of what is entered at all. A work item
        that comes k times takes ceil(k/#UL) rounds (R17)."""
        trips, factor = self.work.trips.get(loop.id, 0.0), self._unroll(loop)
        rounds = trips / factor
        if self.repaired and (counts := self.work.rounds.get(loop.id)):
            numbers, times = np.array(list(counts), float), np.array(list(counts.values()), float)
            rounds = np.tensordot(times / times.sum(), np.ceil(np.divide.outer(numbers, factor)), 1)
        return np.maximum(rounds, np.minimum(trips, 1.0))

    def _product(self, loops: tuple[Loop, ...]) -> Values:
        result: Values = 1.0
        for loop in loops:
            result = result * self.rounds[loop.id]
        return result

    # ---- statistics of a block

    def _statistics(self, name: str) -> tuple[Values, Values, Values, Values]:
        """#Mem_insts, #Mem_bytes, #Mem_burst, and what a transaction keeps a bank busy for on average."""
        block, book, loops = self.work.blocks[name], self.book, self.above[name]
        factor = self.setting.simd
        for loop in loops:
            factor = factor * self._unroll(loop)
        book("f", name, "section 3.2", factor,
             {"#SIMD": self.setting.simd} | {f"#UL {loop.id}": self._unroll(loop) for loop in loops})  # fmt: skip
        insts: Values = 0.0
        moved: Values = 0.0
        bursts: Values = 0.0
        transactions: Values = 0.0
        busy: Values = 0.0
        apart = self.board.uncoalesced_cycles if self.repaired else 1.0  # R15
        for stream in block.streams:
            number, width, burst, sequential = self._stream(name, stream, loops, factor)
            insts, moved, bursts = insts + number, moved + width, bursts + burst * stream.share
            transactions = transactions + number / burst
            busy = busy + number / burst * np.where(sequential, 1.0, apart)
        reading = "R1" if self.repaired else ""
        insts = book("#Mem_insts", name, "Eq. 1", insts, {"streams": float(len(block.streams))}, reading)
        bytes_ = _over(moved, insts)
        bytes_ = book("#Mem_bytes", name, "Eq. 3", bytes_, {"f x sum ls_bytes": moved, "#Mem_insts": insts})
        if self.repaired:
            burst = np.where(transactions > 0, _over(insts, transactions), 1.0)
            book("#Mem_burst", name, "Eq. 5", burst, {"#Mem_insts": insts, "sum ls_num/burst": transactions}, "R4")
        else:
            burst = np.where(insts > 0, _over(bursts, insts), 1.0)
            book("#Mem_burst", name, "Eq. 5", burst, {"sum burst": bursts, "#Mem_insts": insts})
        return insts, bytes_, burst, np.where(transactions > 0, _over(busy, transactions), 1.0)

    def _stream(
        self, name: str, stream: Stream, loops: tuple[Loop, ...], factor: Values
    ) -> tuple[Values, Values, Values, Values]:
        """Memory instructions of one stream (Eq. 2), the bytes that they move, their burst (Eq. 4), and whether each
        follows the one before.

        Replicas that stand side by side share a transaction `extent` bytes wide; the others are `copies` (R2).
        """
        width = self.board.transaction_bytes
        setting = joined(self.work, name, stream, loops, self.setting) if self.repaired else self.setting
        extent, copies = side_by_side(stream, loops, setting)
        each = np.ceil(extent / width) if self.repaired else 1 + (extent - stream.bytes) / width
        step, items = self._next(stream, loops)
        inputs = {"ls_bytes": stream.bytes, "f": factor, "#Mem_trans_width": float(width), "copies": copies,
                  "executed": stream.share}  # fmt: skip
        reading = "R1, R2, R14" if self.repaired else "R2"
        number = self.book(f"ls_num {stream.id}", name, "Eq. 2", copies * each * stream.share, inputs, reading)
        follows = np.abs(step or 0.0) * items
        sequential = (follows > 0) & (follows <= extent)
        if self.repaired:
            burst = np.where(sequential, np.maximum(width / extent, 1.0), 1.0)
        else:
            burst = np.where(sequential, width / (stream.bytes * factor), 1.0)
        stepped = {"step to the next work items": follows, "bytes side by side": extent}
        self.book(f"#Mem_burst {stream.id}", name, "Eq. 4", burst, stepped, "R3" if self.repaired else "")
        moved = copies * extent if self.repaired else factor * stream.bytes
        return number, moved * stream.share, burst, sequential

    def _next(self, stream: Stream, loops: tuple[Loop, ...]) -> tuple[float | None, Values]:
        """By how much an address moves to the next work items, which enter the pipeline next, and how many they are."""
        return stream.item_bytes, self.setting.simd

    # ---- shares of the pipeline and of memory

    def _totals(self, statistics: Mapping[str, tuple[Values, ...]]) -> dict[str, tuple[Values, Values]]:
        """Comp_cycles_total and Mem_cycles_total of each block, and of the kernel under "" (section 4.2.3; R7)."""
        totals: dict[str, tuple[Values, Values]] = {}
        for name in self.order:
            trips = self._product(self.above[name])
            insts = statistics[name][0]
            cycles = self.work.blocks[name].cycles
            latency, above = self.board.dram_latency_cycles, "#Trip of all loops above"
            comp = self.book("Comp_cycles_total", name, "section 4.2.3", cycles * trips,
                             {"#Cycle": cycles, above: trips})  # fmt: skip
            mem = self.book("Mem_cycles_total", name, "section 4.2.3", insts * latency * trips,
                            {"#Mem_insts": insts, "#DRAM_lat": latency, above: trips}, "R7")  # fmt: skip
            totals[name] = comp, mem
        comp, mem = (total(pair[part] for pair in totals.values()) for part in (0, 1))
        self.book("Comp_cycles_total", "", "section 4.2.3", comp, {})
        self.book("Mem_cycles_total", "", "section 4.2.3", mem, {})
        self.book("Cycles_total", "", "section 4.2.3", comp + mem, {"Comp_cycles_total": comp, "Mem_cycles_total": mem})
        return {**totals, "": (comp, mem)}

    # ---- a block

    def _block(
        self, name: str, statistics: tuple[Values, ...], totals: Mapping[str, tuple[Values, Values]]
    ) -> BlockEstimate:
        insts, bytes_, burst, busy = statistics
        book, board, items = self.book, self.board, self.items
        units, cycle = self.setting.compute_units, self.work.blocks[name].cycles
        (comp_k, mem_k), (comp_all, mem_all) = totals[name], totals[""]
        loops = self.above[name]
        own = bool(loops) and (not self.repaired or _alone(loops[-1]))
        trips = self.rounds[loops[-1].id] if own else np.float64(1.0)
        reading = "R5" if self.repaired else ""
        comp_min = book("Comp_min", name, "Eq. 11", items * trips / units + cycle - 1,
                        {"#WI": items, "#Trip": trips, "#CU": units, "#Cycle": cycle}, reading)  # fmt: skip
        items_k = book("#WI_k", name, "Eq. 18", comp_k / (comp_all + mem_all) * items,
                       {"Comp_cycles_total": comp_k, "Cycles_total": comp_all + mem_all, "#WI": items})  # fmt: skip
        delay = _over(units * cycle, items_k)
        comp = book("Comp", name, "Eq. 12", comp_min * np.maximum(1.0, delay),
                    {"Comp_min": comp_min, "#CU": units, "#Cycle": cycle, "#WI_k": items_k})  # fmt: skip
        trans = book("Mem_trans", name, "Eq. 14", insts * items * trips / burst,
                     {"#Mem_insts": insts, "#WI": items, "#Trip": trips, "#Mem_burst": burst}, reading)  # fmt: skip
        peak = float(board.banks)
        items_mem = mem_all / (comp_all + mem_all) * items
        rate = np.minimum(peak, items_mem / board.dram_latency_cycles)
        share = _over(mem_k, mem_all)
        mem = _over(trans * busy, rate * share)
        book("#WI_mem", name, "Eq. 19", items_mem, {"Mem_cycles_total": mem_all, "#WI": items})
        book("MTP_lsu", name, "Eq. 16", rate,
             {"MTP_lsu_peak": peak, "#WI_mem": items_mem, "#DRAM_lat": board.dram_latency_cycles})  # fmt: skip
        book("MTP_lsu_k", name, "Eq. 17", rate * share, {"MTP_lsu": rate, "Mem_cycles_total": mem_k})
        book("Mem", name, "Eq. 13", mem, {"Mem_trans": trans, "MTP_lsu_k": rate * share, "cycles each": busy},
             "R15" if np.any(np.asarray(busy) != 1.0) else "")  # fmt: skip
        mem_min = book("Mem_min", name, "Eq. 24", _over(trans * busy, peak * share),
                       {"Mem_trans": trans, "MTP_lsu_peak": peak, "Mem_cycles_total": mem_k}, "R10")  # fmt: skip
        cycles = book("C", name, "Eq. 10", np.maximum(comp, mem), {"Comp": comp, "Mem": mem})
        weight = self._product(loops)
        times = _over(weight, trips) if self.repaired else np.float64(1.0)
        return BlockEstimate(
            self.work.blocks[name], insts, bytes_, burst, trips, times, weight, comp_min, comp, mem, mem_min, cycles
        )

    # ---- the hierarchy

    def _node(self, node: Node, blocks: Mapping[str, BlockEstimate], totals: dict[str, Values]) -> Values:
        """C_S of a node (Eqs. 7 to 9)."""
        if isinstance(node, Leaf):
            return blocks[node.id].cycles
        parts = {child.id: self._node(child, blocks, totals) for child in node.children}
        most = largest(parts.values())
        if not isinstance(node, Loop):
            equation = "Eq. 8" if isinstance(node, Branch | Switch) else "Eq. 7"
            totals[node.id] = self.book("C", node.id, equation, most, parts)
        elif self.repaired and _alone(node):
            totals[node.id] = self.book("C", node.id, "Eq. 9", most, parts, "R5")
        else:
            trips = self.rounds[node.id]
            cycles = total(parts.values()) + np.maximum(trips - 1, 0.0) * most
            totals[node.id] = self.book("C", node.id, "Eq. 9", cycles, {**parts, "#Trips": trips})
        return totals[node.id]


def side_by_side(stream: Stream, loops: Iterable[Loop], setting: Setting) -> tuple[Values, Values]:
    """Bytes that a stream's replicas cover where they stand side by side, and how many copies of that there are
    (R2)."""
    steps = [(stream.loop_bytes.get(loop.id), setting.unroll.get(loop.id, 1.0)) for loop in loops]
    steps.append((stream.item_bytes, setting.simd))
    extent: Values = stream.bytes
    copies: Values = 1.0
    for step, times in sorted(steps, key=lambda pair: np.inf if pair[0] is None else abs(pair[0])):
        beside = (abs(step) <= extent) & (step != 0) if step is not None else False
        copies = np.where(beside, copies, copies * times)
        reach = abs(step or 0.0) * (times - 1)
        extent = np.where(beside, extent + reach, extent)
    return extent, copies


def joined(work: Work, block: str, stream: Stream, loops: tuple[Loop, ...], setting: Setting) -> Setting:
    """The setting without those copies of a load that compilers join (R14): rounds of an unrolled loop that read one
    address, with nothing between them that may change it. They are in one block if the loops within are unrolled whole.
    """
    if stream.way is not Way.LOAD:
        return setting
    factors, within = dict(setting.unroll), np.array(True)
    for loop in reversed(loops):
        if stream.loop_bytes.get(loop.id) == 0 and _passes(loop, block) and _only_loads(work, loop):
            factors[loop.id] = np.where(within, 1.0, setting.unroll.get(loop.id, 1.0))
        within = within & unrolled_whole(work, loop, setting)
    return replace(setting, unroll=factors)


def unrolled_whole(work: Work, loop: Loop, setting: Setting) -> NDArray[np.bool_]:
    """Whether no loop is left of it."""
    return np.asarray(setting.unroll.get(loop.id, 1.0) >= np.maximum(work.trips.get(loop.id, 0.0), 2.0))


def _passes(node: Node, block: str) -> bool:
    """Whether a work item comes to a block each time that it passes a node."""
    if isinstance(node, Leaf):
        return node.id == block
    return not isinstance(node, Branch | Switch) and any(_passes(child, block) for child in node.children)


def _only_loads(work: Work, loop: Loop) -> bool:
    """Whether a loop changes nothing in global memory, and waits for no other work item."""
    blocks = [work.blocks[leaf.id] for leaf in leaves(loop)]
    return not any(block.barriers or any(one.way is not Way.LOAD for one in block.streams) for block in blocks)


def largest(values: Iterable[Values]) -> Values:
    largest: Values = np.float64(0.0)
    for value in values:
        largest = np.maximum(largest, value)
    return largest


def _alone(loop: Loop) -> bool:
    """Whether a loop is one basic block: its leaf then counts the trips itself (R5)."""
    return len(leaves(loop)) == 1 and all(not isinstance(node, Loop) for node in loop.children)


def total(values: Iterable[Values]) -> Values:
    total: Values = np.float64(0.0)
    for value in values:
        total = total + value
    return total


def _over(value: Values, by: Values) -> Values:
    """A quotient; 0 where there is nothing to divide by."""
    by = np.asarray(by, float)
    return np.where(by > 0, value / np.where(by > 0, by, 1.0), 0.0)

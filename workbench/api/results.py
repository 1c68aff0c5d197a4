"""What analysing a run gives: plain data for the report, the window and comparisons. Times are seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.api.metrics import Metrics
from workbench.api.verified import AssertionResult, DecisionResult
from workbench.model.blocks import WAITING, Block, BlockGraph, Side, State
from workbench.model.custom import MetricKind
from workbench.model.diagnostic import Diagnostic
from workbench.model.finding import Finding
from workbench.model.memory import MemoryPort
from workbench.model.pragma import WAITS, Category
from workbench.model.prediction import Bottleneck, CriticalPath, Prediction
from workbench.model.run import Cores, Entry, RunClock, Site, ThreadTime
from workbench.model.streams import Fifo, Stream


@dataclass(frozen=True)
class StateMetrics:
    """One state of one block. `share` is of the run's whole time, 0 to 1; `cycles` is 0 on the host."""

    state: State
    time_s: float
    share: float
    cycles: int
    visits: int


@dataclass(frozen=True)
class Transition:
    """How often a block went from one state to another; both are indexes of its states."""

    from_state: int
    to_state: int
    count: int


@dataclass(frozen=True)
class BlockMetrics:
    """One block. `states` follows the block's states, index by index, `unclassified` first; `cycles` are `clock`'s."""

    number: int
    block: Block
    time_s: float
    cycles: int
    states: tuple[StateMetrics, ...]
    transitions: tuple[Transition, ...]
    clock: RunClock | None = None

    def time_of(self, *categories: Category) -> float:
        return sum(s.time_s for s in self.states if s.state.category in categories)

    def share_of(self, *categories: Category) -> float:
        return sum(s.share for s in self.states if s.state.category in categories)

    @property
    def waiting_share(self) -> float:
        """Share of the run in which it waits: for the other side, or, as a thread of the host, for another thread."""
        threads = [s.share for s in self.states[1:] if s.state.category is None and s.state.name == WAITING]
        return self.share_of(*WAITS) + sum(threads)

    @property
    def by_category(self) -> dict[Category | None, float]:
        """Seconds by category; None is unclassified."""
        times: dict[Category | None, float] = {}
        for state in self.states:
            times[state.state.category] = times.get(state.state.category, 0.0) + state.time_s
        return times


@dataclass(frozen=True)
class GroupMetrics:
    """Replicas of one block: the best and worst (most and least time at work) and their mean."""

    group: str
    members: tuple[BlockMetrics, ...]

    @property
    def best(self) -> BlockMetrics:
        return max(self.members, key=lambda m: m.share_of(Category.WORK))

    @property
    def worst(self) -> BlockMetrics:
        return min(self.members, key=lambda m: m.share_of(Category.WORK))

    @property
    def mean_work_share(self) -> float:
        return sum(m.share_of(Category.WORK) for m in self.members) / len(self.members)


@dataclass(frozen=True)
class Spread:
    """Least, average and greatest of something; a rate's average is bytes over time, not the mean of rates."""

    min: float
    avg: float
    max: float


@dataclass(frozen=True)
class RunLengths:
    """How many calls of one site followed one another without another call between, over `count` such runs."""

    min: int
    avg: float
    max: int
    count: int


@dataclass(frozen=True)
class TableStatistics:
    """What the platform's transfer tables say about a call. Sizes bytes, rates bytes per second.

    `rate_at_size`: this type at the call's mean size. `best_type_at_size`, `best_rate_at_size`: over the types of the
    same direction. `best_rate_of_type`, `best_size_of_type`: over this type's sizes; from `range_low` to `range_high`
    (None: no limit) it reaches 95 % of that. `best_rate`, `best_type`, `best_size`: over all of that direction.
    `moved` is what the run moves in this direction in all: no transfer can be larger, and no best size is.
    `time_at_best_type_s`, `time_at_best_size_s`, `time_at_best_s`: what the same bytes would then take.
    `least_time_s`: the smallest transfer of this type.
    """

    type: str
    rate_at_size: float
    best_type_at_size: str
    best_rate_at_size: float
    best_rate_of_type: float
    best_size_of_type: int
    range_low: int
    range_high: int | None
    best_rate: float
    best_type: str
    best_size: int
    best_range_low: int
    time_at_best_type_s: float
    time_at_best_size_s: float
    time_at_best_s: float
    moved: int = 0
    least_time_s: float = 0.0


@dataclass(frozen=True)
class CallMetrics:
    """All calls of one site in one state with one platform entry. `rate` is None where no bytes were moved."""

    block: str
    site_number: int
    site: Site
    entry: Entry | None
    state: State
    count: int
    bytes: int
    time_s: float
    share: float
    rate: Spread | None
    runs: RunLengths
    table: TableStatistics | None = None

    @property
    def place(self) -> str:
        return f"{self.site.file}:{self.site.line}"

    @property
    def bytes_per_call(self) -> float:
        return self.bytes / self.count if self.count else 0.0


@dataclass(frozen=True)
class Held:
    """For how many of its stalls a stream's `signal` was low because that of another stream, `held_by`, was."""

    other: str
    signal: str
    held_by: str
    cycles: int


@dataclass(frozen=True)
class StreamMetrics:
    """One stream, in cycles of its clock out of reset; they sum to `cycles`. `held`: the longest first."""

    stream: Stream
    transfers: int
    source_stalls: int
    sink_stalls: int
    idle: int
    clock_hz: float
    held: tuple[Held, ...] = ()

    @property
    def cycles(self) -> int:
        return self.transfers + self.source_stalls + self.sink_stalls + self.idle

    @property
    def words_per_s(self) -> float:
        return self.transfers / self.cycles * self.clock_hz if self.cycles else 0.0

    @property
    def bytes_per_s(self) -> float | None:
        return self.words_per_s * self.stream.bits / 8 if self.stream.bits else None


@dataclass(frozen=True)
class FifoMetrics:
    """One FIFO. `occupancy`: (words held, cycles), from the fewest words on."""

    fifo: Fifo
    input: StreamMetrics
    output: StreamMetrics
    occupancy: tuple[tuple[int, int], ...]

    @property
    def cycles(self) -> int:
        return sum(cycles for _, cycles in self.occupancy)

    @property
    def most(self) -> int:
        return self.occupancy[-1][0]

    @property
    def mean(self) -> float:
        return sum(words * cycles for words, cycles in self.occupancy) / self.cycles

    @property
    def full_share(self) -> float:
        """The share of cycles, 0 to 1, in which it took nothing."""
        return (self.input.sink_stalls + self.input.idle) / self.input.cycles if self.input.cycles else 0.0

    @property
    def empty_share(self) -> float:
        """The share of cycles, 0 to 1, in which it gave nothing."""
        return (self.output.source_stalls + self.output.idle) / self.output.cycles if self.output.cycles else 0.0


@dataclass(frozen=True)
class MemoryPortMetrics:
    """One port by which the design asks memory, in cycles of its clock out of reset: they sum to `cycles`.

    It is busy in all but the idle ones. `together_bytes` is what all ports moved into and out of its memory.
    """

    port: MemoryPort
    reads: int
    writes: int
    read_bytes: int
    written_bytes: int
    moving: int
    waiting: int
    held: int
    idle: int
    latency_cycles: int
    row_hits: int
    row_opened: int
    row_conflicts: int
    bus_ps: int
    clock_hz: float
    together_bytes: int

    @property
    def bytes(self) -> int:
        return self.read_bytes + self.written_bytes

    @property
    def bursts(self) -> int:
        return self.reads + self.writes

    @property
    def busy(self) -> int:
        return self.moving + self.waiting + self.held

    @property
    def cycles(self) -> int:
        return self.busy + self.idle

    @property
    def waiting_s(self) -> float:
        return self.waiting / self.clock_hz

    @property
    def bytes_per_s(self) -> float:
        """While it was busy."""
        return self.bytes / self.busy * self.clock_hz if self.busy else 0.0

    @property
    def used_share(self) -> float:
        """What all ports moved, of what the memory could have moved while this one was busy: 0 to 1."""
        possible = self.busy / self.clock_hz * self.port.memory_bytes_per_s
        return min(self.together_bytes / possible, 1.0) if possible else 0.0

    @property
    def latency_s(self) -> float:
        """Mean time (s) of a burst from its request to its last answer."""
        return self.latency_cycles / self.bursts / self.clock_hz if self.bursts else 0.0

    @property
    def outstanding(self) -> float:
        """Bursts on their way while it was busy, on average."""
        return self.latency_cycles / self.busy if self.busy else 0.0

    @property
    def accesses(self) -> int:
        return self.row_hits + self.row_opened + self.row_conflicts

    @property
    def hit_share(self) -> float:
        return self.row_hits / self.accesses if self.accesses else 0.0

    @property
    def conflict_share(self) -> float:
        return self.row_conflicts / self.accesses if self.accesses else 0.0


@dataclass(frozen=True)
class CustomResult:
    """A metric of one's own in hardware, by name: its value (nan where there is none) and its parts, over all blocks
    that count it, and its value in `each` of these; `cycles` are those looked at, in all."""

    name: str
    kind: MetricKind
    value: float
    parts: Mapping[str, float]
    each: Mapping[str, float]
    cycles: int
    file: str
    line: int


@dataclass(frozen=True)
class WhatIf:
    """What replay says of a run, beside the predictions of its findings' advice.

    `why` says why nothing is predicted; empty where the unchanged run is replayed exactly. `best` is the best piece of
    advice, then the best sets of two and three of them; `now` and `after` are what holds the run, and what does once
    the best advice is followed, the longest first. `path` is the critical path by line, and what has time to spare.
    `left_out` is how many changes no time was left for.
    """

    why: str = ""
    best: tuple[Prediction, ...] = ()
    now: tuple[Bottleneck, ...] = ()
    after: tuple[Bottleneck, ...] = ()
    left_out: int = 0
    path: CriticalPath | None = None


@dataclass(frozen=True)
class Analysis:
    """A run analysed. `findings` are ranked by gain, the largest first. `what_if` is None until replay was asked."""

    time_s: float
    clocks: tuple[RunClock, ...]
    blocks: tuple[BlockMetrics, ...]
    calls: tuple[CallMetrics, ...]
    findings: tuple[Finding, ...]
    graph: BlockGraph
    threshold: float = 1.05
    cores: Cores = field(default_factory=Cores)
    threads: tuple[ThreadTime, ...] = ()
    streams: tuple[StreamMetrics, ...] = ()
    fifos: tuple[FifoMetrics, ...] = ()
    custom: tuple[CustomResult, ...] = ()
    assertions: tuple[AssertionResult, ...] = ()
    decisions: tuple[DecisionResult, ...] = ()
    memory_ports: tuple[MemoryPortMetrics, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    metrics: Metrics = field(default_factory=dict)  # those that the findings may name
    what_if: WhatIf | None = None

    @property
    def clock_hz(self) -> float:
        """The first clock's frequency; 0 where the run has none."""
        return self.clocks[0].frequency_hz if self.clocks else 0.0

    @property
    def predictable(self) -> bool:
        """Whether any advice has changes whose gain could be predicted."""
        return any(advice.changes for finding in self.findings for advice in finding.advice)

    def block(self, block_id: str) -> BlockMetrics:
        """Raises KeyError where the run has no such block."""
        return {metrics.block.id: metrics for metrics in self.blocks}[block_id]

    def finding(self, finding_id: str) -> Finding:
        """Raises KeyError where there is no such finding."""
        return {finding.id: finding for finding in self.findings}[finding_id]

    def groups(self) -> tuple[GroupMetrics, ...]:
        """Every group of replicas and every block on its own, in the blocks' order."""
        members: dict[str, list[BlockMetrics]] = {}
        for metrics in self.blocks:
            members.setdefault(metrics.block.group, []).append(metrics)
        return tuple(GroupMetrics(group, tuple(blocks)) for group, blocks in members.items())

    def members(self, name: str) -> tuple[BlockMetrics, ...]:
        """The block of a name, or all replicas of a group of that name."""
        return tuple(m for m in self.blocks if name in (m.block.id, m.block.group))

    def side(self, side: Side) -> tuple[BlockMetrics, ...]:
        return tuple(m for m in self.blocks if m.block.side is side)

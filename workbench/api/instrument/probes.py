"""What is observed, and where: the plan that the monitor's HDL and the reading of its words share."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.api.instrument.lfsr import TAPS
from workbench.api.ports import MonitorFront
from workbench.model.custom import ValueType
from workbench.model.read_out import (
    Access,
    AgentSettings,
    AgentWords,
    CounterWords,
    MonitorWords,
    TraceWords,
    ValueWords,
)

COUNT_BITS = 36
#: Bits in which it is said how many cycles ago the oldest open check of an assertion began.
AGE_BITS = 48
MAGIC = 0x52434150
STATES_OF_A_BLOCK_RAM = 16  # pairs of 4-bit states, and as many starts: 512 entries of 36 bits
MOST_STATES = 1023  # of a block's pragmas: pairs of them are counted
HEADER_WORDS = 4  # magic, cycles (low, high), number of counters
FIRST_WORDS = 4  # of the cycle in which an assertion failed first, each twice (resources/hdl/recap_first.v)
COUNT_WORDS = 4  # of how many words an agent sent, each the same
VALUE_WORDS = 16  # of a metric's sums, the last of which are 0 (resources/hdl/recap_value.v)


@dataclass(frozen=True)
class SumWords:
    """How many words a signal's sum takes, its least and its largest value each, and its sum of squares: so many that
    none overflows before the counter beside it does, and that is reported."""

    sum: int
    extreme: int
    squares: int

    @classmethod
    def of(cls, value: ValueType) -> SumWords:
        return cls(*(-(-bits // 32) for bits in (value.bits + COUNT_BITS, value.bits, 2 * value.bits + COUNT_BITS)))


@dataclass(frozen=True)
class Probe:
    """A block that is observed: its number among the build's blocks, the bits of the design's state vector, and by how
    many cycles the state stands there after its own (0 where it is led there from a register of the design). Where it
    has a signal, `value` is the type of that; one that is summed in state 1 begins at `value_lsb`, and with `squares`
    their sum is too. Where the cycle is kept in which a state is there first, that is `first_of`. At `open_lsb` it is
    said whether checks of an assertion are open, above the age of the oldest."""

    block: int
    lsb: int
    states: int
    late: int = 1
    value_lsb: int = -1
    value: ValueType | None = None
    squares: bool = False
    first_of: int = 0
    open_lsb: int = -1

    @property
    def bits(self) -> int:
        return state_bits(self.states)


@dataclass(frozen=True)
class Counter:
    """What counts one of its probes' blocks, which the host chooses where there are several."""

    probes: tuple[Probe, ...]

    @property
    def bits(self) -> int:
        return max(probe.bits for probe in self.probes)

    @property
    def place_bits(self) -> int:
        """Bits of the number of the block that it watches; 0 if there is no choice."""
        return (len(self.probes) - 1).bit_length()

    @property
    def words(self) -> int:
        """Two for each entry {first, previous, current}."""
        return max(4 << 2 * self.bits, 1 << self.place_bits)


@dataclass(frozen=True)
class TraceStore:
    """How many changes of states (powers of two of them) the collector keeps, and a block's own buffer."""

    record_bits: int
    burst_bits: int

    @classmethod
    def of(cls, records: int, burst: int) -> TraceStore:
        """Room for so many at least."""
        return cls(max(1, (records - 1).bit_length()), max(1, (burst - 1).bit_length()))


#: Bits by which an agent tells those of other clocks what passes (`resources/hdl/agent/agent_link.v`).
LINKS = 128


@dataclass(frozen=True)
class MonitorPlan:
    """`state_width` is the width of the design's state vector; each probe takes its bits from there. There are at most
    so many `engines`, that is counters; one for each probe where that is 0. An agent beside them has room for
    2**agent_bits words; there is none where that is 0. It sees what agents of so many clocks tell (`LINKS`)."""

    probes: tuple[Probe, ...]
    state_width: int
    count_bits: int = COUNT_BITS
    trace: TraceStore | None = None
    engines: int = 0
    agent_bits: int = 0
    linked: int = 0

    @property
    def counters(self) -> tuple[Counter, ...]:
        """Neighbours are watched by different ones."""
        number = min(self.engines or len(self.probes), len(self.probes))
        return tuple(Counter(self.probes[n::number]) for n in range(number))

    @property
    def tap(self) -> int:
        return TAPS[self.count_bits]

    @property
    def entry_bits(self) -> int:
        """Bits of an entry's number {first, previous, current} in the largest counter."""
        return 1 + 2 * max((c.bits for c in self.counters), default=0)

    @property
    def _sizes(self) -> tuple[int, ...]:
        """The words of each counter, of each signal's sums, of each cycle that an assertion keeps, then those of the
        agent and how many these are, those of the trace's records and of its counts, each a power of two."""
        own = (
            *(counter.words for counter in self.counters), *(VALUE_WORDS for _ in self.summed),
            *(FIRST_WORDS for _ in (*self.dated, *self.strong)),
            *((1 << self.agent_bits, COUNT_WORDS) if self.agent_bits else ()),
        )  # fmt: skip
        if self.trace is None or not self.probes:
            return own
        counts = 1 << (len(self.probes) + 1).bit_length()  # stored, dropped, and each block's lost ones
        return (*own, 2 << self.trace.record_bits, counts)

    @property
    def _places(self) -> tuple[int, ...]:
        """The first word of each of them. The largest come first, so that each starts at a multiple of its size."""
        sizes = self._sizes
        places, position = [0] * len(sizes), 0
        for index in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
            places[index] = position
            position += sizes[index]
        return tuple(places)

    @property
    def bases(self) -> tuple[int, ...]:
        """The first word of each counter."""
        return self._places[: len(self.counters)]

    @property
    def summed(self) -> tuple[Probe, ...]:
        """The probes with a signal that is summed."""
        return tuple(probe for probe in self.probes if probe.value_lsb >= 0)

    @property
    def values(self) -> tuple[ValueWords, ...]:
        """Where the sums are of each of them."""
        bases = self._places[len(self.counters) :]
        return tuple(ValueWords(base, probe.block) for probe, base in zip(self.summed, bases, strict=False))

    @property
    def dated(self) -> tuple[Probe, ...]:
        """The probes with a state whose first cycle is kept."""
        return tuple(probe for probe in self.probes if probe.first_of)

    @property
    def firsts(self) -> tuple[ValueWords, ...]:
        """Where that cycle is of each of them."""
        bases = self._places[len(self.counters) + len(self.summed) :]
        return tuple(ValueWords(base, probe.block) for probe, base in zip(self.dated, bases, strict=False))

    @property
    def strong(self) -> tuple[Probe, ...]:
        """The probes of assertions that fail where the run ends while they are open."""
        return tuple(probe for probe in self.probes if probe.open_lsb >= 0)

    @property
    def opens(self) -> tuple[ValueWords, ...]:
        """Where the cycle is of each of them in which what is open began."""
        bases = self._places[len(self.counters) + len(self.summed) + len(self.dated) :]
        return tuple(ValueWords(base, probe.block) for probe, base in zip(self.strong, bases, strict=False))

    @property
    def agent_words(self) -> AgentWords | None:
        if not self.agent_bits:
            return None
        before = len(self.counters) + len(self.summed) + len(self.dated) + len(self.strong)
        base, count = self._places[before : before + 2]
        return AgentWords(base, 1 << self.agent_bits, count, self.linked)

    @property
    def trace_words(self) -> TraceWords | None:
        if self.trace is None or not self.probes:
            return None
        base, counts = self._places[-2:]
        waits = (len(self.probes) << self.trace.burst_bits) + 4
        return TraceWords(base, 1 << self.trace.record_bits, counts, tuple(p.block for p in self.probes), waits)

    @property
    def header(self) -> int:
        """Number of the first of the monitor's own words, which follow all others."""
        return sum(self._sizes)

    @property
    def words(self) -> int:
        return self.header + HEADER_WORDS

    @property
    def select_bits(self) -> int:
        return (self.words - 1).bit_length()

    def words_from(
        self, first: int, clock: str, far: bool, blocks: tuple[int, ...] | None, front: MonitorFront
    ) -> MonitorWords:
        """Where its words are that begin at number `first`, behind a port's `front`; `blocks` run on its clock."""
        return MonitorWords(
            first=first,
            words=self.words,
            header=self.header,
            count_bits=self.count_bits,
            counters=tuple(
                CounterWords(
                    base,
                    tuple((probe.block, probe.states) for probe in counter.probes),
                    _choices(front, first + base, len(counter.probes)),
                )
                for counter, base in zip(self.counters, self.bases, strict=True)
            ),
            clock=clock,
            far=far,
            blocks=blocks,
            trace=self.trace_words,
            values=self.values,
            types={probe.block: probe.value for probe in self.probes if probe.value is not None},
            firsts=self.firsts,
            opens=self.opens,
            agent=self.agent_words,
            settings=_settings(front, first + self.agent_words.base) if self.agent_words else {},
        )


def _choices(front: MonitorFront, number: int, blocks: int) -> tuple[tuple[Access, ...], ...]:
    return tuple(map(front.watch, range(number, number + blocks))) if front.watch and blocks > 1 else ()


def _settings(front: MonitorFront, number: int) -> dict[int, tuple[Access, ...]]:
    """What is written to switch an agent, by the number of the setting (`AgentSettings`)."""
    watch = front.watch
    return {code: watch(number + code) for code in range(AgentSettings.CODES)} if watch else {}


def state_bits(states: int) -> int:
    """Width of a state register that tells `states` states apart."""
    return max(1, (states - 1).bit_length())

"""What an agent in hardware sends, and for what: the words of its packets (`resources/hdl/agent`).

In a run's raw folder `WORDS` has the words that the agent of an FPGA sent, in their order; `END` a line that says how
many these are, how many were lost, and why; and `TIMES` a record (`STAMPS`) for each time that the host asked for the
FPGA's: the host's clock before it read, the cycles since reset that it read, and the host's clock afterwards: the
triple (t_P1, t_F2, t_P3) of Lancaster 2011, section 4.6. All of the FPGA's clock is this one.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rc_workbench_plugins.streaming.query.measures import Assert, Measure, Tap
from workbench.api import Diagnostic

#: Of card i (`format`); the words are 32 bits, little-endian.
WORDS, TIMES, END = "stream_fpga{}.words", "stream_fpga{}.times", "stream_fpga{}.end"
STAMPS = np.dtype([("t_p1_ps", "<i8"), ("t_f2", "<i8"), ("t_p3_ps", "<i8")])

HEAD_WORDS = 6
#: Of a trace, in a frame; beside a monitor fewer, since the memory there keeps room for the last frames.
TRACE_RECORDS, MONITORED_RECORDS = 256, 64
#: How long a frame is where no length is asked for, cycles: half of what a counter of 32 bits holds.
WHOLE = 1 << 31


#: Of a count that one clock's agent tells another's, and how many elements may pass between two looks at it.
LINK_BITS, MOST_AT_ONCE = 8, 100
#: Where elements pass: an edge, by its label, and which of its ends.
Place = tuple[str, Tap]


@dataclass(frozen=True)
class AgentClock:
    """A clock of the design's that edges stand on. An agent beside the counters of an ordinary design's blocks, those
    of the `monitor` of that number, pauses as they do."""

    period_ps: Fraction
    monitor: int | None = None

    @property
    def monitored(self) -> bool:
        return self.monitor is not None


@dataclass(frozen=True)
class Field:
    """A number among a group's held words: collected, count, sum, least, largest or lost. `bias` stands on it.
    One that belongs to a path, `along`, is how many more elements left an edge of it than came into the next one."""

    name: str
    words: int
    signed: bool = False
    bias: int = 0
    along: tuple[str, ...] = ()


@dataclass(frozen=True)
class Histogram:
    """Counts below, in each of, and above the bounds: `bin_of[i]` is the measure's bin, its first "below" 0, that the
    i-th word counts."""

    bin_of: tuple[int, ...]
    bins: int


@dataclass(frozen=True)
class Operand:
    """What an assertion compares, in its records: the `number`-th operand, whether it is known at bit `low`, and its
    value in the `bits` above. `bias_ps` as of a monitor."""

    number: int
    low: int
    bits: int
    type: str
    bias_ps: Fraction = Fraction(0)


@dataclass(frozen=True)
class Trace:
    """Records; of `state` each lasts until the next, the others happen at the end of their cycle. Those of an assertion
    have its truth in the two low bits."""

    value_words: int
    state: bool
    type: str = ""
    operands: tuple[Operand, ...] = ()
    records: int = TRACE_RECORDS


@dataclass(frozen=True)
class Monitor:
    """What is held for one statement, in the order in which it is sent. Where its times begin on another clock, each
    is `bias_ps` longer than the cycles that were counted, and at most `unsure_ps` off either way."""

    of: Measure | Assert
    fields: tuple[Field, ...] = ()
    memory: Histogram | Trace | None = None
    number: int = 0
    bias_ps: Fraction = Fraction(0)
    unsure_ps: Fraction = Fraction(0)

    @property
    def most_words(self) -> int:
        own = sum(part.words for part in self.fields)
        match self.memory:
            case Histogram(bin_of):
                return own + len(bin_of)
            case Trace(value_words):
                return own + 2 + self.memory.records * (1 + value_words)
        return own


@dataclass(frozen=True)
class Group:
    """Monitors of one clock whose frames end together; `number` stands in their packets."""

    number: int
    clock: int
    monitors: tuple[Monitor, ...]
    length: int = WHOLE  # of its frames, in cycles or elements
    of_elements: bool = False

    @property
    def most_words(self) -> int:
        """The most words of one of its packets."""
        return HEAD_WORDS + sum(one.most_words for one in self.monitors)


@dataclass(frozen=True)
class HardwareAgent:
    """`verilog` is its design, by file name; the module `name` has these ports: of
    clock c clock_c and reset_c, high in reset; of edge i of `labels` push_valid_i, push_ready_i, pop_valid_i and
    pop_ready_i and, with `data_bits`, data_i; on the first clock the streams command_* and report_* (valid, ready,
    data of 32 bits, report_last). On a clock that is monitored there are counts_c, which comes with the taps' signals,
    and the state of each of `blocks` as state_i. What passes a place of `links` is told to agents on other clocks as
    link_i, and what passes those of `far` comes from theirs as far_i: a count of LINK_BITS in Gray code."""

    name: str
    clocks: tuple[AgentClock, ...]
    labels: tuple[str, ...]
    data_bits: tuple[int, ...]  # 0: no data is looked at
    tapped: tuple[bool, ...]  # others have no ports
    groups: tuple[Group, ...]
    verilog: dict[str, str]
    diagnostics: tuple[Diagnostic, ...] = ()
    blocks: tuple[str, ...] = ()
    links: tuple[Place, ...] = ()
    far: tuple[Place, ...] = ()

    @property
    def monitors(self) -> tuple[Monitor, ...]:
        """The monitors, in the order of their numbers."""
        return tuple(sorted((one for group in self.groups for one in group.monitors), key=lambda one: one.number))

    @property
    def most_words(self) -> int:
        """The most words that all groups send at once."""
        return sum(group.most_words for group in self.groups)


#: What is said of answers that break off.
KILLED = "The counts until then are shown. Was the application killed, or did it crash, before its blocks had ended?"
#: Commands: a word each.
TELL_TIME, END_FRAMES, FRAME_LENGTH, SETTING = 1 << 28, 2 << 28, 3 << 28, 4 << 28
MAGIC, OF_FRAME, OF_TIME = 0xA6, 1, 2

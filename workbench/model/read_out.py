"""How what a design's monitors counted is read, after a run, through one of the design's ports."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from workbench.model.custom import ValueType
from workbench.model.document import Document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ReadOut(Document):
    """Addresses (in the port's address units) that the application leaves unused, both ends included."""

    first: Annotated[int, Field(ge=0)] = Field(description="the first address", examples=["0x900"])
    last: Annotated[int, Field(ge=0)] = Field(description="the last address", examples=["0x90F"])


#: How many cycles of either clock later a monitor begins and ends to count whose clock is not the port's, at most.
LATER_CYCLES = 4
#: Written to CONTROL: freeze, and let the counter whose word is selected watch the block of that place (hdl/README.md).
WATCH = 5


class Act(StrEnum):
    WRITE = "write"  # the value
    WRITE_INDEX = "write_index"  # the number of the part that is to be read, without its lowest `value` bits
    READ = "read"


@dataclass(frozen=True)
class Access:
    """One word moved, at an address in the port's units, `settle_cycles` after what went before."""

    act: Act
    address: int
    value: int = 0
    settle_cycles: int = 0


@dataclass(frozen=True)
class CounterWords:
    """Where a counter begins among the words, and what it can watch: the numbers of build's blocks, and how many states
    each of them has. It watches the first where nothing else was chosen; `choices` are the accesses that choose each,
    none where there is only one, or too few addresses are left to the monitors."""

    base: int
    watched: tuple[tuple[int, int], ...]
    choices: tuple[tuple[Access, ...], ...] = ()


MARK = 0x5243415052434150  # "RCAPRCAP"; the low bits of a port's width, of which the last three are 0


@dataclass(frozen=True)
class Marks:
    """The reserved words of a stream into a design (ReCAP 2011, section 3.1): `base` and the seven after it.

    One that is by itself is the monitors', and acts at once (`RUN`, `FREEZE`, `CLEAR`) or with the argument that
    follows (`DATA`, `READ`): 64 bits in `argument_words` words, the least significant first. After `DATA` and a number
    so many words are the application's, whatever they are. After `READ`, a number of words and the question's own (32
    bits each) the answer comes in the stream out of the design: the word `READ`, the question's number, and the words
    of 32 bits from 0 on, each in `parts` words, the least significant first. After `WATCH` and a word's number the
    counter that begins before it watches the block of that place.
    """

    word_bits: int
    base: int

    RUN: ClassVar[int] = 0
    FREEZE: ClassVar[int] = 1
    CLEAR: ClassVar[int] = 2
    WATCH: ClassVar[int] = 3
    DATA: ClassVar[int] = 4
    READ: ClassVar[int] = 5

    @classmethod
    def of(cls, word_bits: int) -> Marks:
        return cls(word_bits, MARK & ((1 << word_bits) - 1))

    @property
    def argument_words(self) -> int:
        return -(-64 // self.word_bits)

    @property
    def parts(self) -> int:
        return -(-32 // self.word_bits)


@dataclass(frozen=True)
class TraceWords:
    """Where changes of states are among the words: `records` of two words each from `base` on, of which the word
    `counts` says how many there are, the next one how many found no room, and those that follow how many each of
    `blocks` lost (bit 31: it was losing some at the end). A record is there at most `waits` cycles after the change
    (`resources/hdl/recap_trace.v`)."""

    base: int
    records: int
    counts: int
    blocks: tuple[int, ...]
    waits: int


class AgentSettings:
    """The numbers by which an agent is switched: four bits more of a length, the highest first; that length for the
    frames of a group; and whether a statement is counted (`resources/hdl/agent/agent_settings.v`). Of the monitors of
    an FPGA the last two are no counters: a streaming application's agents on the processor, and in that FPGA
    (`resources/streaming/agent_switch.hpp`)."""

    CODES: ClassVar[int] = 256
    MONITORS: ClassVar[int] = 64
    ON_PROCESSOR: ClassVar[int] = 62
    IN_FPGA: ClassVar[int] = 63
    LENGTH: ClassVar[int] = 16
    COUNTED: ClassVar[int] = 80

    @classmethod
    def length(cls, group: int, length: int) -> tuple[int, ...]:
        """What gives a group's frames a length of less than 2**32 cycles, or elements (2**64 on the processor)."""
        digits = max(8, -(-length.bit_length() // 4))
        return (*(length >> 4 * place & 15 for place in reversed(range(digits))), cls.LENGTH + group)

    @classmethod
    def counted(cls, statement: int, counts: bool) -> int:
        return cls.COUNTED + 2 * statement + counts

    @classmethod
    def is_length(cls, number: int) -> bool:
        """Whether a number of $RCW_AGENT gives frames a length."""
        return cls.LENGTH <= number % cls.CODES < cls.COUNTED

    @classmethod
    def used(cls, groups: int, statements: int) -> tuple[int, ...]:
        """Those that an agent understands."""
        lengths = range(cls.LENGTH, min(cls.LENGTH + groups, cls.COUNTED))
        return (*range(16), *lengths, *range(cls.COUNTED, min(cls.COUNTED + 2 * statements, cls.CODES)))


@dataclass(frozen=True)
class AgentWords:
    """Where what an agent sent is among the words: of `words` from `base` on there are as many as the word `count`
    says. It sees what the agents of so many clocks tell, its own among them."""

    base: int
    words: int
    count: int
    linked: int = 0


@dataclass(frozen=True)
class ValueWords:
    """Where the words begin with a signal's sums (`resources/hdl/recap_value.v`), or with the cycle in which an
    assertion failed first (`resources/hdl/recap_first.v`), or in which that of it began that is open at the end
    (`resources/hdl/recap_open.v`), and of which of the blocks."""

    base: int
    block: int


@dataclass(frozen=True)
class MonitorWords:
    """The words of the monitor that counts the blocks of one `clock`: so many `words`, from number `first` on. Places
    of anything in them are counted from there.

    `header` is where the monitor's own words begin, and `count_bits` a counter's width:
    `workbench.api.instrument.readout` reads both. `blocks` are the numbers of the build's blocks that run on that
    clock; None where all do. Where the clock is another than the port's, the monitor is `far`: its words read 0 where
    the clock did not answer. One that the design makes of a clock of the platform's has `made_of` that: on a machine
    its blocks are counted in its own cycles, on the simulated card in those of the other. `types` are those of the
    signals' values that blocks lead up with their states. `settings` are the accesses
    that switch its `agent`, by number; none where the port cannot.
    """

    first: int
    words: int
    header: int
    count_bits: int
    counters: tuple[CounterWords, ...] = ()
    clock: str = ""
    far: bool = False
    blocks: tuple[int, ...] | None = None
    trace: TraceWords | None = None
    made_of: str = ""
    values: tuple[ValueWords, ...] = ()
    types: Mapping[int, ValueType] = field(default_factory=dict)
    firsts: tuple[ValueWords, ...] = ()
    opens: tuple[ValueWords, ...] = ()
    agent: AgentWords | None = None
    settings: Mapping[int, tuple[Access, ...]] = field(default_factory=dict)

    def of(self, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The monitor's among all that were read."""
        return words[self.first : self.first + self.words]

    def cycles(self, words: NDArray[np.uint32]) -> int:
        """How many cycles the monitor counted (resources/hdl/README.md)."""
        own = self.of(words)
        return int(own[self.header + 1]) | int(own[self.header + 2]) << 32


@dataclass(frozen=True)
class ReadOutPlan:
    """How the words of the monitors of all clocks are read through one port, those of the platform's first clock first.

    `freeze` stops all counters; `run` and `clear` start them and set them to zero. They have acted everywhere after
    `acts_cycles` of the port's clock, and counters are zero after `clear_cycles`. A word (32 bits) comes in so many
    `parts`, the least significant first, part `i` of word `n` having the number `parts * n + i`. For the parts from 0
    on the accesses of `each` are made: the last is a read, which gives the part and those that follow, up to
    `block_words` of them in one transfer.

    `first` and `last` are the addresses that the application leaves to the monitors. Where `marks` are given, `port` is
    a stream into the design, the accesses are words of it without an address, `each` is empty, and all words are asked
    for at once: they come in the stream `answer_port`. `places` tell which of its blocks each counter watches;
    empty where nothing was chosen.
    """

    words: int
    first: int
    last: int
    freeze: Access
    run: Access
    clear: Access
    each: tuple[Access, ...]
    monitors: tuple[MonitorWords, ...] = ()
    port: str = ""
    acts_cycles: int = 0
    clear_cycles: int = 0
    places: tuple[int, ...] = ()
    parts: int = 1
    block_words: int = 1
    marks: Marks | None = None
    answer_port: str = ""

    @property
    def counters(self) -> tuple[CounterWords, ...]:
        """All of them, monitor after monitor."""
        return tuple(counter for monitor in self.monitors for counter in monitor.counters)

    @property
    def traced(self) -> bool:
        return any(monitor.trace for monitor in self.monitors)

    def reaches(self, block: int) -> bool:
        """Whether a monitor counts on the clock of the build's block of that number."""
        return any(monitor.blocks is None or block in monitor.blocks for monitor in self.monitors)

    def watching(self, blocks: Collection[int]) -> ReadOutPlan:
        """The same where counters watch these of the build's blocks, each the first of them that it can; others the
        first of theirs. Raises ValueError where that cannot be chosen, and blocks are given."""
        if any(len(counter.watched) > 1 and not counter.choices for counter in self.counters):
            if blocks:
                raise ValueError(self.port)
            return self
        chosen = (
            next((place for place, (block, _) in enumerate(counter.watched) if block in blocks), 0)
            for counter in self.counters
        )
        return replace(self, places=tuple(chosen))

    @property
    def watch(self) -> tuple[Access, ...]:
        """What chooses the blocks that counters watch. It freezes them, and comes before they are set to zero."""
        chosen = zip(self.counters, self.places, strict=True) if self.places else ()
        accesses = (a for counter, place in chosen for a in (counter.choices[place] if counter.choices else ()))
        return tuple(replace(access, settle_cycles=self.acts_cycles) for access in accesses)

    def not_watched(self) -> tuple[int, ...]:
        """The numbers of the blocks that a counter can watch, and does not."""
        places = self.places or (0,) * len(self.counters)
        return tuple(
            block
            for counter, watched in zip(self.counters, places, strict=True)
            for place, (block, _) in enumerate(counter.watched)
            if place != watched
        )

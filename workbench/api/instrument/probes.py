"""What is observed, and where: the plan that the monitor's HDL and the reading of its words share."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.api.instrument.lfsr import TAPS
from workbench.api.ports import MonitorFront
from workbench.model.read_out import CounterWords, ReadOut, ReadOutPlan

COUNT_BITS = 36
MAGIC = 0x52434150
STATES_OF_A_BLOCK_RAM = 16  # pairs of 4-bit states, and as many starts: 512 entries of 36 bits
HEADER_WORDS = 4  # magic, cycles (low, high), number of counters


@dataclass(frozen=True)
class Probe:
    """A block that is observed: its number among the build's blocks, and the bits of the design's state vector."""

    block: int
    lsb: int
    states: int

    @property
    def bits(self) -> int:
        return state_bits(self.states)

    @property
    def words(self) -> int:
        """Two for each entry {first, previous, current}."""
        return 4 << 2 * self.bits


@dataclass(frozen=True)
class MonitorPlan:
    """`state_width` is the width of the design's state vector; each probe takes its bits from there."""

    probes: tuple[Probe, ...]
    state_width: int
    count_bits: int = COUNT_BITS

    @property
    def tap(self) -> int:
        return TAPS[self.count_bits]

    @property
    def entry_bits(self) -> int:
        """Bits of an entry's number {first, previous, current} in the largest counter."""
        return 1 + 2 * max((p.bits for p in self.probes), default=0)

    @property
    def bases(self) -> tuple[int, ...]:
        """Each counter's first word. The largest come first, so that each starts at a multiple of its size."""
        bases, position = [0] * len(self.probes), 0
        for index in sorted(range(len(self.probes)), key=lambda i: -self.probes[i].bits):
            bases[index] = position
            position += self.probes[index].words
        return tuple(bases)

    @property
    def header(self) -> int:
        """Number of the first of the monitor's own words, which follow the counters'."""
        return sum(probe.words for probe in self.probes)

    @property
    def words(self) -> int:
        return self.header + HEADER_WORDS

    @property
    def select_bits(self) -> int:
        return (self.words - 1).bit_length()

    def read_out(
        self, front: MonitorFront, addresses: ReadOut, port: str, blocks: tuple[int, ...] | None = None
    ) -> ReadOutPlan:
        """How the words are read through the port that the monitor stands behind; `blocks` run on its clock."""
        return ReadOutPlan(
            words=self.words,
            first=addresses.first,
            last=addresses.last,
            freeze=front.freeze,
            run=front.run,
            clear=front.clear,
            each=front.each,
            header=self.header,
            count_bits=self.count_bits,
            counters=tuple(
                CounterWords(probe.block, probe.states, base)
                for probe, base in zip(self.probes, self.bases, strict=True)
            ),
            port=port,
            blocks=blocks,
        )


def state_bits(states: int) -> int:
    """Width of a state register that tells `states` states apart."""
    return max(1, (states - 1).bit_length())

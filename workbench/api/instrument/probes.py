"""What is observed, and where: the plan that the monitor's HDL and the reading of its words share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.api.instrument.lfsr import TAPS
from workbench.model.application import ReadOut
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import HardwarePort, PortStyle

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
class Registers:
    """Addresses of the monitor's three registers, in the port's address units."""

    control: int
    select: int
    data: int


@dataclass(frozen=True)
class MonitorPlan:
    """`state_width` is the width of the design's state vector; each probe takes its bits from there."""

    probes: tuple[Probe, ...]
    state_width: int
    registers: Registers
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

    def metadata(self) -> dict[str, object]:
        """What the reader of the counters and `readout.tables` need, as plain data."""
        return {
            "control": self.registers.control,
            "select": self.registers.select,
            "data": self.registers.data,
            "run_value": 0,
            "freeze_value": 1,
            "clear_value": 2,
            "settle_cycles": 4,
            "count_bits": self.count_bits,
            "header": self.header,
            "probes": [
                {"block": probe.block, "states": probe.states, "base": base}
                for probe, base in zip(self.probes, self.bases, strict=True)
            ],
        }


def state_bits(states: int) -> int:
    """Width of a state register that tells `states` states apart."""
    return max(1, (states - 1).bit_length())


def place_registers(port: HardwarePort, read_out: ReadOut) -> Registers:
    """Addresses for the monitor's registers in the range that the application leaves unused.

    They are aligned where there is room, which makes their decoder small. WorkbenchError where they do not fit, or
    where the port is of a kind that the monitor cannot answer on.
    """
    problems = list(_port_problems(port))
    word_bytes = port.word_bits // 8
    stride = max(1, word_bytes // port.address_unit_bytes)
    aligned = -(-read_out.first // (4 * stride)) * 4 * stride
    base = aligned if aligned + 2 * stride <= read_out.last else read_out.first
    if base + 2 * stride > read_out.last:
        problems.append(
            Diagnostic(
                f"the read_out range {read_out.first}..{read_out.last} is too small for the monitor's three registers",
                f"Declare a range of at least {2 * stride + 1} addresses that the application leaves unused, "
                f"such as {read_out.first}..{read_out.first + 4 * stride - 1}.",
            )
        )
    if read_out.last >= 1 << port.address_bits:
        problems.append(
            Diagnostic(
                f"the read_out range ends at {read_out.last}, past the port's {port.address_bits} address bits",
                f"The last address there is {(1 << port.address_bits) - 1}.",
            )
        )
    if problems:
        raise WorkbenchError(*problems)
    return Registers(base, base + stride, base + 2 * stride)


def _port_problems(port: HardwarePort) -> Iterable[Diagnostic]:
    if port.style is PortStyle.BLOCK and not port.address_tracked:
        yield Diagnostic(
            "counters cannot be read out through a block-transfer port whose address is not kept up to date",
            "Describe the memory-style side of the port, or set address_tracked where each word has its own address.",
        )
    if port.word_bits < 32:
        yield Diagnostic(
            f"counters are read out in words of 32 bits, and the port's words have {port.word_bits}",
            "Use a port of 32 bits or more.",
        )

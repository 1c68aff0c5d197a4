"""The monitors' place behind a memory-style or block-transfer port, at addresses that the application leaves unused.

Registers from `control` on, `stride` addresses apart: control, as many of select as a number of 32 bits needs, and
data. Select takes the number of the part that data shows: a word of 32 bits comes in as many parts as the port's width
asks for. Where the port moves blocks, the addresses from data on are a window: each word that passes is the next part.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypedDict

from workbench.api import WorkbenchError
from workbench.api.unstable import WATCH, Access, Act, OfProject, ReadOut

_SETTLE_CYCLES = 8  # from selecting a word to reading it: it, and some that follow, have to come out of their memory
_STORE_BITS = 2  # words fetched ahead of a block, so that one may pass in each cycle: two cycles' fetching, and some


@dataclass(frozen=True)
class Registers:
    """`window` is the last address at which the word asked for next stands: that of data itself without blocks."""

    control: int
    stride: int
    selects: int
    window: int

    @property
    def select(self) -> int:
        return self.control + self.stride

    @property
    def data(self) -> int:
        return self.select + self.selects * self.stride

    @property
    def block_words(self) -> int:
        return (self.window - self.data) // self.stride + 1


def place_registers(read_out: ReadOut, word_bits: int, stride: int, address_bits: int, blocks: bool) -> Registers:
    """The registers in the range left unused, aligned where there is room (which makes their decoder small).
    WorkbenchError where they do not fit."""
    problems = []
    selects = parts_of(word_bits)
    after = (1 + selects) * stride  # from the first register to the last one
    whole = (1 << (1 + selects).bit_length()) * stride
    aligned = -(-read_out.first // whole) * whole
    base = aligned if aligned + after <= read_out.last else read_out.first
    if base + after > read_out.last:
        problems.append(
            OfProject(
                f"the read_out range {read_out.first}..{read_out.last} is too small for the monitor's "
                f"{2 + selects} registers",
                f"Declare a range of at least {after + 1} addresses that the application does not use, such as "
                f"{read_out.first}..{read_out.first + whole - 1}.",
                keys=("hardware", "read_out"),
            )
        )
    if read_out.last >= 1 << address_bits:
        problems.append(
            OfProject(
                f"the read_out range ends at {read_out.last}, past the port's {address_bits} address bits",
                past_hint(address_bits),
                keys=("hardware", "read_out"),
            )
        )
    if problems:
        raise WorkbenchError(*problems)
    last = base + after
    return Registers(base, stride, selects, last + (read_out.last - last) // stride * stride if blocks else last)


def past_hint(address_bits: int) -> str:
    """The hint for a range that ends past the port's addresses."""
    return (
        f"The last address there is {(1 << address_bits) - 1}. If a parameter of the design widens the port, set it "
        "under hardware.parameters."
    )


class Accesses(TypedDict):
    run: Access
    freeze: Access
    clear: Access
    each: tuple[Access, ...]
    watch: Callable[[int], tuple[Access, ...]]
    parts: int


def accesses(at: Registers, word_bits: int) -> Accesses:
    """What is written and read there."""
    parts = parts_of(word_bits)
    selects = [(at.select + n * at.stride, n * word_bits) for n in range(at.selects)]
    run, freeze, clear, watch = (Access(Act.WRITE, at.control, value) for value in (0, 1, 2, WATCH))
    each = (Access(Act.WRITE_INDEX, address, low) for address, low in selects)
    mask = (1 << min(word_bits, 32)) - 1
    return {
        "run": run,
        "freeze": freeze,
        "clear": clear,
        "each": (*each, Access(Act.READ, at.data, settle_cycles=_SETTLE_CYCLES)),
        "watch": lambda n: (*(Access(Act.WRITE, a, n * parts >> low & mask) for a, low in selects), watch),
        "parts": parts,
    }


def parts_of(word_bits: int) -> int:
    """The number of words of a port that a word of 32 bits takes."""
    return -(-32 // word_bits)


@dataclass(frozen=True)
class MemoryFront:
    """`untracked`: the port gives the address of a block's first word only, with its request. `held` are the signals
    of the handshake that the design has: request, acknowledge and ready of block transfers; waitrequest and
    readdatavalid of Avalon-MM, of which the second needs the first; ack and stall of Wishbone."""

    registers: Registers
    address_bits: int
    word_bits: int
    delay_cycles: int
    untracked: bool = False
    held: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join([*self._ports(), *self._address(), *self._select(), *self._data(), "endmodule", ""])

    def _ports(self) -> Iterator[str]:
        address, word = self.address_bits, self.word_bits
        yield from (
            "module recap_port (",
            "    input wire clock, input wire reset,",
            "    input wire [31:0] word, input wire frozen, input wire clearing, input wire answered,",
            "    output wire write_control, output wire write_select, output wire [31:0] write_data,",
            f"    input wire {self._asks}write, input wire [{address - 1}:0] write_address,",
            f"    input wire {self._asks}read, input wire [{address - 1}:0] read_address,",
            f"    input wire [{word - 1}:0] written,",
        )
        if "ack" in self.held:
            yield "    input wire stb, output wire user_stb, input wire user_ack, output wire ack,"
        if "stall" in self.held:
            yield "    input wire user_stall, output wire stall,"
        if "request" in self.held or self.untracked:
            yield "    input wire request,"
        if "request" in self.held:
            yield "    output wire user_request,"
        for name in ("acknowledge", "ready"):
            if name in self.held:
                yield f"    input wire user_{name}, output wire {name},"
        if "waitrequest" in self.held:
            yield "    input wire user_waitrequest, output wire waitrequest,"
            yield "    output wire user_read, output wire user_write,"
        if "readdatavalid" in self.held:
            yield "    input wire user_readdatavalid, output wire readdatavalid,"
        yield f"    input wire [{word - 1}:0] user_data, output wire [{word - 1}:0] data"
        yield ");"

    def _address(self) -> Iterator[str]:
        """The address of the word that passes, in both directions, and whether it is the monitors'."""
        at, bits = self.registers, self.address_bits
        for way in ("write", "read"):
            if not self.untracked:
                yield f"    wire [{bits - 1}:0] {way}_at = {way}_address;"
                continue
            passes = f"{way} & (ready | own_{way})" if "ready" in self.held else way
            yield f"    reg [{bits - 1}:0] next_{way} = 0;"
            yield f"    wire [{bits - 1}:0] {way}_at = request ? {way}_address : next_{way};"
            yield "    always @(posedge clock)"
            yield f"        next_{way} <= {passes} ? {way}_at + {bits}'d{at.stride} : {way}_at;"
        if not self.held and not self.untracked:
            return
        registers = (at.control, at.window)
        yield f"    wire own_write = {self._asks}write & {self._within('write_at', at.control, at.data - at.stride)};"
        yield f"    wire own_read = {self._asks}read & {self._within('read_at', *registers)};"
        if "ack" in self.held:
            yield from self._acknowledged()
        if "request" in self.held:
            asks = " | ".join(self._within(f"{way}_address", *registers) for way in ("read", "write"))
            yield f"    wire own_request = request & ({asks});"
            yield "    assign user_request = request & ~own_request;"
        if "acknowledge" in self.held:
            yield "    assign acknowledge = own_request | user_acknowledge;"
        if "readdatavalid" in self.held:
            yield "    reg [15:0] open = 0;  // reads of the design's that are not answered yet: ours come behind them"
            yield "    always @(posedge clock)"
            yield "        open <= reset ? 16'd0"
            yield "            : open + {15'd0, user_read & ~user_waitrequest} - {15'd0, user_readdatavalid};"
        if "waitrequest" in self.held:
            stalls = "own_read & (open != 0)" if "readdatavalid" in self.held else "1'b0"
            yield f"    assign waitrequest = own_read | own_write ? {stalls} : user_waitrequest;"
            yield "    assign user_read = read & ~own_read, user_write = write & ~own_write;"
        if "ready" in self.held:
            yield "    assign ready = own_write | own_read | user_ready;"

    @property
    def _asks(self) -> str:
        """What the names of the port's own enables begin with, where what they ask for is taken later."""
        return "asks_" if "ack" in self.held else ""

    def _acknowledged(self) -> Iterator[str]:
        """Wishbone: the monitors answer in the cycle after they were asked, where nothing else is answered."""
        yield "    reg acked = 0;"
        yield "    wire own = own_write | own_read;"
        if "stall" in self.held:
            yield "    reg [15:0] open = 0;  // what the design was asked for, and did not answer yet"
            yield "    wire passes = (asks_write | asks_read) & ~own & ~acked & ~user_stall;"
            yield "    always @(posedge clock)"
            yield "        open <= reset ? 16'd0 : open + {15'd0, passes} - {15'd0, user_ack};"
            yield "    wire grant = own & (open == 0);"
            yield "    assign stall = own ? open != 0 : user_stall | acked;"
            yield "    assign user_stb = stb & ~own & ~acked;"
        else:
            yield "    wire grant = own & ~acked;"
            yield "    assign user_stb = stb & ~own;"
        yield "    wire write = own_write & grant, read = own_read & grant;"
        yield "    always @(posedge clock) acked <= grant & ~reset;"
        yield "    assign ack = acked | user_ack;"

    def _select(self) -> Iterator[str]:
        """The number of the part that is asked for, and that of the word that the monitors show."""
        at, parts, word = self.registers, parts_of(self.word_bits), self.word_bits
        yield f"    wire control = write & (write_at == {self._number(at.control)});"
        selects = [f"write & (write_at == {self._number(at.select + n * at.stride)})" for n in range(at.selects)]
        if at.selects == 1 and not self._blocks:
            yield f"    wire selects = {selects[0]};"
            yield "    assign write_control = control, write_select = selects;"
            yield "    assign write_data = written[31:0];"
            return
        yield "    // What chooses a block to watch comes behind that block's number: all else acts at once."
        yield "    reg [2:0] later = 0;"
        yield "    wire chooses = control & written[2];"
        yield "    always @(posedge clock) later <= answered ? {later[1:0], chooses} : later | {2'b00, chooses};"
        yield "    assign write_control = control & ~written[2] | later[2] & answered;"
        yield "    wire [31:0] controls = later[2] ? 32'd5 : {30'd0, written[1:0]};"
        yield "    reg [31:0] number = 0;  // of the part"
        yield "    reg selected = 0;"
        for n, select in enumerate(selects):
            yield f"    wire selects_{n} = {select};"
        yield "    always @(posedge clock) begin"
        yield f"        selected <= selects_{at.selects - 1};  // the last of them"
        for n in range(at.selects):
            high = min(31, (n + 1) * word - 1)
            yield f"        if (selects_{n}) number[{high}:{n * word}] <= written[{high - n * word}:0];"
        yield "    end"
        shift = parts.bit_length() - 1
        if not self._blocks:
            yield "    assign write_select = selected | later[0] & answered;"
            yield f"    assign write_data = write_control ? controls : number >> {shift};"
            yield f"    wire [31:0] shown = word >> {word} * number[{max(shift, 1) - 1}:0];"
            return
        store = _STORE_BITS
        yield f"    reg [31:0] store [0:{(1 << store) - 1}];"
        yield f"    reg [{store - 1}:0] put = 0, get = 0;"
        yield f"    reg [{store}:0] level = 0;  // words in the store, and on their way there"
        yield "    reg [1:0] coming = 0;"
        yield "    reg [31:0] fetched = 0;"
        if shift:
            yield f"    reg [{shift - 1}:0] part = 0;"
        yield f"    wire fetch = ~control & ~(|later) & ~selected & ~level[{store}];"
        yield "    wire take;"
        yield f"    wire takes_word = take{' & (&part)' if shift else ''};"
        yield "    assign write_select = fetch | later[0];"
        yield f"    assign write_data = write_control ? controls : later[0] ? number >> {shift} : fetched;"
        yield "    always @(posedge clock) begin"
        yield "        coming <= {coming[0], fetch};"
        yield "        if (fetch) fetched <= fetched + 1;"
        yield "        if (coming[1]) begin"
        yield "            store[put] <= word;"
        yield "            put <= put + 1;"
        yield "        end"
        yield "        if (takes_word) get <= get + 1;"
        if shift:
            yield "        if (take) part <= part + 1;"
        yield f"        level <= level + {{{store}'d0, fetch}} - {{{store}'d0, takes_word}};"
        yield "        if (selected) begin"
        yield f"            fetched <= number >> {shift};"
        if shift:
            yield f"            part <= number[{shift - 1}:0];"
        yield "            put <= 0;"
        yield "            get <= 0;"
        yield "            level <= 0;"
        yield "            coming <= 0;"
        yield "        end"
        yield "    end"
        yield f"    wire [31:0] shown = store[get]{f' >> {word} * part' if shift else ''};"

    def _data(self) -> Iterator[str]:
        at, word, delay = self.registers, self.word_bits, self.delay_cycles
        tail = f"_{delay}" if delay else ""
        read = "read & ~waitrequest" if "waitrequest" in self.held else "read"
        yield f"    wire asks_control = {read} & (read_at == {self._number(at.control)});"
        yield f"    wire asks_data = {read} & {self._within('read_at', at.data, at.window)};"
        yield from _delayed(("asks_control", "asks_data"), delay)
        if self._blocks:
            yield f"    assign take = asks_data{tail};"
        shown = "shown" if self._blocks or at.selects > 1 else "word"
        value = f"{{{word - 32}'d0, {shown}}}" if word > 32 else f"{shown}[{word - 1}:0]"
        if "readdatavalid" in self.held:
            yield f"    assign readdatavalid = asks_data{tail} | asks_control{tail} | user_readdatavalid;"
        status = f"{{{word - 3}'d0, ~answered, clearing, frozen}}"
        yield f"    assign data = asks_data{tail} ? {value} : asks_control{tail} ? {status} : user_data;"

    @property
    def _blocks(self) -> bool:
        return self.registers.block_words > 1

    def _within(self, signal: str, first: int, last: int) -> str:
        if first == last:
            return f"({signal} == {self._number(first)})"
        bounds = [f"{signal} >= {self._number(first)}"] if first else []
        bounds += [f"{signal} <= {self._number(last)}"] if last + 1 < 1 << self.address_bits else []
        return f"({' & '.join(bounds) or 1})"

    def _number(self, value: int) -> str:
        return f"{self.address_bits}'h{value:x}"


def _delayed(signals: Sequence[str], cycles: int) -> Iterator[str]:
    """Registers that hold `signals` back; the last are named NAME_<cycles>."""
    if not cycles:
        return
    yield f"    reg {', '.join(f'{s}_{n} = 0' for s in signals for n in range(1, cycles + 1))};"
    yield "    always @(posedge clock) begin"
    for signal in signals:
        for n in range(1, cycles + 1):
            yield f"        {signal}_{n} <= {signal}{f'_{n - 1}' if n > 1 else ''};"
    yield "    end"

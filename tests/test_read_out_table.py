"""Counters read out through ports of any width and delay, word by word and in blocks, with addresses that are kept up
to date or not: the same words everywhere, and those of the design's at other addresses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.ports.bus import AvalonPort, AxiLitePort
from rc_workbench_plugins.ports.memory import BlockPort, MemoryPort
from rc_workbench_plugins.ports.wishbone import WishbonePort
from rtl_simulator import Cycle, Simulator, simulate

from workbench.api import HdlBuild
from workbench.api.instrument import readout
from workbench.api.instrument.crossing import Monitor, ReadPlace, read_out_plan
from workbench.api.instrument.probes import MonitorPlan, Probe
from workbench.api.instrument.wrapper import RUNTIME, Top, TopPort, runtime_source, wrapper
from workbench.api.ports import MonitorFront
from workbench.model.blocks import Block, Side, State
from workbench.model.hardware import Clock, PortDirection
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.read_out import Act, ReadOut, ReadOutPlan

CLOCK = Clock(name="clk", frequency_hz=100e6, reset="rst")
UNUSED = ReadOut(first=0x40, last=0xFF)
PLAN = MonitorPlan((Probe(0, 0, 2), Probe(1, 1, 2)), 2, engines=1)
WATCHED = 1
WISHBONE = ("classic", "pipelined")
STATES = [0, 1, 1, 3, 2, 2, 2, 1, 0, 3, 3] * 3
OWN_WORD = 0xA5
BLOCK = Block("top.b", Side.FPGA, "top", "always", "top.b", (State(0, UNCLASSIFIED),))


@dataclass(frozen=True)
class Case:
    word_bits: int
    delay_cycles: int
    #: memory; block; untracked: block with addresses of first words alone; held: such a one with a handshake; avalon;
    #: valid: Avalon-MM with waitrequest and readdatavalid; axi: AXI4-Lite; classic and
    #: pipelined: Wishbone.
    kind: str = "memory"
    address_unit_bytes: int = 1

    @property
    def port(self) -> MemoryPort | AvalonPort | AxiLitePort | WishbonePort:
        if self.kind in WISHBONE:
            names = {"stb": "take", "we": "wr_en", "adr": "addr", "dat_w": "wr_data", "dat_r": "rd_data",
                     "stall": "ready"}  # fmt: skip
            return WishbonePort(word_bits=self.word_bits, address_bits=8, address_unit_bytes=self.address_unit_bytes,
                                names=names)  # fmt: skip
        if self.kind == "axi":
            names = {"araddr": "addr", "arvalid": "rd_en", "arready": "ready", "rdata": "rd_data", "rvalid": "ack",
                     "rready": "take"}  # fmt: skip
            return AxiLitePort(word_bits=self.word_bits, address_bits=8, names=names)
        if self.kind in ("avalon", "valid"):
            names = {"address": "addr", "write": "wr_en", "read": "rd_en", "writedata": "wr_data",
                     "readdata": "rd_data", "waitrequest": "ready", "readdatavalid": "ack"}  # fmt: skip
            return AvalonPort(word_bits=self.word_bits, address_bits=8, read_latency=self.delay_cycles, names=names)
        ways = {
            "incoming": PortDirection(data_signal="wr_data", address_signal="addr", condition_hdl="wr_en"),
            "outgoing": PortDirection(
                data_signal="rd_data", address_signal="addr", condition_hdl="rd_en", delay_cycles=self.delay_cycles
            ),
        }
        about: dict[str, object] = {
            "word_bits": self.word_bits,
            "address_bits": 8,
            "address_unit_bytes": self.address_unit_bytes,
        }
        about |= {"write_enable": "wr_en", "read_enable": "rd_en", **ways}
        if self.kind == "memory":
            return MemoryPort.model_validate(about)
        held = {"acknowledge_signal": "ack", "ready_signal": "ready"} if self.kind == "held" else {}
        told = {"word_count_signal": "left", "request_hdl": "req", "address_tracked": self.kind == "block"}
        return BlockPort.model_validate({**about, **told, **held})

    @property
    def front(self) -> MonitorFront:
        ready = ("ready",) if self.kind in ("held", "valid", "axi", "pipelined") else ()
        has = (*ready, "ack") if ready or self.kind == "classic" else ()
        widths = {"req": 1, "addr": 8, "rd_en": 1, "rd_data": self.word_bits, "take": 1}
        front = self.port.monitor(UNUSED, {**widths, **dict.fromkeys(has, 1)})
        assert front is not None
        return front

    @property
    def place(self) -> ReadPlace:
        return ReadPlace("host", self.front, CLOCK, UNUSED)

    @property
    def plan(self) -> ReadOutPlan:
        return read_out_plan([Monitor(PLAN, CLOCK)], self.place)

    @property
    def step(self) -> int:
        return max(1, self.word_bits // 8 // self.address_unit_bytes)


CASES = [
    *(Case(bits, delay) for bits, delay in ((8, 0), (8, 3), (16, 1), (32, 0), (64, 3), (128, 1), (512, 0))),
    *(Case(bits, delay, kind, unit) for kind, bits, delay, unit in (
        ("block", 8, 1, 1), ("block", 32, 0, 4), ("block", 64, 2, 8), ("block", 128, 5, 4), ("untracked", 8, 1, 1),
        ("untracked", 128, 5, 4), ("held", 32, 0, 4), ("held", 64, 2, 8))),
    Case(16, 2, "avalon"), Case(64, 0, "avalon"), Case(8, 1, "valid"), Case(32, 1, "valid"),
    *(Case(bits, 1, "axi") for bits in (8, 16, 32, 64)),
    Case(32, 1, "classic"), Case(16, 1, "pipelined"), Case(64, 1, "pipelined", 8),
]  # fmt: skip


def design(number: int, case: Case) -> str:
    """The design gives a word of its own everywhere. Of block transfers it takes none, and no word."""
    answers, ready = "rd_en" if case.kind in ("valid", "axi") else "1'b0", int(case.kind == "axi")
    answers = "take" if case.kind in WISHBONE else answers
    high = case.word_bits - 1
    ports = f"input clk, input rst, input [7:0] addr, input wr_en, input rd_en, input [{high}:0] wr_data, input req"
    return (
        f"module case_{number}__user({ports}, input take, output [{high}:0] rd_data, output ack, output ready,\n"
        f"    input [1:0] in, output asked, output reg [1:0] recap_state);\n"
        f"    reg answer = 0;\n    always @(posedge clk) answer <= {answers};\n"
        f"    assign rd_data = {case.word_bits}'h{OWN_WORD:x}, ack = answer, ready = {ready}, asked = req;\n"
        "    always @(posedge clk) recap_state <= in;\nendmodule\n"
    )


def observed(number: int, case: Case) -> str:
    packed = f"[{case.word_bits - 1}:0]"
    kinds = {"input": {"clk": "", "rst": "", "wr_en": "", "rd_en": "", "req": "", "take": "", "addr": "[7:0]",
                       "wr_data": packed, "in": "[1:0]"},
             "output": {"rd_data": packed, "ack": "", "ready": "", "asked": ""}}  # fmt: skip
    ports = tuple(TopPort(name, way, shape) for way, named in kinds.items() for name, shape in named.items())
    text = wrapper(Top(f"case_{number}", f"case_{number}__user", ports), [Monitor(PLAN, CLOCK)], case.place)
    return re.sub(r"\brecap_(monitor|port)\b", rf"recap_\1_case_{number}", text)


def dut() -> str:
    """All cases side by side; `in`: the state, the request, the number of the case that is spoken to."""
    lines = ["module dut(input clk, input rst, input [15:0] addr, input wr_en, input rd_en, input [63:0] wr_data,",
             "    output reg [63:0] rd_data, input [63:0] in, output reg [63:0] out);"]  # fmt: skip
    shown = []
    for number, case in enumerate(CASES):
        mine, bits = f"in[15:8] == {number}", case.word_bits
        take = f"(rd_en | wr_en) & {mine}" if case.kind in WISHBONE else "1'b1"
        written = f"wr_data[{bits - 1}:0]" if bits <= 64 else f"{{{bits - 64}'d0, wr_data}}"
        lines += [
            f"    wire [{bits - 1}:0] data_{number}; wire ack_{number}, ready_{number}, asked_{number};",
            f"    case_{number} case_{number} (.clk(clk), .rst(rst), .addr(addr[7:0]), .wr_en(wr_en & {mine}),",
            f"        .rd_en(rd_en & {mine}), .req(in[2] & {mine}), .take({take}), .wr_data({written}),",
            f"        .rd_data(data_{number}), .in(in[1:0]), .ack(ack_{number}), .ready(ready_{number}),",
            f"        .asked(asked_{number}));",
        ]
        out = f"{{61'd0, asked_{number}, ack_{number}, ready_{number}}}"
        low = f"data_{number}[63:0]" if bits >= 64 else f"data_{number}"
        shown.append(f"            {number}: begin rd_data = {low}; out = {out}; end")
    lines += ["    always @* begin", "        rd_data = 0;", "        out = 0;", "        case (in[15:8])", *shown]
    return "\n".join([*lines, "        endcase", "    end", "endmodule", ""])


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table")
    parts = [text for number, case in enumerate(CASES) for text in (design(number, case), observed(number, case))]
    texts = {"dut.v": "\n".join([*parts, dut()]), **{name: runtime_source(name) for name in RUNTIME}}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return Simulator(folder).build([folder / name for name in texts], "dut")


def speak(number: int, case: Case, reads: list[int], start: int) -> Iterator[Cycle]:
    """What a host does: it chooses a block to watch, lets it count, reads a word of the design's, and all of the
    monitors'. `reads` gets the cycles of their data."""
    chosen, front, at = number << 8, case.front, start
    quiet = Cycle(stimulus=chosen)

    def moved(act: Act, address: int, value: int, words: int, kept: bool = False) -> Iterator[Cycle]:
        nonlocal at
        first = 4 if case.kind != "memory" else 0
        if case.kind in ("untracked", "held"):  # asked for before
            yield Cycle(stimulus=chosen | 4, addr=address)
            at, first = at + 1, 0
        for word in range(words):
            place = address + word * case.step if case.kind in ("memory", "block") else address
            if kept:
                reads.append(at + case.delay_cycles)
            read = {"rd_en": 1} if act is Act.READ else {"wr_en": 1, "wr_data": value}
            yield Cycle(stimulus=chosen | (first if not word else 0), addr=place, **read)
            at += 1
        if act is Act.READ or case.kind in WISHBONE:
            yield from [quiet] * case.delay_cycles
            at += case.delay_cycles

    plan = case.plan.watching({WATCHED})
    for access in (*plan.watch, plan.clear):
        yield from moved(access.act, access.address, access.value, 1)
        yield from [quiet] * 8
        at += 8
    yield from [quiet] * 32
    at += 32
    yield from moved(front.run.act, front.run.address, front.run.value, 1)
    yield from (Cycle(stimulus=chosen | state) for state in STATES)
    at += len(STATES)
    yield from moved(Act.READ, 0x10, 0, 1, kept=True)
    yield from moved(front.freeze.act, front.freeze.address, front.freeze.value, 1)
    parts = PLAN.words * front.parts
    for part in range(0, parts, front.block_words):
        for access in front.each:
            yield from [quiet] * access.settle_cycles
            at += access.settle_cycles
            several = min(front.block_words, parts - part) if access.act is Act.READ else 1
            value = (part >> access.value) & ((1 << min(case.word_bits, 64)) - 1)
            yield from moved(access.act, access.address, value, several, access.act is Act.READ)
    yield from [quiet] * 8


def test_words_come_through_every_port(simulator: Path) -> None:
    for number, case in enumerate(CASES):
        reads: list[int] = []
        cycles = [Cycle(rst=1)] * 2
        asked = case.kind in (
            "untracked",
            "held",
        )  # a request comes before each transfer: of the design's, and the freeze
        counted = (
            len(STATES) + 1 + case.delay_cycles + 2 * asked + (case.kind in ("axi", *WISHBONE))
        )  # the start's answer
        cycles += speak(number, case, reads, len(cycles))
        seen = simulate(simulator, cycles)
        values = [int(seen.rd_data[cycle]) for cycle in reads]
        assert values[0] == OWN_WORD
        bits = 32 // case.front.parts
        words = [
            sum((part & 0xFFFFFFFF) << place * bits for place, part in enumerate(values[i : i + case.front.parts]))
            for i in range(1, len(values), case.front.parts)
        ]
        build = HdlBuild((), "top", (BLOCK, BLOCK), read_out=case.plan)
        read = np.array(words, dtype=np.uint32)
        assert readout.unwatched(build, read) == (1 - WATCHED,), case
        times = readout.decode(build, read)["state_time"]
        high = sum(state >> WATCHED & 1 for state in STATES)
        assert times["cycles"][times["block"] == WATCHED].tolist() == [counted - high, high], case
        if case.kind == "valid":
            assert all(int(seen.out[n]) & 2 for n in reads)
            assert sum(int(word) >> 1 & 1 for word in seen.out) == len(reads)
        if case.kind in WISHBONE:
            assert all(int(seen.out[n]) & 2 for n in reads)
            asks = sum(bool(cycle.rd_en or cycle.wr_en) for cycle in cycles)
            assert sum(int(word) >> 1 & 1 for word in seen.out) == asks
        if case.kind == "held":  # its words do not wait for the design, and that does not see what was asked for them
            asks = [n for n, cycle in enumerate(cycles) if cycle.stimulus & 4 and cycle.addr >= UNUSED.first]
            assert all(int(seen.out[n]) == 2 for n in asks)
            assert all(int(seen.out[n - case.delay_cycles]) & 1 for n in reads[1:])


def test_an_avalon_read_of_the_monitors_waits_for_those_of_the_design(simulator: Path) -> None:
    number, case = next((n, case) for n, case in enumerate(CASES) if case == Case(32, 1, "valid"))
    chosen, control = number << 8, case.front.freeze.address
    users, own = Cycle(stimulus=chosen, rd_en=1, addr=1), Cycle(stimulus=chosen, rd_en=1, addr=control)
    cycles = [Cycle(rst=1)] * 2 + [users, own, own, Cycle(stimulus=chosen), Cycle(stimulus=chosen)]
    seen = simulate(simulator, cycles)
    waits, valid = (seen.out & 1).tolist()[2:], (seen.out >> 1 & 1).tolist()[2:]
    assert waits[:3] == [0, 1, 0]
    assert valid == [0, 1, 0, 1, 0]
    assert [int(word) for word in seen.rd_data[[3, 5]]] == [OWN_WORD, 0]  # the design's, then ours: not frozen


def test_four_words_of_an_axi_port_leave_no_room_to_choose_what_is_watched() -> None:
    port, widths = AxiLitePort(name="host"), {"araddr": 8, "arvalid": 1, "arready": 1, "rdata": 32, "rvalid": 1}
    few, enough = (port.monitor(ReadOut(first=0x20, last=last), widths | {"rready": 1}) for last in (0x3B, 0x3F))
    assert few is not None
    assert enough is not None
    plan, roomy = (
        read_out_plan([Monitor(PLAN, CLOCK)], ReadPlace("host", one, CLOCK, UNUSED)) for one in (few, enough)
    )
    assert plan.watching({}) == plan
    with pytest.raises(ValueError, match="host"):
        plan.watching({WATCHED})
    chosen = roomy.watching({WATCHED})
    assert chosen.not_watched() == (1 - WATCHED,)
    assert [access.address for access in chosen.watch] == [0x20, 0x34, 0x38]  # freeze, a 1, watch

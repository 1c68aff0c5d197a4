"""The pairs of `rules.py`: for each rule an application that has its bottleneck, and how the repaired twin differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

#: What the host does where a pair says nothing else: `rules_apps/host.c` describes them.
HOST = {
    "ROUNDS": 12,
    "WORDS": 64,
    "EFFORT": 750,
    "PIECES": 1,
    "BEGIN": 0,
    "AHEAD": 1,
    "STARTS": 1,
    "IRQ": 1,
    "LOADS": 0,
    "PARTS": 1,
}
DEPTH = 2  # of the FIFO of fifo.v, the one parameter of a design  # fmt: skip
#: Of each design the registers in their order, most of them cycles, and the blocks that take data and give results.
REGISTERS = {
    "unit": ("obey", "clear", "load", "fill", "work", "flush", "settle", "count", "handle", "sort", "give", "held",
             "busy", "close"),
    "stages": ("first", "second", "third", "swing", "depth", "ack"),
    "cores": ("pace", "uneven", "share0", "share1", "share2", "together", "grant"),
    "fifo": ("pause", "pace"),
}  # fmt: skip
BLOCKS = {
    "unit": ("unit_top.worker", "unit_top.worker"),
    "stages": ("unit_top.first", "unit_top.third"),
    "cores": ("units[*].unit", "units[*].unit"),
    "fifo": ("unit_top.port", "unit_top.port"),
}
Points = Mapping[str, str]  # a time for each size


@dataclass(frozen=True)
class App:
    """A design, what its registers and the host's settings are, and the transfer tables that are not the card's."""

    design: str
    registers: Mapping[str, int] = field(default_factory=dict)
    host: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, Points] = field(default_factory=dict)

    def but(self, tables: Mapping[str, Points] | None = None, **settings: int) -> App:
        """The same with other settings or registers."""
        registers = {name: value for name, value in settings.items() if name in REGISTERS[self.design]}
        host = {name: value for name, value in settings.items() if name in HOST or name == "DEPTH"}
        assert len(registers) + len(host) == len(settings)
        return replace(
            self, registers={**self.registers, **registers}, host={**self.host, **host},
            tables={**self.tables, **(tables or {})},
        )  # fmt: skip

    @property
    def name(self) -> str:
        """The name of the folder that it has to itself."""
        settings = [f"{name}{value}" for name, value in sorted({**self.registers, **self.host}.items())]
        times = [f"{name}{time}" for name, points in sorted(self.tables.items()) for time in points.values()]
        return "_".join([self.design, *settings, *times]).replace(" ", "")


@dataclass(frozen=True)
class Pair:
    """A rule (`side` and `scope` as it has them), an application that has its bottleneck, and the repaired twin.

    `about`: what the application does. `advice`: how the advice begins that the twin follows. `why`: why the rule's
    finding is not the application's first. `on`: the side on which it is looked for, of a rule for both.
    """

    rule: str
    side: str
    scope: str
    about: str
    app: App
    twin: App
    advice: str
    why: str = ""
    on: str = ""


UNIT = App("unit", {"work": 156})
STAGES = App("stages", {"first": 156, "second": 156, "third": 156}, {"EFFORT": 100})
CORES = App("cores", {"pace": 468, "share0": 21, "share1": 21, "share2": 21}, {"WORDS": 63, "EFFORT": 100})
FIFO = App("fifo", {"pause": 1248, "pace": 156}, {"EFFORT": 100})
LONG = UNIT.but(ROUNDS=70, work=312, EFFORT=1540)
LARGE = UNIT.but(WORDS=4096, EFFORT=10, work=3)
FASTER = {"begin": {"4": "2 us", "64 KiB": "172 us"}}
SAME = "the host and the third stage wait for the same stage: the same change of it is the advice of all three"
UNMARKED = "the maker has no marks, so that no change of it can be predicted: what is not predicted comes after what is"
POLLS = (
    "a part of the host's late sender, under which it is shown: asking otherwise saves only what comes after the answer"
)
ELSEWHERE = "its advice is to fix what the block waits for: findings that lead to others come after those"


def _communication() -> list[Pair]:
    late = UNIT.but(IRQ=0, EFFORT=10, work=106, tables={"read_reg": {"4": "30 us"}})
    starts = UNIT.but(STARTS=64, work=20, EFFORT=100)
    return [
        Pair("general communication", "host", "block", "writes large batches and waits for each to be there",
             LARGE, LARGE.but(BEGIN=1), "Overlap communication"),
        Pair("general communication", "fpga", "block", "copies each word before it works on it",
             UNIT.but(load=150), UNIT, "Let one block communicate while another works"),
        Pair("inefficient transfer type or size", "host", "block, call", "writes a word a call",
             UNIT.but(PIECES=64), UNIT, "Unite transfers"),
        Pair("nonoverlapped transfers", "host", "block", "writes parts of a batch one after the other",
             LARGE.but(PIECES=4, tables=FASTER), LARGE.but(PIECES=4, BEGIN=1, tables=FASTER), "Use calls that"),
        Pair("control messages", "host", "block, call", "starts the FPGA for every word",
             starts, starts.but(STARTS=1), "Let each control message start more work"),
        Pair("control messages", "fpga", "block", "decodes each command for long",
             UNIT.but(obey=20000), UNIT, "Carry control beside the data"),
        Pair("stalling (application)", "any", "block", "gives a result when the application takes it",
             UNIT.but(held=320), UNIT, "Add buffers", on="fpga"),
        Pair("stalling (interface)", "any", "block", "gives a result when the interface takes it",
             UNIT.but(busy=320), UNIT, "Add buffers", on="fpga"),
        Pair("polling", "host", "block, call", "asks whether the FPGA is done, 30 us each time",
             late, late.but(IRQ=1), "Wait for an interrupt", POLLS),
    ]  # fmt: skip


def _synchronization() -> list[Pair]:
    turns = LONG.but(AHEAD=0)
    swings = STAGES.but(third=20, swing=120)
    slow = STAGES.but(first=312, depth=8, WORDS=256, ROUNDS=8, EFFORT=20)
    together = CORES.but(together=1, uneven=400)
    shared = CORES.but(pace=156, grant=350)
    starved = FIFO.but(pause=2496, DEPTH=16, WORDS=512, ROUNDS=3, EFFORT=20)
    return [
        Pair("late sender", "host", "block", "host and FPGA work in turn", turns, LONG, "Use two buffers"),
        Pair("late sender", "fpga", "block", "host and FPGA work in turn", turns, LONG, "Send the next data while"),
        Pair("late receiver", "any", "block", "two stages are slow in turn, and hand each word over",
             swings, swings.but(depth=12), "Put a buffer between", on="fpga"),
        Pair("full buffer", "any", "block", "two stages are slow in turn, with a buffer of one word between",
             swings.but(depth=1), swings.but(depth=12), "If the buffer is often full", on="fpga"),
        Pair("empty buffer", "any", "block", "the first of three stages takes twice as long as the others",
             slow, slow.but(first=156), "The sender may be slower", SAME, on="fpga"),
        Pair("full buffer", "fpga", "fifo", "words come in bursts of 8 to a FIFO of 2",
             FIFO, FIFO.but(DEPTH=16), "Deepen it"),
        Pair("empty buffer", "fpga", "fifo", "a FIFO is filled half as fast as it is emptied",
             starved, starved.but(pause=1248), "Make make faster", UNMARKED),
        Pair("acknowledge", "any", "block", "the first stage waits until the second has done with each word",
             STAGES.but(ack=1), STAGES, "Continue without", on="fpga"),
        Pair("barrier", "any", "block", "no core goes on before all have done their word",
             together, together.but(together=0), "Decouple the blocks", on="fpga"),
        Pair("contention", "any", "block", "three cores share a memory that gives one word in 350 cycles",
             shared, shared.but(grant=0), "Replicate the resource", on="fpga"),
    ]  # fmt: skip


def _overhead() -> list[Pair]:
    loads = UNIT.but(LOADS=3, tables={"configure": {"1": "2 ms"}})
    parts = UNIT.but(PARTS=4, EFFORT=0, tables={"release": {"4": "1 ms"}})
    phases = [
        ("initialization", "clear", 20000, "clears its memory for each batch", "Shorten or avoid it"),
        ("finalization", "close", 20000, "puts its memory away after each batch", "Shorten or avoid it"),
        ("update", "count", 320, "counts and computes addresses for each word", "Shorten or avoid it"),
        ("interrupt processing", "handle", 320, "handles an overflow for each word", "Handle the most common"),
        ("delay", "settle", 320, "waits for a long path for each word", "Shorten the delay"),
        (
            "pipeline fill/drain",
            "fill",
            320,
            "fills a pipeline for each word",
            "Start the next data while the pipeline",
        ),
        ("pipeline flush/stall", "flush", 320, "flushes a pipeline after each word", "Interleave independent"),
        ("internal overhead", "sort", 320, "keeps its books for each word", "Run these tasks in parallel"),
    ]
    return [
        *(
            Pair(rule, "any", "block", about, UNIT.but(**{phase: cycles}), UNIT, advice, on="fpga")
            for rule, phase, cycles, about, advice in phases
        ),
        Pair("internal overhead", "fpga", "application", "host and FPGA work in turn", LONG.but(AHEAD=0), LONG,
             "The busiest block works", ELSEWHERE),
        Pair("multiple initialization", "host", "block", "each of three libraries configures the FPGA",
             loads, loads.but(LOADS=1), "Unite or generalise"),
        Pair("multiple finalization", "host", "block", "releases the FPGA after each part of the work",
             parts, parts.but(PARTS=1), "Release the FPGA only after"),
    ]  # fmt: skip


def _imbalance() -> list[Pair]:
    host = UNIT.but(work=50, EFFORT=1200)
    first = STAGES.but(first=408, second=30, third=30)
    uneven = CORES.but(share0=47, share1=8, share2=8)
    return [
        Pair("imbalance", "any", "block", "the host works 160 us on a batch, the FPGA 32 us",
             host, host.but(work=150, EFFORT=750), "Move work to the other side", on="host"),
        Pair("stage imbalance", "fpga", "block", "one of three stages takes 13 times as long as the others",
             first, STAGES, "Make this stage faster"),
        Pair("load imbalance", "fpga", "block", "one of three cores gets 47 of 63 words",
             uneven, CORES, "Distribute the work"),
    ]  # fmt: skip


PAIRS = (*_communication(), *_synchronization(), *_overhead(), *_imbalance())

"""The rows of `bounds.py`: applications, advice that their reports give, and programs in which it was followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Program:
    """A host and a design, and the settings of both that are not the usual ones."""

    host: str
    design: str = "unit"
    settings: Mapping[str, int] = field(default_factory=dict)
    trace: bool = False
    clock_mhz: int = 100
    marked: bool = True  # the design; without, its pragmas are taken out
    simulation: Mapping[str, int | str] = field(default_factory=dict)
    without: tuple[str, ...] = ()  # marks of the design that are taken out
    named: bool = True  # the design's waits within the FPGA say for which of its blocks they are

    def but(self, host: str = "", design: str = "", clock_mhz: int = 0, **settings: int) -> Program:
        clock_mhz = clock_mhz or self.clock_mhz
        settings = {**self.settings, **settings}
        host, design = host or self.host, design or self.design
        return replace(self, host=host, design=design, settings=settings, trace=False, clock_mhz=clock_mhz)


@dataclass(frozen=True)
class Change:
    """Advice that begins with `advice`, of the finding of `rule` on a block whose id begins with `on`, and its twin."""

    application: str
    base: Program
    rule: str
    on: str
    advice: str
    twin: Program


def changes() -> list[Change]:
    """The shortest applications come first: `--quick` makes the first few."""
    late = Program("block", settings={"CYCLES": 1000})
    polls = Program("block", settings={"CYCLES": 200})
    traced = Program("block", settings={"CYCLES": 200}, trace=True)
    near = Program("block", settings={"CYCLES": 197, "EFFORT": 40})
    busy = Program("block", settings={"CYCLES": 400, "EFFORT": 600})
    slow = Program("block", settings={"CYCLES": 100, "EFFORT": 3000})
    registers, readback = Program("registers"), Program("readback")
    small = Program("small", settings={"EFFORT": 600, "CYCLES": 200})
    control = Program("control", settings={"CYCLES": 20})
    starts = Program("starts", settings={"CYCLES": 20})
    clears = Program("block", settings={"CYCLES": 100, "CLEAR": 20000})
    making = Program("stages", "pair", {"MAKE": 300, "ADD": 100})
    adding = Program("stages", "pair", {"MAKE": 100, "ADD": 300})
    twice = Program("double", settings={"CYCLES": 400, "EFFORT": 60})
    bare = Program("unmarked", settings={"CYCLES": 100, "CLEAR": 20000})
    cores = Program("cores", "cores", {"CORES": 2, "CYCLES": 600})
    waits = Program("acknowledged", settings={"ROUNDS": 8, "EFFORT": 60})
    faster, buffers = "Make the FPGA faster", "Use two buffers"
    size, unite = "inefficient transfer type or size", "Unite transfers"
    host, worker = "host.main", "unit_top.worker"
    return [
        Change("polling filter", polls, "polling", host, "Wait for an interrupt", polls.but("irq")),
        Change("cipher, a register at a time", registers, size, host, unite, registers.but("blocks")),
        *beside_what_runs_freely()[:2],
        Change("stage that works most of the time", late, "late sender", host, faster, late.but(CYCLES=500)),
        Change("stage that works most of the time", late, "late sender", host, faster, late.but(CYCLES=10)),
        Change("cipher, a register at a time", registers, size, host, unite, registers.but("dma", "stream")),
        Change("polling filter, traced", traced, "polling", host, "Wait for an interrupt", polls.but("irq")),
        Change("polling filter, other phase", near, "polling", host, "Wait for an interrupt", near.but("irq")),
        Change("polling filter", polls, "polling", host, "Poll when the answer is due", polls.but("due", SPINS=24050)),
        Change("polling filter", polls, "late sender", host, faster, polls.but(CYCLES=20)),
        Change("polling filter, other phase", near, "late sender", host, faster, near.but(CYCLES=1)),
        Change("host and FPGA in turn", busy, "late sender", host, buffers, busy.but("double")),
        Change("host and FPGA in turn", busy, "late sender", worker, "Send the next data while", busy.but("double")),
        Change("host and FPGA in turn", busy, "late sender", worker, "Send the next data while h", busy.but("async")),
        Change("host and FPGA in turn", busy, "late sender", host, faster, busy.but(CYCLES=4)),
        Change("host that prepares long", slow, "late sender", worker, "Fix the host's findings", slow.but(EFFORT=300)),
        Change("host that prepares long", slow, "late sender", worker, "Send the next data while", slow.but("double")),
        Change("small writes", small, size, host, unite, small.but("block")),
        Change("small writes", small, size, host, "Make transfers larger", small.but("batched")),
        Change("small writes", small, size, host, "Overlap communication", small.but("smallasync")),
        Change("results a register at a time", readback, size, host, unite, readback.but("readblock")),
        Change("control from the host", control, "control messages", host, "Let the FPGA clear",
               control.but("itself", "auto")),
        Change("control from the host", control, "control messages", host, "Gather the control bits",
               control.but("along")),
        Change("control from the host", control, "control messages", host, "Gather the control bits",
               control.but("gathers", PACE_AT=0x3FF)),
        Change("a start for every eight words", starts, "control messages", host, "Let each control message",
               starts.but("block")),
        Change("a start for every eight words", starts, "control messages", host, "Let the FPGA clear",
               starts.but("itself", "auto")),
        Change("clearing before the work", clears, "initialization", worker, "Shorten or avoid it",
               clears.but(CLEAR=0)),
        Change("two stages, the first slow", making, "late sender", "unit_top.adder", "Fix the imbalance",
               making.but(MAKE=20)),
        Change("two stages, the second slow", adding, "late receiver", "unit_top.maker", "Fix the imbalance",
               adding.but(ADD=20)),
        Change("two cores", cores, "late sender", host, faster, cores.but("gathered", CORES=4)),
        Change("two cores", cores, "polling", host, "Poll one register", cores.but("gathered")),
        Change("a wait for every write", waits, "acknowledge", host, "Continue without", waits.but("unacknowledged")),
        Change("four mebibytes at once", Program("big", "sink"), size, host, "Split transfers",
               Program("split", "sink")),
        Change("two buffers and polls", twice, "polling", host, "Poll when the answer is due", twice.but("doubleirq")),
        Change("two buffers and polls", twice, "late sender", host, faster, twice.but(CYCLES=100)),
        Change("host without pragmas", bare, "initialization", worker, "Shorten or avoid it", bare.but(CLEAR=0)),
        *beside_what_runs_freely()[2:],
        *other_phases(),
        *interrupts_and_two_buffers(),
        *wider_and_faster(),
        *without_marks(),
        *deeper_fifos(),
    ]  # fmt: skip


FASTER, BUFFERS, IRQ, DUE = "Make the FPGA faster", "Use two buffers", "Wait for an interrupt", "Poll when the answer"
SIZE, UNITE = "inefficient transfer type or size", "Unite transfers"
HOST, WORKER = "host.main", "unit_top.worker"


def beside_what_runs_freely() -> list[Change]:
    """A refresh timer and an arbiter that are marked as work nearly all the time, and that nobody waits for."""
    polls = Program("block", "refresh", {"CYCLES": 200})
    whole = Program("whole", "refresh", {"CYCLES": 200})
    busy = Program("block", "refresh", {"CYCLES": 400, "EFFORT": 600})
    registers = Program("registers", "refresh")
    small = Program("small", "refresh", {"EFFORT": 600, "CYCLES": 200})
    starts = Program("starts", "refresh", {"CYCLES": 20})
    clears = Program("block", "refresh", {"CYCLES": 100, "CLEAR": 20000})
    bare = Program("unmarked", "refresh", {"CYCLES": 100, "CLEAR": 20000})
    shared = Program("block", "arbiter", {"CYCLES": 40, "GRANT": 60})
    name = "beside a refresh timer"
    return [
        Change(f"{name}, wait for the whole", whole, "polling", HOST, IRQ, polls.but("irq")),
        Change(name, polls, "polling", HOST, IRQ, polls.but("irq")),
        Change(name, polls, "late sender", HOST, FASTER, polls.but(CYCLES=20)),
        Change(f"{name}, wait for the whole", whole, "late sender", HOST, FASTER, whole.but(CYCLES=20)),
        Change(f"{name}, in turn", busy, "late sender", HOST, BUFFERS, busy.but("double")),
        Change(f"{name}, in turn", busy, "late sender", WORKER, "Send the next data while", busy.but("double")),
        Change(f"{name}, registers", registers, SIZE, HOST, UNITE, registers.but("blocks")),
        Change(f"{name}, small writes", small, SIZE, HOST, UNITE, small.but("block")),
        Change(f"{name}, starts", starts, "control messages", HOST, "Let each control message", starts.but("block")),
        Change(f"{name}, clearing", clears, "initialization", WORKER, "Shorten or avoid it", clears.but(CLEAR=0)),
        Change(f"{name}, no pragmas", bare, "initialization", WORKER, "Shorten or avoid it", bare.but(CLEAR=0)),
        Change("shared memory", shared, "contention", WORKER, "Make locking and releasing", shared.but(GRANT=2)),
        Change("shared memory", shared, "late sender", HOST, FASTER, shared.but(GRANT=2, CYCLES=2)),
        Change("shared memory", shared, "polling", HOST, IRQ, shared.but("irq")),
    ]


def other_phases() -> list[Change]:
    """The same at moments at which the last poll comes late or in time, by nanoseconds of the host's own code."""
    rows = []
    for cycles, effort in ((143, 0), (190, 3), (193, 7), (203, 23), (211, 60)):
        base = Program("block", settings={"CYCLES": cycles, "EFFORT": effort})
        name = f"polls of {cycles} cycles a word"
        rows += [
            Change(name, base, "polling", HOST, IRQ, base.but("irq")),
            Change(name, base, "late sender", HOST, FASTER, base.but(CYCLES=cycles - 1)),
        ]
    return rows


def interrupts_and_two_buffers() -> list[Change]:
    called = Program("irq", settings={"CYCLES": 200})
    busy = Program("irq", settings={"CYCLES": 400, "EFFORT": 600})
    clears = Program("irq", settings={"CYCLES": 100, "CLEAR": 20000})
    both = Program("double", settings={"CYCLES": 400, "EFFORT": 600})
    third = Program("double", settings={"CYCLES": 300, "EFFORT": 20})
    return [
        Change("interrupts", called, "late sender", HOST, FASTER, called.but(CYCLES=20)),
        Change("interrupts", called, "late sender", HOST, FASTER, called.but(CYCLES=199)),
        Change("interrupts, in turn", busy, "late sender", HOST, BUFFERS, busy.but("doubleirq")),
        Change("interrupts, in turn", busy, "late sender", WORKER, "Send the next data while", busy.but("doubleirq")),
        Change("interrupts, clearing", clears, "initialization", WORKER, "Shorten or avoid it", clears.but(CLEAR=0)),
        Change("two buffers, host busy", both, "late sender", HOST, FASTER, both.but(CYCLES=40)),
        Change("two buffers, host busy", both, "polling", HOST, DUE, both.but("doubleirq")),
        Change("two buffers, host idle", third, "late sender", HOST, FASTER, third.but(CYCLES=30)),
        Change("two buffers, host idle", third, "polling", HOST, IRQ, third.but("doubleirq")),
    ]


def wider_and_faster() -> list[Change]:
    """Paths of more words a cycle, and clocks: an advice on one block, and all of the FPGA at once."""
    narrow = Program("irq", "lanes", {"CLEAR": 60, "CYCLES": 60})
    late = Program("block", settings={"CYCLES": 1000})
    near = Program("block", settings={"CYCLES": 197, "EFFORT": 40})
    called = Program("irq", settings={"CYCLES": 200})
    making = Program("stages", "pair", {"MAKE": 300, "ADD": 100})
    cores = Program("cores", "cores", {"CORES": 2, "CYCLES": 600})
    wide, moving = "Pack bits together, or widen", "general communication"
    return [
        Change("narrow path", narrow, moving, WORKER, wide, narrow.but(LANES=2)),
        Change("narrow path", narrow, moving, WORKER, wide, narrow.but(LANES=8)),
        Change("narrow path", narrow, moving, WORKER, wide, narrow.but(LANES=64)),
        Change("narrow path", narrow, "late sender", HOST, FASTER, narrow.but(LANES=8, CYCLES=6)),
        Change("a faster clock", late, "late sender", HOST, FASTER, late.but(clock_mhz=200)),
        Change("a faster clock", near, "late sender", HOST, FASTER, near.but(clock_mhz=133)),
        Change("a faster clock, interrupts", called, "late sender", HOST, FASTER, called.but(clock_mhz=250)),
        Change("a faster clock, two stages", making, "late sender", HOST, FASTER, making.but(clock_mhz=150)),
        Change("a faster clock, cores", cores, "late sender", HOST, FASTER,
               cores.but("gathered", clock_mhz=200, CORES=4)),
    ]  # fmt: skip


def deeper_fifos() -> list[Change]:
    """A FIFO whose reader takes in bursts, read out by polls: some come in time by chance once it is deeper."""
    rows = []
    for cycles, depth, more in ((60, 2, 64), (75, 2, 64), (80, 2, 64), (80, 2, 8), (112, 8, 64), (120, 2, 16)):
        base = Program("ask", "queue", {"CYCLES": cycles, "DEPTH": depth})
        name = f"a FIFO of {depth}, a word in {cycles} cycles"
        rows.append(Change(name, base, "full buffer", "unit_top.words", "Deepen it", base.but(DEPTH=more)))
    asked = Program("ask", "queue", {"CYCLES": 75, "DEPTH": 2})
    maker = asked.but(CYCLES=30)
    rows.append(Change("a FIFO that is empty", asked, "empty buffer", "unit_top.words", "Make make faster", maker))
    return rows


def without_marks() -> list[Change]:
    """Designs without a single pragma: of the FPGA's time no more is known than how long the host waits."""
    busy = Program("block", settings={"CYCLES": 400, "EFFORT": 600}, marked=False)
    once = replace(busy, settings={"CYCLES": 400, "ROUNDS": 1})
    registers = Program("registers", marked=False)
    small = Program("small", settings={"EFFORT": 600, "CYCLES": 200}, marked=False)
    starts = Program("starts", settings={"CYCLES": 20}, marked=False)
    clears = Program("control", settings={"CYCLES": 20, "CLEAR": 20000, "ROUNDS": 1}, marked=False)
    polls = Program("irq", settings={"CYCLES": 400}, marked=False)
    name, itself = "design without marks", clears.but("itself", "auto")
    return [
        Change(name, busy, "late sender", HOST, BUFFERS, busy.but("double")),
        Change(name, busy, "late sender", HOST, FASTER, busy.but(CYCLES=4)),
        Change(f"{name}, one round", once, "late sender", HOST, FASTER, once.but(CYCLES=4)),
        Change(f"{name}, registers", registers, SIZE, HOST, UNITE, registers.but("blocks")),
        Change(f"{name}, registers", registers, SIZE, HOST, UNITE, registers.but("dma", "stream")),
        Change(f"{name}, small writes", small, SIZE, HOST, UNITE, small.but("block")),
        Change(f"{name}, starts", starts, "control messages", HOST, "Let each control message", starts.but("block")),
        Change(f"{name}, clearing", clears, "control messages", HOST, "Let the FPGA clear", itself),
        Change(f"{name}, interrupts", polls, "late sender", HOST, BUFFERS, polls.but("doubleirq")),
    ]

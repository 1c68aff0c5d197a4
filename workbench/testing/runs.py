"""Made-up runs with every table, for tests of whatever reads runs. Their sums are exact and their transitions balance.

The story is the paper's 2-D PDF application (ReCAP 2011, section 6.2) in two forms: `original` clears, starts, polls,
stops and reads each core from the host, `optimised` moves larger blocks and leaves control to the hardware. Nothing was
simulated: every time here follows from a small schedule and `synthetic_platform`'s transfer tables.
"""

from dataclasses import dataclass, field

import numpy as np

from workbench.api.tables import state_tables, table_of, trace_tables
from workbench.model.blocks import Block, Side, State
from workbench.model.memory import MemoryPort
from workbench.model.platform import SCHEMA_VERSION, CallKind, Host, HostEntry, Platform, TransferPoint, TransferTable
from workbench.model.pragma import UNCLASSIFIED, Category
from workbench.model.run import Entry, Manifest, Run, RunClock, RunStatus, Site
from workbench.model.run_tables import TABLES, Table
from workbench.model.streams import Fifo, Stream, StreamWait
from workbench.model.syncs import SyncKind
from workbench.run.call_sums import call_tables
from workbench.run.host_tables import host_intervals, host_pieces
from workbench.testing.schedule import Lane, dwell_table

CLOCK_HZ = 100e6
PERIOD_PS = 10_000
HOST_FILE = "pdf2d.c"
TOP_FILE = "pdf2d_top.v"
CORE_FILE = "core.v"
RESET_CYCLES = 4
MESSAGES = ("clear", "samples", "start", "status", "stop", "bins")

#: bytes and seconds of one call, after the shape of a PCI-X card's table
WRITE_POINTS = ((4, 8.05e-6), (256, 8.4e-6), (2048, 13.94e-6), (8192, 31.6e-6), (32768, 99.34e-6), (131072, 364.1e-6),
                (1048576, 3.05e-3), (4194304, 14.41e-3))  # fmt: skip
READ_POINTS = ((4, 8.6e-6), (256, 9.4e-6), (2048, 15.6e-6), (8192, 35.5e-6), (32768, 112e-6), (131072, 409e-6),
               (1048576, 3.5e-3), (4194304, 16.2e-3))  # fmt: skip


def synthetic_platform() -> Platform:
    """The card the synthetic runs ran on: three entries, two transfer tables."""
    tables = {
        name: TransferTable(
            title=title,
            direction=direction,
            points=tuple(TransferPoint(bytes=size, time_s=time) for size, time in points),
        )
        for name, title, direction, points in (
            ("write", "blocking write", "send", WRITE_POINTS),
            ("read", "blocking read", "receive", READ_POINTS),
        )
    }
    entries = (
        HostEntry(
            prototype="int fpgaWrite(int fpga, const void *data, unsigned addr, unsigned words)",
            kind=CallKind.SEND,
            bytes="words * 4",
            transfer="write",
        ),
        HostEntry(
            prototype="int fpgaRead(int fpga, void *data, unsigned addr, unsigned words)",
            kind=CallKind.RECEIVE,
            bytes="words * 4",
            transfer="read",
        ),
        HostEntry(
            prototype="unsigned fpgaReadReg(int fpga, unsigned addr)",
            kind=CallKind.RECEIVE,
            bytes="4",
            transfer="read",
            suggestion="This card can interrupt the host: fpgaWaitIrq returns when the FPGA raises its line.",
        ),
    )
    return Platform(
        schema_version=SCHEMA_VERSION,
        name="synthetic",
        title="Synthetic PCI-X card",
        host=Host(entries=entries),
        transfer_tables=tables,
    )


def _states(*rows: tuple[str, str, str, str, str, int], file: str) -> tuple[State, ...]:
    """States from (name, category, reason, target, message, line), after `unclassified`."""
    states = [State(0, UNCLASSIFIED)]
    for index, (name, category, reason, target, message, line) in enumerate(rows, start=1):
        states.append(
            State(
                index,
                name,
                Category(category),
                (reason,) if reason else (),
                (target,) if target else (),
                (message,) if message else (),
                file if line else None,
                line or None,
            )
        )
    return tuple(states)


ORIGINAL_HOST = (
    ("work", "work", "", "", "", 0),
    ("clearBins", "send", "ctrl", "pdf2d_top.ctl", "clear", 88),
    ("writeSamples", "send", "data", "pdf2d_top.lad_if", "samples", 93),
    ("startCore", "send", "ctrl", "pdf2d_top.ctl", "start", 98),
    ("readDone", "wait_recv", "poll", "pdf2d_top.ctl", "status", 104),
    ("stopCore", "send", "ctrl", "pdf2d_top.ctl", "stop", 110),
    ("readBins", "recv", "data", "pdf2d_top.lad_if", "bins", 115),
)
OPTIMISED_HOST = (
    ("work", "work", "", "", "", 0),
    ("writeSamples", "send", "data", "pdf2d_top.lad_if", "samples", 71),
    ("readDone", "wait_recv", "poll", "pdf2d_top.ctl", "status", 78),
    ("readBins", "recv", "data", "pdf2d_top.lad_if", "bins", 83),
)
LAD_IF = (
    ("waitHost", "wait_recv", "late_sender", "$CPU", "samples", 61),
    ("wordIn", "recv", "data", "$CPU", "samples", 66),
    ("wordOut", "send", "data", "$CPU", "bins", 71),
)
CTL = (
    ("waitCommand", "wait_recv", "late_sender", "pdf2d_top.lad_if", "start", 92),
    ("clear", "overhead", "initialize", "", "", 97),
    ("start", "send", "ctrl", "pdf2d_top.core[*]", "start", 103),
    ("status", "send", "ctrl", "pdf2d_top.lad_if", "status", 109),
)
DIST = (
    ("waitWord", "wait_recv", "late_sender", "pdf2d_top.lad_if", "samples", 130),
    ("route", "send", "data", "pdf2d_top.core[*]", "samples", 135),
)
MERGE = (
    ("waitBins", "wait_recv", "buffer_empty", "pdf2d_top.core[*]", "bins", 158),
    ("forward", "send", "data", "pdf2d_top.lad_if", "bins", 163),
)
CORE = (
    ("waitData", "wait_recv", "late_sender", "pdf2d_top.dist", "samples", 40),
    ("getSamples", "recv", "data", "pdf2d_top.dist", "samples", 45),
    ("waitStart", "wait_recv", "late_sender", "pdf2d_top.ctl", "start", 51),
    ("compute", "work", "", "", "", 56),
    ("loopIncr", "overhead", "update", "", "", 62),
    ("waitMerge", "wait_send", "late_receiver", "pdf2d_top.merge", "bins", 68),
    ("sendBins", "send", "data", "pdf2d_top.merge", "bins", 73),
)
ENTRIES = (
    Entry("fpgaWrite", "", "send", "write"),
    Entry("fpgaRead", "", "receive", "read"),
    Entry("fpgaReadReg", "", "receive", "read", synthetic_platform().host.entries[2].suggestion),
)


def _blocks(cores: int, host: tuple[tuple[str, str, str, str, str, int], ...]) -> tuple[Block, ...]:
    def block(id_: str, states: tuple[tuple[str, str, str, str, str, int], ...], file: str, line: int) -> Block:
        group = id_[: id_.index("[")] + "[*]" + id_[id_.index("]") + 1 :] if "[" in id_ else id_
        return Block(id_, Side.FPGA, id_.rpartition(".")[0], "always", group, _states(*states, file=file), file, line,
                     "clk")  # fmt: skip

    main = Block("host.main", Side.HOST, "host", "thread", "host.main", _states(*host, file=HOST_FILE), HOST_FILE, 60)
    return (
        main,
        block("pdf2d_top.lad_if", LAD_IF, TOP_FILE, 58),
        block("pdf2d_top.ctl", CTL, TOP_FILE, 88),
        block("pdf2d_top.dist", DIST, TOP_FILE, 126),
        block("pdf2d_top.merge", MERGE, TOP_FILE, 154),
        *(block(f"pdf2d_top.core[{n}].ctrl", CORE, CORE_FILE, 34) for n in range(cores)),
    )


#: From the host's port into the first core, by a FIFO that now and then waits for what follows it.
STREAMS = (
    Stream("pdf2d_top.in", "", "pdf2d_top.fifo", "stream", 32, "clk", "in_valid", "fifo.in_ready", "pdf2d.v", 20,
           (StreamWait("ready", 1, "ready"),)),
    Stream("pdf2d_top.fifo.out", "pdf2d_top.fifo", "pdf2d_top.core[0]", "stream", 32, "clk", "fifo.out_valid",
           "core[0].ready", "fifo.v", 3),
)  # fmt: skip
MEMORY_PORTS = (MemoryPort("loader", "axi_master", "ddr", "clk", 32, 400e6),)
FIFOS = (Fifo("pdf2d_top.fifo", "fifo", 0, 1, 16, "fifo.v", 1),)


@dataclass
class _Story:
    """The host's clock, its calls so far, and what every hardware block does meanwhile. Times in cycles."""

    host: tuple[tuple[str, str, str, str, str, int], ...]
    cores: int
    now: int = 20
    rows: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in TABLES["calls"]})
    lanes: list[Lane] = field(default_factory=list)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(2011))

    def __post_init__(self) -> None:
        self.lanes = [Lane() for _ in range(4 + self.cores)]
        for lane in self.lanes:
            lane.enter(RESET_CYCLES, 1)

    def call(self, name: str, entry: int, size: int, address: int, think: int = 30) -> tuple[int, int]:
        """One call; returns the cycles between which its words pass the port (the last one excluded)."""
        site = next(n for n, row in enumerate(self.host[1:]) if row[0] == name)
        gap = think + int(self.random.integers(0, 12))
        began = self.now + gap
        took = round(_table_time_s(READ_POINTS if entry else WRITE_POINTS, size) * CLOCK_HZ)
        took += int(self.random.integers(0, 40))  # what the bus and the driver add
        words = size // 4
        first, last = began + max(took // words - 1, 0), began + took - 1
        message = MESSAGES.index(self.host[site + 1][4])
        for column, value in zip(
            self.rows.values(),
            (site, 0, site + 2, entry, began * PERIOD_PS, (began + took) * PERIOD_PS, size, address, gap * PERIOD_PS,
             began * PERIOD_PS, first * PERIOD_PS, last * PERIOD_PS, 0, message,
             0, 1, began * PERIOD_PS, (began + took) * PERIOD_PS, 0, size if entry == 2 else 0),
            strict=True,
        ):  # fmt: skip
            column.append(value)
        self.now = began + took
        self._stretch(0, first, last + 1, 3 if entry else 2)
        return first, last + 1

    def read_done(self, address: int, done: int) -> bool:
        """Read a register that is 1 from cycle `done` on."""
        first, end = self.call("readDone", 2, 4, address)
        self.command(4, first, end)
        self.rows["value"][-1] = int(end >= done)
        return end >= done

    def _stretch(self, lane: int, first: int, end: int, state: int, then: int = 1) -> None:
        self.lanes[lane].enter(first, state)
        self.lanes[lane].enter(end, then)

    def command(self, state: int, first: int, end: int) -> None:
        self._stretch(1, first, end, state)

    def write_samples(self, core: int, size: int, then: int) -> int:
        first, end = self.call("writeSamples", 0, size, 0x10000 + core * 0x1000)
        self._stretch(2, first, end, 2)
        self._stretch(4 + core, first, end, 2, then)
        return end

    def compute(self, core: int, begin: int, points: int) -> int:
        """The core's work: stretches of computing with a little bookkeeping between them."""
        lane, at, stretches = self.lanes[4 + core], begin, 8
        for _ in range(stretches):
            lane.enter(at, 4)
            at += points * 29 // stretches + int(self.random.integers(-40, 41))
            lane.enter(at, 5)
            at += points // 8
        lane.enter(at, 6)
        return at

    def read_bins(self, core: int, first: int, end: int) -> None:
        self._stretch(3, first, end, 2)
        self._stretch(4 + core, first, end, 7)


def _table_time_s(points: tuple[tuple[int, float], ...], size: int) -> float:
    sizes, times = zip(*points, strict=True)
    return float(np.exp(np.interp(np.log(size), np.log(sizes), np.log(times))))


def _original(story: _Story, rounds: int) -> None:
    for _ in range(rounds):
        for core in range(story.cores):
            story.command(2, *story.call("clearBins", 0, 2048, 0x40000 + core * 0x800))
        for core in range(story.cores):
            story.write_samples(core, 2048, then=3)
        done = []
        for core in range(story.cores):
            first, end = story.call("startCore", 0, 4, 0x100 + core * 4)
            story.command(3, first, end)
            done.append(story.compute(core, end, points=256))
        for core in range(story.cores):
            while not story.read_done(0x200 + core * 4, done[core]):
                pass
        for core in range(story.cores):
            story.command(3, *story.call("stopCore", 0, 4, 0x100 + core * 4))
        for core in range(story.cores):
            story.read_bins(core, *story.call("readBins", 1, 256, 0x40000 + core * 0x800))


def _optimised(story: _Story, rounds: int) -> None:
    for begin in range(0, rounds, 16):
        batch = min(16, rounds - begin)
        done = []
        for core in range(story.cores):
            end = story.write_samples(core, 2048 * batch, then=4)
            done.append(story.compute(core, end, points=256 * batch))
        while not story.read_done(0x200, max(done)):
            pass
        first, end = story.call("readBins", 1, 256 * story.cores, 0x40000)
        share = (end - first) // story.cores
        for core in range(story.cores):
            story.read_bins(core, first + core * share, first + (core + 1) * share)


def synthetic_run(cores: int = 20, rounds: int = 10, traced: bool = True, form: str = "original") -> Run:
    """A complete run with every table of `workbench.model.run_tables` (without intervals where it is not traced).

    `form` is "original" or "optimised"; both move the same samples for the same `rounds`. Raises ValueError otherwise.
    """
    if form not in ("original", "optimised"):
        raise ValueError(f"form must be original or optimised, not {form!r}")
    host = ORIGINAL_HOST if form == "original" else OPTIMISED_HOST
    story = _Story(host, cores)
    (_original if form == "original" else _optimised)(story, rounds)
    cycles = story.now + 50
    time_ps = cycles * PERIOD_PS
    blocks = _blocks(cores, host)
    tables = _tables(story, blocks, cycles, traced)
    callees = {"readDone": "fpgaReadReg", "readBins": "fpgaRead"}
    sites = tuple(
        Site(HOST_FILE, row[5] + 1, 9, callees.get(row[0], "fpgaWrite"), row[0], 0) for row in host[1:]
    )  # a pragma stands on the line before its call
    manifest = Manifest(
        name=f"synthetic {form}",
        status=RunStatus.COMPLETE,
        created="2026-01-01T12:00:00+00:00",
        project="pdf2d",
        platform="synthetic",
        traced=traced,
        deterministic=True,
        settings={"CORES": cores},
        clocks=(RunClock("clk", CLOCK_HZ, cycles=cycles),),
        time_ps=time_ps,
        exit=0,
        overhead={"taken_off_pct": 0.0, "host_pct": 0.0, "virtual_pct": 0.0, "own_pct": 0.0, "unsure_pct": 0.0},
        blocks=blocks,
        entries=ENTRIES,
        sites=sites,
        resources=("bus",),
        messages=MESSAGES,
        streams=STREAMS,
        fifos=FIFOS,
        memory_ports=MEMORY_PORTS,
    )
    return Run(None, manifest, tables)


def _stream_tables(cycles: int) -> dict[str, Table]:
    """In half of the cycles a word passes both streams; in the others the FIFO is full, or what follows it waits."""
    half = cycles // 2
    return {
        "streams": table_of("streams", [(0, half, 0, cycles - half, 0), (1, half, cycles - half, 0, 0)]),
        "stream_waits": table_of("stream_waits", [(0, 0, half // 2)]),
        "metric_sums": table_of("metric_sums", []),
        "first_cycles": table_of("first_cycles", []),
        "open_since": table_of("open_since", []),
        "occupancy": table_of("occupancy", [(0, 0, half), (0, FIFOS[0].depth, cycles - half)]),
        "memory_ports": table_of(
            "memory_ports", [(0, 2, 2, 64, 64, 32, 8, 0, cycles - 40, 40, 1, 1, 2, 32 * PERIOD_PS)]
        ),
    }


def _tables(story: _Story, blocks: tuple[Block, ...], cycles: int, traced: bool) -> dict[str, Table]:
    calls = {name: np.array(story.rows[name], kind) for name, kind in TABLES["calls"].items()}
    lanes = {number + 1: lane for number, lane in enumerate(story.lanes)}
    of_fpga = [lane.piece(cycles, PERIOD_PS) for lane in story.lanes]
    pieces = [host_pieces(calls, 0, cycles * PERIOD_PS), *([piece] for piece in of_fpga)]
    tables = {
        "calls": calls,
        "syncs": table_of("syncs", [(0, SyncKind.EXIT, -1, -1, 0, cycles * PERIOD_PS, cycles * PERIOD_PS, -1, 0, -1)]),
        **call_tables(calls),
        **state_tables(blocks, pieces, [0.0, *[CLOCK_HZ] * len(story.lanes)]),
        "dwell": dwell_table(lanes, cycles),
    }
    tables |= _stream_tables(cycles)
    tables["virtual_time"] = table_of("virtual_time", [(0, 0, 0, cycles, PERIOD_PS, 0.0, -4e5, 4e5, 400_000, 40, 0.0)])
    if traced:
        passed = np.arange(min(cycles // 2, 1000))
        tables["stream_transfers"] = {
            "stream": np.repeat(np.arange(2, dtype="i4"), len(passed)),
            "cycle": np.tile(passed, 2),
            "early": np.zeros(2 * len(passed), "i4"),
        }
        starts, states = host_intervals(calls, 0, cycles * PERIOD_PS)
        of_host = (np.append(starts, cycles * PERIOD_PS), states)
        tables |= trace_tables([of_host, *of_fpga])
    return tables

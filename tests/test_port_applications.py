"""Applications behind ports of all kinds, from project files to findings: every transfer's times equal to sums by hand.

The clocks of the ports are 100 MHz: a cycle is 10,000 ps, and cycle k begins at k times that. The rules:
resources/card/README.md.
"""

import shutil
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil
from pathlib import Path

import numpy as np
import pytest

from workbench.api.job import Job
from workbench.model.read_out import LATER_CYCLES
from workbench.model.run import Run
from workbench.replay.prepare import prepare
from workbench.session.keep.results import open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

APPLICATIONS = Path(__file__).parent / "data" / "applications"
P = 10_000
REGISTER_WRITE, REGISTER_READ = 200_000, 300_000  # as the cards' tables say


@dataclass(frozen=True)
class Call:
    """A call by its pragma's name: when it began and ended."""

    label: str
    start_ps: int
    end_ps: int


def run_of(name: str, folder: Path, *, trace: bool = False, below: Path = APPLICATIONS) -> Run:
    """Run an application as its project file says it, deterministically. Nothing is left to be asked of it."""
    workspace = open_workspace(below / name, load_plugins())
    assert not workspace.diagnostics
    assert not workspace.scan().diagnostics
    run = run_workspace(workspace, RunOptions(out=folder / name, deterministic=True, trace=trace), Job())
    assert (run.complete, run.manifest.exit) == (True, 0), run.manifest.reason
    assert not run.manifest.diagnostics
    return run


def with_counters(name: str, folder: Path) -> Path:
    """Where a copy of the application is, whose run simulates the counters and reads them through the ports."""
    own = shutil.copytree(APPLICATIONS / name, folder / "own" / name)
    with (own / f"{name}.workbench.yaml").open("a") as project:
        project.write("simulation: {hardware_counters: true}\n")
    return own.parent


def calls_of(run: Run) -> list[Call]:
    """The calls but for opening and closing the card, in order."""
    labels = [site.label for site in run.manifest.sites]
    columns = (run.tables["calls"][name].tolist() for name in ("site", "t0_ps", "t1_ps"))
    calls = [Call(labels[site], t0, t1) for site, t0, t1 in zip(*columns, strict=True)]
    assert all(before.end_ps <= after.start_ps for before, after in pairwise(calls))
    return [call for call in calls if call.label not in ("openCard", "closeCard")]


def cycles_of(run: Run, block: str) -> dict[str, int]:
    """How many cycles each state of a block took; they sum to the run's."""
    number = next(n for n, b in enumerate(run.manifest.blocks) if b.id == block)
    states, table = run.manifest.blocks[number].states, run.tables["state_time"]
    mine = np.flatnonzero(table["block"] == number)
    cycles = {states[table["state"][row]].name: int(table["cycles"][row]) for row in mine}
    clock = run.manifest.clock_of(run.manifest.blocks[number])
    assert clock is not None
    assert sum(cycles.values()) == clock.cycles
    assert sum(table["time_ps"][mine]) == run.manifest.time_ps
    return cycles


def beginnings_ps(run: Run, block: str, state: str) -> list[int]:
    """When a block came into a state, of a traced run's only chunk."""
    number = next(n for n, b in enumerate(run.manifest.blocks) if b.id == block)
    wanted = next(s.index for s in run.manifest.blocks[number].states if s.name == state)
    begin, end = run.tables["interval_offsets"]["offset"][number : number + 2]
    there = run.tables["intervals"]["state"][begin:end] == wanted
    return list(run.tables["intervals"]["start_ps"][begin:end][there])


def findings_of(run: Run) -> set[str]:
    """The rules that found something."""
    assert run.path is not None
    return {finding.rule for finding in open_result(run.path, load_plugins()).analysis.findings}


def replayed_exactly(run: Run) -> bool:
    assert run.path is not None
    return prepare(run, open_result(run.path, load_plugins()).platform).exact


def test_sha256_behind_axi_lite(tmp_path: Path) -> None:
    run = run_of("sha256", tmp_path, trace=True)
    assert replayed_exactly(run)
    assert (tmp_path / "sha256" / "stdout.txt").read_text().split() == [
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",  # FIPS 180-2, appendix B
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ]
    calls = calls_of(run)
    block = ["writeBlock", "start", *3 * ["pollReady"]]
    assert [call.label for call in calls] == [*block, "readDigest", *block, *block, "readDigest"]
    ready = 0  # the cycle from which on the core says that it is ready
    for number, call in enumerate(calls):
        if call.label in ("writeBlock", "readDigest"):
            # The table would have a word every cycle or so; this design takes one every second cycle. The first is due
            # at the table's time for it, a cycle earlier for the answer, which the last word has in its own cycle.
            words, duration = (16, 200_000) if call.label == "writeBlock" else (8, 150_000)
            first = (call.start_ps + (duration - P) // words) // P - 1
            last_answer = first + 2 * (words - 1) + 1
            assert call.end_ps == (last_answer + 1) * P > call.start_ps + duration
        elif call.label == "start":
            assert call.end_ps == call.start_ps + REGISTER_WRITE
            written = (call.start_ps + REGISTER_WRITE - P) // P - 1
            ready = written + 1 + 1 + 64 + 1  # the register's cycle, one to take the block, 64 rounds, one to add
        else:
            assert call.end_ps == call.start_ps + REGISTER_READ
            asked = (call.start_ps + REGISTER_READ - P) // P - 1
            last = calls[number + 1].label != "pollReady"
            assert (asked >= ready) == last  # it is asked until it is ready, and no longer
    core = cycles_of(run, "sha256_axil.core.rounds")
    assert (core["takeBlock"], core["rounds"], core["add"]) == (3, 3 * 64, 3)
    bus = cycles_of(run, "sha256_axil.bus")
    assert (bus["takeBlock"], bus["takeControl"], bus["giveReady"], bus["giveDigest"]) == (3 * 16, 3, 3 * 3, 2 * 8)
    assert findings_of(run)


def test_a_filter_between_two_streams(tmp_path: Path) -> None:
    """By an API that nobody has written: its header declares it, and the card's template says what its calls do."""
    support = open_workspace(APPLICATIONS / "fir", load_plugins()).support
    assert support is not None
    assert (support.api_dir, support.api_sources) == (None, ())
    run = run_of("fir", tmp_path)
    assert (tmp_path / "fir" / "stdout.txt").read_text() == "512 bytes, 0 wrong\n"
    *coefficients, sent, received, after = calls_of(run)
    assert [call.end_ps - call.start_ps for call in coefficients] == 4 * [REGISTER_WRITE]
    samples, each = 128, 4 + 2  # cycles: one to take a sample, one for each tap, one to give the sum away
    whole = 100_000 + 2_500 * (512 - 4)  # the table, between its two sizes
    first = (sent.start_ps + whole // samples) // P - 1
    last = first + (samples - 1) * each
    assert sent.end_ps == (last + 1) * P > sent.start_ps + whole  # the design holds the stream up
    packet = 2_650_000 * samples // 256  # as much of the time for the 256 words asked for as the design's packet has
    assert (last + each) * P <= received.start_ps + packet  # all sums wait in the link by then
    assert received.end_ps == received.start_ps + packet
    assert after.end_ps == after.start_ps + REGISTER_WRITE < received.end_ps + 500_000
    assert run.tables["calls"]["bytes"].tolist()[-4:-2] == [4 * samples, 4 * samples]
    states = cycles_of(run, "fir_axis.filter")
    assert (states["take"], states["multiply"], states["give"]) == (samples, 4 * samples, samples)
    assert states["waitTaken"] == 0
    assert findings_of(run)


def test_a_copy_engine_with_a_master_of_its_own(tmp_path: Path) -> None:
    run = run_of("copy", tmp_path)
    assert (tmp_path / "copy" / "stdout.txt").read_text() == "0 wrong\n"
    fill, *registers, waited, copy = calls_of(run)
    whole = 100_000 + 2_500 * (160 - 4)
    for call in (fill, copy):  # the host's own way into the memory is as its tables say
        assert call.end_ps == call.start_ps + whole
    assert [call.end_ps - call.start_ps for call in registers] == 4 * [REGISTER_WRITE]
    written = (registers[-1].start_ps + REGISTER_WRITE - P) // P - 1
    # The memory: 20 ns for a burst to come to its bank, 15 ns each for tRP, tRCD and tCL, then a word a cycle.
    # Both places lie in the same bank, in rows 0 and 8: all bursts but the first find another row open.
    cycle, waits = written + 2, 0  # in which the engine asks for the first burst
    for burst, words in enumerate((16, 16, 8)):
        read = cycle * P + 20_000 + (30_000 if burst == 0 else 45_000) + words * P
        last_read = -(-read // P) - 1  # the cycle that ends when the bus has moved the last word, or the next
        waits += last_read - cycle - words
        last_written = last_read + 1 + words  # a cycle to ask, then a word a cycle
        answer = last_written * P + 20_000 + 45_000 + words * P
        cycle = -(-answer // P)  # the cycle after the answer's
    assert waited.label == "waitDone"
    assert waited.start_ps < cycle * P == waited.end_ps
    mover = cycles_of(run, "copy_engine.mover")
    assert (mover["readWord"], mover["waitRead"], mover["writeWord"]) == (40, waits, 40)
    assert (mover["askRead"], mover["askWrite"], mover["written"]) == (3, 3, 3)
    assert "memory bound" in findings_of(run)
    (memory,) = open_result(tmp_path / "copy", load_plugins()).analysis.memory_ports
    port, regs = (cycles_of(run, f"copy_engine.port.{name}") for name in ("mover", "regs"))
    assert (port["moving"], port["waiting"], port["held"]) == (memory.moving, memory.waiting, memory.held)
    assert regs["moving"] == len(registers)
    assert (memory.reads, memory.writes, memory.read_bytes, memory.written_bytes) == (3, 3, 160, 160)
    assert (memory.row_hits, memory.row_opened, memory.row_conflicts) == (0, 1, 5)
    busy = cycle - (written + 2)  # a burst is always on its way; a word passes in 80 of the cycles
    assert (memory.moving, memory.waiting, memory.held, memory.cycles) == (80, busy - 80, 0, run.manifest.cycles)
    assert (memory.bus_ps, memory.latency_cycles) == (80 * P, busy)
    assert memory.bytes_per_s == 320 / (busy * 1e-8)
    assert memory.used_share == 80 / busy
    assert findings_of(run)


def test_a_design_on_two_clocks(tmp_path: Path) -> None:
    run = run_of("two_clocks", tmp_path, trace=True)
    numbers = (1000, 100, 37)
    assert (tmp_path / "two_clocks" / "stdout.txt").read_text().split() == [str(n * (n + 1) // 2) for n in numbers]
    fast = Fraction(10**12, 150_000_000)  # a cycle of the other clock: 6666 2/3 ps
    begun = []
    calls = calls_of(run)
    assert [call.label for call in calls] == 3 * ["start", "waitSum", "readSum"]
    for n, start, waited, read in zip(numbers, calls[::3], calls[1::3], calls[2::3], strict=True):
        assert (start.end_ps, read.end_ps) == (start.start_ps + REGISTER_WRITE, read.start_ps + REGISTER_READ)
        written_ps = ((start.start_ps + REGISTER_WRITE - P) // P) * P  # the edge that ends the write's cycle
        seen = written_ps // fast + 1  # the first edge of the other clock after it
        begun.append(seen + 1)  # cycle k lies between edges k and k + 1: the second edge brings what starts it
        assert waited.end_ps == ceil((seen + 2 + n) * fast) > waited.start_ps
    bus, other = run.manifest.clocks
    assert (bus.cycles, other.cycles) == (run.manifest.time_ps // P, run.manifest.time_ps // fast)
    registers, worker = (cycles_of(run, f"two_clocks.{name}") for name in ("registers", "worker"))
    assert (registers["takeNumber"], registers["giveSum"]) == (3, 3)
    assert (worker["begin"], worker["add"]) == (3, sum(numbers))
    assert worker["idle"] == other.cycles - 3 - sum(numbers)
    assert beginnings_ps(run, "two_clocks.worker", "begin") == [ceil(k * fast) for k in begun]
    assert beginnings_ps(run, "two_clocks.worker", "add") == [ceil((k + 1) * fast) for k in begun]
    assert findings_of(run)
    assert replayed_exactly(run)
    own = with_counters("two_clocks", tmp_path)
    real = run_of("two_clocks", tmp_path / "real", below=own)
    columns = [
        {
            (name, key): column.tolist()
            for name in ("state_time", "transitions")
            for key, column in of.tables[name].items()
        }
        for of in (run, real)
    ]
    cycles = [one.pop(("state_time", "cycles")) for one in columns]
    assert columns[0] == columns[1]
    later = np.subtract(*reversed(cycles)).tolist()  # the fast clock's freeze crosses from the bus's
    assert 0 < max(later) <= LATER_CYCLES
    assert later == [max(later) if count in (worker["idle"], other.cycles) else 0 for count in cycles[0]]


def test_a_clock_that_a_pll_makes_is_as_fast_as_the_project_says(tmp_path: Path) -> None:
    """The same design, whose fast clock is no input: what it adds, it adds when the rules say."""
    copy = shutil.copytree(APPLICATIONS / "two_clocks", tmp_path / "own" / "two_clocks")
    source, card, project = (copy / name for name in ("two_clocks.v", "card.yaml", "two_clocks.workbench.yaml"))
    pll = """wire fast, back;
    PLLE2_BASE #(.CLKFBOUT_MULT(9), .CLKOUT0_DIVIDE(6)) pll (.CLKIN1(clk), .CLKOUT0(fast), .CLKOUT1(), .CLKOUT2(),
        .CLKOUT3(), .CLKOUT4(), .CLKOUT5(), .LOCKED(), .CLKFBOUT(back), .CLKFBIN(back), .RST(1'b0), .PWRDWN(1'b0));
    reg asked;"""
    text = source.read_text().replace(" input wire fast,", "").replace("reg asked;", pll)
    source.write_text(text.replace("irq <= left == 32'd1;", "irq <= left <= 32'd3;"))  # so that the bus's clock sees it
    of_pll = "    - {name: fast, frequency_hz: 150 MHz, derived_from: bus}\n"
    card.write_text(card.read_text().replace(of_pll, "").replace("interrupt_clock: fast", "interrupt_clock: bus"))
    project.write_text(project.read_text() + "  clocks: [{name: pll.CLKOUT0, frequency_hz: 150 MHz}]\n")
    run = run_of("two_clocks", tmp_path, trace=True, below=copy.parent)
    fast = Fraction(10**12, 150_000_000)
    bus, made = run.manifest.clocks
    assert (made.name, made.derived_from, made.frequency_hz) == ("pll.CLKOUT0", "bus", 150e6)
    assert (bus.cycles, made.cycles) == (run.manifest.time_ps // P, run.manifest.time_ps // fast)
    starts = [call.start_ps for call in calls_of(run) if call.label == "start"]
    begun = [((start + REGISTER_WRITE - P) // P) * P // fast + 2 for start in starts]
    assert beginnings_ps(run, "two_clocks.worker", "begin") == [ceil(k * fast) for k in begun]
    assert beginnings_ps(run, "two_clocks.worker", "add") == [ceil((k + 1) * fast) for k in begun]
    worker = cycles_of(run, "two_clocks.worker")
    assert (worker["begin"], worker["add"], worker["idle"]) == (3, 1137, made.cycles - 3 - 1137)


@pytest.mark.parametrize("api", ["a plugin's", "made of the template"])
def test_two_cards_share_the_hosts_bus(api: str, tmp_path: Path) -> None:
    below = APPLICATIONS
    if api == "made of the template":  # its name is one of which no plugin knows an API
        below = with_counters("two_cards", tmp_path)
        card = below / "two_cards" / "card.yaml"
        card.write_text(card.read_text().replace("nallatech_h101", "summer_card"))
    run = run_of("two_cards", tmp_path, trace=True, below=below)
    assert (tmp_path / "two_cards" / "stdout.txt").read_text() == f"{257 * 128} {101 * 50 * 1000} on two cards\n"
    lasts = {"fill": 5_000_000, "start": REGISTER_WRITE, "readSum": REGISTER_READ}
    added = {0: 256, 1: 100}
    labels = [site.label for site in run.manifest.sites]
    columns = (run.tables["calls"][name].tolist() for name in ("t0_ps", "block", "site", "t1_ps"))
    bus_free, done = 0, {}
    begun: dict[int, list[int]] = {0: [], 1: []}
    for start, thread, site, end in sorted(zip(*columns, strict=True)):  # a thread for each card, of the same number
        if labels[site] in lasts:
            bus_free = max(start, bus_free) + lasts[labels[site]]
            assert end == bus_free
        if labels[site] == "start":
            begun[thread].append(bus_free // P - 1)  # the cycle of its write
            done[thread] = (bus_free // P + added[thread]) * P  # a cycle for each word, then the interrupt is high
        if labels[site] == "waitSum":
            assert end == max(start, done[thread])
    (clock,) = run.manifest.clocks
    assert clock.cycles == run.manifest.time_ps // P
    for card, words in added.items():
        core = cycles_of(run, f"card[{card}].summer.core")
        assert (core["begin"], core["add"], core["idle"]) == (1, words, clock.cycles - 1 - words)
        assert beginnings_ps(run, f"card[{card}].summer.core", "begin") == [cycle * P for cycle in begun[card]]
        memory = cycles_of(run, f"card[{card}].summer.memory")
        assert (memory["takeWord"], memory["giveSum"]) == (256, 1)
    assert findings_of(run)
    assert replayed_exactly(run)

"""The memory's times (resources/card/ports/dram.h): sums by hand, bandwidths that theory gives, and random traffic
against a second model, written from the rules in resources/card/README.md alone."""

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rc_workbench_plugins.ports.bank import CardMemory

from workbench.hdl.verilate import harness_dir

Burst = tuple[int, int, int, bool]  # asked for at (ps), from which byte on, bytes, a write
Piece = tuple[int, int, int]  # bytes of the burst up to its end; from when to when it is on the bus (ps)
NS = 1000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    built = tmp_path_factory.mktemp("dram") / "ask_dram"
    source = Path(__file__).parent / "data" / "memory" / "ask_dram.cpp"
    subprocess.run(["g++", "-std=c++17", f"-I{harness_dir()}", source, "-o", built], check=True)
    with subprocess.Popen([built], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as running:
        yield running
        assert running.stdin
        running.stdin.close()


def ask(
    program: subprocess.Popen[str], memory: CardMemory, bursts: Sequence[Burst]
) -> tuple[list[list[Piece]], list[int]]:
    """The pieces of each burst, and hits, opened rows, conflicts, and the time that buses were in use (ps)."""
    known = memory.constants()
    names = "channels interleave_bytes banks row_bytes bank_rows fixed_ps cas_ps rcd_ps rp_ps turnaround_ps refresh_ps"
    words = [*(known[name] for name in names.split()), known["refreshing_ps"], known["rate_bytes"], known["rate_ps"]]
    lines = [" ".join(map(str, words)), str(len(bursts)), *(" ".join(str(int(w)) for w in burst) for burst in bursts)]
    assert program.stdin
    assert program.stdout
    program.stdin.write("\n".join(lines) + "\n")
    answers = [[int(w) for w in program.stdout.readline().split()] for _ in range(len(bursts) + 1)]
    return [list(zip(a[::3], a[1::3], a[2::3], strict=True)) for a in answers[:-1]], answers[-1]


def ddr(**fields: object) -> CardMemory:
    usual = {
        "name": "ddr", "bytes": 1 << 20, "bandwidth_bytes_per_s": 1e9, "banks": 4, "row_bytes": 1024,
        "fixed_s": 10e-9, "cas_s": 20e-9, "rcd_s": 30e-9, "rp_s": 40e-9,
    }  # fmt: skip
    return CardMemory.model_validate({**usual, **fields})


def test_rows_open_and_close(program: subprocess.Popen[str]) -> None:
    bursts = [
        (0, 0, 64, False),  # no row is open: 10 + 30 + 20, then 64 ns
        (0, 64, 64, False),  # the same row: its words follow at once
        (0, 4096, 64, False),  # another row of bank 0, which is used until 188: 40 + 30 + 20
        (0, 1024, 64, False),  # bank 1, opened meanwhile: it waits for the bus only
        (1000 * NS, 4160, 64, True),  # the row is still open
    ]
    found, (hits, opened, conflicts, bus_ps) = ask(program, ddr(), bursts)
    assert [(begin // NS, end // NS) for ((_, begin, end),) in found] == [
        (60, 124), (124, 188), (278, 342), (342, 406), (1030, 1094)
    ]  # fmt: skip
    assert (hits, opened, conflicts, bus_ps) == (2, 2, 1, 5 * 64 * NS)


def test_a_burst_across_rows_and_channels_is_so_many_pieces(program: subprocess.Popen[str]) -> None:
    [pieces], _ = ask(program, ddr(), [(0, 1024 - 64, 128, False)])
    assert pieces == [(64, 60 * NS, 124 * NS), (128, 124 * NS, 188 * NS)], "each has a bank, and both one bus"
    two = ddr(channels=2, interleave_bytes=64)
    [pieces], _ = ask(program, two, [(0, 0, 256, False)])
    assert pieces == [
        (64, 60 * NS, 124 * NS), (128, 60 * NS, 124 * NS), (192, 124 * NS, 188 * NS), (256, 124 * NS, 188 * NS)
    ]  # fmt: skip


def test_refreshes_and_turns_of_the_bus(program: subprocess.Popen[str]) -> None:
    memory = ddr(refresh_s=1e-6, refreshing_s=200e-9, turnaround_s=5e-9)
    bursts = [
        (0, 0, 64, False),  # 60 to 124
        (0, 64, 64, True),  # 5 later than at once
        (1100 * NS, 128, 64, True),  # in the midst of a refresh, until 1200; its row is closed
        (2500 * NS, 192, 64, True),  # after one
    ]
    found, counts = ask(program, memory, bursts)
    assert [begin // NS for ((_, begin, _),) in found] == [60, 129, 1250, 2560]
    assert counts[:3] == [1, 3, 0]


def test_which_rows_share_a_bank(program: subprocess.Popen[str]) -> None:
    bursts = [(0, 0, 64, False), (0, 1024, 64, False)]
    assert ask(program, ddr(), bursts)[1][:3] == [0, 2, 0], "by turns"
    assert ask(program, ddr(mapping="bank_row_column"), bursts)[1][:3] == [0, 1, 1], "one after the other"


@pytest.mark.parametrize(
    ("memory", "step", "bytes_per_s"),
    [
        pytest.param(ddr(), 64, 1e9, id="sequential: the bus is never without words"),
        # A refresh in 1 us: its 200 ns and tRCD go by without a request, which would have come half a burst later.
        pytest.param(ddr(refresh_s=1e-6, refreshing_s=200e-9), 64, (1000 - 200 - 30 + 32) * 1e6, id="refreshes"),
        pytest.param(ddr(), 4096, 64 / 154e-9, id="strided, always in the same bank: tRP + tRCD + tCL + words"),
        pytest.param(ddr(banks=1), 1024, 64 / 154e-9, id="the only bank"),
        pytest.param(ddr(banks=8), 1024, 1e9, id="a bank after the other: all is hidden behind the words of others"),
        pytest.param(ddr(banks=2), 1024, 128 / 154e-9, id="two banks: half hidden"),
        pytest.param(ddr(channels=4, interleave_bytes=64), 64, 4e9, id="four channels"),
        pytest.param(ddr(channels=4, interleave_bytes=64), 256, 1e9, id="four channels, of which one is asked"),
        pytest.param(ddr(fixed_s=0, cas_s=0, rcd_s=0, rp_s=0), 4096, 1e9, id="nothing but a bandwidth"),
    ],
)
def test_bandwidth_of_many_requests_is_what_theory_says(
    program: subprocess.Popen[str], memory: CardMemory, step: int, bytes_per_s: float
) -> None:
    count = 2000
    bursts = [(0, n * step % memory.bytes, 64, False) for n in range(count)]
    found, _ = ask(program, memory, bursts)
    last_ps = max(end for pieces in found for *_, end in pieces)
    assert count * 64 / (last_ps * 1e-12) == pytest.approx(bytes_per_s, rel=0.02)


@pytest.mark.parametrize(("outstanding", "share"), [(1, 64 / 94), (2, 1.0)])
def test_one_request_at_a_time_pays_the_latency_each_time(
    program: subprocess.Popen[str], outstanding: int, share: float
) -> None:
    """Little's law: with n requests on their way the rate is at most n * 64 B / latency (10 + 20 + 64 ns)."""
    ends = [0] * outstanding
    bursts: list[Burst] = []
    for n in range(60):  # each is asked for when the one `outstanding` before it has ended
        bursts.append((ends[n], 0, 64, False))
        ends.append(ask(program, ddr(), bursts)[0][-1][-1][2])
    rate = 40 * 64 / ((ends[-1] - ends[-41]) * 1e-12)
    assert rate == pytest.approx(share * 1e9, rel=1e-9)


@dataclass
class Rows:
    """The rules once more: each bank is the list of what was done in it."""

    memory: CardMemory
    done: dict[tuple[int, int], list[tuple[int, Fraction, Fraction]]] = field(default_factory=dict)  # row, ask, end
    bus: dict[int, tuple[Fraction, bool]] = field(default_factory=dict)
    told: list[int] = field(default_factory=lambda: [0, 0, 0, 0])

    def where(self, byte: int) -> tuple[int, int, int]:
        """Channel, bank and row of a byte."""
        m = self.memory
        channel, inner = 0, byte
        if m.channels > 1:
            block, rest = divmod(byte, m.interleave_bytes)
            channel, inner = block % m.channels, block // m.channels * m.interleave_bytes + rest
        row = inner // m.row_bytes
        if m.mapping == "row_bank_column":
            return channel, row % m.banks, row
        rows = ceil(Fraction(m.bytes, m.channels) / m.row_bytes / m.banks)
        return channel, row // rows, row

    def burst(self, asked: int, first: int, size: int, write: bool) -> list[Piece]:
        found: list[Piece] = []
        begin = 0
        for byte in range(4, size + 4, 4):  # a piece ends where the next byte is elsewhere
            if byte == size or self._block(first + byte) != self._block(first + byte - 1):
                found.append((byte, *self._piece(asked, first + begin, byte - begin, write)))
                begin = byte
        return found

    def _block(self, byte: int) -> tuple[int, ...]:
        turn = byte // self.memory.interleave_bytes if self.memory.channels > 1 else 0
        return (*self.where(byte), turn)

    def _piece(self, asked: int, byte: int, size: int, write: bool) -> tuple[int, int]:
        m = self.memory
        fixed, cas, rcd, rp, turn, every, lasts = (
            round(x * 1e12) for x in (m.fixed_s, m.cas_s, m.rcd_s, m.rp_s, m.turnaround_s, m.refresh_s, m.refreshing_s)
        )
        channel, bank, row = self.where(byte)
        before = self.done.setdefault((channel, bank), [])
        open_row, seen, end = before[-1] if before else (-1, Fraction(0), Fraction(0))
        command = Fraction(asked + fixed)
        if before:
            command = max(command, end - cas)
        if every and command // every > seen // every:
            open_row = -1
            command = max(command, command // every * every + lasts)
        look = command
        kind = 0 if open_row == row else 1 if open_row < 0 else 2
        if kind == 1:
            command += rcd
        if kind == 2:
            command = max(command, end) + rp + rcd
        free, was_write = self.bus.get(channel, (Fraction(0), write))
        starts = max(command + cas, free + (turn if was_write != write else 0))
        ends = starts + ceil(size / Fraction(str(m.bandwidth_bytes_per_s)) * 10**12)
        self.bus[channel] = ends, write
        before.append((row, max(look, seen), ends))
        self.told[kind] += 1
        self.told[3] += int(ends - starts)
        return int(starts), int(ends)


TIMES = st.integers(0, 60).map(lambda ns: ns * 1e-9)
MEMORIES = st.builds(
    ddr,
    bandwidth_bytes_per_s=st.sampled_from([400e6, 1e9, 6.4e9, 19.2e9, 0.37e9]),
    channels=st.sampled_from([1, 2, 3]),
    interleave_bytes=st.sampled_from([32, 256, 4096]),
    bytes=st.just(3 << 19),
    banks=st.sampled_from([1, 2, 4, 5]),
    row_bytes=st.sampled_from([128, 1024, 8192]),
    mapping=st.sampled_from(["row_bank_column", "bank_row_column"]),
    fixed_s=TIMES, cas_s=TIMES, rcd_s=TIMES, rp_s=TIMES, turnaround_s=TIMES,
    refresh_s=st.sampled_from([0.0, 0.7e-6, 7.8e-6]),
    refreshing_s=st.sampled_from([0.0, 0.35e-6]),
)  # fmt: skip
BURSTS = st.lists(
    st.tuples(
        st.integers(0, 400_000),
        st.integers(0, (3 << 17) - 1024).map(lambda word: 4 * word),
        st.sampled_from([4, 64, 512, 4096]),
        st.booleans(),
    ),
    min_size=1, max_size=25,
)  # fmt: skip


@settings(max_examples=100)
@given(memory=MEMORIES, drawn=BURSTS, near=st.booleans())
def test_random_traffic_equals_the_rules(
    program: subprocess.Popen[str], memory: CardMemory, drawn: list[Burst], near: bool
) -> None:
    asked, bursts = 0, []
    for gap, first, size, write in drawn:  # asked for in order; half of them within few rows
        asked += gap
        bursts.append((asked, first % 16384 if near else first, size, write))
    rules = Rows(memory)
    assert (*ask(program, memory, bursts),) == ([rules.burst(*burst) for burst in bursts], rules.told)

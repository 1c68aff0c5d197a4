"""What rules make of calls, against sums done by hand, and the data are those of the run without."""

from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.simulated_card.card import CardExecutable
from simulated_card.conftest import HEAD, PERIOD, PLATFORM, run

from workbench.api.records import read_transfers
from workbench.api.targets import Outcome, TimingRule
from workbench.model.transfer_time import transfer_ps

TABLES = PLATFORM.transfer_tables
NAMES = list(TABLES)
WRITE, SCATTERED, READ, POLL, START, ONE = range(6)  # the sites of HOST

HOST = (
    HEAD
    + """
void rcw_tell_sites(int (*site)(void));
static int at = -1;
static int site(void) { return at; }
#define AT(number, call) (at = (number), (call))

int main(void)
{
    uint32_t data[64], back[64], sum = 0;
    rcw_tell_sites(site);
    fpga_t *fpga = fpgaOpen(0);
    for (int i = 0; i < 64; i++) data[i] = 7u * i * i + 5;
    for (int i = 0; i < 12; i += 4) AT(0, fpgaWrite(fpga, data + i, i, 4));
    for (int i = 0; i < 3; i++) AT(1, fpgaWriteReg(fpga, 100 + 10 * i, data[i]));
    AT(-1, fpgaRead(fpga, back, 0, 12));
    for (int i = 0; i < 12; i++) sum = sum * 31 + back[i];
    for (int i = 0; i < 6; i++) sum = sum * 31 + AT(2, fpgaReadReg(fpga, i));
    for (int i = 0; i < 3; i++) sum = sum * 31 + AT(-1, fpgaReadReg(fpga, 100 + 10 * i));
    for (int round = 0; round < 2; round++) {
        AT(4, fpgaWriteReg(fpga, 0x1000, 2345));
        while (AT(3, fpgaReadReg(fpga, 0x1001))) {}
    }
    AT(5, fpgaWrite(fpga, data, 200, 64));
    AT(-1, fpgaRead(fpga, back, 200, 64));
    printf("%u %d\\n", sum, memcmp(data, back, 256));
    fpgaClose(fpga);
    return 0;
}
"""
)


def lasts(name: str, size: int) -> int:
    return transfer_ps(TABLES[name], size)


def bus(card: CardExecutable, folder: Path, *rules: TimingRule, **simulation: float) -> tuple[Outcome, np.ndarray]:
    outcome = run(card, HOST, folder, rules=rules, **simulation)
    assert outcome.exit == 0
    assert outcome.stdout.endswith(" 0\n")
    return outcome, read_transfers(folder / "raw").at()


@pytest.fixture(scope="module")
def plain(card: CardExecutable, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, np.ndarray]:
    return bus(card, tmp_path_factory.mktemp("plain"))


def took(rows: np.ndarray) -> list[tuple[str, int, int]]:
    """Table, bytes and time of each transfer."""
    return [(NAMES[r["table"]], int(r["bytes"]), int(r["end_ps"] - r["grant_ps"])) for r in rows]


def test_sends_and_receives_are_united(card: CardExecutable, plain: tuple[Outcome, np.ndarray], tmp_path: Path) -> None:
    before, _ = plain
    outcome, rows = bus(
        card, tmp_path,
        TimingRule("unite", (2, 0, 0), (WRITE,), "writes"),
        TimingRule("unite", (3, 3, 0), (SCATTERED,), "scattered"),
        TimingRule("unite", (4, 6, 1), (READ,), "reads"),
    )  # fmt: skip
    assert outcome.stdout == before.stdout
    assert took(rows)[:2] == [("write", 32, lasts("write", 32)), ("write", 16, lasts("write", 16))]
    third = lasts("write_reg", 12) // 3  # in three pieces, which each have their share
    assert [(name, size) for name, size, _ in took(rows)[2:5]] == [("write_reg", 4)] * 3
    assert [time for _, _, time in took(rows)[2:5]] == [third] * 3
    assert took(rows)[5] == ("read", 48, lasts("read", 48))
    assert took(rows)[6:8] == [("read_reg", 16, lasts("read_reg", 16)), ("read_reg", 8, lasts("read_reg", 8))]
    told = [one.message for one in outcome.diagnostics]
    assert told == ["1 call of change 'scattered' moved words at scattered addresses"]
    saved = 3 * lasts("write", 16) - lasts("write", 32) - lasts("write", 16)
    saved += 3 * lasts("write_reg", 4) - lasts("write_reg", 12) + 6 * lasts("read_reg", 4)
    saved -= lasts("read_reg", 16) + lasts("read_reg", 8)
    first_poll, was = (r[r["address"] == 0x1001]["call_ps"][0] for r in (rows, plain[1]))
    assert was - first_poll == saved


def test_what_was_read_ahead_for_nobody_is_told(card: CardExecutable, tmp_path: Path) -> None:
    outcome, _ = bus(card, tmp_path, TimingRule("unite", (4, 0, 1), (READ,), "reads"))
    assert [one.message for one in outcome.diagnostics] == [
        "change 'reads' read 2 words ahead that the program did not ask for"
    ]


def test_a_poll_ends_as_soon_as_its_answer_changes(
    card: CardExecutable, plain: tuple[Outcome, np.ndarray], tmp_path: Path
) -> None:
    outcome, rows = bus(card, tmp_path, TimingRule("interrupt", (), (POLL,), "polls"))
    assert outcome.stdout == plain[0].stdout
    for start in np.flatnonzero(rows["address"] == 0x1000):
        written = int(rows["port_first_ps"][start] // PERIOD)
        polls = rows[start + 1 :][rows["address"][start + 1 :] == 0x1001]
        done = next(row for row in polls if row["port_last_ps"] // PERIOD >= written + 1 + 2345)
        assert done["end_ps"] == (written + 1 + 2345 + 1) * PERIOD  # the read's own cycle, the first that finds it done
        assert rows["call_ps"][done["number"] + 1] < done["end_ps"] + 20_000
    waited = rows[rows["address"] == 0x1001]
    assert (waited["end_ps"] - waited["call_ps"]).max() <= lasts("read_reg", 4) + 2 * PERIOD


def test_tables_factors_parts_and_delays(
    card: CardExecutable, plain: tuple[Outcome, np.ndarray], tmp_path: Path
) -> None:
    outcome, rows = bus(
        card, tmp_path,
        TimingRule("table", (NAMES.index("read"),), (READ,)),
        TimingRule("scale", (333_333_333,), (READ,)),
        TimingRule("scale", (0,), (SCATTERED,)),
        TimingRule("split", (3,), (ONE,)),
        TimingRule("poll_delay", (5_000_000,), (POLL,)),
    )  # fmt: skip
    assert outcome.stdout == plain[0].stdout
    reads = rows[(rows["kind"] == 1) & (rows["address"] < 6) & (rows["bytes"] == 4)]
    assert took(reads) == [("read", 4, lasts("read", 4) * 333_333_333 // 10**9)] * 6
    free = rows[(rows["table"] == NAMES.index("write_reg")) & (rows["address"] < 0x1000)]
    assert (free["end_ps"] == free["call_ps"]).all()
    parts = rows[(rows["kind"] == 0) & (rows["address"] >= 200) & (rows["address"] < 0x1000)]
    assert took(parts) == [("write", size, lasts("write", size)) for size in (84, 84, 88)]
    assert list(parts["address"]) == [200, 221, 242]
    for start in np.flatnonzero(rows["address"] == 0x1000):
        poll = rows[start + 1]
        assert poll["address"] == 0x1001
        assert poll["call_ps"] - poll["host_ps"] - rows["end_ps"][start] == 5_000_000


def test_an_asynchronous_send_waits_where_all_buffers_are_in_use(
    card: CardExecutable, plain: tuple[Outcome, np.ndarray], tmp_path: Path
) -> None:
    outcome, rows = bus(card, tmp_path, TimingRule("asynchronous", (2,), (WRITE,), "writes"))
    assert outcome.stdout == plain[0].stdout
    writes = rows[rows["address"] < 12][:3]
    one = lasts("write", 16)
    began = int(writes["call_ps"][0])
    assert list(writes["grant_ps"] - began) == [0, one, 2 * one]
    assert writes["call_ps"][1] - began < 100_000
    assert writes["call_ps"][2] - began == one  # the first has ended


def test_a_threads_code_is_scaled(card: CardExecutable, plain: tuple[Outcome, np.ndarray], tmp_path: Path) -> None:
    _, before = plain
    _, rows = bus(card, tmp_path, TimingRule("host", (0, 500_000_000)))
    assert list(rows["host_ps"][:12]) == [int(ps) // 2 for ps in before["host_ps"][:12]]
    _, others = bus(card, tmp_path, TimingRule("host", (1, 500_000_000)))
    assert (others["end_ps"] == before["end_ps"]).all()


def test_a_rule_for_calls_that_are_not_made(card: CardExecutable, tmp_path: Path) -> None:
    outcome, _ = bus(card, tmp_path, TimingRule("scale", (0,), (77,), "calls calls=nothing factor=0"))
    assert [one.message for one in outcome.diagnostics] == ["change 'calls calls=nothing factor=0' changed nothing"]

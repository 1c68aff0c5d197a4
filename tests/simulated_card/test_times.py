"""The simulated card end to end: what each step takes, against sums done by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.simulated_card.card import CardExecutable
from simulated_card.conftest import HEAD, PERIOD, PLATFORM, WORK, run, table

from workbench.api.records import read_dwell, read_taps, read_transfers
from workbench.api.virtual_time import Triples, clock_problems, frame_of, frames_of
from workbench.model.cycles import cycle_start_ps, cycle_starts_ps, faster_hz
from workbench.model.diagnostic import Severity
from workbench.model.transfer_time import transfer_ps


def test_every_time_is_as_calculated_by_hand(card: CardExecutable, tmp_path: Path) -> None:
    outcome = run(card, WORK, tmp_path)
    assert (outcome.exit, outcome.diagnostics) == (0, ())
    records = read_transfers(tmp_path / "raw").at()
    names = list(PLATFORM.transfer_tables)
    clock, bus_free, async_end, expected_cycles = int(records["call_ps"][0] - records["host_ps"][0]), 0, 0, []
    assert clock > 100_000_000  # the time of fpgaConfigure, then the host's own before it and before fpgaOpen
    assert (clock - 100_000_000) % 1777 == 0
    host_ps = clock - 100_000_000
    for number, row in enumerate(records):
        assert row["number"] == number
        assert row["host_ps"] % 1777 == 0
        host_ps += int(row["host_ps"])
        clock += int(row["host_ps"])
        assert row["call_ps"] == clock
        if row["kind"] == 2:
            if async_end:  # fpgaWait
                clock = max(clock, async_end)
            else:  # fpgaWaitIrq: the write is registered at the end of its cycle, then 1234 cycles count down
                written = int(records[number - 1]["port_first_ps"]) // 10_000
                clock = max(clock, (written + 1 + 1234) * 10_000)
            assert row["end_ps"] == clock
            continue
        name, words = names[row["table"]], int(row["bytes"]) // 4
        lasts = transfer_ps(PLATFORM.transfer_tables[name], int(row["bytes"]))
        start = max(clock, bus_free)
        bus_free = start + lasts
        assert (row["grant_ps"], row["end_ps"]) == (start, bus_free)
        assert row["port_first_ps"] == (int((start + lasts // words) // PERIOD) - 1) * 10_000
        assert row["port_last_ps"] == (int(bus_free // PERIOD) - 1) * 10_000
        if name == "write" and words in (512, 100):
            async_end = bus_free
        else:
            clock = bus_free
        if row["address"] == 0x1002:
            expected_cycles.append(int(bus_free // PERIOD) - 1)
    lines = outcome.stdout.splitlines()
    assert [int(line.split("cycle ")[1]) for line in lines[1:4]] == expected_cycles
    assert lines[0] == "0"
    assert lines[4] == " ".join(str(3 * i * i + 1) for i in (510, 511, 0, 1))
    polls = int(lines[1].split()[0])
    assert polls == sum(1 for row in records if row["address"] == 0x1001) - 1
    assert outcome.time_ps >= clock
    assert (outcome.time_ps - clock) % 1777 == 0
    assert outcome.host_ps == host_ps + outcome.time_ps - clock
    assert outcome.cycles == outcome.time_ps // PERIOD


def test_a_clock_that_is_off_and_drifts_is_found_by_messages(card: CardExecutable, tmp_path: Path) -> None:
    """Every cycle begins when the definition says, and no time that the reads of a counter give is farther off than it
    is said to be. The host meets the counter at the end of a read: the ways are as unlike as they can be."""
    body = 'for (int i = 0; i < 200; i++) { usleep(100); printf("%u\\n", fpgaReadReg(fpga, 0x1002)); }'
    host = HEAD + "int main(void) { fpga_t *fpga = fpgaOpen(0); " + body + " fpgaClose(fpga); return 0; }"
    outcome = run(card, host, tmp_path, clock_ppm=-2000, clock_drift_ppm_per_s=100)
    records = read_transfers(tmp_path / "raw").at()
    met = np.array([int(line) for line in outcome.stdout.split()])
    hz, lasts = faster_hz(1e12 / float(PERIOD), -2000), transfer_ps(PLATFORM.transfer_tables["read_reg"], 4)
    assert hz == pytest.approx(99.8e6)
    steady, drifting = cycle_starts_ps(met + 2, hz), cycle_starts_ps(met + 2, hz, 100)
    assert 15_000 < (steady - drifting)[-1] < 25_000  # 100 ppm/s for 20 ms: half of 20 ms times 2 ppm
    assert (drifting > records["end_ps"]).all()
    assert (cycle_starts_ps(met + 1, hz, 100) <= records["end_ps"]).all()
    assert (cycle_starts_ps(met, hz, 100) == records["port_first_ps"]).all()
    last = outcome.cycles
    assert cycle_start_ps(last, hz, 100) <= outcome.time_ps < cycle_start_ps(last + 1, hz, 100)

    triples = Triples(records["call_ps"], met, records["end_ps"])
    frames = frames_of(triples, outcome.cycles)
    assert sum(frame.messages for frame in frames) == 200
    for cycle in np.linspace(0, outcome.cycles, 500).astype(int).tolist():
        frame = frame_of(frames, cycle)
        off_ps = abs(frame.at(cycle) - cycle_start_ps(cycle, hz, 100))
        assert off_ps <= frame.uncertainty_ps + 10_000  # within a cycle
        assert off_ps <= lasts / 2 + 25_000  # half a round trip, where its ways are unlike; else what ticks leave
        assert lasts / 2 <= frame.uncertainty_ps <= lasts / 2 * 1.2  # a frame's rate is no surer: beyond it, more
        assert frame.crossed_ps == 0
    (told,) = clock_problems("clk", frames, 100e6)
    assert "'clk' runs at 99.80" in told.message
    assert "the platform says 100 MHz" in told.message
    assert "ppm slow" in told.hint
    assert list(clock_problems("clk", frames, hz)) == []


def test_a_host_that_goes_on_for_long_does_not_keep_the_card_busy(card: CardExecutable, tmp_path: Path) -> None:
    body = (
        "fpga_t *fpga = fpgaOpen(0); fpgaWriteReg(fpga, 1, 2); fpgaClose(fpga); for (volatile int i = 0; i < 200; i++);"
    )
    outcome = run(card, HEAD + "int main(void) { " + body + " return 0; }", tmp_path, basic_block_ps=1_000_000_000)
    last_call = int(read_transfers(tmp_path / "raw")["end_ps"][-1]) // PERIOD
    assert last_call + 10_000_000 <= outcome.cycles < last_call + 12_000_000
    assert outcome.time_ps // PERIOD > 20_000_000
    (note,) = outcome.diagnostics
    longer = f"{int(outcome.time_ps // PERIOD) - outcome.cycles:,}".replace(",", "\u202f")
    assert f"ran for {longer} cycles after its last call" in note.message


def test_monitors_taps_and_dwell_agree(card: CardExecutable, tmp_path: Path) -> None:
    outcome = run(card, WORK, tmp_path)
    assert outcome.counter_words is not None
    cycles, busy = (int(word) for word in outcome.counter_words)
    assert cycles == outcome.cycles
    assert busy == 5000 + 1234
    dwell = read_dwell(tmp_path / "raw")
    for block in (0, 1):
        assert dwell["cycles"][dwell["block"] == block].sum() == outcome.cycles
    busy_rows = dwell[(dwell["block"] == 0) & (dwell["state"] == 1)]
    assert busy_rows[["log2_cycles", "count", "cycles"]].tolist() == [(10, 1, 1234), (12, 1, 5000)]
    taps = read_taps(tmp_path / "raw")
    assert [tuple(row) for row in taps[:2]] == [(0, 0, 0), (0, 1, 0)]
    busy_from, busy_to = taps[taps["block"] == 0]["cycle"][1:3]
    assert busy_to - busy_from == 5000
    writes = taps[(taps["block"] == 1) & (taps["state"] == 1)]
    transfers = read_transfers(tmp_path / "raw")
    assert writes["cycle"][0] * 10_000 == transfers["port_first_ps"][0]


def test_deterministic_runs_are_equal_bit_for_bit(card: CardExecutable, tmp_path: Path) -> None:
    outcomes = [run(card, WORK, tmp_path, raw=raw) for raw in ("one", "two")]
    assert replace(outcomes[0], counter_words=None) == replace(outcomes[1], counter_words=None)
    for name in ("transfers.bin", "taps.bin", "dwell.bin", "counters.bin", "host_end.txt", "card_end.txt"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_cpu_time_moves_the_clock_when_not_deterministic(card: CardExecutable, tmp_path: Path) -> None:
    source = (
        HEAD
        + """
    int main(void) {
        fpga_t *fpga = fpgaOpen(0);
        volatile unsigned sum = 0;
        for (unsigned i = 0; i < 5000000; i++) sum += i;
        fpgaWriteReg(fpga, 1, 2);
        fpgaClose(fpga);
    }"""
    )
    outcome = run(card, source, tmp_path, deterministic=False)
    once = outcome.host_ps
    assert outcome.time_ps == pytest.approx(once + 900_000)
    assert 1e9 < once < 1e12
    assert run(card, source, tmp_path, deterministic=False, host_factor=100.0).host_ps > 10 * once


def test_transfers_that_overlap_share_the_port(card: CardExecutable, tmp_path: Path) -> None:
    tables = {**PLATFORM.transfer_tables, "write": table("send", (4, 1e-6), (2048, 8e-6), overlaps=True)}
    platform = PLATFORM.model_copy(update={"transfer_tables": tables})
    source = (
        HEAD
        + """
    int main(void) {
        uint32_t data[200], back[200];
        fpga_t *fpga = fpgaOpen(0);
        for (int i = 0; i < 200; i++) data[i] = i + 7;
        fpgaWriteAsync(fpga, data, 0, 200);
        fpgaWriteAsync(fpga, data, 200, 200);
        fpgaWait(fpga);
        fpgaRead(fpga, back, 200, 200);
        printf("%d\\n", memcmp(data, back, 800));
        fpgaClose(fpga);
    }"""
    )
    outcome = run(card, source, tmp_path, platform=platform)
    assert outcome.stdout == "0\n"
    records = read_transfers(tmp_path / "raw")
    assert records["grant_ps"][1] == records["call_ps"][1]
    assert [d.severity for d in outcome.diagnostics] == [Severity.WARNING]


def test_several_threads_are_served_one_at_a_time(card: CardExecutable, tmp_path: Path) -> None:
    source = (
        "#include <pthread.h>\n"
        + HEAD
        + """
    static fpga_t *fpga;
    static void *work(void *number) {
        uint32_t base = 256 * (uint32_t)(long)number, back;
        for (uint32_t i = 0; i < 200; i++) {
            fpgaWrite(fpga, &i, base + i, 1);
            fpgaRead(fpga, &back, base + i, 1);
            if (back != i) exit(3);
        }
        return 0;
    }
    int main(void) {
        pthread_t threads[3];
        fpga = fpgaOpen(0);
        for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)i);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
        fpgaClose(fpga);
        return 0;
    }"""
    )
    outcome = run(card, source, tmp_path, deterministic=False)
    assert (outcome.exit, outcome.diagnostics) == (0, ())
    records = read_transfers(tmp_path / "raw")
    assert len(records) == 1200
    assert (records["grant_ps"][1:] >= records["end_ps"][:-1]).all()
    for raw in ("one", "two"):
        assert run(card, source, tmp_path, raw=raw).exit == 0
    assert set(read_transfers(tmp_path / "one")["thread"]) == {1, 2, 3}
    for name in ("transfers.bin", "host_waits.bin", "host_threads.txt", "taps.bin", "counters.bin", "host_end.txt"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()

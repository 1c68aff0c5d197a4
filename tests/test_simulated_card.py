"""The simulated card end to end: small designs under small hosts, against sums done by hand."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import psutil
import pytest
from rc_workbench_plugins.ports.memory import MemoryPort
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate

from workbench.api import HdlBuild, PlatformSupport
from workbench.api.job import Cancelled, Job, JobEvent
from workbench.api.records import read_dwell, read_taps, read_transfers
from workbench.api.targets import Outcome, Task
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut, Simulation
from workbench.model.diagnostic import Severity, WorkbenchError
from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform, TransferPoint, TransferTable
from workbench.model.read_out import Access, Act, ReadOutPlan
from workbench.model.transfer_time import transfer_ps

API = Path(__file__).parents[1] / "plugins" / "rc_workbench_plugins" / "nallatech" / "api"
SUPPORT = PlatformSupport("test", Path("test.yaml"), API, (API / "fpga.c",))
CLOCK_HZ = 100e6
PERIOD = Fraction(10**12) / 100_000_000

# 0..1023 memory; 0x1000: start a count of so many cycles; 0x1001: 1 while it counts; 0x1002: cycles since reset;
# 0x1003: $finish; 0x1004: $fatal. A monitor of its own stands at 0x2000 (control), 0x2001 (select), 0x2002 (data).
DESIGN = """
module sample #(parameter STEP = 1) (
    input clk, input rst,
    input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data,
    output irq
`ifdef RECAP_TAPS
    , output [34:0] recap_taps
`endif
);
    reg [31:0] memory [0:1023];
    reg [31:0] left, cycles, busy_cycles, select;
    reg done, frozen, was_busy, was_writing;
    initial frozen = 0;
    assign irq = done;
    wire freeze = wr_en && addr == 32'h2000;
`ifdef RECAP_TAPS
    assign recap_taps = {1'b0, was_writing, 1'b0, was_busy, 31'd0};
`endif
    always @(posedge clk) begin
        was_busy <= !rst && left != 0;
        was_writing <= !rst && wr_en;
        if (rst) begin
            left <= 0; cycles <= 0; done <= 0; busy_cycles <= 0;
        end else begin
            if (!frozen && !freeze) cycles <= cycles + STEP;
            if (!frozen && !freeze && left != 0) busy_cycles <= busy_cycles + 1;
            if (freeze) frozen <= wr_data[0];
            if (wr_en && addr == 32'h2001) select <= wr_data;
            if (left != 0) begin
                left <= left - 1;
                if (left == 1) done <= 1;
            end
            if (wr_en && addr == 32'h1000) begin left <= wr_data; done <= 0; end
            if (wr_en && addr == 32'h1003) $finish;
            if (wr_en && addr == 32'h1004) $fatal(1, "the design gave up");
            if (wr_en && addr < 1024) memory[addr[9:0]] <= wr_data;
            if (rd_en) begin
                rd_data <= cycles;
                if (addr < 1024) rd_data <= memory[addr[9:0]];
                if (addr == 32'h1001) rd_data <= {31'd0, left != 0};
                if (addr == 32'h2002) rd_data <= select == 0 ? cycles : busy_cycles;
            end
        end
    end
endmodule
"""

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n#include <fpga.h>\n"

WORK = (
    HEAD
    + """
int main(void)
{
    uint32_t data[512], back[512];
    fpga_t *fpga = fpgaOpen(0);
    fpgaConfigure(fpga, "sample.bit");
    for (int i = 0; i < 512; i++) data[i] = 3u * i * i + 1;
    fpgaWrite(fpga, data, 8, 300);
    fpgaRead(fpga, back, 8, 300);
    printf("%d\\n", memcmp(data, back, 1200));
    fpgaWriteReg(fpga, 0x1000, 5000);
    int polls = 0;
    while (fpgaReadReg(fpga, 0x1001)) polls++;
    printf("%d polls, cycle %u\\n", polls, fpgaReadReg(fpga, 0x1002));
    fpgaWriteReg(fpga, 0x1000, 1234);
    fpgaWaitIrq(fpga);
    printf("cycle %u\\n", fpgaReadReg(fpga, 0x1002));
    fpgaWriteAsync(fpga, data, 0, 512);
    fpgaWriteAsync(fpga, data, 512, 100);
    for (int i = 0; i < 512; i++) data[i] = 0;
    printf("cycle %u\\n", fpgaReadReg(fpga, 0x1002));
    fpgaWait(fpga);
    fpgaRead(fpga, back, 510, 4);
    printf("%u %u %u %u\\n", back[0], back[1], back[2], back[3]);
    fpgaClose(fpga);
    return 0;
}
"""
)


def table(direction: str, *points: tuple[int, float], resource: str = "bus", overlaps: bool = False) -> TransferTable:
    rows = tuple(TransferPoint(bytes=size, time_s=seconds) for size, seconds in points)
    return TransferTable(direction=direction, resource=resource, overlaps=overlaps, points=rows)


def hardware(clock_hz: float = CLOCK_HZ) -> Hardware:
    port = MemoryPort(
        write_enable="wr_en",
        read_enable="rd_en",
        incoming=PortDirection(data_signal="wr_data", address_signal="addr", condition_hdl="wr_en"),
        outgoing=PortDirection(data_signal="rd_data", address_signal="addr", condition_hdl="rd_en", delay_cycles=1),
    )
    return Hardware(clocks=(Clock(name="clk", frequency_hz=clock_hz, reset="rst"),), ports=(port,), interrupt="irq")


PLATFORM = Platform(
    schema_version=1,
    name="test",
    hardware=hardware(),
    transfer_tables={
        "write": table("send", (4, 1.3e-6), (1024, 4.7777e-6), (2048, 8.1e-6)),
        "read": table("receive", (4, 2.1e-6), (1024, 13.94e-6), (2000, 22.003e-6)),
        "write_reg": table("send", (4, 0.9e-6)),
        "read_reg": table("receive", (4, 1.1e-6)),
        "configure": table("send", (1, 100e-6), resource="jtag"),
    },
)


def project(**simulation: float) -> Project:
    return Project(
        schema_version=1,
        name="sample",
        platform="test",
        host=HostSources(sources=("host.c",)),
        hardware=HardwareSources(sources=("sample.v",), top="sample", read_out=ReadOut(first=0x2000, last=0x20FF)),
        simulation=Simulation.model_validate({"wall_limit_s": 30, "basic_block_ps": 1777, **simulation}),
    )


def task(root: Path, hdl: HdlBuild, **more: Any) -> Task:
    given = {"project": project(), "platform": PLATFORM, "support": SUPPORT, "deterministic": True, **more}
    return Task(root=root, hdl=hdl, build=root / "build", raw=root / given.pop("raw", "raw"), trace=True, **given)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("card")


@pytest.fixture(scope="module")
def card(folder: Path) -> CardExecutable:
    source = folder / "sample.v"
    source.write_text(DESIGN)
    hdl = HdlBuild(
        (source,),
        "sample",
        (),
        taps=((31, 2), (33, 2)),
        tap_bits=35,
        defines=("RECAP_TAPS",),
        read_outs=(
            ReadOutPlan(
                words=2,
                first=0x2000,
                last=0x20FF,
                freeze=Access(Act.WRITE, 0x2000, 1),
                run=Access(Act.WRITE, 0x2000, 0),
                clear=Access(Act.WRITE, 0x2000, 2),
                each=(Access(Act.WRITE_INDEX, 0x2001), Access(Act.READ, 0x2002, settle_cycles=4)),
            ),
        ),
    )
    return build_card(task(folder, hdl, parameters=PARAMETERS), Job())


PARAMETERS = {"NOT_ITS_OWN": "3"}


def run(
    card: CardExecutable,
    source: str,
    tmp_path: Path,
    job: Job | None = None,
    *,
    deterministic: bool = True,
    platform: Platform = PLATFORM,
    raw: str = "raw",
    **simulation: float,
) -> Outcome:
    job = job or Job()
    (tmp_path / "host.c").write_text(source)
    this = task(
        tmp_path, card.hdl, project=project(**simulation), platform=platform, deterministic=deterministic, raw=raw
    )
    return simulate(this, card, build_host(this, job), job)


@pytest.fixture
def no_children_left() -> Callable[[], bool]:
    """Whether all that was started since the test began has ended; waits a little for the last to go."""
    before = set(psutil.Process().children(recursive=True))

    def ended() -> bool:
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            ours = set(psutil.Process().children(recursive=True)) - before
            if not [p for p in ours if p.status() != psutil.STATUS_ZOMBIE]:
                return True
            time.sleep(0.02)
        return False

    return ended


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


def test_a_host_that_goes_on_for_long_does_not_keep_the_card_busy(card: CardExecutable, tmp_path: Path) -> None:
    body = (
        "fpga_t *fpga = fpgaOpen(0); fpgaWriteReg(fpga, 1, 2); fpgaClose(fpga); for (volatile int i = 0; i < 200; i++);"
    )
    outcome = run(card, HEAD + "int main(void) { " + body + " return 0; }", tmp_path, basic_block_ps=1_000_000_000)
    last_call = int(read_transfers(tmp_path / "raw")["end_ps"][-1]) // PERIOD
    assert last_call + 10_000_000 <= outcome.cycles < last_call + 12_000_000
    assert outcome.time_ps // PERIOD > 20_000_000
    (note,) = outcome.diagnostics
    assert f"went on for {int(outcome.time_ps // PERIOD) - outcome.cycles:,} cycles longer" in note.message


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
    assert run(card, source, tmp_path, deterministic=False, host_factor=4.0).host_ps > 1.5 * once


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


ENDLESS = {
    "cycle limit": (
        "for (;;) fpgaWriteReg(fpga, 0x1000, 5);",
        {"cycle_limit": 200_000},
        "the design has run for 200000 cycles, which is simulation.cycle_limit",
    ),
    "no interrupt": (
        "fpgaWaitIrq(fpga);",
        {"idle_cycle_limit": 50_000},
        "no interrupt came within 50000 cycles",
    ),
    "polling": (
        "fpgaWriteReg(fpga, 0x1000, 2000000000); while (fpgaReadReg(fpga, 0x1001)) ;",
        {"idle_cycle_limit": 50_000},
        "the design does not answer: the host has polled for 500",
    ),
    "$finish": ("fpgaWriteReg(fpga, 0x1003, 1); fpgaReadReg(fpga, 1);", {}, "ended the simulation itself ($finish"),
    "$fatal": ("fpgaWriteReg(fpga, 0x1004, 1); fpgaReadReg(fpga, 1);", {}, "the design failed"),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_a_design_that_never_answers_is_caught(
    card: CardExecutable, tmp_path: Path, case: str, no_children_left: Callable[[], bool]
) -> None:
    body, limits, message = ENDLESS[case]
    source = HEAD + "int main(void) { fpga_t *fpga = fpgaOpen(0); " + body + " fpgaClose(fpga); return 0; }"
    job = Job()
    outcome = run(card, source, tmp_path, job, **limits)
    assert outcome.exit == 113
    assert outcome.failed
    assert message in outcome.diagnostics[0].message
    if case == "polling":
        assert "reads were all of address 0x1001 and returned 0x1" in outcome.diagnostics[0].hint
    assert no_children_left()


def test_a_host_that_crashes(card: CardExecutable, tmp_path: Path, no_children_left: Callable[[], bool]) -> None:
    source = HEAD + "int main(void) { fpga_t *fpga = fpgaOpen(0); fpgaWriteReg(fpga, 1, 2); abort(); }"
    outcome = run(card, source, tmp_path)
    assert outcome.exit == -6
    assert "the host program crashed: Aborted, SIGABRT" in outcome.diagnostics[0].message
    assert outcome.counter_words is not None
    assert no_children_left()


def test_a_host_in_cpp(card: CardExecutable, tmp_path: Path) -> None:
    source = (
        HEAD
        + """#include <vector>
    int main() {
        std::vector<uint32_t> data(100, 7u);
        fpga_t *fpga = fpgaOpen(0);
        if (!fpga || fpgaWrite(fpga, data.data(), 5, 100) || fpgaRead(fpga, data.data(), 4, 2)) return 1;
        printf("%u %u\\n", data[0], data[1]);
        printf("%d %d\\n", fpgaWrite(fpga, data.data(), 0, -1), fpgaRead(fpga, nullptr, 0, 1));
        fpgaClose(fpga);
    }"""
    )
    (tmp_path / "host.cpp").write_text(source)
    settings = project()
    settings = settings.model_copy(update={"host": HostSources(sources=("*.cpp",), flags=("-O1", "-std=c++17"))})
    this = task(tmp_path, card.hdl, project=settings)
    outcome = simulate(this, card, build_host(this, Job()), Job())
    assert (outcome.exit, outcome.stdout) == (0, "0 7\n-1 -1\n")
    assert outcome.host_ps > 0


def test_a_host_that_prints_without_end_is_only_hashed(card: CardExecutable, tmp_path: Path) -> None:
    body = 'for (int i = 0; i < 2000000; i++) puts("0123456789"); return 0;'
    logged: list[str] = []
    job = Job(lambda event: logged.append(event.text))
    outcome = run(card, HEAD + "int main(void) { " + body + " }", tmp_path, job)
    assert outcome.exit == 0
    assert 16 << 20 <= len(outcome.stdout) < 17 << 20
    assert outcome.stdout_sha256 == hashlib.sha256(b"0123456789\n" * 2_000_000).hexdigest()
    assert len(logged) < 2_000_000


def test_a_host_that_returns_an_error(card: CardExecutable, tmp_path: Path) -> None:
    source = HEAD + 'int main(void) { fpgaOpen(1); fprintf(stderr, "results differ\\n"); return 3; }'
    outcome = run(card, source, tmp_path)
    assert outcome.exit == 3
    assert not outcome.failed
    assert "results differ" in outcome.diagnostics[0].hint


def test_a_host_that_loops_forever_meets_the_wall_limit(
    card: CardExecutable, tmp_path: Path, no_children_left: Callable[[], bool]
) -> None:
    source = HEAD + "int main(void) { fpga_t *fpga = fpgaOpen(0); fpgaWriteReg(fpga, 1, 2); for (;;) ; }"
    outcome = run(card, source, tmp_path, deterministic=False, wall_limit_s=0.5)
    assert "simulation.wall_limit_s (0.5 s)" in outcome.diagnostics[0].message
    assert "The host program was in its own code" in outcome.diagnostics[0].message
    assert no_children_left()


def test_a_thread_that_loops_forever_is_named_at_the_wall_limit(card: CardExecutable, tmp_path: Path) -> None:
    source = (
        "#include <pthread.h>\n"
        + HEAD
        + """
    static void *loop(void *unused) { for (;;) ; return unused; }
    int main(void) { pthread_t t; pthread_create(&t, 0, loop, 0); pthread_join(t, 0); }"""
    )
    outcome = run(card, source, tmp_path, wall_limit_s=0.5)
    assert "Thread 1 of the host program was in its own code" in outcome.diagnostics[0].message


DAEMON = """#include <signal.h>
int main(void) {
    fpga_t *fpga = fpgaOpen(0);
    if (!fork()) { setsid(); if (!fork()) { signal(SIGHUP, SIG_IGN); for (;;) sleep(1000); } _exit(0); }
    fpgaWriteReg(fpga, 1, 2);
    puts("up"); fflush(stdout);
    %s
    fpgaClose(fpga);
}"""


@pytest.mark.parametrize("confined", [True, False])
@pytest.mark.parametrize("ends", [True, False])
def test_a_host_that_leaves_a_process_behind_ends(
    card: CardExecutable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_children_left: Callable[[], bool],
    ends: bool, confined: bool,
) -> None:  # fmt: skip
    if not confined:
        monkeypatch.setattr("workbench.system.confine.missing_tools", lambda: ("bwrap",))
    source = HEAD + DAEMON % ("" if ends else "for (;;) sleep(1000);")
    outcome = run(card, source, tmp_path, deterministic=False, wall_limit_s=30 if ends else 1)
    assert outcome.stdout == "up\n"
    assert no_children_left()
    told = [d.message for d in outcome.diagnostics if not d.message.startswith("fork: ")]
    if not ends:
        assert "simulation.wall_limit_s (1 s)" in told[0]
        return
    assert len(outcome.diagnostics) == len(told) + 1
    if outcome.confined:
        assert (outcome.exit, told) == (0, [])
    else:
        assert outcome.exit == 0
        assert re.fullmatch(r"the host program left \d process(es)? behind at its end", "\n".join(told))


def test_cancel_leaves_no_process(card: CardExecutable, tmp_path: Path, no_children_left: Callable[[], bool]) -> None:
    source = HEAD + "int main(void) { fpga_t *fpga = fpgaOpen(0); for (;;) fpgaWriteReg(fpga, 1, 2); }"

    def cancel_when_well_under_way(event: JobEvent) -> None:
        if event.kind == "progress" and int(event.text.split(" cycles")[0].replace(",", "")) > 300_000:
            job.cancel()

    job = Job(cancel_when_well_under_way)
    with pytest.raises(Cancelled):
        run(card, source, tmp_path, job)
    assert no_children_left()
    assert len(read_transfers(tmp_path / "raw")) > 0


def test_rtl_that_does_not_compile(tmp_path: Path) -> None:
    source = tmp_path / "broken.v"
    source.write_text(DESIGN.replace("reg done, frozen", "reg done; reg nonsense nonsense"))
    with pytest.raises(WorkbenchError) as caught:
        build_card(task(tmp_path, HdlBuild((source,), "sample", ())), Job())
    first = caught.value.diagnostics[0]
    assert (first.file, first.line) == (str(source), 12)
    assert "syntax error" in first.message


def test_a_top_without_the_platforms_port(tmp_path: Path) -> None:
    source = tmp_path / "other.v"
    source.write_text("module other(input clk, input rst, output reg q); always @(posedge clk) q <= rst; endmodule\n")
    with pytest.raises(WorkbenchError) as caught:
        build_card(task(tmp_path, HdlBuild((source,), "other", ())), Job())
    assert "no input 'addr', which platform test's port needs" in str(caught.value)
    assert "Its inputs are: clk, rst." in caught.value.diagnostics[0].hint


def test_a_table_faster_than_the_port_is_refused(tmp_path: Path) -> None:
    tables = {**PLATFORM.transfer_tables, "write": table("send", (4, 1e-6), (2048, 5e-6))}
    platform = PLATFORM.model_copy(update={"transfer_tables": tables})
    with pytest.raises(WorkbenchError, match="more than one 32-bit word a cycle at 100 MHz"):
        build_card(task(tmp_path, HdlBuild((), "sample", ()), platform=platform), Job())


def test_a_host_that_does_not_compile_or_link(tmp_path: Path) -> None:
    for line, place, message in (
        ("int main(void) { return fpgaRaed; }", 6, "fpgaRaed"),
        ("int missing(void);\nint main(void) { return missing(); }", 7, "undefined reference to `missing'"),
    ):
        (tmp_path / "host.c").write_text(HEAD + line)
        with pytest.raises(WorkbenchError) as caught:
            build_host(task(tmp_path, HdlBuild((), "sample", ())), Job())
        first = caught.value.diagnostics[0]
        assert (first.file, first.line) == (str(tmp_path / "host.c"), place)
        assert message in first.message


def test_a_card_that_has_not_changed_comes_from_the_cache(card: CardExecutable, tmp_path: Path) -> None:
    began = time.monotonic()
    again = build_card(task(tmp_path, card.hdl, parameters=PARAMETERS), Job())
    assert time.monotonic() - began < 1.0
    assert again.path.read_bytes() == card.path.read_bytes()


INCLUDING = """
`include "defs.inc"
`include "sub/more.vh"
module including(
    input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en, output reg [31:0] rd_data
);
    always @(posedge clk) if (rd_en) rd_data <= `K + `MORE;
endmodule
"""


def test_a_card_is_built_anew_when_anything_that_it_includes_has_changed(tmp_path: Path) -> None:
    hdl, late = tmp_path / "hdl", tmp_path / "late"
    (hdl / "sub").mkdir(parents=True)
    (late / "sub").mkdir(parents=True)
    (hdl / "including.v").write_text(INCLUDING)
    (late / "defs.inc").write_text("`define K 1\n")
    (late / "sub" / "more.vh").write_text("`define MORE 10\n")
    design = HdlBuild((hdl / "including.v",), "including", (), include_dirs=(hdl, late))
    source = HEAD + 'int main(void) { fpga_t *f = fpgaOpen(0); printf("%u", fpgaReadReg(f, 5)); fpgaClose(f); }'

    def answer(name: str) -> str:
        work = tmp_path / name
        work.mkdir()
        logged: list[str] = []
        job = Job(lambda event: logged.append(event.text))
        card = build_card(task(work, design), job)
        kept = "the card has not changed since it was last built" in logged
        return run(card, source, work).stdout + (" kept" if kept else "")

    assert answer("first") == "11"
    assert answer("same") == "11 kept"
    (late / "defs.inc").write_text("`define K 2\n")
    assert answer("changed file") == "12"
    (hdl / "sub" / "more.vh").write_text("`define MORE 30\n")
    assert answer("a file that is found before the one that was read") == "32"
    (hdl / "sub" / "more.vh").unlink()
    assert answer("gone again") == "12 kept"


@pytest.mark.parametrize(
    ("call", "where"),
    [
        ("fpgaWriteReg(fpga, 0x2000, 1)", "0x2000 (4 bytes)"),
        ("fpgaWrite(fpga, data, 0x1f00, 512)", "0x1f00 (2048 bytes)"),
    ],
)
def test_a_host_that_writes_where_the_counters_stand_is_told(
    card: CardExecutable, tmp_path: Path, call: str, where: str, no_children_left: Callable[[], bool]
) -> None:
    source = (
        HEAD + "int main(void) { uint32_t data[512] = {0}; fpga_t *fpga = fpgaOpen(0); fpgaWrite(fpga, data, 0, 9); "
    )
    outcome = run(card, source + call + "; fpgaClose(fpga); return 0; }", tmp_path)
    assert outcome.failed
    assert f"the host writes to address {where}, in the range 0x2000 to 0x20ff" in outcome.diagnostics[0].message
    assert no_children_left()


def test_a_host_that_reads_where_the_counters_stand_is_warned(card: CardExecutable, tmp_path: Path) -> None:
    source = (
        HEAD + "int main(void) { fpga_t *fpga = fpgaOpen(0); fpgaReadReg(fpga, 0x20ff); fpgaClose(fpga); return 0; }"
    )
    outcome = run(card, source, tmp_path)
    assert not outcome.failed
    assert "the host read 1 times from the range" in outcome.diagnostics[0].message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("fpgaWrite(fpga, data, 64, 2147483647)", "a transfer of 8589934588 bytes at address 0x40 (table 'write')"),
        ("fpgaRead(fpga, data, 64, 2147483647)", "a transfer of 8589934588 bytes at address 0x40 (table 'read')"),
        ("fpgaRead(fpga, data, 0, 200000000)", "would last 880"),
    ],
)
def test_a_transfer_that_no_run_could_end_is_refused_at_the_call(
    card: CardExecutable, tmp_path: Path, call: str, message: str, no_children_left: Callable[[], bool]
) -> None:
    source = HEAD + "int main(void) { static uint32_t data[16]; fpga_t *fpga = fpgaOpen(0); "
    outcome = run(card, source + call + "; fpgaClose(fpga); return 0; }", tmp_path, cycle_limit=20_000_000)
    assert outcome.exit == 113
    assert message in outcome.diagnostics[0].message
    assert "is the size right?" in outcome.diagnostics[0].message
    assert no_children_left()


def test_a_memory_without_its_file_is_an_error(tmp_path: Path) -> None:
    body = 'reg [31:0] rom [0:15]; initial $readmemh("rom/start.hex", rom);'
    body += " always @(posedge clk) rd_data <= rom[addr[3:0]];"
    ports = "input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en"
    source = tmp_path / "rom.v"
    source.write_text(f"module rom({ports}, output reg [31:0] rd_data); {body} endmodule\n")
    card = build_card(task(tmp_path, HdlBuild((source,), "rom", ())), Job())
    host = HEAD + 'int main(void) { fpga_t *f = fpgaOpen(0); printf("%u", fpgaReadReg(f, 2)); fpgaClose(f); return 0; }'
    without = run(card, host, tmp_path)
    assert without.failed
    assert "the design cannot read the file 'rom/start.hex'" in without.diagnostics[0].message
    (tmp_path / "rom").mkdir()
    (tmp_path / "rom" / "start.hex").write_text("1 2 2a 4\n")
    short = run(card, host, tmp_path)
    assert (short.stdout, short.failed) == ("42", False)

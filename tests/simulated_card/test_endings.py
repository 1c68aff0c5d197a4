"""However a design or a host ends: the run says so, and leaves no process behind."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate
from simulated_card.conftest import HEAD, project, run, task

from workbench.api import HdlBuild
from workbench.api.job import Cancelled, Job, JobEvent
from workbench.api.records import read_transfers
from workbench.model.application import HostSources

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


@pytest.mark.parametrize(
    ("name", "number", "hint"),
    [
        ("Aborted, SIGABRT", 6, "To see where, build the host with -fsanitize=address in host.flags."),
        ("Killed, SIGKILL", 9, "Another program ended it, or the system ran out of memory."),
    ],
)
def test_a_host_that_a_signal_ends(
    card: CardExecutable, tmp_path: Path, no_children_left: Callable[[], bool], name: str, number: int, hint: str
) -> None:
    source = HEAD + f"int main(void) {{ fpga_t *fpga = fpgaOpen(0); fpgaWriteReg(fpga, 1, 2); raise({number}); }}"
    outcome = run(card, f"#include <signal.h>\n{source}", tmp_path)
    assert outcome.exit == -number
    assert (outcome.diagnostics[0].message, outcome.diagnostics[0].hint) == (f"the host program crashed: {name}", hint)
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
    body = 'for (int i = 0; i < 200000; i++) puts("' + 10 * "0123456789" + '"); return 0;'
    logged: list[str] = []
    job = Job(lambda event: logged.append(event.text))
    outcome = run(card, HEAD + "int main(void) { " + body + " }", tmp_path, job, wall_limit_s=120)
    assert outcome.exit == 0
    assert 16 << 20 <= len(outcome.stdout) < 17 << 20
    assert outcome.stdout_sha256 == hashlib.sha256((10 * b"0123456789" + b"\n") * 200_000).hexdigest()
    assert len(logged) < 200_000


def test_a_host_that_returns_an_error(card: CardExecutable, tmp_path: Path) -> None:
    source = HEAD + 'int main(void) { fpgaOpen(1); fprintf(stderr, "results differ\\n"); return 3; }'
    outcome = run(card, source, tmp_path)
    assert outcome.exit == 3
    assert outcome.failed
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
        cycles = re.match(r"([\d\u202f]+) cycles", event.text) if event.kind == "progress" else None
        if cycles and int(cycles[1].replace("\u202f", "")) > 300_000:
            job.cancel()

    job = Job(cancel_when_well_under_way)
    with pytest.raises(Cancelled):
        run(card, source, tmp_path, job)
    assert no_children_left()
    assert len(read_transfers(tmp_path / "raw")) > 0


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
    assert "the host read once from the range" in outcome.diagnostics[0].message


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
    body = 'reg [31:0] rom [0:15]; initial if (!$test$plusargs("none")) $readmemh("rom/start.hex", rom);'
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

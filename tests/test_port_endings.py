"""What a design may not do at a port ends the run with the reason; an error answered fails the host's call.

ARM IHI 0022 (AXI): a response follows what it answers, LAST comes with a burst's last word, no burst crosses 4 KiB.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from rc_workbench_plugins.ports.bank import CardMemory
from rc_workbench_plugins.ports.bus import AvalonPort, AxiLitePort, AxiPort
from rc_workbench_plugins.ports.masters import AxiMasterPort
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate

from workbench.api import HdlBuild, PlatformSupport
from workbench.api.job import Job
from workbench.api.targets import Outcome, Task
from workbench.hdl.verilate import harness_dir
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut
from workbench.model.hardware import Clock, Hardware
from workbench.model.platform import Platform, TransferPoint, TransferTable
from workbench.model.simulation import Simulation

DESIGN = Path(__file__).parent / "data" / "ports" / "unruly.v"
TABLES = {"fault": "regs", "write": "burst", "read": "burst", "ask": "avalon"}
PLATFORM = Platform(
    schema_version=2,
    name="unruly",
    hardware=Hardware(
        clocks=(Clock(name="clk", frequency_hz=100e6, reset="rst_n", reset_hdl="!rst_n"),),
        ports=(
            AxiLitePort(name="regs"),
            AxiPort(name="burst", prefix="b_"),
            AvalonPort(name="avalon", prefix="a_"),
            AxiMasterPort(name="master", prefix="m_", memory="ddr"),
            CardMemory(name="ddr", bytes=65536, bandwidth_bytes_per_s=400e6),
        ),
    ),
    transfer_tables={
        name: TransferTable(
            direction="receive" if name in ("read", "ask") else "send",
            port=port,
            points=(TransferPoint(bytes=16, time_s=1e-6),),
        )
        for name, port in TABLES.items()
    },
)
PROJECT = Project(
    schema_version=1,
    name="unruly",
    platform="unruly",
    host=HostSources(sources=("host.c",)),
    hardware=HardwareSources(sources=("unruly.v",), top="unruly", read_out=ReadOut(first=0, last=3)),
    simulation=Simulation(wall_limit_s=100, idle_cycle_limit=10_000),
)
HOST = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "wbcard.h"
int main(int count, char **words) {
    wbcard_t *card = wbcard_open(0);
    uint32_t fault = count > 1 ? atoi(words[1]) : 0, data[4] = {0};
    int set = wbcard_send(card, "fault", &fault, 0, 4), wrote = wbcard_send(card, "write", data, 0, 16);
    int read = wbcard_receive(card, "read", data, 0, 16), asked = wbcard_receive(card, "ask", data, 0, 4);
    wbcard_close(card);
    printf("%d %d %d %d\\n", set, wrote, read, asked);
    return 0;
}
"""


Built = tuple[Task, Path, CardExecutable]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("unruly")
    (folder / "host.c").write_text(HOST)
    (folder / "api.c").write_text("")
    support = PlatformSupport("unruly", Path("none.yaml"), harness_dir(), (folder / "api.c",))
    hdl = HdlBuild((DESIGN,), "unruly", ())
    task = Task(PROJECT, PLATFORM, folder, hdl, folder / "build", folder / "raw", support, deterministic=True)
    return task, build_host(task, Job()), build_card(task, Job())


def run(built: Built, fault: int, folder: Path) -> Outcome:
    task, host, card = built
    project = PROJECT.model_copy(update={"host": HostSources(sources=("host.c",), arguments=(str(fault),))})
    return simulate(replace(task, project=project, raw=folder / "raw"), card, host, Job())


@pytest.mark.parametrize(("fault", "said"), [(0, "0 0 0 0"), (5, "0 -1 0 0"), (6, "0 0 -1 0")])
def test_an_error_that_the_design_answers_with_fails_the_call(
    built: Built, tmp_path: Path, fault: int, said: str
) -> None:
    outcome = run(built, fault, tmp_path)
    assert (outcome.exit, outcome.diagnostics) == (0, ())
    assert outcome.stdout.strip() == said


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (1, "port burst: the design answers a write (bvalid) before it has taken one"),
        (2, "port burst: the design answers a read (rvalid) before it has taken one"),
        (3, "port burst: rlast is high before the last word of a burst"),
        (4, "port burst: rlast is low with the last word of a burst"),
        (7, "port avalon: readdatavalid without a read that waits for it"),
        (8, "port master: wlast is high before the last word of a burst"),
        (9, "port master: wlast is low with the last word of a burst"),
        (10, "port master: a burst of the design's crosses a 4 KiB boundary"),
        (11, "port master: only INCR bursts of the port's full width are modelled"),
        (12, "port master: only INCR bursts of the port's full width are modelled"),
    ],
)
def test_what_the_bus_does_not_allow_ends_the_run(built: Built, tmp_path: Path, fault: int, told: str) -> None:
    outcome = run(built, fault, tmp_path)
    assert outcome.exit == 113
    assert [problem.message for problem in outcome.diagnostics if told in problem.message]

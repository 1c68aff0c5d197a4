"""A small card, the platform it stands on, and hosts to run with it."""

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rc_workbench_plugins.ports.memory import MemoryPort
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate
from running import running_children

from workbench.api import HdlBuild, HdlSimulation, PlatformSupport
from workbench.api.job import Job
from workbench.api.targets import Outcome, Task, TimingRule
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut
from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform, TransferPoint, TransferTable
from workbench.model.read_out import Access, Act, ReadOutPlan
from workbench.model.simulation import Simulation

API = Path(__file__).parents[2] / "platform_templates" / "nallatech_h101"
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
        simulation=HdlSimulation(((31, 2), (33, 2)), 35, ("RECAP_TAPS",)),
        read_out=ReadOutPlan(
            words=2,
            first=0x2000,
            last=0x20FF,
            freeze=Access(Act.WRITE, 0x2000, 1),
            run=Access(Act.WRITE, 0x2000, 0),
            clear=Access(Act.WRITE, 0x2000, 2),
            each=(Access(Act.WRITE_INDEX, 0x2001), Access(Act.READ, 0x2002, settle_cycles=4)),
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
    flags: tuple[str, ...] = (),
    rules: tuple[TimingRule, ...] = (),
    **simulation: float,
) -> Outcome:
    job = job or Job()
    (tmp_path / "host.c").write_text(source)
    made = project(**simulation)
    made = made.model_copy(update={"host": made.host.model_copy(update={"flags": flags})})
    this = task(tmp_path, card.hdl, project=made, platform=platform, deterministic=deterministic, raw=raw, rules=rules)
    return simulate(this, card, build_host(this, job), job)


@pytest.fixture
def no_children_left() -> Callable[[], bool]:
    """Whether all that was started since the test began has ended; waits a little for the last to go."""
    before = running_children().keys()

    def ended() -> bool:
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            if not running_children().keys() - before:
                return True
            time.sleep(0.02)
        return False

    return ended

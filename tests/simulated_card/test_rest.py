"""A design that provably stays as it is need not be simulated: every record of a run is as without that."""

import random
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate
from rc_workbench_plugins.verilog import VerilogLanguage
from simulated_card.conftest import HEAD, PLATFORM, SUPPORT

from workbench.api import HdlBuild
from workbench.api.job import Job
from workbench.api.records import read_end
from workbench.api.stream_records import stream_transfers
from workbench.api.targets import Outcome, Task
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut
from workbench.model.hardware import Clock
from workbench.model.simulation import Simulation

# Register 0: so many words go through the FIFO, one in 3 cycles in, one in 5 out; 1: how many came out.
NAPS = """
module fifo (input clk, input rst, input in_valid, output in_ready, input [31:0] in_data,
             output out_valid, input out_ready, output [31:0] out_data);
    reg [31:0] words [0:3];
    reg [2:0] head, tail;
    assign in_ready = tail - head != 3'd4;
    assign out_valid = head != tail;
    assign out_data = words[head[1:0]];
    always @(posedge clk)
        if (rst) begin head <= 0; tail <= 0; end
        else begin
            if (in_valid & in_ready) begin words[tail[1:0]] <= in_data; tail <= tail + 1; end
            if (out_valid & out_ready) head <= head + 1;
        end
endmodule
module naps (input clk, input rst, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en,
             output reg [31:0] rd_data, output irq);
    reg [31:0] left, came;
    reg [2:0] pace;
    wire a_valid, a_ready, b_valid, b_ready;
    wire [31:0] b_data;
    assign a_valid = left != 0 && pace[1:0] == 0;
    assign b_ready = pace == 4;
    assign irq = left == 0 && !b_valid;
    fifo fifo (clk, rst, a_valid, a_ready, left, b_valid, b_ready, b_data);
    always @(posedge clk) begin : feed
        pace <= rst || (left == 0 && !b_valid) || pace == 4 ? 0 : pace + 1;
        if (rst) left <= 0;
        else if (wr_en) begin
            //pragma recap begin recv(ctrl, $CPU, n)
            left <= wr_data;
        end else if (left != 0) begin
            //pragma recap give work
            if (a_valid & a_ready) left <= left - 1;
        end
        if (rd_en) rd_data <= came;
    end
    always @(posedge clk) begin : take
        if (rst) came <= 0;
        else if (b_valid & b_ready) begin
            //pragma recap took work
            came <= came + 1;
        end else if (b_valid) begin
            //pragma recap full wait_send(late_receiver, $CPU, n)
            came <= came;
        end
        EXTRA
    end
endmodule
module two_naps (input clk, input rst, input slow, input [31:0] addr, input wr_en, input [31:0] wr_data, input rd_en,
                 output [31:0] rd_data, output irq);
    wire busy;
    reg asked, seen, seen_before;
    reg [4:0] left;
    assign irq = busy && left == 0;
    naps naps (clk, rst, addr, wr_en, wr_data, rd_en, rd_data, busy);
    always @(posedge clk) asked <= rst ? 0 : asked ^ wr_en;
    always @(posedge slow) begin : other
        {seen_before, seen} <= {seen, asked};
        if (rst) left <= 0;
        else if (seen != seen_before) begin
            //pragma recap again work
            left <= 21;
        end else if (left != 0) begin
            //pragma recap down work
            left <= left - 1;
        end
    end
endmodule
"""

HOST = (
    HEAD
    + """
int main(int count, char **words)
{
    fpga_t *fpga = fpgaOpen(0);
    unsigned sum = 0;
    for (int i = 1; i + 1 < count; i += 2) {
        int number = atoi(words[i + 1]);
        switch (words[i][0]) {
        case 'w': fpgaWriteReg(fpga, 0, number); break;
        case 'r': sum += fpgaReadReg(fpga, 1); break;
        case 's': usleep(number); break;
        case 'i': fpgaWaitIrq(fpga); break;
        }
    }
    printf("%u\\n", sum);
    fpgaClose(fpga);
    return 0;
}
"""
)


class Bench:
    """A design's card, and a host that does what its arguments say."""

    def __init__(self, folder: Path, top: str, extra: str = "") -> None:
        self.folder = folder
        (folder / "naps.v").write_text(NAPS.replace("EXTRA", extra))
        (folder / "host.c").write_text(HOST)
        hardware = PLATFORM.hardware
        assert hardware is not None
        if top == "two_naps":
            hardware = hardware.model_copy(update={"clocks": (*hardware.clocks, Clock(name="slow", frequency_hz=37e6))})
        self.platform = PLATFORM.model_copy(update={"hardware": hardware})
        sources = HardwareSources(sources=("naps.v",), top=top, read_out=ReadOut(first=0x100, last=0x10F))
        self.project = Project(
            schema_version=1, name="naps", platform="test", host=HostSources(sources=("host.c",)), hardware=sources
        )  # fmt: skip
        hdl = VerilogLanguage().instrument(folder, sources, self.platform, {}, folder / "hdl", Job())
        assert hdl.simulation.uncounted
        task = self.task("", hdl, {})
        self.card: CardExecutable = build_card(task, Job())
        self.host = build_host(task, Job())

    def task(self, name: str, hdl: HdlBuild, simulation: dict[str, bool], arguments: tuple[str, ...] = ()) -> Task:
        host = self.project.host.model_copy(update={"arguments": arguments})
        made = Simulation.model_validate({"wall_limit_s": 60, "basic_block_ps": 1777, **simulation})
        project = self.project.model_copy(update={"host": host, "simulation": made})
        return Task(
            project, self.platform, self.folder, hdl, self.folder / "build", self.folder / name, SUPPORT,
            deterministic=True, trace=True,
        )  # fmt: skip

    def run(self, name: str, words: tuple[str, ...], *, skip_rest: bool) -> tuple[Outcome, dict[str, bytes], int]:
        """The outcome, all records but how many cycles were skipped, and that."""
        raw = self.folder / name
        task = self.task(name, self.card.hdl, {"skip_rest": skip_rest}, words)
        log: list[str] = []
        outcome = simulate(task, self.card, self.host, Job(lambda event: log.append(event.text)))
        end = read_end(raw / "card_end.txt")
        skipped = int(end.pop("skipped"))
        records = {p.name: p.read_bytes() for p in raw.iterdir() if p.suffix == ".bin"}
        records["stream_transfers.bin"] = _each_streams(raw)
        printed = [line for line in log if line.startswith("card: ")]
        return outcome, {**records, "end": repr((end, printed)).encode()}, skipped


def _each_streams(raw: Path) -> bytes:
    """The streams' transfers, one stream after another: which is written first depends on when the card looked."""
    pieces = [np.stack([piece[name] for name in ("stream", "cycle", "early")]) for piece in stream_transfers(raw)]
    rows = np.concatenate(pieces, axis=1)
    return rows[:, np.argsort(rows[0], kind="stable")].tobytes()


def script(seed: int) -> tuple[str, ...]:
    chosen = random.Random(seed)
    words: list[str] = []
    for _ in range(12):
        act = chosen.choice("wwrssi")
        words += [
            act,
            str(chosen.choice((0, 1, 2, 7, 50, 400)) if act == "w" else chosen.choice((1, 3, 20, 300, 2000))),
        ]
    return tuple(words)


@pytest.mark.parametrize("top", ["naps", "two_naps"])
def test_records_are_those_of_a_run_of_every_cycle(top: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, top)
    for seed in range(4):
        every, skipping = (bench.run(f"{seed}{skip}", script(seed), skip_rest=skip) for skip in (False, True))
        assert every[:2] == skipping[:2]
        assert (every[0].exit, every[0].diagnostics) == (0, ())
        assert every[1]["streams.bin"]
        assert (every[2], skipping[2] > 0.5 * sum(every[0].clock_cycles)) == (0, True)


@pytest.mark.parametrize(
    "extra",
    [
        'if (!rst && came == 7 && irq) $write("at rest\\n");',  # state says nothing of what is printed
        "if ($random == 32'h12345678) came <= 0;",
    ],
)
def test_what_state_does_not_tell_is_not_skipped(extra: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, "naps", extra)
    words = ("s", "20", "w", "7", "s", "6")
    every, skipping = (bench.run(str(skip), words, skip_rest=skip) for skip in (False, True))
    assert every[:2] == skipping[:2]
    if "$random" in extra:
        assert skipping[2] == 0
    else:
        assert 1000 < skipping[2] < 2100  # before, and not after
        assert every[1]["end"].count(b"at rest") > 400

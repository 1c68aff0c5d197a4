"""What counting a design's streams costs the simulation: processor time of the card with and without it.

    python tests/benchmarks/stream_cost.py [--json] [--quick]

A chain of stages with valid and ready, each with so many clocked blocks that do work; every stage passes a word in
three of four cycles. `--quick` takes one design and fewer words.
"""

import resource
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from command_line import command, show

from workbench.api import Task
from workbench.api.job import Job
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import load_plugins

APPLICATION = Path(__file__).parents[1] / "data" / "applications" / "fork_join"
DESIGNS = ((10, 1), (10, 20), (50, 4), (200, 1))  # edges, blocks a stage
REPEATS = 3

_STAGE = """
module stage (input wire clk, input wire rst, input wire in_valid, output wire in_ready, input wire [31:0] in_data,
              output wire out_valid, input wire out_ready, output wire [31:0] out_data);
    reg full = 0;
    reg [31:0] held = 0;
    assign in_ready = ~full | out_ready;
    assign out_valid = full;
    assign out_data = held;
    always @(posedge clk)
        if (rst) full <= 0;
        else if (in_ready) begin
            full <= in_valid;
            held <= in_data + work[31:0];
        end
    wire [63:0] work;
    assign work = chain[BLOCKS];
    wire [63:0] chain [0:BLOCKS];
    assign chain[0] = {held, held};
    genvar i;
    generate for (i = 0; i < BLOCKS; i = i + 1) begin : busy
        reg [63:0] sum = i;
        always @(posedge clk) sum <= {sum[62:0], sum[63] ^ sum[60]} + (chain[i] ^ (sum >> 7));
        assign chain[i + 1] = sum;
    end endgenerate
endmodule
"""


def design(edges: int, blocks: int) -> str:
    stages = edges - 1
    return (
        _STAGE.replace("BLOCKS", str(blocks))
        + f"""
module fork_join (input wire clk, input wire rst,
    input wire s_axis_tvalid, output wire s_axis_tready, input wire [31:0] s_axis_tdata, input wire s_axis_tlast,
    output wire m_axis_tvalid, input wire m_axis_tready, output wire [31:0] m_axis_tdata);
    wire [{stages}:0] valid, ready;
    wire [31:0] data [0:{stages}];
    assign valid[0] = s_axis_tvalid;
    assign s_axis_tready = ready[0];
    assign data[0] = s_axis_tdata;
    assign m_axis_tvalid = valid[{stages}];
    assign ready[{stages}] = m_axis_tready;
    assign m_axis_tdata = data[{stages}];
    genvar i;
    generate for (i = 0; i < {stages}; i = i + 1) begin : s
        stage one (.clk(clk), .rst(rst), .in_valid(valid[i]), .in_ready(ready[i]), .in_data(data[i]),
                   .out_valid(valid[i + 1]), .out_ready(ready[i + 1]), .out_data(data[i + 1]));
    end endgenerate
endmodule
"""
    )


def workspace_of(folder: Path, edges: int, blocks: int, rounds: int) -> Workspace:
    for source in APPLICATION.iterdir():
        (folder / source.name).write_text(source.read_text())
    (folder / "fork_join.v").write_text(design(edges, blocks))
    host = (folder / "words.c").read_text()
    calls = "    axi_dma_send(dma, data, sizeof data);\n    axi_dma_receive(dma, back, sizeof back);\n"
    assert calls in host
    (folder / "words.c").write_text(host.replace(calls, f"    for (int i = 0; i < {rounds}; i++) {{\n{calls}    }}\n"))
    project = folder / "fork_join.workbench.yaml"
    text = project.read_text().replace("  parameters: {SHORT: 16, GATHER: 8, DELAY: 0}\n", "")
    project.write_text(text[: text.index("settings:")] + "settings:\n  WORDS: 240\n")
    return open_workspace(folder, load_plugins())


def measure(edges: int, blocks: int, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        workspace = workspace_of(folder, edges, blocks, rounds)
        assert not workspace.diagnostics, workspace.diagnostics
        settings = workspace.settings({})
        assert workspace.platform.hardware is not None
        hdl = workspace.hdl_language.instrument(
            folder, workspace.project.hardware, workspace.platform, {}, folder / "copies", Job()
        )
        assert len(hdl.streams) == edges, len(hdl.streams)
        target, costs, cycles = workspace.target("simulated"), {}, 0
        for name, build in (("with", hdl), ("without", replace(hdl, streams=(), fifos=()))):
            task = Task(
                project=workspace.project, platform=workspace.platform, support=workspace.support, root=folder,
                hdl=build, settings=settings, build=folder / name, raw=folder / f"raw_{name}", deterministic=True,
                again=True,
            )  # fmt: skip
            task.build.mkdir()
            job = Job()
            job.plan(target.steps)
            built = target.build(task, job)
            spent = []
            for _ in range(REPEATS):
                before = _spent_s()
                outcome = target.run(task, built, job)
                spent.append(_spent_s() - before)
                assert not outcome.failed, outcome.diagnostics
            costs[name], cycles = min(spent), outcome.cycles
    return {
        "edges": edges, "blocks": (edges - 1) * (blocks + 1), "cycles": cycles,
        "ns_per_cycle": 1e9 * costs["without"] / cycles,
        "ns_per_edge_and_cycle": 1e9 * (costs["with"] - costs["without"]) / cycles / edges,
        "slower_pct": 100 * (costs["with"] / costs["without"] - 1),
    }  # fmt: skip


def _spent_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    arguments = command(__doc__).parse_args()
    designs, rounds = (((50, 4),), 1000) if arguments.quick else (DESIGNS, 1500)
    rows = [measure(edges, blocks, rounds) for edges, blocks in designs]
    show({"rows": rows}, arguments.json)


if __name__ == "__main__":
    main()

"""What agents cost an application: section 4.7.2 and Table 6.1 of the dissertation, on virtual cores.

    python tests/benchmarks/streaming.py [--json] [--quick] [chain] [blastn]

A source, nine blocks that each copy what they get into an array of their own, and a sink, each on a core of its own,
and one core for the agent. Arrays of 8192 and of 2048 elements of 8 bytes go from block to block. All ten edges are
measured: their rates, histograms of their occupancy, or both, in frames of a millisecond. Runs are deterministic, so
that `throughput_loss_pct` has no noise: it is by how much longer the blocks take than without an agent.
`agent_core_pct` is the agent's work as a share of that time. The paper's: about 0 and at most 3.7 %; about 20 and 70 %.

`blastn` (Table 6.1) is the bundled search by all stages (`resources/examples/blastn`) with and without agents that
count the statements of Fig. 6.17 in frames of 10 ms and of 1 ms: experiment 1 has more queries and a smaller database
on one FPGA, experiment 2 is on two. `elapsed_s` and `with_agents_s` are virtual times of deterministic runs; `diff_pct`
is beside the paper's 2.2 and 1.5 %. A search lasts 11 ms here and an hour or more there, so that what agents do at its
begin and end weighs more: `steady_pct` is by how much the rest takes longer, from a search of four times the queries.
`agents` has what each took of a core and of the bus, which limits this search.
--quick: arrays of 2048, both measures; experiment 2.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from command_line import command
from rc_workbench_plugins.simulated_card.simulate import simulate
from rc_workbench_plugins.simulated_card.target import SimulatedCard
from rc_workbench_plugins.streaming.agents.kept import kept_answers

from workbench.api import Task
from workbench.api.job import Job
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

BLOCKS = 9
SEARCH = Path(__file__).resolve().parents[2] / "resources" / "examples" / "blastn"
QUEUES = ("queries", "results")
#: The number, the top, of each FPGA its pipeline and its stage 2b, and the queries.
EXPERIMENTS = (
    (1, "Small", {"card": ("first", "stage2b")}, 48),
    (2, "TwoFpgas", {"card": ("first", "first2b"), "other": ("second", "second2b")}, 16),
)
PAPER_PCT = {1: 2.2, 2: 1.5}
LONGER = 4  # times the queries, to tell what goes on from what comes once
FRAMES = ("10 ms", "1 ms")
#: Some 13 ms of virtual time: the agent looks every millisecond, and what is left at the end is not in its share.
ARRAYS = {8192: 800, 2048: 3200}
MEASURES = {"rate": "measure rate at {}", "occupancy": "measure hist occupancy at {}"}

BLOCKS_HPP = """
#pragma once
#include <memory>
#include "streaming.hpp"

constexpr int ARRAY = {array}, ARRAYS = {arrays}, BUFFERS = 8; // more than a queue holds, and its two ends
struct Buffers {{
    std::unique_ptr<uint64_t[]> all{{new uint64_t[BUFFERS * ARRAY]}};
    int next = 0;
    uint64_t* take() {{ return &all[(next++ % BUFFERS) * ARRAY]; }}
}};
inline uint64_t handed(uint64_t* array) {{ return uint64_t(reinterpret_cast<uintptr_t>(array)); }}
inline uint64_t* taken(uint64_t handle) {{ return reinterpret_cast<uint64_t*>(uintptr_t(handle)); }}

struct Src {{
    streaming::Out<uint64_t> y;
    Buffers own;
    void run() {{
        for (int k = 0; k < ARRAYS; ++k) {{
            uint64_t* array = own.take();
            for (int i = 0; i < ARRAY; ++i) array[i] = uint64_t(k + i);
            if (!y.push(handed(array))) return;
        }}
    }}
}};
struct Pass {{
    streaming::In<uint64_t> x;
    streaming::Out<uint64_t> y;
    Buffers own;
    void run() {{
        for (uint64_t got; x.pop(got);) {{
            const uint64_t* from = taken(got);
            uint64_t* to = own.take();
            for (int i = 0; i < ARRAY; ++i) to[i] = from[i] + 1;
            if (!y.push(handed(to))) return;
        }}
    }}
}};
struct Sink {{
    streaming::In<uint64_t> x;
    void run() {{
        uint64_t sum = 0;
        for (uint64_t got; x.pop(got);) sum += taken(got)[0];
        std::printf("%llu\\n", (unsigned long long)sum);
    }}
}};
"""


def application(folder: Path, array: int, measured: list[str]) -> Path:
    passes = [f"p{number}" for number in range(BLOCKS)]
    chain = ["src", *passes, "sink"]
    edges = [f"    e{number}: {a} -> {b} (depth=4);" for number, (a, b) in enumerate(pairwise(chain))]
    lines = [
        "block Src { output unsigned64 y; }",
        "block Pass { input unsigned64 x; output unsigned64 y; }",
        "block Sink { input unsigned64 x; }",
        *(f'impl {kind} cpp "blocks.hpp";' for kind in ("Src", "Pass", "Sink")),
        "block App {",
        "    Src src;",
        f"    Pass {', '.join(passes)};",
        "    Sink sink;",
        *edges,
        "}",
    ]
    (folder / "chain.x").write_text("\n".join(lines) + "\n")
    (folder / "blocks.hpp").write_text(BLOCKS_HPP.format(array=array, arrays=ARRAYS[array]))
    (folder / "q.tt").write_text(
        "".join(f"{MEASURES[m].format(f'e{n}')};\n" for m in measured for n in range(len(edges)))
    )
    mapping = ", ".join(f"{block}: c{number}" for number, block in enumerate(chain))
    cores = ", ".join(f"c{number}: core" for number in range(len(chain)))
    query = "  query: q.tt\n  frame: 1 ms\n" if measured else ""
    path = folder / "chain.workbench.yaml"
    path.write_text(
        "schema_version: 1\nname: chain\nplatform: nallatech_h101\nstreaming:\n  sources: [chain.x]\n"
        f"  resources: {{{cores}}}\n  mapping: {{{mapping}}}\n{query}"
    )
    return path


def timed(array: int, measured: list[str]) -> tuple[int, int]:
    """How long the blocks took, and the agent's work, in ps of virtual time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workspace = open_workspace(application(folder, array, measured), load_plugins())
        hdl = workspace.hdl_language.plain(workspace.root, workspace.project.hardware, workspace.parameters({}))
        task = Task(
            workspace.project, workspace.platform, workspace.root, hdl, folder / "build", folder / "raw",
            workspace.support, deterministic=True,
        )  # fmt: skip
        built = SimulatedCard().build(task, Job())
        simulate(task, built.card, built.host, Job())
        told = (folder / "raw" / "host_threads.txt").read_text()
    rows = [list(map(int, line.split())) for line in told.splitlines()]
    threads = {number: (begin, end, work) for number, begin, end, work, *_ in rows}
    agent = 1 if measured else 0  # it is the first thread that main begins
    blocks = [threads[number] for number in threads if number > agent]
    assert len(blocks) == BLOCKS + 2, rows
    return max(end for _, end, _ in blocks) - min(begin for begin, _, _ in blocks), threads[1][2] if measured else 0


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    for array in (2048,) if quick else (8192, 2048):
        plain, _ = timed(array, [])
        for measured in (["rate", "occupancy"],) if quick else (["rate"], ["occupancy"], ["rate", "occupancy"]):
            took, work = timed(array, measured)
            yield {
                "array": array,
                "instrumented": " and ".join(measured),
                "throughput_loss_pct": 100 * (1 - plain / took),
                "agent_core_pct": 100 * work / took,
            }


def statements(fpgas: Iterable[tuple[str, str]]) -> str:
    """Fig. 6.17, but for the virtual queues, which no agent sees whole, as it does not see what stage 2b's output waits
    for behind the bus."""
    of_fpgas = [
        f"measure util at {name}.stage1a.x;\nmeasure util at {name}.stage1b.x;\nmeasure util at {name}.stage2a.hits;\n"
        f"measure util at {name}.stage2a.y;\nmeasure rate at {stage_2b}.y;\nmeasure hist occupancy at {name}.words;\n"
        for name, stage_2b in fpgas
    ]
    return "".join(of_fpgas) + "".join(f"measure hist occupancy at {name};\n" for name in QUEUES)


def searched(
    top: str, fpgas: Mapping[str, tuple[str, str]], queries: int, frame: str = ""
) -> tuple[float, list[dict[str, Any]]]:
    """How long the search took (s of virtual time), and what each agent cost that counts in such frames."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(SEARCH, folder, dirs_exist_ok=True)
        text = (folder / "stages.x").read_text()
        text = re.sub(r"queries( ?= ?)(16|48)\b", rf"queries\g<1>{queries}", text)
        (folder / "stages.x").write_text(text)
        (folder / "q.tt").write_text(statements(fpgas.values()))
        mapping = {block: fpga for fpga, blocks in fpgas.items() for block in blocks}
        path = folder / "search.workbench.yaml"
        path.write_text(
            "schema_version: 1\nname: search\nplatform: nallatech_h101\nstreaming:\n  sources: [blastn.x, stages.x]\n"
            f"  top: {top}\n  mapping: {json.dumps(mapping)}\n"
            + (f"  query: q.tt\n  frame: {frame}\n" if frame else "")
            + "simulation: {cores: 16, wall_limit_s: 7200}\n"
        )
        options = RunOptions(out=folder / "run", deterministic=True)
        run = run_workspace(open_workspace(path, load_plugins()), options, Job())
        assert run.complete, run.manifest.reason
        kept = kept_answers(run.tables, "")
        return run.manifest.time_ps / 1e12, [one.as_json() for one in kept.costs] if kept else []


def blastn_rows(quick: bool) -> Iterator[dict[str, Any]]:
    for experiment, top, fpgas, queries in EXPERIMENTS[1:] if quick else EXPERIMENTS:
        elapsed, longer = (searched(top, fpgas, number)[0] for number in (queries, LONGER * queries))
        for frame in FRAMES[:1] if quick else FRAMES:
            took, costs = searched(top, fpgas, queries, frame)
            longer_took, _ = searched(top, fpgas, LONGER * queries, frame)
            yield {
                "experiment": experiment, "queries": queries, "frame": frame, "elapsed_s": elapsed,
                "with_agents_s": took, "diff_pct": 100 * (took / elapsed - 1),
                "steady_pct": 100 * ((longer_took - took) / (longer - elapsed) - 1),
                "paper_pct": PAPER_PCT[experiment], "agents": costs,
            }  # fmt: skip


def said(row: Mapping[str, Any]) -> str:
    if "array" in row:
        return (
            f"arrays of {row['array']}, {row['instrumented']}: {row['throughput_loss_pct']:.2f} % less throughput, "
            f"the agent takes {row['agent_core_pct']:.1f} % of a core"
        )
    agents = "; ".join(
        f"{one['agent']} {100 * one['core_share']:.1f} % of a core, {100 * one['bus_share']:.1f} % of the bus, "
        f"{one['bytes']} bytes in {one['transfers']} transfers"
        for one in row["agents"]
    )
    times = f"{1e3 * row['elapsed_s']:.3f} ms without agents, {1e3 * row['with_agents_s']:.3f} with"
    differs = f"{row['diff_pct']:.2f} %, steady {row['steady_pct']:.2f} % (paper {row['paper_pct']} %)"
    run = f"experiment {row['experiment']}, {row['queries']} queries, frames of {row['frame']}"
    return f"BLASTN, {run}: {times}, {differs}; {agents}"


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("part", nargs="*", choices=["chain", "blastn", []])
    arguments = parser.parse_args()
    found = []
    parts = {"chain": rows, "blastn": blastn_rows}
    for part in arguments.part or parts:
        for row in parts[part](arguments.quick):
            found.append(row)
            if not arguments.json:
                print(said(row), flush=True)
    if arguments.json:
        print(json.dumps({"rows": found}, indent=2))


if __name__ == "__main__":
    main()

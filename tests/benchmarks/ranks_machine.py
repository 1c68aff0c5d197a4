"""MPI ranks under a real mpirun, each with a board that stands in for a real one (`tests/data/board`).

    python tests/benchmarks/ranks_machine.py [--quick] [--json] [--only intervals|fpga]

The first table has `tests/data/ranks` instrumented, built with mpicc, run as 2 and 4 ranks (`--quick`: 2), collected,
and held against the same ranks on the simulated card: whether messages (who sends to whom, in which order, by which
calls, how many bytes) and collectives are the same; how exactly the ranks' clocks were aligned, and how far off they
were indeed; how many messages seem to come before they were sent; whether replay comes to the run's times, and which
ranks the critical path visits. Ranks run on this machine, where they read one clock, and on two machines made of this
one by namespaces (`two_machines.py`; as root), with a shared file system and without; and under MPICH, where it is
there too (Debian: mpich, libmpich-dev). The second table has what
recording costs a message: a short one to another rank and back, bare, counted and traced. In the third, two ranks of
a program record beside one that is not instrumented (`mpirun a : b`): whether all end, and print what they should.

The fourth has how often a prediction's interval holds, which is stated for 9 of 10 cases. A program of two ranks that
compute in turn is run `RUNS` times, and as often with half the work in rank 0, one after the other. Each run predicts
that change, and is held against the changed run that came next (`next`), and against all (`any`); `first` without
earlier runs, `after` three of them. `off` is how far the predicted gain is from the one that came, `width` an
interval's upper end over its lower one, less 1, `queued` for which share of a run its ranks were ready while others had
the cores, all at the median; `load` is the machine's load average as the runs began and ended.

The fifth has a clock twice as fast, for an FPGA of each rank that works for 320 ms in each of 10 rounds. Its host
asks whether it is done, and sleeps for `pause` between two polls. Each run predicts the speedup, and is compared with a
run with that clock: the median of `FASTER_RUNS` pairs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from two_machines import AHEAD_S, can_be_made, two_machines

from workbench.api.job import Job
from workbench.api.records import read_end
from workbench.model.changes import read_change
from workbench.model.run import PS_PER_S, Run
from workbench.model.syncs import SyncKind
from workbench.model.text import percent_text, table, time_text
from workbench.replay.host_noise import measured_ps
from workbench.replay.prepare import prepare
from workbench.run.rank_clocks import aligned, unsure_between_ps
from workbench.run.ranks import rank_folders
from workbench.session.keep.collecting import collect_records
from workbench.session.keep.results import open_result, prepared
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import Plugins, load_plugins
from workbench.system.toolchain import find_verilator

DATA = Path(__file__).parents[1] / "data"
RUNS, EARLIER, FASTER_RUNS = 16, 3, 5
BOARD_HZ, PAUSES_US = 10_000, (5000, 20_000, 50_000)
#: Open MPI on as many cores as there are, for whoever runs the tests.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
_SENDS = ("MPI_Send", "MPI_Isend", "MPI_Ssend")
_COLLECTIVES = ("MPI_Bcast", "MPI_Allreduce", "MPI_Scan", "MPI_Ireduce")
_HALF = "host block=host.rank[0].main state=work factor=0.5"
_TURNS = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long work = atol(getenv(rank ? "WORK_1" : "WORK_0"));
    for (int round = 0; round < 50; round++) {
        if (rank) MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (volatile long i = 0; i < work; i++) ;
        MPI_Send(&word, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD);
        if (!rank) MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
"""
_POLLS = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
#include "fpga.h"
int main(int argc, char **argv)
{
    int rank, pause = atoi(getenv("PAUSE_US"));
    uint32_t words[16] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fpga_t *fpga = fpgaOpen(0);
    for (int round = 0; round < 10; round++) {
        #pragma recap put send(data, tiny_top.adder, w1)
        fpgaWrite(fpga, words, 0, 16);
        #pragma recap poll wait_recv(late_sender, tiny_top.adder, d1)
        while (fpgaReadReg(fpga, 0x100) == 0)
            if (pause) usleep(pause);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    fpgaClose(fpga);
    MPI_Finalize();
    return 0;
}
"""
_COST = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank;
    char byte = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int part = 0; part < 9; part++) {
        double began = MPI_Wtime();
        for (int i = 0; i < 5000; i++) {
            if (rank == 0) MPI_Send(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&byte, 1, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
        if (rank == 0) printf("%.9g\\n", (MPI_Wtime() - began) / 5000);
    }
    MPI_Finalize();
    return 0;
}
"""


def project(folder: Path) -> Path:
    """A copy of the project, and of the design that it shares."""
    shutil.copytree(DATA / "tiny", folder / "tiny")
    return Path(shutil.copytree(DATA / "ranks", folder / "ranks")) / "ranks.workbench.yaml"


def kinds() -> dict[str, str]:
    """The MPIs that are here, by the end of their commands' names."""
    named = {".openmpi": "Open MPI", ".mpich": "MPICH"}
    return {end: name for end, name in named.items() if shutil.which(f"mpicc{end}")} or {"": "MPI"}


def built(tree: Path, folder: Path, *words: str, design: Path | None = None) -> Path:
    """The program of a tree with the board that stands in for one, made by plain make; with the library of an equal
    design, where one is given."""
    folder.mkdir()
    if design:
        shutil.copy(design, folder)
        words = ("-o", design.name, *words)
    verilator = find_verilator()
    made = {"VERILATOR": str(verilator.path), "VERILATOR_ROOT": str(verilator.root)}
    command = ["make", "-f", str(DATA / "board" / "Makefile"), f"TREE={tree}", *words]
    subprocess.run(command, cwd=folder, env=os.environ | made, check=True, capture_output=True)
    return folder / "host"


def mpirun(program: Path, ranks: int, raw: Path | None = None, trace: bool = True, command: Sequence[str] = ()) -> str:
    """What the ranks print. `raw` is where they record."""
    recorded = {"RCW_RAW": str(raw), "RCW_TRACE": "1" if trace else ""} if raw else {}
    command = command or ["mpirun", "-n", str(ranks), str(program)]
    done = subprocess.run(command, env=os.environ | MPI | recorded, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def messages(run: Run) -> list[tuple[Any, ...]]:
    """Messages from one rank to another, by receiver and in order: sender, bytes, and the calls at both ends."""
    syncs, calls = run.tables["syncs"], run.tables["calls"]
    callee = [(site.callee, site.line) for site in run.manifest.sites]

    def call_of(row: int) -> int:
        mine = np.flatnonzero(np.asarray(calls["block"]) == syncs["block"][row])
        return int(mine[np.searchsorted(calls["t0_ps"][mine], syncs["t0_ps"][row], "right") - 1])

    found = []
    for row in np.flatnonzero((syncs["kind"] == SyncKind.AWAIT_MESSAGE) & (syncs["woken_by"] >= 0)).tolist():
        sent = int(syncs["woken_by"][row])
        send, receive = call_of(sent), call_of(row)
        if callee[calls["site"][send]][0] in _SENDS:
            ends = callee[calls["site"][send]], callee[calls["site"][receive]]
            found.append((int(syncs["block"][row]), int(syncs["block"][sent]), int(calls["bytes"][send]), *ends))
    return found


def collectives(run: Run) -> list[list[tuple[str, int, int]]]:
    """Of each rank the collective calls in order: name, line, bytes."""
    calls, sites = run.tables["calls"], run.manifest.sites
    return [
        [(sites[site].callee, sites[site].line, int(size))
         for site, size, block in zip(calls["site"], calls["bytes"], calls["block"], strict=True)
         if block == rank and sites[site].callee in _COLLECTIVES]
        for rank in range(run.manifest.cores.ranks)
    ]  # fmt: skip


def clocks_off_ps(raw: Path, ahead_s: float = 0) -> tuple[int, int]:
    """How far off ranks' clocks may be as the run says, and are by CLOCK_MONOTONIC, which all ranks of one kernel have;
    on another host than rank 0's it is ahead by so many seconds."""
    folders = rank_folders(raw)
    ranks, _ = aligned(folders)
    ends = [read_end(folder / "rank.txt") for folder in folders]
    off = [0]
    for rank, end in zip(ranks, ends, strict=True):
        begun_ns = int(end["zero_ns"]) - int(ends[0]["zero_ns"])
        begun_ns -= round(ahead_s * 1e9) if end["host"] != ends[0]["host"] else 0
        off += [abs(round(rank.offset_ps - ranks[0].offset_ps) - begun_ns * 1000)]
    return unsure_between_ps(ranks), max(off)


def row(
    name: str, output: str, raw: Path, card: Run, tree: Path, plugins: Plugins, ahead_s: float = 0
) -> dict[str, Any]:
    """What ranks printed and recorded, beside the same ranks on the card."""
    run = collect_records(tree, raw, raw.with_name(f"{raw.name}-run"), plugins)
    assert card.path is not None
    replayed = prepared(run, None, plugins)
    path = replayed.run_path()
    visited = sorted({run.manifest.blocks[block].id for block in path.steps.block.tolist()}) if path else []
    unsure_ps, off_ps = clocks_off_ps(raw, ahead_s)
    said = " ".join(one.message for one in run.manifest.diagnostics)
    early = re.search(r"(\d+) calls? ended before the data that they waited for came", said)
    return {
        "ranks": name, "messages": len(messages(run)), "messages_equal": messages(run) == messages(card),
        "collectives_equal": collectives(run) == collectives(card),
        "output_equal": output == (card.path / "stdout.txt").read_text(),
        "within_s": unsure_ps / PS_PER_S, "off_s": off_ps / PS_PER_S,
        "early": int(early[1]) if early else 0,
        "replayed": replayed.exact, "path": [re.sub(r".*\[(\d+)\].*", r"\1", name) for name in visited],
    }  # fmt: skip


def rows(
    counts: Sequence[int], project: Path, tree: Path, program: Path, folder: Path, plugins: Plugins
) -> Iterator[dict[str, Any]]:
    cards: dict[int, Run] = {}
    workspace = open_workspace(project, plugins)
    for ranks in counts:
        options = RunOptions(folder / f"card-{ranks}", trace=True, deterministic=True, ranks=ranks)
        cards[ranks], raw = run_workspace(workspace, options, Job()), folder / f"raw-{ranks}"
        yield row(str(ranks), mpirun(program, ranks, raw), raw, cards[ranks], tree, plugins)
    ranks = counts[-1]
    if shutil.which("mpicc.mpich"):
        design = program.with_name("libfpga.so")
        own, raw = built(tree, folder / "mpich", "CC=mpicc.mpich", design=design), folder / "raw-mpich"
        output = mpirun(own, ranks, raw, command=["mpirun.mpich", "-n", str(ranks), str(own)])
        yield row(f"{ranks}, MPICH", output, raw, cards[ranks], tree, plugins)
    if not can_be_made():
        print("two machines need root, and `ip`: their rows are missing", file=sys.stderr)
        return
    with two_machines(folder) as two:
        for shared in (True, False):
            raw = (folder if shared else two.apart) / "records"
            output = mpirun(program, ranks, raw, command=two.command(ranks, program))
            if not shared:
                two.bring_together(raw)
            name = f"{ranks} on two machines" + ("" if shared else ", copied")
            yield row(name, output, raw, cards[ranks], tree, plugins, AHEAD_S)


def with_source(
    text: str, folder: Path, plugins: Plugins, replaced: Mapping[str, str] = MappingProxyType({})
) -> Path:  # fmt: skip
    """The main source of a copy of the project with this text, and other words in the project file; the instrumented
    tree is `folder`/tree."""
    folder.mkdir()
    file = project(folder)
    described = file.read_text()
    for word, other in replaced.items():
        described = described.replace(word, other)
    file.write_text(described)
    (file.parent / "host" / "main.c").write_text(text)
    instrument_workspace(open_workspace(file, plugins), {}, folder / "tree")
    return file.parent / "host" / "main.c"


def costs(folder: Path, plugins: Plugins, design: Path) -> dict[str, float]:
    """How long a message there and back takes, in seconds: the shortest of many
    means of some thousand."""
    own = folder / "cost"
    source = with_source(_COST, own, plugins)
    program, bare = built(own / "tree", own / "build", design=design), own / "bare"
    subprocess.run(["mpicc", "-O2", source, "-o", bare], check=True)
    ways = {
        "bare": (bare, ()),
        "not recording": (program, ()),
        "counted": (program, (False,)),
        "traced": (program, (True,)),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(5):  # in turns, as the machine may have other work
        for name, (one, trace) in ways.items():
            raw = own / f"{name}-{turn}" if trace else None
            times[name] += map(float, mpirun(one, 2, raw, *trace).split())
    return {name: min(some) for name, some in times.items()}


def beside(file: Path, tree: Path, folder: Path, design: Path, plugins: Plugins) -> list[dict[str, Any]]:
    """Two ranks that record beside one that does not, first and last."""
    found = []
    for end, kind in kinds().items():
        program, plain = built(tree, folder / f"beside{end}", f"CC=mpicc{end}", design=design), folder / f"plain{end}"
        board = f"-I{DATA / 'board'}"
        source = file.parent / "host" / "main.c"
        linked = [str(design), f"-Wl,-rpath,{design.parent}"]
        subprocess.run([f"mpicc{end}", "-w", "-DROUNDS=3", board, source, *linked, "-o", plain], check=True)
        for name, order in (("first", (plain, program)), ("last", (program, plain))):
            counts, raw = [str(1 if one == plain else 2) for one in order], folder / f"raw-beside{end}-{name}"
            command = [f"mpirun{end}", "-n", counts[0], str(order[0]), ":", "-n", counts[1], str(order[1])]
            output = mpirun(program, 3, raw, command=command)
            run = collect_records(tree, raw, raw.with_name(f"{raw.name}-run"), plugins)
            bare = mpirun(plain, 3, command=[f"mpirun{end}", "-n", "3", str(plain)])
            found.append({"mpi": kind, "not_instrumented": name, "output_equal": output == bare,
                          "messages": len(messages(run)), "replayed": prepared(run, None, plugins).exact})  # fmt: skip
    return found


def _ran_in_turns(own: Path, program: Path, command: Sequence[str], plugins: Plugins, name: str, work: int) -> Path:
    """A run of the program whose ranks compute in turn, with so much work in rank 0."""
    os.environ |= {"WORK_0": str(work), "WORK_1": "4000000"}
    mpirun(program, 2, own / f"raw{name}", command=command)
    out = own / f"run{name}"
    collect_records(own / "tree", own / f"raw{name}", out, plugins)
    return out


def coverage(runs: int, folder: Path, design: Path, plugins: Plugins) -> list[dict[str, Any]]:
    """How often the interval of a predicted change holds the gain that came."""
    own = folder / "turns"
    with_source(_TURNS, own, plugins)
    found = []
    for end, kind in kinds().items():
        program = built(own / "tree", own / f"build{end}", f"CC=mpicc{end}", design=design)
        command = [f"mpirun{end}", "-n", "2", str(program)]

        ran = partial(_ran_in_turns, own, program, command, plugins)
        began = os.getloadavg()[0]
        both = [(ran(f"{end}-base-{n}", 16_000_000), ran(f"{end}-half-{n}", 8_000_000)) for n in range(runs)]
        load = f"{began:.1f} to {os.getloadavg()[0]:.1f}"
        bases = [open_result(one, plugins) for one, _ in both]
        ends_ps = [open_result(one, plugins).run.manifest.time_ps for _, one in both]
        took_ps = [measured_ps(one.run) for one in bases]
        queued = [max(t.queued_ps / (t.end_ps - t.begin_ps) for t in one.run.manifest.threads) for one in bases]
        for name, earlier in (("first", 0), ("after", EARLIER)):
            holds: dict[str, list[bool]] = {"next": [], "any": []}
            off, widths = [], []
            for number, base in enumerate(bases):
                others = [ps for other, ps in enumerate(took_ps) if other != number][:earlier]
                said = prepare(base.run, base.platform, None, None, others).predict([read_change(_HALF)])
                assert said.speedup
                assert said.interval
                gains = [base.run.manifest.time_ps / ps for ps in ends_ps]
                holds["next"].append(bool(said.holds(gains[number])))
                holds["any"] += [bool(said.holds(gain)) for gain in gains]
                off.append(abs(gains[number] / said.speedup - 1))
                widths.append(said.interval[1] / said.interval[0] - 1)
            shares = {of: float(np.mean(some)) for of, some in holds.items()}
            row = {"mpi": kind, "interval": name, "runs": 2 * runs, **shares, "load": load}
            medians = {"off": off, "width": widths, "queued": queued}
            found.append({**row, **{of: float(np.median(some)) for of, some in medians.items()}})
    return found


def faster_fpga(runs: int, folder: Path, plugins: Plugins) -> list[dict[str, Any]]:
    """How far the predicted speedup of a clock twice as fast is from the measured one, by the pause between polls."""
    own = folder / "polls"
    with_source(_POLLS, own, plugins, {"DELAY: 4": "DELAY: 200"})
    clock = "BOARD_HZ='std::atof(std::getenv(\"BOARD_HZ\"))'"
    # The read-out waits by the platform's clock of 100 MHz, while this board's makes no cycle: its words need enough.
    program = built(own / "tree", own / "build", clock, "READ_CYCLES=1000000", "WORD_CYCLES=32")
    found = []
    for pause_us in PAUSES_US:
        predicted, measured, load = [], [], os.getloadavg()[0]
        for number in range(runs):
            ran = []
            for factor in (1, 2):
                os.environ |= {"PAUSE_US": str(pause_us), "BOARD_HZ": str(factor * BOARD_HZ)}
                raw = own / f"raw-{pause_us}-{number}-{factor}"
                mpirun(program, 2, raw)
                ran.append(collect_records(own / "tree", raw, raw.with_name(f"{raw.name}-run"), plugins))
            clocks = [f"clock clock={one.name} frequency_hz={2 * one.frequency_hz!r}" for one in ran[0].manifest.clocks]
            prediction = prepared(ran[0], None, plugins).predict([read_change(clock) for clock in clocks])
            assert prediction.speedup, prediction.why
            predicted.append(prediction.speedup)
            measured.append(ran[0].manifest.time_ps / ran[1].manifest.time_ps)
        off = float(np.median(np.array(predicted) / np.array(measured) - 1))
        found.append({"pause_s": pause_us / 1e6, "predicted": float(np.median(predicted)),
                      "measured": float(np.median(measured)), "off": off, "load": load})  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2 ranks alone, and 4 runs of each for the intervals")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", choices=["intervals", "fpga"], help="the fourth or fifth table alone")
    asked = parser.parse_args()
    plugins = load_plugins()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        measured: dict[str, Any] = {}
        if asked.only != "fpga":
            file = project(folder)
            instrument_workspace(open_workspace(file, plugins), {}, folder / "tree")
            program = built(folder / "tree", folder / "build")
            design = program.with_name("libfpga.so")
        if not asked.only:
            counts = (2,) if asked.quick else (2, 4)
            measured["runs"] = list(rows(counts, file, folder / "tree", program, folder, plugins))
            measured["costs_s"] = costs(folder, plugins, design)
            measured["beside"] = beside(file, folder / "tree", folder, design, plugins)
        if asked.only != "fpga":
            measured["intervals"] = coverage(4 if asked.quick else RUNS, folder, design, plugins)
        if asked.only != "intervals":
            measured["faster_fpga"] = faster_fpga(1 if asked.quick else FASTER_RUNS, folder, plugins)
    if asked.json:
        print(json.dumps(measured, indent=1))
        return
    if not asked.only:
        show_runs(measured["runs"], measured["costs_s"], measured["beside"])
    if asked.only != "fpga":
        show_intervals(measured["intervals"])
    if asked.only != "intervals":
        lines = [
            (time_text(one["pause_s"]), f"{one['predicted']:.3f}x", f"{one['measured']:.3f}x",
             f"{100 * one['off']:+.1f} %", f"{one['load']:.1f}") for one in measured["faster_fpga"]
        ]  # fmt: skip
        print(table([("pause between polls", "predicted", "measured", "off", "load"), *lines]))


def show_intervals(rows: list[dict[str, Any]]) -> None:
    print(table([("interval", "runs", "holds, next", "holds, any", "off", "width", "queued", "load"),
                 *((f"{one['interval']}, {one['mpi']}", str(one["runs"]), *(percent_text(one[key]) for key in
                    ("next", "any", "off", "width", "queued")), one["load"])
                   for one in rows)]))  # fmt: skip


def show_runs(runs: list[dict[str, Any]], spent: dict[str, float], mixed: list[dict[str, Any]]) -> None:
    head = ("ranks", "messages", "equal", "collectives equal", "output equal", "aligned to", "off by", "early",
            "replayed exactly", "ranks on the path")  # fmt: skip
    lines = [
        (one["ranks"], str(one["messages"]),
         *("yes" if one[key] else "NO" for key in ("messages_equal", "collectives_equal", "output_equal")),
         f"± {time_text(one['within_s'])}", time_text(one["off_s"]), str(one["early"]),
         "yes" if one["replayed"] else "NO", ", ".join(one["path"]))
        for one in runs
    ]  # fmt: skip
    print(table([head, *lines]))
    print(table([("a byte there and back", "takes", "more than bare"),
                 *((name, time_text(s), time_text(s - spent["bare"])) for name, s in spent.items())]))  # fmt: skip
    print(table([("not instrumented", "output equal", "messages", "replayed exactly"),
                 *((f"{one['not_instrumented']}, {one['mpi']}", "yes" if one["output_equal"] else "NO",
                    str(one["messages"]), "yes" if one["replayed"] else "NO") for one in mixed)]))  # fmt: skip


if __name__ == "__main__":
    main()

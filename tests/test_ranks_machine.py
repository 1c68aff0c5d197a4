"""Several processes (MPI ranks) on real machines: each records by itself, and what they recorded is one run, on one
clock, in which each rank waits for whom it waited for.

The program runs under this machine's own mpirun. Clocks and messages are also made up here, where the truth is known.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rtl_simulator import BOARD, make_board

from workbench.api.job import Job
from workbench.api.records import MESSAGES, RANK_CLOCKS
from workbench.api.virtual_time import Triples, steady
from workbench.model.changes import read_change
from workbench.model.diagnostic import WorkbenchError
from workbench.model.prediction import Trust
from workbench.model.run import PS_PER_S, Cores, Run
from workbench.model.syncs import SyncKind
from workbench.replay.editing import Edited
from workbench.replay.edits import edit
from workbench.replay.refusals import cannot_replay
from workbench.replay.resolve import resolve
from workbench.replay.threads import Replay, differences
from workbench.run.rank_calls import with_calls
from workbench.run.rank_clocks import aligned
from workbench.run.rank_messages import Kind
from workbench.run.rank_waits import match_messages
from workbench.run.ranks import rank_folders
from workbench.run.syncs import sync_tables
from workbench.session.keep.collecting import collect_records
from workbench.session.keep.results import open_result, prepared
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import Plugins, load_plugins

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
from ranks_machine import DATA, MPI, built, collectives, messages, mpirun, project, with_source

SEND, ISEND, RECV, WAITALL = ("MPI_Send", "MPI_Isend", "MPI_Recv", "MPI_Waitall")


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("mpicc") is None and "CI" not in os.environ:
        pytest.skip("there is no mpicc here: openmpi-bin and libopenmpi-dev bring it")
    return project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def tree(file: Path, plugins: Plugins, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "tree"
    instrument_workspace(open_workspace(file, plugins), {}, folder)
    return folder


@pytest.fixture(scope="module")
def program(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by plain make, in whose Makefile no compiler is named: mpicc is taken."""
    folder = tmp_path_factory.mktemp("build")
    done = subprocess.run(make_board(tree), cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return folder / "host"


@pytest.fixture(scope="module")
def raw(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What four ranks recorded."""
    folder = tmp_path_factory.mktemp("records") / "raw"
    assert mpirun(program, 4, folder) == "292512 292512\n"
    return folder


@pytest.fixture(scope="module")
def four(tree: Path, raw: Path, plugins: Plugins) -> Run:
    return collect_records(tree, raw, raw.with_name("run"), plugins)


def lines_of(run: Run, callee: str) -> list[int]:
    return sorted({site.line for site in run.manifest.sites if site.callee == callee})


def came_before_being_sent(run: Run) -> int:
    """How many waits have no known cause, since their ranks' clocks are off by more than a message's way took."""
    notes = (re.search(r"(\d+) calls? ended before", one.message) for one in run.manifest.diagnostics)
    return sum(int(note[1]) for note in notes if note)


def test_ranks_are_one_run_with_the_messages_that_the_program_sends(four: Run, plugins: Plugins) -> None:
    manifest = four.manifest
    assert four.complete, manifest.reason
    assert [block.id for block in manifest.blocks[:4]] == [f"host.rank[{n}].main" for n in range(4)]
    assert [block.id for block in manifest.blocks[4:6]] == ["rank[0].tiny_top.port", "rank[0].tiny_top.adder"]
    first, later = lines_of(four, SEND)
    (isend,), (waitall,) = lines_of(four, ISEND), lines_of(four, WAITALL)
    received, receives = lines_of(four, RECV)
    rings = [(n, (n - 1) % 4, 4, (SEND, later if n != 1 else first), (RECV, receives if n else received))
             for n in range(4)]  # fmt: skip
    large = [(n, (n - 1) % 4, 1 << 18, (ISEND, isend), (WAITALL, waitall)) for n in range(4) for _ in range(3)]
    received_messages, sent_messages = Counter(messages(four)), Counter([*rings, *large])
    assert received_messages <= sent_messages
    assert (sent_messages - received_messages).total() <= came_before_being_sent(four)
    names = ("MPI_Bcast", "MPI_Allreduce", "MPI_Scan", "MPI_Ireduce")
    assert collectives(four) == [[(name, lines_of(four, name)[0], 4) for name in names]] * 4
    assert four.path is not None
    assert "initialization" in {finding.rule for finding in open_result(four.path, plugins).analysis.findings}


def test_each_ranks_fpga_has_its_own_counters_and_clock(four: Run) -> None:
    table, blocks = four.tables["state_time"], four.manifest.blocks
    works = [
        int(table["visits"][(table["block"] == n) & (table["state"] == state.index)].sum())
        for n, block in enumerate(blocks) if block.id.endswith("tiny_top.adder")
        for state in block.states if state.name == "add"
    ]  # fmt: skip
    assert len(works) == 4
    assert len(set(works)) == 1
    assert works[0] > 0
    assert [clock.name for clock in four.manifest.clocks] == [f"rank[{n}].clk" for n in range(4)]
    for clock in four.manifest.clocks:
        assert clock.cycles > 0
        assert 0 < clock.start_ps < four.manifest.time_ps


def test_replay_follows_messages_on_a_real_machine(four: Run, plugins: Plugins) -> None:
    replayed = prepared(four, None, plugins)
    assert (replayed.exact, replayed.why, replayed.modelled_ps) == (True, "", four.manifest.time_ps)
    path = replayed.run_path()
    assert path is not None
    assert len({int(block) for block in path.steps.block}) > 1
    waits = [
        int(other) for part in range(4)
        for other in path.parts[part].causes.block[path.parts[part].site < 0] if other >= 0
    ]  # fmt: skip
    assert len(set(waits)) == 4 or came_before_being_sent(four)
    calls = four.tables["calls"]
    writes = np.array([four.manifest.sites[site].callee == "fpgaWrite" for site in calls["site"]])
    took_ps = np.bincount(
        np.asarray(calls["block"]), writes * (np.asarray(calls["t1_ps"]) - np.asarray(calls["t0_ps"]))
    )
    for factor in (10_000, 0.5):  # calls last as long as they are said to
        said = replayed.predict([read_change(f"calls calls=fpgaWrite factor={factor}")])
        assert said.time_s is not None
        more_s = took_ps * (factor - 1) / PS_PER_S
        assert min(more_s.sum(), 0) - 1e-6 <= said.time_s - four.time_s <= max(more_s.sum(), 0) + 1e-6
        assert factor < 1 or said.time_s > four.time_s
    slower = replayed.predict([read_change("host block=host.rank[0].main state=* factor=2")])
    assert slower.time_s is not None
    assert slower.time_s > four.time_s
    assert slower.interval is not None
    assert slower.interval[0] < slower.speedup < slower.interval[1]
    assert "of its time while others had the cores" in slower.interval_holds
    assert any("only the host is followed" in one for one in replayed.assumed)
    syncs = four.tables["syncs"]
    threads = replace(four, tables=four.tables | {"syncs": syncs | {"block": np.asarray(syncs["block"]) + 1}})
    assert "several threads of a rank exchange messages" in cannot_replay(threads)


def test_a_ranks_own_fpga_is_followed_by_its_counters(four: Run, plugins: Plugins) -> None:
    """The host's waits for it share what a state takes more or less. Here most are over at the first call, as if the
    FPGA had been done before; a host that asks several times waits as long as the FPGA works."""
    replayed = prepared(four, None, plugins)
    table, block = four.tables["state_time"], next(
        n for n, one in enumerate(four.manifest.blocks) if one.id == "rank[0].tiny_top.adder"
    )  # fmt: skip
    mine = np.asarray(table["block"]) == block
    add_ps, fetch_ps = (int(table["time_ps"][mine & (np.asarray(table["state"]) == state)].sum()) for state in (1, 2))
    faster, slower = (f"state block=rank[0].tiny_top.adder state=add factor={factor}" for factor in (0.5, 3))
    said = replayed.predict([read_change(slower)])
    assert said.trust is Trust.DOUBTFUL
    assert "equally" in said.why
    assert said.interval
    assert said.interval[0] < 1
    idle = read_change("state block=rank[0].tiny_top.adder state=idle factor=0.5")
    assert "is a wait" in replayed.predict([idle]).why

    assert replayed.program
    several = replayed.program.copy()
    polls = np.flatnonzero((several.ops["thread"] == 0) & (several.ops["state"] == 4))
    assert len(polls) >= 3
    between = np.arange(polls[0], polls[-1] + 1)  # the calls between them ask too
    several.ops["state"][between], several.ops["site"][between] = 4, several.ops["site"][polls[0]]
    halved = f"clock clock=rank[0].clk frequency_hz={four.manifest.clocks[0].frequency_hz / 2!r}"
    for text, more_ps in ((slower, 2 * add_ps), (faster, -add_ps / 2), (halved, add_ps + fetch_ps)):
        program, change = several.copy(), read_change(text)
        edit(program, change, resolve(change, four.manifest), None, Edited({}))
        longer_ps = program.ops["work_ps"].astype(np.int64) - several.ops["work_ps"] - program.sooner_ps
        assert longer_ps.sum() == pytest.approx(more_ps, abs=2)
        assert set(np.flatnonzero(longer_ps)) <= set(between[1:].tolist())


def test_the_projects_target_starts_the_ranks(
    file: Path, program: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not traced, calls are counted; the number of ranks is what was asked for. One takes the system's clock instead of
    the processor's counter, as if it were on another machine."""
    for name, value in MPI.items():
        monkeypatch.setenv(name, value)
    own = file.with_name("own.workbench.yaml")
    make = shlex.join(["make", "-f", str(BOARD / "Makefile"), "-o", "libfpga.so", "host"])  # the design is the same
    build = f"mkdir made && cd made && cp {program.with_name('libfpga.so')} . && {make} TREE=$RECAP_TREE"
    run = "mpirun -n $(($RECAP_RANKS - 1)) made/host : -n 1 env RCW_CLOCK=system made/host"
    target = f"{{name: machine, build: {build}, run: '{run}'}}"
    own.write_text(f"{file.read_text()}\ntarget: {target}\n")
    options = RunOptions(own.parent / "own-run", ranks=2)
    result = run_workspace(open_workspace(own, plugins), options, Job())
    assert result.complete, result.manifest.reason
    assert result.manifest.cores.ranks == 2
    assert "the 2 clocks of 2 ranks are aligned" in {one.message[:35] for one in result.manifest.diagnostics}
    assert "calls" not in result.tables
    counts = result.tables["call_stats"]
    per_rank = [int(counts["count"][counts["block"] == rank].sum()) for rank in range(2)]
    assert min(per_rank) > 20
    names = {site.callee for site in result.manifest.sites}
    assert {"MPI_Init", "MPI_Send", "fpgaWrite"} < names


def test_a_rank_whose_counts_are_lost_is_in_the_run(raw: Path, tree: Path, plugins: Plugins, tmp_path: Path) -> None:
    """Of the others everything is known; messages of that rank have no times."""
    records = Path(shutil.copytree(raw, tmp_path / "records"))
    (records / "rank_2" / "host_stats.bin").write_bytes(b"")
    sent = np.fromfile(records / "rank_1" / "messages.bin", MESSAGES)
    sent["thread"][:2] = 99
    sent.tofile(records / "rank_1" / "messages.bin")
    (records / "rank_3" / "rank.txt").write_text("rank 3\nranks " + "9" * 5000)
    run = collect_records(tree, records, tmp_path / "run", plugins)
    lost = {Path(one.file or "").parts[-2:]: one.message for one in run.manifest.diagnostics if "Lost" in one.message}
    assert "which ranks read the same clock" in lost["rank_3", "rank.txt"]
    assert "some of its records are impossible. Lost: 2 messages" in lost["rank_1", "messages.bin"]
    assert "which explains its times" in lost["rank_2", "messages.bin"]
    assert [block.id for block in run.manifest.blocks[:4]] == [f"host.rank[{n}].main" for n in range(4)]
    calls = np.bincount(run.tables["call_stats"]["block"], run.tables["call_stats"]["count"], 4)
    assert (calls > 0).tolist() == [True, True, False, True]


def test_a_program_that_is_not_instrumented_runs_beside_one_that_is(
    file: Path, program: Path, tree: Path, plugins: Plugins, tmp_path: Path
) -> None:
    """`mpirun a : b`: who records is found without asking anyone who does not answer. Folders of an earlier run, which
    nobody holds, do not count, nor do communicators with ranks that record nothing get a number."""
    plain = tmp_path / "plain"
    own = file.parent / "host" / "main.c"
    subprocess.run(
        ["mpicc", "-w", "-DROUNDS=3", f"-I{BOARD}", own, program.with_name("libfpga.so"), "-o", plain], check=True
    )
    records = tmp_path / "records"
    (records / "rank_0").mkdir(parents=True)
    (records / "rank_0" / "takes_part").write_text("earlier")
    library = ["env", f"LD_LIBRARY_PATH={program.parent}"]
    command = ["mpirun", "-n", "1", *library, str(plain), ":", "-n", "2", str(program)]
    assert mpirun(program, 3, records, command=command) == "147384 147384\n"
    shutil.rmtree(records / "rank_0")
    run = collect_records(tree, records, tmp_path / "run", plugins)
    assert "nothing was recorded of rank 0" in {one.message[:30] for one in run.manifest.diagnostics}
    assert [block.id for block in run.manifest.blocks[:3]] == [f"host.rank[{n}].main" for n in range(3)]
    calls = np.bincount(run.tables["call_stats"]["block"], run.tables["call_stats"]["count"], 3)
    assert (calls > 0).tolist() == [False, True, True]
    assert {(receiver, sender) for receiver, sender, *_ in messages(run)} == {(2, 1)}
    assert prepared(run, None, plugins).exact


LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
int open(const char *path, int flags, ...)
{
    static struct timespec asked;
    struct timespec now;
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!(flags & O_CREAT) && strstr(path, "/takes_part")) {
        asked = asked.tv_sec ? asked : now;
        if ((now.tv_sec - asked.tv_sec) * 1000 + (now.tv_nsec - asked.tv_nsec) / 1000000 < 300) {
            fprintf(stderr, "late\\n");
            return errno = ENOENT, -1;
        }
    }
    return real(path, flags, 0666);
}
"""


def test_a_file_that_another_machine_shows_late_is_waited_for(
    program: Path, tree: Path, plugins: Plugins, tmp_path: Path
) -> None:
    """A file system of several machines may do that: the first rank sees the other's after 300 ms. Neither is told that
    both are on one machine."""
    (tmp_path / "late.c").write_text(LATE)
    subprocess.run(["gcc", "-shared", "-fPIC", "late.c", "-o", "late.so", "-ldl"], cwd=tmp_path, check=True)
    apart = ["-n", "1", "env", "OMPI_COMM_WORLD_LOCAL_SIZE=1", "MPI_LOCALNRANKS=1"]
    command = ["mpirun", *apart, f"LD_PRELOAD={tmp_path}/late.so", str(program), ":", *apart, str(program)]
    environ = os.environ | MPI | {"RCW_RAW": str(tmp_path / "records"), "RCW_TRACE": "1"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "50256 50256\n"), done.stderr
    assert "late" in done.stderr
    run = collect_records(tree, tmp_path / "records", tmp_path / "run", plugins)
    calls = np.bincount(run.tables["call_stats"]["block"], run.tables["call_stats"]["count"], 2)
    assert (calls > 0).all()
    assert len(messages(run)) > 0


def test_programs_that_were_compiled_apart_are_one_run(program: Path, plugins: Plugins, tmp_path: Path) -> None:
    """Each has calls and marks of its own (`workbench cc`), which are numbered together. Windows, files and neighbours
    are calls too; whose ranks meet there, is known of windows."""
    shutil.copytree(DATA / "mpmd", tmp_path / "mpmd")
    project = shutil.copytree(DATA / "tiny", tmp_path / "tiny").with_name("mpmd")
    for name in ("gives", "takes"):
        command = ["mpicc", "-O1", f"-I{BOARD}", f"{project}/{name}.c", "-o", f"{project}/{name}"]
        subprocess.run(command, env=os.environ | {"OMPI_CC": f"{sys.executable} -m workbench cc"}, check=True)
    gives, takes, out = (str(project / name) for name in ("gives", "takes", "out"))
    command = ["mpirun", "-n", "1", gives, out, ":", "-n", "2", takes, out]
    assert mpirun(program, 3, tmp_path / "records", command=command) == "5 3\n"
    assert np.fromfile(out, np.int32).tolist() == [5, 2, 3]
    run = collect_records(project, tmp_path / "records", tmp_path / "run", plugins)
    sites, stats = run.manifest.sites, run.tables["call_stats"]
    names = [state.name for state in run.manifest.blocks[0].states]
    assert {"give", "take"} <= set(names)
    found = {(int(block), sites[site].file, sites[site].callee, int(count), names[state])
             for block, site, count, state in zip(*(stats[n] for n in ("block", "site", "count", "state")), strict=True)
             if count and names[state] in ("give", "take")}  # fmt: skip
    taken = {(rank, "takes.c", "MPI_Recv", 1, "take") for rank in (1, 2)}
    assert found == {(0, "gives.c", "MPI_Send", 2, "give"), *taken}
    of_others = Counter[str]()
    for site, count in zip(stats["site"], stats["count"], strict=True):
        of_others[sites[site].callee.removeprefix("MPI_")] += int(count) if sites[site].file == "together.h" else 0
    once = ("Win_allocate", "Put", "Win_free", "Cart_create", "Neighbor_allgather", "File_open", "File_write_at",
            "File_close")  # fmt: skip
    assert +of_others == {**dict.fromkeys(once, 3), "Win_fence": 6}
    (said,) = [one.message for one in run.manifest.diagnostics if "neighbourhoods" in one.message]
    assert said == "it is not recorded for whom 12 calls of windows, files and neighbourhoods waited"
    assert (run.tables["syncs"]["argument"][run.tables["syncs"]["kind"] == SyncKind.BARRIER] == 3).sum() >= 3 * 4
    assert prepared(run, None, plugins).exact
    assert Counter((receiver, sender) for receiver, sender, *_ in messages(run)).keys() <= {
        (1, 0), (2, 0), (0, 1), (0, 2)
    }  # fmt: skip


def test_what_is_missing_or_of_another_program_is_said(raw: Path, tree: Path, plugins: Plugins, tmp_path: Path) -> None:
    records = Path(shutil.copytree(raw, tmp_path / "records"))
    with (records / "rank_3" / "host_units.jsonl").open("a") as units:
        units.write("{}\n")
    with pytest.raises(WorkbenchError, match="rank 3 ran a program of another tree"):
        collect_records(tree, records, tmp_path / "other", plugins)
    shutil.rmtree(records / "rank_1")
    with pytest.raises(WorkbenchError, match="the records of rank 1 are missing") as raised:
        collect_records(tree, records, tmp_path / "fewer", plugins)
    assert f":{raw}/rank_1 {records}" in raised.value.diagnostics[0].hint  # as scp takes them
    shutil.copytree(records / "rank_0", records / "rank_of_77")
    with pytest.raises(WorkbenchError, match="both are of rank 0"):
        rank_folders(records)


def test_threads_of_a_rank_wait_for_each_other(file: Path, program: Path, plugins: Plugins, tmp_path: Path) -> None:
    """By pthread, C11, C++20, pipes, messages and OpenMP (`tests/data/ranks/host/threads.cpp`). A thread that calls no
    API, but lets another one go on, is a thread of the run. What it takes longer, those take longer who wait for it. A
    static libgomp would have the same names."""
    threads, static = file.with_name("threads.workbench.yaml"), file.with_name("static.workbench.yaml")
    static.write_text(threads.read_text().replace("[gomp]", "[':libgomp.a']"))
    with pytest.raises(WorkbenchError, match=r":libgomp\.a: waits of a rank's threads are recorded only"):
        instrument_workspace(open_workspace(static, plugins), {}, tmp_path / "none")
    instrument_workspace(open_workspace(threads, plugins), {}, tmp_path / "tree")
    own = built(tmp_path / "tree", tmp_path / "built", "host", design=program.with_name("libfpga.so"))
    runs = []
    for words in ([], ["with tasks"]):
        records = tmp_path / f"records{len(words)}"
        mpirun(own, 2, records, command=["mpirun", "-n", "2", str(own), *words])
        runs.append(collect_records(tmp_path / "tree", records, tmp_path / f"run{len(words)}", plugins))
    run, with_tasks = runs
    assert with_tasks.manifest.unrecorded_waits == ("by OpenMP tasks", "in signal handlers")
    names = [block.id.removeprefix("host.") for block in run.manifest.blocks[:8]]
    of_ranks = [f"rank[{rank}].thread_{number}" for rank in range(2) for number in (1, 2, 3)]
    assert names == ["rank[0].main", "rank[1].main", *of_ranks]
    callees = [run.manifest.sites[site].callee for site in run.tables["calls"]["site"]]
    assert callees.count("MPI_Iprobe") == 2 * 1200  # each is there, of however many pieces
    syncs = run.tables["syncs"]
    by_other = Counter((block, by) for block, _, _, by in waits(syncs))
    rank_of = {0: 0, 2: 0, 3: 0, 4: 0, 1: 1, 5: 1, 6: 1, 7: 1}
    assert all(rank_of[waiter] == rank_of[by] or {waiter, by} == {0, 1} for waiter, by in by_other)
    # condition, its mutex, mutex, semaphore, latch, barrier, atomic, spin lock, once, pipe, event counter, full pipe,
    # select, epoll, message queue, full message queue, System V semaphore and join
    assert by_other[0, 2] >= 18
    assert by_other[0, 3] >= 5  # C11's condition and its mutex, mutex, once and join
    caused = np.flatnonzero(np.asarray(syncs["woken_by"]) >= 0)
    block = np.asarray(syncs["block"])
    met = Counter(zip(block[caused].tolist(), block[np.asarray(syncs["woken_by"])[caused]].tolist(), strict=True))
    assert met[0, 4] >= 4  # the critical region, a barrier, the ends of two regions
    assert met[4, 0] >= 2  # that barrier, and the second region's begin
    replayed = prepared(run, None, plugins)
    assert (replayed.exact, replayed.why) == (True, "")
    assert any("free after a change too" in one for one in replayed.assumed)
    for number in (2, 3, 4):
        work_ps = int(np.asarray(syncs["own_ps"])[block == number].max())
        slower = read_change(f"host block=host.rank[0].thread_{number - 1} state=work factor=100")
        said = replayed.predict([slower])
        assert said.time_s is not None
        assert said.time_s > run.time_s + 50 * work_ps / PS_PER_S
        assert said.trust is Trust.TRUSTED
        doubtful = prepared(with_tasks, None, plugins).predict([slower])
        assert doubtful.trust is Trust.DOUBTFUL
        assert "by OpenMP tasks" in doubtful.why
    path = replayed.run_path()
    assert path is not None
    on_path = {run.manifest.blocks[n].id for n in path.steps.block.tolist()}
    assert any(".thread_" in name for name in on_path)  # the rank that is last was held up


def test_programs_of_two_trees_are_one_run(
    file: Path, program: Path, tree: Path, plugins: Plugins, tmp_path: Path
) -> None:
    """The second is another project, whose calls are on other lines."""
    source = file.parent / "host" / "main.c"
    with_source(f"/* Another one. */{chr(10)}{source.read_text()}", tmp_path / "other", plugins)
    own = built(tmp_path / "other" / "tree", tmp_path / "built", "host", design=program.with_name("libfpga.so"))
    command = ["mpirun", "-n", "1", str(program), ":", "-n", "1", str(own)]
    assert mpirun(program, 2, tmp_path / "records", command=command) == "50256 50256\n"
    trees = [tree, tmp_path / "other" / "tree"]
    run = collect_records(trees, tmp_path / "records", tmp_path / "run", plugins)
    sites, calls = run.manifest.sites, run.tables["calls"]
    called = [{sites[site] for site in calls["site"][np.asarray(calls["block"]) == rank]} for rank in range(2)]
    files = [{site.file for site in some} for some in called]
    name = run.manifest.name.partition(" + ")[0]
    assert run.manifest.name == f"{name} + {name} (2)"
    assert files == [{f"{name}/host/main.c"}, {f"{name} (2)/host/main.c"}]
    for callee in ("MPI_Init", "fpgaWrite", "MPI_Allreduce"):
        first, second = ({site.line for site in some if site.callee == callee} for some in called)
        assert second == {line + 1 for line in first}
    assert len(messages(run)) >= 4 - came_before_being_sent(run)
    assert prepared(run, None, plugins).exact
    with pytest.raises(WorkbenchError, match="rank 1 ran a program of another tree") as raised:
        collect_records(tree, tmp_path / "records", tmp_path / "alone", plugins)
    assert "Name both trees" in raised.value.diagnostics[0].hint


# ---- made up ----


def test_ranks_of_machines_are_on_one_clock_by_messages_with_one_rank_of_each(tmp_path: Path) -> None:
    """They have been up for 1, 40 and 2 hours, their clocks differ in rate, and the third exchanges no message."""
    up_s, rate, of = (3600, 144_000, 7200), (1.0, 1 + 30e-6, 1.0), (0, 0, 1, 1, 2)
    began_ps = [0, 3 * 10**9, 9 * 10**9, 5 * 10**9, 10**9]
    for rank, machine in enumerate(of):
        folder = tmp_path / f"rank_{rank}"
        folder.mkdir()
        zero = round((up_s[machine] * 10**12 + began_ps[rank]) * rate[machine])
        (folder / "rank.txt").write_text(f"rank {rank}\nranks 5\nclock of machine {machine}\nzero {zero}\n")
        (folder / "recording.txt").write_text(f"time_ps {10**13}\n")
    sent = np.zeros(40, RANK_CLOCKS)
    sent["rank"], sent["round"] = 2, np.tile(np.arange(1, 21), 2)
    sent["t_p1"] = np.concatenate([at + np.arange(20) * 10**8 for at in (10**10, 9 * 10**12)])
    sent["met"] = (sent["t_p1"] + 20_000_000 - began_ps[2]) * rate[1]
    sent["t_p3"] = sent["t_p1"] + 50_000_000
    sent.tofile(tmp_path / "rank_0" / "rank_clocks.bin")
    ranks, notes = aligned(rank_folders(tmp_path))
    for moment in (10**12, 5 * 10**12, 9 * 10**12):
        own = [np.array([round((moment - begin) * rate[machine])]) for begin, machine in zip(began_ps, of, strict=True)]
        off_ps = [abs(int(one.at_ps(at)[0]) - moment) for one, at in zip(ranks, own, strict=True)]
        assert off_ps[:2] == [0, 0]
        assert max(off_ps[2:4]) <= ranks[2].unsure_ps == ranks[3].unsure_ps < 60_000_000
    said = [one.message for one in notes]
    assert "the clocks of rank 4 and rank 0 are not aligned" in said[0]
    assert "the 2 clocks of 5 ranks are aligned to within" in said[1]


@pytest.mark.parametrize("whole", [True, False])
def test_a_steady_clock_is_found_within_what_is_said(whole: bool) -> None:
    """Another clock is 7 ms ahead, and 20 ppm fast; most messages of one end wait on their way."""
    rng = np.random.default_rng(3)
    sent = np.concatenate([np.arange(50) * 10_000_000 + begin for begin in (10**9, 10**12)])[: 100 if whole else 50]
    there, back = (400_000 + rng.exponential(50_000, len(sent)).astype(np.int64) for _ in range(2))
    back[3:50] += 10**10
    met = ((sent + there) * (1 + 20e-6)).astype(np.int64) + 7 * 10**9
    frame = steady(Triples(sent, met, sent + there + back), int(1.01e12), 50)
    for moment in (0, 10**9, 5 * 10**11, 10**12):
        assert abs(frame.at(int(moment * (1 + 20e-6)) + 7 * 10**9) - moment) <= frame.uncertainty_ps
    assert frame.uncertainty_ps < (2e6 if whole else 110e6)


def record(kind: Kind, t0: int, t1: int, order: int, **more: int) -> tuple[int, ...]:
    one = {"posted": t0, "bytes": 8, "comm": 0, "peer": 0, "tag": 5, "thread": 0, **more}
    return t0, t1, one["posted"], one["bytes"], one["comm"], order, int(kind), one["peer"], one["tag"], one["thread"]


def matched(ranks: Sequence[Sequence[tuple[int, ...]]], tmp_path: Path, most_threads: int = 1) -> tuple[Any, Any]:
    """What is found, and the table of who waited for whom; replayed it comes to the same times. The second thread of
    rank 0 is the run's thread 2."""
    found = match_messages(
        [np.array(rows, MESSAGES) for rows in ranks], {n: (n * 3, 1000 - n) for n in range(len(ranks))}, {(0, 1): 2}
    )
    found.syncs.tofile(tmp_path / "host_syncs.bin")
    table = sync_tables(tmp_path)["syncs"]
    times = Replay(table, Cores(most_threads, ranks=len(ranks))).times()
    assert not len(differences(table, times))
    assert times.end_ps == 1000
    return found, table


def waits(table: Any) -> set[tuple[int, ...]]:
    """Who waited, from when to when, and for which rank."""
    waited = np.flatnonzero((table["woken_by"] >= 0) & (table["t1_ps"] > table["t0_ps"]))
    return {
        (*(int(table[name][n]) for name in ("block", "t0_ps", "t1_ps")), int(table["block"][table["woken_by"][n]]))
        for n in waited.tolist()
    }  # fmt: skip


def test_late_senders_and_late_receivers_are_waited_for(tmp_path: Path) -> None:
    sender = [
        record(Kind.SENT, 100, 110, 0, peer=1),
        record(Kind.SENT, 300, 420, 1, peer=1),  # its receiver asks at 400
        record(Kind.SENT_BUFFERED, 500, 505, 2, peer=1, tag=6),
        record(Kind.SEND_DONE, 510, 640, 2, peer=1, tag=6),  # at 600
    ]
    receiver = [
        record(Kind.RECEIVED, 50, 130, 0),
        record(Kind.RECEIVED, 400, 430, 1),
        record(Kind.RECEIVED, 605, 650, 2, tag=6, posted=600),
    ]
    found, table = matched([sender, receiver], tmp_path)
    assert (found.unmatched, found.early_ends_ps) == (0, ())
    assert waits(table) == {(1, 50, 130, 0), (0, 300, 420, 1), (0, 510, 640, 1)}


def test_messages_stay_in_order_between_two_ranks_with_one_tag(tmp_path: Path) -> None:
    """Two are asked for, and the second is waited for first; one has another tag, another communicator the third."""
    sender = [record(Kind.SENT, at, at + 5, n, peer=1, tag=tag, comm=comm)
              for n, (at, tag, comm) in enumerate(((200, 5, 0), (100, 5, 7), (300, 5, 0), (150, 6, 0)))]  # fmt: skip
    receiver = [
        record(Kind.RECEIVED, 20, 310, 1, posted=12),
        record(Kind.RECEIVED, 320, 325, 0, posted=10),
        record(Kind.RECEIVED, 330, 331, 2, posted=14, comm=7),
        record(Kind.RECEIVED, 340, 341, 3, posted=15, tag=6),
        record(Kind.RECEIVED, 400, 450, 4, tag=9),
    ]
    found, table = matched([sender, receiver], tmp_path)
    assert found.unmatched == 1
    assert waits(table) == {(1, 20, 310, 0)}
    by = {int(table["t0_ps"][n]): int(table["t0_ps"][table["woken_by"][n]])
          for n in np.flatnonzero((table["block"] == 1) & (table["woken_by"] >= 0)).tolist()}  # fmt: skip
    assert by == {20: 300, 320: 200, 330: 100, 340: 150}


def test_a_wait_for_several_goes_from_one_to_the_next(tmp_path: Path) -> None:
    senders = [[record(Kind.SENT, at, at + 5, 0, peer=0)] for at in (300, 200)]
    waiter = [record(Kind.RECEIVED, 100, 320, n, peer=n + 1, posted=50 + n) for n in range(2)]
    _, table = matched([waiter, *senders], tmp_path)
    assert waits(table) == {(0, 100, 200, 2), (0, 200, 320, 1)}


def test_collectives_wait_for_the_last_for_the_root_or_the_root_for_the_last(tmp_path: Path) -> None:
    def both(kind: Kind, number: int, begins: Sequence[int], ends: Sequence[int], root: int) -> list[tuple[int, ...]]:
        return [record(kind, *span, number, peer=root, tag=3) for span in zip(begins, ends, strict=True)]

    calls = [
        both(Kind.ALL_TO_ALL, 0, (100, 180, 120), (210, 190, 205), -1),
        both(Kind.FROM_ROOT, 1, (300, 340, 310), (350, 345, 305 + 50), 1),
        both(Kind.TO_ROOT, 2, (400, 420, 480), (490, 425, 485), 0),
        [record(Kind.FROM_LOWER, t0, t1, 3, peer=rank, tag=3)
         for rank, (t0, t1) in enumerate(((500, 505), (540, 545), (520, 550)))],
        [record(Kind.ALL_TO_ALL, t0, t1, 4, peer=-1, tag=3, posted=posted)  # begun, and waited for in another call
         for posted, t0, t1 in ((600, 700, 705), (650, 690, 695), (610, 640, 660))],
    ]  # fmt: skip
    _, table = matched([list(of_rank) for of_rank in zip(*calls, strict=True)], tmp_path)
    met = {(0, 100, 180, 1), (2, 120, 180, 1)}
    rooted = {(0, 300, 350, 1), (2, 310, 355, 1), (0, 400, 420, 1), (0, 420, 490, 2)}
    assert waits(table) == {*met, *rooted, (2, 520, 550, 1), (2, 640, 660, 1)}
    assert (table["argument"][table["kind"] == SyncKind.BARRIER] == 3).all()


def test_each_thread_of_a_rank_waits_for_its_own_messages(tmp_path: Path) -> None:
    """It begins with the call that starts it, and who joins it waits for its end."""
    first = [
        record(Kind.THREAD_STARTED, 40, 45, 1),
        record(Kind.RECEIVED, 100, 310, 0, peer=1),
        record(Kind.THREAD_JOINED, 400, 520, 1),
        record(Kind.THREAD_BEGUN, 50, 50, 1, thread=1),
        record(Kind.RECEIVED, 150, 260, 1, peer=1, tag=6, thread=1),
        record(Kind.SENT, 270, 275, 2, peer=1, tag=7, thread=1),
        record(Kind.THREAD_OVER, 500, 500, 1, thread=1),
    ]
    other = [
        record(Kind.SENT, 250, 255, 0, tag=6),
        record(Kind.SENT, 300, 305, 1),
        record(Kind.RECEIVED, 400, 410, 2, tag=7),
    ]
    _, table = matched([first, other], tmp_path, 2)
    assert waits(table) == {(0, 100, 310, 1), (2, 150, 260, 1), (0, 400, 520, 2)}
    assert table["own_ps"][table["block"] == 2].tolist() == [0, 100, 10, 0, 225, 0]
    assert set(table["block"][table["woken_by"][(table["block"] == 1) & (table["woken_by"] >= 0)]].tolist()) == {2}


def test_calls_between_messages_last_as_they_did_and_are_not_own_time(tmp_path: Path) -> None:
    """Those within other calls, and those with messages in them, have rows already."""
    sender = [record(Kind.SENT, 300, 310, 0, peer=1), record(Kind.SENT, 600, 605, 1, peer=1)]
    receiver = [record(Kind.RECEIVED, 100, 330, 0), record(Kind.RECEIVED, 340, 620, 1)]
    found = match_messages([np.array(rows, MESSAGES) for rows in (sender, receiver)], {0: (0, 1000), 1: (3, 999)})
    calls = {0: [(20, 120), (50, 60), (299, 311), (400, 500), (500, 560), (590, 700)], 1: [(700, 990)]}
    joined = with_calls(found.syncs, {thread: np.array(spans) for thread, spans in calls.items()})
    joined.tofile(tmp_path / "host_syncs.bin")
    table = sync_tables(tmp_path)["syncs"]
    replayed = Replay(table, Cores(1, ranks=2)).times()
    assert not len(differences(table, replayed))
    assert replayed.end_ps == 1000
    assert waits(table) == {(1, 100, 330, 0), (1, 340, 620, 0)}
    assert [int(table["own_ps"][table["block"] == rank].sum()) for rank in (0, 1)] == [
        20 + 180 + 90 + 40 + 395, 97 + 10 + 80 + 9
    ]  # fmt: skip


def test_a_message_that_comes_before_it_is_sent_has_no_cause(tmp_path: Path) -> None:
    """As far as the clocks are off; and a rank that met the others before the last of them came."""
    sender = [record(Kind.SENT, 210, 220, 0, peer=1), record(Kind.ALL_TO_ALL, 500, 510, 0, tag=2, peer=-1)]
    receiver = [record(Kind.RECEIVED, 100, 205, 0), record(Kind.ALL_TO_ALL, 400, 498, 0, tag=2, peer=-1)]
    found, table = matched([sender, receiver], tmp_path)
    assert sorted(found.early_ends_ps) == [2, 5]
    assert waits(table) == set()


WITH_OTHERS = (Kind.ALL_TO_ALL, Kind.SENT, Kind.SENT_TO_RECEIVER, Kind.FROM_ROOT, Kind.TO_ROOT, Kind.FROM_LOWER)


@st.composite
def rank_programs(draw: st.DrawFn) -> tuple[list[list[tuple[int, ...]]], list[int]]:
    """What ranks record that pass messages in a ring and meet, each by a clock that is off by up to a few messages'
    ways; and when each ends by its own clock."""
    count = draw(st.integers(2, 4))
    now, off = [100] * count, draw(st.lists(st.integers(-30, 30), min_size=count, max_size=count))
    records: list[list[tuple[int, ...]]] = [[] for _ in range(count)]
    kinds = st.sampled_from(WITH_OTHERS)
    for order, kind in enumerate(draw(st.lists(kinds, min_size=2, max_size=6))):
        begin = [at + draw(st.integers(1, 40)) for at in now]
        way = draw(st.integers(1, 10))
        root = draw(st.integers(0, count - 1))
        others = [at for rank, at in enumerate(begin) if rank != root]
        for rank, t0 in enumerate(begin):
            clock, here = off[rank], records[rank]
            if kind in (Kind.SENT, Kind.SENT_TO_RECEIVER):
                left, right = (rank - 1) % count, (rank + 1) % count
                done = max(t0, begin[left]) + way
                t1 = max(done, begin[right]) if kind == Kind.SENT_TO_RECEIVER else done
                here.append(record(Kind.RECEIVED, t0 + clock, t1 + clock, 2 * order, peer=left))
                here.append(record(kind, t0 + clock, t1 + clock, 2 * order + 1, peer=right))
            else:
                to_root = others if rank == root else []
                awaited = {Kind.ALL_TO_ALL: begin, Kind.FROM_ROOT: [begin[root]], Kind.TO_ROOT: to_root,
                           Kind.FROM_LOWER: begin[:rank]}[kind]  # fmt: skip
                t1 = max([t0, *awaited]) + way
                peer = {Kind.ALL_TO_ALL: -1, Kind.FROM_LOWER: rank}.get(kind, root)
                here.append(record(kind, t0 + clock, t1 + clock, order, peer=peer, tag=count))
            now[rank] = t1
    return records, [max(now) + 30 + rank for rank in range(count)]


@given(rank_programs())
@settings(max_examples=400, deadline=None, derandomize=True)
def test_a_replay_ends_as_the_run_did_however_far_the_clocks_are_off(
    program: tuple[list[list[tuple[int, ...]]], list[int]],
) -> None:
    records, ends = program
    lives = {rank: (0, end) for rank, end in enumerate(ends)}
    found = match_messages([np.array(rows, MESSAGES) for rows in records], lives)
    with tempfile.TemporaryDirectory() as folder:
        found.syncs.tofile(Path(folder) / "host_syncs.bin")
        table = sync_tables(Path(folder))["syncs"]
    times = Replay(table, Cores(1, ranks=len(records))).times()
    assert not len(differences(table, times))
    assert times.end_ps == max(ends)

"""The recording runtime: whole records however a host ends, exact counts, threads, and the clock that it is given."""

import os
import resource
import signal
import subprocess
from collections import Counter

import numpy as np
import pytest
from host_c.conftest import compile_c, read_rows
from pytestqt.qtbot import QtBot

from workbench.api.host_stats import read_stats
from workbench.api.host_units import read_units
from workbench.api.records import SHORT_CALLS, STORED_CALLS, read_calls
from workbench.formats.run_folder import RunWriter
from workbench.gui.app import make_application
from workbench.gui.run.live_calls import LiveCalls
from workbench.model.blocks import Block, Side, State
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.run import Manifest, RunStatus
from workbench.run.so_far import calls_so_far
from workbench.run.unreturned import unreturned
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import load_plugins

CALLS = '#include "fake.h"\n#include <stdlib.h>\n#include <signal.h>\n#include <unistd.h>\n#include <string.h>\n'
#: As beside a simulated card: the host waits for its records to be written.
NO_LOSS = {"RCW_CARD_FD": "99"}
ENDINGS = {
    "return 3;": 3,
    "exit(4);": 4,
    "_exit(5);": 5,
    "abort();": -signal.SIGABRT,
    "*(volatile int *)0 = 1;": -signal.SIGSEGV,
    "raise(SIGTERM);": -signal.SIGTERM,
    "raise(SIGKILL);": -signal.SIGKILL,
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_records_are_whole_however_the_host_ends(project, ending: str) -> None:
    project.file(
        "main.c",
        CALLS + "int main(void)\n{\n    fake_t *f = fakeOpen(0);\n"
        f"    for (int i = 1; i <= 9000; i++) fakeReg(f, i);\n    {ending}\n    return 0;\n}}\n",
    )
    ran = project.run(project.instrument(), env=NO_LOSS)
    assert ran.exit == ENDINGS[ending]
    assert ran.calls["address"].tolist() == [-1, *range(1, 9001)]
    assert dict(zip(ran.rows["site"].tolist(), ran.rows["count"].tolist(), strict=True)) == {0: 1, 1: 9000}
    assert not ran.rows["lost"].any()


def test_aggregates_agree_with_the_records(project) -> None:
    project.file(
        "main.c",
        CALLS + "int main(void)\n{\n    fake_t *f = fakeOpen(0); uint32_t d[64];\n"
        "    for (int i = 0; i < 6; i++) {\n        for (int j = 0; j < i; j++) fakeReg(f, 9);\n"
        "        #pragma recap big send(data, top.a, m): i > 3\n        fakeWrite(f, d, 0, 4 + i);\n    }\n"
        "    fakeClose(f);\n    return 0;\n}\n",
    )
    ran = project.run(project.instrument())
    took = ran.calls["t1_ps"] - ran.calls["t0_ps"]
    runs: dict[tuple[int, int], list[int]] = {}
    last = None
    for site, state in zip(ran.calls["site"].tolist(), ran.calls["state"].tolist(), strict=True):
        if (site, state) == last:
            runs[site, state][-1] += 1
        else:
            runs.setdefault((site, state), []).append(1)
        last = (site, state)
    for row in ran.rows:
        mine = (ran.calls["site"] == row["site"]) & (ran.calls["state"] == row["state"])
        assert row["count"] == mine.sum()
        assert abs(row["time_ps"] - took[mine].sum()) <= mine.sum()  # each call's is rounded to a picosecond
        size = np.maximum(ran.calls["bytes"][mine], 0)
        assert row["bytes"] == size.sum()
        if size.any():
            rates = (size / (took[mine] * 1e-12))[took[mine] > 0]
            assert row["min_bytes_per_s"] == pytest.approx(rates.min(), rel=1e-4)
            assert row["max_bytes_per_s"] == pytest.approx(rates.max(), rel=1e-4)
        lengths = runs[int(row["site"]), int(row["state"])]
        assert (row["runs"], row["min_run"], row["max_run"]) == (len(lengths), min(lengths), max(lengths))


def test_threads_are_numbered_and_counted_apart(project) -> None:
    project.file(
        "main.c",
        CALLS + "#include <pthread.h>\nstatic fake_t *f;\n"
        "static void *work(void *n)\n{\n"
        "    for (long i = 0; i < 3000 + (long)n; i++) fakeWrite(f, 0, (long)n, 1);\n    return 0;\n}\n"
        "int main(void)\n{\n    pthread_t t[3]; f = fakeOpen(0);\n"
        "    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)i);\n"
        "    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n    fakeClose(f);\n    return 0;\n}\n",
    )
    ran = project.run(project.instrument(), env=NO_LOSS)
    assert Counter(ran.calls["thread"].tolist()) == Counter({0: 2, **Counter(ran.calls["thread"].tolist())})
    writes = ran.calls[ran.calls["address"] >= 0]
    assert Counter(writes["address"].tolist()) == {0: 3000, 1: 3001, 2: 3002}
    for thread in (1, 2, 3):
        mine = writes[writes["thread"] == thread]
        assert len(np.unique(mine["address"])) == 1
        assert (np.diff(mine["t0_ps"]) >= 0).all()
    assert sorted(ran.rows["count"].tolist()) == [1, 1, 3000, 3001, 3002]


FORKS = """#include <sys/wait.h>
static void forks(int n)
{
    if (fork()) return;
    if (n % 2) fakeReg(0, 7), fakeReg(0, 7);
    exit(0);
}
int main(void)
{
    fake_t *f = fakeOpen(0);
    fakeEach(f, forks, 4);
    while (wait(0) > 0) ;
    fakeReg(f, 8);
    return 0;
}
"""


def test_a_forked_childs_calls_are_counted_as_a_process_of_its_own(project) -> None:
    """Also where it is forked within a call, which is its parent's; one that makes no call leaves nothing."""
    project.file("main.c", CALLS + FORKS)
    ran = project.run(project.instrument())
    assert ran.truth.count("fakeReg") == 5
    assert ran.calls["address"].tolist() == [-1, -1, 8]
    told = [(t.process, t.number, [int(n) for n in t.rows["count"] if n]) for t in ran.stats.threads]
    assert told == [(0, 0, [1, 1, 1]), (1, 0, [1, 1]), (2, 0, [1, 1])]
    assert all(0 < t.first_ps <= t.last_ps for t in ran.stats.threads[1:])


def test_without_a_trace_calls_are_counted_and_not_recorded_one_by_one(project) -> None:
    project.file(
        "main.c",
        CALLS + "int main(void)\n{\n    fake_t *f = fakeOpen(0);\n"
        "    for (int i = 0; i < 9000; i++) fakeWrite(f, 0, 0, 1 + i % 2);\n    raise(SIGKILL);\n}\n",
    )
    ran = project.run(project.instrument(), trace=False)
    assert not (project.work / "raw_host" / "host_calls.bin").exists()
    _, writes = ran.rows
    assert (writes["count"], writes["bytes"], writes["runs"]) == (9000, 4500 * 12, 1)
    assert 0 < writes["min_bytes_per_s"] < writes["max_bytes_per_s"]
    assert 0 < writes["time_ps"] <= ran.stats.last_ps
    assert not ran.stats.ended


WITHIN = """#include <setjmp.h>
static jmp_buf back;
static void jumps(int n) { if (n == 1) longjmp(back, 1); fakeReg(0, 4); }
static void ends(int n) { (void)n; fakeEach(0, jumps, 1); raise(SIGKILL); }
int main(void)
{
    for (volatile int i = 0; i < 3; i++)
        if (!setjmp(back))
            fakeEach(0, jumps, 2);
    fakeReg(0, 5);
    fakeEach(0, ends, 1);
}
"""


@pytest.mark.parametrize("flags", [("-O0",), ("-O2",)])
def test_calls_within_calls_and_those_that_do_not_return(project, flags: tuple[str, ...]) -> None:
    project.flags = flags
    project.file("main.c", CALLS + WITHIN)
    build = project.instrument()
    ran = project.run(build)
    lines = {build.sites[row["site"]].line: row for row in ran.stats.threads[0].rows}
    inner, nested, left, last, open_ = (lines[line] for line in sorted(lines))
    assert (inner["count"], inner["inner"]) == (4, 4)
    assert inner["inner_ps"] == inner["time_ps"]
    assert (nested["count"], nested["inner"]) == (1, 1)
    assert (left["count"], left["left"]) == (0, 3)
    assert (last["count"], last["inner"]) == (1, 0)
    assert open_["count"] == 0
    ((slot, began_ps),) = ran.stats.threads[0].under_way
    assert ran.stats.threads[0].rows["site"][slot] == open_["site"]
    assert 0 < began_ps <= ran.stats.last_ps
    told = {(d.line, d.message) for d in unreturned(project.work / "raw_host", build.sites)}
    assert told == {
        (int(build.sites[left["site"]].line), "a longjmp left 3 calls of fakeEach, which did not return"),
        (int(build.sites[open_["site"]].line), "a call of fakeEach was under way when the program ended"),
    }


def test_without_a_folder_nothing_is_recorded(project) -> None:
    project.file("main.c", CALLS + "int main(void) { return (int)fakeReg(0, 6); }\n")
    ran = project.run(project.instrument(), record=False)
    assert (ran.exit, len(ran.calls), len(ran.rows)) == (6, 0, 0)


def test_a_folder_that_cannot_be_written(project) -> None:
    project.file("main.c", CALLS + "int main(void) { return (int)fakeReg(0, 6); }\n")
    ran = project.run(project.instrument(), env={"RCW_RAW": str(project.root / "not" / "there")})
    assert ran.exit == 6
    assert "recap: cannot write" in ran.stderr
    assert "No such file or directory" in ran.stderr


def test_a_full_disk_loses_records_and_counts_them(project) -> None:
    project.file(
        "main.c",
        CALLS + "int main(void)\n{\n    for (int i = 1; i <= 20000; i++) fakeReg(0, i);\n    return 9;\n}\n",
    )
    project.run(project.instrument())
    raw = project.work / "raw_full"
    raw.mkdir()
    done = subprocess.run(
        [project.work / "host"],
        env={**os.environ, "FAKE_LOG": "/dev/null", "RCW_RAW": str(raw), **NO_LOSS},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (630_000, 630_000)),
        restore_signals=False,  # Python ignores SIGXFSZ; so does the child then, and a write fails as on a full disk
    )
    assert done.returncode == 9
    whole = len(read_calls(raw))
    assert 16 * 512 <= whole < 20000  # those in memory, and those that there was room for
    (row,) = read_rows(read_stats(raw))
    assert (row["count"], row["lost"]) == (20000, 20000 - whole)
    assert (raw / "recording.txt").read_text().splitlines()[2] == f"lost {20000 - whole}"


def test_a_card_library_brings_clock_and_transfers(project) -> None:
    project.file(
        "main.c", CALLS + "int main(void) { fake_t *f = fakeOpen(0); fakeReg(f, 5); fakeReg(f, 5); return 0; }\n"
    )
    card = project.work / "card.c"
    card.write_text(
        "#include <stdint.h>\nstatic int64_t now = 5, transfers = 40;\n"
        "int64_t rcw_now_ps(void) { return now += 100; }\n"
        "int64_t rcw_skip_ps(void) { return 30; }\n"
        "int64_t rcw_transfer_count(void) { return transfers += 1; }\n"
    )
    ran = project.run(project.instrument(), extra=[card], env=NO_LOSS)
    # read once before and once after each call; what recording took before the call and after it is taken off
    assert ran.calls["t0_ps"].tolist() == [105, 305, 505]
    assert ran.calls["t1_ps"].tolist() == [205, 405, 605]
    assert "taken_off_ps 180" in (project.work / "raw_host" / "recording.txt").read_text().splitlines()
    assert ran.calls["first_transfer"].tolist() == [41, 43, 45]
    assert ran.calls["transfers"].tolist() == [1, 1, 1]


def test_the_clock_keeps_time(project) -> None:
    project.file(
        "main.c",
        CALLS + "#include <stdio.h>\n#include <time.h>\nstatic void rest(int n) { (void)n; usleep(2000); }\n"
        "int main(void)\n{\n    struct timespec a, b;\n    clock_gettime(CLOCK_MONOTONIC, &a);\n"
        "    for (int i = 0; i < 25; i++)\n        fakeEach(0, rest, 2);\n    clock_gettime(CLOCK_MONOTONIC, &b);\n"
        '    printf("%f", (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6);\n'
        "    return 0;\n}\n",
    )
    ran = project.run(project.instrument())
    took_ms = (ran.calls["t1_ps"] - ran.calls["t0_ps"]) / 1e9
    assert (took_ms > 3.99).all()
    assert took_ms.sum() <= float(ran.stdout) * 1.0001
    cost, spread, lost, time, queued = (project.work / "raw_host" / "recording.txt").read_text().splitlines()
    assert 0 < int(cost.removeprefix("cost_ps_per_call ")) < 5_000_000
    assert 0 <= int(spread.removeprefix("cost_ps_spread ")) < 5_000_000
    assert lost == "lost 0"
    assert int(time.removeprefix("time_ps ")) > ran.calls["t1_ps"].max()
    assert int(queued.removeprefix("queued_ps ")) >= 0
    assert ran.calls["transfers"].tolist() == [0] * 25
    assert ran.calls["first_transfer"].tolist() == [-1] * 25


def test_units_that_were_instrumented_apart_are_numbered_one_after_the_other(project) -> None:
    """Two of a program's sources, each instrumented by itself, and one in a library that is loaded while it runs."""
    texts = {
        "main.c": CALLS + "#include <dlfcn.h>\nvoid put(fake_t *f);\nint main(int n, char **a)\n{\n"
        "    fake_t *f = fakeOpen(0);\n    put(f);\n    void *l = dlopen(a[1], RTLD_NOW);\n"
        '    ((void (*)(fake_t *))dlsym(l, "late"))(f);\n    put(f);\n    return 0;\n}\n',
        "put.c": '#include "fake.h"\nvoid put(fake_t *f)\n{\n    #pragma recap words send(data, top.a, m)\n'
        "    fakeWrite(f, 0, 8, 2);\n}\n",
        "late.c": '#include "fake.h"\nvoid late(fake_t *f)\n{\n    fakeReg(f, 5);\n    fakeReg(f, 6);\n}\n',
    }
    objects = {}
    for name, text in texts.items():
        project.sources.clear()
        project.file(name, text)
        out = project.work / name
        build = project.language.instrument(project.root, project.host, project.platform, {}, out)
        made = [compile_c(source, out / f"{n}.o", ["-O1", "-fPIC", f"-I{project.api}"])
                for n, source in enumerate((*build.sources, *build.extra_sources[:2]))]  # fmt: skip
        objects[name] = made
    library, program = project.work / "late.so", project.work / "program"
    subprocess.run(["gcc", "-shared", *objects["late.c"], "-o", library], check=True)
    main = [*objects["main.c"], *objects["put.c"], *project.runtime, project.api / "fake.o"]
    subprocess.run(["gcc", "-rdynamic", *main, "-o", program, "-ldl", "-pthread"], check=True)
    raw = project.work / "raw"
    raw.mkdir()
    environment = {**os.environ, "RCW_RAW": str(raw), "RCW_TRACE": "1", "FAKE_LOG": str(project.work / "log")}
    subprocess.run([program, library], env=environment, check=True)
    units = read_units(raw)
    assert units is not None
    sites, block = units.sites, units.block
    assert (block.file, block.line) == ("main.c", 8)
    assert [(site.file, site.line, site.callee) for site in sites] == [
        ("main.c", 10, "fakeOpen"), ("put.c", 5, "fakeWrite"), ("late.c", 4, "fakeReg"), ("late.c", 5, "fakeReg"),
    ]  # fmt: skip
    calls = read_calls(raw).in_order("t1_ps")
    told = [(sites[site].file, sites[site].line, block.states[state].name, block.states[state].index == state)
            for site, state in zip(*calls.columns("site", "state"), strict=True)]  # fmt: skip
    assert told == [
        ("main.c", 10, "fakeOpen", True), ("put.c", 5, "words", True), ("late.c", 4, "fakeReg", True),
        ("late.c", 5, "fakeReg", True), ("put.c", 5, "words", True),
    ]  # fmt: skip
    rows = read_rows(read_stats(raw))
    counted = {(int(row["site"]), int(row["state"])): int(row["count"]) for row in rows if row["count"]}
    assert counted == {(0, 2): 1, (1, 3): 2, (2, 4): 1, (3, 5): 1}


GOES_ON = """#include <stdio.h>
static void waits(int n) { (void)n; getchar(); }
int main(void)
{
    fake_t *f = fakeOpen(0);
    for (int i = 0; i < 1500; i++) {
        #pragma recap words send(data, top.a, m)
        fakeWrite(f, 0, 0, 2);
    }
    fakeEach(f, waits, 1);
    fakeClose(f);
    return 0;
}
"""


def test_what_is_counted_can_be_read_while_the_program_runs(project, qtbot: QtBot) -> None:
    project.file("main.c", CALLS + GOES_ON)
    build = project.instrument()
    project.run(build, record=False, env={"FAKE_LOG": "/dev/null"})
    blocks, fpga = build.blocks, Block("top.a", Side.FPGA, "top", "always", "top.a", (State(0, UNCLASSIFIED),))
    manifest = Manifest("live", RunStatus.RUNNING, "", blocks=(*blocks, fpga), sites=build.sites, entries=build.entries)
    writer = RunWriter(project.work / "run", manifest)
    raw = writer.raw
    assert calls_so_far(raw) == ()
    environment = {**os.environ, "RCW_RAW": str(raw), "FAKE_LOG": "/dev/null"}
    make_application()
    view = LiveCalls()
    qtbot.addWidget(view)
    view.follow(raw)
    with subprocess.Popen([project.work / "host"], env=environment, stdin=subprocess.PIPE) as running:
        qtbot.waitUntil(lambda: "fakeEach" in [call.site.callee for call in calls_so_far(raw) if call.under_way])
        found = {call.site.callee: call for call in calls_so_far(raw)}
        view.look()
        assert {name: (call.count, call.under_way) for name, call in found.items()} == {
            "fakeOpen": (1, 0), "fakeWrite": (1500, 0), "fakeEach": (0, 1),
        }  # fmt: skip
        writes = found["fakeWrite"]
        assert (writes.state.name, writes.bytes, writes.site.line) == ("words", 12000, 13)
        assert 0 < writes.time_s < 20
        assert (view.total, len(view.rows.tops)) == (1501, 3)
        assert "fakeWrite  main.c:13\twords\t1\u202f500" in view.rows.as_text()
        so_far = open_result(writer.path, load_plugins())
        assert [block.id for block in so_far.run.manifest.blocks] == ["host.main", "top.a"]
        assert so_far.run.manifest.status is RunStatus.RUNNING
        told = {(call.site.callee, call.count, call.bytes) for call in so_far.analysis.calls}
        assert told == {("fakeOpen", 1, 0), ("fakeWrite", 1500, 12000)}
        running.communicate(b"\n")
    view.look()
    assert view.total == 1503
    assert not any(call.under_way for call in calls_so_far(raw))


def test_a_call_that_fits_no_short_record_is_recorded_whole(project) -> None:
    """One that takes more than 2**32 ticks, moves 5 GB, or is of card 1000."""
    text = CALLS + (
        "void rcw_set_aside(int64_t);\nvoid longer(int n) { rcw_set_aside(-5000000000000); }\n"
        "int main(void)\n{\n    fake_t *f = fakeOpen(1000);\n    fakeEach(f, longer, 1);\n"
        "    fakeWrite(f, 0, 4, 1250000000);\n    fakeReg(f, 8);\n    return 0;\n}\n"
    )
    project.file("main.c", text)
    host = project.platform.host
    entries = [one.model_copy(update={"bytes": one.bytes.replace("words", "(int64_t)words")}) for one in host.entries]
    project.platform = project.platform.model_copy(update={"host": host.model_copy(update={"entries": tuple(entries)})})
    ran = project.run(project.instrument())
    names = [ran.build.sites[site].callee for site in ran.calls["site"]]
    assert names == ["fakeOpen", "fakeEach", "fakeWrite", "fakeReg"]
    assert ran.calls["fpga"].tolist() == [1000, -1, 1000, -1]
    assert ran.calls["bytes"].tolist() == [-1, -1, 5_000_000_000, 4]
    assert ran.calls["address"].tolist() == [-1, -1, 4, 8]
    time_ps = dict(zip(names, (ran.calls["t1_ps"] - ran.calls["t0_ps"]).tolist(), strict=True))
    counted = {ran.build.sites[row["site"]].callee: int(row["time_ps"]) for row in ran.rows}
    assert time_ps == pytest.approx(counted, abs=2)
    assert time_ps["fakeEach"] > 2**32 * ran.stats.clock.ps_per_tick
    raw = project.work / "raw_host"
    assert (raw / "host_long_calls.bin").stat().st_size == 3 * STORED_CALLS.itemsize
    assert (raw / "host_calls.bin").stat().st_size % SHORT_CALLS.itemsize == 0

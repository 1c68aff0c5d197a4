"""Host threads on virtual cores: every program's times are those by hand, to the picosecond."""

import ctypes
import importlib.util
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from platform import machine
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rc_workbench_plugins.simulated_card.host_points import with_points
from rc_workbench_plugins.simulated_card.places import host_notes, with_source_lines

from workbench.analysis.analyse import analyse
from workbench.analysis.cores import cores_words, placement_words
from workbench.analysis.knowledge import KnowledgeBase
from workbench.analysis.report import report_json
from workbench.api.job import Job
from workbench.api.records import WAITS, read_calls, read_thread_times
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.blocks import Block, Side, State
from workbench.model.diagnostic import Severity, WorkbenchError
from workbench.model.pragma import Category
from workbench.model.run import Cores, Manifest, Run, RunClock, RunStatus
from workbench.run.host_tables import host_intervals, host_states
from workbench.run.host_threads import UNKNOWN, HostThreads, host_stretches, outside, read_threads, thread_blocks

SCRIPT = Path(__file__).parent / "benchmarks" / "threads.py"
SOURCES = SCRIPT.parent / "thread_programs"
RESOURCES = Path(__file__).parents[1] / "resources"
LAST_LOCKS = ("pthread_mutex_lock(&other); /* thread 1 has it */", "pthread_mutex_lock(&lock); /* main has it */")


def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("threads_benchmark", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_program_takes_the_time_by_hand_on_1_2_and_4_cores() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--json", "--once"], capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {row["cores"] for row in rows} == {1, 2, 4}
    assert len({row["program"].split(",")[0] for row in rows}) >= 20
    assert [row for row in rows if row["got_ps"] != row["by_hand_ps"] or row["wrong"]] == []
    assert [row for row in rows if row["replayed"]] == [], "a replay of the run is not like it"
    assert done.returncode == 0


@pytest.fixture(scope="module")
def threads() -> ModuleType:
    return benchmark()


@pytest.fixture(scope="module")
def built(threads: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return threads.build("programs.c", tmp_path_factory.mktemp("host"))


def test_threads_that_wait_for_each_other_are_named_with_their_lines(
    threads: ModuleType, built: Any, tmp_path: Path
) -> None:
    source = SOURCES / "programs.c"
    (program,) = (p for p in threads.PROGRAMS if p.name == "mutex_ring" and p.says)
    ran = threads.run(built, program, 2, tmp_path / "raw")
    said = with_source_lines(ran.message, built.host, source.parent)
    lines = source.read_text().splitlines()
    here = [n for n, line in enumerate(lines, 1) if line.strip() in LAST_LOCKS]
    assert [f"(at programs.c:{n})" in said for n in here] == [True, True]
    assert "the main thread waits for a mutex, which thread 1 has, since 3.000000 us" in said
    assert "thread 1 waits for a mutex, which the main thread has, since 2.000000 us" in said


def test_who_only_looks_on_keeps_no_run_going(threads: ModuleType, built: Any, tmp_path: Path) -> None:
    (program,) = (p for p in threads.PROGRAMS if p.name == "lost_signal_watched")
    ran = threads.run(built, program, 2, tmp_path / "raw")
    assert program.says in ran.message
    assert "thread 1 waits" not in ran.message
    assert ran.end_ps == program.ends_us[2] * 1_000_000


MAIN = Block("host.main", Side.HOST, "host", "program", "host.main", (
    State(0, "unclassified"), State(1, "work", Category.WORK), State(2, "call", Category.SEND),
))  # fmt: skip
NOBODY = np.zeros(0, np.int32)
STATES = ("unclassified", "work", "call", "waiting", "queued")

#: us in each of STATES, by hand: three threads that hold a lock for 10 and work for 5, twice; and two threads of 20 and
#: main of 7 on one core, in slices of 5
SPENT = {
    "contended_lock": (4, [[0, 0, 0, 65, 0], [20, 30, 0, 15, 0], [10, 30, 0, 25, 0], [0, 30, 0, 35, 0]]),
    "slices": (1, [[0, 7, 0, 25, 15], [5, 20, 0, 0, 22], [0, 20, 0, 0, 27]]),
}


@pytest.mark.parametrize("name", SPENT)
def test_every_thread_is_a_block_that_tells_when_it_waited(
    threads: ModuleType, built: Any, tmp_path: Path, name: str
) -> None:
    cores, spent_us = SPENT[name]
    program = next(p for p in threads.PROGRAMS if p.name == name)
    end_ps = threads.run(built, program, cores, tmp_path / "raw").end_ps
    told = read_threads(tmp_path / "raw", read_calls(tmp_path / "raw"))
    calls = {field: np.zeros(0, np.int64) for field in ("block", "state", "t0_ps", "t1_ps")}
    blocks = thread_blocks(MAIN, NOBODY, told)
    assert [block.id for block in blocks] == ["host.main", *(f"host.thread_{n}" for n in range(1, len(spent_us)))]
    assert {tuple(state.name for state in block.states) for block in blocks} == {STATES}
    stretches = host_stretches(calls, told, blocks, end_ps)
    times = host_states(stretches, blocks, end_ps, told.known)["state_time"]["time_ps"].reshape(-1, len(STATES))
    assert (times / 1_000_000).tolist() == spent_us
    for number, row in enumerate(times):
        starts, states = host_intervals(stretches, number, end_ps, told.known)
        assert np.bincount(states, np.diff(starts, append=end_ps), len(STATES)).tolist() == row.tolist()


def test_threads_are_called_as_the_program_calls_them() -> None:
    names = {1: "worker", 2: "reader", 3: "worker", 5: "main", 6: "disk I/O"}
    told = HostThreads(np.zeros((7, 2), np.int64), UNKNOWN.waits, names)
    assert [block.id for block in thread_blocks(MAIN, NOBODY, told)] == [
        "host.main", "host.worker_1", "host.reader", "host.worker_3", "host.thread_4", "host.main_5", "host.disk_I_O",
    ]  # fmt: skip


def test_a_run_tells_its_cores_and_which_thread_had_which(threads: ModuleType, built: Any, tmp_path: Path) -> None:
    """Two threads of 20 us and main of 7 on two cores, in slices of 5: main changes its core at 5."""
    program = next(p for p in threads.PROGRAMS if p.name == "slices")
    threads.run(built, program, 2, tmp_path / "raw")
    times = read_thread_times(tmp_path / "raw")
    assert [[ps / 1_000_000 for ps in thread.core_ps] for thread in times] == [[5, 2], [0, 20], [20, 0]]
    manifest = Manifest(
        "slices", RunStatus.COMPLETE, "2026-01-01", time_ps=25_000_000, cores=Cores(2, 5_000_000, wake_ps=1_000),
        threads=times, clocks=(RunClock("clk", 1e8),),
    )  # fmt: skip
    assert cores_words(manifest) == (
        "3 threads ran on 2 of 2 virtual cores, slices of 5.00\u202fµs, a wake-up takes 1.00\u202fns"
    )
    assert placement_words(manifest).replace("\u202f%", " %") == (
        "main: core 0 20.0 %, core 1 8.0 %, waiting 72.0 %; thread 1: core 1 90.9 %, queued 9.1 %; "
        "thread 2: core 0 80.0 %, queued 20.0 %"
    )
    run = Run(None, manifest, {})
    told = json.loads(json.dumps(report_json(run.manifest, analyse(run, None, KnowledgeBase((), {}, {})))))
    assert told["cores"] == {"count": 2, "slice_s": 5e-6, "call_s": 0.0, "wake_s": 1e-9, "switch_s": 0.0}
    assert [thread["core_s"] for thread in told["threads"]] == [[5e-6, 2e-6], [0, 20e-6], [20e-6, 0]]
    written = RunWriter(tmp_path / "run", manifest).finish(manifest, {})
    assert open_run(written.path)[0].manifest.threads == times


def test_a_wait_inside_a_call_is_the_calls_and_no_wait_is_the_hosts_own_time() -> None:
    calls = {
        "block": np.array([0, 1, 1]), "state": np.array([2, 2, 2]),
        "t0_ps": np.array([20, 40, 80]), "t1_ps": np.array([30, 50, 90]),
    }  # fmt: skip
    waits = np.array([(1, 0, 15, 25), (0, 0, 20, 30), (1, 1, 50, 60), (1, 0, 82, 90), (1, 0, 95, 100)], WAITS)
    waits = outside(waits, calls["block"], calls["t0_ps"], calls["t1_ps"])
    told = HostThreads(np.array([[0, 200], [10, 150]]), waits)
    assert told.begins_ps(3).tolist() == [0, 10, 0]
    assert told.own_ps(1, np.array([10, 50]), np.array([40, 80])).tolist() == [20, 20]
    stretches = host_stretches(calls, told, thread_blocks(MAIN, NOBODY, told), 200)
    rows = zip(*(stretches[name].tolist() for name in ("block", "state", "t0_ps", "t1_ps")), strict=True)
    assert list(rows) == [
        (1, 0, 0, 10), (1, 3, 15, 25), (0, 2, 20, 30), (1, 2, 40, 50), (1, 4, 50, 60), (1, 2, 80, 90), (1, 3, 95, 100),
        (1, 0, 150, 200),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def timed(threads: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The programs, of which each thread's time is what the processor took."""
    folder = tmp_path_factory.mktemp("timed")
    return {name: threads.build(name, folder / name, deterministic=False) for name in ("programs.c", "programs.cpp")}


@pytest.mark.parametrize("name", [
    "spin", "spin_volatile", "atomic_operators", "own_lock", "lock_free_queue", "cpp_barrier", "shared", "atomic_wait",
])  # fmt: skip
def test_measured_threads_share_one_core_and_wait_on_the_same_clock(
    threads: ModuleType, timed: Any, tmp_path: Path, name: str
) -> None:
    program = next(p for p in threads.PROGRAMS if p.name == name)
    ran = threads.run(timed[program.source], replace(program, settings={"slice_ps": 5_000_000}), 1, tmp_path / "one")
    assert (ran.message, ran.output) == ("", "")
    assert (
        sum(thread.work_ps for thread in read_thread_times(tmp_path / "one")) == ran.end_ps
    )  # its core was never free
    ran = threads.run(timed[program.source], program, 4, tmp_path / "four")
    assert ran.message == ""
    for thread in read_thread_times(tmp_path / "four"):
        assert thread.begin_ps + thread.work_ps + thread.waited_ps + thread.queued_ps == thread.end_ps
        assert sum(thread.core_ps) == thread.work_ps
        assert thread.queued_ps == 0


ACCESSES = """
#include <stdatomic.h>
volatile int v; _Atomic int a; struct { volatile unsigned bits : 3; } s; _Atomic __int128 big; int plain, sink(void *);
int volatile_read_3(void) { return v + v * v; }
int operators_4(void) { a++; a |= 4; a = 5; return a; }
int old_builtins_2(void) { __sync_fetch_and_add(&plain, 1); return __sync_lock_test_and_set(&plain, 2); }
void bit_field_2(void) { s.bits = 3; }
void of_16_bytes_1(void) { big = 3; }
int exchange_1(int *e) { return atomic_compare_exchange_strong(&a, e, 4); }
int guarded_0(int n) { char buffer[64]; sink(buffer); plain = n; return buffer[n]; }
"""


@pytest.mark.skipif(machine() != "x86_64", reason="elsewhere every access is seen")
def test_what_of_a_source_is_a_point_where_time_is_measured(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(ACCESSES)
    flags = ["-O2", "-fstack-protector-strong", "-mno-red-zone", "-dP", "-S", "-o", "-"]
    assembly = subprocess.check_output(["gcc", *flags, tmp_path / "a.c"], text=True)
    found: dict[str, int] = {}
    for line in with_points(assembly.splitlines(keepends=True)):
        if match := re.match(r"(\w+_\d):", line):
            found[match[1]] = 0
        elif "rcw_access" in line:
            found[next(reversed(found))] += 1
    assert len(found) == 7
    assert {name: int(name[-1]) for name in found} == found


@pytest.mark.skipif(machine() != "x86_64", reason="elsewhere every access is seen")
@pytest.mark.parametrize("march", ["native", "x86-64"])
def test_a_point_keeps_every_register_where_time_is_measured(threads: ModuleType, tmp_path: Path, march: str) -> None:
    (tmp_path / "own.cpp").write_text(
        "#include <cstdio>\n#include <thread>\nvolatile int zero, stop; int plain_zero;\n"
        "template <class T> double sum(T &zero) {\n"
        "    double d[8] = {1, 2, 3, 4, 5, 6, 7, 8}, all = 0; long double l = 0.1L; unsigned long h = 1;\n"
        "    for (int i = 0; i < 200; i++) {\n"
        "        for (int k = 0; k < 8; k++) d[k] = d[k] * 1.0001 + k;\n"
        "        h = h * 31 + (h >> 7) + zero; l = l * 1.001L + zero;\n"
        "        all += d[i & 7] + (h > 1ul << 63 ? zero + 1 : 2) + zero;\n"
        "    }\n    return all + (double)l;\n}\n"
        "int main() {\n    std::thread t([] { while (!stop); }); double with_points = sum(zero); stop = 1; t.join();\n"
        '    std::printf("%d\\n", with_points == sum(plain_zero));\n}\n'
    )
    flags = ("-O2", "-ftree-vectorize", f"-march={march}", "-ffp-contract=off")
    built = threads.build("own.cpp", tmp_path, False, flags, tmp_path)
    assert b"rcw_access" in (tmp_path / "host_build" / "obj" / "0_own.s").read_bytes()
    assert threads.run(built, threads.Program("", {}), 2, tmp_path / "raw").output == "1\n"


@pytest.mark.parametrize("flag", ["-fopenmp", "-static", "-fsanitize=thread"])
def test_what_virtual_cores_cannot_keep_is_refused_in_words(threads: ModuleType, tmp_path: Path, flag: str) -> None:
    with pytest.raises(WorkbenchError, match=f"host: {flag}: "):
        threads.build("programs.c", tmp_path, flags=(flag,))


@pytest.fixture(scope="module")
def spinning(threads: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The C++ programs as their users build them: each of their own basic blocks is counted too."""
    flags = ("-O2", "-fsanitize-coverage=trace-pc")
    return threads.build("programs.cpp", tmp_path_factory.mktemp("spinning"), flags=flags)


@pytest.mark.parametrize("seed", range(12))
def test_spins_are_skipped_to_the_picosecond(threads: ModuleType, spinning: Any, tmp_path: Path, seed: int) -> None:
    """Four threads, each of which waits for the others' steps in loops of five kinds, some of two accesses."""
    costs = {"call_ps": 17_000, "wake_ps": 130_000, "switch_ps": 71_000} if seed % 3 else {}
    program = threads.Program("random_steps", {}, (seed,), {"slice_ps": 1_000_000 * (1 + seed % 2), **costs})
    found = []
    for skips in (True, False):
        raw = tmp_path / f"{skips}"
        ran = threads.run(spinning, program, 1 + seed % 4, raw, skips)
        assert ran.message == ""
        found.append(
            (ran, *((raw / name).read_bytes() for name in ("host_threads.txt", "host_waits.bin", "host_end.txt")))
        )
    assert found[0] == found[1]


def test_what_a_round_of_a_spin_writes_is_not_skipped(threads: ModuleType, spinning: Any, tmp_path: Path) -> None:
    program = threads.Program("take_turns", {}, settings={"slice_ps": 3_000_000})
    found = [threads.run(spinning, program, 2, tmp_path / f"{skips}", skips) for skips in (True, False)]
    assert found[0] == found[1]
    zero, one, two, three = map(int, found[0].output.split())
    assert (zero, one) == (0, 0)
    assert two > three > 0


def test_fewer_cores_than_spinning_threads_take_no_longer_to_run(
    threads: ModuleType, spinning: Any, tmp_path: Path
) -> None:
    """Whole slices of 10 ms go by in polls of some nanoseconds: without skipping, billions of them in the end."""
    program = threads.Program("spinning_pipeline", {}, settings={"slice_ps": 10_000_000_000})
    ran = threads.run(spinning, program, 2, tmp_path / "raw")
    assert ran.message == ""
    assert ran.end_ps > 100_000_000_000
    times = read_thread_times(tmp_path / "raw")
    assert sum(t.work_ps for t in times) > 2 * 0.9 * ran.end_ps  # both cores had work, or polls, all the while
    assert sum(t.work_ps for t in times) == sum(sum(t.core_ps) for t in times)


def test_who_spins_for_what_nobody_sets_is_named(threads: ModuleType, spinning: Any, tmp_path: Path) -> None:
    source = SOURCES / "programs.cpp"
    ran = threads.run(spinning, threads.Program("spin_forever", {}), 2, tmp_path / "raw")
    said = with_source_lines(ran.message, spinning.host, source.parent)
    assert "no thread of the host can go on: the main thread waits for a thread to end since" in said
    (line,) = (n for n, text in enumerate(source.read_text().splitlines(), 1) if "while (!value.load())" in text)
    assert "thread 1 waits for an atomic or volatile variable to change since" in said
    assert f"(at programs.cpp:{line})" in said


def test_a_thread_that_polls_for_whole_slices_is_warned_of(threads: ModuleType, spinning: Any, tmp_path: Path) -> None:
    program = next(p for p in threads.PROGRAMS if p.name == "spin" and 1 in p.ends_us)
    for cores, said in ((1, True), (2, False)):
        threads.run(spinning, program, cores, tmp_path / f"{cores}")
        notes = (tmp_path / f"{cores}" / "host_notes.txt").read_text().rstrip("\0").splitlines()
        assert [note.startswith("a thread spent a whole slice") for note in notes] == [True] * said


@pytest.mark.parametrize("deterministic", [True, False])
def test_the_address_sanitizer_shows_where_a_program_of_several_threads_is_wrong(
    threads: ModuleType, tmp_path: Path, deterministic: bool
) -> None:
    """What a crash of the host advises works: -fsanitize=address in host.flags; and spins are still on the clock."""
    (tmp_path / "own.cpp").write_text(
        "#include <atomic>\n#include <thread>\n#include <vector>\nstd::atomic<int> flag;\n"
        "int main(int argc, char **) {\n    std::vector<int> v(4);\n"
        "    std::thread t([&v] { for (int i = 0; i < 100; i++) v[i & 3]++; flag = 1; });\n"
        "    while (!flag) {}\n    t.join();\n    return v.data()[argc] == 0;\n}\n"
    )
    flags = ("-fsanitize=address", *(("-fsanitize-coverage=trace-pc",) if deterministic else ()))
    built = threads.build("own.cpp", tmp_path / "host", deterministic, flags, tmp_path)
    right = threads.run(built, threads.Program("", {}), 2, tmp_path / "raw")
    wrong = threads.run(built, threads.Program("", {}, (1, 2)), 2, tmp_path / "raw")
    assert (right.message, right.end_ps > 0) == ("", True)
    assert "heap-buffer-overflow" in wrong.message
    assert "own.cpp:10" in wrong.message


NOT_KEPT = """
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>
static void handler(int number) { (void)number; }
static void *work(void *unused) { return unused; }
int main(void)
{
    int pair[2], status;
    char got[4];
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    signal(SIGUSR1, SIG_IGN);
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = handler}, 0); // sigaction
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    if (write(pair[1], "abcd", 4) != 4) return 1;
    poll(&(struct pollfd){pair[0], POLLIN, 0}, 1, 1000); // poll
    fd_set set; FD_ZERO(&set); FD_SET(pair[0], &set);
    poll(0, 0, 1); // sleeping is virtual
    select(pair[0] + 1, &set, 0, 0, 0); // select
    if (recv(pair[0], got, 1, 0) + read(pair[0], got, 1) != 2) return 1; // recv read
    FILE *file = fdopen(pair[0], "r"), *own = fopen("/proc/self/exe", "r");
    if (fread(got, 1, 1, own) != 1) return 1; // a file is there
    if (fgetc(file) != 'c') return 1; // fgetc
    if (!fork()) _exit(0); // fork
    wait(&status); // wait
    alarm(0); // alarm
    pthread_join(thread, 0);
    return __rdtsc() == 1; // rdtsc
}
"""


@pytest.mark.skipif(machine() != "x86_64", reason="the program reads the counter of an x86")
@pytest.mark.parametrize("deterministic", [True, False])
def test_what_virtual_cores_cannot_keep_is_told_at_its_line(
    threads: ModuleType, tmp_path: Path, deterministic: bool
) -> None:
    (tmp_path / "own.c").write_text(NOT_KEPT)
    job = Job()
    built = threads.build("own.c", tmp_path / "host", deterministic, root=tmp_path, job=job)
    ran = threads.run(built, threads.Program("", {}), 2, tmp_path / "raw")
    assert ran.message == ""
    told = [*job.diagnostics, *host_notes(tmp_path / "raw", built.host, tmp_path)]
    assert {diagnostic.severity for diagnostic in told} == {Severity.WARNING}
    lines = NOT_KEPT.splitlines()
    expected = {
        (name, n)
        for n, line in enumerate(lines, 1)
        if "// " in line and "is" not in line.partition("// ")[2].split()
        for name in line.partition("// ")[2].split()
    }
    assert len(expected) == 10
    assert {(re.split(r"[: ]", d.message)[0], d.line) for d in told if d.file == "own.c"} == expected
    assert len(told) == len(expected)


def test_a_program_may_have_functions_of_its_own_by_the_c_librarys_names(threads: ModuleType, tmp_path: Path) -> None:
    """As C allows for those that its standard does not name."""
    (tmp_path / "own.c").write_text(
        "#include <stdio.h>\n#include <pthread.h>\n"
        "int poll(int x) { return x + 1; }\nint select(int x) { return 2 * x; }\n"
        "static void *work(void *unused) { return unused; }\n"
        "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0);"
        ' printf("%d\\n", select(poll(2))); return 0; }\n'
    )
    built = threads.build("own.c", tmp_path / "host", root=tmp_path)
    assert threads.run(built, threads.Program("", {}), 1, tmp_path / "raw").output == "6\n"


@pytest.mark.parametrize("starts", [True, False])
@pytest.mark.parametrize("unused", ["int unused; ", ""])
def test_points_are_where_threads_are_started_and_warnings_those_of_the_source(
    threads: ModuleType, tmp_path: Path, starts: bool, unused: str
) -> None:
    """Whatever it includes, and whether it was compiled once or, to see that, twice."""
    call = "pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); " if starts else ""
    text = "#include <pthread.h>\nvolatile int v;\nvoid *work(void *given) { return given; }\n"
    (tmp_path / "own.c").write_text(f"{text}int main(void) {{ {unused}{call}return v; }}\n")
    job = Job()
    built = threads.build("own.c", tmp_path / "host", flags=("-Wall",), root=tmp_path, job=job)
    names = subprocess.check_output(["nm", built.host.parent / "obj" / "0_own.o"], text=True)
    assert ("__tsan_volatile_read4" in names) == starts
    assert [one.line for one in job.diagnostics] == ([4] if unused else [])


def test_recording_takes_the_cards_clock_though_a_program_may_replace_the_c_librarys_functions(built: Any) -> None:
    """recap.c has weak functions of its own by these names: the card's have to be the stronger ones."""
    objects = built.host.parent / "obj"
    kinds = {
        words[-1]: words[-2]
        for name in ("wbcard.o", "host_time.o", "locks.o", "files.o")
        for words in map(str.split, subprocess.check_output(["nm", objects / name], text=True).splitlines())
        if len(words) == 3
    }
    own = ("rcw_now_ps", "rcw_skip_ps", "rcw_transfer_count", "rcw_thread_number", "rcw_aside")
    assert {kinds[name] for name in own} == {"T"}
    assert {kinds[name] for name in ("pthread_mutex_lock", "poll", "printf")} == {"W"}


def _host_time(tmp_path: Path, functions: str) -> ctypes.CDLL:
    """What measures a thread's own code, with functions for a test."""
    text = f'#include "{RESOURCES / "card" / "host_time.c"}"\n{functions}'
    (tmp_path / "times.c").write_text(text)
    flags = ("-shared", "-fPIC", "-w", f"-I{RESOURCES / 'host'}", "-o", str(tmp_path / "times.so"))
    subprocess.run(["gcc", *flags, str(tmp_path / "times.c"), "-lm"], check=True)
    return ctypes.CDLL(str(tmp_path / "times.so"), os.RTLD_LAZY)


def test_a_clock_that_costs_less_than_was_measured_before_is_no_division_by_zero(tmp_path: Path) -> None:
    text = "static int64_t given;\nstatic int64_t measured(int64_t (*clock)(void)) { (void)clock; return given; }\n"
    text += "int64_t mean_of(int64_t all) { given = all; return mean_ps(measured, 0); }\n"
    mean_of = _host_time(tmp_path, text).mean_of
    mean_of.restype, mean_of.argtypes = ctypes.c_int64, [ctypes.c_int64]
    assert [mean_of(all_) for all_ in (-1_000_000, -30_000, 0, 500)] == [-1_000_000, -30_000, 0, 500]


def test_who_looks_at_a_variable_in_a_loop_gets_on_though_its_looks_seem_to_cost_nothing(tmp_path: Path) -> None:
    """Where an access costs a microsecond less than was measured, it would run against the virtual clock for ever."""
    text = "int64_t looks(int count) {\n    int stuck = 0;\n    host_time_forget();\n    access_ps = 1000000;\n"
    text += "    while (count--) { host_time_owe(); stuck += host_time_charge(0) <= 0; }\n    return stuck; }\n"
    text += "int64_t works(int64_t for_ns) {\n    host_time_forget();\n"
    text += "    for (int64_t end = cpu_ns() + for_ns; cpu_ns() < end;);\n    return host_time_charge(0); }\n"
    made = _host_time(tmp_path, text)
    made.looks.restype, made.works.restype, made.works.argtypes = ctypes.c_int64, ctypes.c_int64, [ctypes.c_int64]
    assert made.looks(10_000) == 0
    assert made.works(1_000_000) > 900_000_000  # and what it does then is charged, less 20 us

"""What counting and recording a call costs, against reading the timer twice, and what other tracers take for it.

    python tests/benchmarks/call_cost.py [--json] [--quick]

One C program makes the same call, which only pauses for some 50 ns, in every variant; a source instrumented by the
workbench makes the counted ones, and those that are also recorded one by one, as for a trace. The variants take turns
in one process: bursts of 4000 calls, then a rest until the runtime's agent has caught up, so that no record is lost
(which is checked). Each burst's thread CPU time is taken. Of all turns those count in which the plain call took least,
a quarter of them: then nobody else used the core. `added_ns` is the median over these of what a call costs beyond the
plain one, `ratio` is to two readings of the time stamp counter. The agent's row is its own CPU time, on another core,
for each recorded call. LTTng-UST (a tracepoint before the call and one after, each with bytes and address) and uftrace
(the called function compiled with -pg) are measured where they are installed, in runs of their own.
"""

import os
import shutil
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from command_line import command, show
from rc_workbench_plugins.c import CLanguage

from workbench.api.records import read_end
from workbench.model.application import HostSources
from workbench.model.platform import CallKind, Host, HostEntry, Platform

HEADER = "#include <stdint.h>\nint benchWrite(int card, const uint32_t *data, uint32_t addr, int words);\n"
LIBRARY = """
#include <x86intrin.h>
#include "bench.h"
int benchWrite(int card, const uint32_t *data, uint32_t addr, int words) { _mm_pause(); _mm_lfence(); return words; }
"""
USER = """
#include "bench.h"
int made(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        #pragma recap put send(data, top.in, x1)
        sum += benchWrite(0, 0, i, 8);
    return sum;
}
int chosen(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        #pragma recap even send(data, top.in, x1): i % 2 == 0
        #pragma recap odd send(data, top.in, x2)
        sum += benchWrite(0, 0, i, 8);
    return sum;
}
"""
MAIN = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
#include "bench.h"
#include "recap.h"
int made(int), chosen(int);
static volatile uint64_t sink;
static int64_t ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}
#define LOOP(name, before, after) \
    static int name(int n) \
    { \
        int sum = 0; \
        for (int i = 0; i < n; i++) { before; sum += benchWrite(0, 0, i, 8); after; } \
        return sum; \
    }
LOOP(plain, , )
LOOP(counter, uint64_t t = __rdtsc(), sink = __rdtsc() - t)
LOOP(system_clock, int64_t t = ns(CLOCK_MONOTONIC), sink = ns(CLOCK_MONOTONIC) - t)
#ifdef LTTNG
#include "tracepoints.h"
LOOP(lttng, lttng_ust_tracepoint(bench, begin, 32, i), lttng_ust_tracepoint(bench, end, 32, i))
#define others lttng
#elif defined UFTRACE
int tracedWrite(int card, const uint32_t *data, uint32_t addr, int words);
static int others(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += tracedWrite(0, 0, i, 8);
    return sum;
}
#endif
/* As without a trace: nothing of a call is recorded. */
static int only_counted(int (*calls)(int), int n)
{
    char *next = rcw_self->next;
    rcw_self->next = NULL;
    int sum = calls(n);
    rcw_self->next = next;
    return sum;
}
static int counted(int n) { return only_counted(made, n); }
static int counted_chosen(int n) { return only_counted(chosen, n); }
int main(int argc, char **argv)
{
#if defined LTTNG || defined UFTRACE
    int (*variant[])(int) = { plain, others };
#else
    int (*variant[])(int) = { plain, counter, counted, counted_chosen, made, chosen, system_clock };
#endif
    enum { VARIANTS = sizeof variant / sizeof variant[0] };
    int turns = atoi(argv[1]), calls = atoi(argv[2]), recorded = 0;
    for (int turn = -3; turn < turns; turn++)
        for (int v = 0; v < VARIANTS; v++) {
            int64_t began = ns(CLOCK_THREAD_CPUTIME_ID);
            if (variant[v](calls) != calls * 8)
                return 1;
            double took = (double)(ns(CLOCK_THREAD_CPUTIME_ID) - began) / calls;
            if (turn >= 0)
                printf("%d %.4f\n", v, took);
            if (variant[v] == made || variant[v] == chosen) {
                recorded += calls;
                while (rcw_self->handed_over - rcw_self->appended >= rcw_self->pieces / 2)
                    usleep(200);
            }
        }
    if (recorded)
        printf("%d %.4f\n", VARIANTS, (double)(ns(CLOCK_PROCESS_CPUTIME_ID) - ns(CLOCK_THREAD_CPUTIME_ID)) / recorded);
    return 0;
}
"""
TRACEPOINTS = """
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./tracepoints.h"
#if !defined(TRACEPOINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRACEPOINTS_H
#include <lttng/tracepoint.h>
#include <stdint.h>
#define POINT(name) LTTNG_UST_TRACEPOINT_EVENT(bench, name, LTTNG_UST_TP_ARGS(int64_t, bytes, int64_t, address), \
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int64_t, bytes, bytes) \
                        lttng_ust_field_integer(int64_t, address, address)))
POINT(begin)
POINT(end)
#endif
#include <lttng/tracepoint-event.h>
"""
PROBES = """
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints.h"
"""
VARIANTS = (
    "plain call",
    "two readings of the time stamp counter",
    "counted call",
    "counted call, two pragmas with a condition",
    "recorded call",
    "recorded call, two pragmas with a condition",
    "two readings of clock_gettime",
)


def build(folder: Path) -> list[str | Path]:
    """Instrument the user's source and link the program `bench`; the command that does, but for where to."""
    api = folder / "api"
    api.mkdir()
    (api / "bench.h").write_text(HEADER)
    (api / "bench.c").write_text(LIBRARY)
    root = folder / "project"
    root.mkdir()
    (root / "user.c").write_text(USER)
    (folder / "main.c").write_text(MAIN)
    entry = HostEntry(
        prototype="int benchWrite(int card, const uint32_t *data, uint32_t addr, int words)",
        kind=CallKind.SEND, bytes="words * 4", address="addr", fpga="card",
    )  # fmt: skip
    platform = Platform(schema_version=1, name="bench", host=Host(include_lines=('"bench.h"',), entries=(entry,)))
    host = HostSources(sources=("user.c",), include_dirs=(str(api),))
    made = CLanguage().instrument(root, host, platform, {}, folder / "build")
    sources = [*made.sources, *made.extra_sources, api / "bench.c", folder / "main.c"]
    runtime = made.extra_sources[-1].parent
    command = ["gcc", "-O2", "-w", f"-I{api}", f"-I{runtime}", f"-I{folder}", *sources, "-pthread"]
    subprocess.run([*command, "-o", folder / "bench"], check=True)
    (folder / "tracepoints.h").write_text(TRACEPOINTS)
    (folder / "probes.c").write_text(PROBES)
    (folder / "traced.c").write_text(LIBRARY.replace("benchWrite", "tracedWrite"))
    return command


def took_ns(program: Sequence[str | Path], turns: int, calls: int, raw: Path) -> list[list[float]]:
    """For each variant, and the agent, what a call took in each turn."""
    environment = {**os.environ, "RCW_TRACE": "1", "RCW_RAW": str(raw)}
    raw.mkdir()
    command = [*program, str(turns), str(calls)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    if read_end(raw / "recording.txt")["lost"] != "0":
        raise SystemExit("records were lost: the agent could not keep up, so the figures would be too good")
    took: dict[int, list[float]] = {}
    for line in done.stdout.splitlines():
        variant, ns = line.split()
        took.setdefault(int(variant), []).append(float(ns))
    return [took[number] for number in sorted(took)]


def added_ns(took: Sequence[Sequence[float]]) -> list[float]:
    """What a call of each variant took beyond the plain one, in the turns in which that took least."""
    plain = took[0]
    quiet = sorted(range(len(plain)), key=lambda turn: plain[turn])[: max(1, len(plain) // 4)]
    return [statistics.median(values[turn] - plain[turn] for turn in quiet) for values in took]


def lttng(command: list[str | Path], folder: Path, turns: int, calls: int) -> float | None:
    """What a pair of tracepoints adds, into a session that only keeps them; None where LTTng is not installed."""
    if not shutil.which("lttng-sessiond") or not any(Path("/usr/include").glob("**/lttng/tracepoint.h")):
        return None
    program = folder / "with_lttng"
    libraries = ["-llttng-ust", "-llttng-ust-common", "-ldl"]
    subprocess.run([*command, "-DLTTNG", folder / "probes.c", "-o", program, *libraries], check=True)
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    session, pid = f"call_cost_{os.getpid()}", folder / "sessiond.pid"
    subprocess.run(["lttng-sessiond", "--no-kernel", "--daemonize", "--pidfile", pid], **quiet)
    try:
        for words in (
            ["create", session, f"--output={folder / 'lttng'}"],
            ["enable-event", "-u", "bench:*"],
            ["start"],
        ):
            subprocess.run(["lttng", *words], **quiet)
        took = took_ns([program], turns, calls, folder / "raw_lttng")
        subprocess.run(["lttng", "destroy", session], **quiet)
    finally:
        os.kill(int(pid.read_text()), signal.SIGTERM)
    return added_ns(took)[1]


def uftrace(command: list[str | Path], folder: Path, turns: int, calls: int) -> float | None:
    """What uftrace adds to a function; None where it is not installed."""
    if not shutil.which("uftrace"):
        return None
    program, traced = folder / "with_uftrace", folder / "traced.o"
    subprocess.run(
        ["gcc", "-O2", "-w", "-pg", f"-I{folder / 'api'}", "-c", folder / "traced.c", "-o", traced], check=True
    )
    subprocess.run([*command, "-DUFTRACE", traced, "-pg", "-o", program], check=True)
    recorder = ["uftrace", "record", "--no-libcall", "-F", "tracedWrite", "-d", folder / "uftrace", program]
    return added_ns(took_ns(recorder, turns, calls, folder / "raw_uftrace"))[1]


def measure(turns: int, calls: int) -> list[dict[str, object]]:
    """Rows of the benchmark: variant, added_ns, ratio."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = build(folder)
        took = took_ns([folder / "bench"], turns, calls, folder / "raw")
        rows = [*zip(VARIANTS, added_ns(took[:-1]), strict=True), ("the agent, on another core", took[-1][0])]
        counter = rows[1][1]
        for title, other in (("LTTng-UST, a pair of tracepoints", lttng), ("uftrace", uftrace)):
            if (ns := other(command, folder, turns // 4, calls)) is not None:
                rows.append((title, ns))
    return [{"variant": name, "added_ns": round(ns, 2), "ratio": round(ns / counter, 3)} for name, ns in rows]


def main() -> None:
    arguments = command(__doc__, "fewer and shorter turns").parse_args()
    rows = measure(60 if arguments.quick else 400, 4000)
    show({"rows": rows}, arguments.json)


if __name__ == "__main__":
    main()

"""What a recorded call costs, against reading the timer twice.

    python tests/benchmarks/call_cost.py [--json] [--quick]

One C program makes the same call, which only pauses for some 50 ns, in every variant; a source instrumented by the
workbench makes the recorded ones. The variants take turns in one process: bursts of 4000 calls, then a rest until the
runtime's writer thread has caught up, so that no record is lost (which is checked). Each burst's thread CPU time is
taken: `added_ns` is the median over the turns of what a call costs beyond the plain one, `ratio` is to two readings of
the time stamp counter. The writer's row is its own CPU time, on another core, for each recorded call.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

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
LOOP(clock_ps, int64_t t = rcw_now_ps(), sink = rcw_now_ps() - t)
LOOP(system_clock, int64_t t = ns(CLOCK_MONOTONIC), sink = ns(CLOCK_MONOTONIC) - t)
static int idle(int n) { rcw_recording = 0; int sum = made(n); rcw_recording = 1; return sum; }
int main(int argc, char **argv)
{
    int (*variant[])(int) = { plain, counter, clock_ps, made, chosen, idle, system_clock };
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
    printf("%d %.4f\n", VARIANTS, (double)(ns(CLOCK_PROCESS_CPUTIME_ID) - ns(CLOCK_THREAD_CPUTIME_ID)) / recorded);
    return 0;
}
"""
VARIANTS = (
    "plain call",
    "two readings of the time stamp counter",
    "two readings of the runtime's clock",
    "recorded call",
    "recorded call, two pragmas with a condition",
    "instrumented, recording off",
    "two readings of clock_gettime",
)


def build(folder: Path) -> Path:
    """Instrument the user's source and link everything; the program."""
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
    program = folder / "bench"
    runtime = made.extra_sources[1].parent
    subprocess.run(["gcc", "-O2", "-w", f"-I{api}", f"-I{runtime}", *sources, "-o", program, "-pthread"], check=True)
    return program


def measure(turns: int, calls: int) -> list[dict[str, object]]:
    """Rows of the benchmark: variant, added_ns, ratio."""
    with tempfile.TemporaryDirectory() as name:
        program = build(Path(name))
        raw = Path(name) / "raw"
        raw.mkdir()
        done = subprocess.run(
            [program, str(turns), str(calls)],
            env={**os.environ, "RCW_RAW": str(raw)}, check=True, capture_output=True, text=True,
        )  # fmt: skip
        lost = read_end(raw / "recording.txt")["lost"]
    if lost != "0":
        raise SystemExit(f"{lost} records were lost: the writer could not keep up, so the figures would be too good")
    took: list[list[float]] = [[] for _ in range(len(VARIANTS) + 1)]
    for line in done.stdout.splitlines():
        variant, ns = line.split()
        took[int(variant)].append(float(ns))
    added = [statistics.median(v - p for v, p in zip(values, took[0], strict=True)) for values in took[:-1]]
    return [
        {"variant": name, "added_ns": round(ns, 2), "ratio": round(ns / added[1], 3)}
        for name, ns in zip((*VARIANTS, "the writer thread, on another core"), (*added, took[-1][0]), strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns")
    arguments = parser.parse_args()
    rows = measure(60 if arguments.quick else 400, 4000)
    if arguments.json:
        print(json.dumps({"rows": rows}, indent=2))
        return
    print(f"{'variant':45} {'added ns':>9} {'ratio':>7}")
    for row in rows:
        print(f"{row['variant']:45} {row['added_ns']:9} {row['ratio']:7}")


if __name__ == "__main__":
    main()

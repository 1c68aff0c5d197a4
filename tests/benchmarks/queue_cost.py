"""What watching a program's own queues costs (`host.queues`): for each push or pop of C++, and of a core.

    python tests/benchmarks/queue_cost.py [--json] [--quick]

One program moves elements through a ring without locks, and through one behind a mutex, as it is and as the workbench
instruments it: counted alone, and recorded one by one as for a trace. It takes turns and the quiet ones of them as
`call_cost.py` does. `added_ns` is what a push or pop takes beyond the plain one, `ratio` is to the plain one, and
`core_share` the share of a core (%) that a million of them a second take besides. The agent, which writes the records
to the disk, has a core of its own: its row is its processor time for each of them.
"""

import subprocess
import tempfile
from pathlib import Path

from call_cost import added_ns, took_ns
from command_line import command, show
from rc_workbench_plugins.c import CLanguage

from workbench.model.application import HostSources
from workbench.model.platform import Host, HostEntry, Platform, QueueCall

RINGS = """#pragma once
#include <atomic>
#include <mutex>
struct Free { // one producer, one consumer
    bool push(int item)
    {
        unsigned at = tail.load(std::memory_order_relaxed);
        if (at - head.load(std::memory_order_acquire) == 64) return false;
        items[at % 64] = item;
        tail.store(at + 1, std::memory_order_release);
        return true;
    }
    bool pop(int &item)
    {
        unsigned at = head.load(std::memory_order_relaxed);
        if (at == tail.load(std::memory_order_acquire)) return false;
        item = items[at % 64];
        head.store(at + 1, std::memory_order_release);
        return true;
    }
    std::atomic<unsigned> head{0}, tail{0};
    int items[64];
};
struct Locked {
    bool push(int item)
    {
        std::lock_guard<std::mutex> held(lock);
        return ring.push(item);
    }
    bool pop(int &item)
    {
        std::lock_guard<std::mutex> held(lock);
        return ring.pop(item);
    }
    std::mutex lock;
    Free ring;
};
"""
MOVE = """int NAME(int n)
{
    static RING ring;
    int sum = 0;
    for (int i = 0; i < n; i += 2) {
        int item = 0;
        ring.push(i);
        ring.pop(item);
        sum += item == i;
    }
    return 8 * sum;
}
"""
MAIN = r"""
#include <cstdio>
#include <cstdlib>
#include <time.h>
#include <unistd.h>
#include "recap.h"
int plain_free(int), plain_locked(int), watched_free(int), watched_locked(int);
static int64_t ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}
static int only_counted(int (*moves)(int), int n)
{
    char *next = rcw_self->next;
    rcw_self->next = NULL;
    int sum = moves(n);
    rcw_self->next = next;
    return sum;
}
static int counted_free(int n) { return only_counted(watched_free, n); }
static int counted_locked(int n) { return only_counted(watched_locked, n); }
int main(int argc, char **argv)
{
    int (*variant[])(int) = { plain_free, counted_free, watched_free, plain_locked, counted_locked, watched_locked };
    enum { VARIANTS = sizeof variant / sizeof variant[0] };
    int turns = atoi(argv[1]), moves = atoi(argv[2]), recorded = 0;
    for (int turn = -3; turn < turns; turn++)
        for (int v = 0; v < VARIANTS; v++) {
            int64_t began = ns(CLOCK_THREAD_CPUTIME_ID);
            if (variant[v](moves) != moves * 4)
                return 1;
            double took = (double)(ns(CLOCK_THREAD_CPUTIME_ID) - began) / moves;
            if (turn >= 0)
                printf("%d %.4f\n", v, took);
            if (variant[v] == watched_free || variant[v] == watched_locked) {
                recorded += moves;
                while (rcw_self->handed_over - rcw_self->appended >= rcw_self->pieces / 2)
                    usleep(200);
            }
        }
    printf("%d %.4f\n", VARIANTS,
           (double)(ns(CLOCK_PROCESS_CPUTIME_ID) - ns(CLOCK_THREAD_CPUTIME_ID)) / recorded);
    return 0;
}
"""
KINDS = ("push or pop without locks", "push or pop behind a mutex")
WAYS = ("counted", "recorded")


def build(folder: Path) -> Path:
    """The program, whose watched part the workbench instrumented."""
    root = folder / "project"
    root.mkdir()
    (root / "rings.hpp").write_text(RINGS)
    for path in (root / "watched.cpp", folder / "plain.cpp"):
        moves = (MOVE.replace("NAME", f"{path.stem}_{of.lower()}").replace("RING", of) for of in ("Free", "Locked"))
        path.write_text("\n".join(('#include "rings.hpp"', *moves)))
    (folder / "main.cpp").write_text(MAIN)
    queues = tuple(
        QueueCall(prototype=f"bool {of}::{name}", kind=kind)
        for of in ("Free", "Locked") for name, kind in (("push(int item)", "push"), ("pop(int &item)", "pop"))
    )  # fmt: skip
    entry = HostEntry(prototype="int unused(int card)", kind="other")
    platform = Platform(schema_version=1, name="bench", host=Host(entries=(entry,), queues=queues))
    made = CLanguage().instrument(root, HostSources(sources=("watched.cpp",)), platform, {}, folder / "build")
    if made.missed:
        raise SystemExit("; ".join(one.message for one in made.missed))
    runtime = made.extra_sources[-1].parent
    objects = []
    for source in (*made.sources, *made.extra_sources, folder / "plain.cpp", folder / "main.cpp"):
        objects.append(folder / f"{len(objects)}.o")
        compiler = "gcc" if source.suffix == ".c" else "g++"
        flags = [f"-D{name}" for name in made.defines] + list(made.flags)
        places = [f"-I{place}" for place in (root, runtime, *made.include_dirs)]
        subprocess.run([compiler, "-O2", "-w", *flags, *places, "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["g++", *objects, *made.link_flags, "-pthread", "-o", folder / "bench"], check=True)
    return folder / "bench"


def measure(turns: int, moves: int) -> list[dict[str, object]]:
    """Rows: operation, way, ns, added_ns, ratio, core_share (%)."""
    with tempfile.TemporaryDirectory() as name:
        took = took_ns([build(Path(name))], turns, moves, Path(name) / "raw")
    rows: list[dict[str, object]] = []
    for number, kind in enumerate(KINDS):
        of_kind = took[3 * number : 3 * number + 3]
        plain_ns = min(of_kind[0])
        for way, added in zip(WAYS, added_ns(of_kind)[1:], strict=True):
            figures = {"added_ns": round(added, 2), "ratio": round(1 + added / plain_ns, 2)}
            rows.append({"operation": kind, "way": way, "plain_ns": round(plain_ns, 2), **figures,
                         "core_share": round(added / 10, 3)})  # fmt: skip
    agent = took[-1][0]
    rows.append({"operation": "the agent, on another core", "way": WAYS[-1], "added_ns": round(agent, 2),
                 "core_share": round(agent / 10, 3)})  # fmt: skip
    return rows


def main() -> None:
    arguments = command(__doc__, "fewer and shorter turns").parse_args()
    show({"rows": measure(60 if arguments.quick else 400, 4000)}, arguments.json)


if __name__ == "__main__":
    main()

"""Host programs made at random, instrumented and run: whether what was recorded is what they counted themselves.

    python tests/benchmarks/call_properties.py [--json] [--quick] [--programs N] [--first SEED]

Calls and memory-mapped accesses stand in loops, conditions, macros, function pointers, threads, after early returns and
`longjmp`, in C++ also under exceptions, in lambdas and destructors. A row is one language with one compiler and its
flags: `programs`, `sites` that were instrumented, `events` that the programs counted, and how many of them were `held`:
counts and bytes of each site equal, nothing missed, the output as without recording. `failed` are the seeds of others.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from host_programs import Maker, hold

GCC = ["gcc"]
CLANG = [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined"]
WAYS = [
    *((language, GCC, [*flags, standard]) for flags in (["-O0"], ["-O2"], ["-O2", "-flto"])
      for language, standard in (("c", "-std=gnu11"), ("c++", "-std=gnu++17"))),
    ("c++", GCC, ["-O2", "-std=gnu++11"]), ("c++", GCC, ["-O2", "-std=gnu++20"]),
    ("c", CLANG, ["-O0"]), ("c", CLANG, ["-O2"]), ("c++", CLANG, ["-O2"]),
]  # fmt: skip


def measure(language: str, compiler: list[str], flags: list[str], seeds: range) -> dict[str, object]:
    sites = events = held = 0
    failed = []
    for seed in seeds:
        cpp = language == "c++"
        with tempfile.TemporaryDirectory() as name:
            found = hold(Path(name) / "program", Maker(Random(seed), cpp).program(4), cpp, compiler, flags)
        sites += found.sites
        events += sum(calls + reads + writes for _, calls, _, reads, writes in found.truth)
        if found.truth == found.recorded and found.same_output and not found.missed and not found.counted:
            held += 1
        else:
            failed.append(seed)
    return {
        "language": language, "compiler": "gcc" if compiler is GCC else "clang", "flags": " ".join(flags),
        "programs": len(seeds), "sites": sites, "events": events, "held": held, "failed": failed,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--quick", action="store_true", help="one program each in C and C++, with gcc -O2")
    parser.add_argument("--programs", type=int, default=20, help="how many of each row")
    parser.add_argument("--first", type=int, default=0, help="the first one's seed")
    arguments = parser.parse_args()
    clang = importlib.util.find_spec("ziglang") is not None
    ways = WAYS[2:4] if arguments.quick else [way for way in WAYS if way[1] is GCC or clang]
    seeds = range(arguments.first, arguments.first + (1 if arguments.quick else arguments.programs))
    rows = [measure(*way, seeds) for way in ways]
    if arguments.json:
        print(json.dumps({"rows": rows}, indent=2))
        return
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()

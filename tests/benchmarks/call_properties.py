"""Programs made at random, in C and C++: is what is recorded of them what they did, and do they print the same?

    python tests/benchmarks/call_properties.py [--json] [--programs N] [--first SEED] [--only=FLAGS]

Each program (`tests/host_programs.py`) counts its own calls, bytes and memory-mapped accesses, place by place; `sites`
are the places that were instrumented, `events` what the programs counted. A program is in C or in a standard of C++, by
its seed, and each second one in C++ has an API with calls in C++; it is built with every compiler and optimisation.
Exits with 1 where one does not hold, and says which (`--first SEED --programs 1` makes it again).
"""

import json
import sys
import tempfile
from pathlib import Path
from random import Random

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from call_coverage import OPTIMISATIONS, compilers
from host_programs import Maker, hold, made

STANDARDS = (0, 11, 14, 17, 20)


def main() -> None:
    parser = command(__doc__, "five programs with gcc -O2")
    parser.add_argument("--programs", type=int, default=25, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first one's seed")
    parser.add_argument("--only", choices=OPTIMISATIONS, help="with one optimisation alone, as in --only=-O0")
    parser.add_argument("--keep", type=Path, help="a folder for the programs that do not hold")
    arguments = parser.parse_args()
    rows: dict[tuple[str, str], dict[str, int]] = {}
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        seeds = range(arguments.first, arguments.first + (5 if arguments.quick else arguments.programs))
        for seed in seeds:
            standard = STANDARDS[seed % len(STANDARDS)]
            folder = (arguments.keep or Path(name)) / f"program_{seed}"
            program = made(folder, Maker(Random(seed), standard, standard > 0 and seed // len(STANDARDS) % 2 == 0))
            words = f"-std=gnu++{standard}" if standard else "-std=gnu11"
            for called, compiler in list(compilers("C++" if standard else "C").items())[
                : 1 if arguments.quick else None
            ]:
                for flags in (arguments.only or "-O2",) if arguments.quick or arguments.only else OPTIMISATIONS:
                    row = rows.setdefault(
                        (words, f"{called} {flags}"), {"programs": 0, "sites": 0, "events": 0, "held": 0}
                    )
                    row["programs"] += 1
                    try:
                        found = hold(program, compiler, flags.split(), words, Path(name) / "kept")
                    except RuntimeError as error:
                        failed.append(f"{seed} {called} {flags} {words}: {error}")
                        continue
                    row["sites"] += found.sites
                    row["events"] += sum(calls + reads + writes for _, calls, _, reads, writes in found.truth)
                    row["held"] += not found.wrong
                    failed += [f"{seed} {called} {flags} {words}: {found.wrong}"] if found.wrong else []
    if arguments.json:
        told = [{"standard": words, "build": build, **row} for (words, build), row in rows.items()]
        print(json.dumps({"rows": told, "failed": failed}, indent=2))
    else:
        for (words, build), row in sorted(rows.items()):
            print(f"{words:14} {build:18} " + "  ".join(f"{number:8} {key}" for key, number in row.items()))
        total = {key: sum(row[key] for row in rows.values()) for key in ("programs", "sites", "events", "held")}
        print(f"{'':33} " + "  ".join(f"{number:8} {key}" for key, number in total.items()))
        print(*failed, sep="\n", end="\n" if failed else "")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

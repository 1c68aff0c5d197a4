"""How many of a host's API calls are recorded, by kind of call, language, compiler and its flags.

    python tests/benchmarks/call_coverage.py [--json] [--quick]

Every kind is a small program on an API that counts its own calls (`call_coverage_c.py`, `call_coverage_cpp.py`), which
is instrumented for each standard and built and run with each compiler and optimisation. `true` is the API's count; each
cell is what was recorded of it, with the places that instrumenting said it cannot see in brackets.

It fails (exit status 1) where a call is lost: neither recorded nor reported; where more is recorded than was called;
where a kind is reported of which nobody says why; where builds of one text differ; and where an instrumented program
prints something else than the one that is not.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import call_coverage_c
import call_coverage_cpp
from command_line import command
from rc_workbench_plugins.c import CLanguage

from workbench.api import HostBuild
from workbench.api.host_stats import read_stats
from workbench.model.application import HostSources
from workbench.model.platform import Host, Platform

PROGRAMS = {"C": call_coverage_c, "C++": call_coverage_cpp}
STANDARDS = ("c11", "c++11", "c++14", "c++17", "c++20")
OPTIMISATIONS = ("-O0", "-O2", "-O2 -flto")


def compilers(language: str) -> dict[str, list[str]]:
    """The command of each compiler that is here, by name."""
    gcc, clang = {"C": ("gcc", "clang"), "C++": ("g++", "clang++")}[language]
    found = {gcc: [gcc]} if shutil.which(gcc) else {}
    if shutil.which(clang):
        found[clang] = [clang]
    elif importlib.util.find_spec("ziglang"):
        found[clang] = [sys.executable, "-m", "ziglang", {"C": "cc", "C++": "c++"}[language], "-fno-sanitize=undefined"]
    return found


@dataclass(frozen=True)
class Row:
    """What became of one kind's calls in one build."""

    kind: str
    true: int
    recorded: int
    reported: int


@dataclass(frozen=True)
class Program:
    """The programs of a language in one folder, instrumented as of a standard."""

    root: Path
    of: ModuleType
    standard: str
    build: HostBuild
    places: dict[str, list[tuple[str, range]]]

    @property
    def cpp(self) -> bool:
        return self.of is call_coverage_cpp


def instrumented(root: Path, language: str, standard: str) -> Program:
    of, api = PROGRAMS[language], root.with_name(f"{root.name}_api")
    root.mkdir()
    api.mkdir()
    files, places = of.program()
    header, library = ("card.hpp", "card.cc") if language == "C++" else ("card.h", "card.c")
    for file, text in (
        *((root / n, t) for n, t in files.items()),
        (api / header, of.HEADER),
        (api / library, of.LIBRARY),
    ):
        file.write_text(text)
    sources = tuple(name for name in files if Path(name).suffix in (".c", ".cpp"))
    headers = [header, *(name for name in files if name.endswith(".h"))]
    platform = Platform(
        schema_version=2,
        name="card",
        host=Host(include_lines=tuple(f'"{name}"' for name in headers), entries=of.ENTRIES),
    )
    host = HostSources(sources=sources, include_dirs=(str(api),), flags=(f"-std={standard}",))
    return Program(root, of, standard, CLanguage().instrument(root, host, platform, {}, root / "build"), places)


def measure(program: Program, compiler: Sequence[str], flags: Sequence[str]) -> list[Row]:
    """Build and run the programs, as they are and instrumented."""
    root, build = program.root, program.build
    folder = Path(tempfile.mkdtemp(dir=root))
    (folder / "raw").mkdir()
    own = [root / source.relative_to(root / "build" / "host") for source in build.sources]
    api = root.with_name(f"{root.name}_api")
    library = api / ("card.cc" if program.cpp else "card.c")
    recorder = [(source, ("-x", "c")) for source in build.extra_sources]
    standard = f"-std={program.standard}"
    shown = []
    for name, sources in (("plain", own), ("recorded", build.sources)):
        objects = []
        own_flags, link = (build.flags, build.link_flags) if name == "recorded" else ((), ())
        every = [(source, (standard, *own_flags)) for source in sources] + [(library, (standard,))]
        every += recorder if name == "recorded" else []
        for number, (source, words) in enumerate(every):
            objects.append(folder / f"{name}_{number}.o")
            one = ["-w", f"-I{api}", *words, "-c", source, "-o", objects[-1]]
            optimised = [flag for flag in flags if source != library or flag != "-flto"]  # a library is there already
            _built(*compiler, *optimised, *one)
        _built(*compiler, *flags, *objects, *link, "-o", folder / name, "-pthread")
        environment = {**os.environ, "RCW_RAW": str(folder / "raw")} if name == "recorded" else None
        done = subprocess.run([folder / name], env=environment, check=True, capture_output=True, text=True)
        shown.append(done.stdout)
    if shown[0] != shown[1]:
        raise SystemExit(f"the instrumented program prints something else:\n{shown[1]}")
    made = [int(line.split()[0]) for line in shown[0].splitlines()]
    recorded: Counter[tuple[str, int]] = Counter()
    stats = read_stats(folder / "raw")
    for row in (row for thread in (stats.threads if stats else ()) for row in thread.rows):
        site = build.sites[row["site"]]
        recorded[Path(site.file or "").name, site.line or 0] += int(row["count"])
    reported = Counter((Path(one.file or "").name, one.line or 0) for one in build.missed)
    rows = []
    for (kind, where), true in zip(program.places.items(), made, strict=True):
        at = [(file, line) for file, lines in where for line in lines]
        rows.append(Row(kind, true, sum(recorded[one] for one in at), sum(reported[one] for one in at)))
    return rows


def _built(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")


def wrong(rows: Iterable[Row], why: dict[str, tuple[str, int]]) -> list[str]:
    """What is wrong with the rows, in words."""
    found = []
    for row in rows:
        told = row.reported * why.get(row.kind, ("", 1))[1]
        if row.recorded > row.true:
            found.append(f"{row.kind}: {row.recorded} recorded of {row.true}")
        elif row.recorded + told < row.true:
            found.append(f"{row.kind}: lost, of {row.true} {row.recorded} recorded, {row.reported} reported")
        elif row.recorded < row.true and row.kind not in why:
            found.append(f"{row.kind}: reported, and nobody says why")
    return found


def main() -> None:
    arguments = command(__doc__, "gcc alone, -O2, as of C11 and C++17").parse_args()
    cells: dict[str, dict[str, dict[str, Row]]] = {language: {} for language in PROGRAMS}
    builds, problems = 0, []
    with tempfile.TemporaryDirectory() as name:
        for standard in ("c11", "c++17") if arguments.quick else STANDARDS:
            language = "C++" if "++" in standard else "C"
            program = instrumented(Path(name) / standard, language, standard)
            first: list[Row] | None = None
            for called, compiler in list(compilers(language).items())[: 1 if arguments.quick else None]:
                for flags in ("-O2",) if arguments.quick else OPTIMISATIONS:
                    rows = measure(program, compiler, flags.split())
                    way = f"{called} {flags} -std={standard}"
                    builds += 1
                    first = first or rows
                    problems += [f"{way}: {text}" for text in wrong(rows, program.of.WHY)]
                    problems += [f"{way}: {now} in place of {then}" for then, now in zip(first, rows, strict=True)
                                 if now != then]  # fmt: skip
            cells[language][standard] = {row.kind: row for row in first or []}
    if arguments.json:
        rows_of = [{"language": language, "standard": standard, **vars(row)} for language, found in cells.items()
                   for standard, kinds in found.items() for row in kinds.values()]  # fmt: skip
        print(json.dumps({"rows": rows_of, "builds": builds, "problems": problems}, indent=2))
    else:
        for language, found in cells.items():
            show(language, found)
        print(f"{builds} builds" + "".join(f"\n{problem}" for problem in problems))
    sys.exit(1 if problems else 0)


def show(language: str, cells: dict[str, dict[str, Row]]) -> None:
    print(f"| {language} | true | {' | '.join(cells)} | why |\n| --- | --- |{' --- |' * len(cells)} --- |")
    why = PROGRAMS[language].WHY
    for kind, row in next(iter(cells.values())).items():
        ones = [found[kind] for found in cells.values()]
        texts = [f"{one.recorded}{f' ({one.reported})' if one.reported else ''}" for one in ones]
        reason = why[kind][0] if kind in why and any(one.recorded < one.true for one in ones) else ""
        print(f"| {kind} | {row.true} | {' | '.join(texts)} | {reason} |")
    print()


if __name__ == "__main__":
    main()

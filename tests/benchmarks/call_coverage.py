"""How many of a host's API calls are recorded, by kind of call.

    python tests/benchmarks/call_coverage.py [--json] [--quick]

Every kind in C is a small program on an API that counts its own calls, those in C++ are one program
(`call_coverage_cpp.py`): `true` is that count, `recorded` what the instrumented program recorded of it, `reported` the
places that instrumenting said it cannot see. A call that is neither recorded nor reported would be lost silently.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import call_coverage_cpp
from rc_workbench_plugins.c import CLanguage

from workbench.api.host_stats import read_stats
from workbench.model.application import HostSources
from workbench.model.platform import CallKind, Host, HostEntry, Platform

HEADER = """
#include <stdint.h>
int cardWrite(int card, const uint32_t *data, uint32_t addr, int words);
uint32_t cardReg(int card, uint32_t addr);
int cardControl(int card, int what, ...);
uint32_t cardPeekNow(int card, uint32_t addr);
void *cardMap(int card, unsigned long length);
void accessed(int times);
#define cardPeek(card, addr) cardPeekNow((card), (addr))
#define cardAwait(card) while (!cardReg(card, 0)) { }
"""
LIBRARY = """
#include "card.h"
#include <stdio.h>
#include <stdlib.h>
static int made;
static void say(void) { FILE *f = fopen(getenv("CARD_CALLS"), "w"); fprintf(f, "%d", made); fclose(f); }
static void note(void) { if (!__atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST)) atexit(say); }
int cardWrite(int card, const uint32_t *data, uint32_t addr, int words) { note(); return words; }
uint32_t cardReg(int card, uint32_t addr) { static int n; note(); return addr ? addr : ++n % 4 == 0; }
int cardControl(int card, int what, ...) { note(); return what; }
uint32_t cardPeekNow(int card, uint32_t addr) { note(); return addr; }
void *cardMap(int card, unsigned long length) { note(); return calloc(1, length); }
void accessed(int times) { while (times--) note(); }
"""
ENTRIES = (
    ("int cardWrite(int card, const uint32_t *data, uint32_t addr, int words)", CallKind.SEND),
    ("uint32_t cardReg(int card, uint32_t addr)", CallKind.RECEIVE),
    ("int cardControl(int card, int what)", CallKind.OTHER),
    ("uint32_t cardPeek(int card, uint32_t addr)", CallKind.RECEIVE),
)
MAPPED = (
    HostEntry(
        prototype="void *cardMap(int card, unsigned long length)", kind=CallKind.ACQUIRE, opens="bar",
        mapped_bytes="length",
    ),
    HostEntry(access="read", of="bar", kind=CallKind.RECEIVE),
    HostEntry(access="write", of="bar", kind=CallKind.SEND),
)  # fmt: skip
#: kind -> (what stands before main, main's body); user.h goes with every program
PROGRAMS = {
    "statement": ("", "cardWrite(0, 0, 0, 1); cardReg(0, 1); (void)cardReg(0, 2);"),
    "initialiser, expression, argument": (
        "static int f(int a, int b) { return a + b; }",
        "int x = 2 * cardReg(0, 1) + f(cardReg(0, 2), cardWrite(0, 0, 0, 1)); x += x ? cardReg(0, 3) : cardReg(0, 4);",
    ),
    "call inside a call": ("", "cardWrite(0, 0, cardReg(0, cardReg(0, 5)), cardReg(0, 6));"),
    "condition of if, while, for, do, switch": (
        "",
        "if (cardReg(0, 1)) ; while (!cardReg(0, 0)) ; for (int i = 0; i < (int)cardReg(0, 3); i++) ;\n"
        "do ; while (!cardReg(0, 0)); switch (cardReg(0, 2)) { case 2: cardReg(0, 1); default: cardReg(0, 1); }",
    ),
    "short circuit, comma, return": (
        "static int g(void) { return cardReg(0, 3) ? cardReg(0, 4) : 0; }",
        "int x = cardReg(0, 1) || cardReg(0, 2); x = (cardReg(0, 1), g()); x = !cardReg(0, 1) && cardReg(0, 2);",
    ),
    "callee in brackets, * and &": ("", "(cardReg)(0, 1); (*cardReg)(0, 1); (&cardReg)(0, 1); (**cardReg)(0, 1);"),
    "argument of a macro": (
        "#include <assert.h>\n#define TWICE(e) ((e) + (e))\n#define TRY(e) do { if (!(e)) return 1; } while (0)",
        "TRY(cardReg(0, 1)); TRY(TWICE(cardReg(0, 2)) == 4); assert(cardReg(0,\n 3));",
    ),
    "macro of the project": (
        "#define POLL(a) cardReg(0, a)\n#define BOTH (POLL(1) + POLL(2))\n#define PUT cardWrite",
        "POLL(1); int x = BOTH; PUT(0, 0, 0, 1); if (POLL(3)) x = POLL(4) + POLL(5);",
    ),
    "macro of the API": ("", "cardPeek(0, 1); int x = cardPeek(0, cardPeek(0, 2)) + 1; (void)x;"),
    "header of the project": ("", "fromHeader(3);"),
    "variable number of arguments": ("", "cardControl(0, 1); cardControl(0, 2, 3); cardControl(0, 3, 1.5, &main);"),
    "function pointer": (
        "static uint32_t (*reg)(int, uint32_t) = cardReg;",
        "reg(0, 1); uint32_t (*again)(int, uint32_t) = &cardReg; again(0, 2); if (again == reg) again(0, 3);",
    ),
    "table of operations": (
        "static const struct { int (*write)(int, const uint32_t *, uint32_t, int); } ops = { cardWrite };",
        "ops.write(0, 0, 0, 1); (*ops.write)(0, 0, 0, 1);",
    ),
    "threads": (
        "#include <pthread.h>\nstatic void *t(void *n) { for (int i = 0; i < 2000; i++) cardReg(0, 1); return n; }",
        "pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0); pthread_join(a, 0);"
        "pthread_join(b, 0);",
    ),
    "not a call: sizeof, typeof, text, #if 0": (
        "#if 0\nint never(void) { return cardReg(0, 1); }\n#endif",
        '__typeof__(cardReg(0, 1)) x = sizeof(cardReg(0, 2)); const char *s = "cardReg(0, 1)"; // cardReg(0, 1)\n'
        "(void)s; (void)x; cardReg(0, 1);",
    ),
    "name pasted together": ("#define CARD(x) card##x", "CARD(Reg)(0, 1);"),
    "memory-mapped access, volatile": (
        "#define REG(base, n) (base)[n]",
        "volatile uint32_t *m = cardMap(0, 64); accessed(8); m[1] = 2; *m += m[1]; (void)*((volatile uint8_t *)m + 4);"
        "\nREG(m, 2)++; REG(m, 3) = 1;",
    ),
    "memory-mapped access, its pointer followed": (
        "struct regs { uint32_t go, done; };\nstatic uint32_t done(const struct regs *of) { return of->done; }",
        "struct regs *m = cardMap(0, 64); accessed(5); m->go = 3; (&m->go)[1] = 1; m->go |= done(m);",
    ),
    "memory-mapped access, by others": (
        "#include <string.h>\n#define PUT(base, value) (*(volatile uint32_t *)(base) = (value))",
        "void *m = cardMap(0, 64); accessed(2); PUT(m, 1); memset(m, 0, 4);",
    ),
    "inside a macro of the API": ("", "cardAwait(0);"),
}
USER_HEADER = (
    '#include "card.h"\nstatic inline void fromHeader(int n)\n'
    "{\n    for (int i = 0; i < n; i++)\n        cardWrite(0, 0, cardReg(0, 1), i);\n}\n"
)


def measure(folder: Path, kind: str) -> dict[str, object]:
    """Instrument, build and run one program."""
    api, root = folder / "api", folder / kind.replace(" ", "_").replace("*", "x")
    root.mkdir()
    before, body = PROGRAMS[kind]
    (root / "user.h").write_text(USER_HEADER)
    (root / "main.c").write_text(f'#include "user.h"\n{before}\nint main(void)\n{{\n{body}\nreturn 0;\n}}\n')
    entries = tuple(HostEntry(prototype=text, kind=kind_) for text, kind_ in ENTRIES) + MAPPED
    platform = Platform(schema_version=1, name="card", host=Host(include_lines=('"card.h"',), entries=entries))
    host = HostSources(sources=("main.c",), include_dirs=(str(api),))
    build = CLanguage().instrument(root, host, platform, {}, root / "build")
    raw = root / "raw"
    raw.mkdir()
    environment = {**os.environ, "RCW_RAW": str(raw), "CARD_CALLS": str(root / "calls")}
    sources = [*build.sources, *build.extra_sources, api / "card.c"]
    flags = ["-O1", "-w", f"-I{api}", *(f"-I{folder}" for folder in build.include_dirs)]
    subprocess.run(["gcc", *flags, *sources, "-o", root / "program", "-pthread"], check=True)
    subprocess.run([root / "program"], env=environment, check=True)
    made = int((root / "calls").read_text())
    stats = read_stats(raw)
    return {
        "kind": kind, "true": made, "recorded": stats.count if stats else 0, "reported": len(build.missed),
    }  # fmt: skip


def measure_cpp(root: Path, compiler: Sequence[str], flags: Sequence[str]) -> list[dict[str, object]]:
    """Instrument, build and run the program in C++; what it prints must be what it prints without."""
    root.mkdir()
    (root / "card.hpp").write_text(call_coverage_cpp.HEADER)
    (root / "card.cc").write_text(call_coverage_cpp.LIBRARY)
    text, places = call_coverage_cpp.program()
    (root / "main.cpp").write_text(text)
    platform = Platform(
        schema_version=2, name="card", host=Host(include_lines=('"card.hpp"',), entries=call_coverage_cpp.ENTRIES)
    )
    standard = tuple(flag for flag in flags if flag.startswith("-std"))
    build = CLanguage().instrument(
        root, HostSources(sources=("main.cpp",), flags=standard), platform, {}, root / "build"
    )
    raw = root / "raw"
    raw.mkdir()
    objects = []
    for source in build.extra_sources:
        objects.append(root / f"{source.stem}.o")
        subprocess.run(["gcc", "-O2", "-w", "-c", source, "-o", objects[-1]], check=True)
    shown = []
    for name, sources in (("plain", [root / "main.cpp"]), ("program", [*build.sources, *objects])):
        command = [*compiler, *flags, "-w", f"-I{root}", *sources, root / "card.cc", "-o", root / name, "-pthread"]
        subprocess.run(command, check=True)
        environment = {**os.environ, "RCW_RAW": str(raw)} if name == "program" else None
        shown.append(subprocess.run([root / name], env=environment, check=True, capture_output=True, text=True).stdout)
    if shown[0] != shown[1]:
        raise SystemExit(f"the instrumented program prints something else:\n{shown[1]}")
    made = [int(line.split()[0]) for line in shown[0].splitlines()]
    lines: Counter[int | None] = Counter()
    stats = read_stats(raw)
    for row in (row for thread in (stats.threads if stats else ()) for row in thread.rows):
        lines[build.sites[row["site"]].line] += int(row["count"])
    missed = Counter(one.line for one in build.missed)
    return [
        {"kind": f"C++: {kind}", "true": true, "recorded": sum(lines[n] for n in place),
         "reported": sum(missed[n] for n in place)}
        for (kind, place), true in zip(places.items(), made, strict=True)
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--cxx", default="g++", help="the C++ compiler", metavar="COMMAND")
    parser.add_argument("--flags", default="-O1", help="its flags, such as '-O2 -std=c++11'")
    parser.add_argument("--quick", action="store_true", help="of C the first three kinds only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        api = Path(name) / "api"
        api.mkdir()
        (api / "card.h").write_text(HEADER)
        (api / "card.c").write_text(LIBRARY)
        rows = [measure(Path(name), kind) for kind in list(PROGRAMS)[: 3 if arguments.quick else None]]
        rows += measure_cpp(Path(name) / "cpp", shlex.split(arguments.cxx), shlex.split(arguments.flags))
    if arguments.json:
        print(json.dumps({"rows": rows}, indent=2))
        return
    print(f"{'kind':58} {'true':>6} {'recorded':>9} {'reported':>9}")
    for row in rows:
        print(f"{row['kind']:58} {row['true']:6} {row['recorded']:9} {row['reported']:9}")


if __name__ == "__main__":
    main()

"""Host programs made at random, of calls and memory-mapped accesses in every kind of statement, which count themselves
what they do; and what recording them comes to."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import yaml
from rc_workbench_plugins.c import CLanguage

from workbench.api.host_stats import read_stats
from workbench.api.records import read_calls
from workbench.model.application import HostSources
from workbench.model.platform import Platform

TEMPLATE = """
schema_version: 2
name: counted
host:
  include_lines: ['#include "counted.h"']
  entries:
    - {prototype: 'void *mapIt(int card, size_t length)', kind: acquire, opens: bar, mapped_bytes: length,
       address: '0'}
    - {prototype: 'uint32_t put(int site, uint32_t value, int bytes)', kind: send, bytes: bytes,
       address: '100000 + site'}
    - {prototype: 'uint32_t get(int site, int bytes)', kind: receive, subtype: odd, condition: bytes & 1, bytes: bytes,
       address: '100000 + site'}
    - {prototype: 'uint32_t get(int site, int bytes)', kind: receive, subtype: even, bytes: bytes,
       address: '100000 + site'}
    - {access: read, of: bar, kind: receive}
    - {access: write, of: bar, kind: send}
"""
HEADER = """
#ifndef COUNTED_H
#define COUNTED_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
enum { SITES = 4000 };
void *mapIt(int card, size_t length);
uint32_t put(int site, uint32_t value, int bytes);
uint32_t get(int site, int bytes);
void did(int site, int reads, int writes);
#ifdef __cplusplus
}
#endif
#endif
"""
LIBRARY = """
#include "counted.h"
#include <stdio.h>
#include <stdlib.h>
static long calls[SITES], bytes_of[SITES], reads_of[SITES], writes_of[SITES];
static void add(long *to, long n) { __atomic_fetch_add(to, n, __ATOMIC_SEQ_CST); }
void *mapIt(int card, size_t length) { (void)card; return calloc(1, length); }
static void called(int site, int bytes) { add(&calls[site], 1); add(&bytes_of[site], bytes); }
uint32_t put(int site, uint32_t value, int bytes) { called(site, bytes); return value + 1; }
uint32_t get(int site, int bytes) { called(site, bytes); return (uint32_t)site; }
void did(int site, int reads, int writes) { add(&reads_of[site], reads); add(&writes_of[site], writes); }
__attribute__((destructor)) static void say(void)
{
    FILE *to = fopen(getenv("COUNTED"), "w");
    for (int i = 0; i < SITES; i++)
        if (calls[i] || reads_of[i] || writes_of[i])
            fprintf(to, "%d %ld %ld %ld %ld\\n", i, calls[i], bytes_of[i], reads_of[i], writes_of[i]);
    fclose(to);
}
"""
BEGIN = """
#include "counted.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
static volatile uint32_t *card;
static __thread uint32_t work = 1;
static __thread jmp_buf back;
#define PUT(site, value) put(site, value, 8)
#define BOTH(site, other) (get(site, 3) + PUT(other, work))
#define REG(site) (card[site])
#define TWICE(e) ((e) + (e))
static inline uint32_t wrote(int site, uint32_t value) { did(site, 0, 1); return value; }
static inline uint32_t at(volatile uint32_t *from, int site) { return from[site]; }
"""


@dataclass
class Maker:
    """Writes functions f0, f1, ..., each of which may call those before it."""

    random: Random
    cpp: bool
    sites: int = 0
    functions: list[str] = field(default_factory=list)

    def site(self) -> int:
        self.sites += 1
        return self.sites

    def value(self, depth: int) -> str:
        """An expression with calls or reads in it, or none."""
        kinds = ["0", "work", "get", "put", "read", "macro", "twice", "sum", "choice", "and", "function"]
        kind = self.random.choice(kinds if depth < 3 else kinds[:5])
        s = self.site()
        if kind == "get":
            return f"get({s}, {self.random.randint(0, 9)})"
        if kind == "put":
            return f"put({s}, {self.value(depth + 1)}, 4)"
        if kind == "read":
            form = self.random.choice(["card[{s}]", "*(card + {s})", "REG({s})", "at(card, {s})"])
            return f"(did({s}, 1, 0), {form.format(s=s)})"
        if kind == "macro":
            return f"BOTH({s}, {self.site()})"
        if kind == "twice":
            return f"TWICE({self.value(depth + 1)})"
        if kind == "sum":
            return f"({self.value(depth + 1)} + {self.value(depth + 1)})"
        if kind == "choice":
            return f"({self.value(depth + 1)} % 2 ? {self.value(depth + 1)} : {self.value(depth + 1)})"
        if kind == "and":
            return f"(uint32_t)({self.value(depth + 1)} % 3 && {self.value(depth + 1)})"
        if kind == "function" and self.functions:
            return f"f{self.random.randrange(len(self.functions))}({self.value(depth + 1)} % 4)"
        return kind if kind in ("0", "work") else "1"

    def statement(self, depth: int) -> str:
        kinds = ["assign", "assign", "write", "update", "step", "call", "pointer", "for", "while", "do", "if", "switch",
                 "return", "jump", "goto", *(["try", "lambda", "object"] if self.cpp else [])]  # fmt: skip
        kind = self.random.choice(kinds[:7] if depth > 3 else kinds)
        s, inner = self.site(), depth + 1
        pragma = f"\n#pragma recap p{s} send(data, top.core, m){self.random.choice(['', ': n % 2'])}\n"
        marked = pragma if self.random.random() < 0.2 else ""
        if kind == "assign":
            return f"work += {self.value(0)};"
        if kind == "write":
            place = self.random.choice(["card[%d]", "*(card + %d)", "REG(%d)"]) % s
            return f"{place} = wrote({s}, {self.value(1)});"
        if kind == "update":
            operator = self.random.choice(["+=", "|=", "^=", "-="])
            return f"did({s}, 1, 1); card[{s}] {operator} {self.random.choice(['work', '7', 'n'])};"
        if kind == "step":
            return f"did({s}, 1, 1); {self.random.choice(['card[%d]++', '++REG(%d)', '(*(card + %d))--']) % s};"
        if kind == "call":
            return f"{marked}put({s}, work, {self.random.randint(0, 64)});"
        if kind == "pointer":
            return f"{{ uint32_t (*by)(int, int) = get; work += by({s}, 5); }}"
        if kind == "for":
            return f"for (int i{s} = 0; i{s} < {self.random.randint(0, 4)}; i{s}++) {{ {self.block(inner)} }}"
        if kind == "while":
            return f"for (int i{s} = 3;;) {{ if (get({s}, 2) > 4000u || i{s}-- == 0) break; {self.block(inner)} }}"
        if kind == "do":
            return f"{{ int i{s} = 2; do {{ {self.block(inner)} }} while ({self.value(1)} % 2 && i{s}-- > 0); }}"
        if kind == "if":
            otherwise = f" else {{ {self.block(inner)} }}" if self.random.random() < 0.5 else ""
            return f"if ({self.value(0)} % 2) {{ {self.block(inner)} }}{otherwise}"
        if kind == "switch":
            cases = " ".join(
                f"case {n}: {{ {self.block(inner)} }} {self.random.choice(['break;', ''])}" for n in range(3)
            )
            return f"switch ({self.value(0)} % 4) {{ {cases} default: ; }}"
        if kind == "return":
            return f"if (n == {self.random.randint(0, 3)}) return {self.value(1)};"
        if kind == "jump":
            return f"if (depth && n == 3) {{ depth = 0; longjmp(back, 1); }} work += {self.value(1)};"
        if kind == "goto":
            return f"if (work % 3 == 0) goto over{s}; {self.block(inner)} over{s}: ;"
        if kind == "try":
            throws = f"if (work % 2) throw (int)get({s}, 1);"
            return f"try {{ {self.block(inner)} {throws} }} catch (int e) {{ work += (uint32_t)e; }}"
        if kind == "lambda":
            return f"{{ auto by = [&](uint32_t a) {{ return a + {self.value(1)}; }}; work += by({self.value(1)}); }}"
        return f"{{ Guard g{s}({s}); {self.block(inner)} }}"

    def block(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.random.randint(1, 3)))

    def program(self, functions: int) -> str:
        guard = ("struct Guard { int at; Guard(int s) : at(s) { put(at, work, 2); } ~Guard() { get(at, 2); } };\n"
                 if self.cpp else "")  # fmt: skip
        for number in range(functions):
            body = "\n".join(self.statement(0) for _ in range(self.random.randint(2, 5)))
            self.functions.append(
                f"static uint32_t f{number}(uint32_t n)\n{{\n(void)n;\n{body}\nreturn work + n;\n}}\n"
            )
        last = len(self.functions) - 1
        calls = "\n".join(
            f"if (!setjmp(back)) {{ depth = 1; work += f{self.random.randint(0, last)}({n}); }} depth = 0;"
            for n in range(4)
        )
        return (
            f"{BEGIN}static __thread int depth;\n{guard}{''.join(self.functions)}"
            f"static void *run(void *of)\n{{\n{calls}\nreturn of;\n}}\n"
            "int main(void)\n{\ncard = (volatile uint32_t *)mapIt(0, 4 * SITES);\npthread_t other;\n"
            "pthread_create(&other, NULL, run, NULL);\npthread_join(other, NULL);\nrun(NULL);\n"
            'printf("%u\\n", work);\nreturn 0;\n}\n'
        )


@dataclass(frozen=True)
class Held:
    """What recording one program came to: (id, calls, bytes, reads, writes) that it counted, and that were recorded."""

    sites: int
    truth: list[tuple[int, ...]]
    recorded: list[tuple[int, ...]]
    counted: int
    missed: tuple[str, ...]
    same_output: bool


def hold(root: Path, text: str, cpp: bool, compiler: list[str], flags: list[str]) -> Held:
    """Instrument, build and run a program."""
    root.mkdir(parents=True)
    name = "main.cpp" if cpp else "main.c"
    for file, content in (("counted.h", HEADER), ("counted.c", LIBRARY), (name, text)):
        (root / file).write_text(content)
    platform = Platform.model_validate(yaml.safe_load(TEMPLATE))
    build = CLanguage().instrument(root, HostSources(sources=(name,)), platform, {}, root / "build")
    outputs = []
    for kind, sources in (("plain", [root / name]), ("recorded", [*build.sources, *build.extra_sources])):
        objects = []
        for number, source in enumerate([*sources, root / "counted.c"]):
            objects.append(root / f"{kind}_{number}.o")
            command = [*compiler, *flags, "-w", "-g", f"-I{root}", "-c", source, "-o", objects[-1]]
            subprocess.run(command, check=True, capture_output=True)
        linked = [*compiler, *flags, *objects, "-o", root / kind, "-pthread", *(["-lstdc++"] if cpp else [])]
        subprocess.run(linked, check=True, capture_output=True)
        environment = {**os.environ, "COUNTED": str(root / f"{kind}.txt")}
        if kind == "recorded":
            (root / "raw").mkdir()
            environment |= {"RCW_RAW": str(root / "raw"), "RCW_TRACE": "1", "RCW_CARD_FD": "99"}
        outputs.append(
            subprocess.run([root / kind], env=environment, check=True, capture_output=True, timeout=60).stdout
        )
    truth = [tuple(map(int, line.split())) for line in (root / "recorded.txt").read_text().splitlines()]
    found: dict[int, Counter[str]] = {}
    calls = read_calls(root / "raw").at()
    for entry, address, size in zip(
        calls["entry"].tolist(), calls["address"].tolist(), calls["bytes"].tolist(), strict=True
    ):
        name = build.entries[entry].name
        if name == "memory read" or name == "memory write":
            found.setdefault(address // 4, Counter())[name] += size // 4
        elif name in ("put", "get"):
            found.setdefault(address - 100000, Counter()).update({"calls": 1, "bytes": size})
    columns = ("calls", "bytes", "memory read", "memory write")
    recorded = [(site, *(found[site][column] for column in columns)) for site in sorted(found)]
    stats = read_stats(root / "raw")
    return Held(len(build.sites), truth, recorded, (stats.count if stats else 0) - len(calls),
                tuple(str(one) for one in build.missed), outputs[0] == outputs[1])  # fmt: skip

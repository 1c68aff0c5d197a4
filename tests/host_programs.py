"""Host programs made at random, of calls and memory-mapped accesses in every kind of expression and statement, which
count themselves what they do; and what recording them comes to.

A kind is a text: `{s}`, `{t}` and `{u}` are places of the program's own (one each within a text), `{v}` is any
expression, `{b}` any statements, `{n}` a small number.
"""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import yaml
from rc_workbench_plugins.c import CLanguage

from workbench.api import HostBuild
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
    - {prototype: 'void poke(int site, int bytes)', kind: send, bytes: bytes, address: '100000 + site'}
    - {prototype: 'uint32_t say(int site, int bytes, ...)', kind: send, bytes: bytes, address: '100000 + site'}
    - {prototype: 'struct pair give(int site, struct pair two, int bytes)', kind: send, bytes: bytes,
       address: '100000 + site'}
    - {prototype: 'uint32_t apply(int site, uint32_t (*by)(int, int), int inner, int bytes)', kind: other,
       bytes: bytes, address: '100000 + site'}
    - {prototype: 'uint32_t peek(int site, int bytes)', kind: receive, bytes: bytes, address: '100000 + site'}
    - {access: read, of: bar, kind: receive}
    - {access: write, of: bar, kind: send}
"""
TEMPLATE_IN_CPP = """
#include <initializer_list>
    - {prototype: 'uint32_t counted::send(int site, uint32_t value, int bytes = 4)', kind: send, bytes: bytes,
       address: '100000 + site'}
    - {prototype: 'uint32_t counted::send(int site, const pair &two)', kind: send, bytes: sizeof two,
       address: '100000 + site'}
    - {prototype: 'uint32_t counted::board::fetch(int site, int bytes) const', kind: receive, bytes: bytes,
       address: '100000 + site'}
    - {prototype: 'uint32_t counted::board::poll(int site, int bytes = 4)', kind: receive, bytes: bytes,
       address: '100000 + site'}
    - {prototype: 'template <class T> T counted::board::take(int site, T than)', kind: receive, bytes: sizeof than,
       address: '100000 + site'}
    - {prototype: 'uint32_t counted::board::operator[](int site) const', kind: receive, bytes: '4',
       address: '100000 + site'}
    - {prototype: 'counted::board &counted::board::operator<<(int site)', kind: send, bytes: '2',
       address: '100000 + site'}
"""
HEADER = """
#ifndef COUNTED_H
#define COUNTED_H
#include <stddef.h>
#include <stdint.h>
enum { SITES = 8000 };
struct pair { uint32_t a, b; };
#ifdef __cplusplus
extern "C" {
#endif
void *mapIt(int card, size_t length);
uint32_t put(int site, uint32_t value, int bytes);
uint32_t get(int site, int bytes);
void poke(int site, int bytes);
uint32_t say(int site, int bytes, ...);
struct pair give(int site, struct pair two, int bytes);
uint32_t apply(int site, uint32_t (*by)(int, int), int inner, int bytes);
uint32_t peekNow(int site, int bytes);
#define peek(site, bytes) peekNow((site), (bytes))
void did(int site, int reads, int writes);
uint32_t shown(const char *text);
uint32_t called(int site, int bytes);
#ifdef __cplusplus
}
namespace counted {
inline uint32_t send(int site, uint32_t value, int bytes = 4) { return called(site, bytes) + value; }
inline uint32_t send(int site, const pair &two) { return called(site, sizeof two) + two.a; }
struct board {
    uint32_t number;
    uint32_t fetch(int site, int bytes) const { return called(site, bytes) + number; }
    virtual uint32_t poll(int site, int bytes = 4) { return called(site, bytes) + number; }
    template <class T> T take(int site, T than) { return (T)called(site, sizeof than) + than; }
    uint32_t operator[](int site) const { return called(site, 4); }
    board &operator<<(int site) { called(site, 2); return *this; }
    board(uint32_t number) : number(number) {}
    virtual ~board() {}
};
struct fast : board {
    uint32_t poll(int site, int bytes = 4) override { return called(site, bytes) * 2; }
    fast() : board(2) {}
};
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
uint32_t called(int site, int bytes) { add(&calls[site], 1); add(&bytes_of[site], bytes); return (uint32_t)site; }
uint32_t put(int site, uint32_t value, int bytes) { called(site, bytes); return value + 1; }
uint32_t get(int site, int bytes) { return called(site, bytes); }
void poke(int site, int bytes) { called(site, bytes); }
uint32_t say(int site, int bytes, ...) { return called(site, bytes) + 3; }
struct pair give(int site, struct pair two, int bytes) { two.b = called(site, bytes); return two; }
uint32_t apply(int site, uint32_t (*by)(int, int), int inner, int bytes)
{
    called(site, bytes);
    return by(inner, bytes) + 1;
}
uint32_t peekNow(int site, int bytes) { return called(site, bytes); }
void did(int site, int reads, int writes) { add(&reads_of[site], reads); add(&writes_of[site], writes); }
uint32_t shown(const char *text) { printf("%s\\n", text); return 0; }
__attribute__((destructor)) static void say_all(void)
{
    FILE *to = fopen(getenv("COUNTED"), "w");
    for (int i = 0; i < SITES; i++)
        if (calls[i] || reads_of[i] || writes_of[i])
            fprintf(to, "%d %ld %ld %ld %ld\\n", i, calls[i], bytes_of[i], reads_of[i], writes_of[i]);
    fclose(to);
}
"""
#: what the functions in the header, and in both sources, are written with
PARTS = """
#pragma once
#include "counted.h"
#include <setjmp.h>
#include <stdio.h>
#ifdef __cplusplus
#define SHARED extern "C"
#else
#define SHARED extern
#endif
SHARED volatile uint32_t *card;
extern __thread uint32_t work;
extern __thread jmp_buf back;
extern __thread int depth;
struct reg { volatile uint32_t value; };
enum colour { RED, GREEN };
#define PUT(site, value) put(site, value, 8)
#define BOTH(site, other) (get(site, 3) + PUT(other, work))
#define REG(site) (card[site])
#define TWICE(e) ((e) + (e))
#define CALL(function, ...) function(__VA_ARGS__)
#define WRAP(e) TWICE(CALL(same, (e)))
#define SHOWN(e) (shown(#e), (e))
#define SITE(name) site_##name
static inline uint32_t same(uint32_t value) { return value; }
static inline uint32_t wrote(int site, uint32_t value) { did(site, 0, 1); return value; }
static inline uint32_t at(volatile uint32_t *from, int site) { return from[site]; }
static inline uint32_t plain(const uint32_t *from) { return *from; }
static inline uint32_t again(int site, uint32_t n) { return n ? get(site, 1) + again(site, n - 1) : put(site, n, 2); }
static inline uint32_t own(int site, int bytes) { return get(site, bytes) + 1; }
typedef uint32_t (*reads)(int, int);
"""
POINTERS = """
static const struct operations { reads get; uint32_t (*put)(int, uint32_t, int); } ops = {get, put};
static const reads table[] = {get, own, get};
"""
IN_CPP = """
#include <initializer_list>
struct Guard { int at; Guard(int s) : at(s) { put(at, work, 2); } ~Guard() { get(at, 2); } };
template <class T> inline T made(int site, T than) { return (T)get(site, (int)sizeof than) + than; }
template <class... A> inline uint32_t sum(int site, A... all)
{
    uint32_t each[] = {put(site, (uint32_t)all, 1)...};
    return each[0] + sizeof...(all);
}
template <int N> struct Holds {
    uint32_t own = get(N, 2);
    uint32_t twice() const { return own + put(N, own, N & 7); }
};
inline uint32_t usual(int site, uint32_t value = put(0, work, 5)) { return get(site, 1) + value; }
"""
IN_CPP20 = """
#include <coroutine>
struct Steps {
    struct promise_type {
        uint32_t now = 0;
        Steps get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(uint32_t value) { now = value; return {}; }
        void return_void() {}
        void unhandled_exception() { throw; }
    };
    std::coroutine_handle<promise_type> its;
    uint32_t sum()
    {
        uint32_t all = 0;
        while (its.resume(), !its.done())
            all += its.promise().now;
        its.destroy();
        return all;
    }
};
"""

#: expressions by what they are in: "" for C and C++, "c", "c++" or a year of C++ from which on they are; "api": with
#: calls of the API in C++, "wrapped": with none
VALUES = (
    ("", "0u"), ("", "work"), ("", "1u"),
    ("", "get({s}, {n})"), ("", "put({s}, {v}, 4)"), ("", "get({s}, (int)({v} % 9))"), ("wrapped", "peek({s}, {n})"),
    ("", "put({s}, get({t}, 1) + say({t}, 2), (int)get({u}, 3) % 7)"), ("", "say({s}, 3)"),
    ("", "say({s}, 2, work > 1, GREEN, {v} % 2 == 1)"), ("c++", "say({s}, 1, nullptr, true, L'x')"),
    ("", "say({s}, {n}, {v}, 1.5, \"text, get(1, 2)\", 'c', &work)"), ("c", "give({s}, (struct pair){{1, {v}}}, 2).b"),
    ("c++", "give({s}, pair{{1, {v}}}, 2).b"), ("wrapped", "apply({s}, get, {t}, 3)"),
    ("wrapped", "apply({s}, own, {t}, 1)"),
    ("", "(did({s}, 1, 0), card[{s}])"), ("", "(did({s}, 1, 0), *(card + {s}))"), ("", "(did({s}, 1, 0), REG({s}))"),
    ("", "(did({s}, 1, 0), at(card, {s}))"), ("", "(did({s}, 1, 0), {s}[card])"),
    ("", "(did({s}, 1, 0), (&card[0])[{s}])"),
    ("", "(did({s}, 1, 0), ((struct reg *)(card + {s}))->value)"),
    ("", "(did({s}, 1, 0), plain((uint32_t *)card + {s}))"),
    ("", "(did({s}, 1, 1), card[{s}]++)"), ("", "(did({s}, 1, 1), --*(card + {s}))"),
    ("", "(did({s}, 0, 1), card[{s}] = {v})"), ("wrapped", "BOTH({s}, {t})"), ("", "TWICE({v})"),
    ("wrapped", "CALL(get, {s}, {n})"),
    ("", "WRAP({v})"), ("", "SHOWN(work + {n})"), ("wrapped", "ops.get({s}, 3)"),
    ("wrapped", "(*ops.put)({s}, {v}, 1)"),
    ("wrapped", "table[({v}) % 3]({s}, 5)"), ("", "again({s}, {n} % 3)"), ("", "({v} + {v})"), ("", "({v}, {v})"),
    ("", "({v} % 2 ? {v} : {v})"), ("", "(uint32_t)({v} % 3 && {v})"), ("", "(uint32_t)!({v} || {v})"),
    ("", "(uint32_t)__builtin_expect({v}, 0)"), ("", "(uint32_t)sizeof(get({s}, 1))"), ("", "(poke({s}, {n}), {v})"),
    ("", "__extension__({{ uint32_t t{s} = {v}; work ? poke({s}, 1) : (void)0; t{s}; }})"),
    ("c", "_Generic(get({s}, 1), uint32_t: put({t}, 1, 2), default: 0)"), ("c", "((uint32_t[]){{{v}, {v}}}[{v} % 2])"),
    ("c", "((struct pair){{.a = {v}, .b = {v}}}).a"), ("", "f({v} % 4)"),
    ("c++", "[&](uint32_t a) {{ return a + {v}; }}({v})"), ("c++", "[=]() -> uint32_t {{ return get({s}, 2); }}()"),
    ("c++", "(uint32_t)made<uint16_t>({s}, 2)"), ("c++", "sum({s}, 1, 2u, 'c')"), ("c++", "Holds<{s}>().twice()"),
    ("c++", "usual({s})"), ("c++", "usual({s}, {v})"), ("c++", "(pair{{{v}, {v}}}.b)"),
    ("c++", "static_cast<uint32_t>({v})"),
    ("c++", "(uint32_t)noexcept(get({s}, 1))"),
    ("c++", "((decltype(get({s}, 1)))7 + (__typeof__(put({s}, 1, 1) + card[{s}]))2)"),
    ("c++", "(uint32_t)R\"(get(1, 2))\"[0]"),
    ("14", "[a = {v} + 1](auto b) {{ return a + b + get({s}, 1); }}({v})"),
    ("17", "[&] {{ if constexpr (sizeof(work) == 4) return get({s}, 1); else return put({s}, 1, 1); }}()"),
    ("20", "[]<class T>(T a) {{ return get({s}, 1) + a; }}({v})"), ("20", "[](int s) -> Steps {{ co_yield get(s, 1); "
     "for (int i = 0; i < 2; i++) co_yield put(s, work, i); }}({s}).sum()"),
    ("api", "counted::send({s}, {v}, 3)"), ("api", "counted::send({s}, {v})"),
    ("api", "counted::send({s}, pair{{1, {v}}})"),
    ("api", "board.fetch({s}, {n})"), ("api", "board.poll({s})"), ("api", "(&board)->poll({s}, {n})"),
    ("api", "board.take({s}, {v})"), ("api", "(uint32_t)board.take<uint16_t>({s}, 3)"), ("api", "board[{s}]"),
    ("api", "(board << {s} << {t}).fetch({u}, 1)"), ("api", "counted::board({v}).fetch({s}, 2)"),
    ("api", "[&] {{ counted::fast f; counted::board &b = f; return b.poll({s}) + f.poll({t}, 2) + f[{u}]; }}()"),
)  # fmt: skip
STATEMENTS = (
    ("", "work += {v};"), ("", "work ^= {v} * 3;"), ("", "REG({s}) = wrote({s}, {v});"),
    ("", "card[{s}] = wrote({s}, {v});"),
    ("", "did({s}, 1, 1); card[{s}] {op} {v};"), ("", "did({s}, 1, 1); REG({s})++;"),
    ("", "did({s}, 1, 1); ++*(card + {s});"),
    ("", "did({s}, 0, 1); did({t}, 0, 1); card[{s}] = card[{t}] = work;"), ("", "{pragma}put({s}, work, {n});"),
    ("", "{pragma}poke({s}, {n});"), ("", "(void)get({s}, {n});"),
    ("wrapped", "{{ reads by = get; work += by({s}, 5); }}"),
    ("", "{{ volatile uint32_t *p = card + {s}; did({s}, 1, 1); *p = *p + 1; }}"),
    ("", "{{ struct reg *p = (struct reg *)&card[{s}]; did({s}, 1, 1); p->value |= {v}; }}"),
    ("", "{{ uint32_t all[] = {{{v}, {v}}}; all[get({s}, 1) & 1] += {v}; work += all[0] ^ all[1]; }}"),
    ("c", "{{ struct pair p = {{.b = {v}, .a = {v}}}; work += p.a - p.b; }}"),
    ("c", "{{ char some[get({s}, 3) % 7 + 1]; work += (uint32_t)sizeof some; }}"),
    ("c", "{{ void *to = {v} % 2 ? &&a{s} : &&b{s}; goto *to; a{s}: {b} b{s}: work += {v}; }}"),
    ("", "{{ static uint32_t n{s}; work += n{s}++ + get({s}, 1); }}"),
    ("", "printf(\"%d %s\\n\", __LINE__, __func__);"), ("", "for (int i{s} = 0; i{s} < {n} % 4; i{s}++) {{ {b} }}"),
    ("", "for (uint32_t i{s} = {v} & 1; i{s} < 3 && get({t}, 2) + 1; i{s} += 1 + (put({u}, work, 1) & 1)) {{ {b} }}"),
    ("", "for (int i{s} = 3;;) {{ if (get({s}, 2) > 4000u || i{s}-- == 0) break; {b} }}"),
    ("", "for (int i{s} = 3; i{s}-- && {v} % 8;) if (i{s} == 1) continue; else {{ {b} }}"),
    ("", "{{ int i{s} = 2; do {{ {b} }} while ({v} % 2 && i{s}-- > 0); }}"),
    ("", "{{ int i{s} = 3; while (work += {v}, i{s}--) {{ {b} }} }}"),
    ("", "if ({v} % 2) {{ {b} }}"), ("", "if ({v} % 2) poke({s}, 1); else {{ {b} }}"),
    ("", "if ({v} % 2) ; else if ({v}) put({s}, 1, 1);"),
    ("", "switch ({v} % 4) {{ case 0: {b} case 1: {{ {b} }} break; case 2: put({s}, 1, 1); default: ; }}"),
    ("", "switch (get({s}, 1) % 3) case 1: work += {v};"), ("", "if (n == {n}) return {v};"),
    ("", "if (work % 3 == 0) goto over{s}; {b} over{s}: ;"),
    ("", "{{ int i{s} = 2; again{s}: if (get({s}, 1) && i{s}-- > 0) goto again{s}; }}"),
    ("c", "if (depth && n == 3) {{ depth = 0; longjmp(back, 1); }} work += {v};"),
    ("c++", "if (depth && n == 3) {{ depth = 0; throw 7u; }} work += {v};"),
    ("c++", "try {{ {b} if (work % 2) throw (int)get({s}, 1); }} catch (int e) {{ work += (uint32_t)e; }}"),
    ("c++", "try {{ Guard g{s}({s}); try {{ {b} throw get({t}, 1); }} catch (...) {{ put({u}, 1, 1); throw; }} }} "
     "catch (uint32_t e) {{ work += e; }}"),
    ("c++", "{{ auto by = [&](uint32_t a) {{ return a + {v}; }}; work += by({v}); }}"),
    ("c++", "{{ Guard g{s}({s}); {b} }}"), ("c++", "if (uint32_t x{s} = {v}) {{ work += x{s}; {b} }}"),
    ("c++", "for (int i{s} = 3; bool on = i{s}-- && {v} % 8;) {{ work += on; {b} }}"),
    ("c++", "for (uint32_t x{s} : {{{v}, {v}, get({s}, 1)}}) {{ work += x{s}; {b} }}"),
    ("c++", "{{ auto *g{s} = new Guard({s}); {b} delete g{s}; }}"),
    ("c++", "{{ struct local {{ uint32_t x; local(uint32_t a) : x(a + get({s}, 1)) {{}} "
     "uint32_t y() {{ return put({t}, x, 1); }} }}; work += local({v}).y(); }}"),
    ("c++", "{{ static const uint32_t x{s} = {v}; work += x{s}; }}"),
    ("17", "if (auto x{s} = {v}; x{s} % 2) {{ {b} }} else work += x{s};"),
    ("17", "{{ auto [a{s}, b{s}] = pair{{{v}, {v}}}; work += a{s} - b{s}; {b} }}"),
    ("17", "{{ const auto &[a{s}, b{s}] = give({s}, pair{{1, {v}}}, 3); work += a{s} + b{s}; }}"),
    ("17", "switch (uint32_t x{s} = {v}) {{ case 0: {b} break; default: work += {v}; }}"),
    ("20", "for (uint32_t n{s} = work; uint32_t x{s} : {{n{s}, {v}}}) work += x{s};"),
    ("api", "board << {s};"), ("api", "{pragma}board.fetch({s}, {n});"),
    ("api", "if (auto x{s} = board[{s}]) {{ work += x{s}; {b} }}"),
)  # fmt: skip
OPERATORS = ("+=", "|=", "^=", "-=")
_SLOT = re.compile(r"\{\{|\}\}|\{(\w+)\}")


@dataclass
class Maker:
    """Writes functions f0, f1, ..., each of which may call those before it. `standard` is 0 for C, or the year of C++;
    `api` says that the API has calls in C++."""

    random: Random
    standard: int = 0
    api: bool = False
    sites: int = 0
    functions: int = 0
    values: list[str] = field(init=False)
    statements: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.values = [text for where, text in VALUES if self.fits(where)]
        self.statements = [text for where, text in STATEMENTS if self.fits(where)]

    def fits(self, where: str) -> bool:
        if where.isdigit():
            return self.standard >= int(where)
        known = {"": True, "wrapped": not self.api, "c": not self.standard, "c++": self.standard > 0, "api": self.api}
        return known[where]

    def filled(self, text: str, depth: int) -> str:
        """A kind's text, with what goes into its slots."""
        own: dict[str, str] = {}

        def slot(match: re.Match[str]) -> str:
            name = match[1]
            if name is None:
                return match[0][0]
            if name in "stu":
                if name not in own:
                    self.sites += 1
                    own[name] = str(self.sites)
                return own[name]
            if name == "v":
                return self.value(depth + 1)
            if name == "b":
                return "\n".join(self.statement(depth + 1) for _ in range(self.random.randint(1, 2)))
            if name == "op":
                return self.random.choice(OPERATORS)
            if name == "pragma":
                condition = self.random.choice(["", ": n % 2"])
                some = f"\n#pragma recap p{self.sites} send(data, top.core, m){condition}\n"
                return some if self.random.random() < 0.2 else ""
            return str(self.random.randint(0, 9))

        return _SLOT.sub(slot, text)

    def value(self, depth: int) -> str:
        """An expression."""
        chosen = self.random.choice(self.values)
        while depth > 4 and "{v}" in chosen:
            chosen = self.random.choice(self.values)
        if chosen.startswith("f("):
            chosen = chosen.replace("f", f"f{self.random.randrange(self.functions)}", 1) if self.functions else "work"
        return self.filled(chosen, depth)

    def statement(self, depth: int) -> str:
        chosen = self.random.choice(self.statements)
        while depth > 2 and "{b}" in chosen:
            chosen = self.random.choice(self.statements)
        return self.filled(chosen, depth)

    def function(self) -> str:
        body = "\n".join(self.statement(0) for _ in range(self.random.randint(3, 6)))
        board = "counted::board board(n);\n" if self.api else ""
        text = f"uint32_t f{self.functions}(uint32_t n)\n{{\n(void)n;\n{board}{body}\nreturn work + n;\n}}\n"
        self.functions += 1
        return text

    def program(self, functions: int) -> dict[str, str]:
        """The files: a header with the first function, a source that has another one, and the one with main."""
        suffix = "cpp" if self.standard else "c"
        extra = IN_CPP + (IN_CPP20 if self.standard >= 20 else "") if self.standard else ""
        parts = PARTS + ("" if self.api else POINTERS) + extra + f"static inline {self.function()}"
        other = f'#include "parts.h"\n{self.function()}'
        rest = "".join(f"static {self.function()}" for _ in range(functions - 2))
        guarded = (
            "try {{ {0} }} catch (unsigned e) {{ work += e; }}" if self.standard else "if (!setjmp(back)) {{ {0} }}"
        )
        runs = "\n".join(
            f"{guarded.format(f'depth = 1; work += f{self.random.randrange(functions)}({n});')} depth = 0;"
            for n in range(5)
        )
        main = (
            '#include "parts.h"\n#include <pthread.h>\nvolatile uint32_t *card;\n__thread uint32_t work = 1;\n'
            "__thread jmp_buf back;\n__thread int depth;\nuint32_t f1(uint32_t n);\n"
            f"{rest}static void *run(void *of)\n{{\n{runs}\nreturn of;\n}}\n"
            "int main(void)\n{\ncard = (volatile uint32_t *)mapIt(0, 4 * SITES);\npthread_t other;\n"
            "pthread_create(&other, NULL, run, NULL);\npthread_join(other, NULL);\nrun(NULL);\n"
            'printf("%u\\n", work);\nreturn 0;\n}\n'
        )
        return {"parts.h": parts, f"main.{suffix}": main, f"other.{suffix}": other}


@dataclass(frozen=True)
class Program:
    """A program, instrumented. `outputs` are what it prints as it is, by the compiler's name."""

    root: Path
    cpp: bool
    sources: tuple[Path, ...]
    build: HostBuild
    outputs: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Held:
    """What recording one program came to: (id, calls, bytes, reads, writes) that it counted, and that were recorded."""

    sites: int
    truth: list[tuple[int, ...]]
    recorded: list[tuple[int, ...]]
    counted: int
    missed: tuple[str, ...]
    same_output: bool

    @property
    def wrong(self) -> str:
        """What is wrong with it; empty where nothing is."""
        if self.missed:
            return self.missed[0]
        if not self.same_output:
            return "its output differs"
        if self.counted:
            return f"{self.counted} calls were counted beside those that were recorded"
        differ = set(self.truth) ^ set(self.recorded)
        return f"places {sorted(one[0] for one in differ)} differ" if differ else ""


def made(root: Path, maker: Maker, functions: int = 3) -> Program:
    """A program, written below `root` and instrumented."""
    root.mkdir(parents=True)
    files = {"counted.h": HEADER, "counted.c": LIBRARY, **maker.program(functions)}
    for file, content in files.items():
        (root / file).write_text(content)
    sources = tuple(name for name in files if name.startswith(("main", "other")))
    platform = Platform.model_validate(yaml.safe_load(TEMPLATE + (TEMPLATE_IN_CPP if maker.api else "")))
    flags = (f"-std=gnu++{maker.standard}",) if maker.standard else ("-std=gnu11",)
    host = HostSources(sources=sources, flags=flags)
    build = CLanguage().instrument(root, host, platform, {}, root / "build")
    return Program(root, maker.standard > 0, tuple(root / name for name in sources), build)


def hold(program: Program, compiler: Sequence[str], flags: Sequence[str], standard: str, kept: Path) -> Held:
    """Build and run a program. `kept` is a folder for the objects of the library and the recorder."""
    root, build = program.root, program.build
    compiled = partial(_compiled, [*compiler, *flags], root)
    language = ("-x", "c++") if program.cpp else ("-x", "c")
    words = (*language, standard)
    folder = root / f"with_{len(list(root.iterdir()))}"
    folder.mkdir()
    key = re.sub(r"\W+", "_", " ".join((*compiler[-2:], *flags)))
    same = [source for source in build.extra_sources if not source.is_relative_to(root)]
    beside = [_kept(kept / key, source, compiled) for source in (root / "counted.c", *same)]
    objects = [compiled(source, folder / f"{n}.o", (*words, *build.flags)) for n, source in enumerate(build.sources)]
    objects += [compiled(source, folder / f"{source.stem}.o", ("-x", "c", *build.flags))
                for source in build.extra_sources if source not in same]  # fmt: skip
    link = ["-pthread", *(["-lstdc++"] if program.cpp else [])]
    _run([*compiler, *flags, *build.flags, *objects, *beside, "-o", folder / "recorded", *link, *build.link_flags])
    (folder / "raw").mkdir()
    environment = {"RCW_RAW": str(folder / "raw"), "RCW_TRACE": "1", "RCW_CARD_FD": "99"}
    printed = _run([folder / "recorded"], COUNTED=str(folder / "recorded.txt"), **environment)
    if key not in program.outputs:
        plain = [compiled(source, folder / f"plain_{n}.o", words) for n, source in enumerate(program.sources)]
        _run([*compiler, *flags, *plain, beside[0], "-o", folder / "plain", *link])
        program.outputs[key] = _run([folder / "plain"], COUNTED=str(folder / "plain.txt"))
    truth = [tuple(map(int, line.split())) for line in (folder / "recorded.txt").read_text().splitlines()]
    found: dict[int, Counter[str]] = {}
    calls = read_calls(folder / "raw").at()
    for entry, address, size in zip(
        calls["entry"].tolist(), calls["address"].tolist(), calls["bytes"].tolist(), strict=True
    ):
        name = build.entries[entry].name
        if name in ("memory read", "memory write"):
            found.setdefault(address // 4, Counter())[name] += size // 4
        elif name != "mapIt":
            found.setdefault(address - 100000, Counter()).update({"calls": 1, "bytes": size})
    columns = ("calls", "bytes", "memory read", "memory write")
    recorded = [(site, *(found[site][column] for column in columns)) for site in sorted(found)]
    stats = read_stats(folder / "raw")
    return Held(len(build.sites), truth, recorded, (stats.count if stats else 0) - len(calls),
                tuple(str(one) for one in build.missed), printed == program.outputs[key])  # fmt: skip


def _compiled(command: list[str], root: Path, source: Path, target: Path, words: Sequence[str]) -> Path:
    _run([*command, *words, "-w", "-g", f"-I{root}", "-c", source, "-o", target])
    return target


def _kept(folder: Path, source: Path, compiled: partial[Path]) -> Path:
    """The object of a source that is the same in all programs."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{source.stem}.o"
    return target if target.is_file() else compiled(source, target, ("-x", "c"))


def _run(command: Sequence[str | Path], **environment: str) -> bytes:
    done = subprocess.run(command, capture_output=True, timeout=300, env={**os.environ, **environment})
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr.decode(errors='replace')}")
    return done.stdout

"""Memory-mapped accesses: each read and write through a pointer into a mapping is recorded, at its site."""

import pytest
import yaml

from workbench.model.platform import Platform

#: `mapCard` maps, `count` is how the tests' programs know what they did themselves
TEMPLATE = """
schema_version: 2
name: mapped
host:
  include_lines: ['#include "card.h"']
  entries:
    - {prototype: 'void *mapCard(int card, size_t length)', kind: acquire, opens: bar, mapped_bytes: length, fpga: card,
       address: '4096'}
    - {prototype: 'int fillCard(int card, uint32_t **at)', kind: acquire, opens: '*at is bar', mapped_bytes: '64',
       address: '4096'}
    - {prototype: 'void unmapCard(void *at)', kind: release, of: bar}
    - {access: read, of: bar, kind: receive, subtype: status, condition: offset == 0, reason: ack}
    - {access: read, of: bar, kind: receive}
    - {access: write, of: bar, kind: send, bytes: size, address: 4096 + offset}
"""
HEADER = """
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static inline void *mapCard(int card, size_t length) { return card < 0 ? NULL : calloc(1, length); }
static inline int fillCard(int card, uint32_t **at) { *at = (uint32_t *)calloc(1, 64); return card; }
static inline void unmapCard(void *at) { (void)at; }
typedef struct { volatile uint32_t ctrl, status; uint32_t data[4]; unsigned bits : 3; volatile float real;
                 void *volatile next; volatile uint8_t byte; struct { volatile uint16_t x; } in; } regs_t;
#define REG(base, offset) (*(volatile uint32_t *)((char *)(base) + (offset)))
#define PUT(base, offset, value) (REG(base, offset) = (value))
"""
#: what is in main -> what is recorded: (r or w, offset, bytes), in order
KINDS = {
    "dereference": ("x = *(volatile uint32_t *)map; *(volatile uint8_t *)(map + 5) = 1;", "r0:4 w5:1"),
    "subscript": ("volatile uint32_t *w = (volatile uint32_t *)map; w[2] = w[1] + w[x]; x = 3[w] + 4[(uint32_t *)map];",
                  "r4:4 r0:4 w8:4 r12:4 r16:4"),
    "arithmetic": ("*((uint32_t *)map + 3) = 7; x = *((volatile uint32_t *)map + 3);", "w12:4 r12:4"),
    "fields": ("regs_t *r = (regs_t *)map; r->ctrl = 1; x = r->status + (*r).in.x; r->data[1] = 2;",
               "w0:4 r4:4 r42:2 w12:4"),
    "compound": ("regs_t *r = (regs_t *)map; r->ctrl |= 6; r->ctrl <<= 2; r->ctrl -= x;",
                 "r0:4 w0:4 r0:4 w0:4 r0:4 w0:4"),
    "steps": ("regs_t *r = (regs_t *)map; x = r->ctrl++; x += --r->ctrl; ++r->status;",
              "r0:4 w0:4 r0:4 w0:4 r4:4 w4:4"),
    "other types": ("regs_t *r = (regs_t *)map; r->real = 2; r->real *= 1.5f; r->next = map; x += r->next == map;\n"
                    "r->byte = (uint8_t)(x + 300); x += r->byte;", "w28:4 r28:4 w28:4 w32:8 r32:8 w40:1 r40:1"),
    "a macro that is the place": ("REG(map, 8) = REG(map, 4); REG(map, 8) += 2; x = REG(map, (REG(map, 0), 8));",
                                  "r4:4 w8:4 r8:4 w8:4 r0:4 r8:4"),
    "in conditions, loops and arguments": (
        "volatile uint32_t *w = (volatile uint32_t *)map; for (w[1] = 0; w[1] < 2; w[1]++) ;"
        "\nif (!*w && w[1] == 2) x = f(*w);"
        "\ndo x++; while (w[1]-- > 1); switch (*w) { default: x = w[2] ? w[3] : w[4]; }",
        "w4:4 r4:4 r4:4 w4:4 r4:4 r4:4 w4:4 r4:4 r0:4 r4:4 r0:4 r4:4 w4:4 r4:4 w4:4 r0:4 r8:4 r16:4"),
    "one pointer through another": ("regs_t *r = (regs_t *)map; r->next = r; x = ((regs_t *)r->next)->ctrl;",
                                    "w32:8 r32:8 r0:4"),
    "an assignment's value": ("volatile uint32_t *w = (volatile uint32_t *)map; x = w[0] = w[1] = 3; x += w[2];",
                              "w4:4 w0:4 r8:4"),
    "not volatile, followed": ("uint32_t *p = (uint32_t *)map, *q = p + 2; *q = 5; x = p[2] + other(q); keep.at = q;\n"
                               "keep.at[1] = 4; x += through(keep)[1];", "w8:4 r8:4 r8:4 w12:4 r12:4"),
    "filled in": ("uint32_t *p; fillCard(1, &p); p[1] = 2; *p += 1;", "w4:4 r0:4 w0:4"),
    "no access": ("volatile regs_t *r = (volatile regs_t *)map; x = sizeof(r->ctrl) + (&r->status - &r->ctrl);\n"
                  "volatile uint32_t *d = r->data; (void)d; "
                  "volatile uint32_t mine = 3, *own = &mine; *own += *own;", ""),
    "after it is unmapped": ("volatile uint32_t *w = (volatile uint32_t *)map; *w = 1; unmapCard(map); *w = 2;",
                             "w0:4"),
}  # fmt: skip
MAIN = """
#include "card.h"
static struct { uint32_t *at; } keep;
static uint32_t f(uint32_t a) { return a; }
static uint32_t other(const uint32_t *from) { return *from; }
static uint32_t *through(__typeof__(keep) what) { return what.at; }
int main(void)
{
    uint32_t x = 0;
    (void)f; (void)other; (void)through; (void)keep;
BODY
    printf("%u\\n", x);
    return 0;
}
"""


@pytest.fixture
def mapped(project):
    project.platform = Platform.model_validate(yaml.safe_load(TEMPLATE))
    project.file("card.h", HEADER)
    return project


def told(ran) -> str:
    kinds = {"memory read": "r", "memory write": "w"}
    found = []
    for call in ran.calls:
        entry = ran.build.entries[call["entry"]]
        if entry.name in kinds:
            found.append(f"{kinds[entry.name]}{call['address'] - 4096}:{call['bytes']}")
    return " ".join(found)


@pytest.mark.parametrize("source", ["main.c", "main.cpp"])
def test_every_form_of_an_access_is_recorded(mapped, source: str) -> None:
    """All in one program, a function each, with gcc's warnings on; and as the program prints without recording."""
    bodies = "".join(
        f"static uint32_t kind{n}(char *map)\n{{\nuint32_t x = 0;\n{body}\n"
        f'printf("|");\nREG(map, 60) = {n};\nreturn x;\n}}\n'
        for n, (body, _) in enumerate(KINDS.values())
    )
    calls = "".join(f'printf(" %u", kind{n}((char *)mapCard(2, 64)));\n' for n in range(len(KINDS)))
    text = MAIN.replace("int main", bodies + "int main").replace("BODY", calls)
    mapped.file(source, text, source=True)
    build = mapped.instrument()
    assert [str(missed) for missed in build.missed] == []
    ran = mapped.run(build, flags=["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"], extra=["-lstdc++"])
    assert ran.stdout == mapped.run(None, name="plain", extra=["-lstdc++"]).stdout
    parts = told(ran).replace(" w60:4", "|").split("|")
    expected = [want for _, want in KINDS.values()]
    assert dict(zip(KINDS, (part.strip() for part in parts), strict=False)) == dict(zip(KINDS, expected, strict=True))


def test_what_is_not_seen_is_listed_with_its_line(mapped) -> None:
    mapped.file(
        "main.c",
        '#include "card.h"\n'
        "static void fill(uint32_t *to) { memset(to, 0, 8); }\n"
        "int main(void)\n{\n"
        "    uint32_t there, *map = mapCard(0, 64), *heap = malloc(8);\n"
        "    PUT(map, 4, 1);\n"
        "    ((regs_t *)map)->bits = 1;\n"
        "    memcpy(&there, map, 4);\n"
        '    __asm__ volatile ("movl %1, %0" : "=r"(there) : "m"(*map));\n'
        "    memcpy(heap, &there, 4);\n"
        "    fill(map);\n"
        "    heap[1] = 0;\n"
        "    unmapCard(map);\n"
        "    return (int)there;\n}\n",
    )
    build = mapped.instrument()
    assert [(missed.line, missed.message.partition(" is not instrumented: ")) for missed in build.missed] == [
        (line, (f"this {what}", " is not instrumented: ", why))
        for line, what, why in (
            (2, "memory read", "the pointer is passed to memset, whose code is not among the project's sources"),
            (6, "memory write", "it is in the body of a macro; move it to a function, or let the macro expand to the "
             "accessed place only"),
            (7, "memory write", "it accesses a bit field, which has no address"),
            (8, "memory read", "the pointer is passed to memcpy, whose code is not among the project's sources"),
            (9, "memory read", "it is an operand of inline assembly"),
        )
    ]  # fmt: skip
    assert [site.callee for site in build.sites] == ["mapCard", "unmapCard"]
    assert mapped.run(build).exit == 0


def test_what_stands_beside_a_pointer_that_is_filled_in_is_none(mapped) -> None:
    mapped.file(
        "main.c",
        '#include "card.h"\n'
        "struct card { int number; uint32_t *at; };\n"
        "static int begin(struct card *its) { return fillCard(its->number, &its->at); }\n"
        "int main(void)\n{\n"
        "    struct card one = {3, NULL}, *its = &one;\n"
        "    int number = begin(its) + its->number;\n"
        "    its->at[1] = 4;\n"
        "    return number != 6;\n}\n",
    )
    build = mapped.instrument()
    assert [(site.callee, site.line) for site in build.sites] == [("fillCard", 3), ("memory write", 8)]
    assert told(mapped.run(build)) == "w4:4"


def test_pragmas_speak_of_accesses_and_sites_keep_their_counts(mapped) -> None:
    mapped.file("poll.h", "static inline int ready(volatile uint32_t *w)\n{\n    return *w != 0;\n}\n")
    mapped.file(
        "main.c",
        '#include "card.h"\n#include "poll.h"\n'
        "int main(void)\n{\n"
        "    volatile uint32_t *w = mapCard(0, 64);\n"
        "    for (int i = 0; i < 10; i++) {\n"
        "        #pragma recap go send(start, top.core, control): i == 3\n"
        "        w[1] = i;\n"
        "        if (ready(w)) return 1;\n"
        "    }\n"
        "    return 0;\n}\n",
    )
    build = mapped.instrument()
    ran = mapped.run(build)
    found = {(build.sites[row["site"]].line, build.blocks[0].states[row["state"]].name): row for row in ran.rows}
    assert {key: (row["count"], row["bytes"]) for key, row in found.items()} == {
        (5, "mapCard"): (1, 0), (8, "go"): (1, 4), (8, "memory write"): (9, 36), (3, "memory read (status)"): (10, 40),
    }  # fmt: skip


def test_accesses_of_cpp_go_through_references_methods_and_templates(mapped) -> None:
    mapped.file(
        "main.cpp",
        """#include "card.h"
#include <memory>
struct Card {
    volatile uint32_t *at;
    uint32_t get(int i) const { return at[i]; }
    template <class T> T as(int i) const { return *(volatile T *)(at + i); }
    volatile uint32_t &operator[](int i) const { return at[i]; }
};
struct Own { volatile uint32_t go, done; void start() { go = 1; if (done) throw 3; } };
static void add(uint32_t &to, const uint32_t &what) { to += what; }
int main()
{
    auto card = std::make_unique<Card>();
    char *map = (char *)mapCard(1, 64);
    card->at = (volatile uint32_t *)map;
    volatile uint32_t &first = card->at[0];
    uint32_t sum = first + card->get(3) + card->as<uint16_t>(4) + 1;
    first = sum;
    (*card)[5] = (*card)[1] = 6;
    regs_t &regs = *(regs_t *)map;
    regs.data[0] = regs.status;
    add(regs.data[1], regs.data[2]);
    auto last = [&] { return card->at[15]; };
    try { ((Own *)map)->start(); } catch (int) { sum += last(); }
    printf("%u\\n", sum);
    return 0;
}
""",
        source=True,
    )
    build = mapped.instrument()
    (missed,) = build.missed
    assert (missed.line, missed.message) == (
        6, "this memory read is not instrumented: its type depends on a template's parameter",
    )  # fmt: skip
    ran = mapped.run(build, extra=["-lstdc++"])
    assert told(ran) == "r0:4 r12:4 w0:4 w4:4 w20:4 r4:4 w8:4 r12:4 r16:4 w12:4 w0:4 r4:4 r60:4"
    assert ran.stdout == mapped.run(None, name="plain", extra=["-lstdc++"]).stdout


def test_objects_of_cpp_that_are_copied_from_or_to_a_mapping_are_listed(mapped) -> None:
    mapped.file(
        "main.cpp",
        """#include "card.h"
struct Own { uint32_t at; Own() : at(0) {} Own(const Own &of) : at(of.at) {} };
int main()
{
    regs_t *regs = (regs_t *)mapCard(1, 64), here = *regs, *other = &here;
    *regs = here;
    Own own = *(Own *)regs;
    own = *(Own *)regs;
    *other = here;
    return regs->status + (int)own.at;
}
""",
        source=True,
    )
    build = mapped.instrument()
    assert [(site.line, site.callee) for site in build.sites] == [(5, "mapCard"), (10, "memory read")]
    told = [
        (one.line, one.message.split(" is not instrumented: it copies an object of a class")[0]) for one in build.missed
    ]
    assert told == [(5, "this memory read"), (6, "this memory write"), (7, "this memory read"), (8, "this memory read")]

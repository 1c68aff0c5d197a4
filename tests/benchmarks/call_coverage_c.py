"""The programs in C of `call_coverage.py`: an API that counts its own calls, and a file for each kind of call."""

from workbench.model.platform import CallKind, HostEntry

HEADER = """
#include <stdint.h>
int cardWrite(int card, const uint32_t *data, uint32_t addr, int words);
uint32_t cardReg(int card, uint32_t addr);
int cardControl(int card, int what, ...);
uint32_t cardPeekNow(int card, uint32_t addr);
void *cardMap(int card, unsigned long length);
void accessed(int times);
int calls_made(void);
#define cardPeek(card, addr) cardPeekNow((card), (addr))
#define cardAwait(card) while (!cardReg(card, 0)) { }
"""
LIBRARY = """
#include "card.h"
#include <stdlib.h>
static int made;
int calls_made(void) { return made; }
static void note(void) { __atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST); }
int cardWrite(int card, const uint32_t *data, uint32_t addr, int words) { note(); return words; }
uint32_t cardReg(int card, uint32_t addr) { static int n; note(); return addr ? addr : ++n % 4 == 0; }
int cardControl(int card, int what, ...) { note(); return what; }
uint32_t cardPeekNow(int card, uint32_t addr) { note(); return addr; }
void *cardMap(int card, unsigned long length) { note(); return calloc(1, length); }
void accessed(int times) { while (times--) note(); }
"""
_FUNCTIONS = (
    ("int cardWrite(int card, const uint32_t *data, uint32_t addr, int words)", CallKind.SEND),
    ("uint32_t cardReg(int card, uint32_t addr)", CallKind.RECEIVE),
    ("int cardControl(int card, int what)", CallKind.OTHER),
    ("uint32_t cardPeek(int card, uint32_t addr)", CallKind.RECEIVE),
    ("uint32_t cardLook(int card, uint32_t addr)", CallKind.RECEIVE),
)
_MAPPED = (
    HostEntry(
        prototype="void *cardMap(int card, unsigned long length)", kind=CallKind.ACQUIRE, opens="bar",
        mapped_bytes="length",
    ),
    HostEntry(access="read", of="bar", kind=CallKind.RECEIVE),
    HostEntry(access="write", of="bar", kind=CallKind.SEND),
)  # fmt: skip
ENTRIES = (*(HostEntry(prototype=text, kind=kind) for text, kind in _FUNCTIONS), *_MAPPED)
#: kind -> (what stands before main, its body); user.h goes with every file
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
    "macro of the API, in a header of the project": ("", "cardLook(0, 1); return cardLook(0, cardLook(0, 2)) + 1;"),
    "header of the project": ("", "fromHeader(3);"),
    "variable number of arguments": (
        "",
        "cardControl(0, 1); cardControl(0, 2, 3); cardControl(0, 3, 1.5, &fromHeader);",
    ),
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

_USER_HEADER = """
#pragma once
#include "card.h"
#define cardLook(card, addr) cardPeekNow((card), (addr))
static inline void fromHeader(int n)
{
    for (int i = 0; i < n; i++)
        cardWrite(0, 0, cardReg(0, 1), i);
}
"""
_MAIN = """#include <stdio.h>
int calls_made(void);
#define RUN(kind) { int run_##kind(void); before = calls_made(); x = run_##kind(); \\
    printf("%d %d\\n", calls_made() - before, x); }
int main(void) { int before, x; RUNS return 0; }
"""
#: Why a kind is reported rather than recorded, and how many calls one report stands for.
WHY = {
    "name pasted together": ("no file holds the name", 1),
    "memory-mapped access, by others": ("a function of a library accesses what it is given, or a macro's body does", 1),
    "inside a macro of the API": ("the vendor's header is left as it is", 4),
}


def program() -> tuple[dict[str, str], dict[str, list[tuple[str, range]]]]:
    """The files, which when run say of each kind how many calls were made and what came of them; and the lines of
    each kind."""
    files, places = {"user.h": _USER_HEADER}, {}
    for number, (kind, (before, body)) in enumerate(PROGRAMS.items()):
        name = f"kind_{number}.c"
        files[name] = f'#include "user.h"\n{before}\nint run_{number}(void)\n{{\n{body}\nreturn 0;\n}}\n'
        places[kind] = [(name, range(1, 100))]
    places["header of the project"].append(("user.h", range(1, 100)))
    files["main.c"] = _MAIN.replace("RUNS", " ".join(f"RUN({number})" for number in range(len(PROGRAMS))))
    return files, places

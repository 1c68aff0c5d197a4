"""Instrumented hosts, compiled and run: what is recorded is what happened, and nothing else changes."""

from collections import Counter

MAIN = """
#include <assert.h>
#include <stdio.h>
#include "fake.h"
/* fakeWrite(f, 0, 0, 1); in a comment */
#define CHECK(e) do { if (!(e)) puts("failed"); } while (0)
static const char *text = "fakeRead(f, d, 0, 1)";
int main(void)
{
    uint32_t d[8] = {0};
    fake_t *f = fakeOpen(3);
    for (int words = 0; words < 4; words++) {
        #pragma recap writeX send(data, top.in, x1): words > 1
        #pragma recap empty overhead(update): words == 1
        fakeWrite(f, d, 16, words);
    }
    CHECK(fakeRead(f, d, 5,
                   2) == 2);
    assert(fakeReg(f, 7) == 7);
    do {
        #pragma recap waitResult wait_recv(buffer_empty, top.out, r1)
    } while (fakeReg(f, 0) == 0);
    for (uint32_t i = fakeReg(f, 1); i < fakeReg(f, 4); i += 1)
        if (fakeReg(f, i) == 2) fakeWrite(f, d, i, 1); else fakeRead(f, d, fakeReg(f, 9), fakeWrite(f, d, 0, 2));
    (fakeWrite)(f, d, 0, 1), (*fakeWrite)(f, d, 0, 1), (&fakeWrite)(f, d, 0, 1);
    printf("%u %u %s %d\\n", d[0], d[1], text, (int)sizeof(fakeRead(f, d, 0, 1)));
    fakeMove(f, d, 12, 1);
    fakeMove(f, d, 8, 0);
    fakeMove(f, d, 8, 2);
    #pragma recap either recv(data, top.out, r2)
    fakeMove(f, d, 4, 2);
    printf("%d %d\\n", fakeControl(f, 2, 10, 20), fakeControl(f, 0));
    fakeClose(f);
    return 0;
}
"""


def test_every_call_is_recorded_and_nothing_else_changes(project, untouched) -> None:
    project.file("main.c", MAIN)
    before = untouched(project.root)
    build = project.instrument()
    assert not build.missed
    (told,) = build.diagnostics
    assert (told.severity, told.line) == ("note", 19)
    assert told.message.startswith("assert turns its argument into text")
    plain = project.run(None, name="plain")
    ran = project.run(build)
    assert untouched(project.root) == before
    assert (ran.exit, ran.stdout, ran.stderr) == (plain.exit, plain.stdout, plain.stderr)
    assert ran.truth == plain.truth
    happened = Counter(ran.truth)
    happened["fakeMove"] -= 1  # a call for which no entry's condition holds, and no pragma speaks
    assert ran.recorded == happened
    by_row = {(r["site"], r["state"], r["entry"]): int(r["count"]) for r in ran.rows}
    assert by_row == Counter(zip(ran.calls["site"], ran.calls["state"], ran.calls["entry"], strict=True))
    assert (ran.calls["t1_ps"] >= ran.calls["t0_ps"]).all()
    assert (ran.calls["t0_ps"][1:] >= ran.calls["t1_ps"][:-1]).all()


def test_states_bytes_addresses_and_entries(project) -> None:
    project.file("main.c", MAIN)
    build = project.instrument()
    ran = project.run(build)
    names = [build.sites[s].callee for s in ran.calls["site"]]
    writes = [i for i, name in enumerate(names) if name == "fakeWrite"][:4]
    assert [ran.states[i] for i in writes] == ["fakeWrite", "empty", "writeX", "writeX"]
    assert ran.calls["bytes"][writes].tolist() == [0, 4, 8, 12]
    assert ran.calls["address"][writes].tolist() == [16] * 4
    assert ran.calls["fpga"][writes].tolist() == [3] * 4
    polls = [i for i, name in enumerate(ran.states) if name == "waitResult"]
    assert len(polls) == 3
    moves = [i for i, name in enumerate(names) if name == "fakeMove"]
    assert [build.entries[e].subtype if e >= 0 else None for e in ran.calls["entry"][moves]] == ["out", "in", None]
    assert [ran.states[i] for i in moves] == ["fakeMove (out)", "fakeMove (in)", "either"]
    assert ran.calls["bytes"][moves].tolist() == [12, 8, -1]
    opened = build.blocks[0].states[int(ran.calls["state"][0])]
    assert (opened.category, opened.reasons) == ("overhead", ("initialize",))
    assert build.blocks[0].line == 8

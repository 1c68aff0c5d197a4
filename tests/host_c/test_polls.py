"""Reads of one address in a loop until the FPGA answers are waiting, however they are written; other reads are not."""

import time

import pytest
import yaml
from host_c.conftest import Project

from workbench.model.platform import Platform
from workbench.model.pragma import Category

#: Each line that only waits ends in `// waits`; where it depends on a function's argument, with the condition.
C = r"""
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include "fake.h"
enum { STATUS = 4, RESULT = 8, FIFO = 12 };
#define REG(d, a) fakeReg(d, a)
#define UNTIL(d, a) while (!(fakeReg(d, a) & 1))
static fake_t *card;
static uint32_t get(uint32_t at) {
    return fakeReg(card, at); // waits at == 4
}
static bool is_done(fake_t *d) {
    uint32_t s = fakeReg(d, STATUS); // waits
    if (s & 1)
        return true;
    return false;
}
static int both_done(fake_t *d) { return is_done(d); }
static int read_to(fake_t *d, uint32_t at, uint32_t *value) {
    *value = fakeReg(d, at); // waits
    return 0;
}
int plain(fake_t *d) {
    while ((fakeReg(d, STATUS) & 1) == 0); // waits
    do
        usleep(10);
    while (!fakeReg(d, STATUS)); // waits
    uint32_t s;
    do {
        s = fakeReg(d, STATUS); // waits
        if (s & 2) return -1;
        usleep(10);
    } while (!(s & 1));
    for (int tries = 0; tries < 100; tries++) {
        if (fakeReg(d, STATUS) & 1) // waits
            break;
        usleep(tries);
    }
    for (;;) {
        uint32_t words[2];
        fakeRead(d, words, STATUS, 2); // waits
        if (words[1] & 1) break;
        printf("%u\n", words[0]);
    }
    while (!(REG(d, STATUS) & 1)) { } // waits
    UNTIL(d, STATUS) usleep(1); // waits
    while (!(get(STATUS) & 1)) usleep(1);
    while (!both_done(d));
    uint32_t value;
    do read_to(d, STATUS, &value); while (!value);
    return get(RESULT);
}
int more(fake_t *d, uint32_t *result) {
    uint32_t s, err, ready = 0, tries = 0;
    do {
        err = fakeRead(d, &s, STATUS, 1); // waits
        if (err) return err;
    } while (!(s & 1));
    while (!ready) {
        if (fakeReg(d, STATUS) & 1) // waits
            ready = 1;
        usleep(1);
    }
    while (s = fakeReg(d, STATUS), !(s & 1)) { // waits
        if (tries++ > 100) return -1;
        fprintf(stderr, "%u: %x\\n", tries, s);
    }
    while (1) {
        switch (fakeReg(d, STATUS)) { // waits
        case 1: goto out;
        default: break;
        }
    }
out:
    for (;;) {
        s = fakeReg(d, STATUS); // waits
        if (!(s & 1)) continue;
        *result = fakeReg(d, RESULT);
        return 0;
    }
}
int batches(fake_t *d, uint32_t *words) {
    for (int b = 0; b < 10; b++) {
        fakeWrite(d, words, 0, 16);
        for (int core = 0; core < 4; core++)
            while (!(fakeReg(d, STATUS + core) & 1)); // waits
        fakeRead(d, words, RESULT, 16);
    }
    return 0;
}
static int step(fake_t *d, uint32_t *out) {
    fakeWrite(d, out, 0, 1);
    return fakeReg(d, STATUS) & 1;
}
int others(fake_t *d, uint32_t *out, int n) {
    uint32_t x, sum = 0;
    while (!step(d, out));
    for (int i = 0; i < n; i++) out[i] = fakeReg(d, RESULT);
    for (int i = 0; i < n; i++) sum += fakeReg(d, RESULT + i);
    while ((x = fakeReg(d, FIFO)) != 0) sum += x;
    while (!(fakeReg(d, STATUS) & 2)) *out++ = fakeReg(d, FIFO);
    for (int i = 0; i < n; i++) {
        fakeWrite(d, out, i, 1);
        if (fakeReg(d, STATUS) & 4) return -1;
    }
    for (int i = 0; i < n; i++) {
        out[i] += i;
        if (fakeReg(d, STATUS) & 4) break;
    }
    for (uint32_t at = 0; !fakeReg(d, at); at += 4);
    if (fakeReg(d, STATUS) & 1) sum++;
    return sum + fakeReg(d, RESULT);
}
int by_goto(fake_t *d, uint32_t *words) {
    uint32_t s, tries = 0;
again:
    if (!(fakeReg(d, STATUS) & 1)) // waits
        goto again;
retry:
    s = fakeReg(d, STATUS); // waits
    if (s & 2) return -1;
    if (!(s & 1)) {
        usleep(10);
        goto retry;
    }
poll:
    usleep(5);
    if (fakeReg(d, STATUS) & 1) // waits
        goto done;
    if (++tries < 1000) goto poll;
    return -1;
done:
    if (fakeReg(d, STATUS) & 4) goto failed;
next:
    fakeWrite(d, words, 0, 16);
    if (fakeReg(d, STATUS) & 1) goto next;
batch:
    fakeWrite(d, words, 0, 16);
    while (!(fakeReg(d, STATUS) & 1)); // waits
    if (++tries < 4) goto batch;
more:
    *words = fakeReg(d, FIFO);
    if (*words++) goto more;
failed:
    return fakeReg(d, RESULT);
}
int main(void) { return 0; }
"""

CPP = r"""
#include <chrono>
#include <thread>
#include <vector>
extern "C" {
#include "fake.h"
}
constexpr uint32_t STATUS = 4, RESULT = 8;
class Core {
public:
    explicit Core(fake_t *d) : d_(d) {}
    uint32_t read(uint32_t at) const {
        return fakeReg(d_, at); // waits at == 4
    }
    bool done() const { return read(STATUS) & 1; }
    void wait() const { while (!done()) std::this_thread::sleep_for(std::chrono::microseconds(5)); }
    std::vector<uint32_t> all(int n) const {
        std::vector<uint32_t> found;
        for (int i = 0; i < n; i++) found.push_back(fakeReg(d_, RESULT));
        return found;
    }
private:
    fake_t *d_;
};
int run(fake_t *d) {
    Core core(d);
    core.wait();
    do { if (fakeReg(d, STATUS) & 2) throw 1; // waits
    } while (!(fakeReg(d, STATUS) & 1)); // waits
    auto ready = [&] {
        return fakeReg(d, STATUS) & 1; // waits
    };
    while (!ready()) { }
again:
    if (!(fakeReg(d, STATUS) & 1)) { // waits
        std::this_thread::yield();
        goto again;
    }
    return core.read(RESULT);
}
int main() { return 0; }
"""
TEMPLATE = """
schema_version: 2
name: mapped
host:
  entries: [{access: read, kind: receive}, {access: write, kind: send}]
"""
#: Reads through a mapping's pointer.
MAPPED = r"""
#include <stdint.h>
struct regs { volatile uint32_t status, result; };
static uint32_t get(volatile uint32_t *r, int at) {
    return r[at]; // waits at == 3
}
uint32_t run(volatile uint32_t *r, volatile struct regs *s, uint32_t *out) {
    while (!(r[3] & 1)) ; // waits
    while (!(s->status & 1)) ; // waits
    do ; while (!(*r & 1)); // waits
    while (!get(r, 3));
    for (int i = 0; i < 8; i++)
        out[i] = r[i];
    return get(r, 4) + s->result;
}
int main(void) { return 0; }
"""


def expected(text: str) -> dict[int, str]:
    lines = enumerate(text.splitlines(), 1)
    return {number: line.partition("// waits")[2].strip() for number, line in lines if "// waits" in line}


@pytest.mark.parametrize(("name", "text"), [("main.c", C), ("main.cpp", CPP)])
def test_reads_that_only_wait(project: Project, name: str, text: str) -> None:
    project.file(name, text, source=True)
    scan = project.scan()
    assert not scan.diagnostics
    assert {c.line: c.waits_when for c in scan.calls if c.waits_when is not None} == expected(text)


@pytest.mark.parametrize(
    "text",
    [
        "for (int i = 0; i < 9; i++)\n" * 200 + "while (!(fakeReg(d, 4) & 1));",
        "if (fakeReg(d, 8)) break;\n" * 600,
        "".join(f"at_{n}: if (fakeReg(d, 8)) goto at_{n};\n" for n in range(300)),
    ],
    ids=["deep loops", "ends of a loop", "labels"],
)
def test_how_long_it_takes_goes_by_how_much_there_is(project: Project, text: str) -> None:
    project.file("main.c", f'#include "fake.h"\nvoid f(fake_t *d) {{ for (;;) {{\n{text} }} }}\n', source=True)
    begun_s = time.process_time()
    project.scan()
    assert time.process_time() - begun_s < 3


def test_reads_through_a_pointer_that_only_wait(project: Project) -> None:
    project.platform = Platform.model_validate(yaml.safe_load(TEMPLATE))
    project.file("main.c", MAPPED)
    scan = project.scan()
    assert {c.line: c.waits_when for c in scan.calls if c.waits_when is not None} == expected(MAPPED)


def test_a_function_that_reads_in_another_source_waits_for_the_numbers_that_loops_hand_it(project: Project) -> None:
    """The recorder tells both apart when the program runs."""
    get = '#include "fake.h"\n#include "get.h"\nuint32_t get(fake_t *f, int at) { return fakeReg(f, at); }\n'
    header = "uint32_t get(fake_t *f, int at);\nvoid until(fake_t *f, int at);\n"
    until = '#include "fake.h"\n#include "get.h"\nvoid until(fake_t *f, int at) { while (!get(f, at)); }\n'
    ends = """
        until(f, 0);
        uint32_t found = get(f, 8) + get(f, 8);
        while (fakeReg(f, 0) == 0);
        fakeClose(f);
        return found - 16;
    }
    """
    project.file("get.h", header)
    project.file("until.c", until)
    project.file("get.c", get)
    project.file("main.c", '#include "fake.h"\n#include "get.h"\nint main(void) { fake_t *f = fakeOpen(0);' + ends)
    ran = project.run(project.instrument())
    assert ran.exit == 0
    polls = ["fakeReg (poll)"] * 3
    assert ran.states == ["fakeOpen", *polls, "fakeReg", "fakeReg", *polls, "fakeClose"]
    states = {s.name: (s.category, s.reasons) for s in ran.build.blocks[0].states}
    assert states["fakeReg (poll)"] == (Category.WAIT_RECV, ("late_sender", "poll"))
    assert states["fakeReg"] == (Category.RECV, ())

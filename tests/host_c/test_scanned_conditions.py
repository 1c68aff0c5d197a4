"""What a scan says about pragmas' conditions in C: wrong ones with their line, right ones not at all."""

import pytest

from workbench.model.diagnostic import Severity

SOURCE = """\
#include "fake.h"
#include <string.h>
#include "shapes.h"
#define LIMIT 8
#define BELOW(n) ((n) < LIMIT)
#define PUT(n) do { fakeWrite(f, d, 0, n); } while (0)
enum phase { FILL, DRAIN };
struct job { int words; struct { int kind; } *inner; };
static int helper(int n) { return n + WIDTH; }
static int run(fake_t *f, struct job *job, enum phase phase, int words)
{
    uint32_t d[8] = {0};
    const char *mode = "fast";
    int got = 0;
    #pragma recap put send(data, top.a, m): %s
    got += fakeWrite(f, d, 0, words);
    for (int round = 0; round < 2; round++)
        #pragma recap again send(data, top.a, m): round > 0
        got += fakeWrite(f, d, 0, words);
    if (got)
        #pragma recap look recv(data, top.a, m): got && later(got)
        d[0] = fakePeek(f, 4);
    #pragma recap brought send(data, top.a, m): %s
    PUT(1);
    return got + later(mode != 0);
}
int main(void)
{
    fake_t *f = fakeOpen(0);
    struct job job = { 3, 0 };
    return run(f, &job, FILL, helper(job.words));
}
"""


def scanned(project, first: str, second: str = "words") -> list[tuple[int | None, str, str]]:
    project.file("shapes.h", "#define WIDTH 4\nint later(int n);\nextern int depth;\n")
    source = project.file("main.c", SOURCE % (first, second))
    problems = project.scan().diagnostics
    assert all(d.file == str(source) and d.severity is Severity.ERROR for d in problems)
    return [(d.line, d.message, d.hint) for d in problems]


@pytest.mark.parametrize(
    "right",
    [
        "words > 0", "words % 2 ? 1 : 0", "BELOW(words)", "words == LIMIT && WIDTH", "phase == DRAIN",
        "job->words", "job->inner && job->inner->kind == 1", "helper(words) > depth", 'strcmp(mode, "a;)") == 0',
        "later(words)", "(uint32_t)words > sizeof(struct job)", "d[words - 1] != ')'", "f->number, words",
        "__builtin_expect(words, 1)", "({ int t = words; t > 1; })", "!!f && !(words & 1)",
    ],
)  # fmt: skip
def test_right_conditions_are_silent(project, right) -> None:
    assert scanned(project, right, right) == []


@pytest.mark.parametrize(
    ("wrong", "says", "hint"),
    [
        ("wrods > 0", "undeclared identifier 'wrods'", "Did you mean 'words'?"),
        ("nosuch == 1", "undeclared identifier 'nosuch'", "only names that are declared there"),
        ("words >", "expected expression", "Write a C expression"),
        ("words 3", "expected ')'", "Write a C expression"),
        ("(words > 0", "nothing closes the '('", "Write a C expression"),
        ("words > 0)", "nothing opens the ')'", "Write a C expression"),
        ("words > '", "nothing closes the '", "Write a C expression"),
        ("words;", "without ';'", "Write a C expression"),
        ("job->wrods", "no member named 'wrods'", ""),
        ("phase == DRIAN", "undeclared identifier 'DRIAN'", "Did you mean 'DRAIN'?"),
        ("round > 0", "undeclared identifier 'round'", ""),
        ("nosuchcall(words)", "undeclared function 'nosuchcall'", ""),
        ("*job", "struct job", ""),
    ],
)
@pytest.mark.parametrize("brought", [False, True], ids=["call", "macro"])
def test_wrong_conditions_are_told_with_their_line(project, wrong, says, hint, brought) -> None:
    problems = scanned(project, *(("words", wrong) if brought else (wrong, "words")))
    line, name = (23, "brought") if brought else (15, "put")
    assert {at for at, _, _ in problems} == {line}
    assert all(f"the condition of the pragma '{name}' does not compile here: " in message for _, message, _ in problems)
    assert any(says in message and hint in hinted for _, message, hinted in problems)


def test_each_wrong_condition_is_told_by_itself(project) -> None:
    problems = scanned(project, "nosuch >", "(words")
    assert {line for line, _, _ in problems} == {15, 23}
    assert any("undeclared identifier 'nosuch'" in m or "expected expression" in m for _, m, _ in problems)


def test_a_function_that_is_linked_or_called_undeclared_is_no_fault(project) -> None:
    project.file("other.c", "int elsewhere(int n) { return n; }\n")
    assert scanned(project, "elsewhere(words)") == []


def test_conditions_in_a_header_and_of_several_pragmas(project) -> None:
    header = project.file(
        "inner.h",
        '#include "fake.h"\nstatic inline int inner(fake_t *f, int n)\n{\n'
        "    #pragma recap one send(data, top.a, m): n == 1\n    #pragma recap two send(data, top.a, m): m == 2\n"
        "    return fakeWrite(f, 0, 0, n);\n}\n",
    )
    for name in ("a", "b"):
        project.file(f"{name}.c", f'#include "inner.h"\nint {name}(fake_t *f) {{ return inner(f, 1); }}\n')
    (problem,) = project.scan().diagnostics
    assert (problem.file, problem.line) == (str(header), 5)
    assert "pragma 'two'" in problem.message
    assert "'m'" in problem.message


def test_a_call_in_a_macros_argument_and_in_brackets(project) -> None:
    source = project.file(
        "main.c",
        '#include "fake.h"\n#define CHECK(call) do { if ((call) < 0) return 1; if (!#call) return 2; } while (0)\n'
        "int main(void)\n{\n    fake_t *f = fakeOpen(0);\n    int words = 1;\n"
        "    #pragma recap one send(data, top.a, m): words == 1\n    CHECK(fakeWrite(f, 0, 0, words));\n"
        "    #pragma recap two send(data, top.a, m): words == 1, words\n    (&fakeWrite)(f, 0, 0, words);\n"
        "    #pragma recap three send(data, top.a, m): wrods == 1\n    CHECK((*fakeWrite)(f, 0, 0, words));\n"
        "    return 0;\n}\n",
    )
    assert [(d.file, d.line, d.hint) for d in project.scan().diagnostics] == [
        (str(source), 11, "Did you mean 'words'?")
    ]


def test_a_source_that_cannot_be_read_wholly_is_not_judged(project) -> None:
    project.file(
        "main.c",
        '#include "fake.h"\n#include "missing.h"\nint main(void)\n{\n    fake_t *f = fakeOpen(0);\n'
        "    #pragma recap put send(data, top.a, m): FROM_MISSING\n    return fakeWrite(f, 0, 0, 1);\n}\n",
    )
    assert ["missing.h" in d.message for d in project.scan().diagnostics] == [True]


def test_instrumenting_says_the_same_once(project) -> None:
    scanned_first = scanned(project, "wrods > 0", "nosuchcall(words)")
    problems = project.instrument().diagnostics
    assert [(d.line, d.message, d.hint) for d in problems if d.severity is Severity.ERROR] == scanned_first

"""Which call a pragma speaks of, and where a new one for a call goes."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HEAD = '#include "fake.h"\nvoid use(fake_t *f, uint32_t *d, int n)\n{\n'
PRAGMA = "    #pragma recap {} recv(data, top.a, m)\n"


def scan(project, body: str):
    project.sources.clear()
    project.file("main.c", HEAD + body + "}\n")
    return project.scan()


def named(result) -> dict[int, str]:
    """Address (the second argument) of each fakeReg call -> its pragmas' names."""
    names = {}
    for call in result.calls:
        text = Path(call.file).read_text().splitlines()[call.line - 1][call.column - 1 :]
        names[int(text.split("(f, ")[1].split(")")[0])] = "|".join(p.pragma.name for p in call.pragmas)
    return names


def p(name: str) -> str:
    return PRAGMA.format(name)


@pytest.mark.parametrize(
    ("body", "names", "warnings"),
    [
        (p("a") + "    fakeReg(f, 1);\n", {1: "a"}, 0),
        (p("a") + "\n    /* note */ // more\n    fakeReg(f, 1);\n    fakeReg(f, 2);\n", {1: "a", 2: ""}, 0),
        (p("a") + p("b") + "    fakeReg(f, 1);\n", {1: "a|b"}, 1),
        (p("a") + "    int x = 1 + fakeReg(f, 1);\n", {1: "a"}, 0),
        (p("a") + "    d[fakeReg(f, 1)] = fakeReg(f, 2);\n", {1: "a", 2: ""}, 1),
        (p("a") + "    if (fakeReg(f, 1)) return;\n", {1: "a"}, 0),
        (p("a") + "    while (!fakeReg(f, 1)) ;\n", {1: "a"}, 0),
        (p("a") + "    for (int i = 0; i < fakeReg(f, 1); i++) n++;\n", {1: "a"}, 0),
        (p("a") + "    for (int i = 0; i < n; i++)\n    " + p("b") + "        fakeReg(f, 1);\n", {1: "b"}, 1),
        (p("a") + "    for (int i = 0; i < fakeReg(f, 1); i++) {\n    " + p("b") + "        fakeReg(f, 2);\n    }\n",
         {1: "a", 2: "b"}, 0),
        ("    do {\n        n++;\n    " + p("a") + "    } while (fakeReg(f, 1) == 0);\n", {1: "a"}, 0),
        ("    do {\n    " + p("a") + "    } while (n && fakeReg(f, 1) == 0);\n", {1: "a"}, 0),
        ("    if (n)\n    " + p("a") + "        fakeReg(f, 1);\n    else\n    " + p("b") + "        fakeReg(f, 2);\n",
         {1: "a", 2: "b"}, 0),
        ("    if (n) {\n        n = 0;\n    " + p("a")
         + "    } else if (fakeReg(f, 1)) {\n        fakeReg(f, 2);\n    }\n", {1: "a", 2: ""}, 0),
        ("    if (n) {\n        n = 0;\n    " + p("a") + "    } else {\n        fakeReg(f, 1);\n    }\n", {1: ""}, 1),
        ("    if (n) {\n        n = 0;\n    " + p("a") + "    }\n    fakeReg(f, 1);\n", {1: ""}, 1),
        ("    switch (n) {\n" + p("a") + "    case 1: fakeReg(f, 1); break;\n    case 2:\n" + p("b")
         + "        fakeReg(f, 2);\n    default:\n" + p("c") + "        fakeReg(f, 3);\n    }\n",
         {1: "a", 2: "b", 3: "c"}, 0),
        ("    again:\n" + p("a") + "    fakeReg(f, 1);\n    goto again;\n", {1: "a"}, 0),
        (p("a") + "    n = 1; fakeReg(f, 1);\n", {1: "a"}, 0),
        (p("a") + "    {\n        fakeReg(f, 1);\n    }\n", {1: "a"}, 0),
        (p("a") + "    n = sizeof(fakeReg(f, 1));\n    fakeReg(f, 2);\n", {2: ""}, 1),
        ("#if 0\n" + p("a") + "    fakeReg(f, 1);\n#endif\n    fakeReg(f, 2);\n", {2: ""}, 0),
        (p("a") + "#ifdef NOT_DEFINED\n    fakeReg(f, 1);\n#else\n    fakeReg(f, 2);\n#endif\n", {2: "a"}, 0),
        (p("a") + "    n = 1;\n    fakeReg(f, 1);\n", {1: ""}, 1),
        ("    fakeReg(f, 1);\n" + p("a"), {1: ""}, 1),
        ("    fakeReg(f, 1);\n}\n" + p("a") + "void other(fake_t *f)\n{\n    fakeReg(f, 2);\n", {1: "", 2: ""}, 1),
        ("    fakeReg(f, 1);\n" + p("a").replace("recv", "rcv") + "    fakeReg(f, 2);\n", {1: "", 2: ""}, 1),
    ],
)  # fmt: skip
def test_pragmas_belong_to_the_next_statement(project, body, names, warnings) -> None:
    result = scan(project, body)
    assert named(result) == names
    assert len(result.diagnostics) == warnings, result.diagnostics
    assert all(d.line and d.column and d.message for d in result.diagnostics)


def test_what_a_call_site_says(project) -> None:
    result = scan(project, "\tif (n)\n\t\tfakeMove(f, d, 4, fakeReg(f, 1));\n")
    move, reg = result.calls
    assert (move.line, move.column, move.callee, move.kind, move.function) == (5, 3, "fakeMove", "send|receive", "use")
    assert move.entry.count("fakeMove(") == 2
    assert (move.pragma_line, move.indent) == (5, 3)
    assert (reg.callee, reg.pragma_line) == ("fakeReg", 5)


def test_a_pragma_in_a_header_without_calls(project) -> None:
    project.file("notes.h", "/* nothing here */\n#pragma recap lost recv(data, top.a, m)\nint notes;\n")
    result = scan(project, '    fakeReg(f, 1);\n}\n#include "notes.h"\nvoid other(void)\n{\n')
    (problem,) = result.diagnostics
    assert (problem.file, problem.line, problem.column) == (str(project.root / "notes.h"), 2, 1)


BODIES = st.recursive(
    st.sampled_from(["call", "cond", "nothing", "expr"]),
    lambda inner: st.one_of(
        st.tuples(
            st.sampled_from(["if", "while", "do", "for", "block", "else", "docall", "switch"]),
            st.lists(inner, max_size=3),
        ),
    ),
    max_leaves=8,
)


class Writer:
    """Writes a random body; every call has a number as its address, counted from 1."""

    def __init__(self) -> None:
        self.calls = 0
        self.lines: list[str] = []

    def call(self) -> str:
        self.calls += 1
        return f"fakeReg(f, {self.calls})"

    def put(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def write(self, what: object, indent: int = 1) -> None:
        if what == "call":
            self.put(indent, f"{self.call()};")
        elif what == "expr":
            self.put(indent, f"d[0] += 1 + {self.call()} * 2;")
        elif what == "cond":
            self.put(indent, f"if ({self.call()}) n++;")
        elif what == "nothing":
            self.put(indent, "n++;")
        elif isinstance(what, tuple):
            kind, inner = what
            polled = self.call() if kind == "while" else ""
            heads = {"if": "if (n) {", "while": f"while ({polled} == 0) {{", "do": "do {",
                     "for": "for (int i = 0; i < n; i++) {", "block": "{", "else": "if (n) {", "docall": "do {",
                     "switch": "switch (n) { case 1:"}  # fmt: skip
            self.put(indent, heads[kind])
            for part in inner:
                self.write(part, indent + 1)
            if kind == "else":
                self.put(indent, f"}} else if ({self.call()}) {{")
            tails = {"do": "} while (n);", "switch": ";}"}
            self.put(indent, f"}} while ({self.call()});" if kind == "docall" else tails.get(kind, "}"))


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(BODIES, min_size=1, max_size=4))
def test_a_pragma_inserted_where_the_scan_says_is_that_calls(project, bodies) -> None:
    """What the window does: a new pragma goes to `pragma_line` and `indent`; a new scan then gives it to that call."""
    writer = Writer()
    for body in bodies:
        writer.write(body)
    text = "\n".join(writer.lines) + "\n"
    result = scan(project, text)
    assert sorted(named(result)) == list(range(1, writer.calls + 1))
    assert not result.diagnostics
    numbers = [next(iter(named(type(result)((call,))))) for call in result.calls]
    for call, number in list(zip(result.calls, numbers, strict=True))[:3]:
        lines = (HEAD + text).splitlines()
        lines.insert(call.pragma_line - 1, " " * (call.indent - 1) + "#pragma recap mine recv(data, top.a, m)")
        again = scan(project, "\n".join(lines[3:]) + "\n")
        assert named(again)[number] == "mine"
        assert sum(bool(name) for name in named(again).values()) == 1

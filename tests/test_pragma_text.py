"""Pragmas: the paper's own, generated ones in three comment styles, and what is said about bad ones."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.api.languages import VERILOG, VHDL, C, Syntax
from workbench.api.source.pragma_text import find_pragmas, format_pragma, parse_pragma
from workbench.model.diagnostic import Severity
from workbench.model.pragma import Category, Pragma

# ReCAP 2011, Fig. 4, with plain quotes
WRITTEN = (C, VERILOG, VHDL)
FIGURE_4: list[tuple[Syntax, str, Pragma]] = [
    (
        C,
        "#pragma recap writeX send(data, top.in, x1): words > 0",
        Pragma("writeX", Category.SEND, ("data",), ("top.in",), ("x1",), "words > 0"),
    ),
    (
        C,
        "#pragma recap waitResult wait_recv(buffer_empty, top.out, r1)",
        Pragma("waitResult", Category.WAIT_RECV, ("buffer_empty",), ("top.out",), ("r1",)),
    ),
    (
        VHDL,
        "--pragma recap getX recv(data, $CPU, x1)",
        Pragma("getX", Category.RECV, ("data",), ("$CPU",), ("x1",)),
    ),
    (VHDL, "--pragma recap mult work()", Pragma("mult", Category.WORK)),
    (VHDL, "--pragma recap loopIncr overhead(update)", Pragma("loopIncr", Category.OVERHEAD, ("update",))),
    (
        VHDL,
        "--pragma recap waitNext wait_recv(ack, top.out, w1): ack = '0'",
        Pragma("waitNext", Category.WAIT_RECV, ("ack",), ("top.out",), ("w1",), "ack = '0'"),
    ),
    (
        VHDL,
        "--pragma recap next recv(ctrl, top.out, w1): ack = '1'",
        Pragma("next", Category.RECV, ("ctrl",), ("top.out",), ("w1",), "ack = '1'"),
    ),
]

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,11}", fullmatch=True)
indexed = st.builds(lambda n, i: n + i, names, st.sampled_from(["", "[0]", "[17]", "[*]", "[2][*]"]))
targets = st.one_of(st.sampled_from(["$CPU", "$MEM"]), st.lists(indexed, min_size=1, max_size=3).map(".".join))
messages = st.from_regex(r"[A-Za-z0-9_]{1,8}", fullmatch=True)
# conditions as text: no quotes and no comment signs, which the language plugins' own tests cover
conditions = st.none() | (
    st.text(alphabet=string.ascii_letters + string.digits + " ()<>=!&|+.:,[]_", min_size=1, max_size=40)
    .map(str.strip)
    .filter(bool)
)


def unique(items: st.SearchStrategy[str], least: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(items, min_size=least, max_size=3, unique=True).map(tuple)


@st.composite
def pragmas(draw: st.DrawFn) -> Pragma:
    name = draw(names.filter(lambda n: n not in set(Category)))
    category = draw(st.sampled_from(Category))
    condition = draw(conditions)
    if category is Category.WORK:
        return Pragma(name, category, condition=condition)
    reasons = draw(unique(names, 0))
    if category is Category.OVERHEAD:
        return Pragma(name, category, reasons, condition=condition)
    return Pragma(name, category, reasons, draw(unique(targets, 1)), draw(unique(messages, 1)), condition)


@pytest.mark.parametrize(("syntax", "text", "expected"), FIGURE_4)
def test_figure_4_is_read(syntax: Syntax, text: str, expected: Pragma) -> None:
    found, problems = find_pragmas(f"code;\n    {text}\nmore;\n", syntax, "f")
    assert problems == ()
    assert [(p.pragma, p.file, p.line, p.column) for p in found] == [(expected, "f", 2, 5)]
    assert syntax.pragma + format_pragma(expected) == text


@given(pragmas())
def test_text_round_trip(pragma: Pragma) -> None:
    assert parse_pragma(format_pragma(pragma), "f", 3, 7) == (pragma, ())


@settings(max_examples=50)
@given(st.lists(pragmas(), max_size=3), st.sampled_from(WRITTEN), st.sampled_from(["\n", "\r\n"]))
def test_round_trip_in_a_source(expected: list[Pragma], syntax: Syntax, newline: str) -> None:
    lines = ["x = 1;", *("\t" + syntax.pragma + format_pragma(p) for p in expected), "y = 2;"]
    found, problems = find_pragmas(newline.join(lines), syntax, "f")
    assert [(p.pragma, p.line, p.column) for p in found] == [(p, 2 + i, 2) for i, p in enumerate(expected)]
    assert problems == ()


@given(st.text(max_size=60), st.sampled_from(WRITTEN))
def test_any_text_is_answered(text: str, syntax: Syntax) -> None:
    parse_pragma(text, "f")
    for head in ("", syntax.pragma):
        found, problems = find_pragmas(head + text, syntax, "f")
        for item in (*found, *problems):
            assert item.line is not None
            assert item.line >= 1


@given(st.text(alphabet="ab (),|:$[]*.", max_size=30))
def test_errors_point_into_the_text(text: str) -> None:
    pragma, problems = parse_pragma(text, "f", 4, 10)
    assert pragma is not None or problems
    for problem in problems:
        assert problem.line == 4
        assert problem.column is not None
        assert 10 <= problem.column <= 10 + len(text)


def test_joined_lists_and_empty_reason() -> None:
    pragma, problems = parse_pragma("s wait_send( , a.b[*] | $MEM ,x1|2 ) : n>0")
    assert problems == ()
    assert pragma == Pragma("s", Category.WAIT_SEND, (), ("a.b[*]", "$MEM"), ("x1", "2"), "n>0")


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("", 1, "begins with the state's name", "NAME CATEGORY"),
        ("work()", 1, "'work' is a category; the state's name is missing", "NAME CATEGORY"),
        ("a-b work()", 2, "'-' cannot be part", ""),
        ("x", 2, "the category is missing after 'x'", "work, overhead, send"),
        ("x wrok()", 3, "no category 'wrok'", "Did you mean 'work'?"),
        ("x wait_recieve(, a, m)", 3, "no category 'wait_recieve'", "Did you mean 'wait_recv'?"),
        ("x Send(, a, m)", 3, "no category 'Send'", "Did you mean 'send'?"),
        ("x work(data)", 8, "work takes no arguments", "Write work()."),
        ("x overhead(update, top)", 20, "overhead takes only a reason", "overhead(reason)"),
        ("x send", 7, "needs a target and a message", "send(reason, target, message)"),
        ("x send(data, top.in)", 20, "send needs a message", "may be left empty"),
        ("x recv(data, , m)", 14, "the target is empty", "$CPU"),
        ("x recv(data, $GPU, m)", 14, "'$GPU' is not a valid target", "$CPU, $MEM"),
        ("x recv(data, core[a], m)", 14, "'core[a]' is not a valid target", "core[*]"),
        ("x recv(da ta, a, m)", 8, "'da ta' is not a valid reason", "plain name"),
        ("x recv(data||ack, a, m)", 13, "a reason is missing beside '|'", ""),
        ("x send(data, a, m, k)", 20, "send takes three arguments", ""),
        ("x send(data, a, m", 7, "never closed", "send(reason, target, message)"),
        ("x work(: n > (1)", 7, "never closed", ""),
        ("x work() n > 0", 10, "unexpected 'n'", "colon"),
        ("x work():  ", 9, "the condition is empty", "colon"),
    ],
)
def test_bad_pragmas(text: str, column: int, message: str, hint: str) -> None:
    pragma, (problem,) = parse_pragma(text, "f.c", 5, 1)
    assert pragma is None
    assert (problem.file, problem.line, problem.column) == ("f.c", 5, column)
    assert message in problem.message
    assert hint in problem.hint
    assert problem.severity is Severity.ERROR


def test_twice_is_a_warning_and_counts_once() -> None:
    pragma, (problem,) = parse_pragma("x recv(data|data, a, m)")
    assert pragma is not None
    assert pragma.reasons == ("data",)
    assert (problem.severity, problem.column) == (Severity.WARNING, 13)


def test_c_strings_and_comments_do_not_fool() -> None:
    source = r"""
const char *s = "\
#pragma recap a work()";
/*
#pragma recap b work()
*/
// #pragma recap c work()
// spliced \
#pragma recap d work()
const char *r = R"x(
#pragma recap e work() )" )x"; int big = 1'000; char q = '"';
#define M \
#pragma recap f work()
#pragma omp parallel
  #  pragma   recap g work() // why: it is so
#pragma recap h work(): strcmp(s, "// :)") == 0 /* eh */ || 1
"""
    found, problems = find_pragmas(source, C, "f.c")
    assert problems == ()
    assert [(p.pragma.name, p.line, p.column, p.pragma.condition) for p in found] == [
        ("g", 15, 3, None),
        ("h", 16, 1, 'strcmp(s, "// :)") == 0          || 1'),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_c_continuation_keeps_positions(newline: str) -> None:
    lines = ["int a;", "  #pragma \\", "  recap s send(data, \\", "     top.in, x1): n \\", "  > 0", "f();"]
    source = newline.join(lines)
    (placed,), problems = find_pragmas(source, C, "f.c")
    assert problems == ()
    assert (placed.line, placed.column) == (2, 3)
    assert placed.pragma == Pragma("s", Category.SEND, ("data",), ("top.in",), ("x1",), "n   > 0")
    _, (problem,) = find_pragmas(source.replace("top.in", "top,in"), C, "f.c")
    assert (problem.line, problem.column, problem.message) == (4, 14, "send takes three arguments")


def test_verilog_and_vhdl_comments_do_not_fool() -> None:
    verilog = 'initial $display("\n//pragma recap a work()\n");\n/*\n//pragma recap b work()\n*/\n'
    found, problems = find_pragmas(verilog + "// Pragma RECAP c work() // note\n", VERILOG, "f.v")
    assert [p.pragma.name for p in found] == ["a", "c"]  # a Verilog string ends with its line
    assert problems == ()
    vhdl = (
        'x <= "--pragma recap a work()"; -- see --pragma recap b work()\n'
        "c := '\"'; -- pragma translate_off\n"
        "  --PRAGMA recap d recv(, $CPU, m): ack = '1' -- note\n"
        "/*\n--pragma recap e work()\n*/\n"
    )
    found, problems = find_pragmas(vhdl, VHDL, "f.vhd")
    assert [(p.pragma.name, p.pragma.condition) for p in found] == [("d", "ack = '1'")]
    assert problems == ()


def test_pragma_after_code_and_misspelt_recap_are_said() -> None:
    found, problems = find_pragmas("x <= 1; //pragma recap a work()\n//pragma reacp b work()\n", VERILOG, "f.v")
    assert found == ()
    assert [(p.line, p.column, p.severity) for p in problems] == [(1, 9, "warning"), (2, 10, "warning")]
    assert "begin its line" in problems[0].message
    assert problems[1].hint == "Did you mean 'recap'?"
    found, problems = find_pragmas("S_IDLE: //pragma recap idle\n", VERILOG, "f.v")
    assert [(p.line, p.column) for p in problems] == [(1, 9)]
    assert "begin its line" in problems[0].message


@pytest.mark.parametrize(
    ("syntax", "source"),
    [
        (C, '//pragma recap a work()\n/* pragma recap a work() */\n_Pragma("recap a work()")\n'),
        (VERILOG, "/* pragma recap a work() */\n//#pragma recap a work()\n`pragma recap a work()\n"),
        (VHDL, "/* pragma recap a work() */\n--#pragma recap a work()\n-- # pragma recap a work()\n"),
    ],
)
def test_pragmas_of_other_languages_are_said_and_those_in_comments_and_texts_are_not(
    syntax: Syntax, source: str
) -> None:
    found, problems = find_pragmas(source, syntax, "f")
    assert found == ()
    assert sorted(p.line or 0 for p in problems) == [1, 2, 3]
    assert all(f"Write {syntax.pragma}NAME" in p.hint for p in problems)
    opening = syntax.line
    for quiet in (
        f"{opening} {syntax.pragma}a work()",
        f'x = "{source.splitlines()[0]}"',
        f"{opening} no pragma recap",
    ):
        assert find_pragmas(quiet + "\n", syntax, "f") == ((), ())

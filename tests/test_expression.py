"""The safe expression language: as numpy computes it, and nothing besides."""

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.model.diagnostic import WorkbenchError
from workbench.model.expression import Expression

NAMES = ("a", "b", "rate.avg", "count")


def value(text: str, **values: Any) -> Any:
    expression, problems = Expression.parse(text, values.keys())
    assert problems == ()
    assert expression is not None
    return expression.evaluate(values)


# each case draws a text together with what numpy makes of it
BINARY = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide, "%": np.mod,
    "**": np.power, "<": np.less, "<=": np.less_equal, ">": np.greater, "==": np.equal, "!=": np.not_equal,
    "and": np.logical_and, "or": np.logical_or,
}  # fmt: skip
UNARY = {
    "abs": np.abs, "sqrt": np.sqrt, "log": np.log, "log2": np.log2, "ceil": np.ceil, "floor": np.floor,
    "-": np.negative, "not ": np.logical_not,
}  # fmt: skip
VALUES = {"a": np.float64(2.5), "b": np.array([-1.0, 0.0, 3.0]), "rate.avg": np.float64(0.0), "count": np.float64(7)}


def _combine(parts: st.SearchStrategy[tuple[str, Any]]) -> st.SearchStrategy[tuple[str, Any]]:
    def number(item: Any) -> Any:
        return np.asarray(item, dtype=np.float64)

    def binary(sign: str, left: tuple[str, Any], right: tuple[str, Any]) -> tuple[str, Any]:
        return f"({left[0]} {sign} {right[0]})", BINARY[sign](number(left[1]), number(right[1]))

    def unary(sign: str, inner: tuple[str, Any]) -> tuple[str, Any]:
        return f"({sign}({inner[0]}))", UNARY[sign](number(inner[1]))

    def choose(name: str, items: list[tuple[str, Any]]) -> tuple[str, Any]:
        fold = np.minimum if name == "min" else np.maximum
        result = number(items[0][1])
        for item in items[1:]:
            result = fold(result, number(item[1]))
        return f"{name}({', '.join(item[0] for item in items)})", result

    def where(condition: tuple[str, Any], yes: tuple[str, Any], no: tuple[str, Any]) -> tuple[str, Any]:
        result = np.where(number(condition[1]) != 0, number(yes[1]), number(no[1]))
        return f"where({condition[0]}, {yes[0]}, {no[0]})", result

    return st.one_of(
        st.builds(binary, st.sampled_from(list(BINARY)), parts, parts),
        st.builds(unary, st.sampled_from(list(UNARY)), parts),
        st.builds(choose, st.sampled_from(["min", "max"]), st.lists(parts, min_size=1, max_size=3)),
        st.builds(where, parts, parts, parts),
    )


leaves = st.one_of(
    st.sampled_from(list(VALUES.items())),
    st.integers(0, 10**6).map(lambda n: (str(n), n)),
    st.floats(0, 1e6).map(lambda n: (repr(n), n)),
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # inf and nan are wanted
@given(st.recursive(leaves, _combine, max_leaves=12))
def test_computes_what_numpy_computes(case: tuple[str, Any]) -> None:
    text, expected = case
    expression, problems = Expression.parse(text, VALUES)
    assert problems == ()
    assert expression is not None
    result = expression.evaluate(VALUES)
    np.testing.assert_array_equal(np.asarray(result, dtype=np.float64), np.asarray(expected, dtype=np.float64))
    assert isinstance(result, float | bool | np.ndarray)


def test_plain_cases() -> None:
    assert value("count > 3 and not (rate < 0.5 or rate > 2)", count=4, rate=1.0) is True
    assert value("1 < count < 3", count=3) is False
    assert value("2 + 3 * 4 ** 2 / 8") == 8.0
    assert value("1 / 0") == math.inf
    assert math.isnan(value("0 / 0"))
    assert value("kind == 'send' and kind != other", kind="send", other="recv") is True
    assert value("true and x", x=0) is False
    assert value("  a\n + b ", a=1, b=2) == 3.0
    np.testing.assert_array_equal(value("where(0 <= x < 2, x, -x)", x=np.array([-1, 1, 3])), [1, 1, -3])


def test_dotted_names_are_keys() -> None:
    expression, _ = Expression.parse("rate.avg / rate.max * 100", ("rate.avg", "rate.max"))
    assert expression is not None
    assert expression.names == {"rate.avg", "rate.max"}
    assert expression.evaluate({"rate.avg": 1, "rate.max": 4}) == 25.0


def test_any_name_where_none_are_given() -> None:
    expression, problems = Expression.parse("n ** 2 + x.y")
    assert problems == ()
    assert expression is not None
    assert expression.names == {"n", "x.y"}


@pytest.mark.parametrize(
    ("text", "column", "message", "hint"),
    [
        ("", 1, "empty", ""),
        ("a + cuont", 5, "no value 'cuont'", "Did you mean 'count'?"),
        ("rate.agv > 1", 1, "no value 'rate.agv'", "Did you mean 'rate.avg'?"),
        ("zzz", 1, "no value 'zzz'", "Values are: a, b, count, rate.avg."),
        ("a + mni(a, b)", 5, "no function 'mni'", "Did you mean 'min'?"),
        ("  é", 3, "no value 'é'", ""),
        ("a == 'é' and zzz", 14, "no value 'zzz'", ""),
        ("a && b", 4, "not an expression", "Write `and`."),
        ("a || b", 4, "not an expression", "Write `or`."),
        ("!a", 1, "not an expression", "Write `not`."),
        ("a ? b : 1", 3, "not an expression", "where("),
        ("a = 1", 3, "not an expression", "=="),
        ("a +", 4, "not an expression", ""),
        ("a if b else 1", 1, "not allowed", "where("),
        ("where(a, b)", 1, "where takes 3 values, not 2", ""),
        ("min()", 1, "at least one value", ""),
        ("abs(a, b)", 1, "abs takes 1 value, not 2", ""),
        ("max(*a)", 1, "plain values", ""),
        ("a + 'x'", 5, "a text is here", "== or !="),
        ("'x'", 1, "not a text", ""),
        ("a < 'x'", 5, "a text is here", ""),
        ("1j", 1, "not allowed", "real number"),
        ("None", 1, "not allowed", ""),
        ("1" + "0" * 400, 1, "too large", ""),
        ("-" * 100 + "1", 62, "too many levels", ""),
        ("+".join("a" * 400), 1, "too many levels", ""),
        ("a" * 3000, 1, "too long", ""),
    ],
)
def test_what_is_wrong(text: str, column: int, message: str, hint: str) -> None:
    expression, (problem,) = Expression.parse(text, NAMES, "rules.yaml", 12)
    assert expression is None
    assert (problem.file, problem.line, problem.column) == ("rules.yaml", 12, column)
    assert message in problem.message
    assert hint in problem.hint


HOSTILE = [
    "__import__('os').system('true')", "().__class__.__bases__[0].__subclasses__()", "a.__class__", "(1).real",
    "'x'.join(a)", "[x for x in a]", "{1: 2}", "{1}", "[1]", "(1, 2)", "a[0]", "a[0:1]", "lambda: 1", "(lambda: 1)()",
    "(y := 3)", "f'{a}'", "open('f')", "eval('1')", "exec", "min.__globals__", "min", "where.func_globals", "await a",
    "yield", "a @ b", "a << 100", "a | b", "~a", "a in b", "a is b", "...", "b'x'", "print(a)", "import os", "a; b",
    "((" * 500, "(" * 1999, "[" * 1000 + "]" * 1000, "a\x00b", "\ud800", "0x" + "f" * 1000, "9" * 1900, "'x' * 9",
    "abs('x')",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_refused(text: str) -> None:
    expression, problems = Expression.parse(text, ("a", "b", "x"))
    assert expression is None
    assert len(problems) == 1


@pytest.mark.parametrize(
    "text", ["9**9**9", "9**9**9**9", "2**" * 50 + "2", "-(9**9**9)", "9e307*" * 50 + "9", "0.1**9**9"]
)
def test_nothing_grows_without_bound(text: str) -> None:
    began_s = time.process_time()
    assert isinstance(value(text), float)
    assert time.process_time() - began_s < 1.0


@given(st.text(max_size=40))
def test_any_text_is_answered(text: str) -> None:
    expression, problems = Expression.parse(text, NAMES, "f", 1)
    assert (expression is None) == bool(problems)


def test_evaluation_says_what_it_lacks() -> None:
    expression, _ = Expression.parse("a + b", ("a", "b"))
    assert expression is not None
    with pytest.raises(WorkbenchError, match="needs b"):
        expression.evaluate({"a": 1})
    with pytest.raises(WorkbenchError, match="uses a text as a number"):
        expression.evaluate({"a": 1, "b": "x"})
    with pytest.raises(WorkbenchError, match="cannot be computed"):
        expression.evaluate({"a": np.zeros(2), "b": np.zeros(3)})


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("𝔘*()", 3, "'()' is not allowed"),
        ("  ªº + näme(1)", 8, "there is no function 'näme'"),
        ("µ + [1]", 5, "'[1]' is not allowed"),
        ("x\u2003+ (1, 2)", 5, "'(1, 2)' is not allowed"),
    ],
)
def test_columns_count_characters_whatever_they_are(text: str, column: int, message: str) -> None:
    expression, (problem,) = Expression.parse(text, line=1)
    assert expression is None
    assert problem.column == column
    assert message in problem.message

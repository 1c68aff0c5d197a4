"""Temporal assertions against what sequences mean, over random cycles."""

import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import property_oracle as oracle
import pytest
from assertion_judges import FORMS, OF_SYSTEMVERILOG, by_ghdl, by_verilator
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyslang import syntax
from rc_workbench_plugins.vhdl.psl import Property, properties
from rtl_simulator import Simulator
from sequence_oracle import CYCLES, Cycle, Seq, as_psl, as_sva, may_be_empty, open_since, verdicts
from tools import NEEDS_GHDL

from workbench.api.instrument.checker import Checker, checker
from workbench.hdl.verilog.assertions import Reader
from workbench.hdl.watched import ClockedRegister, Unwatched
from workbench.model.properties import Temporal
from workbench.model.sequences import TooLarge

CONDITIONS = st.tuples(st.just("is"), st.integers(0, 2))


def _more(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = inner.filter(lambda seq: not may_be_empty(seq))
    times = st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 2)))
    return st.one_of(
        st.tuples(st.sampled_from(["then", "fused", "or", "and", "both"]), some, some),
        st.builds(lambda one, n: ("times", one, n[0], n[1] if n[1] is None else max(1, n[0] + n[1])), some, times),
        st.tuples(st.just("then"), inner, some),
        st.tuples(st.just("all"), st.integers(0, 2), some),
        st.tuples(st.just("to"), st.integers(0, 2)),
        st.tuples(st.just("first"), some),
    )


SEQUENCES = st.recursive(CONDITIONS, _more, max_leaves=4).filter(lambda seq: not may_be_empty(seq))
TRACES = st.lists(st.sampled_from(CYCLES), max_size=24)


@cache
def read_psl(text: str) -> tuple[Temporal, tuple[str, ...]]:
    """A property of PSL."""
    ((_, found),) = properties(f"-- psl assert {text} @rising_edge(clk);\n".encode(), {})
    assert isinstance(found, Property), f"{text}: {found}"
    return found.checks, found.conditions


@cache
def read(text: str) -> tuple[Temporal, tuple[str, ...]]:
    """A property in SystemVerilog."""
    return read_kept(text)[0]


def read_kept(text: str, declared: str = "") -> tuple[tuple[Temporal, tuple[str, ...]], list[ClockedRegister]]:
    """The same, with what is kept of cycles before, of one with variables."""
    body = f"property p; {declared} @(posedge clk) {text}; endproperty assert property (p);"
    tree = syntax.SyntaxTree.fromText(f"module m;\n{body}\nendmodule\n")
    assert not tree.diagnostics, text
    reader = Reader(tree.root, "p", lambda _: False)
    found = reader.property(tree.root.members[1].statement.propertySpec)
    return (found.checks, found.conditions), reader.kept


def counted(made: Checker, conditions: tuple[str, ...], cycles: list[Cycle]) -> list[str]:
    """What a checker's expressions give in each cycle."""
    return followed(made, conditions, cycles)[0]


def followed(
    made: Checker, conditions: tuple[str, ...], cycles: list[Cycle], kept: Sequence[ClockedRegister] = ()
) -> tuple[list[str], int | None]:  # fmt: skip
    """The same, and the cycle in which the oldest strong check began that is open at the end."""
    code = {name: compile(text, text, "eval") for name, text in (("held", made.held), ("failed", made.failed))}
    steps = [compile(text, text, "eval") for text in made.next]
    asked = [_compiled(text) for text in conditions]
    wires = [(found[1], _compiled(found[2])) for one in kept if (found := _WIRE.search(one.declared))]
    later = [(found[1], _compiled(found[2])) for one in kept if (found := _SETS.fullmatch(one.sets))]
    registers, found = [0] * len(steps), []
    before = dict.fromkeys((name for name, _ in later), 0)
    begun = dict.fromkeys(made.begun, 0)
    opened: list[int] = []
    for number, cycle in enumerate(cycles):
        values = dict(zip("abc", map(int, cycle), strict=True)) | before
        for name, text in wires:
            values[name] = eval(text, values) & 1
        known = {"c": [int(eval(one, values)) for one in asked], "s": registers}
        of = {name: eval(one, known) & 1 for name, one in code.items()}
        found.append("failed" if of["failed"] else "held" if of["held"] else "")
        registers = [eval(one, known) & 1 for one in steps]
        begun = {
            register: min((begun[at] if at is not None else number for at, when in sources if eval(when, known) & 1),
                          default=0)
            for register, sources in made.begun.items()
        }  # fmt: skip
        opened = [number - age for when, age in made.open_ages if eval(when, {"n": registers}) & 1]
        opened += [begun[register] for register in made.open_begun if registers[register]]
        before = {name: eval(text, values) & 1 for name, text in later}
    return found, min(opened, default=None)


_WIRE, _SETS = re.compile(r"assign (\w+) = (.*);"), re.compile(r"(\w+) <= (.*);")


def _compiled(text: str) -> CodeType:
    text = re.sub(r"!(?!=)", " not ", text).replace("&&", " and ").replace("||", " or ").replace("1'b", "").strip()
    return compile(text, text, "eval")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SEQUENCES, st.one_of(st.none(), SEQUENCES), st.booleans(), TRACES)
def test_a_property_is_checked_as_it_is_meant(trigger: Seq, then: Seq | None, later: bool, cycles: list[Cycle]) -> None:
    text = f"{as_sva(trigger)} |{'=' if later else '-'}> {as_sva(then)}" if then else f"not ({as_sva(trigger)})"
    temporal, conditions = read(text)
    try:
        made = checker(temporal)
    except TooLarge:
        assume(False)
    meant = then if then is None or not later else ("then", ("any",), then)
    assert counted(made, conditions, cycles) == verdicts(trigger, meant, cycles)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SEQUENCES, st.one_of(st.none(), SEQUENCES), st.booleans(), TRACES)
def test_so_is_one_of_psl(trigger: Seq, then: Seq | None, later: bool, cycles: list[Cycle]) -> None:
    assume(not any(f"'{word}'" in f"{trigger} {then}" for word in ("all", "first")))
    left, right = (f"{{{as_psl(one)}}}" if one else "" for one in (trigger, then))
    temporal, conditions = read_psl(f"always {left} |{'=' if later else '-'}> {right}" if then else f"never {left}")
    try:
        made = checker(temporal)
    except TooLarge:
        assume(False)
    meant = then if then is None or not later else ("then", ("any",), then)
    assert counted(made, conditions, cycles) == verdicts(trigger, meant, cycles)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SEQUENCES, SEQUENCES, TRACES)
def test_what_is_strong_and_open_at_the_end_says_since_when(trigger: Seq, then: Seq, cycles: list[Cycle]) -> None:
    temporal, conditions = read(f"{as_sva(trigger)} |-> strong({as_sva(then)})")
    try:
        made = checker(temporal)
    except TooLarge:
        assume(False)
    assert followed(made, conditions, cycles) == (verdicts(trigger, then, cycles), open_since(trigger, then, cycles))


SMALL = st.recursive(CONDITIONS, _more, max_leaves=3).filter(lambda seq: not may_be_empty(seq))
PROPERTIES = st.recursive(
    st.tuples(st.just("seq"), SMALL, st.booleans()),
    lambda inner: st.one_of(
        st.tuples(st.just("imp"), SMALL, st.booleans(), inner),
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
        st.tuples(st.just("if"), st.integers(0, 2), inner, st.one_of(st.none(), inner)),
        st.builds(lambda low, more, one: ("always", low, more and low + more, one),
                  st.integers(0, 1), st.sampled_from([None, 1, 2]), inner),
    ),
    max_leaves=4,
)  # fmt: skip


@settings(max_examples=150, deadline=None, derandomize=True)
@given(PROPERTIES, TRACES)
def test_properties_within_properties_fail_as_they_are_meant_and_at_the_end(
    what: oracle.Property, cycles: list[Cycle]
) -> None:
    text = oracle.as_sva(what)
    try:
        temporal, conditions = read(text)
        made = checker(temporal)
    except TooLarge:
        assume(False)
    states, since = followed(made, conditions, cycles)
    failed = {cycle for cycle, state in enumerate(states) if state == "failed"}
    assert (failed, since is not None) == oracle.failures(what, cycles), text


SAME = st.tuples(st.just("same"), st.sampled_from("xy"), st.integers(0, 2))
LET = st.tuples(st.just("let"), st.sampled_from("xy"), st.integers(0, 2), st.integers(0, 2))
TIMES = st.builds(lambda low, more: ("times", ("any",), low, low + more), st.integers(0, 2), st.integers(0, 2))
WITH_VARIABLES = st.recursive(
    st.one_of(CONDITIONS, SAME, LET),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["then", "fused", "or"]), inner, inner),
        st.builds(lambda one, times, other: ("then", one, ("then", times, other)), inner, TIMES, inner),
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(WITH_VARIABLES, st.booleans(), WITH_VARIABLES, st.booleans(), st.integers(0, 2), TRACES)
def test_each_check_has_its_own_values_of_variables(
    trigger: Seq, later: bool, then: Seq, strong: bool, first: int, cycles: list[Cycle]
) -> None:
    """One has a value from the beginning, and one has where the sequence assigns it."""
    text = f"{oracle.as_sva(trigger)} |{'=' if later else '-'}> {oracle.as_sva(('seq', then, strong))}"
    try:
        (temporal, conditions), kept = read_kept(text, f"logic x = {'abc'[first]}; logic y;")
    except Unwatched as why:
        assume("its variable 'y' is read" not in str(why))
        raise
    begun = ("let", "x", first, 3)
    expected = oracle.failures(("imp", ("fused", begun, trigger), later, ("seq", then, strong)), cycles)
    states, since = followed(checker(temporal), conditions, cycles, kept)
    failed = {cycle for cycle, state in enumerate(states) if state == "failed"}
    assert (failed, since is not None) == expected, text


A, B, C = (tuple(n == m for m in range(3)) for n in range(3))
NONE = (False, False, False)


@pytest.mark.parametrize(
    ("sva", "psl", "cycles", "since"),
    [
        ("a |-> s_eventually b", "a -> eventually! b", [A, NONE, A, NONE], 0),
        ("a |-> s_eventually b", "a -> eventually! b", [A, B, A, NONE], 2),
        ("a |-> s_eventually b", "a -> eventually! b", [A, A, B], None),
        ("a |-> s_eventually strong(b ##1 c)", "a -> eventually! {b; c}", [A, B, A, B], 0),
        ("a |-> s_eventually strong(b ##1 c)", "a -> eventually! {b; c}", [A, B, C, A], 3),
        ("a |=> s_eventually [2:$] b", "a -> next (next![2] (eventually! b))", [A], None),
        ("a |=> s_eventually [2:$] b", "a -> next (next![2] (eventually! b))", [A, NONE], 0),
        ("a |=> s_eventually [2:$] b", "a -> next (next![2] (eventually! b))", [A, NONE, B], 0),
        ("a |-> s_eventually (b ##1 c)", "", [A, B, A, B], None),
        ("a |=> c s_until b", "a -> next (c until! b)", [A, C, A], None),
        ("a |=> c s_until b", "a -> next (c until! b)", [A, C, C], 0),
        ("a |=> c until b", "a -> next (c until b)", [A, C, C], None),
        ("a |=> c s_until_with b", "a -> next (c until!_ b)", [NONE, A, C], 1),
        ("a |-> s_nexttime b", "a -> next! b", [NONE, A], 1),
        ("a |-> nexttime b", "a -> next b", [NONE, A], None),
        ("a |-> nexttime strong(##1 b)", "a -> next {[*1]; b}!", [A], None),
        ("a |-> nexttime strong(##1 b)", "a -> next {[*1]; b}!", [A, NONE], 0),
        ("a |-> s_always [1:2] b", "a -> next_a![1 to 2] b", [A, B], 0),
        ("a |-> always [1:2] b", "a -> next_a[1 to 2] b", [A, B], None),
        ("a |-> strong(##[1:3] b) or (##2 c)", "", [A, NONE], None),
        ("a |-> strong(##[1:3] b) or (##2 c)", "", [A, NONE, NONE], 0),
        ("a |-> strong(##[1:3] b) and (##2 c)", "", [A, B], None),
        ("a |-> strong(##[1:3] b) and (##2 c)", "", [A, NONE, C], 0),
        ("a |-> if (b) s_eventually c", "", [(True, True, False)], 0),
        ("a |-> !b s_until c", "a -> (c before! b)", [A], 0),
        ("a |-> strong(b[->2])", "a -> next_event!(b)[2] (not a)", [A, B], 0),
        ("a |-> strong(b[->2])", "a -> next_event!(b)[2] (not a)", [A, B, B], None),
        ("a |-> always !b", "", [A, NONE], None),
        ("not (a ##1 b)", "", [A, NONE, A], 2),
        ("not (a ##1 b)", "", [A, B], None),
        ("not (a ##1 b)", "", [A, NONE], None),
        ("not (a ##[1:2] b)", "", [A, A, NONE], 1),
        ("not (a ##1 b[->1])", "", [A, NONE, A], 0),
        ("c |-> not (b[*2])", "", [(False, True, True)], 0),
        ("c |=> not (b[*2])", "", [(False, True, True)], None),
        ("not strong(a ##1 b)", "never {a; b}", [A, NONE, A], None),
        ("not (a |-> ##1 b)", "", [A], 0),
    ],
)  # fmt: skip
def test_the_end_of_the_run_fails_what_is_strong_alone(
    sva: str, psl: str, cycles: list[Cycle], since: int | None
) -> None:
    for text, reader in ((sva, read), (f"always ({psl})" if psl else "", read_psl)):
        if text:
            temporal, conditions = reader(text)
            assert followed(checker(temporal), conditions, cycles)[1] == since, text
            of_not = "not (" in sva
            assert temporal.is_strong == ("s_" in sva or of_not or ("strong" in sva and "not" not in sva)), text


def test_always_fails_once_for_each_check() -> None:
    temporal, conditions = read("a |-> always !b")
    assert counted(checker(temporal), conditions, [A, NONE, B, B, A, B]) == [
        "held",
        "held",
        "failed",
        "held",
        "held",
        "failed",
    ]


SOME = random.Random(3)
SOME_CYCLES = [SOME.choice(CYCLES) for _ in range(400)]


def failures(text: str, psl: bool) -> set[int]:
    (temporal, conditions), kept = (read_psl(text), []) if psl else read_kept(text)
    states, since = followed(checker(temporal), conditions, SOME_CYCLES, kept)
    at_the_end = {len(states) - 1} if since is not None else set()
    return {cycle for cycle, state in enumerate(states) if state == "failed"} | at_the_end


def test_verilator_says_the_same_of_systemverilog(tmp_path: Path) -> None:
    forms = [form.sva for form in FORMS if form.by_verilator]
    judged = by_verilator(Simulator(tmp_path), [*forms, *OF_SYSTEMVERILOG], SOME_CYCLES)
    last = {len(SOME_CYCLES) - 1}
    assert [failures(form, False) for form in forms] == judged[: len(forms)]
    assert [failures(form, False) - last for form in OF_SYSTEMVERILOG] == [one - last for one in judged[len(forms) :]]
    assert all(judged)


@NEEDS_GHDL
def test_ghdl_says_the_same_of_psl_and_both_languages_agree(tmp_path: Path) -> None:
    judged = by_ghdl(tmp_path, [form.by_ghdl or form.psl for form in FORMS], SOME_CYCLES)
    psl = [form.psl if form.psl.startswith("never") else f"always ({form.psl})" for form in FORMS]
    assert [failures(form, True) for form in psl] == judged
    assert [failures(form.sva, False) for form in FORMS] == judged
    assert all(judged)

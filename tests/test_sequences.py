"""Temporal assertions against what sequences mean, over random cycles."""

import random
from functools import cache
from pathlib import Path
from typing import Any

from assertion_judges import FORMS, by_ghdl, by_verilator
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyslang import syntax
from rc_workbench_plugins.vhdl.psl import Property, properties
from rtl_simulator import Simulator
from sequence_oracle import CYCLES, Cycle, Seq, as_psl, as_sva, may_be_empty, verdicts
from tools import NEEDS_GHDL

from workbench.api.instrument.checker import Checker, checker
from workbench.hdl.verilog.assertions import Reader
from workbench.model.sequences import Temporal, TooLarge

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
    tree = syntax.SyntaxTree.fromText(f"module m;\nassert property (@(posedge clk) {text});\nendmodule\n")
    assert not tree.diagnostics, text
    (member,) = tree.root.members
    found = Reader(tree.root, "p", lambda _: False).property(member.statement.propertySpec)
    return found.checks, found.conditions


def counted(made: Checker, conditions: tuple[str, ...], cycles: list[Cycle]) -> list[str]:
    """What a checker's expressions give in each cycle."""
    code = {name: compile(text, text, "eval") for name, text in (("held", made.held), ("failed", made.failed))}
    steps = [compile(text, text, "eval") for text in made.next]
    asked = [compile(one.replace("!", " not ").replace("&&", "and").strip(), one, "eval") for one in conditions]
    registers, found = [0] * len(steps), []
    for cycle in cycles:
        values = dict(zip("abc", cycle, strict=True))
        known = {"c": [int(eval(one, values)) for one in asked], "s": registers}
        of = {name: eval(one, known) & 1 for name, one in code.items()}
        found.append("failed" if of["failed"] else "held" if of["held"] else "")
        registers = [eval(one, known) & 1 for one in steps]
    return found


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


SOME = random.Random(3)
SOME_CYCLES = [SOME.choice(CYCLES) for _ in range(400)]


def failures(text: str, psl: bool) -> set[int]:
    temporal, conditions = (read_psl if psl else read)(text)
    states = counted(checker(temporal), conditions, SOME_CYCLES)
    return {cycle for cycle, state in enumerate(states) if state == "failed"}


def test_verilator_says_the_same_of_systemverilog(tmp_path: Path) -> None:
    forms = [form.sva for form in FORMS if form.by_verilator]
    judged = by_verilator(Simulator(tmp_path), forms, SOME_CYCLES)
    assert [failures(form, False) for form in forms] == judged
    assert all(judged)


@NEEDS_GHDL
def test_ghdl_says_the_same_of_psl_and_both_languages_agree(tmp_path: Path) -> None:
    judged = by_ghdl(tmp_path, [form.by_ghdl or form.psl for form in FORMS], SOME_CYCLES)
    psl = [form.psl if form.psl.startswith("never") else f"always ({form.psl})" for form in FORMS]
    assert [failures(form, True) for form in psl] == judged
    assert [failures(form.sva, False) for form in FORMS] == judged
    assert all(judged)

"""Evaluates conditions on two runs, such as `time > 1.02`, which let continuous integration fail.

A name without `_a` or `_b` is run B's value over run A's: 1 if both are zero, infinite if only A's is. Names with `_a`
and `_b` are the values themselves, in seconds, bytes or counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from workbench.analysis.compare import Comparison, Pair, finding_text
from workbench.api.results import CallMetrics, GroupMetrics, StateMetrics
from workbench.model.diagnostic import Diagnostic, WorkbenchError, nearest
from workbench.model.expression import Expression, member_name
from workbench.model.finding import FAILED_ASSERTION, Finding, Place, tops
from workbench.model.pragma import Category

FAMILIES = ("block", "state", "call", "finding")
_SHOWN = 6  # names in a hint


@dataclass(frozen=True)
class Verdict:
    """A condition, whether it holds, the values that it reads, and the source places that its names belong to."""

    text: str
    holds: bool
    values: Mapping[str, float]
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Names:
    """The values that conditions may read, and the source places of their owners, by the part before the last dot."""

    values: Mapping[str, float]
    places: Mapping[str, tuple[Place, ...]]


def judge(texts: Sequence[str], comparison: Comparison, rules: Iterable[str], who: str = "") -> list[Verdict]:
    """The verdict of each condition on a comparison. `rules` are the names of all rules, also of those without a
    finding; `who` names the second run if there are several.

    Raises WorkbenchError for a text that is not a condition, for a name that neither run has, and for a run that did
    not finish.
    """
    if not texts:
        return []
    if comparison.speedup is None:
        runs_named = f"the first run or {who}" if who else "one of the two runs"
        message = f"{runs_named} did not finish, so no condition can be checked"
        raise WorkbenchError(Diagnostic(message, "Compare runs that are complete."))
    names = condition_names(comparison, rules)
    return [_judged(text, names) for text in texts]


def condition_names(comparison: Comparison, rules: Iterable[str] = ()) -> Names:
    """All names that a condition on this comparison may use."""
    values: dict[str, float] = {}
    places: dict[str, tuple[Place, ...]] = {}
    _add(values, "time", *comparison.time_s)
    for kind, pairs in (("new", comparison.only_in_b), ("gone", comparison.only_in_a)):
        values[f"findings.{kind}"] = float(len(tops(pairs)))
        values[f"findings.{kind}_gain"] = _gain(pairs)
    values["findings.kept"] = float(len(tops(a for a, _ in comparison.in_both)))
    for pair in comparison.blocks:
        _add_block(values, places, pair)
    for call in comparison.calls:
        name = member_name("call", call.name)
        for quantity in ("time", "count", "bytes"):
            _add(
                values,
                f"{name}.{quantity}",
                *(_of(one, "time_s" if quantity == "time" else quantity) for one in _values_of(call)),
            )
        site = _existing_value(call).site
        places[name] = (Place(site.file, site.line, call.name),)
    in_a, in_b = [a for a, _ in comparison.in_both], [b for _, b in comparison.in_both]
    findings = [*comparison.only_in_a, *in_a], [*comparison.only_in_b, *in_b]
    listed = {finding_text(f) for pairs in findings for f in pairs}
    for text in (*rules, FAILED_ASSERTION, *sorted(listed)):
        mine = [[f for f in pairs if text in (f.rule, finding_text(f))] for pairs in findings]
        name = member_name("finding", text)
        _add(values, f"{name}.time", *(sum(f.time_s for f in tops(pairs)) for pairs in mine))
        _add(values, f"{name}.gain", *(_gain(pairs) for pairs in mine))
        _add(values, f"{name}.failures", *(sum(f.failures for f in pairs) for pairs in mine))
        places[name] = tuple(place for f in (mine[1] or mine[0]) for place in f.places[:1])
    return Names(values, places)


def _judged(text: str, names: Names) -> Verdict:
    expression, problems = Expression.parse(text, families=FAMILIES)
    if expression is None:
        raise WorkbenchError(*(_bad(text, problem.message, problem.hint) for problem in problems))
    if unknown := sorted(expression.names - names.values.keys()):
        raise WorkbenchError(
            *(_bad(text, f"there is no value '{name}'", _hint(name, names.values)) for name in unknown)
        )
    holds = expression.evaluate(names.values)
    if not isinstance(holds, bool):
        raise WorkbenchError(_bad(text, "this is a number, not a condition", f"Write for example {text} > 1.02."))
    used = sorted(expression.names)
    places = dict.fromkeys(place for name in used for place in names.places.get(name.rpartition(".")[0], ()))
    return Verdict(text, holds, {name: names.values[name] for name in used}, tuple(places))


def _bad(text: str, message: str, hint: str) -> Diagnostic:
    return Diagnostic(f"--fail-if '{text}': {message}", hint)


def _hint(name: str, known: Iterable[str]) -> str:
    """The most similar name, or the first of its family."""
    if nearest_name := nearest(name, known):
        return f"Did you mean {nearest_name}?"
    family = name.partition("(")[0]
    alike = [one for one in known if one.startswith(f"{family}(")] if family in FAMILIES else []
    candidates = alike or [one for one in known if "(" not in one]
    more = f" and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
    return f"Known: {', '.join(candidates[:_SHOWN])}{more}; families: {', '.join(FAMILIES)}."


def _add(values: dict[str, float], name: str, a: float, b: float) -> None:
    values[f"{name}_a"], values[f"{name}_b"] = float(a), float(b)
    values[name] = b / a if a else float("inf") if b else 1.0


def _add_block(values: dict[str, float], places: dict[str, tuple[Place, ...]], pair: Pair[GroupMetrics]) -> None:
    """Add the mean times of a block's replicas: working (`time`), in each category, and in each state."""
    name, group = member_name("block", pair.name), _existing_value(pair)
    times = {category.value: partial(_category_s, category) for category in Category}
    for quantity, time_s in {"time": times[Category.WORK.value], **times}.items():
        _add(values, f"{name}.{quantity}", *(time_s(one) for one in _values_of(pair)))
    block = group.members[0].block
    if block.file and block.line:
        places[name] = (Place(block.file, block.line),)
    states = [_states(one) for one in _values_of(pair)]
    for state in dict.fromkeys((*states[0], *states[1])):
        inner = member_name("state", pair.name, state)
        for quantity in ("time", "visits"):
            key = "time_s" if quantity == "time" else quantity
            _add(values, f"{inner}.{quantity}", *(_mean(one.get(state, []), key) for one in states))
        state_metrics = (states[1].get(state) or states[0][state])[0].state
        if state_metrics.file and state_metrics.line:
            places[inner] = (Place(state_metrics.file, state_metrics.line, state),)


def _states(group: GroupMetrics | None) -> dict[str, list[StateMetrics]]:
    """A group's states by name, one for each member."""
    by_name: dict[str, list[StateMetrics]] = {}
    for member in group.members if group else ():
        for state in member.states:
            by_name.setdefault(state.state.name, []).append(state)
    return by_name


def _mean(states: Sequence[StateMetrics], key: str) -> float:
    return float(sum(getattr(state, key) for state in states) / len(states)) if states else 0.0


def _category_s(category: Category, group: GroupMetrics | None) -> float:
    return sum(m.time_of(category) for m in group.members) / len(group.members) if group else 0.0


def _values_of(pair: Pair[Any]) -> tuple[Any, Any]:
    return pair.a, pair.b


def _existing_value(pair: Pair[Any]) -> Any:
    return pair.a if pair.b is None else pair.b


def _of(call: CallMetrics | None, key: str) -> float:
    return float(getattr(call, key)) if call else 0.0


def _gain(findings: Iterable[Finding]) -> float:
    """The largest gain; 1 without findings."""
    return max((finding.gain for finding in findings), default=1.0)

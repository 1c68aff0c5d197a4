"""Compares two runs: the speedup, changed calls and states, and findings that disappeared or are new."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

from workbench.analysis.came_true import work_of
from workbench.analysis.cause import Cause, cause_json
from workbench.analysis.equal_work import EqualWork, equal_json, equal_words
from workbench.analysis.report import clock_json
from workbench.api.results import Analysis, BlockMetrics, CallMetrics, GroupMetrics, StateMetrics
from workbench.model.blocks import Side
from workbench.model.finding import Finding
from workbench.model.ledger import Work
from workbench.model.pragma import Category
from workbench.model.run import Run, RunClock
from workbench.model.text import bytes_text, count_text, counted, faster_text

T = TypeVar("T")


@dataclass(frozen=True)
class Pair(Generic[T]):
    """The values of one block, call or state in both runs, by name; None if a run lacks it."""

    name: str
    a: T | None
    b: T | None


@dataclass(frozen=True)
class Difference:
    """One difference in the work of two runs. `kind` is setting, blocks, calls or bytes (of calls); a value is None if
    its run lacks the name."""

    kind: str
    name: str
    a: int | float | str | None
    b: int | float | str | None


@dataclass(frozen=True)
class Comparison:
    """Run B against run A. `speedup` is A's time over B's, None if one of them did not finish.

    `same_output` says whether both printed the same, bit for bit; None if unknown. `differences` lists differences in
    the work, and `work` says whether the calls that move most moved as much. `equal`, of traced runs, is a part of each
    run with equal work; `cause` is the largest difference on equal work, if it was requested. `blocks` are paired by
    group of replicas, `calls` by label, `clocks` by name, and the states of the host's main block, `states`, by name;
    each is sorted by its change of time. `only_in_a`, `in_both` and `only_in_b` are findings, `in_both` as (A's, B's).
    """

    time_s: tuple[float, float]
    speedup: float | None
    same_output: bool | None
    blocks: tuple[Pair[GroupMetrics], ...]
    calls: tuple[Pair[CallMetrics], ...]
    states: tuple[Pair[StateMetrics], ...]
    only_in_a: tuple[Finding, ...]
    in_both: tuple[tuple[Finding, Finding], ...]
    only_in_b: tuple[Finding, ...]
    clocks: tuple[Pair[RunClock], ...] = ()
    differences: tuple[Difference, ...] = ()
    work: Work = Work.UNKNOWN
    equal: EqualWork | None = None
    cause: Cause | None = None


def compare(a: Analysis, b: Analysis, runs: tuple[Run, Run]) -> Comparison:
    """Compare two analysed runs. Lines may move: findings of calls match by rule, block and label."""
    complete = all(run.complete for run in runs)  # incomplete runs cannot be compared by time
    findings_a, findings_b = ({_finding_key(f): f for f in reversed(run.findings)} for run in (a, b))
    return Comparison(
        time_s=(a.time_s, b.time_s),
        speedup=a.time_s / b.time_s if complete and a.time_s and b.time_s else None,
        same_output=_same_output(runs) if complete else None,
        blocks=_pairs(a.groups(), b.groups(), lambda g: g.group, lambda g: g.mean_work_share * g.members[0].time_s),
        calls=_pairs(
            _uniquely_labelled(a.calls), _uniquely_labelled(b.calls), lambda c: c.site.label, lambda c: c.time_s
        ),
        states=_pairs(_host_states(a), _host_states(b), lambda s: s.state.name, lambda s: s.time_s),
        only_in_a=tuple(f for f in a.findings if _finding_key(f) not in findings_b),
        in_both=tuple((f, findings_b[key]) for f in a.findings if (key := _finding_key(f)) in findings_b),
        only_in_b=tuple(f for f in b.findings if _finding_key(f) not in findings_a),
        clocks=_pairs(a.clocks, b.clocks, lambda clock: clock.name, lambda clock: 1 / clock.frequency_hz),
        differences=tuple(_differences((a, b), runs)),
        work=work_of(*runs),
    )


def _differences(analyses: tuple[Analysis, Analysis], runs: tuple[Run, Run]) -> Iterator[Difference]:
    """Differences in settings, blocks, numbers of calls and bytes, by name, since lines may move."""
    values_by_kind: dict[str, list[dict[str, Any]]] = {
        "setting": [dict(run.manifest.settings) for run in runs],
        "blocks": [{group.group: len(group.members) for group in analysis.groups()} for analysis in analyses],
    }
    for kind in ("calls", "bytes"):
        sums: list[dict[str, Any]] = []
        for analysis in analyses:
            sums.append({})
            for call in analysis.calls:
                amount = call.count if kind == "calls" else call.bytes
                sums[-1][call.site.label] = sums[-1].get(call.site.label, 0) + amount
        values_by_kind[kind] = sums
    for kind, (in_a, in_b) in values_by_kind.items():
        for name in dict.fromkeys([*in_a, *in_b]):
            in_a_value, in_b_value = in_a.get(name), in_b.get(name)
            if (in_a_value or None) != (in_b_value or None):
                yield Difference(kind, name, in_a_value, in_b_value)


def _same_output(runs: tuple[Run, Run]) -> bool | None:
    a, b = (run.manifest.stdout_sha256 for run in runs)
    return a == b if a and b else None


def _pairs(
    a: Iterable[T], b: Iterable[T], name: Callable[[T], str], time_s: Callable[[T], float]
) -> tuple[Pair[T], ...]:
    first, second = {name(x): x for x in a}, {name(x): x for x in b}
    pairs = [Pair(key, first.get(key), second.get(key)) for key in dict.fromkeys([*first, *second])]

    def change(pair: Pair[T]) -> float:
        before = time_s(pair.a) if pair.a is not None else 0.0
        after = time_s(pair.b) if pair.b is not None else 0.0
        return -abs(before - after)

    return tuple(sorted(pairs, key=change))


def _uniquely_labelled(calls: Sequence[CallMetrics]) -> list[CallMetrics]:
    """The calls with unique names: labels of several calls are extended by place and state."""
    labels = [call.site.label for call in calls]
    renamed = []
    for call in calls:
        name = call.site.label
        if labels.count(name) > 1:
            name = f"{name} ({call.place}, {call.state.name})"
        renamed.append(replace(call, site=replace(call.site, label=name)))
    return renamed


def _host_states(analysis: Analysis) -> tuple[StateMetrics, ...]:
    hosts = analysis.side(Side.HOST)
    return tuple(s for s in hosts[0].states if s.state.index) if hosts else ()


def _finding_key(finding: Finding) -> tuple[str, str, str, str]:
    label = finding.places[0].label if finding.scope == "call" and finding.places else ""
    return finding.rule, finding.scope, re.sub(r"\[[^\]]*\]", "[*]", finding.block), label


def faster_words(comparison: Comparison, who: str = "B") -> str:
    """`B is 2.00× faster`, or that a run did not finish and cannot be compared."""
    speedup = comparison.speedup
    if speedup is None:
        return f"{who} cannot be compared: one of the two runs did not finish"
    words = faster_text(speedup, who)
    return f"{words}, {'' if comparison.same_output else 'but '}{output_words(comparison)}"


def output_words(comparison: Comparison) -> str:
    """Whether the outputs of both runs are the same."""
    return {True: "same output, bit for bit", False: "their outputs differ", None: "their outputs are unknown"}[
        comparison.same_output
    ]


def work_parts(comparison: Comparison, who: str = "B") -> tuple[str, ...]:
    """Whether both runs did equal work, then each difference; `who` is the letter of the second run."""
    if not comparison.differences:
        return ("the same work: settings, blocks, calls and bytes",)
    together: dict[tuple[str, bool, bool], list[Difference]] = {}
    for one in comparison.differences:  # the calls that only one run makes, with their bytes
        kind = "" if one.kind in ("calls", "bytes") and None in (one.a, one.b) else one.kind
        together.setdefault((kind + one.name, one.a is None, one.b is None), []).append(one)
    verdict = "same work" if comparison.work is Work.EQUAL else "different work"
    return (verdict, *(_difference_words(of_one, who) for of_one in together.values()))


def work_words(comparison: Comparison, most: int = 4, who: str = "B") -> str:
    """Whether both runs did equal work, with the first few differences."""
    verdict, *parts = work_parts(comparison, who)
    more = len(parts) - most
    listed_parts = "; ".join([*parts[:most], *([f"{more} more"] if more > 0 else [])])
    return f"{verdict}{'; ' if comparison.work is Work.EQUAL else ': '}{listed_parts}" if parts else verdict


def _difference_words(differences: Sequence[Difference], who: str) -> str:
    """One difference, or the calls and bytes of what only one run calls."""

    def amount(difference: Difference, value: float | str) -> str:
        if isinstance(value, str):
            return value
        if difference.kind in ("calls", "blocks"):
            return counted(float(value), difference.kind.removesuffix("s"))
        return bytes_text(value) if difference.kind == "bytes" else count_text(value)

    first = differences[0]
    if first.a is not None and first.b is not None:
        return f"{first.name} {amount(first, first.a)} in A, {amount(first, first.b)} in {who}"
    run = "A" if first.b is None else who
    amounts = (amount(one, (one.a if one.b is None else one.b) or 0) for one in differences)
    return f"{first.name} in {run} only ({', '.join(amounts)})"


def share_words(comparison: Comparison) -> str:
    """The share of each traced run that is equal work; "" without a trace."""
    return equal_words(comparison.equal) if comparison.equal else ""


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """The JSON document of `workbench compare`."""
    return {
        "time_s": list(comparison.time_s),
        "speedup": comparison.speedup,
        "same_output": comparison.same_output,
        "same_work": not comparison.differences,
        "work": comparison.work.value,
        "differences": [asdict(difference) for difference in comparison.differences],
        "equal_work": equal_json(comparison.equal) if comparison.equal else None,
        "cause": cause_json(comparison.cause) if comparison.cause else None,
        "blocks": [{"id": pair.name, "a": _block_json(pair.a), "b": _block_json(pair.b)} for pair in comparison.blocks],
        "calls": [
            {
                "label": pair.name,
                "a": _call_json(pair.a),
                "b": _call_json(pair.b),
                "change_s": (pair.b.time_s if pair.b else 0.0) - (pair.a.time_s if pair.a else 0.0),
            }
            for pair in comparison.calls
        ],
        "clocks": [
            {
                "name": pair.name,
                "a": clock_json(pair.a) if pair.a else None,
                "b": clock_json(pair.b) if pair.b else None,
            }
            for pair in comparison.clocks
        ],
        "findings": {
            "gone": [finding_text(f) for f in comparison.only_in_a],
            "new": [finding_text(f) for f in comparison.only_in_b],
            "kept": [finding_text(f) for f, _ in comparison.in_both],
        },
    }


def finding_text(finding: Finding) -> str:
    """A finding in a line of `workbench compare`: its rule, its place, and a call's label."""
    label = f", {finding.places[0].label}" if finding.scope == "call" and finding.places else ""
    return f"{finding.rule} ({finding.group or finding.where}{label})"


def _block_json(group: GroupMetrics | None) -> dict[str, Any] | None:
    if group is None:
        return None
    first: BlockMetrics = group.members[0]
    shares = {
        category.value: sum(m.share_of(category) for m in group.members) / len(group.members) for category in Category
    }
    return {
        "side": first.block.side.value,
        "replicas": len(group.members),
        "time_s": first.time_s,
        "shares": shares,
        "work_share": {
            "best": group.best.share_of(Category.WORK),
            "worst": group.worst.share_of(Category.WORK),
            "mean": group.mean_work_share,
        },
    }


def _call_json(call: CallMetrics | None) -> dict[str, Any] | None:
    if call is None:
        return None
    return {"count": call.count, "bytes": call.bytes, "time_s": call.time_s, "site": call.place}

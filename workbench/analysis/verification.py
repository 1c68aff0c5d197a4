"""The results of a design's assertions and branches in a run (ReCAP 2011, section 2.1)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.api.results import BlockMetrics
from workbench.api.verified import ArmCount, AssertionResult, DecisionResult
from workbench.api.views import Column, Table
from workbench.model.custom import FAILED, HELD, RESET, MetricKind
from workbench.model.cycles import cycle_start_ps
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.finding import FAILED_ASSERTION, Advice, Finding, Place
from workbench.model.run import PS_PER_S, Run
from workbench.model.text import counted, percent_text, thousands, time_text

_ADVICE = (
    "Look at the signals at its first failure, on the Timeline or in a run with --waves; fix the design, or what it"
    " asserts."
)
_LEVELS = {"note": "low", "warning": "medium"}
_SEVERITIES = {"note": Severity.NOTE, "warning": Severity.WARNING}


def assertion_results(run: Run, blocks: Sequence[BlockMetrics]) -> tuple[AssertionResult, ...]:
    """Every watched assertion, over all places where it is instantiated, those that failed first."""
    first_of, open_of = (_cycles_of(run.tables.get(name, {})) for name in ("first_cycles", "open_since"))
    results = [_assertion(places, first_of, open_of) for places in _by_place(blocks, MetricKind.ASSERT)]
    return tuple(sorted(results, key=lambda one: -bool(one.failed)))


def _cycles_of(table: Mapping[str, Any]) -> dict[int, int]:
    """The cycles of a table by block number."""
    return dict(zip(table["block"].tolist(), table["cycle"].tolist(), strict=True)) if table else {}


def _by_place(blocks: Sequence[BlockMetrics], kind: MetricKind) -> list[list[BlockMetrics]]:
    """The counted blocks of a kind, grouped by the source line that declares them."""
    by_place: dict[tuple[str | None, int | None, str], list[BlockMetrics]] = {}
    for one in blocks:
        if one.block.kind == kind and one.cycles and len(one.states) > 1:
            key = (one.block.file, one.block.line, one.block.id.rpartition(".")[2])
            by_place.setdefault(key, []).append(one)
    return list(by_place.values())


def _assertion(
    places: Sequence[BlockMetrics], first_of: Mapping[int, int], open_of: Mapping[int, int]
) -> AssertionResult:
    block = places[0].block
    severity, *said = block.states[FAILED].reasons or ("error",)
    first, oldest = (_earliest(places, cycles) for cycles in (first_of, open_of))
    failed = {one.block.id: one.states[FAILED].cycles + (one.number in open_of) for one in places}
    return AssertionResult(
        block.id.rpartition(".")[2], block.file or "", block.line or 0, severity, "".join(said),
        sum(one.states[HELD].cycles for one in places), sum(failed.values()), failed,
        first[1], first[0], first[2], oldest[1], oldest[0], oldest[2],
    )  # fmt: skip


def _earliest(
    places: Sequence[BlockMetrics], cycles: Mapping[int, int]
) -> tuple[float, int, str] | tuple[None, None, str]:
    """The earliest of the blocks' cycles: its time (s), its number, and its block."""
    times = ((_start_s(one, cycles[one.number]), cycles[one.number], one.block.id)
             for one in places if one.number in cycles)  # fmt: skip
    return min(times, default=(None, None, ""))


def _start_s(block: BlockMetrics, cycle: int) -> float:
    clock = block.clock
    if clock is None:
        return 0.0
    return (clock.start_ps + cycle_start_ps(cycle, clock.frequency_hz, clock.drift_ppm_per_s)) / PS_PER_S


def assertion_problems(results: Sequence[AssertionResult]) -> Iterator[Diagnostic]:
    """A diagnostic for each assertion that failed, at its line, and a note for each that was never evaluated."""
    for one in results:
        if one.failed:
            severity = _SEVERITIES.get(one.severity, Severity.ERROR)
            yield Diagnostic(_failed_words(one), "", severity, one.file, one.line)
        elif not one.held:
            text = f"the assertion '{one.name}' was never evaluated in this run"
            yield Diagnostic(text, "", Severity.NOTE, one.file, one.line)


def assertion_findings(results: Sequence[AssertionResult]) -> Iterator[Finding]:
    """A finding for each assertion that failed, with its place, its count and its first failure."""
    for one in results:
        if one.failed:
            where = min(one.each)
            yield Finding(
                f"assertion-{where}-{one.line}".lower(), FAILED_ASSERTION, _title(one),
                "block", where, one.first_in or one.open_in or where, 0.0, 1.0, None, _LEVELS.get(one.severity, "high"),
                (Advice(_ADVICE, None, no_change="an assertion that fails has no time to gain"),),
                explanation=f"{_failed_words(one)}.", places=(Place(one.file, one.line, one.name),),
                failures=one.failed, first_s=one.first_s, open_s=one.open_s,
            )  # fmt: skip


def _title(one: AssertionResult) -> str:
    is_open = one.first_cycle is None and one.open_cycle is not None
    return f"Assertion {one.name} {'was open at the end of the run' if is_open else f'failed {_often(one)}'}"


def _often(one: AssertionResult) -> str:
    return "once" if one.failed == 1 else f"{thousands(one.failed)} times"


def _failed_words(one: AssertionResult) -> str:
    parts = [f"the assertion '{one.name}' failed {_often(one)}"]
    if one.first_cycle is not None:
        parts.append(f"first in {_when(one.first_cycle, one.first_s)} of {one.first_in}")
    if one.open_cycle is not None:
        since = f"since {_when(one.open_cycle, one.open_s)} of {one.open_in}"
        parts.append(f"still open at the end of the run {since}")
    return ", ".join(parts) + (f": {one.says}" if one.says else "")


def _when(cycle: int, time_s: float | None) -> str:
    return f"cycle {cycle} ({time_text(time_s or 0.0)})"


def assertion_words(one: AssertionResult) -> str:
    """The result of an assertion, in a line."""
    held = f"held in {counted(one.held, 'cycle')}" if one.held else "was never evaluated"
    return _failed_words(one) if one.failed else f"the assertion '{one.name}' {held}"


def assertions_words(results: Sequence[AssertionResult]) -> str:
    """The results of all assertions, in a line of the report; "" if none was watched."""
    failed, held = sum(one.failed > 0 for one in results), sum(one.held > 0 and not one.failed for one in results)
    parts = (f"{failed} failed", f"{held} held", f"{len(results) - failed - held} never evaluated")
    said = ", ".join(part for part in parts if not part.startswith("0 "))
    return f"{counted(len(results), 'assertion')} watched: {said}" if results else ""


def decision_results(blocks: Sequence[BlockMetrics]) -> tuple[DecisionResult, ...]:
    """Every decision whose branches were counted, in the order of the sources."""
    results = []
    for places in _by_place(blocks, MetricKind.BRANCH):
        block = places[0].block
        arms = tuple(
            ArmCount(state.name, state.line or block.line or 0, sum(one.states[n].cycles for one in places))
            for n, state in enumerate(block.states) if n and RESET not in state.reasons
        )  # fmt: skip
        if arms:
            ids = tuple(one.block.id for one in places)
            name = block.id.rpartition(".")[2]
            results.append(DecisionResult(name, block.file or "", block.line or 0, arms, ids))
    return tuple(sorted(results, key=lambda one: (one.file, one.line)))


def branch_counts(decisions: Sequence[DecisionResult]) -> tuple[int, int]:
    """The number of branches that were taken, and the number of all branches."""
    arms = [arm for one in decisions for arm in one.arms]
    return sum(arm.count > 0 for arm in arms), len(arms)


def coverage_words(decisions: Sequence[DecisionResult]) -> str:
    """The taken branches, in words; "" if none was counted."""
    some, all_ = branch_counts(decisions)
    return f"{some} of {all_} branches taken ({percent_text(some / all_)})" if all_ else ""


def arms_of(decisions: Sequence[DecisionResult]) -> list[tuple[DecisionResult, ArmCount]]:
    """Each branch with its decision, those that were never taken first, then in the order of the sources."""
    pairs = [(one, arm) for one in decisions for arm in one.arms]
    return sorted(pairs, key=lambda pair: (pair[1].count > 0, pair[0].file, pair[1].line))


def assertion_table(results: Sequence[AssertionResult]) -> Table:
    """A table of the assertions, those that failed first."""
    return Table("Assertions", (
        Column("Assertion", lambda row: row.name, share=0.25, key=lambda row: row.name,
               tip_of=lambda row: row.says or row.name),
        Column("Failed", lambda row: thousands(row.failed), width_px=96, right=True, key=lambda row: row.failed,
               ink=lambda row: ("high" if row.failed else "second", 13, 600 if row.failed else 400)),
        Column("Held", lambda row: thousands(row.held), width_px=112, right=True, key=lambda row: row.held),
        Column("First failure", _first_words, width_px=200, key=lambda row: row.first_s or row.open_s or 0.0,
               tip_of=assertion_words),
        Column("Says", lambda row: row.says, share=0.4, key=lambda row: row.says),
        Column("At", lambda row: f"{row.file}:{row.line}", share=0.35, elide_middle=True,
               key=lambda row: f"{row.file}:{row.line:09}", ink=lambda row: ("second", 13, 400)),
    ), list(results), place=lambda row: Place(row.file, row.line, row.name) if row.file else None)  # fmt: skip


def _first_words(row: AssertionResult) -> str:
    if row.first_cycle is not None:
        return f"cycle {row.first_cycle}, {time_text(row.first_s or 0.0)}"
    return f"open since cycle {row.open_cycle}" if row.open_cycle is not None else ""


def branch_table(decisions: Sequence[DecisionResult]) -> Table:
    """A table of the branches, those that were never taken first."""
    return Table("Branches", (
        Column("Branch", lambda row: row[1].name, share=0.5, key=lambda row: row[1].name),
        Column("Taken, cycles", lambda row: thousands(row[1].count), width_px=144, right=True,
               key=lambda row: row[1].count,
               ink=lambda row: ("text" if row[1].count else "high", 13, 400 if row[1].count else 600)),
        Column("At", lambda row: f"{row[0].file}:{row[1].line}", share=0.5, elide_middle=True,
               key=lambda row: f"{row[0].file}:{row[1].line:09}", ink=lambda row: ("second", 13, 400)),
    ), arms_of(decisions), place=lambda row: Place(row[0].file, row[1].line, row[1].name))  # fmt: skip

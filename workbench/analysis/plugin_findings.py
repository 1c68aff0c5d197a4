"""Findings of plugins, and plugins' better advice and bounds for the findings of rules."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from workbench.analysis.measured import MeasuredRun
from workbench.api.faults import caught, plugin_fault
from workbench.api.metrics import FindingSource
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.finding import Advice, Finding

HIGH, MEDIUM = 2.0, 1.2
_Rule = TypeVar("_Rule")


def severity_of(gain: float) -> str:
    return "high" if gain > HIGH else "medium" if gain >= MEDIUM else "low"


def findings_of_plugins(
    measured: MeasuredRun, sources: Sequence[FindingSource]
) -> tuple[list[Finding], list[Diagnostic]]:
    """The plugins' own findings that reach the threshold; of their numbers, only metrics are kept."""
    findings: list[Finding] = []
    problems: list[Diagnostic] = []
    for source in sources:
        try:
            for finding in source.find(measured):
                if finding.gain >= measured.threshold:
                    metrics = {name: value for name, value in finding.metrics.items() if name in measured.metrics}
                    findings.append(replace(finding, severity=severity_of(finding.gain), metrics=metrics))
        except WorkbenchError as error:
            problems += error.diagnostics
        except BaseException as error:
            problems.append(plugin_fault(caught(error), f"to find bottlenecks ('{source.name}')"))
    return findings, problems


def with_plugins(
    findings: list[tuple[Finding, _Rule]], measured: MeasuredRun, sources: Sequence[FindingSource]
) -> tuple[list[tuple[Finding, _Rule]], list[Diagnostic]]:
    """The rules' findings with plugins' advice and bounds; findings that then gain less than the threshold are left
    out."""
    problems: list[Diagnostic] = []
    for source in sources:
        try:
            findings = [
                (kept_finding, rule)
                for finding, rule in findings
                if (kept_finding := _checked(finding, measured, source)) is not None
            ]
        except WorkbenchError as error:
            problems += error.diagnostics
        except BaseException as error:
            problems.append(plugin_fault(caught(error), f"to bound findings ('{source.name}')"))
    return findings, problems


def _checked(finding: Finding, measured: MeasuredRun, source: FindingSource) -> Finding | None:
    advice = source.advice(measured, finding) if source.advice else None
    if advice is not None:
        cap = max((one.at_most for one in advice if one.at_most is not None), default=None)
        finding = replace(finding, advice=tuple(advice), speedup_cap=cap)
        finding = replace(finding, severity=severity_of(finding.gain))
    bound = source.bound(measured, finding) if source.bound else None
    if bound is None:
        return finding
    bounded = _at_most(finding, *bound)
    return bounded if bounded.gain >= measured.threshold else None


def _at_most(finding: Finding, bound: float, why: str) -> Finding:
    advice: tuple[Advice, ...] = tuple(
        one if one.at_most is None or one.at_most <= bound else replace(one, at_most=bound, stays=why)
        for one in finding.advice
    )
    cap = bound if finding.speedup_cap is None else min(finding.speedup_cap, bound)
    ideal = min(finding.speedup_ideal, bound) if finding.speedup_cap is None else finding.speedup_ideal
    bounded = replace(finding, advice=advice, speedup_cap=cap, speedup_ideal=ideal)
    return replace(bounded, severity=severity_of(bounded.gain))

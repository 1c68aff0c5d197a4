"""Analyses a run: combines its tables, its platform and the knowledge base to findings."""

from workbench.analysis.graph_nodes import with_memory_ports
from workbench.analysis.knowledge import KnowledgeBase
from workbench.analysis.measured import MeasuredRun
from workbench.analysis.rules import find_bottlenecks
from workbench.analysis.verification import (
    assertion_findings,
    assertion_problems,
    assertion_results,
    decision_results,
)
from workbench.analysis.waited_for import free_running
from workbench.api.results import Analysis
from workbench.model.platform import Platform
from workbench.model.prediction import Bottleneck
from workbench.model.run import Run


def analyse(
    run: Run,
    platform: Platform | None,
    knowledge: KnowledgeBase,
    threshold: float = 1.05,
    path: tuple[Bottleneck, ...] = (),
) -> Analysis:
    """The metrics, findings and graph of a run. Parts whose tables the run lacks are empty; no value is guessed.

    If the critical path (`path`, by block and state) is known, it names the late block when the host waits.
    """
    measured = MeasuredRun(run, platform, knowledge.metrics, threshold, path)
    blocks, calls = measured.blocks, measured.calls
    findings, rule_problems = find_bottlenecks(measured, knowledge)
    graph, graph_problems = measured.graph
    assertions = assertion_results(run, blocks)
    findings = tuple(sorted((*assertion_findings(assertions), *findings), key=lambda finding: finding.order))
    return Analysis(
        time_s=run.time_s,
        clocks=run.manifest.clocks,
        cores=run.manifest.cores,
        threads=run.manifest.threads,
        blocks=blocks,
        calls=calls,
        findings=findings,
        graph=with_memory_ports(graph, measured.memory_ports),
        streams=measured.streams,
        fifos=measured.fifos,
        custom=measured.custom,
        assertions=assertions,
        decisions=decision_results(blocks),
        memory_ports=measured.memory_ports,
        threshold=threshold,
        diagnostics=(
            *assertion_problems(assertions),
            *graph_problems,
            *rule_problems,
            *free_running(blocks, measured.waited_for),
        ),
        metrics=knowledge.metrics,
    )

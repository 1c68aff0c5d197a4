"""A run, what its platform can do, and what is known of bottlenecks: together, what to mend."""

from __future__ import annotations

from workbench.analysis.graph import build_graph
from workbench.analysis.knowledge import KnowledgeBase
from workbench.analysis.measured import Measured
from workbench.analysis.metrics import block_metrics, call_metrics
from workbench.analysis.rules import find_bottlenecks
from workbench.api.results import Analysis
from workbench.model.platform import Platform
from workbench.model.run import Run


def analyse(run: Run, platform: Platform | None, knowledge: KnowledgeBase, threshold: float = 1.05) -> Analysis:
    """Metrics, findings and graph of a run. Tables that the run lacks leave their part empty; nothing is guessed."""
    blocks = block_metrics(run)
    calls = call_metrics(run, platform)
    measured = Measured(run, platform, blocks, calls, knowledge.metrics, threshold)
    findings, rule_problems = find_bottlenecks(measured, knowledge)
    graph, graph_problems = build_graph(blocks, calls)
    return Analysis(
        time_s=run.time_s,
        clocks=run.manifest.clocks,
        blocks=blocks,
        calls=calls,
        findings=findings,
        graph=graph,
        threshold=threshold,
        diagnostics=(*graph_problems, *rule_problems),
        metrics=knowledge.metrics,
    )

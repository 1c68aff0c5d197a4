"""Metrics, bottleneck rules, the block graph, reports and comparisons of runs."""

from workbench.analysis.analyse import analyse
from workbench.analysis.knowledge import CheckedRule, KnowledgeBase, load_knowledge
from workbench.api.results import Analysis, BlockMetrics, CallMetrics, StateMetrics

__all__ = [
    "Analysis",
    "BlockMetrics",
    "CallMetrics",
    "CheckedRule",
    "KnowledgeBase",
    "StateMetrics",
    "analyse",
    "load_knowledge",
]

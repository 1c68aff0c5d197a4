"""The critical path in the block graph: each node's part of it, or its slack, and the edges on it."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from workbench.model.prediction import CriticalPath
from workbench.model.text import percent_text, time_text
from workbench.pictures.graph import NodeFacts
from workbench.pictures.layout import GraphLayout


def with_path(facts: Mapping[str, NodeFacts], layout: GraphLayout, path: CriticalPath) -> dict[str, NodeFacts]:
    """The facts with each node's part of the critical path, or its least slack."""
    total = max(sum(line.time_s for line in path.lines), 1e-30)
    spent: dict[str, float] = {}
    slack: dict[str, float] = {}
    for line in path.lines:
        spent[line.block] = spent.get(line.block, 0.0) + line.time_s
    for one in path.slack:
        if one.slack_s is not None:
            slack[one.block] = min(one.slack_s, slack.get(one.block, one.slack_s))
    with_parts = dict(facts)
    for node in layout.nodes:
        ids = {node.key, *node.block_ids}
        share = sum(spent.get(block, 0.0) for block in ids) / total
        spare = [slack[block] for block in ids if block in slack]
        foot = f"{percent_text(share)} of the path" if share else f"slack {time_text(min(spare))}" if spare else ""
        with_parts[node.key] = replace(facts[node.key], on_path=share > 0, foot=foot)
    return with_parts


def path_pairs(layout: GraphLayout, path: CriticalPath) -> frozenset[frozenset[str]]:
    """The pairs of nodes between which the critical path passes."""
    node_of = {block: node.key for node in layout.nodes for block in node.block_ids}
    ways = {frozenset((node_of.get(a.block, ""), node_of.get(b.block, ""))) for a, b in pairwise(path.steps)}
    return frozenset(way for way in ways if len(way) == 2)

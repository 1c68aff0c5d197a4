"""How findings are worded: places and gains."""

from __future__ import annotations

from pathlib import Path

from workbench.model.blocks import below_top
from workbench.model.finding import Finding
from workbench.model.text import listed, ratio_text


def block_words(block_id: str) -> str:
    """`host.main` as `host main`; a hardware block without its top level."""
    if block_id.startswith("host."):
        return "host " + block_id.removeprefix("host.")
    return below_top(block_id)


def where_words(finding: Finding) -> str:
    """Where a finding is, for a column: the block, and the call's name where it is about one."""
    if finding.scope == "application":
        return "whole application"
    if finding.scope in ("fifo", "memory_port"):
        return block_words(finding.group or finding.where)
    block = block_words(finding.group or finding.block)
    names = list(dict.fromkeys(place.label for place in finding.places if place.label))
    if finding.scope == "call":
        place = finding.places[0] if finding.places else None
        line = f", {Path(place.file).name}:{place.line}" if place else ""
        return f"{block}: {names[0]}{line}" if names else block_words(finding.where)
    if len(names) > 2:
        return f"{block}, {len(names)} call sites" if finding.block.startswith("host.") else block
    return f"{block}: {', '.join(names)}" if names and finding.block.startswith("host.") else block


def scope_words(finding: Finding) -> str:
    """The line under a finding's title: the rule's kind and the place with its lines."""
    files = list(dict.fromkeys(f"{Path(p.file).name}:{p.line}" for p in finding.places))
    lines = listed(files)
    return f"{where_words(finding)}{'; ' + lines if lines else ''}"


def ratio_or_dash(value: float | None) -> str:
    if value is None:
        return "–"
    return "no limit" if value == float("inf") else ratio_text(value)

"""How findings and metrics are worded: places, gains, units by a metric's name."""

from __future__ import annotations

from pathlib import Path

from workbench.model.finding import Finding
from workbench.model.text import (
    bytes_text,
    count_text,
    listed,
    percent_text,
    rate_text,
    ratio_text,
    significant,
    time_text,
)

_TIME_SUFFIXES = ("_s", "time", ".latency")


def block_words(block_id: str) -> str:
    """`host.main` as `host main`; a hardware block without its top level."""
    if block_id.startswith("host."):
        return "host " + block_id.removeprefix("host.")
    return block_id.partition(".")[2] or block_id


def where_words(finding: Finding) -> str:
    """Where a finding is, for a column: the block, and the call's name where it is about one."""
    if finding.scope == "application":
        return "whole application"
    block = block_words(finding.group or finding.block)
    names = list(dict.fromkeys(place.label for place in finding.places if place.label))
    if finding.scope == "call":
        return f"{block}: {names[0]}" if names else block_words(finding.where)
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


def metric_words(name: str, value: float | int | str) -> str:
    """A metric with the unit that its name tells."""
    if isinstance(value, str):
        return value
    last = name.rsplit(".", 1)[-1].lower()
    full = name.lower()
    if "share" in last or "utilisation" in last or "fraction" in last:
        return percent_text(float(value))
    if ("rate" in full and not last.startswith(("count", "size", "time"))) or "bytes_per_s" in last:
        return rate_text(float(value)) if value else "0 B/s"
    if last in ("bytes", "size") or last.endswith(("_bytes", "_size")) or {"bytes", "size"} & set(last.split("_")):
        return bytes_text(float(value))
    if "gain" in last or "speedup" in last or last in ("ideal", "cap"):
        return ratio_or_dash(float(value))
    if last.endswith("_s") or last == "time" or "time" in last.split("_"):
        return time_text(float(value))
    if isinstance(value, int) or float(value).is_integer():
        return count_text(value)
    return significant(float(value))

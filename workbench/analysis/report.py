"""The JSON document of `workbench report`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from workbench.analysis.verification import branch_counts
from workbench.api.results import (
    Analysis,
    BlockMetrics,
    CallMetrics,
    CustomResult,
    FifoMetrics,
    MemoryPortMetrics,
    StreamMetrics,
    WhatIf,
)
from workbench.api.verified import AssertionResult, DecisionResult
from workbench.api.virtual_time import TABLE
from workbench.model.changes import as_json
from workbench.model.exits import shortfall
from workbench.model.finding import Advice, Finding
from workbench.model.pragma import UNCLASSIFIED
from workbench.model.run import PS_PER_S, Cores, Manifest, Run, RunClock, ThreadTime


def report_json(manifest: Manifest, analysis: Analysis) -> dict[str, Any]:
    """The report as plain data, the end of the run first.

    Times are seconds, sizes bytes, rates bytes per second; `cycles` and `unclassified` are cycles.

    A block's `states` leave out `unclassified`, so that their cycles and `unclassified` sum to the block's. The host
    has no cycles; its unclassified time is `unclassified_time_s`.
    """
    return {
        "status": manifest.status.value,
        "exit": manifest.exit,
        "shortfall": shortfall(manifest),
        "time_s": analysis.time_s,
        "clock_hz": analysis.clock_hz,
        "clocks": [clock_json(clock) for clock in analysis.clocks],
        "cores": {"count": analysis.cores.count, **_seconds(analysis.cores, "slice", "call", "wake", "switch")},
        "threads": [
            {
                **_seconds(thread, "begin", "end", "work", "waited", "queued"),
                "core_s": [ps / PS_PER_S for ps in thread.core_ps],
            }
            for thread in analysis.threads
        ],
        "blocks": [block_json(block) for block in analysis.blocks],
        "calls": [call_json(call) for call in analysis.calls],
        "streams": [stream_json(stream) for stream in analysis.streams],
        "fifos": [fifo_json(fifo) for fifo in analysis.fifos],
        "metrics": [custom_json(one) for one in analysis.custom],
        "assertions": [assertion_json(one) for one in analysis.assertions],
        "branches": coverage_json(analysis.decisions),
        "memory_ports": [memory_json(port) for port in analysis.memory_ports],
        "findings": [finding_json(finding) for finding in analysis.findings],
        "what_if": what_if_json(analysis.what_if) if analysis.what_if else None,
        "diagnostics": [problem.as_json() for problem in analysis.diagnostics],
    }


def virtual_time_json(run: Run) -> list[dict[str, Any]]:
    """The rows of the run's table of virtual time."""
    table = run.tables.get(TABLE, {})
    columns = (np.asarray(column).tolist() for column in table.values())
    return [dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True)]


def _seconds(of: Cores | ThreadTime, *names: str) -> dict[str, float]:
    return {f"{name}_s": getattr(of, f"{name}_ps") / PS_PER_S for name in names}


def clock_json(clock: RunClock) -> dict[str, Any]:
    return {
        "name": clock.name,
        "frequency_hz": clock.frequency_hz,
        "derived_from": clock.derived_from,
        "cycles": clock.cycles,
        "alignment": clock.alignment.value,
        "start_s": clock.start_ps / PS_PER_S,
        "uncertainty_s": clock.uncertainty_ps / PS_PER_S,
    }


def block_json(metrics: BlockMetrics) -> dict[str, Any]:
    block = metrics.block
    return {
        "id": block.id,
        "side": block.side.value,
        "group": block.group,
        "clock": block.clock,
        "time_s": metrics.time_s,
        "cycles": metrics.cycles,
        "unclassified": metrics.states[0].cycles if metrics.states else 0,
        "unclassified_time_s": metrics.states[0].time_s if metrics.states else 0.0,
        "unclassified_visits": metrics.states[0].visits if metrics.states else 0,
        "states": [
            {
                "name": s.state.name,
                "category": s.state.category.value if s.state.category else None,
                "reasons": list(s.state.reasons),
                "target": "|".join(s.state.targets),
                "message": "|".join(s.state.messages),
                "time_s": s.time_s,
                "cycles": s.cycles,
                "visits": s.visits,
                "file": s.state.file,
                "line": s.state.line,
            }
            for s in metrics.states[1:]
        ],
        "transitions": [
            {"from": _state_name(metrics, t.from_state), "to": _state_name(metrics, t.to_state), "count": t.count}
            for t in metrics.transitions
        ],
    }


def _state_name(metrics: BlockMetrics, index: int) -> str:
    return metrics.states[index].state.name if index else UNCLASSIFIED


def call_json(call: CallMetrics) -> dict[str, Any]:
    return {
        "entry": call.entry.name if call.entry else call.site.callee,
        "subtype": call.entry.subtype if call.entry else "",
        "site": call.place,
        "label": call.site.label,
        "block": call.block,
        "state": call.state.name,
        "count": call.count,
        "bytes": call.bytes,
        "time_s": call.time_s,
        "bytes_per_s": asdict(call.rate) if call.rate else None,
        "runs": asdict(call.runs),
    }


def stream_json(metrics: StreamMetrics) -> dict[str, Any]:
    stream = metrics.stream
    return {
        "edge": stream.id,
        "source": stream.source,
        "target": stream.target,
        "clock": stream.clock,
        "bits": stream.bits,
        "cycles": metrics.cycles,
        "transfers": metrics.transfers,
        "stalls_source": metrics.source_stalls,
        "stalls_sink": metrics.sink_stalls,
        "idle": metrics.idle,
        "words_per_s": metrics.words_per_s,
        "bytes_per_s": metrics.bytes_per_s,
        "held": [{"signal": h.signal, "of": h.other, "held_by": h.held_by, "cycles": h.cycles} for h in metrics.held],
        "file": stream.file,
        "line": stream.line,
    }


def fifo_json(metrics: FifoMetrics) -> dict[str, Any]:
    fifo = metrics.fifo
    return {
        "fifo": fifo.id,
        "module": fifo.module,
        "input": metrics.input.stream.id,
        "output": metrics.output.stream.id,
        "depth": fifo.depth,
        "occupancy_max": metrics.most,
        "occupancy_mean": metrics.mean,
        "full_pct": 100 * metrics.full_share,
        "empty_pct": 100 * metrics.empty_share,
        "occupancy": [{"words": words, "cycles": cycles} for words, cycles in metrics.occupancy],
        "file": fifo.file,
        "line": fifo.line,
    }


def assertion_json(result: AssertionResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "file": result.file,
        "line": result.line,
        "severity": result.severity,
        "says": result.says,
        "held": result.held,
        "failed": result.failed,
        "first_cycle": result.first_cycle,
        "first_s": result.first_s,
        "first_in": result.first_in or None,
        "open_cycle": result.open_cycle,
        "open_s": result.open_s,
        "open_in": result.open_in or None,
        "blocks": [{"id": id_, "failed": failed} for id_, failed in result.each.items()],
    }


def coverage_json(decisions: Sequence[DecisionResult]) -> dict[str, Any]:
    """The numbers of branches and of taken branches, and each decision with the cycles of its branches."""
    some, all_ = branch_counts(decisions)
    return {
        "branches": all_,
        "taken": some,
        "decisions": [
            {
                "name": one.name,
                "file": one.file,
                "line": one.line,
                "branches": [{"name": arm.name, "line": arm.line, "cycles": arm.count} for arm in one.arms],
                "blocks": list(one.blocks),
            }
            for one in decisions
        ],
    }


def custom_json(result: CustomResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "kind": result.kind.value,
        "value": None if math.isnan(result.value) else result.value,
        "parts": dict(result.parts),
        "blocks": [{"id": id_, "value": None if math.isnan(one) else one} for id_, one in result.each.items()],
        "cycles": result.cycles,
        "file": result.file,
        "line": result.line,
    }


def memory_json(metrics: MemoryPortMetrics) -> dict[str, Any]:
    port = metrics.port
    of_port = ("kind", "memory", "memory_bytes_per_s", "clock")
    counted = ("cycles", "moving", "waiting", "held", "idle", "reads", "writes", "read_bytes", "written_bytes")
    of_traffic = ("bytes_per_s", "latency_s", "outstanding", "row_hits", "row_opened", "row_conflicts")
    return {
        "port": port.id,
        **{name: getattr(port, name) for name in of_port},
        **{name: getattr(metrics, name) for name in (*counted, *of_traffic)},
        "bus_s": metrics.bus_ps / PS_PER_S,
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "rule": finding.rule,
        "title": finding.title,
        "scope": finding.scope,
        "where": finding.where,
        "block": finding.block,
        "group": finding.group,
        "time_s": finding.time_s,
        "speedup_ideal": _number(finding.speedup_ideal),
        "speedup_cap": _number(finding.speedup_cap),
        "speedup_predicted": finding.speedup_predicted,
        "gain": _number(finding.gain),
        "severity": finding.severity,
        "failures": finding.failures,
        "first_s": finding.first_s,
        "open_s": finding.open_s,
        "ranked": not finding.points_elsewhere,
        "suggestions": list(finding.suggestions),
        "advice": list(map(advice_json, finding.advice)),
        "metrics": _plain(finding.metrics),
        "condition": finding.condition,
        "culprit": finding.culprit,
        "part_of": finding.part_of,
        "places": list(map(asdict, finding.places)),
    }


def advice_json(advice: Advice) -> dict[str, Any]:
    plain = {name: getattr(advice, name) for name in ("text", "stays", "elsewhere", "hardware", "hazard", "no_change")}
    return plain | {
        "at_most": _number(advice.at_most),
        "known": advice.at_most is not None,
        "changes": list(map(as_json, advice.changes)),
        "prediction": advice.prediction.as_json() if advice.prediction else None,
    }


def what_if_json(what_if: WhatIf) -> dict[str, Any]:
    return {
        "why": what_if.why,
        "best": [one.as_json() for one in what_if.best],
        "now": list(map(asdict, what_if.now)),
        "after": list(map(asdict, what_if.after)),
        "left_out": what_if.left_out,
        "path": list(map(asdict, what_if.path.lines)) if what_if.path else [],
        "slack": list(map(asdict, what_if.path.slack)) if what_if.path else [],
    }


def _plain(metrics: Mapping[str, float | int | str]) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else _number(value) for name, value in metrics.items()}


def _number(value: float | None) -> float | None:
    """A JSON number; null for an infinite value."""
    return value if value is not None and math.isfinite(value) else None

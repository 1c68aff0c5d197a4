"""What limits a streaming application, as a finding beside those of the rules.

The walk (`query/limits.py`) reads every event of a run, so it is done once, when the run ends, and kept as a table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from rc_workbench_plugins.streaming.cores import away
from rc_workbench_plugins.streaming.query.evaluate import evaluate, waiting_for_the_bus
from rc_workbench_plugins.streaming.query.limits import Queues, Walk, questions, walk
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.queues import queues
from workbench.api import (
    PS_PER_S,
    Advice,
    Block,
    Category,
    Diagnostic,
    Finding,
    Severity,
    Side,
    WorkbenchError,
    counted,
    listed,
    percent_text,
)
from workbench.api import Place as Line
from workbench.api.stream_events import Events, events_of, head_of
from workbench.api.unstable import (
    GENERATED,
    Depth,
    MappedTo,
    Prediction,
    ScaleHost,
    ScaleState,
    Topology,
    Trust,
    thousands,
)

if TYPE_CHECKING:
    from workbench.api import BlockMetrics, Measured, Run, Table

#: A table of a run folder: JSON as UTF-8.
LIMITS = "stream_limits"
RULE = "stream limit"
QUEUE = "short queue"
#: Up to how many elements on all edges depths are tried each time that a run is analysed, which takes a second at most.
_MOST_ELEMENTS = 200_000
_FASTER_FPGA = "late sender"  # the rule whose advice is a faster FPGA
_ADVICE = {
    "block": "Make {who} faster, or share the work among several copies of it.",
    "core": "Give {who} cores of their own (streaming.mapping), or make them faster.",
    "bus": "Move larger pieces at a time (streaming.bulk_elements), or map both ends of {at} to the same side.",
    "sleep": "{who} sleeps {asleep} of the time, and no queue holds it up: it sets the pace. "
    "Let it sleep less, or run several copies of it.",
}
_NO_CHANGE = {
    "sleep": "the block's source sets how long it sleeps",
    "core": "the project maps blocks to cores: change the mapping and run again",
    "bus": "the project sets the size of transfers (streaming.bulk_elements): change it and run again",
    "fpga": "no work of the FPGA's blocks is marked",
    "queue": "the edge's source line sets its depth: `workbench streams RUN --confirm` simulates other depths",
}
#: What is special in the calls of the run-time that a rule finds.
_CALLS = {
    "inefficient transfer type or size": "Transfers of the run-time do not reach the best rate of the bus.",
    "nonoverlapped transfers": "The run-time waits until each of its transfers has ended.",
}
_ANY_CALLS = "The run-time of the streaming application makes these calls."
_LARGER = "Move larger pieces at a time (streaming.bulk_elements), or map both ends of an edge to the same side."
_AS_FOR_THE_BUS = "Larger pieces, as in the advice for the bus at {at}, shorten this time too."
_FASTER_BLOCKS = (
    "Make the blocks in the FPGA faster, or map some of them to cores (streaming.mapping). The run-time already moves "
    "data while they work."
)
_UNTRACED = Diagnostic(
    "the limit of the throughput is unknown: this run did not record its streams", "Run with --trace.", Severity.NOTE
)
#: A block of which this share of the busy time is no work sleeps.
_ASLEEP = 0.5
_REPLAYED = "only the queues are replayed, not the whole application"
_TITLE = {"block": "{who} {limits} the throughput", "core": "The core {at} limits the throughput",
          "bus": "The bus limits the throughput, at {at}"}  # fmt: skip


def limits(events: Events) -> Walk:
    """What limits a run's throughput."""
    results, _ = evaluate(read_query(questions(events.topology), events.topology), events, trusted=False)
    clocked = {label for label, edge in events.edges.items() if edge.tick_ps}
    topology = events.topology
    partial = any(edge.part for edge in events.edges.values())
    unseen = {block.name for block in topology.blocks if partial and topology.fpga(block.name)}
    notes = Queues(
        {label: edge.crossing.words for label, edge in events.edges.items() if edge.crossing},
        {label: len(edge.push_ps) - len(edge.pop_ps) for label, edge in events.edges.items()},
    )
    return walk(topology, results, clocked, waiting_for_the_bus(events), away(events), unseen, notes)


def limits_table(tables: Mapping[str, Table], topology: Topology, sources: Sequence[str] = ()) -> dict[str, Table]:
    """The table for a run with these tables of an application in these X files; none where it recorded no events."""
    events = events_of(tables)
    if events is None:
        return {}
    files = {name: _files(topology, name) for name in topology.block_by_name}
    document = _document(limits(events), topology, files)
    document["edges"] = {
        topology.within(edge.label): [_relative(edge.at.file, sources), edge.at.line]
        for edge in topology.edges
        if edge.at.line
    }
    return {LIMITS: {"utf8": np.frombuffer(json.dumps(document).encode(), "u1")}}


def _relative(file: str, sources: Sequence[str]) -> str:
    """A file of an application as the project names it."""
    parts = PurePath(file).parts
    named = (one for one in sources if parts[-len(PurePath(one).parts) :] == PurePath(one).parts)
    return next(named, PurePath(file).name)


def _document(walked: Walk, topology: Topology, files: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {
        "by": walked.by,
        "at": topology.within(walked.at) if walked.by == "bus" else walked.at,
        "source": next((topology.within(one.source.block) for one in topology.edges if one.label == walked.at), ""),
        "share": walked.share,
        "limit": [topology.within(name) for name in walked.limit],
        "next": [topology.within(name) for name in walked.following],
        "gain": walked.gain if walked.gain < float("inf") else None,
        "words": [answer.words for answer in walked.answers[-2:]],
        "files": {topology.within(name): list(files.get(name, ()))[:1] for name in walked.limit},
    }


def _files(topology: Topology, name: str) -> list[str]:
    """The sources of a block, as it is built in this application."""
    wanted = MappedTo.FPGA if topology.fpga(name) else MappedTo.CORE
    implementations = topology.block_by_name[name].kind.implementations
    return [file for one in implementations if one.place is wanted for file in one.files]


def stream_findings(measured: Measured) -> Sequence[Finding]:
    """What limits a run that recorded the events of its streams; nothing where nothing clearly does. WorkbenchError
    where that record is damaged, or that there is none in a run of a streaming application."""
    try:
        kept = _kept(measured.run.tables)
        if kept is None and measured.run.complete and _is_streaming(measured.run):
            raise WorkbenchError(_UNTRACED)
        return _findings(kept, measured)
    except (KeyError, TypeError, ValueError) as error:
        file = str(measured.run.path) if measured.run.path else None
        message = f"the run's record of its throughput's limit is damaged: {error}"
        raise WorkbenchError(Diagnostic(message, "Run again.", Severity.WARNING, file)) from None


def stream_bound(measured: Measured, finding: Finding) -> tuple[float, str] | None:
    """What a run of streams gains at most by a change that leaves its blocks as they are: its busiest block stays, and
    a bus that limits stays unless the change is of transfers. A faster FPGA changes blocks there alone."""
    try:
        limit = _kept(measured.run.tables)
        head = head_of(measured.run.tables)
        if limit is None or head is None or not limit["limit"] or finding.scope == "application":
            return None
        if limit["by"] == "bus":
            return _after(limit) if _of_run_time(finding) and finding.rule != _FASTER_FPGA else _with_bus(limit)
        fpga = {one.block.id for one in measured.blocks if one.block.side is Side.FPGA}
        in_fpga = finding.rule == _FASTER_FPGA or finding.block in fpga
        on_fpga = bool(head.topology.fpga(f"{head.topology.name}.{limit['limit'][0]}"))
        itself = finding.block.rpartition(".")[2] in [name.replace(".", "_") for name in limit["limit"]]
        return _after(limit) if itself or (in_fpga and on_fpga) else _beside(limit)
    except (KeyError, TypeError, ValueError):
        return None  # `stream_findings` reports the damage


def stream_advice(measured: Measured, finding: Finding) -> Sequence[Advice] | None:
    """Advice for calls that the run-time makes: its code is generated, and the project sets the size of transfers. The
    gain is known if the run recorded the limit of its throughput. The finding about the bus has the whole advice."""
    if not _of_run_time(finding):
        return None
    stays = next((one.stays for one in finding.advice if one.at_most == finding.speedup_cap), "")
    if finding.rule == _FASTER_FPGA:
        scales = (one.changes for one in finding.advice if any(isinstance(each, ScaleState) for each in one.changes))
        changes = next(scales, ())
        no_change = "" if changes else _NO_CHANGE["fpga"]
        return [Advice(_FASTER_BLOCKS, finding.speedup_cap, stays, changes=changes, hardware=True, no_change=no_change)]
    calls = _CALLS.get(finding.rule, _ANY_CALLS)
    try:
        limit = _kept(measured.run.tables)
    except (KeyError, TypeError, ValueError):
        limit = None  # `stream_findings` reports the damage
    if limit is None:
        text = f"{calls} {_LARGER} A traced run (--trace) finds the limit of the throughput."
        return [Advice(text, None, no_change=_NO_CHANGE["bus"])]
    has_finding = limit["by"] == "bus" and (limit["gain"] is None or limit["gain"] >= measured.threshold)
    larger = _AS_FOR_THE_BUS.format(at=limit["at"]) if has_finding else _LARGER
    return [Advice(f"{calls} {larger}", finding.speedup_cap, stays, no_change=_NO_CHANGE["bus"])]


def _of_run_time(finding: Finding) -> bool:
    """Whether a finding is about calls in generated code."""
    files = {PurePath(place.file).name for place in finding.places}
    return bool(files) and files <= GENERATED


def _is_streaming(run: Run) -> bool:
    return any(PurePath(name).name in GENERATED for name in run.manifest.sources)


def _after(limit: Mapping[str, Any]) -> tuple[float, str] | None:
    """What is gained at most once what limits no longer does, and what then stays; None where that is not known."""
    if limit["gain"] is None or not limit["next"]:
        return None
    return float(limit["gain"]), f"then {listed(limit['next'])} {_limits(limit['next'])} the throughput"


def _with_bus(limit: Mapping[str, Any]) -> tuple[float, str]:
    """The same of what leaves a bus that limits as it is."""
    busy = float(limit["share"])
    return 1 / busy, f"the bus stays busy {percent_text(busy)} of the time, at {limit['at']}"


def _beside(limit: Mapping[str, Any]) -> tuple[float, str] | None:
    """The same of what leaves every block as it is."""
    busy = float(limit["share"])
    if limit["by"] == "bus":
        return _after(limit)
    return (1 / busy, f"{listed(limit['limit'])} stays busy {percent_text(busy)} of the time") if busy else None


def _findings(limit: Mapping[str, Any] | None, measured: Measured) -> Sequence[Finding]:
    if limit is None or not limit["by"]:
        return ()
    at_bus, blocks = limit["by"] == "bus", [one.block for one in measured.blocks]
    shown = [limit["source"]] if at_bus and limit.get("source") else limit["limit"]
    block = _shown_on(shown, blocks) if shown else None
    if block is None:
        return ()
    threads = _threads_of(block, limit["limit"], blocks)
    asleep = _asleep(limit, next(one for one in measured.blocks if one.block is block))
    by = "sleep" if asleep else limit["by"]
    gain = float("inf") if limit["gain"] is None else float(limit["gain"])
    names = {"who": listed(limit["limit"]), "at": limit["at"], "limits": _limits(limit["limit"]),
             "asleep": percent_text(asleep)}  # fmt: skip
    after = limit["next"]
    stays = f"then {listed(after)} {_limits(after)} the throughput" if after else "nothing else is busy"
    places = [Line(file, 1, name) for name, files in limit["files"].items() for file in files]
    if at_bus and (place := limit.get("edges", {}).get(limit["at"])):
        places = [Line(place[0], place[1], limit["at"])]
    return [
        Finding(
            id=f"stream-limit-{block.id}",
            rule=RULE,
            title=_TITLE[limit["by"]].format(**names),
            scope="block",
            where=block.id,
            block=block.id,
            time_s=limit["share"] * measured.run.time_s,
            speedup_ideal=gain,
            speedup_cap=gain,
            severity="",
            advice=(Advice(_ADVICE[by].format(**names), gain, stays, **_changes(by, threads)),),
            metrics={"stream.busy": limit["share"]},
            condition=f"the application's busiest block, busy {percent_text(limit['share'])} of the time",
            explanation=limit["words"][0],
            places=tuple(places) or ((Line(block.file, block.line, block.id),) if block.file and block.line else ()),
        )
    ]


def short_queues(measured: Measured) -> Iterator[Finding]:
    """The edges that alone, with more depth, gain the threshold by replay. The block that is busiest stays so busy."""
    run, head = measured.run, head_of(measured.run.tables)
    if head is None or not run.complete or sum(head.pushes.values()) > _MOST_ELEMENTS:
        return
    run_queues = queues(run)
    if run_queues is None:
        return
    try:
        limit = _kept(run.tables)
        bound = _beside(limit) if limit else None
    except (KeyError, TypeError, ValueError):
        return  # `stream_findings` reports the damage
    most, stays = bound or (None, "")
    places = (limit or {}).get("edges", {})
    for label, deeper in measured.deeper_edges(run_queues).items():
        edge = next(one for one in run_queues.edges if one.label == label)
        name, source = (head.topology.within(one) for one in (label, edge.source))
        block = _shown_on([source], [one.block for one in measured.blocks])
        left_ps = run.manifest.time_ps - deeper.saved_ps
        speedup = run.manifest.time_ps / left_ps
        if block is None or (most is not None and speedup > most):
            continue
        words = counted(deeper.words, "element")
        yield Finding(
            id=f"short-queue-{label}",
            rule=QUEUE,
            title=f"The queue {name} of {counted(edge.depth, 'element')} holds {source} up",
            scope="block",
            where=block.id,
            block=block.id,
            time_s=deeper.saved_ps / PS_PER_S,
            speedup_ideal=speedup,
            speedup_cap=most,
            severity="",
            advice=(
                Advice(
                    f"Deepen {name} from {thousands(edge.depth)} to {words} (depth={deeper.words}). By replay, this is "
                    "the least depth that loses under 1 % if the other queues keep their depths.",
                    most,
                    stays,
                    no_change=_NO_CHANGE["queue"],
                    prediction=Prediction(
                        (Depth(label, deeper.words),), Trust.DOUBTFUL, left_ps / PS_PER_S, speedup, why=_REPLAYED
                    ),
                ),
            ),
            metrics={"stream.depth": edge.depth, "stream.least_depth": deeper.words},
            condition="by replay, a deeper queue alone gains at least the threshold",
            explanation="A block that sends into a full queue waits. With more room, it goes on working.",
            places=(Line(place[0], place[1], name),) if (place := places.get(name)) else (),
        )


def _asleep(limit: Mapping[str, Any], shown: BlockMetrics) -> float:
    """The share of the run that a block on a core is busy and does not work; 0 where it works most of that time."""
    if limit["by"] != "block" or shown.block.side is not Side.HOST or len(limit["limit"]) > 1:
        return 0.0
    asleep = float(limit["share"]) - shown.share_of(Category.WORK)
    return asleep if asleep > _ASLEEP * float(limit["share"]) else 0.0


def _threads_of(block: Block, limit: Sequence[str], blocks: Sequence[Block]) -> Sequence[Block]:
    """All threads of the application's block of which this is the first one; else this one."""
    pool = next((name for name in _in_run(limit) if _name(block) == f"{name}_1"), "")
    return [one for one in blocks if re.fullmatch(rf"{re.escape(pool)}_\d+", _name(one))] if pool else [block]


def _changes(by: str, threads: Sequence[Block]) -> dict[str, Any]:
    """The advice as changes: a factor of two, if it concerns a single block."""
    if by != "block":
        return {"no_change": _NO_CHANGE[by]}
    block = threads[0]
    if block.side is Side.HOST:
        return {"changes": tuple(ScaleHost(one.id, "*", 0.5) for one in threads)}
    work = [state.name for state in block.states if state.category is Category.WORK]
    if not work:
        return {"no_change": f"no work of {block.id} is marked"}
    return {"changes": tuple(ScaleState(block.id, name, 0.5) for name in work), "hardware": True}


def _kept(tables: Mapping[str, Table]) -> dict[str, Any] | None:
    """What the table holds. A run of an earlier version has none: the walk is done again."""
    if LIMITS in tables:
        kept: dict[str, Any] = json.loads(bytes(np.asarray(tables[LIMITS]["utf8"])))
        return kept
    events = events_of(tables)
    return _document(limits(events), events.topology, {}) if events else None


def _limits(names: Sequence[str]) -> str:
    return "limits" if len(names) == 1 else "limit"


def _in_run(limit: Sequence[str]) -> list[str]:
    return [name.replace(".", "_") for name in limit]


def _name(block: Block) -> str:
    return block.id.rpartition(".")[2]


def _shown_on(limit: Sequence[str], blocks: Sequence[Block]) -> Block | None:
    """The run's block of the first block that limits: a thread of its name, or hardware in its instance."""
    names = _in_run(limit)
    first_threads = [f"{name}_1" for name in names]
    for block in blocks:
        if block.side is Side.HOST and _name(block) in (*names, *first_threads):
            return block
        if block.side is Side.FPGA and any(part.endswith(f"_{name}") for name in names for part in block.id.split(".")):
            return block
    return next((block for block in blocks if block.side is Side.HOST), None)

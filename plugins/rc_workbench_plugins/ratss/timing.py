"""The timing diagram of a RATSS model (Fig. 3): its rows, its bars and where they stand."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rc_workbench_plugins.ratss.compute import Model, Prediction
from rc_workbench_plugins.ratss.model import Stage, Transaction
from rc_workbench_plugins.ratss.schedule import Interval, schedule
from rc_workbench_plugins.ratss.words import move_equation, node_equation, stage_equation
from workbench.api import Category
from workbench.api.predictions import Bar, Lane, StageSpan, Timing

#: How many iterations of a stage are drawn before the rest is left out.
ROUNDS = 3
HOST = "Host"


def timing_of(values: Model, prediction: Prediction) -> Timing:
    """The diagram for a prediction of single values."""
    model, parts = values.model, schedule(values, prediction)
    lanes = _lanes(model.stages, parts)
    bars: list[Bar] = []
    spans: list[StageSpan] = []
    drawn = 0.0
    for stage in model.stages:
        own = [p for p in parts if p.stage == stage.name]
        if not own:
            continue
        begin = 0.0 if model.pipelined else drawn
        span = _span(stage, own, begin, float(prediction.stage_s[stage.name]))
        spans.append(span)
        first = min(p.start_s for p in own)
        for part in own:
            bars += _bars(stage, part, lanes, span, first)
        drawn = max(drawn, span.end_s)
    note = ", or ".join(sorted({stage_equation(stage.overlapped) for stage in model.stages}))
    return Timing(tuple(lanes), tuple(bars), tuple(spans), drawn, note)


def _span(stage: Stage, own: Sequence[Interval], begin: float, stage_s: float) -> StageSpan:
    round_s, rounds = own[0].round_s, round(own[0].iterations)
    configured = begin + sum(p.end_s - p.start_s for p in own if p.lane == "configuration")
    shown = min(rounds, ROUNDS)
    skipped = rounds - shown
    gap = 0.5 * round_s if skipped else 0.0
    starts = [configured + n * round_s for n in range(shown)]
    skip_at = configured + (shown - 1) * round_s
    if skipped:
        starts[-1] += gap
    end = starts[-1] + round_s if starts else configured
    first = min(p.start_s for p in own)
    return StageSpan(
        stage.name, begin, end, rounds, tuple(starts), skipped, skip_at, gap, first, stage.overlapped
    )  # fmt: skip


def _bars(stage: Stage, part: Interval, lanes: Sequence[Lane], span: StageSpan, first: float) -> Iterator[Bar]:
    """A part in each iteration that is drawn; configuration happens once."""
    lane, category, equation = _look(stage, part)
    at = next(n for n, row in enumerate(lanes) if row.name == lane)
    name = part.part or "configuration"
    whole = Bar(at, category, name, stage.name, 1, span.rounds, 0.0, part.end_s - part.start_s, 0.0, equation)
    if part.lane == "configuration":
        yield replace(whole, start_s=span.start_s, end_s=span.start_s + whole.time_s, real_s=part.start_s)
        return
    configured = span.starts[0] - span.start_s
    offset = part.start_s - first - configured
    for n, start in enumerate(span.starts):
        number = span.rounds if n == len(span.starts) - 1 else n + 1
        yield replace(
            whole,
            round=number,
            start_s=start + offset,
            end_s=start + offset + whole.time_s,
            real_s=part.start_s + (number - 1) * part.round_s,
        )


def _moves(stage: Stage, part: Interval) -> list[Transaction]:
    names = part.part.split(" + ")
    return [m for m in stage.transactions if m.name == part.part or m.name in names]


def over(move: Transaction) -> str:
    """What a transaction goes over, as a row's name."""
    return move.network or (f"table {move.table}" if move.table else "I/O bus" if move.kind == "io" else "Network")


def _look(stage: Stage, part: Interval) -> tuple[str, Category | None, str]:
    """A part's row, state and equation."""
    if part.lane == "communication":
        moves = _moves(stage, part)
        back = all(m.returns or m.kind in ("gather", "reduce") for m in moves)
        equation = move_equation(moves[0]) if len(moves) == 1 else "all delays + the longest of the rest   Eq. 14"
        return over(moves[0]), Category.RECV if back else Category.SEND, equation
    if part.lane == "computation":
        node = next(n for n in stage.nodes if n.name == part.part)
        return node.name, Category.WORK, node_equation(node)
    equation = "once   Eq. 15" if part.lane == "configuration" else "as given   Eq. 12"
    return HOST, Category.OVERHEAD if part.part != "microprocessor" else Category.WORK, equation


def _lanes(stages: Sequence[Stage], parts: Sequence[Interval]) -> list[Lane]:
    """Networks and buses in the order they are used, then FPGA nodes, then the host."""
    networks: dict[str, Lane] = {}
    nodes: dict[str, Lane] = {}
    host = False
    for part in parts:
        stage = next(s for s in stages if s.name == part.stage)
        name, _, _ = _look(stage, part)
        if part.lane == "communication":
            bus = all(m.kind == "io" for m in _moves(stage, part))
            networks.setdefault(name, Lane(name, "bus" if bus else "network"))
        elif part.lane == "computation":
            nodes.setdefault(name, Lane(name, "FPGA node"))
        else:
            host = True
    return [*networks.values(), *nodes.values(), *([Lane(HOST, "microprocessor")] if host else [])]

"""Builds a program from its operations and stretches in a new order, with copies or omissions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.model.run_tables import RowArray
from workbench.replay.answers import AwaitedEvents
from workbench.replay.events import STAY
from workbench.replay.fpga import FpgaPart
from workbench.replay.program import Program

Numbers = NDArray[np.int64]
Edges: TypeAlias = RowArray
_Stays = Callable[[Numbers, int], Numbers]  # the new numbers of old stays in a copy; -1: it has none


@dataclass(frozen=True)
class Picked:
    """Old rows in their new order, with the copy number of each; a copy 2 requires a copy 1."""

    rows: Numbers
    copies: Numbers

    def places(self, count: int) -> list[Numbers]:
        """For each copy the new place of each of `count` old rows, -1 if it has no such copy."""
        numbers = []
        for copy in range(int(self.copies.max(initial=0)) + 1):
            rows = np.flatnonzero(self.copies == copy)
            places = np.full(count, -1, np.int64)
            places[self.rows[rows]] = rows
            numbers.append(places)
        return numbers


def picked(pairs: Iterable[tuple[int, int]]) -> Picked:
    """The `Picked` of pairs (row, copy)."""
    rows = np.array(list(pairs), np.int64).reshape(-1, 2)
    return Picked(rows[:, 0], rows[:, 1])


def pick(program: Program, ops: Picked, stretches: Picked, begins: NDArray[np.bool_]) -> None:
    """Rebuild the program from these operations and stretches; `begins` marks the new stretches that are a block's
    first.

    A copy waits for the same copy of its cause, if there is one. An element that was not copied waits for all copies of
    its cause.
    """
    old = program.fpga
    of_ops, of_stretches = ops.places(len(program.ops)), stretches.places(len(old.first))
    sources = _pick_operations(program, ops, of_ops)
    first = _pick_stretches(program, stretches, begins)

    def stays(stay: Numbers, copy: int) -> Numbers:
        stretch = old.stretch_of[stay]
        place = of_stretches[copy][stretch] if copy < len(of_stretches) else np.full(len(stay), -1)
        return np.where(place >= 0, first[place] + stay - old.first[stretch], -1)

    program.edges = _edges(program.edges, of_stretches, sources, stays)
    program.answers = _answers(program.answers, sources, stays, len(of_stretches))
    results = ((number, int(of_stretches[0][stretch])) for number, stretch in program.results)
    program.results = [(number, stretch) for number, stretch in results if stretch >= 0]


def _pick_operations(program: Program, ops: Picked, places: list[Numbers]) -> list[Numbers]:
    """Pick operations. Returns for each copy its number among the run's operations (-1: none)."""
    at, base = program.at, program.base[ops.rows]
    parts = [np.where(at >= 0, places[0][at], -1)]
    numbers = [np.where((at < 0) | (parts[0] >= 0), np.arange(len(at)), -1)]
    origins = [np.arange(len(at))]
    count = len(at)
    for place in places[1:]:
        copied = np.flatnonzero((at >= 0) & (place[at] >= 0))
        number = np.full(len(at), -1, np.int64)
        number[copied] = count + np.arange(len(copied))
        count += len(copied)
        parts.append(place[at[copied]])
        origins.append(copied)
        numbers.append(number)
    for copy, number in enumerate(numbers):
        mine = ops.copies == copy
        base[mine] = np.where(number[base[mine]] >= 0, number[base[mine]], base[mine])
    origin = np.concatenate(origins)
    for name in ("byte", "span", "parts"):
        setattr(program, name, getattr(program, name)[origin])
    program.at = np.concatenate(parts)
    program.host = replace(program.host, ops=program.host.ops[origin])
    for name in ("ops", "loop_ps", "unsure_ps", "delay_ps", "sooner_ps", "buffers"):
        setattr(program, name, getattr(program, name)[ops.rows])
    program.base = base
    return numbers


def _pick_stretches(program: Program, stretches: Picked, begins: NDArray[np.bool_]) -> Numbers:
    """Pick stretches, and return the first stay of each."""
    old = program.fpga
    stops = np.append(old.first[1:], len(old.stay_block))
    counts = (stops - old.first)[stretches.rows]
    first = np.cumsum(counts) - counts
    stretch_of = np.repeat(np.arange(len(counts)), counts)
    rows = old.first[stretches.rows][stretch_of] + np.arange(len(stretch_of)) - first[stretch_of]
    program.fpga = FpgaPart(
        old.blocks, old.stay_block[rows], old.stay_state[rows], old.stay_begin[rows], old.stay_end[rows], stretch_of,
        first, old.begin[stretches.rows], old.end[stretches.rows], begins, old.clock,
    )  # fmt: skip
    program.stays, program.lag_after = program.stays[rows], program.lag_after[stretches.rows]
    return first


def _edges(edges: RowArray, of_stretches: list[Numbers], sources: list[Numbers], stays: _Stays) -> Edges:
    """The causes of the new stretches."""
    picked = []
    times: Numbers = np.sum([place >= 0 for place in of_stretches], axis=0)
    for copy, place in enumerate(of_stretches):
        mine = edges[place[edges["stretch"]] >= 0]
        picked_sources, usual = (_sources(mine, n, sources, stays) for n in (copy, 0))
        picked.append(_moved(mine, place, np.where(picked_sources >= 0, picked_sources, usual)))
    alone = edges[(edges["kind"] == STAY) & (times == 1)[edges["stretch"]]]
    for copy in range(1, len(of_stretches)):
        picked.append(_moved(alone, of_stretches[0], _sources(alone, copy, sources, stays)))
    return np.concatenate(picked)


def _moved(edges: Edges, place: Numbers, source: Numbers) -> Edges:
    new = edges.copy()
    new["stretch"], new["source"] = place[edges["stretch"]], source
    return new[(new["stretch"] >= 0) & (source >= 0)]


def _sources(edges: Edges, copy: int, sources: list[Numbers], stays: _Stays) -> Numbers:
    of_edge = np.full(len(edges), -1, np.int64)
    by_stay = edges["kind"] == STAY
    of_edge[by_stay] = stays(edges["source"][by_stay].astype(np.int64), copy)
    if copy < len(sources):
        of_edge[~by_stay] = sources[copy][edges["source"][~by_stay]]
    return of_edge


def _answers(
    answers: dict[int, AwaitedEvents], sources: list[Numbers], stays: _Stays, copies: int
) -> dict[int, AwaitedEvents]:
    picked: dict[int, AwaitedEvents] = {}
    for number, answer in answers.items():
        old_sources = np.array(answer.sources, np.int64)
        of_copies = [
            stays(old_sources, n)
            if answer.kind == STAY
            else sources[n][old_sources]
            if n < len(sources)
            else np.full(len(old_sources), -1)
            for n in range(max(copies, len(sources)))
        ]
        several = sum(int(of[number]) >= 0 for of in sources) > 1
        for copy, of in enumerate(sources):
            mine = (
                np.where(of_copies[copy] >= 0, of_copies[copy], of_copies[0]) if several else np.concatenate(of_copies)
            )
            if of[number] >= 0 and (mine >= 0).any():
                picked[int(of[number])] = replace(answer, sources=tuple(mine[mine >= 0].tolist()))
    return picked

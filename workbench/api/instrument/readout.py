"""What the monitors counted, as the run's tables: of their words, or where a simulated design has none, of its taps."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.api.builds import HdlBuild
from workbench.api.instrument import lfsr
from workbench.api.instrument.probes import HEADER_WORDS, MAGIC, VALUE_WORDS, SumWords, state_bits
from workbench.api.records import read_dwell, read_end, read_firsts, read_transitions
from workbench.api.tables import table_of
from workbench.model.custom import FAILED, MetricKind, Sums, ValueType
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.read_out import CounterWords, MonitorWords, ReadOutPlan, ValueWords
from workbench.model.run_tables import Table
from workbench.model.text import counted

_OF_EARLIER = ValueType(33, signed=True)  # of trees without types


def decode(build: HdlBuild, words: NDArray[np.uint32]) -> dict[str, Table]:
    """Tables `state_time` and `transitions` of a build's blocks from the words of a read-out, `metric_sums` where a
    metric sums a signal, `first_cycles` where there are assertions, and `open_since` where there are strong ones.

    A block that no counter watched is in state 0 for all cycles of its clock; one whose clock has no monitor, or did
    not answer, for 0 cycles. A state's visits are the transitions into it, and the starts in it. WorkbenchError where
    the words cannot come from these monitors, or a counter may have overflown.
    """
    times: list[tuple[int, ...]] = []
    moves: list[tuple[int, ...]] = []
    numbers = range(len(build.blocks))
    unread = set(numbers)
    sums: list[tuple[int | float, ...]] = []
    firsts: list[tuple[int, ...]] = []
    opens: list[tuple[int, ...]] = []
    for monitor, own in answered(build.read_out, words):
        of_clock = numbers if monitor.blocks is None else monitor.blocks
        unread -= set(of_clock)
        _count(monitor, of_clock, own.astype(np.uint64), times, moves)
        sums += _sums(monitor, own)
        firsts += ((block, FAILED, cycle) for block, cycle in _cycles(monitor.firsts, own))
        opens += _cycles(monitor.opens, own)
    times += [(block, 0, 0, 0, 1) for block in unread]
    tables = {
        "state_time": table_of("state_time", sorted(times)),
        "transitions": table_of("transitions", sorted(moves)),
    }
    monitors = build.read_out.monitors if build.read_out else ()
    if any(monitor.firsts for monitor in monitors):
        tables["first_cycles"] = table_of("first_cycles", sorted(firsts))
    if any(monitor.opens for monitor in monitors):
        tables["open_since"] = table_of("open_since", sorted(opens))
    return tables | ({"metric_sums": table_of("metric_sums", sorted(sums))} if sums else {})


def _sums(monitor: MonitorWords, words: NDArray[np.uint32]) -> Iterator[tuple[int | float, ...]]:
    """Rows of `metric_sums`: of signals in whose cycles nothing was counted all is 0."""
    for one in monitor.values:
        value = monitor.types.get(one.block, _OF_EARLIER)
        sizes, left = SumWords.of(value), iter(words[one.base : one.base + VALUE_WORDS].tolist())
        total, least, largest, squares = (
            sum(word << 32 * n for n, word in enumerate(islice(left, size)))
            for size in (sizes.sum, sizes.extreme, sizes.extreme, sizes.squares)
        )
        if value.signed:
            total -= total >> 32 * sizes.sum - 1 << 32 * sizes.sum
            least, largest = (number - (1 << value.bits - 1) for number in (least, largest))
        yield one.block, *Sums(total, least, largest, squares).row(value.signed)


def _cycles(places: Sequence[ValueWords], words: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
    """The blocks of which a cycle was kept there, each with its cycle from 0 on."""
    for one in places:
        low, high = (int(word) for word in words[one.base : one.base + 2])
        if cycle := low | high << 32:
            yield one.block, cycle - 1


def answered(plan: ReadOutPlan | None, words: NDArray[np.uint32]) -> Iterator[tuple[MonitorWords, NDArray[np.uint32]]]:
    """The monitors with their words, without those whose clock was stopped or too slow during the read-out."""
    for monitor in plan.monitors if plan else ():
        if not _silent(monitor, words):
            yield monitor, monitor.of(words)


def silent(build: HdlBuild, words: NDArray[np.uint32]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The clocks that did not answer when the words were read, and the numbers of their blocks."""
    for monitor in build.read_out.monitors if build.read_out else ():
        if _silent(monitor, words):
            yield monitor.clock, monitor.blocks or ()


def _silent(monitor: MonitorWords, words: NDArray[np.uint32]) -> bool:
    return monitor.far and not monitor.of(words)[monitor.header :].any()


def of_taps(build: HdlBuild, raw: Path, clocks: Sequence[str]) -> dict[str, Table]:
    """The tables that `decode` makes of a build's counters, of what the simulated card counted itself in the folder
    `raw`; none where it did not. `clocks` names the platform's, in its order."""
    card_cycles = read_end(raw / "card_end.txt").get("of_cards", "")
    if not card_cycles or not all(one.simulation.uncounted for one in build.each):
        return {}
    cycles = np.array(card_cycles.split(), dtype=np.int64).reshape(len(build.each), len(clocks))
    dwell, moves = read_dwell(raw), read_transitions(raw)
    seen = read_firsts(raw)
    times: list[tuple[int, ...]] = []
    firsts: list[tuple[int, ...]] = []
    dated = False
    first = 0
    for one, of_fpga in zip(build.each, cycles, strict=True):
        counted = {n for n in range(len(one.blocks)) if one.read_out and one.read_out.reaches(n)}
        for place, block in enumerate(one.blocks):
            number = first + place
            if not one.simulation.taps[place][1]:
                of_clock = int(of_fpga[clocks.index(block.clock)]) if place in counted else 0
                times.append((number, 0, 0, of_clock, min(of_clock, 1) if place in counted else 1))
                continue
            if block.kind == MetricKind.ASSERT:
                dated, of = True, seen[(seen["block"] == number) & (seen["state"] == FAILED)]
                firsts += [(number, FAILED, int(cycle)) for cycle in of["cycle"]]
            mine, states = dwell[dwell["block"] == number], len(block.states)
            spent, visits = np.zeros(states, np.int64), np.zeros(states, np.int64)
            np.add.at(spent, mine["state"], mine["cycles"])
            np.add.at(visits, mine["state"], mine["count"])
            times += [(number, s, 0, int(spent[s]), int(visits[s])) for s in range(states)]
        first += len(one.blocks)
    columns = ("block", "from_state", "to_state", "count")
    rows = sorted(moves[list(columns)].tolist())
    tables = {"state_time": table_of("state_time", times), "transitions": table_of("transitions", rows)}
    return tables | ({"first_cycles": table_of("first_cycles", firsts)} if dated else {})


def _count(
    plan: MonitorWords,
    blocks: Sequence[int],
    words: NDArray[np.uint64],
    times: list[tuple[int, ...]],
    moves: list[tuple[int, ...]],
) -> None:
    """Add the rows of the blocks of one clock."""
    header, count_bits = plan.header, plan.count_bits
    own = words[header : header + HEADER_WORDS]
    if len(own) < HEADER_WORDS or own[0] != MAGIC or own[3] != len(plan.counters):
        raise WorkbenchError(_wrong("the words read out do not come from this design's monitor"))
    cycles = int(own[1]) | int(own[2]) << 32
    if cycles > (1 << count_bits) - 2:
        raise WorkbenchError(_wrong(f"{cycles} cycles were counted, more than a counter of {count_bits} bits can hold"))
    shapes = {counter.watched[_place(counter, words)]: (counter.base, _width(counter)) for counter in plan.counters}
    ends = [(base, base + 4 * width * width) for base, width in shapes.values()]
    registers = [
        words[base:end:2] | (words[base + 1 : end : 2] & np.uint64(0xFFFF)) << np.uint64(32) for base, end in ends
    ]
    try:
        counts = lfsr.counts(np.concatenate([np.zeros(0, np.uint64), *registers]), count_bits)
    except ValueError:
        raise WorkbenchError(_wrong("a counter holds an impossible value")) from None
    each = np.split(counts, np.cumsum([len(one) for one in registers])[:-1]) if registers else []
    observed = {
        block: (states, width, entries)
        for ((block, states), (_, width)), entries in zip(shapes.items(), each, strict=True)
    }
    for block in blocks:
        if block not in observed:
            times.append((block, 0, 0, cycles, min(cycles, 1)))
            continue
        states, width, entries = observed[block]
        starts = entries[width * width : width * width + width]
        matrix = entries[: width * width].reshape(width, width)
        if matrix.sum() + starts.sum() != cycles:
            raise WorkbenchError(
                _wrong(f"the counts of block {block} do not add up to the {counted(cycles, 'cycle')} counted")
            )
        stays = matrix.diagonal()
        visits = matrix.sum(axis=0) - stays + starts
        in_state = visits + stays
        times += [(block, s, 0, int(in_state[s]), int(visits[s])) for s in range(states)]
        moves += [(block, int(a), int(b), int(matrix[a, b])) for a, b in np.argwhere(matrix) if a != b]


def unwatched(build: HdlBuild, words: NDArray[np.uint32]) -> tuple[int, ...]:
    """The numbers of the blocks that a counter could have watched and did not, by the words of a read-out of one
    card."""
    missed: list[int] = []
    for plan, own in answered(build.read_out, words):
        for counter in plan.counters:
            place = _place(counter, own)
            missed += [block for n, (block, _) in enumerate(counter.watched) if n != place]
    return tuple(sorted(missed))


def _place(counter: CounterWords, words: NDArray[np.uint32] | NDArray[np.uint64]) -> int:
    """Which of its blocks a counter watched: it stands above each count."""
    place = int(words[counter.base + 1]) >> 16
    if place >= len(counter.watched):
        raise WorkbenchError(_wrong("the words read out do not come from this design's monitor"))
    return place


def _width(counter: CounterWords) -> int:
    return 1 << state_bits(max(states for _, states in counter.watched))


def _wrong(what: str) -> Diagnostic:
    return Diagnostic(what, "Build and run again; if the design was not reset at the start, reset it.")

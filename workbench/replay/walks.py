"""A block's possible walk through its states in a profile: with the profile's transitions, and with lengths of stays
that have the profile's sums."""

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.model.run_tables import Table
from workbench.traces.groups import rows_of_block

Numbers = NDArray[np.int64]
#: The approximate distance by which stays are shuffled among those of their state.
_NEAR = 8


def walk(block: int, tables: dict[str, Table]) -> Numbers | None:
    """The states of a block in an order with the run's number of each transition; None if these do not form a walk. A
    state's several exits are spread evenly."""
    visits, links = _visits(block, tables["state_time"]), _links(block, tables["transitions"])
    into, out = np.zeros(len(visits), np.int64), np.zeros(len(visits), np.int64)
    for (source, target), count in links.items():
        out[source] += count
        into[target] += count
    first, last = np.flatnonzero(visits - into), np.flatnonzero(visits - out)
    if len(first) != 1 or len(last) != 1 or visits[first[0]] - into[first[0]] != 1:
        return None
    if sum(links.values()) + 1 != int(visits.sum()):
        return None
    homeward = _homeward(int(last[0]), links)
    if len(homeward) + 1 < np.count_nonzero(visits):
        return None
    exits = [_exits(state, links, homeward.get(state, -1)) for state in range(len(visits))]
    next_exit = [0] * len(exits)
    state, path = int(first[0]), [int(first[0])]
    for _ in range(int(visits.sum()) - 1):
        next_exit[state] += 1
        state = exits[state][next_exit[state] - 1]
        path.append(state)
    return np.array(path)


def _visits(block: int, table: Table) -> Numbers:
    rows = rows_of_block(table["block"], block)
    visits = np.zeros(int(np.asarray(table["state"][rows]).max(initial=0)) + 1, np.int64)
    visits[np.asarray(table["state"][rows])] = table["visits"][rows]
    return visits


def _links(block: int, table: Table) -> dict[tuple[int, int], int]:
    rows = rows_of_block(table["block"], block)
    columns = (np.asarray(table[name][rows]).tolist() for name in ("from_state", "to_state", "count"))
    return {(source, target): count for source, target, count in zip(*columns, strict=True) if count}


def _homeward(last: int, links: dict[tuple[int, int], int]) -> dict[int, int]:
    """For each state the next one on a way to the last state; a walk that uses these exits last reaches its end."""
    steps: dict[int, int] = {}
    ahead = deque([last])
    while ahead:
        target = ahead.popleft()
        for source, to in links:
            if to == target and source != last and source not in steps:
                steps[source] = target
                ahead.append(source)
    return steps


def _exits(state: int, links: dict[tuple[int, int], int], homeward: int) -> list[int]:
    """The exits of a state in order; a rare one comes after its share of the others."""
    order = [
        ((turn + 1) / count, turn + 1 == count and target == homeward, -count, target)
        for (source, target), count in links.items()
        if source == state
        for turn in range(count)
    ]
    return [target for *_, target in sorted(order)]


def known_stays(block: int, states: Numbers, dwell: Table) -> bool:
    """Whether the profile has the lengths of exactly these stays."""
    rows = rows_of_block(dwell["block"], block)
    state, count = (np.asarray(dwell[name][rows]) for name in ("state", "count"))
    visits = np.bincount(states, minlength=int(state.max(initial=0)) + 1)
    return bool((np.bincount(state, count, len(visits)) == visits).all())


def lengths(block: int, states: Numbers, dwell: Table, random: np.random.Generator | None = None) -> Numbers:
    """The length (cycles) of each stay: the mean of its state's stays of about that length, with several lengths in
    turn. With `random` they are shuffled and spread about the mean within their binary logarithm."""
    rows = rows_of_block(dwell["block"], block)
    columns = (np.asarray(dwell[name][rows]).tolist() for name in ("state", "log2_cycles", "count", "cycles"))
    parts: dict[int, list[Numbers]] = {}
    for state, log2, count, cycles in zip(*columns, strict=True):
        mean_cycles, more = divmod(cycles, max(count, 1))
        shared = mean_cycles + np.diff(np.arange(count + 1) * more // max(count, 1))
        parts.setdefault(state, []).append(_spread(shared, 1 << log2, random) if random else shared)
    lasts = np.ones(len(states), np.int64)
    for state in np.unique(states).tolist():
        mine = np.flatnonzero(states == state)
        values = interleaved(parts.get(state, []))[: len(mine)]
        if random:  # close to their old places, so that sums even out soon
            values = values[np.argsort(np.arange(len(values)) + random.uniform(0, _NEAR, len(values)))]
        lasts[mine[: len(values)]] = values
    return lasts


def _spread(lasts: Numbers, least: int, random: np.random.Generator) -> Numbers:
    """The lengths with the same sum, between `least` and twice that: pairs become longer and shorter by the same
    amount."""
    mean = float(lasts.mean()) if len(lasts) else 0.0
    room = max(min(mean - least, 2 * least - 1 - mean), 0.0) * random.choice((0.0, 0.5, 1.0))
    moved = np.rint(random.uniform(-room, room, len(lasts) // 2)).astype(np.int64)
    spread = lasts.copy()
    spread[0 : 2 * len(moved) : 2] += moved
    spread[1 : 2 * len(moved) : 2] -= moved
    return spread


def interleaved(parts: Sequence[Numbers]) -> Numbers:
    """All values, with each part spread evenly over the whole."""
    if not parts:
        return np.zeros(0, np.int64)
    turns = np.concatenate([(np.arange(len(part)) + 1) / len(part) for part in parts])
    rank = np.concatenate([np.full(len(part), -len(part)) for part in parts])
    merged: Numbers = np.concatenate(parts)[np.lexsort((rank, turns))]
    return merged


def fitted(
    lasts: Numbers, state: Numbers, stretch: Numbers, low: Numbers, high: Numbers,
    random: np.random.Generator | None = None,
) -> Numbers:  # fmt: skip
    """The lengths of stays changed so that each stretch lasts from `low` to `high` cycles, with the same total for each
    state.

    If a state occurs once in each stretch, its longest stays go to the longest stretches, which are assumed to last
    half-way between the bounds (anywhere with `random`); a stretch still outside its bounds is scaled. `stretch`
    numbers the stretch of each stay.
    """
    due = low + (high - low) * (random.random(len(low)) if random else 0.5)
    fitted_lasts, count = lasts.copy(), len(low)
    for of_state in np.unique(state).tolist():
        mine = np.flatnonzero(state == of_state)
        if len(mine) == count and (stretch[mine] == np.arange(count)).all():
            fitted_lasts[mine[np.argsort(due, kind="stable")]] = np.sort(fitted_lasts[mine])
    work = np.bincount(stretch, fitted_lasts, count)
    shortest, longest = np.maximum(low, 1), np.maximum(high, 1)
    total = float(work.sum())
    target_cycles = work
    if random:
        target_cycles = np.clip(work + (due - work) * random.random(), shortest, longest)
    elif ((work >= shortest) & (work <= longest)).all():
        return fitted_lasts
    below, above = 0.0, 1.0
    while np.clip(target_cycles * above, shortest, longest).sum() < total and above < 1 << 20:
        above *= 2
    for _ in range(60):
        half = (below + above) / 2
        below, above = (
            (half, above) if np.clip(target_cycles * half, shortest, longest).sum() < total else (below, half)
        )
    target_cycles = np.rint(np.clip(target_cycles * above, shortest, longest))
    fitted_lasts = np.maximum(
        np.rint(fitted_lasts * (target_cycles / np.maximum(work, 1))[stretch]).astype(np.int64), 1
    )
    last = np.append(np.flatnonzero(np.diff(stretch)), len(stretch) - 1)  # takes the rounding error
    fitted_lasts[last] = np.maximum(
        fitted_lasts[last] + (target_cycles - np.bincount(stretch, fitted_lasts, count)).astype(np.int64), 1
    )
    return fitted_lasts

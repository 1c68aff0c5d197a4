"""Where states and calls occur: by words, over all blocks of a traced run; the next one, or all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block, State
from workbench.traces.calls import BlockCalls
from workbench.traces.scene import Scene

Numbers = NDArray[np.int64]
#: Hits that are kept to be listed. All are counted.
MOST_LISTED = 20_000


@dataclass(frozen=True, order=True)
class Occurrence:
    """A state or a call that begins; of several at one time the block of the least number is the first. `call` is the
    call's number among its block's, -1 for a state."""

    time_ps: int
    block: int
    call: int = -1


@dataclass(frozen=True)
class Hits:
    """All that words name, in order: `count` of them, of which the first ones are kept. A row of `rows` (hits, 4) has
    the time, the block, the call's number (-1: a state), and when it ends (ps). A call and the state that begins with
    it are one."""

    count: int
    rows: Numbers

    def __len__(self) -> int:
        return len(self.rows)

    def place(self, number: int) -> Occurrence:
        return Occurrence(*self.rows[number, :3].tolist())

    @cached_property
    def _numbers(self) -> dict[tuple[int, ...], int]:
        return {(time_ps, block): number for number, (time_ps, block) in enumerate(self.rows[:, :2].tolist())}

    def number_of(self, place: Occurrence) -> int | None:
        """Which of the kept hits begins there, counted from 0."""
        return self._numbers.get((place.time_ps, place.block))


def hits(
    scene: Scene, words: str, *, block_ids: str = "", from_ps: int = 0, to_ps: int | None = None,
    most: int = MOST_LISTED,
) -> Hits:  # fmt: skip
    """Every state and call that is called by all of the words (see `occurrence`) and begins from `from_ps` to before
    `to_ps`: all counted, the first `most` kept."""
    wanted, until_ps = words.casefold().split(), scene.index.end_ps if to_ps is None else to_ps
    count, kept, waiting = 0, np.empty((0, 4), np.int64), 0
    parts: list[Numbers] = []
    for number, block in enumerate(scene.blocks):
        if block_ids.casefold() not in block.id.casefold():
            continue
        called = tuple(_calls_called(scene, number, wanted, from_ps, until_ps))
        begun: NDArray[np.integer] = called[0][0] if called else np.empty(0, np.int64)
        for begin_ps, end_ps, calls in (
            *_states_called(scene, number, block, wanted, from_ps, until_ps, begun),
            *called,
        ):
            count += len(begin_ps)
            some = slice(0, most)  # the first of a block are enough
            rows = np.empty((len(begin_ps[some]), 4), np.int64)
            rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = begin_ps[some], number, calls[some], end_ps[some]
            parts.append(rows)
            waiting += len(rows)
        if waiting > 4 * most:
            kept, parts, waiting = _first((kept, *parts), most), [], 0
    return Hits(count, _first((kept, *parts), most))


def _first(parts: Sequence[Numbers], most: int) -> Numbers:
    rows = np.concatenate(parts)
    return rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))[:most]]


_Intervals = Iterator[tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]]  # begins, ends, calls


def _states_called(
    scene: Scene,
    number: int,
    block: Block,
    wanted: Sequence[str],
    from_ps: int,
    to_ps: int,
    begun: NDArray[np.integer],
) -> _Intervals:
    """Without those that begin with a call that is called so too."""
    trace = scene.index.trace
    named = np.zeros(len(trace.codes[number]), np.bool_)
    for state in block.states:
        named[state.index] = _called(_state_text(block, state), wanted)
    if not named.any():
        return
    for edges, states in trace.pieces_between(number, from_ps, to_ps):
        there = named[states] & (edges[:-1] >= from_ps)
        if len(begun):
            there &= ~np.isin(edges[:-1], begun)
        yield edges[:-1][there], edges[1:][there], np.full(int(there.sum()), -1)


def _calls_called(scene: Scene, number: int, wanted: Sequence[str], from_ps: int, to_ps: int) -> _Intervals:
    calls: BlockCalls | None = scene.calls.get(number)
    if calls is None:
        return
    named = _sites_called(scene, number, wanted)
    if not named.any():
        return
    low, high = (int(at) for at in np.searchsorted(calls.t0_ps, (from_ps, to_ps)))
    mine = low + np.flatnonzero(named[calls.site[low:high]])
    yield calls.t0_ps[mine], calls.t1_ps[mine], mine


def occurrence(
    scene: Scene, words: str, after: Occurrence, *, backwards: bool = False, block_ids: str = ""
) -> Occurrence | None:
    """The next one, in time, of what is called by all of the words (the last one before, `backwards`); None where none
    is left. A block's id, a state's name and category, a call's name and function are searched, in any case of letters,
    of the blocks whose id contains `block_ids`."""
    wanted = words.casefold().split()
    matches = (
        one
        for number, block in enumerate(scene.blocks)
        if block_ids.casefold() in block.id.casefold()
        for one in (
            *_state(scene, number, block, wanted, after, backwards),
            *_call(scene, number, wanted, after, backwards),
        )
    )
    return max(matches, default=None) if backwards else min(matches, default=None)


def name_of(scene: Scene, place: Occurrence) -> str:
    """What begins there: a call's site, or a state."""
    if place.call >= 0:
        return scene.run.manifest.sites[scene.calls[place.block].site[place.call]].label
    at = scene.index.trace.at(place.block, place.time_ps)
    states = {state.index: state.name for state in scene.blocks[place.block].states}
    return states[at[0]] if at else ""


def _called(text: str, wanted: Sequence[str]) -> bool:
    return bool(wanted) and all(word in text.casefold() for word in wanted)


def _state_text(block: Block, state: State) -> str:
    return f"{block.id} {state.name} {state.category.value if state.category else ''}"


def _sites_called(scene: Scene, number: int, wanted: Sequence[str]) -> NDArray[np.bool_]:
    name = scene.blocks[number].id
    return np.array(
        [_called(f"{name} {site.label} {site.callee}", wanted) for site in scene.run.manifest.sites], np.bool_
    )


def _moment(number: int, after: Occurrence, backwards: bool) -> int:
    """The time after which (before which) a block's own occurrences follow one of another block at the same time."""
    if backwards:
        return after.time_ps + (number < after.block)
    return after.time_ps - (number > after.block)


def _state(
    scene: Scene, number: int, block: Block, wanted: Sequence[str], after: Occurrence, backwards: bool
) -> Iterator[Occurrence]:
    for state in block.states:
        if _called(_state_text(block, state), wanted):
            moment = _moment(number, after, backwards)
            time_ps = scene.index.trace.next_entry(number, state.index, moment, backwards=backwards)
            if time_ps is not None:
                yield Occurrence(time_ps, number)


def _call(scene: Scene, number: int, wanted: Sequence[str], after: Occurrence, backwards: bool) -> Iterator[Occurrence]:
    calls: BlockCalls | None = scene.calls.get(number)
    if calls is None:
        return
    mine = np.flatnonzero(_sites_called(scene, number, wanted)[calls.site])
    at = int(np.searchsorted(calls.t0_ps[mine], _moment(number, after, backwards), "left" if backwards else "right"))
    at -= backwards
    if 0 <= at < len(mine):
        yield Occurrence(int(calls.t0_ps[mine[at]]), number, int(mine[at]))

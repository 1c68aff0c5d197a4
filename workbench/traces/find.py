"""Where a state or a call occurs next: by words, over all blocks of a traced run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.model.blocks import Block
from workbench.traces.calls import BlockCalls
from workbench.traces.scene import Scene


@dataclass(frozen=True, order=True)
class Occurrence:
    """A state or a call that begins; of several at one time the block of the least number is the first. `call` is the
    call's number among its block's, -1 for a state."""

    time_ps: int
    block: int
    call: int = -1


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


def _moment(number: int, after: Occurrence, backwards: bool) -> int:
    """The time after which (before which) a block's own occurrences follow one of another block at the same time."""
    if backwards:
        return after.time_ps + (number < after.block)
    return after.time_ps - (number > after.block)


def _state(
    scene: Scene, number: int, block: Block, wanted: Sequence[str], after: Occurrence, backwards: bool
) -> Iterator[Occurrence]:
    for state in block.states:
        if _called(f"{block.id} {state.name} {state.category.value if state.category else ''}", wanted):
            moment = _moment(number, after, backwards)
            time_ps = scene.index.trace.next_entry(number, state.index, moment, backwards=backwards)
            if time_ps is not None:
                yield Occurrence(time_ps, number)


def _call(scene: Scene, number: int, wanted: Sequence[str], after: Occurrence, backwards: bool) -> Iterator[Occurrence]:
    calls: BlockCalls | None = scene.calls.get(number)
    if calls is None:
        return
    name = scene.blocks[number].id
    named = [_called(f"{name} {site.label} {site.callee}", wanted) for site in scene.run.manifest.sites]
    mine = np.flatnonzero(np.array(named, np.bool_)[calls.site])
    at = int(np.searchsorted(calls.t0_ps[mine], _moment(number, after, backwards), "left" if backwards else "right"))
    at -= backwards
    if 0 <= at < len(mine):
        yield Occurrence(int(calls.t0_ps[mine[at]]), number, int(mine[at]))

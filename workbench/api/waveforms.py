"""A traced run's changes of state in order of time over all its blocks, and as waveforms in VCD: a text signal `state`
for each block (IEEE 1364-2005, section 18).

Waveform viewers show it beside the design's own signals: both count picoseconds from the run's begin.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import IO, Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from workbench.model.blocks import Block

#: A block's edges (ps; one more than states) and states, as `Measured.pieces` gives them.
Piece = tuple[NDArray[Any], NDArray[Any]]
Pieces = Callable[[int], Iterable[Piece]]
#: Changes that are sorted at a time.
WINDOW = 1_000_000


class Change(NamedTuple):
    """A block enters a state at a time (ps)."""

    time_ps: int
    block: int
    state: int


def state_changes(blocks: int, pieces: Pieces, from_ps: int, to_ps: int) -> Iterator[Change]:
    """Every change of state of so many blocks from `from_ps` to before `to_ps`, in order of time; of several at one
    time in the blocks' order. The first ones say what each block is in at `from_ps`."""
    rows = [_row(pieces(number), from_ps, to_ps) for number in range(blocks)]
    total = sum(len(times) for times, _ in rows)
    bounds = np.linspace(from_ps, to_ps, max(-(-total // WINDOW), 1) + 1).astype(np.int64).tolist()
    for low, high in pairwise(bounds):
        parts = []
        for number, (times, states) in enumerate(rows):
            first, last = np.searchsorted(times, (low, high))
            parts.append((times[first:last], np.full(last - first, number), states[first:last]))
        times, numbers, states = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(times, kind="stable")
        for change in zip(times[order].tolist(), numbers[order].tolist(), states[order].tolist(), strict=True):
            yield Change(*change)


def _row(pieces: Iterable[Piece], from_ps: int, to_ps: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """When a block enters states in a range, and which: first the one that it is in as the range begins."""
    parts = [(np.empty(0, np.int64), np.empty(0, np.uint8))]
    for edges, states in pieces:
        if edges[-1] > from_ps and edges[0] < to_ps:
            first, last = max(int(np.searchsorted(edges, from_ps, "right")) - 1, 0), int(np.searchsorted(edges, to_ps))
            last = min(last, len(states))
            parts.append((edges[first:last].clip(from_ps), states[first:last]))
    times, found = (np.concatenate(column) for column in zip(*parts, strict=True))
    return times, found


def scopes_of(block: Block) -> tuple[str, ...]:
    """The scopes that a block's signal is in: the parts of its id, without blanks."""
    return tuple("_".join(block.id.split()).split("."))


def state_texts(block: Block) -> list[str]:
    """The states' names by their index, without blanks."""
    texts = {state.index: "_".join(state.name.split()) for state in block.states}
    return [texts.get(index, "") for index in range(max(texts, default=-1) + 1)]


def write_states_vcd(blocks: Sequence[Block], pieces: Pieces, file: BinaryIO, from_ps: int, to_ps: int) -> None:
    """The blocks' states between two times, in a file whose times are those of the run."""
    from vcd import VCDWriter

    names = [state_texts(block) for block in blocks]
    text = cast("IO[str]", _Text(file))
    with VCDWriter(
        text, timescale="1 ps", date="", version="RC Workbench", init_timestamp=from_ps, check_values=False
    ) as writer:  # fmt: skip
        signals = [writer.register_var(".".join(scopes_of(block)), "state", "string", init="") for block in blocks]
        for change in state_changes(len(blocks), pieces, from_ps, to_ps):
            writer.change(signals[change.block], change.time_ps, names[change.block][change.state])
        writer.close(to_ps)


class _Text:
    """Takes text, and writes it to a file of bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(text.encode())

    def flush(self) -> None:
        self._file.flush()

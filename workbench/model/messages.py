"""Where the host's calls send their messages: from a block, when, to a block, when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.model.blocks import Block, Side, as_target
from workbench.model.pragma import CPU
from workbench.model.run import Run
from workbench.model.syncs import SyncKind


@dataclass(frozen=True)
class Message:
    """Times are picoseconds. `by_host`: the call sends it; else the call receives it."""

    source: int
    sent_ps: int
    target: int
    arrived_ps: int
    by_host: bool


def message_of(
    run: Run, block: int, entry: int, begin_ps: int, end_ps: int, arrival_ps: int, place: int, targets: Sequence[int]
) -> Message | None:
    """What a host block's call sent or received, where `targets` are those of the state it was made in; `place` is its
    number among calls of one site one after the other: among replicas it is for the one of the same number. None where
    it is not known with whom, or when."""
    if not targets or arrival_ps < 0:
        return None
    target = targets[place % len(targets)]
    if run.manifest.entries[entry].kind == "receive":
        return Message(target, arrival_ps, block, end_ps, False)
    return Message(block, begin_ps, target, arrival_ps, True)


def call_messages(run: Run) -> Iterator[Message]:
    """The messages of all of a run's calls, block by block, in the order that the calls begin."""
    table = run.tables.get("calls")
    if table is None:
        return
    for block in np.unique(table["block"]).tolist():
        mine = np.flatnonzero(np.asarray(table["block"]) == block)
        mine = mine[np.argsort(np.asarray(table["t0_ps"])[mine], kind="stable")]
        names = ("site", "state", "entry", "t0_ps", "t1_ps", "port_first_ps")
        columns: list[Any] = [np.asarray(table[name])[mine] for name in names]
        site = columns[0]
        numbers = np.arange(len(site))
        heads = (
            np.maximum.accumulate(np.where(np.diff(site, prepend=site[0] - 1), numbers, 0)) if len(site) else numbers
        )
        targets = {s.index: targets_of(run.manifest.blocks, block, s.index) for s in run.manifest.blocks[block].states}
        rows = zip(*(column.tolist() for column in columns[1:]), (numbers - heads).tolist(), strict=True)
        for state, entry, begin, end, arrival, place in rows:
            message = message_of(run, block, entry, begin, end, arrival, place, targets.get(state, ()))
            if message is not None:
                yield message


def rank_messages(run: Run) -> Iterator[Message]:
    """The messages between ranks that somebody waited for, from thread to thread: sent as the call began, there when it
    was woken."""
    table = run.tables.get("syncs")
    if table is None:
        return
    kind, woken_by = np.asarray(table["kind"]), np.asarray(table["woken_by"])
    awaits = np.flatnonzero((kind == SyncKind.AWAIT_MESSAGE) & (woken_by >= 0))
    awaits = awaits[kind[woken_by[awaits]] == SyncKind.SEND_MESSAGE]
    block, begin_ps, end_ps = (np.asarray(table[name]) for name in ("block", "t0_ps", "t1_ps"))
    for at, by in zip(awaits.tolist(), woken_by[awaits].tolist(), strict=True):
        yield Message(int(block[by]), int(begin_ps[by]), int(block[at]), int(end_ps[at]), True)


def targets_of(blocks: Sequence[Block], block: int, state: int) -> tuple[int, ...]:
    """The FPGA blocks that a host state's messages are for."""
    known = next((s for s in blocks[block].states if s.index == state), None)
    targets = [t for t in known.targets if t != CPU] if known else []
    if not targets:
        return ()
    wanted = targets[0].replace("[*]", "").split(".")
    fpga = [n for n, b in enumerate(blocks) if b.side is Side.FPGA]
    return tuple(
        n for n in fpga if wanted in (_parts(blocks[n].id)[-len(wanted) :], _parts(blocks[n].component)[-len(wanted) :])
    )


def _parts(block_id: str) -> list[str]:
    return [part.split("[")[0] for part in as_target(block_id).split(".")]

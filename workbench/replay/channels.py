"""FIFO depths as edits: replay of the words gives the FPGA's longer or shorter time to an answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.model import changes as catalogue
from workbench.model.platform import Platform
from workbench.replay.editing import Edited, RefusedError
from workbench.replay.events import WORD
from workbench.replay.fpga import works
from workbench.replay.fronts import FifoReplay
from workbench.replay.host import ASK, cycles_at
from workbench.replay.points import SHORT
from workbench.replay.program import Program
from workbench.replay.queues import NoReplayError
from workbench.replay.resolve import Named

Streams = list[NDArray[np.int64]]  # for each stream the times of its words (ps)
_SEEN = 3  # after this many cycles every answer is seen


def depth(program: Program, change: catalogue.Depth, named: Named, platform: Platform | None, edited: Edited) -> None:
    """Delay each answer that depends on a word by the delay of that word in the replay with the new depth."""
    del named
    edited.fpga = True
    blocks = program.run.manifest.blocks
    if marked := [blocks[n].id for n in program.fpga.blocks if works(blocks[n]) and (program.fpga.block == n).any()]:
        raise RefusedError(f"{marked[0]} is marked: the replay of words does not show what it does with other depths")
    try:
        words = FifoReplay(program.run, platform)
    except NoReplayError as error:
        raise RefusedError(str(error)) from None
    if change.fifo not in {queue.id for queue in words.queues}:
        raise RefusedError(f"no word passed '{change.fifo}' in this run")
    if words.time_ps({}) != words.run_ps:
        raise RefusedError(
            "replay of the unchanged run's words is not exact: confirm the depth with `workbench streams`"
        )
    depths = {**edited.depths, change.fifo: change.words}
    before, after = _times(words, edited.depths), _times(words, depths)
    edited.depths = depths
    answers = {n: answer for n, answer in program.answers.items() if answer.kind == WORD and answer.opaque}
    if not answers:
        raise RefusedError("the run does not show how streams delay what the host waits for")
    rounds = {n: one for n in answers if (one := _round(program, words, before, after, n)) is not None}
    if not rounds:
        raise RefusedError("no words passed while the host waited")
    low = max(max(one.failed + 1 - one.last if one.failed >= 0 else 0, 0) for one in rounds.values())
    high = min(one.seen - one.last for one in rounds.values())
    for number, one in rounds.items():
        answer = answers[number]
        if low <= min(high, SHORT):  # its distance from the last word
            lag = one.last + one.more - one.begun + low
            program.answers[number] = replace(answer, lag=lag, latest=lag + min(high - low, _SEEN), opaque=False)
        else:
            lag = max(answer.lag + one.more, 0)
            program.answers[number] = replace(answer, lag=lag, latest=max(answer.latest + one.more, lag))
    edited.doubts += words.why[:1]


@dataclass(frozen=True)
class _Round:
    """A wait of the host, in cycles of its port: the word that begins it, the last word that passes a stream, the delay
    of that word with the other depths, the last failed poll (-1: none) and the successful one."""

    begun: int
    last: int
    more: int
    failed: int
    seen: int


def _round(program: Program, words: FifoReplay, before: Streams, after: Streams, number: int) -> _Round | None:
    """The round of the wait with this number; None if no word passes during it."""
    host, op, source = program.host, program.host.ops[number], program.answers[number].sources[-1]
    sent, clock = host.ops[source], host.clock_of_table[int(op["table"])] if op["table"] >= 0 else 0
    period = program.periods_ps[clock]
    begun_ps = int(sent["grant_ps"] + sent["work_ps"] - sent["shorter"] * int(period))
    end_ps = int(op["end_ps"] - op["after_ps"])
    spans = [_span(words, times, begun_ps, end_ps) for times in (words.recorded, before, after)]
    if any(span is None for span in spans):
        return None
    (_, last), first, second = (span or (0, 0) for span in spans)
    moments = np.array([begun_ps, last, second[1] - second[0], first[1] - first[0], end_ps])
    begun, last, new, old, ended = cycles_at(moments, period).tolist()
    asks = op["kind"] == ASK
    return _Round(begun, last, new - old, int(op["failed"]) if asks else -1, int(op["seen"]) if asks else ended)


def _times(words: FifoReplay, depths: Mapping[str, int]) -> Streams:
    """The times (ps) at which words pass each stream, with these depths."""
    if words.time_ps(depths) is None:
        raise RefusedError("with that depth the blocks deadlock")
    return [words.at_ps(number) for number in range(len(words.traffic.streams))]


def _span(words: FifoReplay, times: Streams, begin_ps: int, end_ps: int) -> tuple[int, int] | None:
    """The new times of the first and last word that passed between two moments of the run; None if no word did."""
    first, last = [], []
    for run, of_stream in zip(words.recorded, times, strict=True):
        within = of_stream[(run > begin_ps) & (run <= end_ps)]
        if len(within):
            first.append(int(within[0]))
            last.append(int(within[-1]))
    return (min(first), max(last)) if first else None

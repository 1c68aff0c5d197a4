"""What agents counted while an application ran, as replies for the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.streaming.agents.cost import Cost
from rc_workbench_plugins.streaming.agents.told import answers_told
from rc_workbench_plugins.streaming.query.words import sample_words, times_words
from workbench.api import PS_PER_S, Explained, Reply, Run, count_text, percent_text, time_text
from workbench.api.unstable import significant

MOST_SAMPLES = 20_000  # of a trace, that are shown


def counted(run: Run) -> list[tuple[str, Reply]]:
    """A reply for each statement that agents answered, in order, and which agent's it is; none without agents."""
    told = answers_told(run.tables, str(run.path or ""))
    if told is None:
        return []
    said = [*told["measures"], *told["asserts"]]
    return [
        (_agent(one), _measured(one, str(words)) if "frames" in one else _asserted(one, str(words)))
        for one, words in zip(said, told["words"], strict=False)
    ]


def _agent(one: Mapping[str, Any]) -> str:
    return f"the {one['agent']}'s agent" if "agent" in one else "the agent"  # of runs when there was one alone


def of_agents(run: Run) -> list[Explained]:
    """What agents could not count, or lost, and what they cost; nothing without agents."""
    told = answers_told(run.tables, str(run.path or ""))
    if told is None:
        return []
    missed = [". ".join(filter(None, (one["message"], one["hint"]))) for one in told["diagnostics"]]
    cost = [f"{words[:1].upper()}{words[1:]}." for one in told["agents"] for words in [Cost(**one).words()]]
    answers = {"What did agents not count?": dict.fromkeys(missed), "What did agents cost?": cost}
    return [Explained(question, "\n".join(lines), ()) for question, lines in answers.items() if lines]


def beside(asked: Sequence[Reply], told: Sequence[tuple[str, Reply]]) -> list[Reply]:
    """Replies of a trace, with what agents counted of the same statements; then what agents counted beside."""
    found, texts = [], {one.text for one in asked}
    for reply in asked:
        others = ((by, one.words) for by, one in told if one.text == reply.text)
        said = (f"; {by} counted{' the same' if words == reply.words else f': {words}'}" for by, words in others)
        found.append(replace(reply, words="".join([reply.words, *said])))
    return [*found, *(replace(one, words=f"{one.words}; counted by {by}") for by, one in told if one.text not in texts)]


def _lines(words: str) -> str:
    return "; ".join(line.strip() for line in words.splitlines()[1:])


def _asserted(one: Mapping[str, Any], words: str) -> Reply:
    return Reply(one["label"], one["text"], _lines(words), 0, holds=bool(one["holds"] and one["known"]))


def _measured(one: Mapping[str, Any], words: str) -> Reply:
    frames: Sequence[Mapping[str, Any]] = one["frames"]
    times = (*(frame["start_s"] for frame in frames[:1]), *(frame["end_s"] for frame in frames))
    unsure_ps = max((frame.get("uncertainty_ps", 0) for frame in frames), default=0)
    made = Reply(one["label"], one["text"], _lines(words), 0, one["unit"], times, unsure_s=unsure_ps / PS_PER_S)
    if "bins" in one and frames:
        low = [_number(bound, one["unit"]) for bound in one["bins"]]
        names = (f"below {low[0]}", *low[:-1], f"{low[-1]} or more")
        shares = [_shares(frame) for frame in frames]
        return histogram(made, names, shares)
    if any("samples" in frame for frame in frames):
        samples = np.array([sample for frame in frames for sample in frame.get("samples", ())])
        moments, values = (tuple(part.tolist()) for part in thinned(samples[:, 0], samples[:, 1]))
        stays = one["unit"] == "elements"
        return replace(made, values=values, moments_s=moments, stays=stays)
    off = tuple(frame.get("uncertainty", 0.0) for frame in frames)
    return replace(made, values=tuple(frame["value"] for frame in frames), uncertain=off if any(off) else ())


def told_words(found: Mapping[str, Sequence[Any]]) -> list[str]:
    """What `answers_told` found, as people read it, a trace with its samples."""
    lines = list(map(str, found["words"]))
    for place, one in enumerate(found["measures"]):
        if samples := [(at, value) for frame in one["frames"] for at, value in frame.get("samples", ())]:
            lines[place] += "\n" + sample_words(samples, partial(_number, unit=one["unit"]))
    return lines


def histogram(reply: Reply, names: Sequence[str], counts: Sequence[Sequence[float]], trust: str = "") -> Reply:
    """The reply with each frame's counts (a row) as shares, over the bins that are used, and the bin with the most."""
    sums = [sum(column) for column in zip(*counts, strict=True)]
    used = [number for number, total in enumerate(sums) if total]
    if reply.unsure_s:
        trust = f"; {times_words(round(reply.unsure_s * PS_PER_S))}{trust}"
    if not used:
        return replace(reply, words=f"nothing was seen{trust}")
    kept, most = slice(used[0], used[-1] + 1), max(used, key=sums.__getitem__)
    words = f"most often {names[most]}: {percent_text(sums[most] / sum(sums))}{trust}"
    shares = tuple(tuple(part / (sum(row) or 1) for part in row[kept]) for row in counts)
    return replace(reply, words=words, bin_words=tuple(names[kept]), shares=shares)


def thinned(moments: NDArray[Any], values: NDArray[Any], most: int = MOST_SAMPLES) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of many samples the first, the least and the most of each of so many parts that at most `most` stay."""
    if len(values) <= most:
        return moments, values
    bounds = np.linspace(0, len(values), most // 3 + 1).astype(int)
    kept = {int(first) for first in bounds[:-1]}
    for first, end in pairwise(bounds.tolist()):
        part = values[first:end]
        kept |= {first + int(part.argmin()), first + int(part.argmax())}
    at = sorted(kept)
    return moments[at], values[at]


def _shares(frame: Mapping[str, Any]) -> list[float]:
    return [frame["below"], *frame["histogram"], frame["above"]]


def _number(value: float, unit: str) -> str:
    if unit == "s":
        return time_text(value)
    return significant(value) if value != int(value) else count_text(value)

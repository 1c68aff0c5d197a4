"""What lies between two times of a trace: states, calls, how many replicas work at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.model.blocks import Side, fpga_of, short_labels, within_rank
from workbench.model.run import PS_PER_S
from workbench.traces.sample import most_at_once
from workbench.traces.scene import Scene
from workbench.traces.trace import CATEGORIES


@dataclass(frozen=True)
class Share:
    """Seconds in each category of a block, or the mean of several."""

    title: str
    note: str
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class Statistics:
    """What lies between two times. `at_work` is (stack, most at once, members) of the largest
    stack of replicas, the most None where counting would take long."""

    from_ps: int
    to_ps: int
    shares: tuple[Share, ...]
    calls: tuple[tuple[int, int, float], ...]  # site, calls begun, seconds
    at_work: tuple[str, int | None, int] | None


def selection_statistics(scene: Scene, from_ps: int, to_ps: int) -> Statistics:
    """Times by state between two times, exactly; the host's blocks and the largest stack of replicas."""
    shares = []
    hosts = [n for n, b in enumerate(scene.blocks) if b.side is Side.HOST]
    for number in hosts:
        shares.append(
            Share(scene.blocks[number].id.removeprefix("host."), "1 thread", _seconds(scene, [number], from_ps, to_ps))
        )
    groups: dict[str, list[int]] = {}
    for number, block in enumerate(scene.blocks):
        if block.side is Side.FPGA:
            groups.setdefault(block.group, []).append(number)
    at_work = None
    if groups:
        members = max(groups.values(), key=len)
        first = scene.blocks[members[0]].id
        place = fpga_of(within_rank(first))
        name = within_rank(short_labels([scene.blocks[n] for n in members])[first])
        name = place + name.removeprefix(place)
        if len(members) > 1:
            name = name.split("[")[0]
            shares.append(Share(f"{name} × {len(members)}", "mean", _seconds(scene, members, from_ps, to_ps)))
            at_work = (
                name,
                most_at_once(scene.index.trace, members, CATEGORIES.index("work"), from_ps, to_ps),
                len(members),
            )
        else:
            shares.append(Share(name, "", _seconds(scene, members, from_ps, to_ps)))
    calls: dict[int, tuple[int, int]] = {}
    for number in hosts:
        if number in scene.calls:
            for site, count, spent in scene.calls[number].between(from_ps, to_ps):
                before, took = calls.get(site, (0, 0))  # by another thread
                calls[site] = (before + count, took + spent)
    rows = sorted(((s, c, t / PS_PER_S) for s, (c, t) in calls.items()), key=lambda row: -row[2])
    return Statistics(from_ps, to_ps, tuple(shares), tuple(rows), at_work)


def _seconds(scene: Scene, members: Sequence[int], from_ps: int, to_ps: int) -> tuple[float, ...]:
    total = np.zeros(len(CATEGORIES))
    for row in members:
        total += scene.index.category_times_ps(row, from_ps, to_ps)
    return tuple(total / len(members) / PS_PER_S)

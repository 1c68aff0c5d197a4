"""The Pareto front of time against memory over FIFO depths, as words, rows and JSON."""

from collections.abc import Sequence
from typing import Any

from workbench.api.views import Column, Table
from workbench.model.run import PS_PER_S
from workbench.model.text import counted, ratio_text, thousands, time_text
from workbench.replay.fronts import DepthPoint, Front, Queued

SHOWN = 8  # points in a table: those with the largest differences


def front_json(front: Front) -> dict[str, Any]:
    """The front with its queues for `--json`. Times in ps, memory in bits."""
    return {
        "queues": [
            {"id": q.id, "depth": q.depth, "bits": q.bits, "held_most": q.most, "in_fpga": q.in_fpga}
            for q in front.queues
        ],
        "points": [_point_json(point) for point in front.points],
        "chosen": front.chosen,
        "now": _point_json(front.now) if front.now else None,
        "loss": front.loss,
        "never_together": [list(pair) for pair in front.apart],
        "unsure": list(front.why),
        "run_ps": front.run_ps,
        "replayed_ps": front.replayed_ps,
    }


def _point_json(point: DepthPoint) -> dict[str, Any]:
    return {
        "time_ps": point.time_ps, "latency_ps": point.latency_ps, "bits": point.bits,
        "block_rams": point.block_rams, "depths": dict(point.depths),
    }  # fmt: skip


def shown_points(front: Front, most: int = SHOWN) -> list[DepthPoint]:
    """Some of many points, from end to end, including the chosen one."""
    step = -(-len(front.points) // most)
    return [one for n, one in enumerate(front.points) if step <= 1 or n % step == 0 or n == front.chosen]


def depth_changes(front: Front) -> tuple[str, ...]:
    """The depth change of each queue for the chosen point, with the predicted gain: "Deepen a from 16 to 24 words"."""
    choice = front.choice
    if choice is None:
        return ()
    texts = []
    for queue in front.queues:
        chosen_depth = choice.depths[queue.id]
        unit = counted(chosen_depth, "word")
        if not queue.depth:
            texts.append(f"Make {queue.id} {unit} deep.")
        elif chosen_depth > queue.depth:
            texts.append(f"Deepen {queue.id} from {thousands(queue.depth)} to {unit}.")
        elif chosen_depth < queue.depth:
            texts.append(f"{queue.id} needs {unit} of {thousands(queue.depth)}.")
    return tuple(texts)


def choice_words(front: Front) -> str:
    """Time and memory with the chosen depths, in one sentence."""
    choice, now = front.choice, front.now
    if choice is None:
        return ""
    memory = _memory_words(choice)
    criterion = f"the least depths that lose under {100 * front.loss:g} % of the throughput"
    if now is None:
        return f"The run ended in a deadlock. With {criterion} it takes {_time(choice.time_ps)} and {memory}."
    gain = now.time_ps / max(choice.time_ps, 1)
    return (
        f"Predicted speedup {ratio_text(gain)} with {criterion}: {_time(choice.time_ps)} instead of "
        f"{_time(now.time_ps)}, {memory} instead of {_memory_words(now)}."
    )


def _memory_words(point: DepthPoint) -> str:
    rams = "" if point.block_rams is None else f" ({counted(point.block_rams, 'block RAM')})"
    return f"{counted(point.bits, 'bit')}{rams}"


def _time(ps: int) -> str:
    return time_text(ps / PS_PER_S, 4)


def front_table(front: Front, points: Sequence[DepthPoint] | None = None) -> Table:
    """One row for each point: time, latency, memory and every depth. The chosen point is marked."""
    rams = any(point.block_rams is not None for point in front.points)
    columns = [
        Column("Time", lambda p: _time(p.time_ps), width_px=92, right=True, key=lambda p: p.time_ps, ink=_ink(front),
               tip="Predicted, until the last word has left"),
        Column("Latency", lambda p: time_text(p.latency_ps / PS_PER_S, 3), width_px=84, right=True,
               key=lambda p: p.latency_ps, tip="How long words take from entering to leaving, on average"),
        Column("Memory (bits)", lambda p: thousands(p.bits), width_px=104, right=True, key=lambda p: p.bits),
        *([Column("Block RAMs", lambda p: thousands(p.block_rams or 0), width_px=88, right=True,
                  key=lambda p: p.block_rams or 0, tip="Each FIFO in an FPGA fills whole ones")] if rams else []),
        *(_depth_column(queue, name) for queue, name in zip(front.queues, _names(front.queues), strict=True)),
    ]  # fmt: skip
    return Table("Depths", tuple(columns), list(front.points if points is None else points))


def _ink(front: Front) -> Any:
    return lambda point: ("good" if point is front.choice else "text", 13, 600 if point is front.choice else 400)


def _names(queues: Sequence[Queued]) -> list[str]:
    """The last parts of the queues' ids, as many as distinguish each."""

    def last(queue: Queued, parts: int) -> str:
        return ".".join(queue.id.split(".")[-parts:])

    def is_alone(queue: Queued, parts: int) -> bool:
        return sum(last(one, parts) == last(queue, parts) for one in queues) == 1

    depth = max((queue.id.count(".") + 1 for queue in queues), default=1)
    return [
        next((last(queue, n) for n in range(1, depth) if last(queue, n) and is_alone(queue, n)), queue.id)
        for queue in queues
    ]


def _depth_column(queue: Queued, name: str) -> Column:
    tip = f"Depth of {queue.id}, {queue.bits} bits a word; {queue.depth or 'unknown'} now, held {queue.most} at most"
    return Column(
        name, lambda p: str(p.depths[queue.id]), width_px=max(64, 9 * len(name) + 16), right=True,
        key=lambda p: p.depths[queue.id], tip=tip,
    )  # fmt: skip

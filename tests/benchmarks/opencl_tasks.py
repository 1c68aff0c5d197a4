"""Task kernels made at random: initiation intervals, trips and cycles, as predicted and as counted.

    python tests/benchmarks/opencl_tasks.py [--json] [--quick] [--kernels N] [--seed N]

Each kernel is one loop, or one within another, whose body computes carried floats of each other's former values and an
array of what it held some iterations before. The count needs no compiler and knows no graph: the same body is executed
iteration by iteration, each operation begins when its operands are there (latencies of the board's table), and an
iteration is issued every `interval` cycles. The interval counted is the least one at which operations do not fall
behind; the cycles counted end with the last operation.

A row is `ok` where intervals and trips are equal, and the cycles differ by less than one iteration takes from its begin
to its end: the count leaves out the steps of counters and branches, the prediction what comes later from an iteration
before than an iteration begins. Exits 1 where one is not.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from command_line import command, show
from opencl import board
from rc_workbench_plugins.opencl.analysis import analysed
from rc_workbench_plugins.opencl.compute import KernelDesign, predict
from rc_workbench_plugins.opencl.launch import Launch
from rc_workbench_plugins.opencl.model import REPAIRED, Setting
from rc_workbench_plugins.opencl.statistics import work_of

from workbench.model.kernel_board import KernelBoard

_SETTLED = 60  # iterations after which offsets no longer change at an interval that is long enough
_VARIABLES = ("f", "g", "h")


@dataclass(frozen=True)
class Leaf:
    """What an expression begins with: a carried variable (its former value), `x[i]`, or `z[i - distance]`."""

    name: str
    distance: int = 0

    def text(self) -> str:
        return {"x": "x[i]", "z": f"z[i - {self.distance}]"}.get(self.name, self.name)


@dataclass(frozen=True)
class Operation:
    sign: str
    left: Leaf | Operation
    right: Leaf | Operation

    def text(self) -> str:
        return f"({self.left.text()} {self.sign} {self.right.text()})"


Tree = Leaf | Operation


@dataclass(frozen=True)
class Task:
    """The body's assignments, all of former values, and the loop: from `first`, `rounds` times, in each of `outer`."""

    body: Mapping[str, Tree]
    first: int
    rounds: int
    outer: int

    def source(self) -> str:
        lines = [f"            float new_{name} = {tree.text()};" for name, tree in self.body.items()]
        lines += [f"            {'z[i]' if name == 'z' else name} = new_{name};" for name in self.body]
        body = "\n".join(lines)
        kept = " + ".join(name for name in _VARIABLES if name in self.body) or "0.0f"
        return (
            "__kernel void k(__global const float *x, __global float *y, __global float *z, int n, int m)\n{\n"
            "    float f = y[0], g = y[1], h = y[2];\n    for (int o = 0; o < m; o++) {\n"
            f"        for (int i = {self.first}; i < n; i++) {{\n{body}\n        }}\n"
            f"        y[o + 3] = {kept};\n    }}\n}}\n"
        )


@dataclass(frozen=True)
class Row:
    kernel: str
    interval: float
    interval_counted: int
    trips: float
    trips_counted: int
    cycles: float
    cycles_counted: int
    ok: bool


def tasks(count: int, seed: int) -> Iterator[Task]:
    draw = random.Random(seed)
    for _ in range(count):
        names = draw.sample(_VARIABLES, draw.randint(0, 3))
        if draw.random() < 0.5 or not names:
            names.append("z")
        leaves = [Leaf(name) for name in (*names, "x") if name != "z"]
        if "z" in names:
            leaves.append(Leaf("z", draw.randint(1, 6)))
        body = {name: _tree(draw, leaves, draw.randint(1, 3)) for name in names}
        yield Task(body, 8, draw.randint(80, 400), draw.choice((1, 1, 3)))


def _tree(draw: random.Random, leaves: Sequence[Leaf], depth: int) -> Tree:
    """Of two different leaves at least, so that a compiler cannot shorten it."""
    if not depth:
        return draw.choice(leaves)
    left = _tree(draw, leaves, depth - 1 if draw.random() < 0.7 else 0)
    return Operation(draw.choice("+*"), left, draw.choice(leaves))


def counted(task: Task, board: KernelBoard) -> tuple[int, int]:
    """The least interval at which no operation falls behind, and the cycles of one run through the loop."""
    interval = 1
    while (done := _executed(task, interval, board)) is None:
        interval += 1
    return interval, done


def _executed(task: Task, interval: int, board: KernelBoard) -> int | None:
    """When the last operation ends; None where they begin later behind their issue the longer the loop goes on."""
    latency = {"+": int(board.latency_cycles.fp_add), "*": int(board.latency_cycles.fp_mul)}
    answer = int(board.dram_latency_cycles)
    ready = dict.fromkeys(_VARIABLES, 0)
    stored: dict[int, int] = {}
    late: list[int] = []
    end = 0

    def value(tree: Tree, i: int, issue: int) -> int:
        if isinstance(tree, Operation):
            return max(value(tree.left, i, issue), value(tree.right, i, issue)) + latency[tree.sign]
        if tree.name == "x":
            return issue + answer
        if tree.name == "z":
            return max(issue, stored.get(i - tree.distance, 0)) + answer
        return max(issue, ready[tree.name])

    for i in range(task.rounds):
        new = {name: value(tree, i, i * interval) for name, tree in task.body.items()}
        stored[i] = new.pop("z", 0)
        ready |= new
        end = max(end, stored[i], *ready.values())
        late.append(max(stored[i], *ready.values()) - i * interval)
    return None if late[-1] > late[_SETTLED] else end


def row(task: Task, folder: Path) -> Row:
    """One kernel, predicted and counted."""
    path, size = folder / "k.cl", task.first + task.rounds
    path.write_text(task.source(), encoding="utf-8")
    buffer = {"elements": size, "low": 0.0, "high": 1.0}
    given = {"x": buffer, "y": buffer, "z": buffer, "n": size, "m": task.outer}
    launch = Launch.model_validate({"global_size": [1], "arguments": given})
    found = analysed(path, "k", launch, folder)
    work = work_of(found.kernel, found.root, found.profile, board())
    estimate = predict(KernelDesign("k", work, (), Setting(1.0, 1.0, 1.0, {}), None, None, board()), REPAIRED).estimate
    (loop,) = (one.node for one in estimate.numbers if one.symbol == "II")
    numbers = {(one.symbol, one.node): float(np.mean(one.value)) for one in estimate.numbers}
    interval, cycles = counted(task, board())
    trips, predicted = float(np.mean(estimate.rounds[loop])), numbers["C", loop]
    depth = cycles - interval * (task.rounds - 1)
    ok = numbers["II", loop] == interval and trips == task.rounds and abs(predicted - cycles) < depth
    body = "; ".join(f"{name} = {tree.text()}" for name, tree in task.body.items())
    return Row(body, numbers["II", loop], interval, trips, task.rounds, predicted, cycles, ok)


def rows(count: int, seed: int) -> Iterator[Row]:
    for task in tasks(count, seed):
        with TemporaryDirectory(prefix="opencl") as folder:
            yield row(task, Path(folder))


def main() -> int:
    parser = command(__doc__, "10 kernels")
    parser.add_argument("--kernels", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    arguments = parser.parse_args()
    found = list(rows(10 if arguments.quick else arguments.kernels, arguments.seed))
    show({"rows": [asdict(one) for one in found], "not_ok": sum(not one.ok for one in found)}, arguments.json)
    return int(any(not one.ok for one in found))


if __name__ == "__main__":
    sys.exit(main())

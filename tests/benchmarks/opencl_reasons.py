"""The measures behind the reasons of OpenCL's rows that differ from the paper (Wang, He, Zhang and Jiang 2016).

    python tests/benchmarks/opencl_reasons.py [--json] [--quick]

Speedups are over each kernel's first design; `time` is their range by the clocks of published builds.

- `asked`: the cycles of a transaction that joins no burst (`uncoalesced_cycles`), asked for by the paper's two times of
  k-means (section 6.4.2) at the slowest and the fastest clock: the board's template has the least of them, the paper 1;
- `costs`: Table 4 by that cost: which rows are in the range in time, and -O3 of matrix multiplication from where on;
- `kmeans`: designs whose inner loop is unrolled whole, with what of the logic they are estimated to take; `nothing
  joined`: copies of an unrolled loop that find one address load it each, as the paper's Eq. 2 counts them (R14);
- `layout`: -O3 of k-means with Rodinia's layout of the points, with a load of the centre in each work item, and with
  none, as if all shared it; the same sharing for matrix multiplication and similarity, whose first designs read one
  array at one address.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from command_line import command, show
from opencl import board, design
from rc_workbench_plugins.opencl import model
from rc_workbench_plugins.opencl.compute import Prediction, predict
from rc_workbench_plugins.opencl.driven import driven_design
from rc_workbench_plugins.opencl.optimisations import COALESCED, Change

#: The paper's designs of Table 4 by our kernels, with what it prints; -O3 as section 6.6 gives it, else the largest.
PAPER = {
    "MM -O3": 0.7, "MM": 362.4, "KM -O3": 4.4, "KM": 293.4, "WC -O3": 0.93, "WC": 11.4, "SS -O3": 1.0, "SS": 9.4,
}  # fmt: skip
#: Times of k-means that section 6.4.2 prints, by the factors of the inner and the outer loop.
TIMES_S = {(2, 16): 137.0, (8, 2): 64.5}


def kmeans(inner: int, outer: int, units: int, coalesced: str = "_coalesced") -> Prediction:
    return design(f"kmeans_local{coalesced}", {"L2": outer, "L3": inner}, units=units)


def pairs() -> dict[str, tuple[Prediction, Prediction]]:
    """The first design and that of each row, by the row's name."""
    multiply, means, words, alike = (design(name) for name in ("matrix_multiply", "kmeans", "word_count", "similarity"))
    last = {
        "MM": (multiply, design("matrix_multiply_tiled", {"L2": 64}, simd=4)), "KM": (means, kmeans(8, 8, 2)),
        "WC": (words, design("word_count_vector", units=4)), "SS": (alike, design("similarity_vector", {"L1": 2})),
    }  # fmt: skip
    driven = {"MM -O3": (multiply, design("matrix_multiply", simd=2, units=4))}
    driven |= {f"{key} -O3": (first, predict(driven_design(first.design, None)))
               for key, (first, _) in last.items() if key != "MM"}  # fmt: skip
    return driven | last


def speedup(first: Prediction, last: Prediction) -> tuple[float, float, float]:
    """In cycles, and in time the least and the most."""
    ratio = float(first.cycles / last.cycles)
    slow, fast = first.clocks_hz or (1.0, 1.0)
    least, most = last.clocks_hz or (1.0, 1.0)
    return ratio, ratio * least / fast, ratio * most / slow


def costing(one: Prediction, cycles: float) -> Prediction:
    """A design on a board with another cost of a transaction that joins no burst."""
    changed = board().model_copy(update={"uncoalesced_cycles": cycles})
    return predict(replace(one.design, board=changed))


def costs(every: dict[str, tuple[Prediction, Prediction]], chosen: Sequence[float]) -> list[dict[str, Any]]:
    rows = []
    for cost in chosen:
        ratios = {key: speedup(*(costing(one, cost) for one in pair)) for key, pair in every.items()}
        within = [key for key, (_, least, most) in ratios.items() if least <= PAPER[key] <= most]
        rows.append(
            {"cycles": cost, **{key: ratio for key, (ratio, _, _) in ratios.items()}, "within": ", ".join(within)}
        )
    return rows


def cost_of_row(pair: tuple[Prediction, Prediction], paper: float) -> float:
    """From which cost on a measured speedup is not below the range in time."""
    return _zero(lambda cost: speedup(*(costing(one, cost) for one in pair))[1] - paper, 4)


def cost_of(one: Prediction, cycles: float) -> float:
    """The cost by which a design takes so many cycles."""
    return _zero(lambda cost: float(costing(one, cost).cycles) - cycles, 60)


def _zero(off: Callable[[float], float], most: float) -> float:
    from scipy.optimize import brentq  # here, since it is long to import, and tests read this file

    return float(brentq(off, 1, most))


def asked() -> list[dict[str, float | str]]:
    rows: list[dict[str, float | str]] = []
    for (inner, outer), seconds in TIMES_S.items():
        one = design("kmeans", {"L1": outer, "L2": inner})
        ends = [cost_of(one, seconds * clock_hz) for clock_hz in one.clocks_hz or ()]
        rows.append({"design": f"UL{inner}_UL{outer}", "time_s": seconds, "least": min(ends), "most": max(ends)})
    return rows


def row(name: str, first: Prediction, last: Prediction) -> dict[str, Any]:
    ratio, least, most = speedup(first, last)
    return {"design": name, "cycles": ratio, "least": least, "most": most,
            "logic": float(last.shares["logic"]), "dsps": float(last.shares["DSP blocks"])}  # fmt: skip


def by_itself(work: Callable[[], Prediction]) -> Prediction:
    """A prediction in which no copies of a load are joined."""
    kept, model.joined = model.joined, lambda work, block, stream, loops, setting: setting
    try:
        return work()
    finally:
        model.joined = kept


def layout() -> list[dict[str, Any]]:
    plain, points = design("kmeans"), design("kmeans", changes=(Change(COALESCED, "points"),))
    rows = []
    for name, one, array in (
        ("KM, Rodinia's layout", points, "centres"), ("KM", plain, "centres"),
        ("MM", design("matrix_multiply"), "a"), ("SS", design("similarity"), "features"),
    ):  # fmt: skip
        rows.append(row(name, one, predict(driven_design(one.design, None))))
        base = one.design.base
        at_one = {stream.id for block in base.blocks.values() for stream in block.streams
                  if stream.object == array and stream.item_bytes == 0}  # fmt: skip
        blocks = {key: replace(block, streams=tuple(s for s in block.streams if s.id not in at_one))
                  for key, block in base.blocks.items()}  # fmt: skip
        shared = replace(driven_design(one.design, None), base=replace(base, blocks=blocks))
        rows.append(row(f"{name}, shared", one, predict(shared)))
    return rows


def main() -> int:
    arguments = command(__doc__, "fewer costs of a transaction").parse_args()
    every, first = pairs(), design("kmeans")
    factors = ((8, 8, 2), (8, 16, 1), (8, 16, 2))
    designs = [row(f"UL{inner}_UL{outer}_CU{units}", first, kmeans(inner, outer, units))
               for inner, outer, units in factors]  # fmt: skip
    apart = by_itself(lambda: predict(kmeans(8, 16, 2).design))
    show({
        "asked": asked(),
        "costs": costs(every, (1.0, 1.6) if arguments.quick else (1.0, 1.6, 2.0, 4.0, 8.0, 13.0)),
        "mm_o3_from": cost_of_row(every["MM -O3"], PAPER["MM -O3"]),
        "kmeans": [*designs, row("UL8_UL16_CU2, nothing joined", first, apart)],
        "layout": layout(),
    }, arguments.json)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What to do next: every single optimisation of a design applied analytically, and a search over combinations of them.

The budget is what the FPGA has. A design that was not built is taken to need the kernel's part of each resource as
often as its operations are replicated: an upper bound, since control and memories are shared (the paper has no rule).
Where no report says what the kernel takes, it is estimated by the board's costs of operations.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from rc_workbench_plugins.opencl.compute import KernelDesign, Prediction, predict
from rc_workbench_plugins.opencl.kernel import Loop, walk
from rc_workbench_plugins.opencl.model import Setting
from rc_workbench_plugins.opencl.optimisations import COALESCED, LOCAL, PRIVATE, VECTOR, Change, applied
from rc_workbench_plugins.opencl.pipelines import estimate
from rc_workbench_plugins.opencl.potentials import KINDS
from rc_workbench_plugins.opencl.resources import grown, largest, middle_clock_hz, needed, usual_clocks
from rc_workbench_plugins.opencl.statistics import Work
from workbench.api import Values, WorkbenchError

FACTORS = (2.0, 4.0, 8.0, 16.0)
VECTORS = (2, 4, 8, 16)
_REPLICATED = (
    ("SIMD", "simd", "let each pipeline take {:g} work items at once"),
    ("CU", "compute_units", "replicate the pipeline: {:g} compute units"),
)
LEAST_GAIN = 1.02  # a suggestion's: what gains less is not worth a change of the code
MOST_COMBINATIONS = 2_000_000
LEFT_OUT = 5  # of what would be faster but does not fit, so many are listed


@dataclass(frozen=True)
class Suggestion:
    """One optimisation more: `what` is SM, MC, PM, VT, UL, SIMD or CU, `said` names the loop or the access and the
    factor. `speedup` is in cycles; `largest_used` is the scarcest resource's share, None where use is not known."""

    what: str
    said: str
    line: int
    speedup: float
    design: KernelDesign
    potentials: Mapping[str, float]
    largest_used: float | None

    @property
    def answers(self) -> tuple[str, ...]:
        """The potentials that ask for it (section 5)."""
        return tuple(name for name, (_, _, asked) in KINDS.items() if self.what in asked)


@dataclass(frozen=True)
class _Option:
    """One optimisation by each of its `factors`; `design` takes one, or all of them at once."""

    what: str
    line: int
    factors: tuple[float, ...]
    design: Callable[[Values], KernelDesign]
    said: Callable[[float], str]


def suggestions(now: Prediction, profile: str) -> tuple[Suggestion, ...]:
    """Single optimisations that make a design faster and fit the FPGA, the fastest first; each by the least factor that
    gains nearly all."""
    offered = []
    for option in _options(now.design):
        factors = np.array(option.factors)
        whole = option.design(factors if len(factors) > 1 else option.factors[0])
        try:
            work = applied(whole.base, whole.changes, whole.board)
        except WorkbenchError:  # an access that cannot be changed so
            continue
        cycles = np.atleast_1d(estimate(work, whole.board, whole.setting, profile).cycles)
        gains = np.broadcast_to(float(np.mean(now.cycles)) / cycles, factors.shape)
        used = largest(_shares_after(now, whole, work))
        if used is not None:
            gains = np.where(np.broadcast_to(used, factors.shape) <= 1, gains, 0.0)
        if gains.max() < LEAST_GAIN:
            continue
        best = int(np.argmax(gains >= gains.max() / LEAST_GAIN))
        design = option.design(option.factors[best])
        then = predict(design, profile)
        values = {name: float(np.mean(value)) for name, value in then.potentials.values.items()}
        share = None if used is None else float(np.broadcast_to(used, factors.shape)[best])
        said = option.said(option.factors[best])
        offered.append(Suggestion(option.what, said, option.line, float(gains[best]), design, values, share))
    return tuple(sorted(offered, key=lambda s: -s.speedup))


def _options(design: KernelDesign) -> Iterator[_Option]:
    """Unrolling of each loop, SIMD, CU, and what may be done to each array."""
    setting = design.setting
    for loop in _loops(design.base):
        now, line = float(np.mean(setting.unroll.get(loop.id, 1.0))), loop.lines[0]
        if factors := tuple(factor for factor in unrolls(design.base, loop) if factor > now):
            said = f"unroll the loop on line {line} ({loop.id}) by {{:g}}"
            yield _Option("UL", line, factors, partial(_unrolled, design, loop.id), said.format)
    for what, name, said in _REPLICATED:
        if what in withheld(design.base):
            continue
        now = float(np.mean(getattr(setting, name)))
        factors = tuple(now * factor for factor in FACTORS)
        yield _Option(what, 0, factors, partial(_replicated, design, name), said.format)
    for change, line in array_changes(design):
        yield _Option(change.what, line, (1.0,), partial(_changed, design, change), partial(_said, change, line))


def withheld(work: Work) -> Mapping[str, str]:
    """The replications that a kernel does not take, each with the reason."""
    if work.task:
        return dict.fromkeys(("SIMD", "CU"), "a single work item runs")
    if work.varying:
        lines = " and ".join(map(str, dict.fromkeys(work.varying)))
        return {"SIMD": f"on line {lines} a work item's own values decide which loops it runs, or how often"}
    return {}


def _withheld_of(work: Work, name: str) -> tuple[str, ...]:
    """The changes that an array does not take: groups share it, or there are no work items beside each other."""
    if name in work.shared:
        return (LOCAL, COALESCED, PRIVATE, VECTOR)
    return (COALESCED,) if work.task else ()


def _unrolled(design: KernelDesign, loop: str, factor: Values) -> KernelDesign:
    setting = replace(design.setting, unroll={**design.setting.unroll, loop: factor})
    return replace(design, setting=setting, used=None)


def _replicated(design: KernelDesign, name: str, factor: Values) -> KernelDesign:
    setting, simd = design.setting, name == "simd"
    setting = replace(setting, simd=factor) if simd else replace(setting, compute_units=factor)
    return replace(design, setting=setting, used=None)


def _changed(design: KernelDesign, change: Change, factor: Values) -> KernelDesign:
    return replace(design, changes=(*design.changes, change), used=None)


def _said(change: Change, line: int, factor: float) -> str:
    of = f"the accesses of {change.object}, line {line},"
    return {
        LOCAL: f"keep {change.object} in local memory: {of} are shared in a group",
        COALESCED: f"lay {change.object} out by work items: {of} then coalesce",
        PRIVATE: f"keep {change.object} in private memory: {of} are repeated by each work item",
        VECTOR: f"read {change.object} as vectors of {change.factor}: {of[:-1]}",
    }[change.what]


def array_changes(design: KernelDesign) -> Iterator[tuple[Change, int]]:
    """What may be done to each array's accesses, with the line of the first."""
    done = {(change.what, change.object) for change in design.changes}
    lines: dict[str, int] = {}
    for block in applied(design.base, design.changes, design.board).blocks.values():
        for stream in block.streams:
            if stream.object:
                lines.setdefault(stream.object, stream.line)
    for name, line in lines.items():
        for change in (Change(LOCAL, name), Change(COALESCED, name), Change(PRIVATE, name),
                       *(Change(VECTOR, name, factor) for factor in VECTORS)):  # fmt: skip
            if (change.what, name) not in done and change.what not in _withheld_of(design.base, name):
                yield change, line


def _loops(work: Work) -> tuple[Loop, ...]:
    return tuple(node for node in walk(work.root) if isinstance(node, Loop))


def unrolls(work: Work, loop: Loop) -> tuple[float, ...]:
    """Powers of two below the loop's trips, and its trips where they are few."""
    trips = float(np.mean(work.trips.get(loop.id, 0.0)))
    powers = [2.0**n for n in range(1, 8) if 2.0**n < trips]
    return (*powers, *((trips,) if 2 <= trips <= 128 and trips == round(trips) else ()))


def _shares_after(now: Prediction, design: KernelDesign, work: Work) -> Mapping[str, Values]:
    """What a design would take of each resource: `work` is its kernel with its arrays' changes applied."""
    used = now.design.used
    if used is None:
        return needed(work, design.setting, design.board).shares
    return grown(used, now.design.base, now.design.setting, design.setting, now.design.board).shares


# ---- combinations


@dataclass(frozen=True)
class Combination:
    """A point of the search: cycles, what it takes of each resource that is known, and the design."""

    cycles: float
    speedup: float
    shares: Mapping[str, float]
    design: KernelDesign

    @property
    def largest_used(self) -> float | None:
        return max(self.shares.values(), default=None)

    @property
    def time_range_s(self) -> tuple[float, float] | None:
        """At the fastest and the slowest clock that built kernels of its size reach on the board."""
        clocks = usual_clocks(self.design.board, self.shares.get("logic"))
        return None if clocks is None else (self.cycles / clocks[1], self.cycles / clocks[0])

    @property
    def likely_s(self) -> float:
        """At the middle of those clocks; cycles, where the board's template has none."""
        return self.cycles / float(middle_clock_hz(self.design.board, self.shares.get("logic")))


@dataclass(frozen=True)
class Found:
    """The fastest combinations that fit the FPGA, and of those that would be faster the ones that nearly fit."""

    fit: tuple[Combination, ...]
    too_large: tuple[Combination, ...]


def search(now: Prediction, profile: str, most: int = 10) -> Found:
    """The fastest combinations of all optimisations: unrolling of each loop, SIMD and CU on one grid, for each set of
    changes to arrays that made the kernel faster alone. Fastest in time, by the clocks that kernels of that size reach:
    what replicates more takes fewer cycles, and longer ones."""
    design = now.design
    helpful = [s.design.changes[-1] for s in suggestions(now, profile) if s.what in (LOCAL, COALESCED, PRIVATE, VECTOR)]
    choices: dict[str, list[Change]] = {}
    for change in helpful:
        choices.setdefault(change.object, []).append(change)
    loops = _loops(design.base)
    axes = [np.array([1.0, *unrolls(design.base, loop)]) for loop in loops]
    axes += [np.array([1.0] if what in withheld(design.base) else [1.0, *FACTORS]) for what, _, _ in _REPLICATED]
    while np.prod([len(axis) for axis in axes], dtype=float) > MOST_COMBINATIONS:
        longest = max(range(len(axes)), key=lambda n: len(axes[n]))
        axes[longest] = axes[longest][::2]
    grid = np.meshgrid(*axes, indexing="ij", sparse=True)
    setting = replace(design.setting, unroll=dict(zip((loop.id for loop in loops), grid[:-2], strict=True)),
                      simd=grid[-2], compute_units=grid[-1])  # fmt: skip
    shape = tuple(len(axis) for axis in axes)
    combinations: list[Combination] = []
    too_large: list[Combination] = []
    for picked in product(*([None, *options] for options in choices.values())):
        changes = (*design.changes, *(change for change in picked if change))
        try:
            work = applied(design.base, changes, design.board)
        except WorkbenchError:
            continue
        cycles = np.broadcast_to(estimate(work, design.board, setting, profile).cycles, shape)
        taken = _shares_after(now, replace(design, setting=setting, changes=changes), work)
        shares = {name: np.broadcast_to(share, shape) for name, share in taken.items()}
        used = largest(shares)
        fits = np.ones(shape, bool) if used is None else np.asarray(used) <= 1
        grid_of = partial(_best, now, changes, loops, axes, cycles, shares)
        times = cycles / middle_clock_hz(design.board, shares.get("logic"))
        combinations += grid_of(np.where(fits, times, np.inf), most)
        if used is not None:
            best = min((one.cycles for one in combinations), default=np.inf)
            too_large += grid_of(np.where(fits | (cycles >= best), np.inf, used), LEFT_OUT)
    fastest: dict[str, Combination] = {}  # of those that are as fast, the one that replicates least came first
    for one in sorted(combinations, key=lambda c: c.likely_s):
        fastest.setdefault(f"{one.likely_s:.3g}", one)
    fit = tuple(fastest.values())[:most]
    faster = [one for one in too_large if not fit or one.cycles < fit[0].cycles]
    return Found(fit, tuple(sorted(faster, key=lambda c: (c.largest_used or 0.0, c.cycles))[:LEFT_OUT]))


def _best(
    now: Prediction, changes: tuple[Change, ...], loops: Sequence[Loop], axes: Sequence[np.ndarray],
    cycles: np.ndarray, shares: Mapping[str, np.ndarray], order: np.ndarray, most: int,
) -> Iterator[Combination]:  # fmt: skip
    """The least points of a grid by `order` (infinite: none), of those that are alike in three digits the one that
    replicates least."""
    flat = order.ravel()
    copies = np.ones(order.shape)
    for n, axis in enumerate(axes):
        copies = copies * axis.reshape([-1 if k == n else 1 for k in range(len(axes))])
    seen: set[str] = set()
    for place in np.lexsort((copies.ravel(), _digits(flat))):
        if not np.isfinite(flat[place]) or len(seen) == most:
            break
        if f"{flat[place]:.3g}" in seen:
            continue
        seen.add(f"{flat[place]:.3g}")
        at = np.unravel_index(place, order.shape)
        *unrolls, simd, units = (float(axis[i]) for axis, i in zip(axes, at, strict=True))
        unroll = {loop.id: factor for loop, factor in zip(loops, unrolls, strict=True) if factor > 1}
        setting = Setting(now.design.setting.work_items, units, simd, unroll)
        name = named(changes, setting)
        design = replace(now.design, name=name, changes=changes, setting=setting, used=None, frequency_hz=None)
        taken = {name: float(share[at]) for name, share in shares.items()}
        yield Combination(float(cycles[at]), float(np.mean(now.cycles)) / float(cycles[at]), taken, design)


def _digits(values: np.ndarray) -> np.ndarray:
    """The values in three significant digits."""
    with np.errstate(all="ignore"):
        step = 10 ** (np.floor(np.log10(np.where(np.isfinite(values), values, 1.0))) - 2)
    return np.round(values / step) * step


def named(changes: Sequence[Change], setting: Setting) -> str:
    """A design as the paper names one: SM a, UL8 L1, SIMD4, CU2."""
    parts = [str(change) for change in changes]
    parts += [f"UL{float(np.mean(v)):g} {name}" for name, v in setting.unroll.items() if float(np.mean(v)) > 1]
    for word, value in (("SIMD", setting.simd), ("CU", setting.compute_units)):
        if float(np.mean(value)) > 1:
            parts.append(f"{word}{float(np.mean(value)):g}")
    return ", ".join(parts) or "as written"

"""A kernel's model computed: its designs, with cycles, seconds where a clock is known, and potentials."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from rc_workbench_plugins.opencl.analysis import Analysed, analysed, is_known
from rc_workbench_plugins.opencl.document import OpenClModel, Step
from rc_workbench_plugins.opencl.edited import IRREGULAR, loop_named, with_stride, with_trips, without
from rc_workbench_plugins.opencl.kernel import Loop, walk
from rc_workbench_plugins.opencl.model import REPAIRED, Estimate, Setting
from rc_workbench_plugins.opencl.optimisations import COALESCED, LOCAL, PRIVATE, VECTOR, Change, applied
from rc_workbench_plugins.opencl.pipelines import estimate
from rc_workbench_plugins.opencl.potentials import Potentials, Resources, left_over, potentials
from rc_workbench_plugins.opencl.reports import Report, read_report
from rc_workbench_plugins.opencl.resources import MEMORY, Needed, memory_range, needed, usual_clocks
from rc_workbench_plugins.opencl.statistics import Work, work_of
from workbench.api import (
    Job,
    ModelValues,
    Values,
    WorkbenchError,
)
from workbench.api.models import FieldPath
from workbench.api.unstable import KernelBoard

Model = ModelValues[OpenClModel]
_ARRAYS = ((LOCAL, "local_memory"), (COALESCED, "coalesced"), (PRIVATE, "private_memory"))


@dataclass(frozen=True)
class KernelDesign:
    """One design of a kernel: `base` is the kernel as it is written, `changes` what is done to its arrays, `setting`
    how it is replicated; `used` and `frequency_hz` come from its report or the user, and are None where nobody said."""

    name: str
    base: Work
    changes: tuple[Change, ...]
    setting: Setting
    used: Resources | None
    frequency_hz: Values | None
    board: KernelBoard


@dataclass(frozen=True)
class Prediction:
    """A design with what it comes to; `time_s` is None without a clock."""

    design: KernelDesign
    estimate: Estimate
    potentials: Potentials

    @property
    def cycles(self) -> Values:
        return self.estimate.cycles

    @property
    def time_s(self) -> Values | None:
        """Eq. 6: T = C / #Freq."""
        return None if self.design.frequency_hz is None else self.cycles / self.design.frequency_hz

    @cached_property
    def needed(self) -> Needed:
        """What of the board it is estimated to take."""
        return needed(self.estimate.work, self.design.setting, self.design.board)

    @property
    def shares(self) -> Mapping[str, Values]:
        """What it takes of each resource, by its report, else as far as that is estimated."""
        return (self.design.used or self.needed).shares

    @property
    def memory_range(self) -> tuple[float, float] | None:
        """Between which shares of the memory blocks 4 of 5 builds like it are; None where its use is known, or where
        the board's template says nothing."""
        share = None if self.design.used else self.shares.get(MEMORY)
        return None if share is None else memory_range(share, self.design.board)

    @property
    def clocks_hz(self) -> tuple[float, float] | None:
        """The slowest and the fastest clock that built kernels like it reach on the board; None where its own is known,
        or the board's template says nothing."""
        if self.design.frequency_hz is not None:
            return None
        logic = self.shares.get("logic")
        return usual_clocks(self.design.board, None if logic is None else float(np.mean(logic)))

    @property
    def time_range_s(self) -> tuple[Values, Values] | None:
        """The time at the fastest and the slowest of those clocks."""
        if (clocks := self.clocks_hz) is None:
            return None
        return self.cycles / clocks[1], self.cycles / clocks[0]

    @property
    def most_b_comp(self) -> float | None:
        """B_comp (Eq. 20) as far as the resources that are estimated bound it."""
        left = left_over(self.needed.shares, self.design.board).values()
        return float(np.clip(min(np.mean(part) for part in left), 0, 1)) if left else None


def predict(design: KernelDesign, profile: str = REPAIRED) -> Prediction:
    work = applied(design.base, design.changes, design.board)
    estimated = estimate(work, design.board, design.setting, profile)
    return Prediction(design, estimated, potentials(estimated, design.board, design.used))


def profile_of(values: Model) -> str:
    """The profile that a reading asks for; `repaired` where none is."""
    return values.reading or REPAIRED


def predictions(values: Model) -> tuple[Prediction, ...]:
    """The model's own design, and that of each step."""
    profile = profile_of(values)
    return tuple(predict(design, profile) for design in designs(values))


def outputs(values: Model) -> Mapping[str, Values]:
    """Cycles and potentials of the last design, seconds where its clock is known, and the speedup over the first in
    cycles (and in seconds, where both clocks are known)."""
    built, profile = designs(values), profile_of(values)
    last = predict(built[-1], profile)
    first = predict(built[0], profile) if len(built) > 1 else last
    result = {"cycles": last.cycles, "work_items": last.design.setting.work_items, **last.potentials.values}
    if last.time_s is not None:
        result["time_s"] = last.time_s
    if len(built) > 1:
        result["speedup_cycles"] = first.cycles / last.cycles
        if first.time_s is not None and last.time_s is not None:
            result["speedup"] = first.time_s / last.time_s
    return result


def board_of(values: Model) -> KernelBoard:
    board = values.platform.opencl if values.platform else None
    if board is None:
        raise WorkbenchError(values.problem(("platform",), "the model's platform is not an OpenCL board",
                                            "Name one with `opencl`, such as de5_net."))  # fmt: skip
    return board


def analysis(values: Model, kernel: str) -> Analysed:
    """The kernel compiled, and run at the model's launch (kept, so that it happens once)."""
    model = values.model
    return analysed(values.folder / model.kernel_file, kernel, model.launch, values.folder)


def prepare(values: Model) -> Callable[[Job], object] | None:
    """What has to be compiled and run first; None where nothing has."""
    model = values.model
    kernels = dict.fromkeys([model.kernel, *(step.kernel for step in model.steps if step.kernel)])
    source = values.folder / model.kernel_file
    if all(is_known(source, kernel, model.launch, values.folder) for kernel in kernels):
        return None

    def work(job: Job) -> None:
        for kernel in kernels:
            with job.step(f"Run {kernel or source.name}"):
                analysed(source, kernel, model.launch, values.folder, job)

    return work


def designs(values: Model) -> tuple[KernelDesign, ...]:
    """The model's own design, then that of each step. WorkbenchError naming what cannot be."""
    steps: list[KernelDesign] = []
    parts: list[tuple[FieldPath, OpenClModel | Step]] = [((), values.model)]
    parts += [(("steps", n), step) for n, step in enumerate(values.model.steps)]
    kernel = values.model.kernel
    for at, part in parts:
        kernel = part.kernel or kernel
        steps.append(_design(values, at, part, kernel, steps[-1] if steps else None))
    return tuple(steps)


def _design(
    values: Model, at: FieldPath, part: OpenClModel | Step, kernel: str, before: KernelDesign | None
) -> KernelDesign:
    board, seen = board_of(values), analysis(values, kernel)
    key = board.model_dump_json()
    base = seen.works[key] = seen.works.get(key) or work_of(seen.kernel, seen.root, seen.profile, board)
    name = part.name if isinstance(part, Step) else "as written"
    # another kernel is another text: what was done to the arrays of the one before stands in it
    kept = before if before and before.base.kernel == base.kernel else None
    base = _edited(values, at, part, kept.base if kept else base)
    changes = [*(kept.changes if kept else seen.changes), *_changes(part)]
    with _at(values, at):
        applied(base, changes, board)
    setting = kept.setting if kept else launched(values, seen, base, before)
    given = {name: values.of(*at, name) for name in ("compute_units", "simd") if getattr(part, name) is not None}
    unroll = {**setting.unroll, **_unrolled(values, at, part, base)}
    setting = replace(setting, unroll=unroll, **given)
    report = _report(values, at, part)
    return KernelDesign(name, base, tuple(changes), setting, _used(values, at, part, report, board),
                  _frequency(values, at, part, report), board)  # fmt: skip


def launched(values: Model, seen: Analysed, base: Work, before: KernelDesign | None) -> Setting:
    """What the launch and the source's own attributes and pragmas say."""
    asked = seen.kernel.attributes
    replicated = [float(asked.get(name, (1,))[0]) for name in ("num_compute_units", "num_simd_work_items")]
    units: Values = replicated[0]
    simd: Values = replicated[1]
    unroll = {
        node.id: float(node.unroll) if node.unroll else np.maximum(base.trips.get(node.id, 1.0), 1.0)
        for node in walk(seen.root) if isinstance(node, Loop) and node.unroll is not None
    }  # fmt: skip
    items = 1
    for size in seen.profile.global_size:
        items *= size
    work_items = values.of("work_items") if values.model.work_items is not None else float(items)
    if before is not None and replicated == [1, 1]:
        units, simd = before.setting.compute_units, before.setting.simd
    return Setting(work_items, units, simd, unroll)


def _changes(part: OpenClModel | Step) -> list[Change]:
    changes = [Change(what, name) for what, field in _ARRAYS for name in getattr(part, field)]
    return [*changes, *(Change(VECTOR, name, factor) for name, factor in part.vector_types.items())]


def _unrolled(values: Model, at: FieldPath, part: OpenClModel | Step, work: Work) -> dict[str, Values]:
    factors: dict[str, Values] = {}
    for name in part.unroll:
        with _at(values, (*at, "unroll", name)):
            factors[loop_named(work.root, name)] = values.of(*at, "unroll", name)
    return factors


def _edited(values: Model, at: FieldPath, part: OpenClModel | Step, work: Work) -> Work:
    """The kernel with the rounds and accesses that a design gives it, each problem at its own field."""
    for name in part.trips:
        with _at(values, (*at, "trips", name)):
            work = with_trips(work, name, values.of(*at, "trips", name))
    for name, step in part.strides.items():
        with _at(values, (*at, "strides", name)):
            work = with_stride(work, name, None if step == IRREGULAR else float(step))
    for number, name in enumerate(part.left_out):
        with _at(values, (*at, "left_out", number)):
            work = without(work, name)
    return work


@contextmanager
def _at(values: Model, path: FieldPath) -> Iterator[None]:
    """What is wrong with a design is said at its field."""
    try:
        yield
    except WorkbenchError as error:
        raise WorkbenchError(*(values.problem(path, d.message, d.hint) for d in error.diagnostics)) from None


# ---- what a report says


@lru_cache(maxsize=64)
def _read_report(path: Path, changed_ns: int) -> Report:
    return read_report(path)


def _report(values: Model, at: FieldPath, part: OpenClModel | Step) -> Report | None:
    if not part.report:
        return None
    path = values.folder / part.report
    try:
        return _read_report(path, path.stat().st_mtime_ns)
    except OSError as error:
        hint = "Write its path relative to the model file."
        raise WorkbenchError(
            values.problem((*at, "report"), f"cannot read '{part.report}': {error.strerror}", hint)
        ) from None


def _frequency(values: Model, at: FieldPath, part: OpenClModel | Step, report: Report | None) -> Values | None:
    if part.frequency_hz is not None:
        return values.of(*at, "frequency_hz")
    return report.frequency_hz if report else None


def _used(
    values: Model, at: FieldPath, part: OpenClModel | Step, report: Report | None, board: KernelBoard
) -> Resources | None:
    """None where one of the three is not known: B_comp is of the scarcest."""
    shares: dict[str, Values | None] = {}
    for name in ("logic", "memory", "dsp"):
        if getattr(part, f"{name}_used") is not None:
            shares[name] = values.of(*at, f"{name}_used")
            continue
        share: float | None = getattr(report, name) if report else None
        own = 1 - getattr(board, f"{name}_available") if report and report.alone else 0.0
        shares[name] = None if share is None else share + own
    logic, memory, dsp = shares["logic"], shares["memory"], shares["dsp"]
    return None if logic is None or memory is None or dsp is None else Resources(logic, memory, dsp)

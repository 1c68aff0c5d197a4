"""What a kernel's result leaves out, what of it is an estimate, and what the kernel's own shape says."""

from collections.abc import Iterator, Sequence

from rc_workbench_plugins.opencl.compute import Model, Prediction, analysis, board_of, predictions
from rc_workbench_plugins.opencl.kernel import Loop, walk
from rc_workbench_plugins.opencl.resources import share_text, too_much
from rc_workbench_plugins.opencl.statistics import Work, work_of
from workbench.api import Diagnostic, Severity, frequency_text, listed, percent_text
from workbench.api.models import FieldPath


def notes(values: Model) -> Sequence[Diagnostic]:
    """What a result leaves out, and what it assumes."""
    problems: list[Diagnostic] = []
    seen = analysis(values, values.model.kernel)
    profile = seen.profile
    work_of(seen.kernel, seen.root, profile, board_of(values), problems)
    if profile.sampled:
        message = f"trip counts and strides come from {profile.groups_sampled} of {profile.groups_launched} work groups"
        hint = "Run more groups (launch.groups) where the data differ between them."
        problems.append(values.problem(("launch",), message, hint, Severity.NOTE))
    every = predictions(values)
    last = every[-1]
    problems += [values.problem((), message, hint, Severity.NOTE) for message, hint in _limits(last.design.base)]
    for number, one in enumerate(every):
        if message := too_much(one.shares, one.design.used is None):
            at: FieldPath = ("steps", number - 1) if number else ()
            said = f"the design '{one.design.name}' does not fit the board: {message}"
            problems.append(values.problem(at, said, "Lower simd, compute_units or unroll.", Severity.WARNING))
    at = ("steps", len(values.model.steps) - 1) if values.model.steps else ()
    problems += [values.problem(at, message, hint, Severity.NOTE) for message, hint in _unknown(last)]
    return tuple(problems)


def _unknown(last: Prediction) -> Iterator[tuple[str, str]]:
    """Notes on what is unknown of a design before it is built, and on the estimates used instead."""
    design = last.design
    if design.frequency_hz is None:
        message = "no times in seconds: this design's clock is unknown"
        if (clocks := last.clocks_hz) is not None:
            low, high = (frequency_text(clock) for clock in clocks)
            message = f"seconds are a range: this design's clock is an estimate, {low} to {high} by other builds"
        yield message, "Give `frequency_hz`, or the `report` of its build."
    if design.used is None:
        message = "no B_comp: this design's resources are unknown"
        if (most := last.most_b_comp) is not None:
            taken = listed([f"{share_text(share)} of the {name}" for name, share in last.shares.items()])
            message = f"B_comp is at most {percent_text(most)}: this design takes an estimated {taken}"
        yield message, "Give `logic_used`, `memory_used` and `dsp_used`, or the `report` of its build."


def _limits(work: Work) -> Iterator[tuple[str, str]]:
    """What a kernel's own shape says about the model and its advice, each with a hint."""
    if work.task:
        yield (
            "a single work item runs: its loops are modelled as pipelines",
            "The paper models many work items; the reading `printed` treats this one in the same way.",
        )
        lines = {loop.id: loop.lines[0] for loop in walk(work.root) if isinstance(loop, Loop)}
        for name, limit in work.intervals.items():
            more = "Unrolling gains nothing then; break the dependence." if limit.grows else ""
            message = f"the loop on line {lines[name]} starts an iteration every {limit.cycles:g} cycles"
            yield f"{message}: each waits for line {limit.line} of an earlier one", more
    elif work.varying:
        lines_of = listed([str(line) for line in dict.fromkeys(work.varying)])
        message = f"SIMD is not suggested: how often a loop runs depends on the work item, on line {lines_of}"
        yield message, "Work items that run different loops cannot run side by side: compilers then ignore SIMD."
    for name, line in work.shared.items():
        yield (
            f"no change of '{name}' is suggested: work groups share it through the atomic on line {line}",
            "Each copy would hold only a part of the result.",
        )

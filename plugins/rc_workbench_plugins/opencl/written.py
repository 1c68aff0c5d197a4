"""The best design of a search written into a copy of the kernel's source, with a model of that copy beside it.

The copy is compiled and predicted as it is, and where its text does more than ask (local memory), both kernels are run
on the launch's data: their results have to be equal.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rc_workbench_plugins.opencl.analysis import ITEMS, analysed, arguments_of
from rc_workbench_plugins.opencl.compute import (
    KernelDesign,
    Model,
    Prediction,
    analysis,
    launched,
    predict,
    predictions,
    profile_of,
)
from rc_workbench_plugins.opencl.interpret import run
from rc_workbench_plugins.opencl.kernel import Kernel
from rc_workbench_plugins.opencl.launch import Launch, Values, local_size, values_of
from rc_workbench_plugins.opencl.model import Setting
from rc_workbench_plugins.opencl.ndrange import NDRange
from rc_workbench_plugins.opencl.optimisations import LOCAL, PRIVATE
from rc_workbench_plugins.opencl.resources import middle_clock_hz
from rc_workbench_plugins.opencl.rewrite import Rewritten, Wanted, rewritten
from rc_workbench_plugins.opencl.search import Combination, search
from rc_workbench_plugins.opencl.statistics import work_of
from workbench.api import Diagnostic, Job, WorkbenchError
from workbench.api.source.files import is_file
from workbench.api.unstable import read_file, write_files


@dataclass(frozen=True)
class Written:
    """What was written: the files, what stands in the source and what does not, the search's combination, what the copy
    is predicted to take, and whether its results are equal (None where the text cannot change them)."""

    source: Path
    model: Path
    rewritten: Rewritten
    best: Combination
    predicted: Prediction
    same_results: bool | None


def write_best(values: Model, folder: Path, job: Job | None = None) -> Written:
    """The fastest combination that fits, written into `folder`. WorkbenchError where nothing is faster, where the files
    are there already, and where the copy does something else than its original."""
    job = job or Job()
    last = predictions(values)[-1]
    with job.step("Search"):
        found = search(last, profile_of(values), 1)
    logic = last.shares.get("logic")
    now_s = float(np.mean(last.cycles / middle_clock_hz(last.design.board, logic)))
    if not found.fit or found.fit[0].likely_s >= now_s:
        message = "no combination of optimisations that fits the board is faster than the present design"
        raise WorkbenchError(values.problem((), message, "Nothing was written."))
    best, kernel = found.fit[0], last.design.base.kernel
    original = values.folder / values.model.kernel_file
    source = folder / original.name
    model = folder / f"{original.stem}_best.opencl.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"this folder cannot be created: {error.strerror}"
        raise WorkbenchError(Diagnostic(message, "Name another folder.", file=str(folder))) from None
    for path in (source, model):
        if path.exists():
            raise WorkbenchError(Diagnostic("this file already exists", "Name another folder.", file=str(path)))
    seen = analysis(values, kernel)
    launch = _moved(values.model.launch, seen.kernel, values.folder)
    given = values_of(seen.kernel, launch, values.folder)
    wanted = Wanted(
        best.design.setting,
        tuple(change for change in best.design.changes if change not in seen.changes),
        launch.local_size,
        {a.name: given[a.name].nbytes // a.element_bytes for a in seen.kernel.arguments if a.element_bytes},
    )
    text = read_file(original).decode("utf-8", "surrogateescape")  # what is not UTF-8 stays as it is
    new = rewritten(text, seen.kernel, seen.root, wanted)
    if any(part.trips or part.strides or part.left_out for part in (values.model, *values.model.steps)):
        reason = "the model changes rounds or accesses: change the source's code to match"
        new = replace(new, left=(*new.left, reason))
    write_files(
        {
            source: new.text.encode("utf-8", "surrogateescape"),
            model: _model_text(values, kernel, launch, new).encode(),
        }
    )
    try:
        return _checked(values, Written(source, model, new, best, last, None), launch, seen.kernel, job)
    except WorkbenchError:
        for path in (source, model):
            path.unlink(missing_ok=True)
        raise


def _checked(values: Model, written: Written, launch: Launch, before: Kernel, job: Job) -> Written:
    """The copy compiled, predicted, and run beside the original where its text does more than ask."""
    kernel, board = before.name, written.best.design.board
    with job.step("Check the copy"):
        seen = analysed(written.source, kernel, launch, written.source.parent, job)
        base = work_of(seen.kernel, seen.root, seen.profile, board)
        design = KernelDesign(
            "written",
            base,
            seen.changes,
            _setting(launched(values, seen, base, None), written.rewritten),
            None,
            None,
            board,
        )
        same = None
        changes = set(written.best.design.changes) - set(written.rewritten.kept)
        if any(change.what in (LOCAL, PRIVATE) for change in changes):
            same = _same_results(before, seen.kernel, launch, written.source.parent, job)
    if same is False:
        raise WorkbenchError(
            Diagnostic(f"the copy of '{kernel}' gives results that differ from the original's", "Nothing was written.")
        )
    return replace(written, predicted=predict(design, profile_of(values)), same_results=same)


def _setting(written: Setting, new: Rewritten) -> Setting:
    """What the copy asks for, with the factors that stand in its model alone."""
    fields: dict[str, Any] = dict(new.fields)
    return replace(written, **{**fields, "unroll": {**written.unroll, **fields.get("unroll", {})}})


def _same_results(before: Kernel, after: Kernel, launch: Launch, folder: Path, job: Job) -> bool:
    size = NDRange(launch.global_size, local_size(before, launch))
    groups = launch.groups or max(1, ITEMS // size.group_items)
    results = [run(one, size, arguments_of(one, launch, folder), groups, job).buffers for one in (before, after)]
    return all(np.array_equal(results[0][name], results[1][name], equal_nan=True) for name in results[0])


def _moved(launch: Launch, kernel: Kernel, folder: Path) -> Launch:
    """A launch whose files and headers are found from another folder, with its groups' size in it."""
    arguments = {
        name: given.model_copy(update={"file": str((folder / given.file).resolve())})
        if isinstance(given, Values) and given.file
        else given
        for name, given in launch.arguments.items()
    }
    headers = tuple(str((folder / name).resolve()) for name in launch.include)
    here = (str(folder.resolve()), *headers) if _includes(kernel) or headers else ()
    return launch.model_copy(update={"arguments": arguments, "include": here, "local_size": local_size(kernel, launch)})


def _includes(kernel: Kernel) -> bool:
    return b"#include" in read_file(Path(kernel.file)).replace(b" ", b"")


def _model_text(values: Model, kernel: str, launch: Launch, new: Rewritten) -> str:
    """The copy's model; the factors that are not in its source are in the model."""
    model = values.model
    platform = model.platform
    if is_file(own := values.folder / platform):
        platform = str(own.resolve())
    fields: dict[str, Any] = {
        "schema_version": 1,
        "name": f"{model.name}_best",
        "title": f"{model.title or model.name}, best of a search",
        "platform": platform,
        "kernel_file": Path(model.kernel_file).name,
        "kernel": kernel,
    }
    if model.work_items is not None:
        fields["work_items"] = float(values.of("work_items"))
    fields["launch"] = launch.model_dump(mode="json", exclude_defaults=True)
    fields |= new.fields
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items())

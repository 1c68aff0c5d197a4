"""What the drawing of a kernel's hierarchy offers at each part: factors, rounds, accesses of the model's last design.

Which parts there are, and what they compute, is the source's.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from rc_workbench_plugins.opencl.compute import Model, Prediction
from rc_workbench_plugins.opencl.document import DesignDocument
from rc_workbench_plugins.opencl.edited import IRREGULAR
from rc_workbench_plugins.opencl.kernel import Leaf, Loop, Node
from rc_workbench_plugins.opencl.optimisations import COALESCED, LOCAL, PRIVATE, VECTOR
from rc_workbench_plugins.opencl.search import FACTORS, array_changes, unrolls, withheld
from workbench.api import counted
from workbench.api.model_diagrams import DiagramChange, DocumentStep, appended
from workbench.api.models import FieldPath

_LISTS = {LOCAL: "local_memory", COALESCED: "coalesced", PRIVATE: "private_memory"}
_WORDS = {LOCAL: "in local memory", COALESCED: "laid out by work items", PRIVATE: "in private memory"}


def changes_of(values: Model, last: Prediction, node: Node) -> tuple[DiagramChange, ...]:
    """What can be changed at a part of the hierarchy: a loop's unrolling, an array of a block's accesses, and of the
    kernel its replication and steps."""
    steps = values.model.steps
    at: FieldPath = ("steps", len(steps) - 1) if steps else ()
    part = steps[-1] if steps else values.model
    if isinstance(node, Loop):
        now = float(last.design.setting.unroll.get(node.id, 1.0))
        return (*_unrolling(last, node, now, at, dict(part.unroll)), *_rounds(last, node, at, dict(part.trips)))
    if isinstance(node, Leaf):
        return (*_arrays(last, node, at, part.model_dump()), *_accesses(last, node, at, part))
    return (*_replication(last, at, part.model_dump()), *_steps(values)) if node is last.estimate.work.root else ()


def _unrolling(
    last: Prediction, loop: Loop, now: float, at: FieldPath, given: dict[str, object]
) -> Iterator[DiagramChange]:
    for factor in unrolls(last.design.base, loop):
        if factor != now:
            step = DocumentStep((*at, "unroll", loop.id), int(factor))
            yield DiagramChange(f"Unroll {loop.id} by {factor:g}", (step,))
    for name in given:
        if name in (loop.id, str(loop.lines[0])):
            yield DiagramChange(f"Remove the factor of {loop.id}", (DocumentStep((*at, "unroll", name)),))


def _rounds(last: Prediction, loop: Loop, at: FieldPath, given: dict[str, object]) -> Iterator[DiagramChange]:
    """Other numbers of rounds than those that the launch showed."""
    now = float(np.mean(last.design.base.trips.get(loop.id, 0.0)))
    key = next((name for name in given if name in (loop.id, str(loop.lines[0]))), loop.id)
    for factor in (0.5, 2.0, 10.0) if now else ():
        rounds = max(round(now * factor), 1)
        yield DiagramChange(
            f"Let {loop.id} take {counted(rounds, 'round')}", (DocumentStep((*at, "trips", key), rounds),)
        )
    if key in given:
        yield DiagramChange(f"Let {loop.id} take the launch's rounds", (DocumentStep((*at, "trips", key)),))


def _accesses(last: Prediction, leaf: Leaf, at: FieldPath, part: DesignDocument) -> Iterator[DiagramChange]:
    """Other steps of a block's accesses from a work item to the next, and a kernel without them."""
    block = last.design.base.blocks.get(leaf.id)
    one = "round" if last.design.base.task else "work item"
    for name, size in {
        stream.object: stream.bytes for stream in (block.streams if block else ()) if stream.object
    }.items():
        for step, words in ((int(size), f"neighbours from {one} to {one}"), (0, f"the same for each {one}"),
                            (IRREGULAR, "irregular")):  # fmt: skip
            if part.strides.get(name) != step:
                step_of = DocumentStep((*at, "strides", name), step)
                yield DiagramChange(f"Take accesses of {name} as {words}", (step_of,))
        out = appended({"left_out": list(part.left_out)}, ("left_out",), name)
        yield DiagramChange(f"Leave out accesses of {name}", (DocumentStep((*at, *out.path), out.value, out.inserted),))
    for name in part.strides:
        yield DiagramChange(f"Take accesses of {name} as launched", (DocumentStep((*at, "strides", name)),))
    for number, name in enumerate(part.left_out):
        yield DiagramChange(f"Make accesses of {name} again", (DocumentStep((*at, "left_out", number)),))


def _arrays(last: Prediction, leaf: Leaf, at: FieldPath, given: dict[str, object]) -> Iterator[DiagramChange]:
    block = last.estimate.work.blocks.get(leaf.id)
    names = {stream.object for stream in block.streams} if block else set()
    for change, _ in array_changes(last.design):
        if change.object not in names:
            continue
        if change.what == VECTOR:
            step = DocumentStep((*at, "vector_types", change.object), change.factor)
            yield DiagramChange(f"Access {change.object} as vectors of {change.factor}", (step,))
        else:
            step = appended(given, (*at[2:], _LISTS[change.what]), change.object)
            step = DocumentStep((*at, *step.path), step.value, step.inserted)
            yield DiagramChange(f"Keep {change.object} {_WORDS[change.what]}", (step,))
    for what, name in _LISTS.items():
        listed = given.get(name)
        for number, array in enumerate(listed if isinstance(listed, Sequence) else ()):
            yield DiagramChange(f"Remove {what} of {array}", (DocumentStep((*at, name, number)),))


def _replication(last: Prediction, at: FieldPath, given: dict[str, object]) -> Iterator[DiagramChange]:
    for what, name, one, rest in (
        ("SIMD", "simd", "work item", " at once"),
        ("CU", "compute_units", "compute unit", ""),
    ):
        if what in withheld(last.design.base):
            continue
        now = float(getattr(last.design.setting, name))
        for factor in (1.0, *FACTORS):
            if factor != now:
                yield DiagramChange(f"{counted(int(factor), one)}{rest}", (DocumentStep((*at, name), int(factor)),))
        if given.get(name) is not None:
            yield DiagramChange(f"Remove the number of {one}s{rest}", (DocumentStep((*at, name)),))


def _steps(values: Model) -> Iterator[DiagramChange]:
    steps = values.model.steps
    names = {step.name for step in steps}
    name = next(f"step {n}" for n in range(1, len(steps) + 2) if f"step {n}" not in names)
    new = {"name": name}
    inserted = DocumentStep(("steps", len(steps)), new, True) if steps else DocumentStep(("steps",), [new])
    yield DiagramChange("Add a step of tuning", (inserted,), ("steps", len(steps)))
    if steps:
        last = len(steps) - 1
        yield DiagramChange(f"Remove '{steps[-1].name}'", (DocumentStep(("steps", last)),))

"""What the drawing of a kernel's hierarchy offers at each part: the factors of the model's last design.

The hierarchy itself is the source's, and is edited there.
"""

from collections.abc import Iterator, Sequence

from rc_workbench_plugins.opencl.compute import Model, Prediction
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
        return tuple(_unrolling(last, node, now, at, dict(part.unroll)))
    if isinstance(node, Leaf):
        return tuple(_arrays(last, node, at, part.model_dump()))
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

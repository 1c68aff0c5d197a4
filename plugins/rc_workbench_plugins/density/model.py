"""The document of a density model: an algorithm, and the memories and processing elements that bound it."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from rc_workbench_plugins.density import forms
from rc_workbench_plugins.density.algorithms import ALGORITHMS
from workbench.api import Completed, Formula, Group, ModelDocument, ModelReading, PartDocument, Positive, Severity, near
from workbench.api.models import NOT_NEGATIVE, FieldPath, told_twice

#: What stands among the layers by these names: the lowest bound, and the compute bound.
OUTPUT, PROCESSING = "limit_ops_per_s", "processing elements"


class LayerChange(PartDocument):
    """A memory layer: one of the platform's by name with what is given here in place, or one more."""

    called: ClassVar[str] = "layer"
    new: ClassVar[Mapping[str, object]] = {"layer_bytes": "1 MB", "bandwidth_bytes_per_s": "1 GB/s"}
    form: ClassVar[tuple[Group, ...]] = forms.LAYER

    name: str = Field(description="the platform's layer that it changes, or a new one")
    layer_bytes: Positive | None = Field(None, description="mu: its size")
    bandwidth_bytes_per_s: Positive | None = Field(None, description="beta: its rate")
    latency_s: Formula | None = Field(None, description="lambda: the fixed time of each transfer")


class Compute(PartDocument):
    """The processing elements: `units` of them, each doing `ops_per_cycle` operations a cycle."""

    called: ClassVar[str] = "compute bound"
    new: ClassVar[Mapping[str, object]] = {"units": 1, "clock_hz": "100 MHz"}
    form: ClassVar[tuple[Group, ...]] = forms.COMPUTE

    units: Positive = Field(description="processing elements")
    ops_per_cycle: Positive = Field(1, description="operations of each per cycle")
    clock_hz: Positive = Field(description="their clock")


class StreamPart(PartDocument):
    """A stream besides the input: results that leave the processor, or instructions that come to it. The paper leaves
    both out, as the input is vastly larger there (section 1)."""

    called: ClassVar[str] = "stream"
    new: ClassVar[Mapping[str, object]] = {"bytes_per_operation": 1}
    form: ClassVar[tuple[Group, ...]] = forms.STREAM

    name: str = Field(description="what it carries", examples=["output"])
    bytes_per_operation: Formula = Field(
        description="its bytes for each operation: a formula of alpha, s and the inputs", examples=["s / n"]
    )
    own_path: bool = Field(
        False, description="whether it has a path of its own, as fast as the input's; else both share the layer's rate"
    )


class DensityAt(PartDocument):
    """The density that was measured with a store of that size, and larger ones up to the next."""

    called: ClassVar[str] = "measured density"
    new: ClassVar[Mapping[str, object]] = {"store_bytes": 4, "ops_per_byte": 1}

    store_bytes: Positive = Field(description="the size of the store", examples=["64 KiB"])
    ops_per_byte: Positive = Field(description="operations for each byte that is loaded into it", examples=[0.25])


class DensityModel(ModelDocument):
    """An algorithm on a platform. Either a known `algorithm`, or `eta`, a formula of `alpha`, `s` and the inputs, or
    what was `measured`.

    With `operations` (Z) and `problem_bytes` (M), or the input `n` of a known algorithm, rho is held at Z/M from
    alpha = M on (erratum S9).
    """

    form: ClassVar[tuple[Group, ...]] = forms.MODEL

    algorithm: str = Field("", description="a known algorithm by name, in place of `eta`")
    operation: str = Field("operation", description="what is counted: multiply-add, comparison, ...")
    element_bytes: Positive = Field(description="s: size of an element")
    eta: Annotated[str, NOT_NEGATIVE] | None = Field(
        None,
        description="operations possible with `alpha` bytes of data: a formula of alpha, s and the inputs",
        examples=["alpha / (2 * s)"],
    )
    operations: Formula | None = Field(None, description="Z: operations of the whole problem", examples=["n ** 3"])
    problem_bytes: Positive | None = Field(
        None, description="M: data of the whole problem; from alpha = M on the density is Z/M"
    )
    block_bytes: Positive | None = Field(
        None,
        description="dependent blocks: data that must be computed before the next block is loaded. A larger store "
        "computes no more at once, so that the density falls again",
        examples=["64 KiB"],
    )
    measured: tuple[DensityAt, ...] = Field(
        (), description="measured rho for each size of the store, in rising order; instead of `eta`"
    )
    streams: tuple[StreamPart, ...] = Field((), description="streams besides the input")
    layers: tuple[LayerChange, ...] = Field((), description="memory layers that differ from the platform's")
    compute: Compute | None = Field(None, description="the processing elements, for the bound that they set")


Reading = ModelReading[DensityModel]


def check(reading: Reading) -> Completed:
    """Tell what is wrong with a model's layers, and take a known algorithm's formulas and parameters where the model
    gives none of its own."""
    model = reading.model
    for name in ("alpha", "s"):
        if name in model.inputs:
            reading.tell(("inputs", name), f"'{name}' is a reserved name here", "Rename it.")
    if model.measured and (model.eta is not None or model.algorithm):
        other = "eta" if model.eta is not None else "algorithm"
        message = f"the density is given twice: by `measured` and by `{other}`"
        reading.tell(("measured",), message, "Leave one of them out.", key=True)
    _layers_wanting(reading)
    told_twice(reading, [la.name for la in model.layers], [("layers", n, "name") for n in range(len(model.layers))],
               "layers")  # fmt: skip
    names = [stream.name for stream in model.streams]
    told_twice(reading, names, [("streams", n, "name") for n in range(len(names))], "streams")
    for index, layer in enumerate(model.layers):
        if layer.name in (OUTPUT, PROCESSING):
            message = f"'{layer.name}' is a reserved name here"
            reading.tell(("layers", index, "name"), message, "Choose another name for the layer.")
    return _with_algorithm(reading)


def _names(path: FieldPath) -> tuple[str, ...]:
    """What formulas may read besides the inputs."""
    return ("s", "alpha") if path == ("eta",) or path[0] == "streams" else () if path == ("element_bytes",) else ("s",)


def _with_algorithm(reading: Reading) -> Completed:
    model = reading.model
    known = ALGORITHMS.get(model.algorithm)
    if known is None:
        if model.algorithm:
            hint = near(model.algorithm, ALGORITHMS, "Known algorithms")
            reading.tell(("algorithm",), f"there is no algorithm '{model.algorithm}'", hint)
        elif model.eta is None and not model.measured:
            hint = f"Known algorithms: {', '.join(ALGORITHMS)}."
            reading.tell((), "the model needs `eta` or `algorithm`", hint)
        return Completed(model, names=_names)
    sized = "n" in model.inputs
    model = model.model_copy(
        update={
            "eta": known.eta if model.eta is None else model.eta,
            "operation": known.operation if "operation" not in model.model_fields_set else model.operation,
            "operations": known.operations if sized and model.operations is None else model.operations,
            "problem_bytes": known.problem_bytes if sized and model.problem_bytes is None else model.problem_bytes,
        }
    )
    return Completed(model, known.inputs, known.domains, _names)


def _layers_wanting(reading: Reading) -> None:
    """Layers that lack what a bound needs."""
    model, platform = reading.model, reading.platform
    known = {memory.name: memory for memory in platform.memories} if platform else {}
    for index, change in enumerate(model.layers):
        base = known.pop(change.name, None)
        for field, own, given in (
            ("layer_bytes", change.layer_bytes, base and base.bytes),
            ("bandwidth_bytes_per_s", change.bandwidth_bytes_per_s, base and base.bandwidth_bytes_per_s),
        ):
            if own is None and given is None:
                hint = near(change.name, known, "Give it here. The platform's layers") or "Give it here."
                reading.tell(("layers", index, "name"), f"the layer '{change.name}' has no {field}", hint)
    if not model.layers and not known and model.compute is None:
        message = "this model has no bound: it has neither memory layers nor processing elements"
        reading.tell((), message, "Name a `platform`, or give `layers` or `compute`.", Severity.NOTE)
    for memory in known.values():
        if memory.bytes is None or memory.bandwidth_bytes_per_s is None:
            message = f"the platform's layer '{memory.name}' sets no bound: it has no size or no bandwidth"
            hint = f"Give `layer_bytes` and `bandwidth_bytes_per_s` for '{memory.name}' under `layers`."
            reading.tell(("platform",), message, hint, Severity.NOTE)

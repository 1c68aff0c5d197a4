"""Computational density: what a machine's memories let an algorithm reach, whatever its processing elements.

Steffen: "Parametrization of algorithms and FPGA accelerators to predict performance", 2007. Sizes in bytes, times in
seconds, rho in operations per byte, sigma in operations per second; an operation is what the model says it is.
"Erratum Sn": see `resources/models/ERRATA.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from workbench.api.models import ANY, NOT_NEGATIVE, POSITIVE, Formula, ModelDocument, Positive
from workbench.formats.documents import Schema, check_document, read_text
from workbench.formats.yaml_marks import Marked, read_marked
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors, near
from workbench.model.platform import Document, Platform
from workbench.predict.algorithms import ALGORITHMS
from workbench.predict.formulas import (
    ModelFile,
    asked_of_inputs,
    compile_formula,
    formulas_of,
    wrong_points,
)
from workbench.predict.inputs import Inputs, read_inputs
from workbench.predict.inputs import Path as FieldPath
from workbench.predict.ratss_check import twice
from workbench.predict.ratss_equations import Quantity

#: What stands among the layers by these names: the least of all bounds, and the compute bound.
OUTPUT, PROCESSING = "limit_ops_per_s", "processing elements"


class LayerChange(Document):
    """A memory layer: one of the platform's by name with what is given here in place, or one more."""

    name: str = Field(description="the platform's layer whose numbers it changes, or a new one")
    layer_bytes: Positive | None = Field(None, description="mu: its size")
    bandwidth_bytes_per_s: Positive | None = Field(None, description="beta: its rate")
    latency_s: Formula | None = Field(None, description="lambda: what a transfer takes besides")


class Compute(Document):
    """The processing elements: `units` of them, each doing `ops_per_cycle` operations a cycle."""

    units: Positive = Field(description="processing elements")
    ops_per_cycle: Positive = Field(1, description="operations of each in a cycle")
    clock_hz: Positive = Field(description="their clock")


class DensityModel(ModelDocument):
    """An algorithm on a platform. Either a known `algorithm`, or `eta`, a formula of `alpha`, `s` and the inputs.

    With `operations` (Z) and `problem_bytes` (M), or the input `n` of a known algorithm, rho is held at Z/M from
    alpha = M on (erratum S9).
    """

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
    layers: tuple[LayerChange, ...] = Field((), description="memory layers that differ from the platform's")
    compute: Compute | None = Field(None, description="the processing elements, for the bound that they set")


@dataclass(frozen=True)
class DensityModelFile(ModelFile):
    """A checked density model, ready to be computed."""

    model: DensityModel


@dataclass(frozen=True)
class Layer:
    """A memory layer: its local store mu, the bandwidth beta into it and the latency lambda of a transfer."""

    name: str
    layer_bytes: Quantity
    bandwidth_bytes_per_s: Quantity
    latency_s: Quantity


@dataclass(frozen=True)
class LayerBound:
    """The bound a layer sets. `ops_per_s` is Eq. 6; `ops_per_s_without_latency` is Eq. 7."""

    layer: Layer
    ops_per_byte: Quantity
    ops_per_s: Quantity
    ops_per_s_without_latency: Quantity
    latency_fraction: Quantity


@dataclass(frozen=True)
class Density:
    """What a density model comes to.

    `limit_ops_per_s` is the least of the layers' bounds and the compute bound; `binding` names what sets it ("" for no
    bound at all). `binding_layer` is the least of the layers alone, `balance` the largest layer's bound over it.
    """

    bounds: tuple[LayerBound, ...]
    compute_ops_per_s: Quantity | None
    limit_ops_per_s: Quantity
    binding: str
    binding_layer: str
    balance: Quantity


@dataclass(frozen=True)
class RooflinePoint:
    """A layer in a roofline picture: its density, and the roof (bandwidth x density, at most the compute bound)."""

    layer: str
    ops_per_byte: float
    memory_ops_per_s: float
    roof_ops_per_s: float


def density_of(eta: Quantity, alpha_bytes: Quantity) -> Quantity:
    """Eq. 1: rho(alpha) = eta(alpha) / alpha."""
    return eta / alpha_bytes


def reuse_penalty(operations: Quantity, problem_bytes: Quantity, ops_per_byte: Quantity) -> Quantity:
    """Eq. 2 solved for phi = Z / (M rho): how often the data are loaded on average."""
    return operations / (problem_bytes * ops_per_byte)


def layer_ops_per_s(
    ops_per_byte: Quantity, bandwidth_bytes_per_s: Quantity, layer_bytes: Quantity, latency_s: Quantity = 0.0
) -> Quantity:
    """Eq. 6: sigma = rho(mu) beta / (1 + beta lambda / mu); without a latency, Eq. 7: rho(mu) beta."""
    return ops_per_byte * bandwidth_bytes_per_s / (1.0 + bandwidth_bytes_per_s * latency_s / layer_bytes)


SCHEMA: Schema[DensityModel] = Schema(title="density model", model=DensityModel)


def load_density(
    path: Path, platforms: Mapping[str, Platform]
) -> tuple[DensityModelFile | None, tuple[Diagnostic, ...]]:
    """Read a model file. None, with diagnostics naming the fields, where it cannot be computed."""
    text, problems = read_text(path, SCHEMA.title)
    return (None, problems) if text is None else parse_density(text, str(path), platforms)


def parse_density(
    text: str, file: str | None, platforms: Mapping[str, Platform]
) -> tuple[DensityModelFile | None, tuple[Diagnostic, ...]]:
    """Like `load_density`, from a text."""
    marked, problems = read_marked(text, file)
    if marked is None:
        return None, problems
    model, problems = check_document(SCHEMA, marked)
    if model is None:
        return None, problems
    found = list(problems)
    platform = platforms.get(model.platform)
    if model.platform and platform is None:
        hint = near(model.platform, platforms, "Templates")
        found.append(marked.diagnostic(("platform",), f"there is no platform template '{model.platform}'", hint))
    inputs = read_inputs(model, marked, asked_of_inputs(model), found)
    model, inputs = _with_algorithm(model, marked, inputs, found)
    found.extend(_layers_wanting(model, marked, platform))
    found.extend(
        twice([la.name for la in model.layers], [("layers", n, "name") for n in range(len(model.layers))],
              "layers", marked)
    )  # fmt: skip
    for index, layer in enumerate(model.layers):
        if layer.name in (OUTPUT, PROCESSING):
            message = f"'{layer.name}' has a meaning of its own here"
            found.append(marked.diagnostic(("layers", index, "name"), message, "Call the layer something else."))
    formulas = {}
    for path, formula, allowed in formulas_of(model):
        more = ["s", "alpha"] if path == ("eta",) else [] if path == ("element_bytes",) else ["s"]
        formulas[path] = compile_formula(formula, path, allowed, {*inputs.values, *more}, marked, found)
    read = DensityModelFile(model, marked, inputs.values, inputs.domains, inputs.spreads, formulas, platform)
    if not has_errors(found):
        found.extend(wrong_points(read, [], [path for path, f in formulas.items() if f.names & {"s", "alpha"}]))
    return (None if has_errors(found) else read), tuple(found)


def _with_algorithm(
    model: DensityModel, marked: Marked, inputs: Inputs, found: list[Diagnostic]
) -> tuple[DensityModel, Inputs]:
    """The model and inputs with a known algorithm's formulas and parameters where it gives none of its own."""
    for name in ("alpha", "s"):
        if name in inputs.values:
            found.append(marked.diagnostic(("inputs", name), f"'{name}' has a meaning of its own here", "Rename it."))
    if not model.algorithm:
        if model.eta is None:
            hint = f"Known algorithms: {', '.join(ALGORITHMS)}."
            found.append(marked.diagnostic((), "the model needs `eta` or `algorithm`", hint))
        return model, inputs
    known = ALGORITHMS.get(model.algorithm)
    if known is None:
        hint = near(model.algorithm, ALGORITHMS, "Known algorithms")
        found.append(marked.diagnostic(("algorithm",), f"there is no algorithm '{model.algorithm}'", hint))
        return model, inputs
    domains = dict(inputs.domains)
    for name, allowed in known.domains.items():
        if name in inputs.values:
            domains[name] = allowed.and_also(domains[name])
            if domains[name].bad(inputs.values[name]) is not None:
                message = f"'{name}' is {inputs.values[name]:.12g}"
                found.append(
                    marked.diagnostic(("inputs", name, "value"), message, f"It must be {domains[name].said()}.")
                )
    values = {**known.inputs, **inputs.values}
    inputs = Inputs(values, {name: domains.get(name, known.domains.get(name, ANY)) for name in values}, inputs.spreads)
    sized = "n" in inputs.values
    model = model.model_copy(
        update={
            "eta": known.eta if model.eta is None else model.eta,
            "operation": known.operation if "operation" not in model.model_fields_set else model.operation,
            "operations": known.operations if sized and model.operations is None else model.operations,
            "problem_bytes": known.problem_bytes if sized and model.problem_bytes is None else model.problem_bytes,
        }
    )
    return model, inputs


def _layers_wanting(model: DensityModel, marked: Marked, platform: Platform | None) -> Iterable[Diagnostic]:
    """Layers that lack what a bound needs."""
    known = {memory.name: memory for memory in platform.memories} if platform else {}
    for index, change in enumerate(model.layers):
        base = known.pop(change.name, None)
        for field, own, given in (
            ("layer_bytes", change.layer_bytes, base and base.bytes),
            ("bandwidth_bytes_per_s", change.bandwidth_bytes_per_s, base and base.bandwidth_bytes_per_s),
        ):
            if own is None and given is None:
                hint = near(change.name, known, "Give it here. The platform's layers") or "Give it here."
                yield marked.diagnostic(("layers", index, "name"), f"the layer '{change.name}' has no {field}", hint)
    if not model.layers and not known and model.compute is None:
        message = "nothing bounds this model: it has no memory layers and no processing elements"
        yield marked.diagnostic((), message, "Name a `platform`, or give `layers` or `compute`.", Severity.NOTE)
    for memory in known.values():
        if memory.bytes is None or memory.bandwidth_bytes_per_s is None:
            message = f"the platform's layer '{memory.name}' sets no bound: it has no size or no bandwidth"
            yield marked.diagnostic(("platform",), message, "", Severity.NOTE)


def rho(
    file: DensityModelFile,
    alpha_bytes: Quantity,
    changes: Mapping[str, Quantity] | None = None,
    reading: str | None = None,
) -> Quantity:
    """Operations per byte with a local store of `alpha_bytes` (Eq. 1), held at Z/M where the problem fits (S9)."""
    return _rho(file, alpha_bytes, _inputs(file, changes, reading))


def _inputs(file: DensityModelFile, changes: Mapping[str, Quantity] | None, reading: str | None) -> dict[str, Quantity]:
    inputs = file.at(changes or {}, reading)
    return inputs | {"s": file.value(("element_bytes",), inputs)}


def _rho(file: DensityModelFile, alpha_bytes: Quantity, inputs: Mapping[str, Quantity]) -> Quantity:
    density = density_of(file.value(("eta",), {**inputs, "alpha": alpha_bytes}), alpha_bytes)
    if file.model.operations is None or file.model.problem_bytes is None:
        return density
    whole_bytes = file.value(("problem_bytes",), inputs)
    most = file.value(("operations",), inputs) / whole_bytes
    return np.where(np.asarray(alpha_bytes) >= whole_bytes, most, np.minimum(density, most))


def layers(
    file: DensityModelFile, changes: Mapping[str, Quantity] | None = None, reading: str | None = None
) -> tuple[Layer, ...]:
    """The memory layers: the platform's, outwards, with what the model changes or adds."""
    inputs = _inputs(file, changes, reading)
    found: dict[str, Layer] = {}
    for memory in file.platform.memories if file.platform else ():
        if memory.bytes is not None and memory.bandwidth_bytes_per_s is not None:
            found[memory.name] = Layer(memory.name, memory.bytes, memory.bandwidth_bytes_per_s, memory.latency_s)
    for index, change in enumerate(file.model.layers):
        given: dict[str, Any] = {
            field: file.value(("layers", index, field), inputs)
            for field in ("layer_bytes", "bandwidth_bytes_per_s", "latency_s")
            if getattr(change, field) is not None
        }
        found[change.name] = replace(found.get(change.name, Layer(change.name, np.nan, np.nan, 0.0)), **given)
    return tuple(found.values())


def density(
    file: DensityModelFile,
    changes: Mapping[str, Quantity] | None = None,
    reading: str | None = None,
    moved: Sequence[Layer] | None = None,
) -> Density:
    """Every layer's bound, the compute bound, and which one binds. `moved` are layers to take instead of the model's.

    Raises WorkbenchError naming the field that has no sensible value.
    """
    with np.errstate(all="ignore"):  # what overflows is told
        return _density(
            file, _inputs(file, changes, reading), layers(file, changes, reading) if moved is None else moved
        )


def _density(file: DensityModelFile, inputs: Mapping[str, Quantity], found: Sequence[Layer]) -> Density:
    bounds = []
    for layer in found:
        for field, allowed in _LAYER_DOMAINS.items():
            if (bad := allowed.bad(getattr(layer, field))) is not None:
                raise WorkbenchError(_bad_layer(file, layer.name, f"has a {field} of {bad:.12g}", allowed.said()))
        ops_per_byte = _rho(file, layer.layer_bytes, inputs)
        rate, size, latency = layer.bandwidth_bytes_per_s, layer.layer_bytes, layer.latency_s
        bounds.append(
            LayerBound(
                layer,
                ops_per_byte,
                layer_ops_per_s(ops_per_byte, rate, size, latency),
                layer_ops_per_s(ops_per_byte, rate, size),
                rate * latency / size,
            )
        )
        if not np.max(bounds[-1].ops_per_s) < np.inf:
            raise WorkbenchError(_bad_layer(file, layer.name, "lets no finite rate through", "made of smaller numbers"))
    compute = _compute_ops_per_s(file, inputs)
    named = [(bound.layer.name, bound.ops_per_s) for bound in bounds]
    rates = [rate for _, rate in named]
    binding_layer = _first(named)
    least, most = _least(rates), -_least([-rate for rate in rates])
    if compute is not None:
        named.append((PROCESSING, compute))
    limit = _least([rate for _, rate in named])
    return Density(tuple(bounds), compute, limit, _first(named), binding_layer, most / least if bounds else 1.0)


_LAYER_DOMAINS = {"layer_bytes": POSITIVE, "bandwidth_bytes_per_s": POSITIVE, "latency_s": NOT_NEGATIVE}


def _bad_layer(file: DensityModelFile, name: str, what: str, wanted: str) -> Diagnostic:
    place = next((n for n, layer in enumerate(file.model.layers) if layer.name == name), None)
    at: FieldPath = ("platform",) if place is None else ("layers", place)
    return file.marked.diagnostic(at, f"the layer '{name}' {what}", f"It must be {wanted}.")


def _first(named: Sequence[tuple[str, Quantity]]) -> str:
    """The name with the least rate (on average, for arrays)."""
    return min(named, key=lambda pair: float(np.mean(pair[1])))[0] if named else ""


def _least(rates: Sequence[Quantity]) -> Quantity:
    result: Quantity = np.inf
    for rate in rates:
        result = np.minimum(result, rate)
    return result


def _compute_ops_per_s(file: DensityModelFile, inputs: Mapping[str, Quantity]) -> Quantity | None:
    """Units x operations per cycle x clock (section 5: what the FPGA's area allows)."""
    if file.model.compute is None:
        return None
    units, ops_per_cycle, clock_hz = (
        file.value(("compute", field), inputs) for field in ("units", "ops_per_cycle", "clock_hz")
    )
    return units * ops_per_cycle * clock_hz


def roofline(result: Density) -> tuple[RooflinePoint, ...]:
    """The layers as points of a roofline, for single values."""
    roof = np.inf if result.compute_ops_per_s is None else float(result.compute_ops_per_s)
    return tuple(
        RooflinePoint(b.layer.name, float(b.ops_per_byte), float(b.ops_per_s), min(float(b.ops_per_s), roof))
        for b in result.bounds
    )

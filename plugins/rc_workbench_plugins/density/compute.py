"""Computational density: what a machine's memories let an algorithm reach, whatever its processing elements.

Steffen: "Parametrization of algorithms and FPGA accelerators to predict performance", 2007. Sizes in bytes, times in
seconds, rho in operations per byte, sigma in operations per second; an operation is what the model says it is.
"Erratum Sn": see `ERRATA.md` here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rc_workbench_plugins.density.model import OUTPUT, PROCESSING, DensityModel
from workbench.api import Diagnostic, ModelValues, Platform, Values, WorkbenchError
from workbench.api.models import NOT_NEGATIVE, POSITIVE, FieldPath
from workbench.api.predictions import Cell, Density, Layer, LayerBound

Model = ModelValues[DensityModel]


def outputs(values: Model) -> Mapping[str, Values]:
    """The limit, and each layer's bound by the layer's name."""
    result = density(values)
    return {OUTPUT: result.limit_ops_per_s} | {b.layer.name: b.ops_per_s for b in result.bounds}


def density_of(eta: Values, alpha_bytes: Values) -> Values:
    """Eq. 1: rho(alpha) = eta(alpha) / alpha."""
    return eta / alpha_bytes


def reuse_penalty(operations: Values, problem_bytes: Values, ops_per_byte: Values) -> Values:
    """Eq. 2 solved for phi = Z / (M rho): how often the data are loaded on average."""
    return operations / (problem_bytes * ops_per_byte)


def layer_ops_per_s(
    ops_per_byte: Values, bandwidth_bytes_per_s: Values, layer_bytes: Values, latency_s: Values = 0.0
) -> Values:
    """Eq. 6: sigma = rho(mu) beta / (1 + beta lambda / mu); without a latency, Eq. 7: rho(mu) beta."""
    return ops_per_byte * bandwidth_bytes_per_s / (1.0 + bandwidth_bytes_per_s * latency_s / layer_bytes)


def rho(values: Model, alpha_bytes: Values) -> Values:
    """Operations per byte with a local store of `alpha_bytes` (Eq. 1), held at Z/M where the problem fits (S9). Of
    dependent blocks no more than one is computed at once, so that rho falls in a larger store (section 3; S10)."""
    size = values.of("element_bytes")
    used = alpha_bytes
    if values.model.block_bytes is not None:
        used = np.minimum(alpha_bytes, values.of("block_bytes", s=size))
    if values.model.measured:
        density = _measured(values, used) * used / alpha_bytes
    else:
        density = density_of(values.of("eta", alpha=used, s=size), alpha_bytes)
    if values.model.operations is None or values.model.problem_bytes is None:
        return density
    whole_bytes = values.of("problem_bytes", s=size)
    most = values.of("operations", s=size) / whole_bytes
    return np.where(np.asarray(alpha_bytes) >= whole_bytes, most, np.minimum(density, most))


def _measured(values: Model, alpha_bytes: Values) -> Values:
    """The density of the largest store that was measured and is no larger; of the smallest where all are larger.
    WorkbenchError where their sizes do not rise."""
    places = range(len(values.model.measured))
    stores = np.array([float(np.mean(values.of("measured", n, "store_bytes"))) for n in places])
    if (np.diff(stores) <= 0).any():
        at = int(np.argmax(np.diff(stores) <= 0)) + 1
        message = "this store_bytes is not larger than the one before it"
        raise WorkbenchError(values.problem(("measured", at), message, "Give the sizes in rising order."))
    densities = np.array([float(np.mean(values.of("measured", n, "ops_per_byte"))) for n in places])
    return densities[np.maximum(np.searchsorted(stores, alpha_bytes, side="right") - 1, 0)]


def layers(values: Model) -> tuple[Layer, ...]:
    """The memory layers: the platform's, outwards, with what the model changes or adds."""
    size = values.of("element_bytes")
    layers = {layer.name: layer for layer in layers_of(values.platform)} if values.platform else {}
    for index, change in enumerate(values.model.layers):
        given: dict[str, Any] = {
            field: values.of("layers", index, field, s=size)
            for field in ("layer_bytes", "bandwidth_bytes_per_s", "latency_s")
            if getattr(change, field) is not None
        }
        layers[change.name] = replace(layers.get(change.name, Layer(change.name, np.nan, np.nan, 0.0)), **given)
    return tuple(layers.values())


def layers_of(platform: Platform) -> tuple[Layer, ...]:
    """The memory layers of a platform, outwards: those with a size and a rate."""
    return tuple(
        Layer(memory.name, memory.bytes, memory.bandwidth_bytes_per_s, memory.latency_s, memory.estimated)
        for memory in platform.memories
        if memory.bytes is not None and memory.bandwidth_bytes_per_s is not None
    )


def density(values: Model, moved: Sequence[Layer] | None = None) -> Density:
    """Every layer's bound, the compute bound, and which one binds. `moved` are layers to take instead of the model's.

    Raises WorkbenchError naming the field that has no sensible value.
    """
    with np.errstate(all="ignore"):  # what overflows is told
        return _density(values, layers(values) if moved is None else moved)


def _density(values: Model, layers: Sequence[Layer]) -> Density:
    bounds = layer_bounds(values, layers, partial(rho, values))
    compute = _compute_ops_per_s(values)
    named = [(bound.layer.name, bound.ops_per_s) for bound in bounds]
    rates = [rate for _, rate in named]
    binding_layer = _first(named)
    least, most = _least(rates), -_least([-rate for rate in rates])
    if compute is not None:
        named.append((PROCESSING, compute))
    limit = _least([rate for _, rate in named])
    return Density(bounds, compute, limit, _first(named), binding_layer, most / least if bounds else 1.0)


def layer_bounds(
    values: Model, layers: Sequence[Layer], ops_per_byte_of: Callable[[Values], Values]
) -> tuple[LayerBound, ...]:
    """Eq. 6 of each layer, with a density by the layer's size. WorkbenchError where a layer has no sensible value."""
    bounds = []
    for layer in layers:
        for field, allowed in _LAYER_DOMAINS.items():
            if (bad := allowed.bad(getattr(layer, field))) is not None:
                raise WorkbenchError(
                    _bad_layer(values, layer.name, f"has a {field} of {bad:.12g}", f"It must be {allowed.said()}.")
                )
        ops_per_byte = ops_per_byte_of(layer.layer_bytes)
        rate, size, latency = layer.bandwidth_bytes_per_s, layer.layer_bytes, layer.latency_s
        streams = _streams(values, size)
        shared, most = _moved(values, streams, rate)
        moved = 1.0 + shared * ops_per_byte  # bytes, of all that share the rate, for each of the input
        bounds.append(
            LayerBound(
                layer,
                ops_per_byte,
                np.minimum(layer_ops_per_s(ops_per_byte / moved, rate, size * moved, latency), most),
                np.minimum(layer_ops_per_s(ops_per_byte / moved, rate, size), most),
                rate * latency / (size * moved),
                streams,
                shared,
                most,
            )
        )
        if not np.max(bounds[-1].ops_per_s) < np.inf:
            raise WorkbenchError(_bad_layer(values, layer.name, "gives an infinite rate", "Give smaller numbers."))
    return tuple(bounds)


def _streams(values: Model, layer_bytes: Values) -> dict[str, Values]:
    """Bytes for each operation of the streams besides the input, with a store of that size."""
    size = values.of("element_bytes")
    return {
        stream.name: values.of("streams", index, "bytes_per_operation", alpha=layer_bytes, s=size)
        for index, stream in enumerate(values.model.streams)
    }


def _moved(values: Model, streams: Mapping[str, Values], bandwidth_bytes_per_s: Values) -> tuple[Values, Values]:
    """Bytes for each operation of the streams that share the layer's rate with the input, and the operations a second
    that those with a path of their own let through."""
    shared: Values = np.float64(0.0)
    most: Values = np.float64(np.inf)
    for stream in values.model.streams:
        if stream.own_path:
            with np.errstate(divide="ignore"):
                most = np.minimum(most, bandwidth_bytes_per_s / np.asarray(streams[stream.name], float))
        else:
            shared = shared + streams[stream.name]
    return shared, most


_LAYER_DOMAINS = {"layer_bytes": POSITIVE, "bandwidth_bytes_per_s": POSITIVE, "latency_s": NOT_NEGATIVE}


def _bad_layer(values: Model, name: str, what: str, hint: str) -> Diagnostic:
    place = next((n for n, layer in enumerate(values.model.layers) if layer.name == name), None)
    at: FieldPath = ("platform",) if place is None else ("layers", place)
    return values.problem(at, f"the layer '{name}' {what}", hint)


def _first(named: Sequence[tuple[str, Values]]) -> str:
    """The name with the least rate (on average, for arrays)."""
    return min(named, key=lambda pair: float(np.mean(pair[1])))[0] if named else ""


def _least(rates: Sequence[Values]) -> Values:
    result: Values = np.inf
    for rate in rates:
        result = np.minimum(result, rate)
    return result


def _compute_ops_per_s(values: Model) -> Values | None:
    """Units x operations per cycle x clock (section 5: what the FPGA's area allows)."""
    if values.model.compute is None:
        return None
    size = values.of("element_bytes")
    units, ops_per_cycle, clock_hz = (
        values.of("compute", field, s=size) for field in ("units", "ops_per_cycle", "clock_hz")
    )
    return units * ops_per_cycle * clock_hz


def roofs(result: Density) -> tuple[float, ...]:
    """The layers' roofs in a roofline picture (bandwidth x density, at most the compute bound), for single values."""
    most = np.inf if result.compute_ops_per_s is None else float(result.compute_ops_per_s)
    return tuple(min(float(bound.ops_per_s), most) for bound in result.bounds)


def cell_value(values: Model, cell: Cell) -> float:
    """The number that a printed cell names, in SI units. Layers are counted from 1, as in the paper."""
    result = density(values)
    kind, _, number = cell.what.partition(" ")
    if kind == "limit":
        return float(result.limit_ops_per_s)
    bound = result.bounds[int(number) - 1]
    return float(
        {
            "mu": bound.layer.layer_bytes,
            "beta": bound.layer.bandwidth_bytes_per_s,
            "lambda": bound.layer.latency_s,
            "fraction": bound.latency_fraction,
            "sigma": bound.ops_per_s_without_latency,
            "divisor": bound.layer.layer_bytes / bound.ops_per_byte,
        }[kind]
    )

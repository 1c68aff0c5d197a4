"""Pictures of memory layers: density by memory size, the bound of each layer, the roofline."""

import math
from collections.abc import Sequence

import numpy as np

from workbench.api.predictions import Density, DensityPoint, Layer
from workbench.model.text import capitalised, prefixed
from workbench.pictures.bars import Bar, Bars
from workbench.pictures.plot import Axis, Line, Mark, Plot, Values

#: Place and name distinguish them too.
INKS = ("good", "medium_text", "low", "keyword", "number")
COMPUTE = "processing elements"
BARS_FOOT = "operations a second; solid: with latency; tint: without; line: reachable"


def bytes_of(value: float) -> str:
    return prefixed(value, "B")


def rate_of(value: float) -> str:
    return prefixed(value, "/s") if math.isfinite(value) else "no bound"


def bound_bars(density: Density) -> Bars:
    """A bar for each layer's bound and for the compute bound; the part lost to latency is tinted, and a line marks the
    least bound."""
    bounds = [
        (b.layer.name, b.layer.label, float(b.ops_per_s), float(b.ops_per_s_without_latency)) for b in density.bounds
    ]
    if density.compute_ops_per_s is not None:
        bounds.append((COMPUTE, COMPUTE, float(density.compute_ops_per_s), float(density.compute_ops_per_s)))
    rows = tuple(
        Bar(name, capitalised(label), bound, (rate_of(bound),), (label, bound, free),
            "binds" if name == density.binding else "", (bound, free, None), strong=name == density.binding)
        for name, label, bound, free in bounds
    )  # fmt: skip
    largest = max((free for *_, free in bounds if math.isfinite(free)), default=0.0) or 1.0
    return Bars(
        Axis("operations a second", rate_of), ("bound", "operations a second", "without latency"), rows,
        (0.0, largest * 1.04), foot=BARS_FOOT, mark=min((bound for _, _, bound, _ in bounds), default=None),
    )  # fmt: skip


def rho_plot(
    sizes_bytes: Values, ops_per_byte: Values, layers: Sequence[Layer], binding: str, operation: str,
    measured: Sequence[DensityPoint] = (),
) -> Plot:  # fmt: skip
    """The density by memory size, with the layers as handles, and measured values."""
    marks = tuple(
        Mark(x.name, float(x.layer_bytes), float(x.bandwidth_bytes_per_s), INKS[n % len(INKS)], x.name == binding, True)
        for n, x in enumerate(layers)
    )
    lines = [Line("rho, model" if measured else "rho", sizes_bytes, ops_per_byte)]
    if measured:
        at = np.array([p.alpha_bytes for p in measured])
        lines.append(Line("measured", at, np.array([p.measured_ops_per_byte for p in measured]), "high", points=True))
    return Plot(
        Axis("memory size", bytes_of, log=True, unit="B"),
        Axis("rho, operations per byte", lambda v: prefixed(v, "/B"), log=True),
        tuple(lines),
        marks,
        Axis("bandwidth", lambda v: prefixed(v, "B/s"), log=True, unit="B/s") if marks else None,
        say=lambda line, point: (
            f"{lines[line].name}, {bytes_of(float(lines[line].x[point]))}: "
            f"{prefixed(float(lines[line].y[point]), f' {operation}s/B')}"
        ),
    )


def roofline(density: Density) -> Plot:
    """Each layer's bound by operations per byte, limited by the compute bound, with the algorithm's point."""
    at = [float(b.ops_per_byte) for b in density.bounds] or [1.0]
    peak = float(density.compute_ops_per_s) if density.compute_ops_per_s is not None else math.inf
    widest = max((float(b.layer.bandwidth_bytes_per_s) for b in density.bounds), default=1.0)
    knee = peak / widest if math.isfinite(peak) else min(at)
    x = np.geomspace(min(*at, knee) / 10, max(*at, knee) * 10, 121)
    lines = []
    for n, bound in enumerate(density.bounds):
        rate, layer = float(bound.layer.bandwidth_bytes_per_s), bound.layer
        lost = rate * float(layer.latency_s) / float(layer.layer_bytes)
        highest = min(float(bound.most_ops_per_s), peak)
        y = np.minimum(x * rate / (1.0 + lost + float(bound.shared_bytes) * x), highest)  # Eq. 6, with other streams
        ink = INKS[n % len(INKS)]
        lines.append(Line(layer.name, x, y, ink, named_at_start=True))
        spot = np.array([float(bound.ops_per_byte)]), np.array([min(float(bound.ops_per_s), peak)])
        lines.append(Line("", *spot, ink, points=True, joined=False))
    return Plot(
        Axis("operations per byte", lambda v: prefixed(v, ""), log=True),
        Axis("operations a second", lambda v: prefixed(v, "/s"), log=True, unit="/s"),
        tuple(lines),
        say=lambda line, point: (
            f"{prefixed(float(lines[line].x[point]), '/B')}: {rate_of(float(lines[line].y[point]))}"
        ),
    )

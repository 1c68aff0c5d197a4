"""A density model as it is shown: its figures, what each layer lets through; and as layers that can be moved."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rc_workbench_plugins.density.compared import compared, compared_table, platforms
from rc_workbench_plugins.density.compute import Model, density, layers, rho
from rc_workbench_plugins.density.measured import beside, bundled_kernel, measure
from rc_workbench_plugins.density.model import PROCESSING
from workbench.api import Results, percent_text, ratio_text
from workbench.api.predictions import Density, PartLine
from workbench.api.unstable import prefixed
from workbench.api.views import Figure

#: What stands where a name is too long.
_SHORT = {PROCESSING: "Compute"}


def results(values: Model, bounds: Density | None = None) -> Results:
    """`found` are the bounds where layers are moved. Raises WorkbenchError where the model has no value here."""
    moved, bounds = bounds is not None, density(values) if bounds is None else bounds
    operation, compute = values.model.operation, bounds.compute_ops_per_s
    reachable, balance = _rate(float(bounds.limit_ops_per_s)), float(bounds.balance)
    if values.model.measured and not bounds.bounds and compute is None:
        figures = _measured_figures(values)
        return Results(figures, point=figures[:2], parts_title="", parts=(), said="measured; without memory layers")
    processing = Figure("Processing elements", _rate(float(compute)) if compute is not None else "no bound",
                        "compute bound")  # fmt: skip
    return Results(
        figures=(
            Figure("Reachable", reachable, f"{operation}s"),
            Figure("Bound by", _SHORT.get(bounds.binding, bounds.binding) or "Nothing", "the lowest bound"),
            *((processing,) if bounds.binding != PROCESSING else ()),  # else it is what is reachable
            Figure("Balance", f"{balance:.2f}×", "largest memory bound over smallest"),
        ),
        point=(
            Figure("Reachable", reachable, f"{operation}s"),
            Figure("Balance", ratio_text(balance), "largest bound over smallest"),
        ),
        parts_title="Each layer",
        parts=tuple(_lines(bounds)),
        said=f"{'layers moved, a what-if; ' if moved else ''}bound by {bounds.binding or 'nothing'}",
    )  # fmt: skip


def _measured_figures(values: Model) -> tuple[Figure, ...]:
    """Figures of a measured density, for a model without layers of its own."""
    operation, size = values.model.operation, values.of("element_bytes")
    first, last = (float(values.of("measured", at, "ops_per_byte")) for at in (0, len(values.model.measured) - 1))
    figures = [
        Figure("Density", _rate(last, "/B"), f"{operation}s a byte in a store that holds all reuse"),
        Figure("Without a store", _rate(first, "/B"), f"{operation}s a byte that is read"),
    ]
    if values.model.operations is not None:
        figures.append(Figure("Work", _rate(float(values.of("operations", s=size)), ""), f"{operation}s"))
    if values.model.problem_bytes is not None:
        figures.append(Figure("Input data", _rate(float(values.of("problem_bytes", s=size)), "B"), "loaded once"))
    return tuple(figures)


def _rate(value: float, unit: str = "/s") -> str:
    return prefixed(value, unit) if value != float("inf") else "no bound"


def _lines(density: Density) -> list[PartLine]:
    bounds = [float(b.ops_per_s) for b in density.bounds]
    if density.compute_ops_per_s is not None:
        bounds.append(float(density.compute_ops_per_s))
    most = max(bounds, default=1.0) or 1.0
    lines = []
    for bound in density.bounds:
        layer = bound.layer
        lost = 1 - float(bound.ops_per_s) / float(bound.ops_per_s_without_latency)
        said = (
            f"rho {_rate(float(bound.ops_per_byte), '/B')} × {_rate(float(layer.bandwidth_bytes_per_s), 'B/s')}, "
            f"less {percent_text(lost)}   Eq. 6"
        )
        said += "".join(f"; {name} {_rate(float(each), 'B')} each" for name, each in bound.streams.items())
        name = layer.label + (" (binds)" if layer.name == density.binding else "")
        value = float(bound.ops_per_s)
        lines.append(PartLine(name, _rate(value), value / most, said, None, True))
    if density.compute_ops_per_s is not None:
        value = float(density.compute_ops_per_s)
        name = "Processing elements" + (" (bind)" if density.binding == PROCESSING else "")
        lines.append(PartLine(name, _rate(value), value / most, "units × operations a cycle × clock", None, True))
    return lines


class Layers:
    """What `workbench.api.predictions.LayerModel` promises."""

    layers = staticmethod(layers)
    density = staticmethod(density)
    rho = staticmethod(rho)
    results = staticmethod(results)
    measure = staticmethod(measure)
    beside = staticmethod(beside)
    platforms = staticmethod(platforms)
    compared = staticmethod(compared)
    compared_table = staticmethod(compared_table)

    def kernels(self) -> Mapping[str, tuple[Path, Sequence[str]]]:
        """The matrix multiply in the orders whose density differs."""
        kernel = bundled_kernel("matrix_multiply")
        return {
            "matrix multiply, rows by columns": (kernel, ("96", "naive")),
            "matrix multiply, blocks of 16 x 16": (kernel, ("96", "blocked", "16")),
        }

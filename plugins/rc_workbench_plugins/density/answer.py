"""What a density model comes to, alone and beside a kernel's measured density, as JSON documents and tables of text."""

import shlex
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rc_workbench_plugins.density.compute import Model, density, roofs
from rc_workbench_plugins.density.measured import MeasuredDensity, beside, find_kernel, measure
from workbench.api import Answer, Diagnostic, WorkbenchError, counted, table
from workbench.api.predictions import Density, DensityPoint


def answer(values: Model) -> Answer:
    result, operation = density(values), values.model.operation
    return Answer({**_document(result), "operation": operation}, _text(result, operation))


def kernel_answer(values: Model, arguments: Namespace) -> Answer:
    """`--kernel`: the kernel's density beside the model's."""
    kernel = find_kernel(arguments.kernel)
    try:
        words = shlex.split(arguments.kernel_args or "")
    except ValueError as error:
        message = f"--kernel-args cannot be read: {str(error).lower()}"
        raise WorkbenchError(Diagnostic(message, "Close all quotation marks.")) from None
    measured = measure(kernel, words)
    rows = beside(values, measured)
    return Answer(_measured_document(measured, rows), _measured_text(measured, rows))


def _document(result: Density) -> dict[str, Any]:
    return {
        "layers": [
            {
                "name": bound.layer.name,
                "bytes": bound.layer.layer_bytes,
                "bandwidth_bytes_per_s": bound.layer.bandwidth_bytes_per_s,
                "latency_s": bound.layer.latency_s,
                "ops_per_byte": bound.ops_per_byte,
                "ops_per_s": bound.ops_per_s,
                "ops_per_s_without_latency": bound.ops_per_s_without_latency,
                "latency_fraction": bound.latency_fraction,
                "roof_ops_per_s": roof,
            }
            for bound, roof in zip(result.bounds, roofs(result), strict=True)
        ],
        "compute_ops_per_s": result.compute_ops_per_s,
        "limit_ops_per_s": result.limit_ops_per_s,
        "binding": result.binding,
        "binding_layer": result.binding_layer,
        "balance": result.balance,
    }


def _text(result: Density, operation: str) -> str:
    rows = [("Layer", "Store", "Bandwidth", f"{operation}s a byte", f"{operation}s a second", "without latency")]
    for b in result.bounds:
        size, rate = f"{b.layer.layer_bytes / 1e6:g} MB", f"{b.layer.bandwidth_bytes_per_s / 1e9:g} GB/s"
        bounds = (f"{b.ops_per_byte:.4g}", f"{b.ops_per_s:.4g}", f"{b.ops_per_s_without_latency:.4g}")
        rows.append((b.layer.name, size, rate, *bounds))
    if result.compute_ops_per_s is not None:
        rows.append(("processing elements", "", "", "", f"{result.compute_ops_per_s:.4g}", ""))
    if not result.binding:
        return f"{table(rows)}\nno limit: there are no memory layers and no processing elements"
    last = f"limit {result.limit_ops_per_s:.4g} {operation}s a second, set by {result.binding}"
    return f"{table(rows)}\n{last}; the layers' bounds differ by a factor of {result.balance:.3g}"


def _measured_document(measured: MeasuredDensity, rows: Iterable[DensityPoint]) -> dict[str, Any]:
    return {
        "operations": measured.operations,
        "reads": measured.reads,
        "element_bytes": measured.element_bytes,
        "rows": list(map(asdict, rows)),
    }


def _measured_text(measured: MeasuredDensity, rows: Iterable[DensityPoint]) -> str:
    cells: list[tuple[str, ...]] = [("Store", "Measured", "Model", "Difference")]
    for row in rows:
        values = (f"{row.measured_ops_per_byte:.4g}", f"{row.model_ops_per_byte:.4g}", f"{row.difference_pct:+.1f} %")
        cells.append((f"{row.alpha_bytes:.0f} B", *values))
    return f"{counted(measured.operations, 'operation')}, {counted(measured.reads, 'read')} of inputs\n{table(cells)}"

"""What a density model comes to, alone and beside a kernel's measured density, as JSON documents and tables of text."""

import shlex
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rc_workbench_plugins.density.compared import ALL, AnyPlatform, compared, compared_table
from rc_workbench_plugins.density.compute import Model, density, roofs
from rc_workbench_plugins.density.measured import MeasuredDensity, beside, find_kernel, measure
from workbench.api import Answer, Diagnostic, Values, WorkbenchError, counted, table
from workbench.api.predictions import Density, DensityPoint, LayerBound, PlatformDensity
from workbench.api.unstable import prefixed


def answer(values: AnyPlatform) -> Answer:
    """The bounds; of a measured density, the platforms ranked for it too."""
    result, operation = density(values), values.model.operation
    document, text = {**_document(result), "operation": operation}, _text(result, operation)
    if not values.model.measured:
        return Answer(document, text)
    ranked = compared(values, [ALL])
    points = [
        {name: float(values.of("measured", n, name)) for name in ("store_bytes", "ops_per_byte")}
        for n in range(len(values.model.measured))
    ]
    document |= {"description": values.model.description, "measured": points, **_platforms_document(values, ranked)}
    parts = (values.model.description, _density_text(points), text, _platforms_text(values, ranked))
    return Answer(document, "\n\n".join(part for part in parts if part))


def _density_text(points: Sequence[dict[str, float]]) -> str:
    """The density by the size of the store: a line for each four times as large, and the last."""
    rows, shown = [("Store", "Operations a byte")], 0.0
    for point in points:
        if point["store_bytes"] >= 4 * shown or point is points[-1]:
            shown = point["store_bytes"]
            rows.append((prefixed(shown, "B"), f"{point['ops_per_byte']:.4g}"))
    return table(rows)


def platforms_answer(values: AnyPlatform, arguments: Namespace) -> Answer:
    """`--platform`: what the memories of other platforms let the model reach, beside its own."""
    rows = compared(values, arguments.platform)
    return Answer(_platforms_document(values, rows), _platforms_text(values, rows))


def kernel_answer(values: AnyPlatform, arguments: Namespace) -> Answer:
    """`--kernel`: the kernel's density beside the model's, or with `--platform`, platforms ranked for it."""
    kernel = find_kernel(arguments.kernel)
    try:
        words = shlex.split(arguments.kernel_args or "")
    except ValueError as error:
        message = f"--kernel-args cannot be read: {str(error).lower()}"
        raise WorkbenchError(Diagnostic(message, "Close all quotation marks.")) from None
    measured = measure(kernel, words)
    if arguments.platform:
        ranked = compared(values, arguments.platform, measured)
        document = _measured_document(measured) | _platforms_document(values, ranked)
        return Answer(document, f"{_measured_words(measured)}\n{_platforms_text(values, ranked)}")
    rows = beside(values, measured)
    return Answer(
        _measured_document(measured) | {"rows": list(map(asdict, rows))},
        f"{_measured_words(measured)}\n{_measured_text(rows)}",
    )


def _document(result: Density) -> dict[str, Any]:
    return {
        "layers": [
            _layer_document(bound) | {"roof_ops_per_s": roof}
            for bound, roof in zip(result.bounds, roofs(result), strict=True)
        ],
        "compute_ops_per_s": result.compute_ops_per_s,
        "limit_ops_per_s": result.limit_ops_per_s,
        "binding": result.binding,
        "binding_layer": result.binding_layer,
        "balance": result.balance,
    }


def _layer_document(bound: LayerBound) -> dict[str, Any]:
    return {
        "name": bound.layer.name,
        "estimated": bound.layer.estimated,
        "bytes": bound.layer.layer_bytes,
        "bandwidth_bytes_per_s": bound.layer.bandwidth_bytes_per_s,
        "latency_s": bound.layer.latency_s,
        "ops_per_byte": bound.ops_per_byte,
        "ops_per_s": bound.ops_per_s,
        "ops_per_s_without_latency": bound.ops_per_s_without_latency,
        "latency_fraction": bound.latency_fraction,
        "streams": dict(bound.streams),
    }


def _text(result: Density, operation: str) -> str:
    rows = [("Layer", "Store", "Bandwidth", f"{operation}s a byte", f"{operation}s a second", "without latency")]
    for b in result.bounds:
        size, rate = prefixed(float(b.layer.layer_bytes), "B"), prefixed(float(b.layer.bandwidth_bytes_per_s), "B/s")
        bounds = (f"{b.ops_per_byte:.4g}", _per_s(b.ops_per_s), _per_s(b.ops_per_s_without_latency))
        rows.append((b.layer.label, size, rate, *bounds))
    streams = [(b.layer.label, name, f"{float(each):.4g} B") for b in result.bounds for name, each in b.streams.items()]
    if result.compute_ops_per_s is not None:
        rows.append(("processing elements", "", "", "", _per_s(result.compute_ops_per_s), ""))
    if not result.binding:
        return f"{table(rows)}\nno limit: there are no memory layers and no processing elements"
    others = f"\n{table([('Layer', 'Besides the input', f'for each {operation}'), *streams])}" if streams else ""
    last = f"limit {_per_s(result.limit_ops_per_s)} of {operation}s, set by {result.binding}"
    return f"{table(rows)}{others}\n{last}; the layers' bounds differ by a factor of {result.balance:.3g}"


def _per_s(rate: Values) -> str:
    return prefixed(float(rate), "/s", 4)


def _measured_document(measured: MeasuredDensity) -> dict[str, Any]:
    return {"operations": measured.operations, "reads": measured.reads, "element_bytes": measured.element_bytes}


def _measured_words(measured: MeasuredDensity) -> str:
    return f"{counted(measured.operations, 'operation')}, {counted(measured.reads, 'read')} of inputs"


def _measured_text(rows: Iterable[DensityPoint]) -> str:
    cells: list[tuple[str, ...]] = [("Store", "Measured", "Model", "Difference")]
    for row in rows:
        values = (f"{row.measured_ops_per_byte:.4g}", f"{row.model_ops_per_byte:.4g}", f"{row.difference_pct:+.1f} %")
        cells.append((f"{row.alpha_bytes:.0f} B", *values))
    return table(cells)


def _platforms_document(values: Model, rows: Iterable[PlatformDensity]) -> dict[str, Any]:
    return {
        "operation": values.model.operation,
        "platforms": [
            {
                "name": row.name,
                "title": row.title,
                "own": row.own,
                "limit_ops_per_s": row.limit_ops_per_s,
                "binding_layer": row.binding,
                "layers": list(map(_layer_document, row.bounds)),
            }
            for row in rows
        ],
    }


def _platforms_text(values: Model, rows: Sequence[PlatformDensity]) -> str:
    shown = compared_table(values, rows)
    lines = ((row.attribute if row.strong else f"  {row.attribute}", *row.values) for row in shown.rows)
    return table([(shown.title, *shown.columns), *lines])

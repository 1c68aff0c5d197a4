"""Platforms side by side: what the memory layers of each let an algorithm reach, by the model's or a measured density.

The processing elements of a model are those of its own platform, so platforms are compared by their memories alone.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from rc_workbench_plugins.density.compute import Model, layer_bounds, layers, layers_of, rho
from rc_workbench_plugins.density.measured import MeasuredDensity
from rc_workbench_plugins.density.model import DensityModel
from workbench.api import Diagnostic, Row, Values, WorkbenchError, near
from workbench.api.predictions import Layer, LayerBound, OnPlatforms, PaperTable, PlatformDensity
from workbench.api.unstable import prefixed

AnyPlatform = OnPlatforms[DensityModel]
#: In place of a platform's name: all that have memory layers.
ALL = "all"
OWN = "this model's layers"


def platforms(values: AnyPlatform) -> Mapping[str, str]:
    """The platforms with memory layers besides the model's own, by name, with their titles."""
    own = values.platform.name if values.platform else ""
    return {name: one.title or name for name, one in values.platforms.items() if name != own and layers_of(one)}


def compared(
    values: AnyPlatform, names: Sequence[str], measured: MeasuredDensity | None = None
) -> tuple[PlatformDensity, ...]:
    """The model's own layers and other platforms', the fastest first. WorkbenchError for an unknown platform."""
    chosen: dict[str, tuple[str, tuple[Layer, ...]]] = {}
    own = values.platform.name if values.platform else OWN
    if own_layers := layers(values):
        chosen[own] = values.platform.title if values.platform else OWN, own_layers
    others = platforms(values)
    for name in dict.fromkeys(name for given in names for name in (others if given == ALL else (given,))):
        if name != own:
            chosen[name] = others.get(name, name), _layers_of(values, name)
    ops_per_byte_of = measured.rho if measured else partial(rho, values)
    rows = [_on_platform(values, name, title, of, ops_per_byte_of, name == own) for name, (title, of) in chosen.items()]
    return tuple(sorted(rows, key=lambda row: -row.limit_ops_per_s))


def compared_table(values: Model, rows: Sequence[PlatformDensity]) -> PaperTable:
    """Platforms by their limit, each with its layers; the deciding layer comes first, since long names are cut."""
    operation = values.model.operation
    heads = ("store", "bandwidth", f"{operation}s", "a second")
    lines = []
    for row in rows:
        lines.append(
            Row(
                f"{row.name}: {row.title}",
                "",
                ("", "", "", prefixed(row.limit_ops_per_s, "/s")),
                strong=True,
                tip=row.name,
            )
        )
        lines.extend(_line(bound, row.binding) for bound in row.bounds)
    return PaperTable("Platforms", "bound by their memories, the fastest first", heads, tuple(lines))


def _line(bound: LayerBound, binding: str) -> Row:
    layer = bound.layer
    values = (
        prefixed(float(layer.layer_bytes), "B"),
        prefixed(float(layer.bandwidth_bytes_per_s), "B/s"),
        prefixed(float(bound.ops_per_byte), "/B"),
        prefixed(float(bound.ops_per_s), "/s"),
    )
    return Row(f"{'binds: ' if layer.name == binding else ''}{layer.label}", "", values)


def _layers_of(values: AnyPlatform, name: str) -> tuple[Layer, ...]:
    known = [*platforms(values), ALL]
    if name not in values.platforms:
        hint = near(name, known, "Platforms with memory layers")
        raise WorkbenchError(Diagnostic(f"there is no platform template '{name[:80]}'", hint))
    if not (found := layers_of(values.platforms[name])):
        hint = f"Platforms with memory layers: {', '.join(known[:-1])}."
        raise WorkbenchError(Diagnostic(f"the platform '{name}' has no memory layers", hint))
    return found


def _on_platform(
    values: Model, name: str, title: str, of: Sequence[Layer], ops_per_byte_of: Callable[[Values], Values], own: bool
) -> PlatformDensity:
    with np.errstate(all="ignore"):  # what overflows is reported
        bounds = layer_bounds(values, of, ops_per_byte_of)
    least = min(bounds, key=lambda bound: float(bound.ops_per_s))
    return PlatformDensity(name, title, bounds, float(least.ops_per_s), least.layer.name, own)

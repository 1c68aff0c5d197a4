"""Numbers of predictions as people read them, and the equations behind them."""

from __future__ import annotations

import math

from workbench.model.text import NARROW, count_text, ratio_text, significant, thousands, time_text, trimmed
from workbench.predict.formulas import ModelFile
from workbench.predict.ratss_model import ComputeNode, Transaction

_STEPS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def prefixed(value: float, unit: str, digits: int = 3) -> str:
    """A number with a decimal prefix: `195 MHz`, `6.4 GB/s`, `0.6 MB` as `600 kB`."""
    for factor, prefix in _STEPS:
        if abs(value) >= factor * 0.9995:
            return trimmed(f"{significant(value / factor, digits)}{NARROW}{prefix}{unit}").rstrip(NARROW)
    return trimmed(f"{significant(value, digits)}{NARROW}{unit}").rstrip(NARROW)


def value_text(value: float, unit: str = "") -> str:
    """A value of an input in its unit."""
    if unit == "s":
        return time_text(value)
    if unit == "s/B":
        return f"{time_text(value)}/B"
    if unit:
        return prefixed(value, unit)
    if value == int(value):
        return thousands(int(value)) if abs(value) < 1e10 else count_text(value)
    return significant(value) if abs(value) < 1e5 else count_text(value)


def unit_of(file: ModelFile, name: str) -> str:
    given = file.model.inputs.get(name)
    return given.unit if given else ""


def input_text(file: ModelFile, name: str, value: float) -> str:
    return value_text(value, unit_of(file, name))


def output_text(name: str, value: float) -> str:
    """A value of a model's output, by the output's name."""
    if not math.isfinite(value):
        return "no bound"
    if name == "speedup":
        return ratio_text(value)
    if name == "total_s" or name.startswith(("comp_s", "comm_s")):
        return time_text(value)
    return prefixed(value, "") if abs(value) >= 1e5 else value_text(value)


def output_title(name: str) -> str:
    """An output's name for people: `Total time`, `Computation, estimate`."""
    kind, dot, stage = name.partition(".")
    said = {
        "total_s": "Total time",
        "speedup": "Speedup",
        "comp_s": "Computation",
        "comm_s": "Communication",
        "limit_ops_per_s": "Reachable rate",
    }.get(kind if dot else name, name)
    return f"{said}, {stage}" if dot and kind in ("comp_s", "comm_s") else said


def scientific(value: float) -> str:
    """As the papers print: `1.41E+2`."""
    mantissa, _, exponent = f"{value:.2E}".partition("E")
    return f"{mantissa}E{exponent[0]}{int(exponent[1:])}".replace("-", "−")


def node_equation(node: ComputeNode) -> str:
    return "PL/F + N × ops / (F × R)   Eq. 4"


def move_equation(move: Transaction) -> str:
    """What a transaction's time is computed with."""
    if move.table:
        return "P × transfers × time of one   transfer table"
    if move.kind == "io":
        gap = "1/(R × eff)" if move.rate_bytes_per_s is not None else "g(k)"
        return f"L + o + P × k × {gap}   Eqs. 7, 9, 18"
    if move.serial and move.kind == "gather":
        return f"L + G × {'k' if move.overlapped else 'P × k'}   Eq. 27"
    if move.serial:
        return f"L + P × (G × k{' + γ × k' if move.kind == 'reduce' else ''})   Eq. 26"
    if move.kind in ("scatter", "gather"):
        return "⌈log2 P⌉ × L + 2o + G × (P − 1) × k   Eq. 19"
    if move.kind == "broadcast":
        return "⌈log2 P⌉ × (L + 2o + G × k)   Eq. 20"
    return "⌈log2 P⌉ × (L + 2o + G × k + γ × k)   Eq. 20"


def stage_equation(overlapped: bool) -> str:
    return "max(t_comp, t_comm)   Eq. 15" if overlapped else "t_comp + t_comm   Eq. 15"

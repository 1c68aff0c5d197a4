"""Numbers of predictions as people read them."""

import math
from collections.abc import Mapping

from workbench.formats.units import unit_of_name, written
from workbench.model.text import (
    NARROW,
    percent_text,
    prefixed,
    ratio_text,
    significant,
    time_text,
    title_of,
    trimmed,
    value_text,
)
from workbench.predict.formulas import ModelFile

DIGITS = 4  #: significant digits of a terminal's tables, in which points of a sweep are compared


def unit_of(file: ModelFile, name: str) -> str:
    given = file.model.inputs.get(name)
    return given.unit if given else ""


def input_title(file: ModelFile, name: str) -> str:
    """An input's title; its name, where it has no title of its own."""
    titles = [given.title for given in file.model.inputs.values()]
    given = file.model.inputs.get(name)
    return given.title if given and given.title and titles.count(given.title) == 1 else name


def input_text(file: ModelFile, name: str, value: float) -> str:
    return value_text(value, unit_of(file, name))


def input_words(file: ModelFile, name: str, value: float) -> str:
    """As a terminal's tables have it: more digits, without the zeros that end a fraction."""
    return trimmed(value_text(value, unit_of(file, name), DIGITS))


def point_words(file: ModelFile, inputs: Mapping[str, float]) -> str:
    """Inputs with their values: `nodes = 8, clock = 150 MHz`."""
    return ", ".join(f"{name} = {input_words(file, name, value)}" for name, value in inputs.items())


def input_written(file: ModelFile, name: str, value: float) -> str | float:
    """An input's value as a document holds it, exact: a text with its unit, or a plain number."""
    if unit := unit_of(file, name):
        return written(value, unit)
    return int(value) if value == int(value) else value


def output_text(name: str, value: float, digits: int = 3) -> str:
    """A value of a model's output, by the output's name."""
    if not math.isfinite(value):
        return "no bound"
    kind = name.partition(".")[0]
    if "speedup" in kind:
        return ratio_text(value)
    if kind == "utilisation":  # over 1 where more comes than is served
        return f"{significant(value * 100, digits)}{NARROW}%"
    if "share" in kind.split("_"):
        return percent_text(value)
    if unit_of_name(kind) == "s":
        return time_text(value, digits)
    if (unit := "/s" if kind.endswith("_per_s") else unit_of_name(kind)) in ("W", "J", "/s", "B/s", "Hz"):
        return prefixed(value, unit, digits)
    return prefixed(value, "", digits) if abs(value) >= 1e5 else value_text(value, digits=digits)


def output_title(name: str) -> str:
    """An output's name for people: `Total time`, `Computation, estimate`."""
    kind, dot, stage = name.partition(".")
    said = {
        "total_s": "Total time",
        "speedup": "Speedup",
        "total_double_s": "Total time, double buffering",
        "speedup_double": "Speedup, double buffering",
        "computing_share_double": "Computing share, double buffering",
        "comp_s": "Computation",
        "comm_s": "Communication",
        "limit_ops_per_s": "Reachable rate",
        "power_w": "Average power",
        "energy_j": "Energy",
        "energy_per_iteration_j": "Energy an iteration",
    }.get(kind if dot else name, title_of(name) if "_" in name and name.isidentifier() else name)
    return f"{said}, {stage}" if dot and kind in ("comp_s", "comm_s") else said

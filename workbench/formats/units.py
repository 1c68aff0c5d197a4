"""Numbers with units, at the edge where people write them: "100 MHz", "13.94 us", "32 KiB", "360 MB/s".

k, M, G are powers of 1000; Ki, Mi, Gi of 1024. "KB" is refused, since people mean both by it. Conversion is exact:
"13.94 us" is the same float as 13.94e-6.
"""

from __future__ import annotations

import difflib
import re
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pint import UnitRegistry

_DEFINITIONS = """
pico- = 1e-12 = p-
nano- = 1e-9 = n-
micro- = 1e-6 = u- = µ- = μ-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
gibi- = 1073741824 = Gi-
second = [time] = s
minute = 60 * second = min
hour = 3600 * second = h
hertz = 1 / second = Hz
bit = [information]
byte = 8 * bit = B
"""

#: What a unit is called, and how a value of it is written. The keys are the units that `quantity` converts to.
_KINDS = {
    "s": ("a time", "13.94 us"),
    "ms": ("a time", "20 ms"),
    "us": ("a time", "13.94 us"),
    "ns": ("a time", "10 ns"),
    "ps": ("a time", "10 ns"),
    "Hz": ("a frequency", "100 MHz"),
    "B": ("a size", "32 KiB"),
    "bit": ("a size", "18 Kibit"),
    "B/s": ("a rate", "360 MB/s"),
    "s/B": ("a time per byte", "3.03 ns/B"),
}
_SUFFIXES = (
    ("bytes_per_s", "B/s"), ("per_byte_s", "s/B"), ("per_s", ""), ("bytes", "B"), ("bits", "bit"),
    ("hz", "Hz"), ("s", "s"), ("ms", "ms"), ("us", "us"), ("ns", "ns"), ("ps", "ps"),
)  # fmt: skip
_AMBIGUOUS = {"KB": "KiB (1024 bytes) or kB (1000 bytes)", "Kb": "Kibit (1024 bits) or kbit (1000 bits)"}
_USUAL = (
    *("s", "ms", "us", "ns", "ps", "min", "h", "Hz", "kHz", "MHz", "GHz", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB"),
    *("bit", "kbit", "Mbit", "Gbit", "Kibit", "Mibit", "B/s", "kB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s"),
    *("Mbit/s", "Gbit/s", "s/B", "us/B", "ns/B", "ps/B"),
)
_QUANTITY = re.compile(r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)\s*(.*?)\s*")
_UNIT = re.compile(r"[A-Za-zµμ]+(?:\s*/\s*[A-Za-zµμ]+)?")


class UnitError(ValueError):
    """A text that is no quantity of the wanted unit; `hint` says what would be."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def unit_of_name(name: str) -> str:
    """The unit that a field's name ends in ("s" of `time_s`, "Hz" of `clock_hz`), or "" where it names none."""
    for suffix, unit in _SUFFIXES:
        if (name == suffix and len(suffix) > 2) or name.endswith("_" + suffix):
            return unit
    return ""


def example(unit: str) -> str:
    """A quantity as a person may write it for that unit: `"13.94 us"`."""
    return f'"{_KINDS[unit][1]}"'


def quantity(text: str, unit: str) -> float:
    """The value of a text such as "13.94 us" in `unit`; a bare number is taken to be in `unit`. Raises UnitError."""
    kind, sample = _KINDS[unit]
    match = _QUANTITY.fullmatch(text)
    if match is None or len(text) > 100:
        raise UnitError(f"'{text[:40]}' is not {kind}", f'Write a number and a unit, as in "{sample}".')
    number, written = match.groups()
    factor = Fraction(1) if not written else _factor(" ".join(written.split()), unit)
    try:
        value = float(Fraction(number) * factor)
    except OverflowError:
        value = float("inf")
    if value in (float("inf"), float("-inf")):
        raise UnitError(f"'{text}' is too large", f'Write {kind}, as in "{sample}".')
    return value


@lru_cache(maxsize=256)
def _factor(written: str, unit: str) -> Fraction:
    kind, sample = _KINDS[unit]
    for ambiguous, instead in _AMBIGUOUS.items():
        if written.startswith(ambiguous):
            raise UnitError(f"'{written}' can mean two sizes", f"Write {instead}.")
    hint = f'Write {kind} with its unit, as in "{sample}".'
    if _UNIT.fullmatch(written) is None:
        raise UnitError(f"'{written[:20]}' is no unit", hint)
    import pint  # half a second: only for those who write units

    try:
        source = _registry().Unit(written)
    except (pint.errors.PintError, ValueError, AttributeError):
        near = [usual for usual in _USUAL if usual.lower() == written.lower()] or difflib.get_close_matches(
            written, _USUAL, 1
        )
        raise UnitError(f"there is no unit '{written}'", f"Did you mean '{near[0]}'?" if near else hint) from None
    target = _registry().Unit(unit)
    if source.dimensionality != target.dimensionality:
        if unit == "s/B" and source.dimensionality == _registry().Unit("s").dimensionality:
            return _factor(written, "s")
        raise UnitError(f"'{written}' is not {kind}", hint)
    return Fraction((1 * source).to(target).magnitude)


@lru_cache(maxsize=1)
def _registry() -> UnitRegistry:
    from pint import UnitRegistry

    registry: UnitRegistry = UnitRegistry(None, non_int_type=Fraction)
    registry.load_definitions(_DEFINITIONS.strip().splitlines())
    return registry


_SCALES: dict[str, tuple[tuple[Fraction, str], ...]] = {
    "s": tuple((Fraction(10) ** power, name) for power, name in ((0, "s"), (-3, "ms"), (-6, "us"), (-9, "ns"))),
    "Hz": tuple((Fraction(10) ** power, name) for power, name in ((9, "GHz"), (6, "MHz"), (3, "kHz"), (0, "Hz"))),
    "B": tuple((Fraction(1024) ** power, name) for power, name in ((3, "GiB"), (2, "MiB"), (1, "KiB"), (0, "B"))),
    "B/s": tuple((Fraction(10) ** power, name) for power, name in ((9, "GB/s"), (6, "MB/s"), (3, "kB/s"), (0, "B/s"))),
}


def written(value: float, unit: str) -> str:
    """A value of "s", "Hz", "B" or "B/s" in the handiest unit, with just the digits that read back alike."""
    if not value:
        return f"0 {unit}"
    exact = Fraction(repr(value))
    scales = _SCALES[unit]
    fitting = (s for s in scales if abs(exact) >= s[0] and (unit != "B" or (exact / s[0]).denominator == 1))
    scale, name = next(fitting, scales[-1])
    return f"{repr(float(exact / scale)).removesuffix('.0')} {name}"

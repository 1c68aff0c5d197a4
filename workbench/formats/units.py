"""Numbers with units, at the edge where people write them: "100 MHz", "13.94 us", "32 KiB", "360 MB/s".

k, M, G are powers of 1000; Ki, Mi, Gi of 1024. "KB" is refused, since people mean both by it. Conversion is exact:
"13.94 us" is the same float as 13.94e-6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from workbench.model.diagnostic import did_you_mean

_POWERS = {
    ("",): Fraction(1),
    ("p", "pico"): Fraction(1, 10**12),
    ("n", "nano"): Fraction(1, 10**9),
    ("u", "\u00b5", "\u03bc", "micro"): Fraction(1, 10**6),
    ("m", "milli"): Fraction(1, 1000),
    ("k", "kilo"): Fraction(10**3),
    ("M", "mega"): Fraction(10**6),
    ("G", "giga"): Fraction(10**9),
    ("T", "tera"): Fraction(10**12),
    ("Ki", "kibi"): Fraction(2**10),
    ("Mi", "mebi"): Fraction(2**20),
    ("Gi", "gibi"): Fraction(2**30),
}


@dataclass(frozen=True)
class _Unit:
    """A factor to seconds, bytes and joules, and the powers of each."""

    factor: Fraction
    seconds: int = 0
    bytes: int = 0
    joules: int = 0

    @property
    def powers(self) -> tuple[int, int, int]:
        return self.seconds, self.bytes, self.joules

    def per(self, other: _Unit) -> _Unit:
        powers = (mine - theirs for mine, theirs in zip(self.powers, other.powers, strict=True))
        return _Unit(self.factor / other.factor, *powers)


_PLAIN = {
    ("s", "second", "seconds"): _Unit(Fraction(1), seconds=1),
    ("min", "minute", "minutes"): _Unit(Fraction(60), seconds=1),
    ("h", "hour", "hours"): _Unit(Fraction(3600), seconds=1),
    ("Hz", "hertz"): _Unit(Fraction(1), seconds=-1),
    ("B", "byte", "bytes"): _Unit(Fraction(1), bytes=1),
    ("bit", "bits"): _Unit(Fraction(1, 8), bytes=1),
    ("J", "joule", "joules"): _Unit(Fraction(1), joules=1),
    ("W", "watt", "watts"): _Unit(Fraction(1), seconds=-1, joules=1),
    ("",): _Unit(Fraction(1)),  # what is counted, of which there are some a second: "900 M/s"
}
#: Every spelling: a prefix or none, and a unit's name.
_UNITS = {
    prefix + name: replace(unit, factor=unit.factor * power)
    for prefixes, power in _POWERS.items()
    for prefix in prefixes
    for names, unit in _PLAIN.items()
    for name in names
}

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
    "/s": ("a rate", "900 M/s"),
    "J": ("an energy", "0.3 nJ"),
    "W": ("a power", "1.5 W"),
}
UNITS = tuple(_KINDS)
_SUFFIXES = (
    ("bytes_per_s", "B/s"), ("per_byte_s", "s/B"), ("per_s", ""), ("bytes", "B"), ("bits", "bit"),
    ("hz", "Hz"), ("s", "s"), ("ms", "ms"), ("us", "us"), ("ns", "ns"), ("ps", "ps"),
    ("j", "J"), ("w", "W"),
)  # fmt: skip
_AMBIGUOUS = {"KB": "KiB (1024 bytes) or kB (1000 bytes)", "Kb": "Kibit (1024 bits) or kbit (1000 bits)"}
_USUAL = (
    *("s", "ms", "us", "ns", "ps", "min", "h", "Hz", "kHz", "MHz", "GHz", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB"),
    *("bit", "kbit", "Mbit", "Gbit", "Kibit", "Mibit", "B/s", "kB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s"),
    *("Mbit/s", "Gbit/s", "s/B", "us/B", "ns/B", "ps/B"),
    *("J", "mJ", "uJ", "nJ", "pJ", "kJ", "W", "mW", "kW"),
)
_QUANTITY = re.compile(r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)\s*(.*?)\s*")
_UNIT = re.compile(r"[A-Za-zµμ]+(?:\s*/\s*[A-Za-zµμ]+)?|/\s*[A-Za-zµμ]+")


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


@lru_cache(maxsize=4096)
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
        raise UnitError(f"'{written[:20]}' is not a unit", hint)
    source = _unit(written)
    if source is None:
        raise UnitError(f"there is no unit '{written}'", did_you_mean(written, _USUAL) or hint)
    wanted = _unit(unit)
    assert wanted is not None, unit
    ratio = source.per(wanted)
    if unit == "s/B" and ratio.powers == (0, 1, 0):
        return _factor(written, "s")
    if any(ratio.powers):
        raise UnitError(f"'{written}' is not {kind}", hint)
    return ratio.factor


def _unit(written: str) -> _Unit | None:
    """What a unit's text means, as one name or a quotient of two; None where a name is unknown."""
    parts = [_UNITS.get(name.strip()) for name in written.split("/")]
    if None in parts:
        return None
    first, *below = (part for part in parts if part is not None)
    return first.per(below[0]) if below else first


_SCALES: dict[str, tuple[tuple[Fraction, str], ...]] = {
    "s": tuple((Fraction(10) ** power, name) for power, name in ((0, "s"), (-3, "ms"), (-6, "us"), (-9, "ns"))),
    "Hz": tuple((Fraction(10) ** power, name) for power, name in ((9, "GHz"), (6, "MHz"), (3, "kHz"), (0, "Hz"))),
    "B": tuple((Fraction(1024) ** power, name) for power, name in ((3, "GiB"), (2, "MiB"), (1, "KiB"), (0, "B"))),
    "J": tuple((Fraction(10) ** power, name) for power, name in ((0, "J"), (-3, "mJ"), (-6, "uJ"), (-9, "nJ"))),
    "W": tuple((Fraction(10) ** power, name) for power, name in ((3, "kW"), (0, "W"), (-3, "mW"))),
    "B/s": tuple((Fraction(10) ** power, name) for power, name in ((9, "GB/s"), (6, "MB/s"), (3, "kB/s"), (0, "B/s"))),
    "/s": tuple((Fraction(10) ** power, name) for power, name in ((9, "G/s"), (6, "M/s"), (3, "k/s"), (0, "/s"))),
}


def written(value: float, unit: str) -> str:
    """A value in the handiest unit, with just the digits that read back alike."""
    if not value:
        return f"0 {unit}"
    exact = Fraction(repr(value))
    scales = _SCALES.get(unit, ((Fraction(1), unit),))
    fitting = (s for s in scales if abs(exact) >= s[0] and (unit != "B" or (exact / s[0]).denominator == 1))
    scale, name = next(fitting, scales[-1])
    return f"{repr(float(exact / scale)).removesuffix('.0')} {name}"

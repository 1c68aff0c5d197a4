"""Numbers as people read them: three significant digits, thin spaces for thousands, a unit in the cell."""

import math
import re
from collections.abc import Iterable, Sequence

NARROW = "\u202f"  # thin and not breaking: between groups of three digits, and before a unit
_STEPS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def thousands(value: int) -> str:
    """`5976000` as `5 976 000`, with thin spaces."""
    return f"{value:,}".replace(",", NARROW)


_NOTHING = 1e-12  # as a number of anything, in the unit that fits it


def significant(value: float, digits: int = 3) -> str:
    """A number to so many significant digits, without an exponent; whole digits are kept. What is as good as none
    is 0."""
    if abs(value) < _NOTHING or not math.isfinite(value):
        return "0" if abs(value) < _NOTHING else str(value)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}".replace(",", NARROW)
    rounded = float(f"{value:.{decimals}f}")
    if rounded and math.floor(math.log10(abs(rounded))) > math.floor(math.log10(abs(value))) and decimals:
        text = f"{value:,.{decimals - 1}f}".replace(",", NARROW)
    return text


def time_text(seconds: float, digits: int = 3) -> str:
    """`64.5 s`, `13.9 ms`, `8.1 µs`, `10 ns`."""
    if seconds == 0:
        return f"0{NARROW}s"
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if abs(seconds) >= 0.9995 * factor:
            return f"{significant(seconds / factor, digits)}{NARROW}{unit}"
    return f"{significant(seconds / 1e-12, digits)}{NARROW}ps"


def duration_text(seconds: float) -> str:
    """`8 s`, `2 min 5 s`, `1 h 3 min`: as one waits for it, at least a second."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def count_text(value: float) -> str:
    """A count, exact up to 99 999, then `1.04 M`."""
    if abs(value) < 100_000:
        return thousands(round(value))
    for factor, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{significant(value / factor)}{NARROW}{unit}"
    return thousands(round(value))


def counted(number: float, one: str, many: str = "") -> str:
    """So many of something: `1 cycle`, `12 345 cycles`, `2 branches`; `many` where that is not `one` with an s."""
    return f"{_number(number)} {one if number == 1 else many or f'{one}s'}"


def times(number: float) -> str:
    """How often: `once`, `2 times`."""
    return "once" if number == 1 else f"{_number(number)} times"


def _number(number: float) -> str:
    return thousands(number) if isinstance(number, int) else count_text(number)


def bytes_text(value: float) -> str:
    """A size in binary units: `128 B`, `2 KiB`, `2.3 GiB`."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if abs(value) >= 1024**power:
            scaled = value / 1024**power
            return f"{thousands(int(scaled)) if scaled == int(scaled) else significant(scaled)}{NARROW}{unit}"
    return f"{significant(value) if value != int(value) else thousands(int(value))}{NARROW}B"


def rate_text(bytes_per_s: float) -> str:
    """A rate in decimal units, as data sheets give it: `147 MB/s`."""
    for factor, unit in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        if abs(bytes_per_s) >= factor:
            return f"{significant(bytes_per_s / factor)}{NARROW}{unit}"
    return f"{significant(bytes_per_s)}{NARROW}B/s"


def frequency_text(hz: float) -> str:
    """`125 MHz`."""
    return f"{hz / 1e6:g}{NARROW}MHz"


def percent_text(share: float) -> str:
    """A share of 1 in percent: `87.4 %`, `0 %`, `100 %`; below a thousandth `< 0.1 %`."""
    if share <= 0:
        return f"0{NARROW}%"
    percent = share * 100
    if percent < 0.1:
        return f"<{NARROW}0.1{NARROW}%"
    text = f"{percent:.1f}" if percent < 99.95 else "100"
    return f"{text}{NARROW}%"


def ratio_text(ratio: float) -> str:
    """A speedup: `3.43×`."""
    return f"{ratio:.2f}×" if ratio < 100 else f"{significant(ratio)}×"


def is_limit(speedup: float) -> bool:
    """Whether an upper bound says anything: beyond 1000× hardly anything is known that stays."""
    return speedup <= 1000.0


def bound_text(speedup: float | None) -> str:
    """A bound as a person reads it."""
    if speedup is None:
        return "–"
    return ratio_text(speedup) if is_limit(speedup) else "no limit"


def at_most_text(speedup: float) -> str:
    """`≤ 8.90×`, or that there is no limit."""
    return f"≤{NARROW}{bound_text(speedup)}" if is_limit(speedup) else bound_text(speedup)


def faster_text(speedup: float, who: str = "") -> str:
    """`B is 2.00× faster`, `2.00× slower` where the speedup is 0.5 and nobody is named, or `the same time`."""
    ratio = ratio_text(max(speedup, 1 / speedup))
    if ratio == ratio_text(1):
        return "the same time"
    return f"{who}{' is ' if who else ''}{ratio} {'faster' if speedup >= 1 else 'slower'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence, the first few of many: `a, b, c and 4 more`."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def trimmed(text: str) -> str:
    """A text without the zeros that end a fraction: `20.0 s` is `20 s`, `0.00×` is `0×`."""
    return re.sub(r"(?<=\d)\.0+(?!\d)|(\.\d*?[1-9])0+(?!\d)", r"\1", text)


def prefixed(value: float, unit: str, digits: int = 3) -> str:
    """A number with a decimal prefix: `195 MHz`, `6.4 GB/s`, `0.6 MB` as `600 kB`."""
    for factor, prefix in _STEPS:
        if abs(value) >= factor * 0.9995:
            return trimmed(f"{significant(value / factor, digits)}{NARROW}{prefix}{unit}").rstrip(NARROW)
    return trimmed(f"{significant(value, digits)}{NARROW}{unit}").rstrip(NARROW)


def value_text(value: float, unit: str = "", digits: int = 3) -> str:
    """A value of an input in its unit."""
    if unit == "s":
        return time_text(value, digits)
    if unit == "s/B":
        return f"{time_text(value, digits)}/B"
    if unit:
        return prefixed(value, unit, digits)
    if value == int(value):
        return thousands(int(value)) if abs(value) < 1e10 else count_text(value)
    return significant(value, digits) if abs(value) < 1e5 else count_text(value)


_WRITTEN = {
    "api": "API", "vhdl": "VHDL", "fpga": "FPGA", "fifos": "FIFOs", "luts": "LUTs", "ram": "RAM", "c": "C",
    "dir": "folder", "dirs": "folders", "hdl": "HDL",
}  # fmt: skip


def title_of(name: str) -> str:
    """What a field or an output is called, by its name: `software_s` is `Software`, `api_dir` `API folder`,
    `slice_ps` `Slice (ps)`, for what is written as a plain number keeps its unit."""
    plain = re.sub(r"(_bytes_per_s|_hz|(?<!_per)_s)$", "", name)
    title = re.sub(r"_(ps|ppm|bytes|ppm_per_s|hdl)$", r" (\1)", plain).replace("_", " ").capitalize()
    return re.sub(r"\w+", lambda word: _WRITTEN.get(word[0].lower(), word[0]), title)


def capitalised(text: str) -> str:
    """A text as a sentence or a label begins: its first letter is a capital, the others stay."""
    return text[:1].upper() + text[1:]


def scientific(value: float) -> str:
    """As the papers print: `1.41E+2`; what has no bound is said to have none."""
    if not math.isfinite(value):
        return "no bound"
    mantissa, _, exponent = f"{value:.2E}".partition("E")
    return f"{mantissa}E{exponent[0]}{int(exponent[1:])}".replace("-", "−")


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows as aligned columns."""
    kept = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*kept, strict=True)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in kept)


def attribute_text(value: float) -> str:
    """An attribute as the paper prints it: whole numbers in full, small and large ones with an exponent."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e10:
        return thousands(int(value))
    if abs(value) < 1e-2 or abs(value) >= 1e6:
        return scientific(value)
    return significant(value, 4)

"""The time axis: the visible range in pixels, ruler steps, times shown relative to a round begin."""

import math
from dataclasses import dataclass

from workbench.model.run import PS_PER_S
from workbench.model.text import NARROW, significant

LEAST_PIXEL_PS = 10.0
_UNITS = ((PS_PER_S, "s"), (PS_PER_S // 10**3, "ms"), (PS_PER_S // 10**6, "µs"), (PS_PER_S // 10**9, "ns"), (1, "ps"))


@dataclass(frozen=True)
class Span:
    """The visible range: `pixel_ps` picoseconds for a pixel from `from_ps` on, `width` pixels."""

    from_ps: float
    pixel_ps: float
    width: int

    @property
    def to_ps(self) -> float:
        return self.from_ps + self.pixel_ps * self.width

    def x(self, time_ps: float) -> float:
        return (time_ps - self.from_ps) / self.pixel_ps

    def time(self, x: float) -> float:
        return self.from_ps + x * self.pixel_ps


def whole_span(end_ps: int, width: int) -> Span:
    return Span(0.0, max(end_ps / max(width, 1), LEAST_PIXEL_PS), width)


def zoomed(span: Span, factor: float, at_x: float, end_ps: int) -> Span:
    """The zoomed range; `factor` < 1 shows less, and the time under `at_x` stays there."""
    pixel = min(max(span.pixel_ps * factor, LEAST_PIXEL_PS), max(end_ps / max(span.width, 1), LEAST_PIXEL_PS))
    return clamped(Span(span.time(at_x) - at_x * pixel, pixel, span.width), end_ps)


def clamped(span: Span, end_ps: int) -> Span:
    """The span, moved inside the run if possible."""
    start = min(max(span.from_ps, 0.0), max(end_ps - span.pixel_ps * span.width, 0.0))
    return Span(start, span.pixel_ps, span.width)


def tick_step(pixel_ps: float, least_px: float) -> int:
    """The smallest 1, 2 or 5 times a power of ten of picoseconds that is `least_px` wide."""
    least = max(pixel_ps * least_px, 1.0)
    power = 10 ** math.floor(math.log10(least))
    return int(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * 0.9999))


def unit_for(step_ps: float) -> tuple[int, str]:
    """The unit in which a step is a short number."""
    return next(((scale, unit) for scale, unit in _UNITS if step_ps >= scale * 0.1), _UNITS[-1])


@dataclass(frozen=True)
class Ruler:
    """The ticks of the time axis as (time, label); `base_ps` is the time that the labels omit ("31.204 1 s +")."""

    base_ps: int
    base_text: str
    ticks: tuple[tuple[int, str], ...]
    minor_ps: int


def ruler(span: Span) -> Ruler:
    step = tick_step(span.pixel_ps, 130)
    scale, unit = unit_for(step)
    first = math.ceil(span.from_ps / step) * step
    base = 0
    if span.from_ps >= scale * 1000:  # labels would be longer than four digits
        coarse = step * 10 ** (math.ceil(math.log10(max(span.pixel_ps * span.width / step, 1))) + 1)
        base = int(span.from_ps // coarse * coarse)
    ticks = []
    for k in range(int((span.to_ps - first) // step) + 1):
        time = first + k * step
        decimals = max(0, -math.floor(math.log10(step / scale) + 1e-9))
        ticks.append((int(time), f"{grouped(f'{(time - base) / scale:.{decimals}f}')}{NARROW}{unit}"))
    return Ruler(base, f"{exact_time(base)} +" if base else "", tuple(ticks), step // 5 if step >= 5 else step)


def grouped(text: str) -> str:
    """The number with thin spaces in the digits before the point, from five digits on."""
    whole_part, point, rest = text.partition(".")
    return f"{int(whole_part):,}".replace(",", NARROW) + point + rest if len(whole_part) > 4 else text


def exact_time(time_ps: float, step_ps: float = 1.0) -> str:
    """A point of time with the decimals that `step_ps` needs, in groups of three; in seconds, or ms below one."""
    scale, unit = (PS_PER_S, "s") if time_ps >= PS_PER_S or not time_ps else (PS_PER_S // 1000, "ms")
    decimals = min(12, max(0, math.ceil(-math.log10(max(step_ps, 1.0) / scale))))
    whole_part, _, rest = f"{time_ps / scale:.{decimals}f}".partition(".")
    rest = rest.rstrip("0")
    groups = NARROW.join(rest[i : i + 3] for i in range(0, len(rest), 3))
    return f"{grouped(whole_part)}{'.' + groups if groups else ''}{NARROW}{unit}"


def duration(time_ps: float, digits: int = 4) -> str:
    """A length of time in a suitable unit."""
    for scale, unit in _UNITS:
        if abs(time_ps) >= scale * 0.9995:
            return f"{significant(time_ps / scale, digits)}{NARROW}{unit}"
    return f"0{NARROW}s"

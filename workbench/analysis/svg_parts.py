"""What the report's drawings share: the light palette, state colours with their patterns, bars, severity signs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from workbench.model.pragma import Category

COLOURS: Mapping[str, str] = {
    "window": "#EEF0F3",
    "panel": "#FFFFFF",
    "sunken": "#F5F6F8",
    "rule": "#D8DCE2",
    "edge": "#868F9B",
    "text": "#15191F",
    "second": "#454D58",
    "muted": "#5F6873",
    "accent": "#3A4BC2",
    "link": "#3443B0",
    "selection": "#E3E7F9",
    "high": "#B3261E",
    "medium": "#C77700",
    "medium-text": "#8F5200",
    "low": "#3F5B77",
    "good": "#0B6E4F",
    "within-cap": "#B9C2EE",
    "track": "#E6E9EE",
    "high-ground": "#F9E8E6",
    "medium-ground": "#FDF1DC",
    "low-ground": "#E8EEF4",
    "good-ground": "#E2F1EA",
}

#: After Okabe and Ito; the pattern is the second cue for each.
STATE_COLOURS: Mapping[Category | None, str] = {
    Category.WORK: "#009E73",
    Category.OVERHEAD: "#CC79A7",
    Category.SEND: "#0072B2",
    Category.RECV: "#56B4E9",
    Category.WAIT_SEND: "#D55E00",
    Category.WAIT_RECV: "#E69F00",
    None: "#CDD2D9",
}
_LINES: Mapping[Category | None, str] = {
    Category.WORK: "",
    Category.OVERHEAD: '<circle cx="1.5" cy="1.5" r=".9"/><circle cx="4.5" cy="4.5" r=".9"/>',
    Category.SEND: '<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5"/>',
    Category.RECV: '<path d="M5 -1L7 1M0 0L6 6M-1 5L1 7"/>',
    Category.WAIT_SEND: '<path d="M1.5 0V6M4.5 0V6"/>',
    Category.WAIT_RECV: '<path d="M0 1.5H6M0 4.5H6"/>',
    None: '<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5M5 -1L7 1M0 0L6 6M-1 5L1 7"/>',
}
FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"

Shares = Sequence[tuple[Category | None, float]]


def category_name(category: Category | None) -> str:
    return category.value if category else "unclassified"


def pattern_definitions() -> str:
    """The states' fills, for a drawing's `defs`; every drawing on a page may carry them."""
    patterns = []
    for category, colour in STATE_COLOURS.items():
        lines = _LINES[category]
        draw = "fill" if "circle" in lines else "stroke"
        patterns.append(
            f'<pattern id="fill-{category_name(category)}" width="6" height="6" patternUnits="userSpaceOnUse">'
            f'<rect width="6" height="6" fill="{colour}"/>'
            f'<g {draw}="#FFFFFF" {draw}-opacity=".47" stroke-width="1.1">{lines}</g></pattern>'
        )
    patterns.append(
        '<pattern id="fill-beyond" width="5" height="5" patternUnits="userSpaceOnUse">'
        f'<rect width="5" height="5" fill="#FFFFFF"/><path d="M-1 1L1 -1M0 5L5 0M4 6L6 4" stroke="{COLOURS["edge"]}"'
        ' stroke-width="1"/></pattern>'
    )
    return "".join(patterns)


def fill_of(category: Category | None) -> str:
    return f"url(#fill-{category_name(category)})"


def state_bar(x: float, y: float, width: float, height: float, shares: Shares) -> str:
    """Shares of a whole as one framed bar, in order; the rest of the bar stays empty."""
    parts = [rect(x, y, width, height, fill=COLOURS["track"])]
    at = x
    for category, share in shares:
        wide = width * max(share, 0.0)
        if wide >= 0.2:
            fill = fill_of(category) if wide >= 3 else STATE_COLOURS[category]
            parts.append(rect(at, y, wide, height, fill=fill))
        at += wide
    frame = f'fill="none" stroke="{COLOURS["text"]}" stroke-opacity=".53"'
    parts.append(
        f'<rect x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" width="{width - 1:.1f}" height="{height - 1:.1f}" {frame}/>'
    )
    return "".join(parts)


def rect(x: float, y: float, width: float, height: float, **more: object) -> str:
    return f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"{_attributes(more)}/>'


def text(
    x: float, y: float, content: str, *, size: float = 11, weight: int = 400, colour: str = "text", **more: object
) -> str:
    """Text at its baseline; `colour` is a name of the palette."""
    colour = COLOURS.get(colour, colour)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" font-weight="{weight}" fill="{colour}"'
        f"{_attributes(more)}>{escape(content)}</text>"
    )


def _attributes(named: Mapping[str, object]) -> str:
    return "".join(f" {key.replace('_', '-')}={quoteattr(str(value))}" for key, value in named.items())


def severity_sign(severity: str, x: float, y: float, size: float = 14) -> str:
    """Triangle, diamond or disc with an exclamation mark; `x` and `y` are its centre."""
    half = size / 2
    if severity == "high":
        shape = f'<path d="M0 {-half:.1f}L{half:.1f} {half * 0.8:.1f}H{-half:.1f}Z" stroke-linejoin="round"'
        colour, mark = COLOURS["high"], half * 0.15
    elif severity == "medium":
        shape = f'<path d="M0 {-half:.1f}L{half:.1f} 0L0 {half:.1f}L{-half:.1f} 0Z" stroke-linejoin="round"'
        colour, mark = COLOURS["medium"], 0.0
    else:
        shape, colour, mark = f'<circle r="{half * 0.8:.1f}"', COLOURS["low"], 0.0
    stem = size * 0.16
    return (
        f'<g transform="translate({x:.1f} {y:.1f})">{shape} fill="{colour}" stroke="{colour}" stroke-width="1.5"/>'
        f'<path d="M0 {mark - stem:.1f}V{mark + stem * 0.5:.1f}M0 {mark + stem * 1.4:.1f}v.1" stroke="#FFFFFF"'
        f' stroke-width="1.7" stroke-linecap="round"/></g>'
    )


def svg(width: float, height: float, parts: Iterable[str], title: str, *, css: str = "") -> str:
    """A whole drawing, stand-alone and inline alike; it shrinks with its column."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
        f' height="{height:.0f}" role="img" aria-label={quoteattr(title)} font-family="{FONT}"'
        f" style=\"font-feature-settings:'tnum';max-width:100%;height:auto\">"
        f"<title>{escape(title)}</title><defs>{pattern_definitions()}{css}</defs>{''.join(parts)}</svg>"
    )

"""The width of text in the bundled Inter, read from the font itself, since pictures are laid out without a window."""

import struct
from functools import cache, lru_cache
from importlib.resources import files

_FACES = {400: "Regular", 500: "Medium", 600: "SemiBold", 700: "Bold"}


@lru_cache(maxsize=4096)
def text_width(words: str, size: float, weight: int = 400) -> float:
    """The width (pixels) of a line at a font size in pixels, without kerning; unknown characters are as wide as an
    `n`."""
    advances = _advances(weight)
    usual = advances.get(ord("n"), 0.6)
    return size * sum(advances.get(ord(letter), usual) for letter in words)


@cache
def _advances(weight: int) -> dict[int, float]:
    """Each character's advance in ems, from the tables cmap (format 4), hhea and hmtx of OpenType."""
    data = files("workbench.resources").joinpath("fonts", f"Inter-{_FACES[weight]}.ttf").read_bytes()
    tables = {
        data[at : at + 4]: struct.unpack_from(">L", data, at + 8)[0]
        for at in range(12, 12 + 16 * struct.unpack_from(">H", data, 4)[0], 16)
    }
    (em,) = struct.unpack_from(">H", data, tables[b"head"] + 18)
    (measured,) = struct.unpack_from(">H", data, tables[b"hhea"] + 34)
    widths = struct.unpack_from(">" + "Hh" * measured, data, tables[b"hmtx"])[::2]
    glyphs = _glyphs(data, tables[b"cmap"])
    return {code: widths[min(glyph, measured - 1)] / em for code, glyph in glyphs.items()}


def _glyphs(data: bytes, cmap: int) -> dict[int, int]:
    """Glyph numbers by character of the map's first subtable of format 4."""
    (count,) = struct.unpack_from(">H", data, cmap + 2)
    offsets = [cmap + struct.unpack_from(">HHL", data, cmap + 4 + 8 * n)[2] for n in range(count)]
    start = next(at for at in offsets if struct.unpack_from(">H", data, at)[0] == 4)
    segments = struct.unpack_from(">H", data, start + 6)[0] // 2
    ends = struct.unpack_from(f">{segments}H", data, start + 14)
    begins, shifts, places = (
        struct.unpack_from(f">{segments}H", data, start + 16 + 2 * segments * n) for n in (1, 2, 3)
    )
    glyphs = {}
    for n, (begin, end, shift, place) in enumerate(zip(begins, ends, shifts, places, strict=True)):
        for code in range(begin, min(end, 0xFFFE) + 1):
            glyph = code
            if place:
                at = start + 16 + 6 * segments + 2 * n + place + 2 * (code - begin)
                (glyph,) = struct.unpack_from(">H", data, at)
            glyphs[code] = (glyph + shift) & 0xFFFF
    return glyphs

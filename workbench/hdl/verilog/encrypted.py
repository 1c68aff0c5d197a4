"""Parts of sources that vendors have encrypted (IEEE 1735's `pragma protect`, and `protected before it)."""

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.api.source.lines import Lines, source_bytes
from workbench.model.diagnostic import Diagnostic

_PART = re.compile(
    rb"^[ \t]*`(?:pragma[ \t]+)?protect[ \t]+begin_protected\b.*?"  # in VHDL without "pragma"
    rb"(?:^[ \t]*`(?:pragma[ \t]+)?protect[ \t]+end_protected\b|\Z)"
    rb"|^[ \t]*`protected\b.*?(?:^[ \t]*`endprotected\b|\Z)",
    re.DOTALL | re.MULTILINE,
)
_PACKED = "this file is not text: it may be encrypted or packed, so that only its vendor's tools can read it"
_FOLLOWS = "the rest is encrypted: only its vendor's tools can read it"
_INSTEAD = "Take the file out of the hardware sources, and add a model of its modules, or just their ports."
_WIDE = "this file is UTF-16, which is not read"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_UNKNOWN = "unknown module '"


def reported_once(
    root: Path, sources: Sequence[Path], lines: Lines, problems: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """The diagnostics, those within one encrypted part as one at its begin. A module that is not known may stand in
    such a part of the `sources`: that is said."""
    known: dict[str, list[tuple[int, int]]] = {}
    seen: set[tuple[str, int]] = set()
    for one in problems:
        if one.file is None or one.line is None:
            yield one
            continue
        if one.file not in known:
            known[one.file] = list(_parts(root / one.file, lines))
        first = next((first for first, last in known[one.file] if first <= one.line <= last), 0)
        if not first:
            yield _with_hint(one, sources) if one.message.startswith(_UNKNOWN) else one
        elif (one.file, first) not in seen:
            seen.add((one.file, first))
            packed = _is_packed(source_bytes(root / one.file))
            message = _PACKED if packed else _FOLLOWS
            yield replace(one, message=message, hint=_INSTEAD, line=first, column=1)


def no_text(data: bytes, file: str) -> Diagnostic | None:
    """The error that a source is no text, for languages whose readers do not tell."""
    zeros = data[:200].count(b"\0")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or 3 * zeros > len(data[:200]):
        return Diagnostic(_WIDE, "Save it as UTF-8 or Latin-1.", file=file, line=1)
    return Diagnostic(_PACKED, _INSTEAD, file=file, line=1) if _is_packed(data) else None


def encrypted(data: bytes, file: str) -> Diagnostic | None:
    """The diagnostic of a source's first encrypted part, for languages whose readers do not report it."""
    if (begin := _PART.search(data)) is None:
        return None
    return Diagnostic(_FOLLOWS, _INSTEAD, file=file, line=data.count(b"\n", 0, begin.start()) + 1)


def may_be_in(name: str) -> str:
    """The hint for what is not known, where a source of this name is encrypted."""
    return f"It may be in the encrypted part of {name}: add a model of it, or just its ports."


def _parts(path: Path, lines: Lines) -> Iterator[tuple[int, int]]:
    """The first line of each encrypted part, and the last that the parser may stumble over for its sake; all of a file
    that is no text."""
    if _is_packed(source_bytes(path)):
        yield 1, len(lines.starts(path)) + 1
        return
    for part in _PART.finditer(source_bytes(path)):
        starts = lines.starts(path)
        yield bisect_right(starts, part.start()), bisect_right(starts, part.end()) + 1


def _is_packed(data: bytes) -> bool:
    """Whether a file is no text: of fifty bytes one has no place in any. UTF-16 and a stray byte have words of their
    own."""
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return not wide and 50 * len(_CONTROL.findall(data)) > len(data)


def _with_hint(one: Diagnostic, sources: Sequence[Path]) -> Diagnostic:
    for path in sources:
        data = source_bytes(path)
        if _is_packed(data) or _PART.search(data):
            return replace(one, hint=may_be_in(path.name))
    return one

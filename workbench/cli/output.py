"""What commands print: one JSON document or lines on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable
from typing import Any

from workbench.model.diagnostic import Diagnostic, has_errors

DONE, FAILED, BAD_INPUT, CANCELLED = 0, 1, 2, 130


def print_json(document: Any) -> None:
    """One JSON document; NaN and infinities, which JSON lacks, become null."""
    json.dump(_plain(document), sys.stdout, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        print(visible(diagnostic.text()), file=sys.stderr)


def visible(text: str) -> str:
    """A program's text with control characters as escapes, so that it cannot steer the terminal."""
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode() for sign in text
    )


def as_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, object]]:
    return [d.as_json() for d in diagnostics]


def print_checked(arguments: argparse.Namespace, problems: tuple[Diagnostic, ...], **more: object) -> int:
    """What a check of `arguments.file` found, with `more` in its JSON document; gives the exit code."""
    if arguments.json:
        print_json({"file": str(arguments.file), **more, "diagnostics": as_json(problems)})
    else:
        print_diagnostics(problems)
        if not problems:
            print(f"{arguments.file}: no problems")
    return FAILED if has_errors(problems) else DONE


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows as aligned columns."""
    kept = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*kept, strict=True)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in kept)

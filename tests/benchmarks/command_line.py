"""The command line that all benchmarks have."""

import argparse
import json
from collections.abc import Iterator
from typing import Any


def command(about: str | None, quick: str = "a smaller version") -> argparse.ArgumentParser:
    """A parser with `--json` and `--quick`, described by the script's docstring; `quick` says what the latter does."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--quick", action="store_true", help=quick)
    return parser


def show(document: Any, as_json: bool) -> None:
    """Print a benchmark's result: one JSON document, or a line for each figure and each row."""
    if as_json:
        print(json.dumps(document, indent=1))
        return
    print(*_lines("", document), sep="\n")


def _lines(name: str, value: Any) -> Iterator[str]:
    """A line for each row of a list, each dictionary of figures alone, and each other figure."""
    if isinstance(value, list):
        for one in value:
            yield _row(one) if isinstance(one, dict) else f"{name}  {_text(one)}"
    elif not isinstance(value, dict):
        yield f"{name}  {_text(value)}"
    elif name and not any(isinstance(one, dict) for one in value.values()):
        yield f"{name}  {_row(value)}"
    else:
        for key, one in value.items():
            yield from _lines(f"{name} {key}".strip(), one)


def _row(row: dict[str, Any]) -> str:
    return "  ".join(f"{key} {_text(one)}" for key, one in row.items())


def _text(value: Any) -> str:
    return (f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}") if isinstance(value, float) else str(value)

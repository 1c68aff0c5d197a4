"""What commands print: one JSON document or lines on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO

from workbench.model.diagnostic import Diagnostic, has_errors

if TYPE_CHECKING:
    from workbench.model.scan import CallSite
    from workbench.session.program.plugins import Plugins

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")

_NOT_ASCII = re.compile("[^ -~\n]")
#: What represents a character where a terminal has none but ASCII.
_IN_ASCII = str.maketrans({"\u202f": " ", "\xa0": " ", "×": "x", "µ": "u", "→": "->", "≤": "<=", "≥": ">=", "−": "-",
                           "–": "-", "…": "...", "±": "+-", "·": "*", "²": "^2"})  # fmt: skip

DONE, FAILED, BAD_INPUT, CANCELLED = 0, 1, 2, 130


def print_json(document: Any) -> None:
    """One JSON document; NaN and infinities, which JSON lacks, become null."""
    text = json.dumps(_plain(document), indent=1, ensure_ascii=False, allow_nan=False)
    stream = getattr(sys.stdout, "document", sys.stdout)
    unsafe = _STEERING if _can_show(text, stream) else _NOT_ASCII
    stream.write(unsafe.sub(lambda sign: json.dumps(sign[0])[1:-1], text) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def loaded_plugins() -> Plugins:
    """What plugins bring; those that could not be loaded are reported on stderr."""
    from workbench.session.program.plugins import load_plugins  # not where a command does without

    plugins = load_plugins()
    print_diagnostics(plugins.problems)
    return plugins


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        print(diagnostic.text(), file=sys.stderr)


def visible(text: str) -> str:
    """A text with control characters, marks of writing direction and halves of characters as escapes, so that it cannot
    steer the terminal."""
    return _STEERING.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)


def _can_show(text: str, stream: TextIO) -> bool:
    """Whether a stream's encoding has every character; that of the C locale has 128."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8", "surrogatepass")
    except UnicodeEncodeError:
        return False
    return True


class VisibleStream:
    """A stream to a terminal on which everything is visible, whoever wrote it. `terminal` is the stream itself."""

    def __init__(self, terminal: TextIO) -> None:
        self.terminal = terminal

    def write(self, text: str) -> int:
        shown = visible(text)
        if not _can_show(shown, self.terminal):
            shown = shown.translate(_IN_ASCII).encode("ascii", "backslashreplace").decode()
        self.terminal.write(shown)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.terminal, name)


class _Aside(VisibleStream):
    """Standard error in the place of standard output, which is `document`."""

    def __init__(self, terminal: TextIO, document: TextIO) -> None:
        super().__init__(terminal)
        self.document = document


@contextmanager
def document_alone() -> Iterator[None]:
    """While a command answers in JSON, what anything else prints, a plugin too, goes to stderr."""
    with redirect_stdout(_Aside(sys.stderr, sys.stdout)):
        yield


def as_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, object]]:
    return [d.as_json() for d in diagnostics]


def call_json(call: CallSite) -> dict[str, object]:
    return {
        "file": call.file,
        "line": call.line,
        "column": call.column,
        "callee": call.callee,
        "kind": call.kind,
        "entry": call.entry,
        "pragma": call.pragmas[0].pragma.name if call.pragmas else None,
    }


def print_checked(arguments: argparse.Namespace, problems: tuple[Diagnostic, ...], **more: object) -> int:
    """What a check of `arguments.file` found, with `more` in its JSON document; gives the exit code."""
    if arguments.json:
        print_json({"file": str(arguments.file), **more, "diagnostics": as_json(problems)})
    else:
        print_diagnostics(problems)
        if not problems:
            print(f"{arguments.file}: no problems")
    return FAILED if has_errors(problems) else DONE

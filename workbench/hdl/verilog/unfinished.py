"""Finds a file that ends inside a construct; slang reads all files as one text, and reports it in a later file."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyslang
from pyslang import syntax

from workbench.api.source.lines import Lines, source_bytes
from workbench.hdl.verilog.order import source_manager
from workbench.model.diagnostic import Diagnostic

_NOTHING = re.compile(rb"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_HINT = "The file ends here: what it begins has no end."


def reported_at_ends(
    sources: Sequence[Path], needed: int, bag: Any, lines: Lines, shown: Callable[[Path], str],
    problems: tuple[Diagnostic, ...],
) -> tuple[Diagnostic, ...]:  # fmt: skip
    """What is wrong, `problems` in the sources as they follow each other, those that are `needed` first. Where the
    first of these that cannot be read is at its end, that is reported there, and not what it leads to in those that
    follow."""
    names = [shown(path) for path in sources]
    if not any(one.file in names[1:] for one in problems):
        return problems
    known: dict[int, list[tuple[int, str]]] = {}

    def errors(count: int) -> list[tuple[int, str]]:
        if count not in known:
            known[count] = list(_errors(sources[:count], bag))
        return known[count]

    count = bisect_left(range(1, needed + 1), True, key=lambda number: bool(errors(number))) + 1
    if count > needed or count == len(sources):
        return problems
    path = sources[count - 1]
    data = source_bytes(path)
    ended = [(offset, said) for offset, said in errors(count) if offset >= 0 and _NOTHING.fullmatch(data, offset)]
    if not ended:
        return problems
    line, column = lines.place(path, ended[0][0])
    own = Diagnostic(ended[0][1], _HINT, file=names[count - 1], line=line, column=column)
    left = (one for one in problems if one.file not in names[count:] and (one.file, one.line) != (own.file, line))
    return (*left, own)


def _errors(sources: Sequence[Path], bag: Any) -> Iterator[tuple[int, str]]:
    """The errors of syntax in these files: the offset in the last of them, or -1, and what slang says."""
    manager = source_manager(sources)
    tree = syntax.SyntaxTree.fromFiles([str(path) for path in sources], manager, bag)
    engine = pyslang.DiagnosticEngine(manager)
    for one in tree.diagnostics:
        if one.isError():
            place = manager.getFullyExpandedLoc(one.location)
            here = Path(manager.getFullPath(place.buffer)) == sources[-1]
            yield place.offset if here else -1, engine.formatMessage(one)

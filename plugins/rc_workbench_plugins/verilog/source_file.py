"""A source file's bytes, and the pragmas in it that are part of the design as it is built."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyslang import parsing, syntax

from rc_workbench_plugins.verilog.design import Design, Node
from workbench.api.source.lines import line_starts, source_bytes
from workbench.api.source.pragma_text import Style, find_pragmas
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.pragma import PlacedPragma


@dataclass
class SourceFile:
    """A source file's bytes and pragmas; `used` are the pragmas that some branch took."""

    path: Path
    data: bytes
    starts: list[int]
    pragmas: list[tuple[int, PlacedPragma]]
    used: set[int] = field(default_factory=set)

    def line_start(self, line: int) -> int:
        return self.starts[line - 1]

    def indent(self, line: int) -> int:
        start = self.line_start(line)
        rest = self.data[start : start + 1000]
        return len(rest) - len(rest.lstrip(b" \t")) + 1

    def column(self, offset: int, line: int) -> int:
        """An offset's column in characters, from 1."""
        return len(self.data[self.line_start(line) : offset].decode("utf-8", errors="replace")) + 1

    def begins_line(self, offset: int, line: int) -> bool:
        return not self.data[self.line_start(line) : offset].strip()

    def stray(self, block: str = "always block", cases: str = "a case item") -> Iterator[Diagnostic]:
        """A warning for each pragma that no branch took."""
        for number, (_, placed) in enumerate(self.pragmas):
            if number not in self.used:
                name = placed.pragma.name
                yield Diagnostic(
                    f"the pragma '{name}' stands before no branch of a clocked {block}, and is not used",
                    f"Move it directly before the first statement of an if or else arm, {cases} or the whole block.",
                    Severity.WARNING,
                    placed.file,
                    placed.line,
                    placed.column,
                )


def read_sources(design: Design) -> tuple[dict[Path, SourceFile], tuple[Diagnostic, ...]]:
    """Every source file of the design, and what is wrong with the text of its pragmas."""
    sources: dict[Path, SourceFile] = {}
    diagnostics: list[Diagnostic] = []
    for path in design.sources:
        sources[path], problems = read_pragmas(path, source_bytes(path), "verilog", design.name_of(path))
        diagnostics += problems
    if any(source.pragmas and b"`if" in source.data for source in sources.values()):
        for path, ranges in _disabled_ranges(design).items():
            if path in sources:
                kept = [p for p in sources[path].pragmas if not any(start <= p[0] < end for start, end in ranges)]
                sources[path].pragmas = kept
    return sources, tuple(diagnostics)


def read_pragmas(path: Path, data: bytes, style: Style, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    """A file's pragmas, and what is wrong with their text. `name` is what the file is called to people."""
    starts = line_starts(data)
    found, problems = find_pragmas(data.decode("utf-8", errors="replace"), style, name)
    placed = [(starts[p.line - 1] + _byte_column(data, starts, p), p) for p in found]
    return SourceFile(path, data, starts, placed), problems


def _byte_column(data: bytes, starts: Sequence[int], placed: PlacedPragma) -> int:
    start = starts[placed.line - 1]
    line = data[start : starts[placed.line] if placed.line < len(starts) else len(data)]
    return len(line.decode("utf-8", errors="replace")[: placed.column - 1].encode())


def _disabled_ranges(design: Design) -> dict[Path, list[tuple[int, int]]]:
    """Byte ranges under a false `ifdef, `elsif or `else, by file."""
    found: dict[Path, list[tuple[int, int]]] = defaultdict(list)

    def look(item: Node) -> None:
        if not isinstance(item, parsing.Token):
            return
        for trivia in item.trivia:
            directive = trivia.syntax() if trivia.kind == parsing.TriviaKind.Directive else None
            conditional = syntax.ConditionalBranchDirectiveSyntax | syntax.UnconditionalBranchDirectiveSyntax
            if isinstance(directive, conditional) and directive.disabledTokens:
                place = directive.sourceRange
                path = Path(design.manager.getFullPath(place.start.buffer))
                found[path].append((int(place.start.offset), int(place.end.offset)))

    for unit in design.units:
        unit.root.visit(look)
    return found

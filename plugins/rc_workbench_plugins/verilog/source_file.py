"""A source file's bytes, and the pragmas in it that are part of the design as it is built."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyslang import parsing, syntax

from rc_workbench_plugins.verilog.design import Design, Node
from workbench.api.kept import ensure
from workbench.api.source.left_out import left_out, synthesised
from workbench.api.source.lines import line_starts, source_bytes
from workbench.api.source.pragma_text import Style, find_pragmas
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.pragma import PlacedPragma
from workbench.system.cache import cache_dir
from workbench.system.files import sha256

Kind = syntax.SyntaxKind
_CONDITIONALS = {
    Kind.IfDefDirective, Kind.IfNDefDirective, Kind.ElsIfDirective, Kind.ElseDirective, Kind.EndIfDirective,
}  # fmt: skip
_LEFT_OUT = (
    "is in text that synthesis leaves out (translate_off), and is not used",
    "Move it to a branch that becomes hardware.",
)
_INCLUDED = ("is in an included file, and is not used", "Move it to one of the hardware sources.")
_UNPROVED = (
    "is where SYNTHESIS is not defined: the simulated card counts there, and neither the proof nor an FPGA has it",
    "`hardware.defines: {SYNTHESIS: 1}` in the project reads the design as tools for FPGAs do.",
)


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
                    f"the pragma '{name}' is before no branch of a clocked {block}, and is not used",
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
    for path in design.files[len(design.sources) :]:
        included, problems = read_pragmas(path, source_bytes(path), "verilog", design.name_of(path))
        diagnostics += (*problems, *(_told(placed, _INCLUDED) for _, placed in included.pragmas))
    if any(source.pragmas and b"`if" in source.data for source in sources.values()):
        for path, ranges in _conditional(design).items():
            source = sources.get(path)
            if source is not None:
                source.pragmas = [p for p in source.pragmas if not _within(p[0], ranges.not_taken)]
                diagnostics += (_told(p, _UNPROVED) for at, p in source.pragmas if _within(at, ranges.unproved))
    return sources, tuple(diagnostics)


def read_pragmas(path: Path, data: bytes, style: Style, name: str) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    """A file's pragmas, and what is wrong with them. `name` is what the file is called to people."""
    starts = line_starts(data)
    found, problems = find_pragmas(data.decode("utf-8", errors="replace"), style, name)
    placed = [(starts[p.line - 1] + _byte_column(data, starts, p), p) for p in found]
    without = left_out(data, style) if placed else ()
    lost = [p for at, p in placed if _within(at, without)]
    told = [_told(p, _LEFT_OUT) for p in lost]
    kept = [(at, p) for at, p in placed if p not in lost]
    return SourceFile(path, data, starts, kept), (*problems, *told)


def as_synthesised(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The files as tools are given them: for one of which synthesis leaves something out a copy without that, which is
    kept with what else is cached."""
    return tuple(map(_as_synthesised, paths))


def _as_synthesised(path: Path) -> Path:
    data = path.read_bytes()
    if (kept := synthesised(data, "verilog")) is data:
        return path
    return ensure(cache_dir() / "verilog" / sha256(kept)[:32] / path.name, kept)


def _told(placed: PlacedPragma, words: tuple[str, str]) -> Diagnostic:
    what, hint = words
    return placed.diagnostic(f"the pragma '{placed.pragma.name}' {what}", hint)


def _within(offset: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in ranges)


def _byte_column(data: bytes, starts: Sequence[int], placed: PlacedPragma) -> int:
    start = starts[placed.line - 1]
    line = data[start : starts[placed.line] if placed.line < len(starts) else len(data)]
    return len(line.decode("utf-8", errors="replace")[: placed.column - 1].encode())


@dataclass
class _Conditional:
    """Byte ranges of a file: under an `ifdef, `elsif or `else that is not taken, and where SYNTHESIS is not defined."""

    not_taken: list[tuple[int, int]] = field(default_factory=list)
    unproved: list[tuple[int, int]] = field(default_factory=list)


def _conditional(design: Design) -> dict[Path, _Conditional]:
    found: dict[Path, _Conditional] = defaultdict(_Conditional)
    open_: list[tuple[bool, bool, int]] = []  # whether without SYNTHESIS: this part, those after it

    def look(item: Node) -> None:
        directive: Node
        for trivia in item.trivia if isinstance(item, parsing.Token) else ():
            directive = trivia.syntax() if trivia.kind == parsing.TriviaKind.Directive else None
            if directive is None or directive.kind not in _CONDITIONALS:
                continue
            place = directive.sourceRange
            of = found[Path(design.manager.getFullPath(place.start.buffer))]
            if getattr(directive, "disabledTokens", None):
                of.not_taken.append((int(place.start.offset), int(place.end.offset)))
            if directive.kind in (Kind.IfDefDirective, Kind.IfNDefDirective):
                of_it, negated = str(directive.expr).strip() == "SYNTHESIS", directive.kind == Kind.IfNDefDirective
                open_.append((of_it and negated, of_it and not negated, int(place.start.offset)))
            elif open_:
                without, after, start = open_.pop()
                if without:
                    of.unproved.append((start, int(place.start.offset)))
                if directive.kind != Kind.EndIfDirective:
                    open_.append((after, after, int(place.start.offset)))

    for unit in design.units:
        unit.root.visit(look)
    return found

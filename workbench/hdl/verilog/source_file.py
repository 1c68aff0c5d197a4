"""A source file's bytes, and the pragmas in it that are part of the design as it is built."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pyslang import parsing, syntax

from workbench.api.kept import ensure
from workbench.api.languages import VERILOG
from workbench.api.source.left_out import synthesised
from workbench.api.source.lines import source_bytes, typed_texts
from workbench.hdl.source_file import SourceFile, not_counted, read_pragmas, unused, within
from workbench.hdl.verilog.design import Design, Node
from workbench.hdl.verilog.order import plain_text
from workbench.model.diagnostic import Diagnostic
from workbench.system.cache import cache_dir
from workbench.system.files import real, sha256

Kind = syntax.SyntaxKind
_CONDITIONALS = {
    Kind.IfDefDirective, Kind.IfNDefDirective, Kind.ElsIfDirective, Kind.ElseDirective, Kind.EndIfDirective,
}  # fmt: skip
_INCLUDED = ("is in an included file, and is not used", "Move it to one of the hardware sources.")
_UNPROVED = (
    "is where SYNTHESIS is not defined: the simulated card counts there, and neither the proof nor an FPGA has it",
    "`hardware.defines: {SYNTHESIS: 1}` in the project reads the design as tools for FPGAs do.",
)


def read_sources(design: Design) -> tuple[dict[Path, SourceFile], tuple[Diagnostic, ...]]:
    """Every source file of the design, and what is wrong with the text of its pragmas."""
    sources: dict[Path, SourceFile] = {}
    diagnostics: list[Diagnostic] = []
    for path in design.sources:
        sources[path], problems = read_pragmas(path, source_bytes(path), VERILOG, design.name_of(path))
        diagnostics += problems
    for path in design.files[len(design.sources) :]:
        included, problems = read_pragmas(path, source_bytes(path), VERILOG, design.name_of(path))
        diagnostics += (*problems, *(unused(placed, _INCLUDED) for _, placed in included.pragmas))
        diagnostics += (not_counted(metric, *_INCLUDED) for _, metric in included.metrics)
    if any((source.pragmas or source.metrics) and b"`if" in source.data for source in sources.values()):
        for path, ranges in _conditional(design).items():
            source = sources.get(path)
            if source is not None:
                source.pragmas = [p for p in source.pragmas if not within(p[0], ranges.not_taken)]
                source.metrics = [m for m in source.metrics if not within(m[0], ranges.not_taken)]
                diagnostics += (unused(p, _UNPROVED) for at, p in source.pragmas if within(at, ranges.unproved))
    return sources, tuple(diagnostics)


def as_synthesised(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The files as tools are given them: for one of which synthesis leaves something out a copy without that, which is
    kept with what else is cached."""
    return tuple(map(_as_synthesised, paths))


def _as_synthesised(path: Path) -> Path:
    data = source_bytes(path)
    if (kept := synthesised(data, VERILOG)) is data and real(path) not in typed_texts():
        return path
    return ensure(cache_dir() / "verilog" / sha256(kept)[:32] / path.name, kept)


@dataclass
class _Conditional:
    """Byte ranges of a file: under an `ifdef, `elsif or `else that is not taken, and where SYNTHESIS is not defined."""

    not_taken: list[tuple[int, int]] = field(default_factory=list)
    unproved: list[tuple[int, int]] = field(default_factory=list)


def _conditional(design: Design) -> dict[Path, _Conditional]:
    of_file: dict[Path, _Conditional] = defaultdict(_Conditional)
    open_: list[tuple[bool, bool, int]] = []  # whether without SYNTHESIS: this part, those after it

    def look(item: Node) -> None:
        directive: Node
        for trivia in item.trivia if isinstance(item, parsing.Token) else ():
            directive = trivia.syntax() if trivia.kind == parsing.TriviaKind.Directive else None
            if directive is None or directive.kind not in _CONDITIONALS:
                continue
            place = directive.sourceRange
            of = of_file[Path(design.manager.getFullPath(place.start.buffer))]
            if getattr(directive, "disabledTokens", None):
                of.not_taken.append((int(place.start.offset), int(place.end.offset)))
            if directive.kind in (Kind.IfDefDirective, Kind.IfNDefDirective):
                of_it, negated = plain_text(str(directive.expr)) == "SYNTHESIS", directive.kind == Kind.IfNDefDirective
                open_.append((of_it and negated, of_it and not negated, int(place.start.offset)))
            elif open_:
                without, after, start = open_.pop()
                if without:
                    of.unproved.append((start, int(place.start.offset)))
                if directive.kind != Kind.EndIfDirective:
                    open_.append((after, after, int(place.start.offset)))

    for unit in design.units:
        unit.root.visit(look)
    return of_file

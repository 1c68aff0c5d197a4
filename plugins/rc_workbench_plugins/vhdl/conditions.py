"""Lets GHDL read each pragma's condition at its process: a wrong one is reported before anything is built."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rc_workbench_plugins.vhdl.blocks import SourceBlock
from rc_workbench_plugins.vhdl.design import Design
from rc_workbench_plugins.vhdl.elaborate import Text, analysed
from rc_workbench_plugins.vhdl.metrics import MetricBlock, anchor_of, asked
from rc_workbench_plugins.vhdl.syntax import matches, plain, text_of
from workbench.api import Diagnostic, Job, PlacedPragma, Severity, WorkbenchError
from workbench.api.unstable import did_you_mean
from workbench.hdl.instances import Instance, Key, keys_in
from workbench.hdl.metrics import PlacedMetric

CONDITION_HINT = "Write a VHDL expression over signals of this architecture, such as ack = '1'."
_WORD = re.compile(r'"(?:[^"]|"")*"|\'.\'|--|[();]')
_UNKNOWN = re.compile(r'no declaration for "([^"]+)"')
_NAMES = "(identifier_list (identifier) @n) (enumeration_literal (identifier) @n)"


@dataclass(frozen=True)
class _Put:
    """A condition as it is put into its file: in a line, from a column on."""

    placed: PlacedPragma | PlacedMetric
    block: SourceBlock | MetricBlock
    line: int
    column: int
    text: str


def check_conditions(
    design: Design,
    blocks: Iterable[SourceBlock | MetricBlock],
    top: Instance | None,
    why_not: Mapping[Key, str],
    job: Job,
) -> Iterator[Diagnostic]:
    """A diagnostic for each condition that is no expression, or names what its process does not know: an error where
    the process is observed, else a warning."""
    reached = keys_in(top)
    put: dict[int, list[_Put]] = {}
    parts: dict[int, list[tuple[int, str]]] = {}
    numbers = {str(file.path): file for file in design.files}
    for block in blocks:
        file = numbers[block.key[0]]
        known = anchor_of(block).key in reached
        for placed, condition, at, text in _asked(block):
            severity = Severity.ERROR if known and block.key not in why_not else Severity.WARNING
            if not _closed(condition):
                yield _wrong(placed, "this is not an expression", CONDITION_HINT, severity)
            elif known:
                line = file.line(at)
                before = sum(
                    len(other)
                    for place, other in parts.get(file.number, ())
                    if file.line(place) == line and place <= at
                )
                parts.setdefault(file.number, []).append((at, text))
                column = at - file.starts[line - 1] + before + 1
                put.setdefault(file.number, []).append(_Put(placed, block, line, column, text))
    if not put or design.top is None:
        return
    texts = [Text(f.number, f.library, _with(f.data, parts.get(f.number, ()))) for f in design.needed]
    try:
        said = analysed(texts, design.standard, plain(design.top.name), design.top.library, job)
    except WorkbenchError as error:
        yield from error.diagnostics
        return
    reported: set[PlacedPragma | PlacedMetric] = set()
    for number, line, column, text in said.errors:
        for one in put.get(number, ()):
            if one.line == line and one.column <= column <= one.column + len(one.text) and one.placed not in reported:
                reported.add(one.placed)
                severity = Severity.WARNING if one.block.key in why_not else Severity.ERROR
                unknown = _UNKNOWN.search(text)
                what = f"there is no '{unknown[1]}' here" if unknown else text
                hint = _meant(unknown[1], one.block) if unknown else CONDITION_HINT
                yield _wrong(one.placed, what, hint, severity)


def _asked(block: SourceBlock | MetricBlock) -> Iterator[tuple[PlacedPragma | PlacedMetric, str, int, str]]:
    """Each condition of a block: its mark, itself, and where which text is put that asks for it."""
    if isinstance(block, MetricBlock):
        region = anchor_of(block).region
        if block.placed is not None and region is not None:
            for condition, text in asked(block):
                yield block.placed, condition, region.statements_at, text
        return
    for arm in block.arms:
        for placed in () if arm.in_reset else arm.pragmas:
            if placed.pragma.condition:
                text = f" if ({placed.pragma.condition}) then null; end if;"
                yield placed, placed.pragma.condition, arm.at, text


def _wrong(placed: PlacedPragma | PlacedMetric, what: str, hint: str, severity: Severity) -> Diagnostic:
    return placed.diagnostic(f"{placed.title} is wrong: {what}", hint, severity)


def _closed(condition: str) -> bool:
    """Whether a text may be an expression: all its parentheses are closed, and nothing ends it."""
    level = 0
    for word in _WORD.findall(condition):
        level += {"(": 1, ")": -1}.get(word, 0)
        if level < 0 or word in (";", "--"):
            return False
    return level == 0 and bool(condition.strip())


def _with(data: bytes, parts: Iterable[tuple[int, str]]) -> bytes:
    for at, text in sorted(parts, key=lambda part: part[0])[::-1]:  # those at one place in their order
        data = data[:at] + text.encode() + data[at:]
    return data


def _meant(name: str, block: SourceBlock | MetricBlock) -> str:
    root = block.node
    while root.parent is not None:
        root = root.parent
    return did_you_mean(name, {text_of(one) for one in matches(root, _NAMES)}) or CONDITION_HINT

"""A design written into a kernel's source: attributes, pragmas, and arrays kept in local or private memory.

Only what leaves the results as they are is written as code. What else a design asks for is named with its reason (an
array's layout and type are the host's too) and written as the workbench's own pragma, so that the copy says it all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rc_workbench_plugins.opencl.compile import kernel_head
from rc_workbench_plugins.opencl.kernel import Argument, Kernel, Loop, Node, Space, Way, walk
from rc_workbench_plugins.opencl.model import Setting
from rc_workbench_plugins.opencl.optimisations import COALESCED, LOCAL, PRIVATE, VECTOR, Change

_SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma\b[^\n]*\n")
_UNROLL = re.compile(r"#[ \t]*pragma[ \t]+unroll\b[^\n]*")
_OPERATOR = re.compile(r'_Pragma\s*\(\s*"unroll\b[^"]*"\s*\)\s*$')
#: what a copy of an array may take in local memory, and in each work item's private memory
_NEAR = {LOCAL: 64 << 10, PRIVATE: 256}


@dataclass(frozen=True)
class Rewritten:
    """The source's new text, what was written into it, and what was not, each with its reason. `kept` are the changes
    of arrays among the latter, `fields` the factors, as a model's document has them, loops by their names in the new
    text."""

    text: str
    done: tuple[str, ...]
    left: tuple[str, ...]
    kept: tuple[Change, ...]
    fields: Mapping[str, float | Mapping[str, float]]


@dataclass(frozen=True)
class _Edit:
    """The text from `start` to `end` replaced."""

    start: int
    end: int
    text: str
    said: str


@dataclass(frozen=True)
class _Left:
    """A factor that the text has no place for: a loop's by its name, or one of the kernel's."""

    name: str
    factor: float
    reason: str


@dataclass(frozen=True)
class Wanted:
    """What is asked of a source: how it is replicated, changes of its arrays that it does not ask for itself, a group's
    size, and how many elements each buffer has."""

    setting: Setting
    changes: tuple[Change, ...]
    local_size: tuple[int, ...]
    elements: Mapping[str, int]


def rewritten(text: str, kernel: Kernel, root: Node, wanted: Wanted) -> Rewritten:
    """The source with a design written into the kernel, as far as that can be done."""
    code = _DIRECTIVE.sub(_blank, _SILENT.sub(_blank, text))
    edits: list[_Edit] = []
    left: list[str] = []
    kept: list[Change] = []
    fields: dict[str, float] = {}
    for found in (*_replicated(code, kernel, wanted), *_unrolled(text, code, root, wanted.setting)):
        if isinstance(found, _Edit):
            edits.append(found)
        else:
            left.append(found.reason)
            fields[found.name] = found.factor
    copies = 0
    for change in wanted.changes:
        near = _kept_near(code, kernel, change, wanted) if change.what in _NEAR else _NOT_WRITTEN[change.what]
        if isinstance(near, str):
            left.append(f"{change}: {near}")
            kept.append(change)
        else:
            edits += near
            copies += 1
    edits += _pragmas(text, kernel, kept)
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    done = dict.fromkeys(edit.said for edit in sorted(edits, key=lambda edit: edit.start) if edit.said)
    return Rewritten(text, tuple(done), tuple(left), tuple(kept), _fields(fields, copies))


def _fields(factors: Mapping[str, float], copies: int) -> dict[str, float | Mapping[str, float]]:
    """Factors as a model has them: each array's copy begins with a loop of its own, so that the others' names move."""
    fields: dict[str, float | Mapping[str, float]] = {n: f for n, f in factors.items() if n in _ATTRIBUTES}
    loops = {f"L{int(name[1:]) + copies}": factor for name, factor in factors.items() if name not in fields}
    return fields | ({"unroll": loops} if loops else {})


def _pragmas(text: str, kernel: Kernel, kept: Sequence[Change]) -> Iterator[_Edit]:
    """The workbench's own pragmas below the kernel's first line, for changes that are not code."""
    if kept:
        at = text.find("\n", _offset(text, kernel.line))
        at = len(text) if at < 0 else at
        yield _Edit(at, at, "".join(f"\n#pragma recap {change}" for change in kept), "")


_NOT_WRITTEN = {
    COALESCED: "the host fills this array, and must change its layout together with the kernel",
    VECTOR: "the argument gets another type, and each access another index",
}
_ATTRIBUTES = {"simd": "num_simd_work_items", "compute_units": "num_compute_units"}


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


# ---- attributes


def _replicated(code: str, kernel: Kernel, wanted: Wanted) -> Iterator[_Edit | _Left]:
    head = kernel_head(kernel.name, code)
    for field, name in _ATTRIBUTES.items():
        factor = float(getattr(wanted.setting, field))
        if factor == 1 and name not in kernel.attributes:
            continue
        if head is None:
            yield _Left(field, factor, f"{name}({factor:g}): a macro produces the kernel's head")
            continue
        if field == "simd" and wanted.local_size[0] % factor:
            reason = f"groups of {wanted.local_size[0]} work items are not a multiple of it"
            yield _Left(field, factor, f"{name}({factor:g}): {reason}")
            continue
        yield _attribute(head, name, f"{factor:g}")
        if field == "simd" and "reqd_work_group_size" not in kernel.attributes:
            size = (*wanted.local_size, 1, 1)[:3]
            yield _attribute(head, "reqd_work_group_size", ", ".join(map(str, size)))


def _attribute(head: re.Match[str], name: str, numbers: str) -> _Edit:
    said = f"{name}({numbers})"
    for group in ("before", "asked"):
        if (given := re.search(rf"\b{name}\s*\([^()]*\)", head[group])) is not None:
            start = head.start(group)
            return _Edit(start + given.start(), start + given.end(), said, said)
    at = head.start("asked")
    return _Edit(at, at, f" __attribute__(({said}))", said)


# ---- loops


def _unrolled(text: str, code: str, root: Node, setting: Setting) -> Iterator[_Edit | _Left]:
    by_line: dict[int, list[Loop]] = {}
    for node in walk(root):
        if isinstance(node, Loop):
            by_line.setdefault(node.lines[0], []).append(node)
    for line, loops in by_line.items():
        start = _offset(text, line)
        end = text.find("\n", start)
        tokens = list(_LOOP.finditer(code, start, len(text) if end < 0 else end)) if line else []
        known = len(tokens) == len(loops)  # the outer one stands first, as in the hierarchy
        reason = "a macro produces the loop, or a jump" if not tokens else "not every loop on that line is visible"
        for number, loop in enumerate(loops):
            factor = float(setting.unroll.get(loop.id, 1.0))
            if factor == 1 and loop.unroll is None:
                continue
            said = f"#pragma unroll {factor:g} of line {line}"
            if known:
                yield _pragma(text, start, tokens[number].start(), f"unroll {factor:g}", said, number > 0)
            else:
                yield _Left(loop.id, factor, f"{said}: {reason}")


def _pragma(text: str, start: int, at: int, asked: str, said: str, inside: bool) -> _Edit:
    """A pragma before a loop at `at`, on the line that begins at `start`; in place of the one that it has."""
    before = text[start:at]
    if inside or (before.strip() and not _UNROLL.search(before)):
        if given := _OPERATOR.search(before):
            return _Edit(start + given.start(), at, f'_Pragma("{asked}") ', said)
        return _Edit(at, at, f'_Pragma("{asked}") ', said)
    above = start
    while above > 0 and _PRAGMA.fullmatch(text, text.rfind("\n", 0, above - 1) + 1, above):
        above = text.rfind("\n", 0, above - 1) + 1
    if (given := _UNROLL.search(text, above, at)) is not None:
        return _Edit(given.start(), given.end(), f"#pragma {asked}", said)
    return _Edit(start, start, f"{before}#pragma {asked}\n", said)


def _offset(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return at


# ---- arrays


def _kept_near(code: str, kernel: Kernel, change: Change, wanted: Wanted) -> list[_Edit] | str:
    """An array that is only read, copied as the kernel begins, by each group into local memory or by each work item
    into its own; or why not."""
    name = change.object
    argument = next((a for a in kernel.arguments if a.name == name), None)
    head = re.search(rf"\b{re.escape(kernel.name)}\s*\(", code)
    opened = code.find("{", head.end()) if head else -1
    if argument is None or head is None or opened < 0:
        return "the source has no such kernel argument"
    if reason := _why_not_near(kernel, argument, wanted.elements.get(name, 0), change):
        return reason
    declared = re.search(rf"\b(\w+)\s*\*\s*(?:\w+\s+)*{re.escape(name)}\b", code[head.end() : opened])
    body = code[opened : _closing(code, opened)]
    uses = list(re.finditer(rf"\b{re.escape(name)}\b", body))
    near = f"{name}_near"
    if declared is None or not uses or not all(re.match(r"\s*\[", body[use.end() :]) for use in uses):
        return "the kernel also uses it without an index"
    if re.search(rf"\b{near}", code):
        return f"the source already has a name {near}"
    number = wanted.elements[name]
    copied = _group_copy if change.what == LOCAL else _own_copy
    said = f"{change}: {near}, all {number} elements, which the launch's buffer has"
    replaced = [_Edit(opened + use.start(), opened + use.end(), near, "") for use in uses]
    return [_Edit(opened + 1, opened + 1, copied(declared[1], name, number, len(wanted.local_size)), said), *replaced]


def _group_copy(kind: str, name: str, number: int, dimensions: int) -> str:
    item = " + ".join(
        " * ".join((f"get_local_id({n})", *(f"get_local_size({below})" for below in range(n))))
        for n in range(dimensions)
    )
    items = " * ".join(f"get_local_size({n})" for n in range(dimensions))
    near = f"{name}_near"
    at = f"{near}_i + {item}"  # the rounds are the same for all work items, so that SIMD takes the loop
    return (
        f"\n    __local {kind} {near}[{number}];"
        f"\n    for (uint {near}_i = 0; {near}_i < {number}; {near}_i += {items})"
        f"\n        if ({at} < {number})"
        f"\n            {near}[{at}] = {name}[{at}];"
        f"\n    barrier(CLK_LOCAL_MEM_FENCE);"
    )


def _own_copy(kind: str, name: str, number: int, dimensions: int) -> str:
    near = f"{name}_near"
    return (
        f"\n    {kind} {near}[{number}];"
        f"\n    for (uint {near}_i = 0; {near}_i < {number}; {near}_i++)"
        f"\n        {near}[{near}_i] = {name}[{near}_i];"
    )


def _why_not_near(kernel: Kernel, argument: Argument, elements: int, change: Change) -> str:
    accesses = [access for access in kernel.accesses if access.object == argument.name]
    if argument.type.space is not Space.GLOBAL or any(access.way is not Way.LOAD for access in accesses):
        return "the kernel writes it too"
    if not elements:
        return "the launch gives no number of elements for it"
    if (size := elements * argument.element_bytes) > _NEAR[change.what]:
        who = "a group" if change.what == LOCAL else "a work item"
        return f"its {size:,} bytes are more than {_NEAR[change.what]:,}, and the part that {who} needs is unknown"
    return ""


def _closing(code: str, opened: int) -> int:
    """Where the brace that is opened there is closed."""
    depth = 0
    for match in re.finditer(r"[{}]", code[opened:]):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return opened + match.end()
    return len(code)

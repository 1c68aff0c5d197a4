"""A design written into a kernel's source: attributes, pragmas, and arrays brought into local memory.

Only what leaves the results as they are is written. What else a design asks for is named with its reason: the array's
layout and type are the host's too, and what each work item keeps is not to be seen in the text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rc_workbench_plugins.opencl.kernel import Argument, Kernel, Loop, Node, Space, Way, walk
from rc_workbench_plugins.opencl.model import Setting
from rc_workbench_plugins.opencl.optimisations import COALESCED, LOCAL, PRIVATE, VECTOR, Change

_SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma\b[^\n]*\n")
_UNROLL = re.compile(r"#[ \t]*pragma[ \t]+unroll\b[^\n]*")
#: what a copy of an array in local memory may take
LOCAL_BYTES = 64 << 10


@dataclass(frozen=True)
class Rewritten:
    """The source's new text, what was written into it, and what was not, each with its reason; `kept` are the changes
    of arrays among the latter."""

    text: str
    done: tuple[str, ...]
    left: tuple[str, ...]
    kept: tuple[Change, ...]


@dataclass(frozen=True)
class _Edit:
    """The text from `start` to `end` replaced."""

    start: int
    end: int
    text: str
    said: str


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
    for found in (*_replicated(code, kernel, wanted), *_unrolled(text, code, root, wanted.setting)):
        if isinstance(found, _Edit):
            edits.append(found)
        else:
            left.append(found)
    for change in wanted.changes:
        made = _kept_local(code, kernel, change, wanted) if change.what == LOCAL else _NOT_WRITTEN[change.what]
        if isinstance(made, str):
            left.append(f"{change}: {made}")
            kept.append(change)
        else:
            edits += made
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    done = dict.fromkeys(edit.said for edit in sorted(edits, key=lambda edit: edit.start) if edit.said)
    return Rewritten(text, tuple(done), tuple(left), tuple(kept))


_NOT_WRITTEN = {
    COALESCED: "the host fills this array, and has to lay it out anew with the kernel",
    PRIVATE: "which elements each work item keeps is not to be seen in the text",
    VECTOR: "the argument gets another type, and each access another index",
}


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


# ---- attributes


def _replicated(code: str, kernel: Kernel, wanted: Wanted) -> Iterator[_Edit | str]:
    head = re.search(rf"\b(?:__)?kernel\b(?P<asked>[^;{{}}]*?)\b{re.escape(kernel.name)}\s*\(", code)
    factors = {
        "num_simd_work_items": float(wanted.setting.simd),
        "num_compute_units": float(wanted.setting.compute_units),
    }
    factors = {name: factor for name, factor in factors.items() if factor > 1 or name in kernel.attributes}
    if not factors:
        return
    if head is None:
        yield from (f"{name}({factor:g}): a macro makes the kernel's head" for name, factor in factors.items())
        return
    for name, factor in factors.items():
        if name == "num_simd_work_items" and wanted.local_size[0] % factor:
            yield f"{name}({factor:g}): groups of {wanted.local_size[0]} work items are no multiple of it"
            continue
        yield _attribute(head, name, f"{factor:g}")
        if name == "num_simd_work_items" and "reqd_work_group_size" not in kernel.attributes:
            size = (*wanted.local_size, 1, 1)[:3]
            yield _attribute(head, "reqd_work_group_size", ", ".join(map(str, size)))


def _attribute(head: re.Match[str], name: str, numbers: str) -> _Edit:
    said = f"{name}({numbers})"
    if (given := re.search(rf"\b{name}\s*\([^()]*\)", head["asked"])) is not None:
        start = head.start("asked")
        return _Edit(start + given.start(), start + given.end(), said, said)
    at = head.start("asked")
    return _Edit(at, at, f" __attribute__(({said}))", said)


# ---- loops


def _unrolled(text: str, code: str, root: Node, setting: Setting) -> Iterator[_Edit | str]:
    by_line: dict[int, list[Loop]] = {}
    for node in walk(root):
        if isinstance(node, Loop):
            by_line.setdefault(node.lines[0], []).append(node)
    for line, loops in by_line.items():
        factors = {float(setting.unroll.get(loop.id, 1.0)) for loop in loops}
        asked = any(loop.unroll is not None for loop in loops)
        if factors == {1.0} and not asked:
            continue
        yield _pragma(text, code, line, factors)


def _pragma(text: str, code: str, line: int, factors: set[float]) -> _Edit | str:
    factor = max(factors)
    said = f"#pragma unroll {factor:g}"
    start = _offset(text, line)
    end = text.find("\n", start)
    tokens = list(_LOOP.finditer(code, start, len(text) if end < 0 else end)) if line else []
    where = f"{said} of line {line}"
    if len(factors) > 1 or len(tokens) > 1:
        return f"{where}: several loops are on that line"
    if not tokens:
        return f"{where}: a macro makes the loop, or a jump"
    at = tokens[0].start()
    above = start
    while above > 0 and _PRAGMA.fullmatch(text, text.rfind("\n", 0, above - 1) + 1, above):
        above = text.rfind("\n", 0, above - 1) + 1
    if (given := _UNROLL.search(text, above, at)) is not None:
        return _Edit(given.start(), given.end(), said, where)
    before = text[start:at]
    indent = re.match(r"[ \t]*", before)
    assert indent is not None
    if before.strip():
        return _Edit(at, at, f"\n{said}\n{indent[0]}", where)
    return _Edit(start, start, f"{before}{said}\n", where)


def _offset(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return at


# ---- arrays


def _kept_local(code: str, kernel: Kernel, change: Change, wanted: Wanted) -> list[_Edit] | str:
    """An array that is only read, copied into local memory by each group as it begins; or why not."""
    name = change.object
    argument = next((a for a in kernel.arguments if a.name == name), None)
    head = re.search(rf"\b{re.escape(kernel.name)}\s*\(", code)
    opened = code.find("{", head.end()) if head else -1
    if argument is None or head is None or opened < 0:
        return "the text has no such argument of the kernel"
    if reason := _why_not_local(kernel, argument, wanted.elements.get(name, 0)):
        return reason
    declared = re.search(rf"\b(\w+)\s*\*\s*(?:\w+\s+)*{re.escape(name)}\b", code[head.end() : opened])
    body = code[opened : _closing(code, opened)]
    uses = list(re.finditer(rf"\b{re.escape(name)}\b", body))
    near = f"{name}_near"
    if declared is None or not uses or not all(re.match(r"\s*\[", body[use.end() :]) for use in uses):
        return "it is not accessed by its index alone"
    if re.search(rf"\b{near}", code):
        return f"the text has a name {near} already"
    number = wanted.elements[name]
    dimensions = range(len(wanted.local_size))
    item = " + ".join(
        " * ".join((f"get_local_id({n})", *(f"get_local_size({below})" for below in range(n)))) for n in dimensions
    )
    items = " * ".join(f"get_local_size({n})" for n in dimensions)
    at = f"{near}_i + {item}"  # the rounds are the same for all work items, so that SIMD takes the loop
    copied = (
        f"\n    __local {declared[1]} {near}[{number}];"
        f"\n    for (uint {near}_i = 0; {near}_i < {number}; {near}_i += {items})"
        f"\n        if ({at} < {number})"
        f"\n            {near}[{at}] = {name}[{at}];"
        f"\n    barrier(CLK_LOCAL_MEM_FENCE);"
    )
    said = f"{change}: {near}, all {number} elements, which the launch's buffer has"
    replaced = [_Edit(opened + use.start(), opened + use.end(), near, "") for use in uses]
    return [_Edit(opened + 1, opened + 1, copied, said), *replaced]


def _why_not_local(kernel: Kernel, argument: Argument, elements: int) -> str:
    accesses = [access for access in kernel.accesses if access.object == argument.name]
    if argument.type.space is not Space.GLOBAL or any(access.way is not Way.LOAD for access in accesses):
        return "the kernel writes it too"
    if not elements:
        return "the launch does not say how many elements it has"
    if (size := elements * argument.element_bytes) > LOCAL_BYTES:
        return f"its {size:,} bytes are more than {LOCAL_BYTES >> 10} KiB, and which part a group needs is not known"
    return ""


def _closing(code: str, opened: int) -> int:
    """Where the brace that is opened there is closed."""
    depth = 0
    for match in re.finditer(r"[{}]", code[opened:]):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return opened + match.end()
    return len(code)

"""Optimisations that a kernel's source asks for itself: `#pragma recap SM centres` in the kernel.

They are read as the model's document says them (`local_memory: [centres]`). UL is the compilers' own `#pragma unroll`;
SIMD and CU are the attributes num_simd_work_items and num_compute_units.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from rc_workbench_plugins.opencl.optimisations import VECTOR, WHATS, Change
from workbench.api import Diagnostic, WorkbenchError
from workbench.api.unstable import read_file

_PRAGMA = re.compile(r"^\s*#\s*pragma\s+recap\b(.*)$", re.MULTILINE)
_SAID = re.compile(r"([A-Z]+)(\d*)((?:\s+\w+)+)\s*(?://.*|/\*.*)?")
_FORM = "Write `#pragma recap SM array`, with SM, MC, PM, or VT4 and its width."


def annotated(source: Path, line: int, lines: Sequence[int]) -> tuple[Change, ...]:
    """The annotations of the kernel that begins on `line`; `lines` are where all kernels of the file begin.

    WorkbenchError for one that cannot be read.
    """
    text = read_file(source).decode("utf-8", "replace")
    after = min((other for other in lines if other > line), default=len(text) + 1)
    changes: list[Change] = []
    for match in _PRAGMA.finditer(text):
        at = text.count("\n", 0, match.start(1)) + 1
        if not line <= at < after:
            continue
        said = _SAID.fullmatch(match[1].strip())
        if said is None or said[1] not in WHATS or (said[1] == VECTOR) != bool(said[2]):
            raise WorkbenchError(Diagnostic("unknown annotation", _FORM, file=str(source), line=at))
        changes += [Change(said[1], name, int(said[2] or 1)) for name in said[3].split()]
    return tuple(changes)

"""Rewritten copies of source files: bytes are kept but for the edits, lines keep their numbers."""

import os
import re
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path

from rc_workbench_plugins.c.facts import Range
from rc_workbench_plugins.c.survey import Files
from rc_workbench_plugins.c.wrappers import escaped
from workbench.api.source.lines import line_starts

_INCLUDE = re.compile(rb'(\s*#\s*(?:include|import)\s*)("[^"\n]*"|<[^>\n]*>|[A-Za-z_]\w*)')
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Copies:
    """Edits gathered for the user's files, and where each one's copy goes."""

    def __init__(self, files: Files, out: Path, user_files: Iterable[Path]) -> None:
        self.files = files
        self.targets = {file: out / self._relative(file, n) for n, file in enumerate(user_files)}
        self.preambles: dict[Path, tuple[str, ...]] = {}
        self._edits: dict[Path, dict[int, tuple[int, bytes]]] = {}
        self._declared: dict[Path, dict[int, dict[str, None]]] = {}
        self._inserted: dict[Path, dict[int, list[tuple[int, bytes]]]] = {}
        self._lines: dict[Path, list[int]] = {}

    def target(self, file: Path) -> Path:
        return self.targets[file]

    def line_of(self, file: Path, offset: int) -> int:
        if file not in self._lines:
            self._lines[file] = line_starts(self.files.text(file))
        return bisect_right(self._lines[file], offset)

    def replace(self, file: Path, offset: int, length: int, text: str) -> None:
        if file in self.targets:
            self._edits.setdefault(file, {})[offset] = (length, text.encode("utf-8"))

    def before(self, part: Range, text: str) -> None:
        """Put text before a part of a file; that of a longer part that begins there comes first."""
        self._insert(part.file, part.start, part.start - part.end, text)

    def after(self, part: Range, text: str) -> None:
        """Put text after a part of a file; that of a shorter part that ends there comes first."""
        self._insert(part.file, part.end, part.end - part.start - (1 << 62), text)

    def _insert(self, file: Path, offset: int, order: int, text: str) -> None:
        if file in self.targets:
            self._inserted.setdefault(file, {}).setdefault(offset, []).append((order, text.encode("utf-8")))

    def declare(self, file: Path, offset: int, declaration: str) -> None:
        """Put a declaration before what stands at an offset, once."""
        if file in self.targets:
            self._declared.setdefault(file, {}).setdefault(offset, {})[declaration] = None

    def redirect(self, directive: Range, included: Path) -> None:
        """Make an #include name the copy of a user's file; one beside its includer, that file where it is."""
        match = _INCLUDE.match(self.files.text(directive.file), directive.start)
        if match is None or directive.file not in self.targets:
            return
        if included in self.targets:
            path = self.targets[included]
        elif match[2].startswith(b'"') and (directive.file.parent / os.fsdecode(match[2][1:-1])).resolve() == included:
            path = included
        else:
            return
        if path is not included:  # from one copy to the other, wherever they are
            path = Path(os.path.relpath(path, self.targets[directive.file].parent))
        self.replace(directive.file, match.start(2), len(match[2]), f'"{path}"')

    def rewritten(self, file: Path) -> tuple[bytes, int]:
        """A copy's bytes, and how many lines it has before the user's first."""
        data = self.files.text(file)
        preamble = [*self.preambles.get(file, ()), f'#line 1 "{escaped(str(file))}"']
        head = "".join(f"{line}\n" for line in preamble).encode()
        mark = data.startswith(_BYTE_ORDER_MARK)
        pieces, at = [_BYTE_ORDER_MARK if mark else b"", head], len(_BYTE_ORDER_MARK) if mark else 0
        edits = self._edits.get(file, {})
        declared = self._declared.get(file, {})
        inserted = self._inserted.get(file, {})
        for offset in sorted({*edits, *declared, *inserted}):
            pieces.append(data[at:offset])
            at = offset
            pieces += [text.encode() + b" " for text in declared.get(offset, ())]
            pieces += [text for _, text in sorted(inserted.get(offset, ()), key=lambda one: one[0])]
            if offset in edits:
                length, text = edits[offset]
                pieces.append(text)
                at = offset + length
        return b"".join([*pieces, data[at:]]), len(preamble)

    def write(self) -> None:
        for file, target in self.targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.rewritten(file)[0])

    def _relative(self, file: Path, number: int) -> Path:
        try:
            return file.relative_to(self.files.root)
        except ValueError:
            return Path(f"outside_{number}") / file.name

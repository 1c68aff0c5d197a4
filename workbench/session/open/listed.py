"""Collects the contents of HDL file lists while they are read."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from workbench.api.source.files import within
from workbench.model.application import VhdlStandard
from workbench.model.diagnostic import Diagnostic

DEPTH = 20  # lists that name lists
#: (vendor, library, name) of a core -> the cores of that name, with versions, and the cores that provide it.
Cores = dict[tuple[str, ...], tuple[list[tuple[str, Path]], list[Path]]]
Warn = Callable[[str, str], None]  # a message and its hint


@dataclass
class Listed:
    """The contents of file lists. `read` are the lists themselves, `problems` their unusable entries."""

    root: Path
    allowed: tuple[Path, ...]
    sources: dict[Path, None] = field(default_factory=dict)
    libraries: dict[str, list[Path]] = field(default_factory=dict)  # VHDL's, other than work
    include_dirs: dict[Path, None] = field(default_factory=dict)
    defines: dict[str, int | float | str] = field(default_factory=dict)
    parameters: dict[str, int | float | str] = field(default_factory=dict)
    vhdl_standards: set[VhdlStandard] = field(default_factory=set)  # of the files
    read: dict[Path, None] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    cores: Cores = field(default_factory=dict)  # all cores in allowed folders, read when the first is searched

    def source(self, path: Path, warn: Warn) -> None:
        folder = os.path.dirname(self._name(path))
        if self._usable(path, "file" if not os.path.isfile(path) else "", f"Add {folder} to `outside`.", warn):
            self.sources[path] = None

    def folder(self, path: Path, warn: Warn) -> bool:
        return self._usable(path, "folder" if not os.path.isdir(path) else "", "Add it to `outside`.", warn)

    def _usable(self, path: Path, lacking: str, outside_hint: str, warn: Warn) -> bool:
        """Whether the project may read this path; `lacking` names what does not exist."""
        if lacking:
            warn(f"there is no {lacking} '{self._name(path)}': it is left out", "")
        elif not within(path, self.allowed):
            warn(f"'{self._name(path)}' is not in the project: it is left out", outside_hint)
        else:
            return True
        return False

    def _name(self, path: Path) -> str:
        return os.path.relpath(path, self.root)


def value(text: str) -> int | str:
    """The value of a macro or a parameter."""
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text

"""What a person says of a project that is begun, and what is asked back: plain data, read without any schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Choice:
    """What a person may say instead of what is found; empty means to look for it."""

    name: str = ""
    top: str = ""  # a module's name, or its file
    platform: str = ""
    host: str = ""  # the file with main
    constants: Mapping[str, int] = field(default_factory=dict)  # values of inputs that nothing drives
    settings: Mapping[str, int | float | str] = field(default_factory=dict)  # of the host's macros
    defines: Mapping[str, int | float | str] = field(default_factory=dict)  # of the hardware's macros


@dataclass(frozen=True)
class UnknownApi:
    """An API that the host calls and no template describes: `calls` are the functions of `header` that it uses. `base`
    is a template of the folder's that has a board's ports or times and no calls yet."""

    header: Path
    calls: tuple[str, ...]
    base: Path | None = None

    @property
    def template(self) -> Path:
        """The file in the same folder that would describe it."""
        folder = self.base.parent if self.base else self.header.parent
        return folder / f"{self.header.stem}.yaml"

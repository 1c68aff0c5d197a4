"""What a person says of a project that is begun, and what is asked back: plain data, read without any schema."""

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
    """An API that the host calls and of which no template can be simulated: `calls` are those of its functions that it
    uses, `file` is what declares them. It would be described by `template`, begun from the template `of` (a name, a
    path or nothing) with the calls of `header`."""

    calls: tuple[str, ...]
    file: Path
    template: Path
    of: str = ""
    header: Path | None = None

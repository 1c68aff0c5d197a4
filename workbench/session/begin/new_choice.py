"""The user's choices for a new project, and the questions back, as plain data that need no schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: The hint of a value that no source gives; command line and window have ways of their own to give it.
GIVE_VALUE = "Give its value; until then it is 1."


@dataclass(frozen=True)
class Choice:
    """The user's choices for a new project; an empty field means that the value is searched."""

    name: str = ""
    top: str = ""  # a module's name, or its file
    platform: str = ""
    host: str = ""  # the file with main
    constants: Mapping[str, int] = field(default_factory=dict)  # values of inputs that nothing drives
    settings: Mapping[str, int | float | str] = field(default_factory=dict)  # of the host's macros
    defines: Mapping[str, int | float | str] = field(default_factory=dict)  # of the hardware's macros


@dataclass(frozen=True)
class UnknownApi:
    """An API that the host calls and that no template can simulate. `calls` are its called functions, `file` declares
    them. `template` would describe it, begun from the template `of` (a name, a path or nothing) with the calls of
    `header`."""

    calls: tuple[str, ...]
    file: Path
    template: Path
    of: str = ""
    header: Path | None = None

"""The user's choices for a new project, and the questions back, as plain data that need no schema."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, Severity

#: Hints of values that no source gives; command line and window have ways of their own to give them.
GIVE_VALUE = ("Give its value; until then it is 1.", "Give their values; until then each is 1.")


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


def unknown_values(names: Sequence[str], what: str = "") -> list[Diagnostic]:
    """One warning for all names, such as macros, that have no value; none where all have one."""
    if not names:
        return []
    *most, last = names
    said = f"the value of {what and f'the {what} '}{last} is not known"
    if most:
        said = f"the values of {what and f'the {what}s '}{', '.join(most)} and {last} are not known"
    return [Diagnostic(said, GIVE_VALUE[bool(most)], Severity.WARNING)]

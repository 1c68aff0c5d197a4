"""What measures a project's host while it runs on the simulated card: code of its own is compiled into the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workbench.system.process import ProcessResult


@dataclass(frozen=True)
class HostRegion:
    """What of a host is measured: a `function` by its name ("dot", "Filter::run"); of a `file` the function around the
    line `first`, or with `last` the lines up to there. `text` is how people say it."""

    text: str
    function: str = ""
    file: Path = Path()
    first: int = 0
    last: int = 0


@dataclass(frozen=True)
class MeasuredHost:
    """Whose host was measured: a model's `name` and `title`, and the `platform` that it names (empty: none)."""

    name: str
    title: str
    platform: str = ""


class HostProbe(Protocol):
    """Compiles a host's sources, and reads what they recorded as they ran.

    `sources` are C files that are linked to the program; `made_by` is what object files depend on besides the
    compiler's command.
    """

    sources: Sequence[Path]
    made_by: Sequence[str]

    def compile(self, command: Sequence[str], run: Callable[[Sequence[str | Path]], ProcessResult]) -> ProcessResult:
        """Do what a compiler's command asks for (one source to one object file) in steps of its own."""
        ...

    def take(self, records: Path) -> None:
        """Read what the program left in the folder of its records. WorkbenchError where that tells nothing."""
        ...

    def model(self, of: MeasuredHost) -> str:
        """The document of the model that was measured."""
        ...

"""What a line of code is doing, as its author says it (ReCAP 2011, section 4, Fig. 4)."""

from dataclasses import dataclass
from enum import StrEnum

from workbench.model.diagnostic import Diagnostic, Severity


class Category(StrEnum):
    """What a state is spent on (ReCAP 2011, section 4)."""

    WORK = "work"
    OVERHEAD = "overhead"
    SEND = "send"
    RECV = "recv"
    WAIT_SEND = "wait_send"
    WAIT_RECV = "wait_recv"


COMMUNICATION = (Category.SEND, Category.RECV)
WAITS = (Category.WAIT_SEND, Category.WAIT_RECV)

#: Name of the state that every block has at index 0, with no category: time that no pragma explains.
UNCLASSIFIED = "unclassified"

#: Special targets (section 4): the host processor, and memory outside the FPGA.
CPU = "$CPU"
MEM = "$MEM"


@dataclass(frozen=True)
class Pragma:
    """One pragma, without its comment style: `NAME CATEGORY(reasons, targets, messages): condition`.

    `condition` is text in the language of the file it is in; it is never evaluated here.
    """

    name: str
    category: Category
    reasons: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    condition: str | None = None


@dataclass(frozen=True)
class PlacedPragma:
    """A pragma and where it is: `line` and `column` count from 1, `column` at the comment's start."""

    pragma: Pragma
    file: str
    line: int
    column: int

    @property
    def title(self) -> str:
        """What is called wrong where its condition is."""
        return f"the condition of the pragma '{self.pragma.name}'"

    def diagnostic(self, message: str, hint: str, severity: Severity = Severity.WARNING) -> Diagnostic:
        """What is to be reported at its place."""
        return Diagnostic(message, hint, severity, self.file, self.line, self.column)

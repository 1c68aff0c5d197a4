"""Marks that can be proposed: a pragma, its place in a source, and why it may say what happens there."""

from dataclasses import dataclass

from workbench.model.pragma import Pragma


@dataclass(frozen=True)
class Proposal:
    """A pragma that a person may accept. It would be before `line`, at column `indent`, or where there is a `column`
    before what is from there on (as a branch's, `workbench.model.scan.Branch`).

    `id` is unique in the project and the same as long as the sources are; `group` is shared by those that are best
    accepted together: the states of one register, the branches of one block, the calls of one program.
    """

    id: str
    group: str
    file: str
    line: int
    indent: int
    pragma: Pragma
    why: str
    column: int = 0

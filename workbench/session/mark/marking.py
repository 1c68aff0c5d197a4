"""Accepts proposals: writes their pragmas into the user's sources, all or none, and removes them again.

The previous contents of the sources are kept in the user's state folder until the next time, so that the last pragmas
can be undone as long as nobody has changed the sources since.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from workbench.api.languages import Syntax, syntax_of
from workbench.api.source.edits import decode, encode, insert_pragmas
from workbench.model.diagnostic import Diagnostic, WorkbenchError, unknown_name
from workbench.model.links import link_words
from workbench.model.proposal import Proposal
from workbench.model.scan import ProjectScan
from workbench.session.mark.proposing import Outside, outside, proposals
from workbench.session.open.links import ends_at
from workbench.session.open.workspace import Workspace
from workbench.system.files import read_file, real, sha256, write_files
from workbench.system.folders import state_dir

ALL = "all"


def proposed(workspace: Workspace, scan: ProjectScan) -> tuple[Proposal, ...]:
    """The proposals for a project's own sources, by file and line."""
    styles = [kind.style for kind in workspace.port_kinds.values() if kind.style]
    root = real(workspace.root)
    return tuple(
        p for p in proposals(scan, workspace.platform, _around(workspace), styles)
        if syntax_of(p.file) and (path := real(workspace.root / p.file)).is_relative_to(root)
        and not workspace.is_made(path)
    )  # fmt: skip


def _around(workspace: Workspace) -> dict[str, Outside]:
    """The environment of the design in each FPGA."""
    if not workspace.own_designs:
        return {"": outside(workspace.platform, {})}
    hardware, board_of_place = (
        workspace.project.hardware,
        dict(zip(workspace.project.hardware.places, workspace.boards, strict=True)),
    )
    outsides = {}
    for place, board in board_of_place.items():
        alike = [name.rstrip(":") for name, other in board_of_place.items() if other is board]
        links: dict[str, tuple[str, str]] = {}
        for end in (end for name in alike for end in ends_at(hardware, name)):
            link = hardware.links[end.link]
            other = (link.target if end.side == "source" else link.source).partition(".")[0]
            target = f"{other}.{board_of_place[f'{other}:'].project.hardware.top}"
            targets = dict.fromkeys([*links.get(end.port, ("", ""))[0].split("|"), target])
            links[end.port] = ("|".join(filter(None, targets)), link_words(link.source.partition(".")[2]))
        outsides[place] = outside(board.platform, links)
    return outsides


def chosen_proposals(known: Sequence[Proposal], names: Iterable[str]) -> tuple[Proposal, ...]:
    """The proposals with these ids or groups; `all` means every one. WorkbenchError for an unknown name."""
    selected: dict[Proposal, None] = {}
    for name in names:
        matching = [p for p in known if name in (p.id, p.group, ALL)] if name != ALL else list(known)
        if not matching and name != ALL:
            raise WorkbenchError(unknown_name("proposal", name, [*(p.id for p in known), *(p.group for p in known)]))
        selected |= dict.fromkeys(matching)
    return tuple(p for p in known if p in selected)


def with_marks(text: str, syntax: Syntax, marks: Iterable[Proposal]) -> str:
    """A source's text with the pragmas of these proposals, all of which were made for this text."""
    order = sorted(marks, key=_place)
    for (line, column), several in reversed([(place, list(same)) for place, same in groupby(order, key=_place)]):
        text = insert_pragmas(text, line, several[0].indent, syntax, [p.pragma for p in several], column)
    return text


def _place(proposal: Proposal) -> tuple[int, int]:
    return proposal.line, proposal.column


def write_marks(workspace: Workspace, marks: Sequence[Proposal]) -> tuple[Path, ...]:
    """Write the pragmas into their sources, and keep the previous texts. On a WorkbenchError all sources stay
    unchanged."""
    before: dict[Path, bytes] = {}
    after: dict[Path, bytes] = {}
    for file in dict.fromkeys(p.file for p in marks):
        path, syntax = real(workspace.root / file), syntax_of(file)
        if syntax is not None:
            data = read_file(path)
            text = with_marks(decode(data), syntax, [p for p in marks if p.file == file])
            before[path], after[path] = data, encode(text, data)
    if after:
        _keep(workspace, before, after)
        write_files(after)
    return tuple(after)


def take_back(workspace: Workspace) -> tuple[Path, ...]:
    """Restore the sources to their texts before the last pragmas were written. WorkbenchError if there is nothing to
    undo, or a source was changed since."""
    record = _record(workspace)
    try:
        stored = json.loads(record.read_text("utf-8"))
        files = {Path(name): (bytes.fromhex(one["before"]), str(one["sha256"])) for name, one in stored.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        message = "this project has no accepted marks to undo"
        raise WorkbenchError(Diagnostic(message, "Only the last `workbench propose --accept` is kept.")) from None
    for path, (_, written) in files.items():
        if sha256(read_file(path)) != written:
            message = "this file was changed since the marks were written"
            raise WorkbenchError(
                Diagnostic(message, "Remove the pragmas by hand; nothing was written.", file=str(path))
            )
    write_files({path: data for path, (data, _) in files.items()})
    with suppress(OSError):
        record.unlink()
    return tuple(files)


def _keep(workspace: Workspace, before: Mapping[Path, bytes], after: Mapping[Path, bytes]) -> None:
    record = _record(workspace)
    stored = {str(path): {"before": data.hex(), "sha256": sha256(after[path])} for path, data in before.items()}
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
    write_files({record: json.dumps(stored).encode()})


def _record(workspace: Workspace) -> Path:
    return state_dir() / "marks" / f"{sha256(str(workspace.path).encode())[:32]}.json"

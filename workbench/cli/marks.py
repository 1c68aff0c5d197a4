"""`workbench propose`: marks for the sources, and those accepted written into them."""

import argparse
import sys

from workbench.api.job import Job
from workbench.api.source.pragma_text import format_pragma
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.model.diagnostic import has_errors
from workbench.model.proposal import Proposal
from workbench.model.text import counted, table
from workbench.session.mark.marking import chosen_proposals, proposed, take_back, write_marks
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import parse_settings


def run_propose(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Nothing is written without `--accept` or `--undo`."""
    workspace = open_workspace(arguments.project, workbench.plugins)
    if arguments.undo:
        files = take_back(workspace)
        if arguments.json:
            print_json({"restored": [str(path) for path in files], "diagnostics": as_json(workspace.diagnostics)})
        else:
            print_diagnostics(workspace.diagnostics)
            print("\n".join(f"{path}: as before" for path in files))
        return DONE
    with progress() as watch:
        scan = workspace.scan(parse_settings(arguments.changes), Job(watch))
    known = proposed(workspace, scan)
    problems = workspace.diagnostics + scan.diagnostics
    accepted = chosen_proposals(known, arguments.accept or ())
    files = write_marks(workspace, accepted)
    if arguments.json:
        print_json(
            {
                "proposals": [_json(proposal) for proposal in known],
                "accepted": [proposal.id for proposal in accepted],
                "files": [str(path) for path in files],
                "diagnostics": as_json(problems),
            }
        )
    else:
        print_diagnostics(problems)
        if accepted:
            count = counted(len(accepted), "pragma")
            print("\n".join([*map(str, files), f"{count} written; undo with `workbench propose PROJECT --undo`"]))
        elif known:
            print(table([(f"{p.file}:{p.line}", p.id, format_pragma(p.pragma), p.why) for p in known]))
        else:
            print(
                "nothing to propose: no state register, handshake or call without a pragma was found",
                file=sys.stderr,
            )
    return FAILED if has_errors(problems) else DONE


def _json(proposal: Proposal) -> dict[str, object]:
    return {
        "id": proposal.id,
        "group": proposal.group,
        "file": proposal.file,
        "line": proposal.line,
        "column": proposal.column,
        "name": proposal.pragma.name,
        "category": proposal.pragma.category.value,
        "pragma": format_pragma(proposal.pragma),
        "why": proposal.why,
    }

"""`workbench ledger`: the predictions of a project that were kept, and what came true."""

import argparse
from pathlib import Path

from workbench.analysis.came_true import entry_json, outcome_words, score_json, score_words
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, as_json, print_diagnostics, print_json
from workbench.formats.ledger_file import NAME, read_ledger
from workbench.formats.run_folder import MANIFEST, open_run
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.ledger import score
from workbench.session.keep.ledger import drop, ledger_path


def run_ledger(arguments: argparse.Namespace, workbench: Opened) -> int:
    path = _ledger_at(arguments.project)
    if arguments.drop:
        drop(path, arguments.drop)
    entries, problems = read_ledger(path)
    print_diagnostics(problems)
    scored = score(entries)
    if arguments.json:
        print_json({
            "file": str(path), "ledger": [entry_json(entry) for entry in entries], "score": score_json(scored),
            "diagnostics": as_json(problems),
        })  # fmt: skip
        return DONE
    for entry in entries:
        run = f" ({entry.came.run})" if entry.came else ""
        words = "dropped" if entry.dropped and not entry.came else outcome_words(entry)
        print(f"{entry.id}  {entry.at[:16].replace('T', ' ')}  {entry.base.run}: {entry.title}: {words}{run}")
    print(score_words(scored) if entries else "No predictions yet. Keep one with `workbench whatif RUN --keep`.")
    return DONE


def _ledger_at(place: Path) -> Path:
    """The ledger of a project file, a project's folder or one of its runs."""
    if (place / MANIFEST).is_file():
        return ledger_path(open_run(place)[0])
    if not place.exists():
        raise WorkbenchError(
            Diagnostic("there is no such project", "Name a project file or its folder.", file=str(place))
        )
    return (place if place.is_dir() else place.parent) / "runs" / NAME

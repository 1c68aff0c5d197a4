"""`workbench find`: where a text is in the files of a project, as Ctrl+Shift+F finds it in the window."""

import argparse

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.session.open.find_text import MOST_HITS, find_text, pattern_of
from workbench.session.open.opening import open_workspace
from workbench.session.open.project_files import project_files


def run_find(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Exit code 1 where nothing is found. Lines and columns count from 1."""
    pattern = pattern_of(arguments.text, case=arguments.case, word=arguments.word, regex=arguments.regex)
    workspace = open_workspace(arguments.project, workbench.plugins)
    found = find_text(project_files(workspace), pattern, {})
    places = [(str(hit.path), hit.line, hit.column + 1, hit) for hit in found.hits]
    problems = (*found.unread, *(() if found.whole else (_CUT,)))
    if arguments.json:
        print_json({
            "found": [
                {"file": file, "line": line, "column": column, "length": hit.length, "text": hit.text}
                for file, line, column, hit in places
            ],
            "whole": found.whole,
            "diagnostics": as_json(problems),
        })  # fmt: skip
    else:
        print_diagnostics(problems)
        for file, line, column, hit in places:
            print(f"{file}:{line}:{column}: {hit.text.strip()}")
    return DONE if places else FAILED


_CUT = Diagnostic(f"only the first {MOST_HITS} lines are listed", "Search for a longer text.", Severity.WARNING)

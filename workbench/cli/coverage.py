"""`workbench coverage`: which branches of its design a run took, and which not."""

import argparse

from workbench.analysis.report import coverage_json
from workbench.analysis.verification import arms_of, coverage_words
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, print_diagnostics, print_json
from workbench.cli.runs import open_printed
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.model.text import thousands

_NONE = Diagnostic(
    "this run counted no branches",
    "Run with --branches, or set hardware.branches in the project.",
    Severity.WARNING,
)


def run_coverage(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Exit code 1 where the run counted none."""
    opened = open_printed(arguments.run_folder, workbench.plugins)
    decisions = opened.analysis.decisions
    if arguments.json:
        print_json(coverage_json(decisions))
    elif decisions:
        print(f"{coverage_words(decisions)}.")
        shown = [pair for pair in arms_of(decisions) if arguments.all or not pair[1].count]
        wide = max((len(thousands(arm.count)) for _, arm in shown), default=0)
        for decision, arm in shown:
            print(f"{thousands(arm.count):>{wide}}  {decision.file}:{arm.line}: {arm.name}")
    if not decisions:
        print_diagnostics([_NONE])
    return DONE if decisions else FAILED

"""`workbench fix`: what certainly fixes the problems of a project or a template, as in the window's panel."""

import argparse

from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, print_diagnostics, print_json
from workbench.model.diagnostic import Severity
from workbench.model.text import counted
from workbench.session.edit.fixing import certain_fixes, problems_of, write_fixes


def run_fix(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Exit code 1 where an error is left; what fixes were written for is read again."""
    problems = problems_of(arguments.file, workbench.plugins)
    fixed = certain_fixes(problems)
    if arguments.write and fixed:
        write_fixes(fixed)
    fixes = [(path, problem, label) for path, one in fixed.items() for problem, label in one.fixes]
    done = {problem for _, problem, _ in fixes}
    if arguments.write and fixed:
        problems = problems_of(arguments.file, workbench.plugins)
    left = tuple(problem for problem in dict.fromkeys(problems) if problem not in done)
    if arguments.json:
        print_json({
            "fixes": [
                {"file": str(path), "line": problem.line, "column": problem.column, "problem": problem.message,
                 "fix": label, "written": arguments.write}
                for path, problem, label in fixes
            ],
            "diagnostics": as_json(left),
        })  # fmt: skip
    else:
        print_diagnostics(left)
        for path, problem, label in fixes:
            print(f"{path}:{problem.line}: {label}: {problem.message}")
        todo = "written" if arguments.write else "add --write to write them"
        print(f"{counted(len(fixes), 'certain fix', 'certain fixes')}: {todo}" if fixes else "no certain fix")
    return FAILED if any(problem.severity is Severity.ERROR for problem in left) else DONE

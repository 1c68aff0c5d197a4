"""Certain fixes for a problem: a misspelt name is corrected, an unknown key is removed."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from workbench.model.diagnostic import Diagnostic

_MEANT = re.compile(r"Did you mean '([^']+)'\?")
_QUOTED = re.compile(r"'([^']+)'")
_NO_KEY = re.compile(r"there is no key '([^']+)' here")


@dataclass(frozen=True)
class QuickFix:
    """A fix: `label` describes it; `edit` returns the new text of the file."""

    label: str
    edit: Callable[[str], str]


def quick_fix(problem: Diagnostic, text: str) -> QuickFix | None:
    """The fix for a problem of a file with this text; None if none is certain."""
    right_name, wrong = _MEANT.search(problem.hint), _QUOTED.search(problem.message)
    line = problem.line
    if line is None or not 1 <= line <= text.count("\n") + 1:
        return None
    if right_name and wrong and (at := _place(text, problem, wrong[1])) is not None:
        replaced = text[:at] + right_name[1] + text[at + len(wrong[1]) :]
        return QuickFix(f"Write '{right_name[1]}'", lambda now: replaced if now == text else now)
    if problem.file and problem.file.endswith((".yaml", ".yml")) and (key := _NO_KEY.search(problem.message)):
        return _without_key(text, key[1], line)
    return None


def _place(text: str, problem: Diagnostic, wrong: str) -> int | None:
    """The position of a wrong name in the problem's line: at its column, or its only occurrence."""
    lines = text.split("\n")
    begin, line = sum(len(one) + 1 for one in lines[: (problem.line or 1) - 1]), lines[(problem.line or 1) - 1]
    column = (problem.column or 0) - 1
    if column >= 0 and re.match(rf"['\"]?{re.escape(wrong)}(?!\w)", line[column:]):
        return begin + line.index(wrong, column)
    alone = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(wrong)}(?!\w)", line)]
    return begin + alone[0] if len(alone) == 1 else None


def _without_key(text: str, key: str, line: int) -> QuickFix | None:
    from workbench.formats.yaml_edit import remove_item  # not as the window opens
    from workbench.formats.yaml_marks import read_marked

    marked, _ = read_marked(text)
    paths = [path for path, span in marked.keys.items() if span.line == line and path[-1] == key] if marked else []
    if not paths:
        return None
    return QuickFix(f"Remove {key}", lambda now: remove_item(now, paths[0]) if now == text else now)

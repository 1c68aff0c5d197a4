"""Parses what was generated, so that a bad condition or expression is reported where a person wrote it."""

from pathlib import Path

from rc_workbench_plugins.c import clang_parse
from rc_workbench_plugins.c.conditions import check_conditions, wrong_condition
from rc_workbench_plugins.c.copies import Copies
from rc_workbench_plugins.c.numbering import Hook, Numbering
from rc_workbench_plugins.c.survey import Survey
from rc_workbench_plugins.c.wrappers import Generated
from workbench.api import Diagnostic, PlacedPragma, Severity
from workbench.api.source.suffixes import is_cpp

_WRAPPERS = "the recording wrappers do not compile"


def check(
    survey: Survey, numbering: Numbering, copies: Copies, wrappers: Generated, wrappers_file: Path
) -> tuple[Diagnostic, ...]:
    """Errors in pragmas' conditions and in the platform's expressions. A source that had errors before is left out."""
    problems = dict.fromkeys(check_conditions(survey))
    faulty = {d.file for d in (*survey.diagnostics, *problems) if d.severity is Severity.ERROR}
    originals = {target.resolve(): file for file, target in copies.targets.items()}
    for source in survey.files.sources:
        if str(source) in faulty or is_cpp(source):  # in C++ conditions were checked where they stand
            continue
        unit = clang_parse.parse(copies.target(source), survey.words)
        for problem in clang_parse.problems(unit) if unit else ():
            problems[_in_copy(problem, originals, copies, numbering)] = None
    unit = clang_parse.parse(wrappers_file, [word for word in survey.words if not word.startswith("-Wno-")])
    for problem in clang_parse.problems(unit) if unit else ():
        there = _in_wrappers(problem, wrappers, wrappers_file)
        if not (there.message.startswith(_WRAPPERS) and any(p.message.startswith(_WRAPPERS) for p in problems)):
            problems[there] = None  # the others of that kind follow from the first
    return tuple(problems)


def _in_copy(problem: Diagnostic, originals: dict[Path, Path], copies: Copies, numbering: Numbering) -> Diagnostic:
    copy = Path(problem.file or "").resolve()
    original = originals.get(copy)
    if original is None or problem.line is None:
        return problem
    line = problem.line - copies.rewritten(original)[1]
    for hook in numbering.hooks:
        if pragma := _conditional(hook, original, line):
            return wrong_condition(pragma, problem.message)
    message, hint = f"the instrumented copy does not compile: {problem.message}", f"The copy is {copy}."
    return Diagnostic(message, hint, file=str(original), line=line if line > 0 else None)


def _conditional(hook: Hook, file: Path, line: int) -> PlacedPragma | None:
    where = hook.api_use.use.place
    if where.file != file or where.line != line:
        return None
    placed = (wrapper.pragma for wrapper in hook.wrappers)
    return next((one for one in placed if one and one.pragma.condition is not None), None)


def _in_wrappers(problem: Diagnostic, wrappers: Generated, file: Path) -> Diagnostic:
    if problem.file != str(file.resolve()) or problem.line is None:
        return problem
    what = wrappers.expressions.get(problem.line)
    if what is None:
        hint = "Check that the template's include lines declare everything that its prototypes need."
        return Diagnostic(f"{_WRAPPERS}: {problem.message}", hint, file=problem.file, line=problem.line)
    return Diagnostic(
        f"{what} in the platform template does not compile: {problem.message}",
        "It may use the prototype's parameters, the template's constants, and what the include lines declare.",
    )

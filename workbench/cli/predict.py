"""`workbench predict`: what an application should take, before any of it runs on an FPGA."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from workbench.api import ModelKind
from workbench.api.predictions import Answer
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, as_json, print_diagnostics, print_json
from workbench.cli.predict_explore import (
    change_words,
    changes_of,
    explored,
    print_answer_json,
    print_notes,
    spreads_of,
)
from workbench.cli.predict_model import given_model
from workbench.cli.predict_text import errors_text
from workbench.formats.run_folder import open_run
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.text import table
from workbench.predict.doubts import clock_doubts
from workbench.predict.formulas import Evaluation, ModelFile, what_if
from workbench.predict.kinds import outputs_of, take_over
from workbench.predict.library import bundled_models
from workbench.predict.shown import results_of
from workbench.predict.words import DIGITS, output_text, output_title
from workbench.session.program.files import write_result_text

#: The options of each question, the one that asks it first; all may have a --reading.
_QUESTIONS = {
    "--solve NAME": ("solve", "target", "output"),
    "--sensitivity": ("sensitivity", "output", "uncertain", "spread", "seed"),
    "--sweep NAME=a:b:n": ("sweep", "uncertain", "spread", "seed", "output", "against", "scheduler", "csv"),
    "--uncertain N": ("uncertain", "spread", "seed", "output", "against", "scheduler"),
}
_RUN = {"--run RUN": ("run_folder", "take_over")}
#: What only draws read; a sweep alone draws nothing.
_DRAWN = ("spread", "seed")


def _question(arguments: argparse.Namespace, kind: ModelKind) -> str:
    """The one question that is asked, or "". WorkbenchError for an option that does not belong to it."""
    own = {question.asked: question.options for question in kind.questions}
    questions = {**(_RUN if kind.compare else {}), **own, **_QUESTIONS}
    shown = {"run_folder": "--run", "target": kind.solve_option}
    known = {option for options in questions.values() for option in options}
    given = [name for name, value in vars(arguments).items() if name in known and value not in (None, [])]
    given = [name for name in given if getattr(arguments, name) is not False]
    question = next((asked for asked, options in questions.items() if options[0] in given), "")
    for name in given:
        if name not in questions.get(question, ()):
            option = shown.get(name, "--" + name.replace("_", "-"))
            homes = [asked for asked, options in questions.items() if name in options[1:]]
            homes = [asked for asked in homes if name not in _DRAWN or not asked.startswith("--sweep")]
            if question and (not homes or name == questions[question][0]):
                raise WorkbenchError(Diagnostic(f"{question} and {option} cannot be combined", "Use one at a time."))
            message = f"{option} does not go with {question}" if question else f"{option} alone asks nothing"
            raise WorkbenchError(Diagnostic(message, f"Give {' or '.join(homes)} {'instead' if question else 'too'}."))
    drawn = [name for name in _DRAWN if name in given]
    if question.startswith("--sweep") and drawn and "uncertain" not in given:
        raise WorkbenchError(Diagnostic(f"--{drawn[0]} has no effect in a plain sweep", "Give --uncertain N too."))
    return question


def run_predict(arguments: argparse.Namespace, workbench: Opened) -> int:
    kind = workbench.plugins.model_kinds[arguments.kind]
    file, problems = given_model(arguments, kind, workbench)
    print_diagnostics(problems)
    spreads, asked = spreads_of(file, arguments.spread), _question(arguments, kind)
    if asked and (written := [name for name in ("svg", "html") if getattr(arguments, name)]):
        message = f"--{written[0]} does not go with {asked}"
        raise WorkbenchError(Diagnostic(message, f"Use one at a time: --{written[0]} shows the model at one point."))
    changes = arguments.set = changes_of(file, arguments.changes)
    if changes and not arguments.json:
        print(f"what if {', '.join(change_words(file, name, value) for name, value in changes.items())}\n")
    if asked in _RUN:
        return _against_run(file, problems, arguments, changes)
    if asked in _QUESTIONS:
        return explored(what_if(file, changes), problems, asked, arguments, spreads)
    values = Evaluation(file, changes, arguments.reading)
    own = next((question for question in kind.questions if question.asked == asked), None)
    if own:
        return _print_answer(file, own.answer(values, arguments), problems, arguments)
    answer = kind.answer(values) if kind.answer else _outputs(values)
    notes = (*answer.notes, *clock_doubts(values))
    _write_files(values, [*problems, *notes], arguments)
    return _print_answer(file, replace(answer, notes=notes), problems, arguments)


def _write_files(values: Evaluation, notes: Sequence[Diagnostic], arguments: argparse.Namespace) -> None:
    """Write the prediction as a page and a drawing, where these are asked for. Raises WorkbenchError where models of
    this kind are not drawn."""
    if arguments.html:
        from workbench.predict.html_page import html_page

        write_result_text(arguments.html, html_page(values, notes))
    if arguments.svg:
        from workbench.pictures.diagram import diagrams_svg

        diagrams = results_of(values).diagrams
        if not diagrams:
            message = f"models of the kind '{values.file.kind.name}' are not drawn"
            raise WorkbenchError(Diagnostic(message, "Use --html for a page."))
        write_result_text(arguments.svg, diagrams_svg(diagrams, values.model.title or values.model.name))


def _outputs(values: Evaluation) -> Answer:
    """What a kind without an answer of its own says: its outputs."""
    values_of = outputs_of(values.file, values.changes, values.reading)
    outputs = {name: float(value) for name, value in values_of.items()}
    rows = ((output_title(name), output_text(name, value, DIGITS), name) for name, value in outputs.items())
    return Answer({"model": values.model.name, "outputs": outputs}, table([("Output", "Value", "Name"), *rows]))


def _print_answer(
    file: ModelFile, answer: Answer, problems: Iterable[Diagnostic], arguments: argparse.Namespace
) -> int:
    if arguments.json:
        errors = {} if answer.errors is None else {"errors": list(map(asdict, answer.errors))}
        print_answer_json({**answer.document, **errors}, arguments, [*problems, *answer.notes])
        return DONE
    print(answer.text)
    if answer.errors:
        print()
        print(errors_text(file, answer.errors))
    print_notes(answer.notes)
    return DONE


def _against_run(
    file: ModelFile, problems: tuple[Diagnostic, ...], arguments: argparse.Namespace, changes: Mapping[str, float]
) -> int:
    assert file.kind.compare is not None
    if changes:
        raise WorkbenchError(Diagnostic("a run is compared with the model itself", "Leave --set out."))
    if arguments.take_over and file.marked.file in [str(path) for path in bundled_models(file.kind).values()]:
        hint = f"Copy {file.marked.file} next to your project, and name the copy."
        raise WorkbenchError(Diagnostic("a bundled model is not changed", hint))
    run, of_run = open_run(arguments.run_folder)
    print_diagnostics(of_run)
    comparison = file.kind.compare(Evaluation(file, reading=arguments.reading), run)
    if arguments.take_over:
        take_over(Path(file.marked.file or ""), file, comparison)
    if arguments.json:
        document = {"errors": list(map(asdict, comparison.rows)), "inputs": dict(comparison.inputs)}
        diagnostics = as_json([*problems, *of_run, *comparison.diagnostics])
        print_json(document | {"taken_over": arguments.take_over, "diagnostics": diagnostics})
    else:
        print_diagnostics(comparison.diagnostics)
        print(errors_text(file, comparison.rows))
        if arguments.take_over:
            print(f"measurements written into {file.marked.file}")
    return DONE

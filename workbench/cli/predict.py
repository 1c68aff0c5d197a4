"""`workbench predict`: what an application should take, before any of it runs on an FPGA."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from workbench.api import ModelKind
from workbench.api.job import Job
from workbench.api.models import Values
from workbench.api.predictions import Answer
from workbench.api.source.files import is_file
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, as_json, print_diagnostics, print_json
from workbench.cli.predict_text import (
    bands_json,
    bands_rows,
    bands_text,
    errors_text,
    exploration_json,
    exploration_text,
    influences_json,
    influences_text,
    solution_json,
    solution_text,
    sweep_rows,
)
from workbench.cli.progress import progress
from workbench.formats.platform_file import load_platform
from workbench.formats.project_file import load_project
from workbench.formats.run_folder import open_run
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import Platform
from workbench.model.text import table
from workbench.predict.doubts import clock_doubts, reading_notes
from workbench.predict.explore import Exploration, bands, explore
from workbench.predict.formulas import Evaluation, ModelFile, what_if
from workbench.predict.inputs import Spread
from workbench.predict.kinds import load_model, outputs_of, parse_model, take_over
from workbench.predict.library import bundled_models, find_model
from workbench.predict.sensitivity import sensitivity
from workbench.predict.shown import results_of
from workbench.predict.solve import solve
from workbench.predict.space import Space, make_space, option_number, parse_axis
from workbench.predict.words import input_text
from workbench.session.open.project_path import PROJECT_SUFFIX
from workbench.session.program.files import write_atomically, write_result_table, write_result_text
from workbench.session.program.plugins import Plugins

LONG_POINTS = 10_000_000  # a sweep of more shows its progress, and draws no bands


def _bundled_platforms(plugins: Plugins) -> dict[str, Platform]:
    """The platform templates of the loaded plugins, by name."""
    platforms: dict[str, Platform] = {}
    for support in plugins.platforms.values():
        platform, problems = load_platform(support.template)
        print_diagnostics(problems)
        if platform is not None:
            platforms[platform.name] = platform
    return platforms


def _platforms_beside(model: Path) -> dict[str, Platform]:
    """The platforms of the projects beside a model, where they are files of the projects' own."""
    platforms: dict[str, Platform] = {}
    for path in sorted(model.parent.glob(f"*{PROJECT_SUFFIX}")):
        project, _ = load_project(path)
        if project is not None and is_file(own := path.parent / project.platform):
            platform, problems = load_platform(own)
            print_diagnostics(problems)
            platforms |= {platform.name: platform} if platform else {}
    return platforms


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
                raise WorkbenchError(Diagnostic(f"{question} and {option} are two questions", "Ask one at a time."))
            message = f"{option} does not go with {question}" if question else f"{option} alone asks nothing"
            raise WorkbenchError(Diagnostic(message, f"Give {' or '.join(homes)} {'instead' if question else 'too'}."))
    drawn = [name for name in _DRAWN if name in given]
    if question.startswith("--sweep") and drawn and "uncertain" not in given:
        raise WorkbenchError(Diagnostic(f"--{drawn[0]} draws nothing in a sweep alone", "Give --uncertain N too."))
    return question


def run_predict(arguments: argparse.Namespace, workbench: Opened) -> int:
    kind = workbench.plugins.model_kinds[arguments.kind]
    text, doubts = _of_run(kind, arguments) if kind.of_run else (None, ())
    path = arguments.from_run if text else find_model(arguments.model, kind)
    platforms = {**_bundled_platforms(workbench.plugins), **_platforms_beside(path)}
    if text is None and kind.begun and path.name.endswith(kind.begun.suffixes):
        text = kind.begun.text(path, arguments)
    if text:
        beside = path.with_name(f"{path.stem}.{kind.name}.yaml")
        file, model_problems = parse_model(kind, text, str(beside), platforms)
        placeless = (replace(d, file=None, line=None, column=None) for d in model_problems)  # it has no file
        problems = (*doubts, *placeless)
    else:
        _only_of_begun(kind, arguments)
        file, problems = load_model(kind, path, platforms)
    if file is None:
        raise WorkbenchError(*problems)
    print_diagnostics(problems)
    spreads, asked = _spreads(file, arguments.spread), _question(arguments, kind)
    if asked and (written := [name for name in ("svg", "html") if getattr(arguments, name)]):
        message = f"--{written[0]} does not go with {asked}"
        raise WorkbenchError(Diagnostic(message, f"Ask one at a time: --{written[0]} shows the model at one point."))
    changes = arguments.set = _changes(file, arguments.changes)
    if changes and not arguments.json:
        print(f"what if {', '.join(_change_words(file, name, value) for name, value in changes.items())}\n")
    if asked in _RUN:
        return _against_run(file, problems, arguments, changes)
    if asked in _QUESTIONS:
        return _explored(what_if(file, changes), problems, asked, arguments, spreads)
    values = Evaluation(file, changes, arguments.reading)
    own = next((question for question in kind.questions if question.asked == asked), None)
    if own:
        return _print_answer(own.answer(values, arguments), problems, arguments)
    answer = kind.answer(values) if kind.answer else _outputs(values)
    notes = (*answer.notes, *clock_doubts(values))
    _write_files(values, [*problems, *notes], arguments)
    return _print_answer(replace(answer, notes=notes), problems, arguments)


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
            raise WorkbenchError(Diagnostic(message, "Ask for a page with --html."))
        write_result_text(arguments.svg, diagrams_svg(diagrams, values.model.title or values.model.name))


def _of_run(kind: ModelKind, arguments: argparse.Namespace) -> tuple[str | None, Sequence[Diagnostic]]:
    """The document of a model that is calibrated from a run, and kept where --out says, and what makes it doubtful;
    None where a model is given."""
    run, out, given = arguments.from_run, arguments.out, arguments.model
    if (run is None) == (given is None):
        raise WorkbenchError(Diagnostic("a model and a run are two questions" if run else "there is no model",
                                        "Give a model, or --from RUN."))  # fmt: skip
    if run is None:
        if out:
            raise WorkbenchError(Diagnostic("--out writes a model that is made of a run", "Give --from RUN too."))
        return None, ()
    assert kind.of_run is not None
    opened, of_run = open_run(run)
    print_diagnostics(of_run)
    text, doubts = kind.of_run(opened)
    if out:
        if out.exists():
            raise WorkbenchError(Diagnostic("this file is there already", "Give another name.", file=str(out)))
        write_atomically(out, text)
    return text, doubts


def _only_of_begun(kind: ModelKind, arguments: argparse.Namespace) -> None:
    """WorkbenchError for an option of files that models are made of, where a model is given."""
    if kind.begun is None:
        return
    for name in kind.begun.options:
        if getattr(arguments, name) not in (None, []):
            message = f"--{name.replace('_', '-')} goes with a file {' or '.join(f'*{s}' for s in kind.begun.suffixes)}"
            raise WorkbenchError(Diagnostic(message, "The model says it itself: change it there."))


def _outputs(values: Evaluation) -> Answer:
    """What a kind without an answer of its own says: its outputs."""
    values_of = outputs_of(values.file, values.changes, values.reading)
    outputs = {name: float(value) for name, value in values_of.items()}
    rows = ((name, f"{value:.6g}") for name, value in outputs.items())
    return Answer({"model": values.model.name, "outputs": outputs}, table(rows))


def _print_answer(answer: Answer, problems: Iterable[Diagnostic], arguments: argparse.Namespace) -> int:
    if arguments.json:
        errors = {} if answer.errors is None else {"errors": list(map(asdict, answer.errors))}
        _print_json({**answer.document, **errors}, arguments, [*problems, *answer.notes])
        return DONE
    print(answer.text)
    if answer.errors:
        print()
        print(errors_text(answer.errors))
    _print_notes(answer.notes)
    return DONE


def _print_json(document: Mapping[str, object], arguments: argparse.Namespace, problems: Iterable[Diagnostic]) -> None:
    """An answer, with what --set took in place of the model's inputs."""
    given = {"set": arguments.set} if arguments.set else {}
    print_json({**document, **given, "diagnostics": as_json(problems)})


def _print_notes(notes: Iterable[Diagnostic]) -> None:
    """How a result is to be read, below it."""
    for note in notes:
        print(f"\n{note.message[:1].upper()}{note.message[1:]}. {note.hint}")


def _explored(
    file: ModelFile, problems: Iterable[Diagnostic], question: str, arguments: argparse.Namespace,
    spreads: dict[str, Spread],
) -> int:  # fmt: skip
    """Answer --solve, --sensitivity, or a sweep."""
    if question.startswith("--solve"):
        _solve(file, problems, arguments)
        return DONE
    if question == "--sensitivity":
        samples = 4096 if arguments.uncertain is None else arguments.uncertain
        rows = sensitivity(file, arguments.output or "", arguments.reading, spreads, samples, arguments.seed or 0)
        if arguments.json:
            _print_json({"inputs": influences_json(rows)}, arguments, problems)
        else:
            print(influences_text(rows))
        return DONE
    _sweep(file, problems, arguments, spreads)
    return DONE


def _solve(file: ModelFile, problems: Iterable[Diagnostic], arguments: argparse.Namespace) -> None:
    output, option = file.kind.goal, file.kind.solve_option
    if arguments.solve is None or arguments.target is None:
        raise WorkbenchError(Diagnostic(f"--solve and {option} go together", f"Write --solve NAME {option} X."))
    solution = solve(file, arguments.solve, arguments.target, arguments.output or output, reading=arguments.reading)
    notes = _notes(file, {solution.name: solution.value}, arguments.reading)
    if arguments.json:
        _print_json(solution_json(solution), arguments, [*problems, *notes])
    else:
        print(solution_text(solution))
        _print_notes(notes)


def _sweep(
    file: ModelFile, problems: Iterable[Diagnostic], arguments: argparse.Namespace, spreads: dict[str, Spread]
) -> None:
    axes: dict[str, np.ndarray] = {}
    rounded: list[Diagnostic] = []
    for text in arguments.sweep:
        name, values = parse_axis(text, file)
        if name in axes:
            raise WorkbenchError(Diagnostic(f"'{name}' is swept twice", "Give all its values in one --sweep."))
        axes[name] = values
        fewer = ":" in text and len(values) < int(text.rpartition(":")[2])
        if fewer or (":" in text and file.domain(name).integer and len(np.unique(np.diff(values))) > 1):
            message = f"'{name}' takes whole numbers only: it is swept at {len(values)} of them"
            rounded.append(file.marked.diagnostic(("inputs", name), message, "Ask for even steps.", Severity.NOTE))
    samples = arguments.uncertain or 0
    if arguments.uncertain == 0:
        raise WorkbenchError(Diagnostic("0 samples cannot be drawn", "Give 1 or more."))
    space = make_space(file, axes, samples, spreads, arguments.seed or 0)

    def swept(job: Job) -> Exploration:
        with job.step("Sweep"):
            return explore(
                file, space, arguments.output or "", arguments.against or "", arguments.reading,
                scheduler=arguments.scheduler or "", progress=job.progress,
            )  # fmt: skip

    if space.points > LONG_POINTS:
        with progress() as watch:
            answer = swept(Job(watch))
    else:
        answer = swept(Job())
    drawn = None
    if axes and samples and space.points <= LONG_POINTS:
        drawn = bands(file, space, answer.output, arguments.reading)
    if arguments.csv:
        if samples and drawn is None:
            raise WorkbenchError(Diagnostic(f"no bands are drawn of {space.points:,} points", "Sweep fewer values."))
        rows = bands_rows(drawn, space) if drawn else sweep_rows(file, space, arguments.reading)
        write_result_table(arguments.csv, rows)
    notes = (*rounded, *_space_notes(file, space, arguments.reading))
    if arguments.json:
        document = exploration_json(file, answer, space, arguments.reading)
        document |= {"bands": bands_json(drawn, space)} if drawn else {}
        _print_json(document, arguments, [*problems, *notes])
    else:
        print(exploration_text(file, answer, space, arguments.reading))
        if drawn:
            print()
            print(bands_text(drawn, space))
        _print_notes(notes)


def _notes(file: ModelFile, changes: Mapping[str, Values], reading: str | None) -> Sequence[Diagnostic]:
    return reading_notes(Evaluation(file, changes, reading))


def _space_notes(file: ModelFile, space: Space, reading: str | None) -> tuple[Diagnostic, ...]:
    """How a sweep is to be read, seen along each of its whole-number inputs, and clocks at the ends of the others."""
    values = {axis.name: axis.values for axis in space.axes}
    values |= {
        name: np.linspace(s.low, s.high, 64) for name, s in space.spreads if s.low is not None and s.high is not None
    }
    notes = [*_notes(file, {}, reading)]
    for name, along in values.items():
        if file.domain(name).integer:
            notes += _notes(file, {name: along[:4096].round()}, reading)
        else:
            notes += clock_doubts(Evaluation(file, {name: np.array([along.min(), along.max()])}, reading))
    return tuple({note.line: note for note in notes}.values())


def _changes(file: ModelFile, texts: Iterable[str]) -> dict[str, float]:
    """What --set asks for."""
    changes: dict[str, float] = {}
    for text in texts:
        name, equals, given = (part.strip() for part in text.partition("="))
        if not equals:
            raise WorkbenchError(Diagnostic(f"'{text[:60]}' sets nothing", "Write NAME=VALUE."))
        if name in changes:
            raise WorkbenchError(Diagnostic(f"'{name}' is set twice", "Give one --set for each input."))
        file.check(name, value := option_number(given, file.unit(name), text))
        changes[name] = value
    return changes


def _change_words(file: ModelFile, name: str, value: float) -> str:
    return f"{name} = {input_text(file, name, value)} (the model has {input_text(file, name, file.inputs[name])})"


def _spreads(file: ModelFile, texts: Iterable[str]) -> dict[str, Spread]:
    spreads: dict[str, Spread] = {}
    for text in texts:
        name, equals, given = text.partition("=")
        name = name.strip()
        low, colon, high = given.partition(":")
        if not equals or not colon:
            raise WorkbenchError(Diagnostic(f"'{text}' is not a spread", "Write NAME=LOW:HIGH."))
        if name in spreads:
            raise WorkbenchError(Diagnostic(f"'{name}' is spread twice", "Give one --spread for each input."))
        allowed, unit = file.domain(name), file.unit(name)
        bounds = [option_number(bound, unit, text) for bound in (low, high)]
        spreads[name] = Spread(file.inputs.get(name, 0.0), low=bounds[0], high=bounds[1], domain=allowed)
    return spreads


def _against_run(
    file: ModelFile, problems: tuple[Diagnostic, ...], arguments: argparse.Namespace, changes: Mapping[str, float]
) -> int:
    assert file.kind.compare is not None
    if changes:
        raise WorkbenchError(Diagnostic("a run is compared with the model itself", "Leave --set out."))
    if arguments.take_over and file.marked.file in [str(path) for path in bundled_models(file.kind).values()]:
        hint = f"Copy {file.marked.file} beside your project, and name the copy."
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
        print(errors_text(comparison.rows))
        if arguments.take_over:
            print(f"measurements written into {file.marked.file}")
    return DONE

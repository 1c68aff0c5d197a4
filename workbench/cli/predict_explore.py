"""What `workbench predict` explores: a sweep, a solution, what matters most, and which inputs are asked for."""

import argparse
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from workbench.api.job import Job
from workbench.api.models import Values
from workbench.cli.output import DONE, as_json, print_json
from workbench.cli.predict_text import (
    bands_json,
    bands_rows,
    bands_text,
    exploration_json,
    exploration_text,
    influences_json,
    influences_text,
    solution_json,
    solution_text,
    sweep_rows,
)
from workbench.cli.progress import progress
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.text import capitalised
from workbench.predict.doubts import clock_doubts, reading_notes
from workbench.predict.explore import Exploration, bands, explore, usual_other
from workbench.predict.formulas import Evaluation, ModelFile
from workbench.predict.inputs import Spread
from workbench.predict.sensitivity import sensitivity
from workbench.predict.solve import solve
from workbench.predict.space import Space, make_space, option_number, parse_axis
from workbench.predict.words import input_text
from workbench.session.program.files import write_result_table

LONG_POINTS = 10_000_000  # a sweep of more shows its progress, and draws no bands


def print_answer_json(
    document: Mapping[str, object], arguments: argparse.Namespace, problems: Iterable[Diagnostic]
) -> None:
    """An answer, with what --set took in place of the model's inputs."""
    given = {"set": arguments.set} if arguments.set else {}
    print_json({**document, **given, "diagnostics": as_json(problems)})


def print_notes(notes: Iterable[Diagnostic]) -> None:
    """How a result is to be read, below it."""
    for note in notes:
        print(f"\n{capitalised(note.message)}. {note.hint}")


def explored(
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
            print_answer_json({"inputs": influences_json(rows)}, arguments, problems)
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
        print_answer_json(solution_json(solution), arguments, [*problems, *notes])
    else:
        print(solution_text(file, solution))
        print_notes(notes)


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

    against = arguments.against or ("" if samples else usual_other(file, arguments.output or ""))

    def swept(job: Job) -> Exploration:
        with job.step("Sweep"):
            return explore(
                file, space, arguments.output or "", against, arguments.reading,
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
            raise WorkbenchError(
                Diagnostic(f"bands cannot be drawn for {space.points:,} points", "Sweep fewer values.")
            )
        rows = bands_rows(drawn, space) if drawn else sweep_rows(file, space, arguments.reading)
        write_result_table(arguments.csv, rows)
    notes = (*rounded, *_space_notes(file, space, arguments.reading))
    if arguments.json:
        document = exploration_json(file, answer, space, arguments.reading)
        document |= {"bands": bands_json(drawn, space)} if drawn else {}
        print_answer_json(document, arguments, [*problems, *notes])
    else:
        print(exploration_text(file, answer, space, arguments.reading))
        if drawn:
            print()
            print(bands_text(file, drawn, space))
        print_notes(notes)


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


def changes_of(file: ModelFile, texts: Iterable[str]) -> dict[str, float]:
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


def change_words(file: ModelFile, name: str, value: float) -> str:
    return f"{name} = {input_text(file, name, value)} (the model has {input_text(file, name, file.inputs[name])})"


def spreads_of(file: ModelFile, texts: Iterable[str]) -> dict[str, Spread]:
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

"""Models of the kinds that plugins bring: read, checked, and computed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workbench.api import Later, ModelKind
from workbench.api.faults import caught, plugin_fault
from workbench.api.models import ANY, Completed, ModelDocument, Values
from workbench.api.predictions import RunComparison
from workbench.formats.documents import Schema, check_document, read_text
from workbench.formats.yaml_edit import insert_item, set_value, write_checked
from workbench.formats.yaml_marks import Marked, read_marked
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors, near
from workbench.model.platform import Platform
from workbench.model.text import capitalised
from workbench.predict.formulas import (
    Evaluation,
    ModelFile,
    asked_of_inputs,
    compile_formula,
    formulas_of,
    wrong_points,
)
from workbench.predict.inputs import Path as FieldPath
from workbench.predict.inputs import read_inputs

Read = tuple[ModelFile | None, tuple[Diagnostic, ...]]


def label(kind: ModelKind) -> str:
    """What people call a kind in a word: "RATSS"."""
    return kind.label or kind.name


def heading(kind: ModelKind) -> str:
    """The label at the beginning of a line: "Density"."""
    return capitalised(label(kind))


def code_of(kind: ModelKind) -> Iterator[Callable[[], object]]:
    """What imports a kind's code, piece by piece: for who would rather have it before it is used."""
    yield kind.document
    yield from (part.load for part in vars(kind).values() if isinstance(part, Later))


def load_model(kind: ModelKind, path: Path, platforms: Mapping[str, Platform]) -> Read:
    """Read a model file. None, with diagnostics naming the fields, where it cannot be computed."""
    text, problems = read_text(path, f"{label(kind)} model")
    return (None, problems) if text is None else parse_model(kind, text, str(path), platforms)


def _beside(platform: str, file: str | None) -> Path | None:
    """The template that a model names by its path: a file beside the model, as of a machine that was measured."""
    path = Path(file).parent / platform if file and platform else None
    return path if path and path.is_file() else None


def parse_model(kind: ModelKind, text: str, file: str | None, platforms: Mapping[str, Platform]) -> Read:
    """Like `load_model`, from a text."""
    marked, problems = read_marked(text, file)
    if marked is None:
        return None, problems
    model, problems = check_document(Schema(f"{label(kind)} model", kind.document()), marked)
    if model is None:
        return None, problems
    platform = platforms.get(model.platform)
    if platform is None and (beside := _beside(model.platform, file)):
        from workbench.formats.platform_file import load_platform  # rare, and long to import

        platform, of_template = load_platform(beside)
        problems = (*problems, *of_template)
        if platform is None:
            return None, problems
    reading = _Reading(model, platform, marked, list(problems))
    noted = reading.diagnostics
    if model.platform and reading.platform is None:
        hint = near(model.platform, platforms, "Templates")
        reading.tell(("platform",), f"there is no platform template '{model.platform}'", hint)
    try:
        added = kind.check(reading) if kind.check else Completed(model)
    except BaseException as raised:
        fault = caught(raised)
        return None, (*noted, plugin_fault(fault, f"to check {model.name}", Severity.ERROR))
    given = read_inputs(model, marked, asked_of_inputs(model, added.domains), noted)
    model = added.model
    inputs = {**added.inputs, **given.values}
    domains = {name: given.domains.get(name, added.domains.get(name, ANY)) for name in inputs}
    formulas = {
        at: compile_formula(formula, at, allowed, {*inputs, *added.names(at)}, marked, noted)
        for at, formula, allowed in formulas_of(model)
    }
    read = ModelFile(kind, model, marked, inputs, domains, given.spreads, formulas, reading.platform, platforms)
    if not has_errors(noted):
        elsewhere = [at for at, formula in formulas.items() if not formula.names <= inputs.keys()]
        noted.extend(wrong_points(read, added.points, elsewhere))
    return (None if has_errors(noted) else read), tuple(noted)


@dataclass(frozen=True)
class _Reading:
    """What `workbench.api.models.ModelReading` promises."""

    model: ModelDocument
    platform: Platform | None
    marked: Marked
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return Path(self.marked.file or "").absolute().parent

    def line(self, path: FieldPath) -> int:
        return self.marked.span(path).line

    def tell(
        self, path: FieldPath, message: str, hint: str = "", severity: Severity = Severity.ERROR, *, key: bool = False
    ) -> None:
        self.diagnostics.append(self.marked.diagnostic(path, message, hint, severity, key=key))


def outputs_of(
    file: ModelFile, changes: Mapping[str, Values] | None = None, reading: str | None = None
) -> dict[str, Values]:
    """Every number that a model comes to, by name. WorkbenchError naming the field, the output or the plugin."""
    values = Evaluation(file, changes, reading)
    try:
        with np.errstate(all="ignore"):  # what overflows is reported below
            outputs = dict(file.kind.outputs(values))
    except WorkbenchError:
        raise
    except BaseException as raised:
        fault = caught(raised)
        raise WorkbenchError(plugin_fault(fault, f"to compute {file.model.name}", Severity.ERROR)) from fault
    for name, value in outputs.items():
        bounded = name not in file.kind.unbounded
        if np.isnan(value).any() or (bounded and np.isinf(value).any()):
            raise WorkbenchError(file.marked.diagnostic((), f"{name} is not a finite number", "Look at its inputs."))
    return outputs


def take_over(path: Path, file: ModelFile, comparison: RunComparison) -> None:
    """Write a run's measurements into the model's file. WorkbenchError where it cannot be edited so, or was changed."""
    old_text, problems = read_text(path, f"{label(file.kind)} model")
    if old_text is None:
        raise WorkbenchError(*problems)
    write_checked(path, old_text, taken_over(old_text, file, comparison))


def taken_over(text: str, file: ModelFile, comparison: RunComparison) -> str:
    """A model's text with a run's measurements: corrections of the parts, and a `measured` entry.

    An entry of the same run at the same inputs is replaced. Comments and layout stay. WorkbenchError where the text
    cannot be edited so.
    """
    for at, correction in comparison.corrections.items():
        text = set_value(text, at, float(f"{correction:.9g}"))
    known = file.marked.data.get("measured")
    if comparison.at is not None:
        for name, value in comparison.measured.items():
            text = set_value(text, ("measured", comparison.at, name), value)
    elif known:
        text = insert_item(text, ("measured",), len(known), dict(comparison.measured))
    else:
        text = set_value(text, ("measured",), [dict(comparison.measured)])
    return text

"""Kinds of models that plugins bring: read, checked, and computed as any model is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.api import ModelKind
from workbench.api.faults import plugin_fault
from workbench.api.models import ModelDocument
from workbench.formats.documents import Schema, check_document, read_text
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors, near
from workbench.model.platform import Platform
from workbench.predict.formulas import (
    Evaluation,
    ModelFile,
    asked_of_inputs,
    compile_formula,
    dotted,
    formulas_of,
    wrong_points,
)
from workbench.predict.inputs import read_inputs
from workbench.predict.ratss_equations import Quantity


@dataclass(frozen=True)
class KindModelFile(ModelFile):
    """A checked model of a plugin's kind, ready to be computed."""

    kind: ModelKind


def load_kind(
    kind: ModelKind, path: Path, platforms: Mapping[str, Platform]
) -> tuple[KindModelFile | None, tuple[Diagnostic, ...]]:
    """Read a model file. None, with diagnostics naming the fields, where it cannot be computed."""
    text, problems = read_text(path, kind.title)
    if text is None:
        return None, problems
    marked, problems = read_marked(text, str(path))
    if marked is None:
        return None, problems
    model, problems = check_document(Schema(kind.title, kind.document()), marked)
    if model is None:
        return None, problems
    found = list(problems)
    if model.platform and model.platform not in platforms:
        hint = near(model.platform, platforms, "Templates")
        found.append(marked.diagnostic(("platform",), f"there is no platform template '{model.platform}'", hint))
    inputs = read_inputs(model, marked, asked_of_inputs(model), found)
    formulas = {
        at: compile_formula(formula, at, allowed, model.inputs, marked, found)
        for at, formula, allowed in formulas_of(model)
    }
    platform = platforms.get(model.platform)
    read = KindModelFile(model, marked, inputs.values, inputs.domains, inputs.spreads, formulas, platform, kind)
    if not has_errors(found):
        found.extend(wrong_points(read, []))
    return (None if has_errors(found) else read), tuple(found)


class _Values:
    """What `workbench.api.models.ModelValues` promises."""

    def __init__(self, file: ModelFile, inputs: Mapping[str, Quantity]) -> None:
        self._evaluation = Evaluation(file, inputs)
        self.model: ModelDocument = file.model
        self.platform = file.platform

    def of(self, *path: str | int) -> Quantity:
        if path not in self._evaluation.file.formulas:
            raise KeyError(f"the document gives no number at {dotted(path)}")
        return self._evaluation.of(path)


def kind_outputs(
    file: KindModelFile, changes: Mapping[str, Quantity] | None = None, reading: str | None = None
) -> dict[str, Quantity]:
    """Every number that the model comes to, by name. WorkbenchError naming the field, the output or the plugin."""
    values = _Values(file, file.at(changes or {}, reading))
    try:
        with np.errstate(all="ignore"):  # what overflows is told below
            found = dict(file.kind.outputs(values))
    except WorkbenchError:
        raise
    except Exception as error:
        raise WorkbenchError(plugin_fault(error, f"to compute {file.model.name}", Severity.ERROR)) from error
    for name, value in found.items():
        if not np.all(np.isfinite(value)):
            raise WorkbenchError(file.marked.diagnostic((), f"{name} is not a finite number", "Look at its inputs."))
    return found

"""The built-in kinds of models as tests ask them: of a file, at changes, in a reading."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rc_workbench_plugins.density import compute as density_compute
from rc_workbench_plugins.density import measured
from rc_workbench_plugins.ratss import against_run, compute, schedule

from workbench.api.predictions import RunComparison
from workbench.model.run import Run
from workbench.predict.formulas import Evaluation, ModelFile
from workbench.predict.kinds import Read, load_model, parse_model
from workbench.predict.library import find_model
from workbench.session.program.plugins import load_plugins

KINDS = load_plugins().model_kinds
RATSS, DENSITY = KINDS["ratss"], KINDS["density"]


def load_named(kind: str, name: str, platforms: Mapping[str, Any]) -> ModelFile:
    """A model that comes with its kind, or the one of a path."""
    file, problems = load_model(KINDS[kind], find_model(name, KINDS[kind]), platforms)
    assert file is not None, problems
    return file


def model_path(name: str, kind: str) -> Path:
    return find_model(name, KINDS[kind])


def parse_ratss(text: str, file: str | None, platforms: Mapping[str, Any]) -> Read:
    return parse_model(RATSS, text, file, platforms)


def parse_density(text: str, file: str | None, platforms: Mapping[str, Any]) -> Read:
    return parse_model(DENSITY, text, file, platforms)


def predict(file: ModelFile, changes: Any = None, reading: str | None = None) -> compute.Prediction:
    return compute.predict(Evaluation(file, changes, reading))


def tree_notes(file: ModelFile, changes: Any = None, reading: str | None = None) -> Any:
    return compute.notes(Evaluation(file, changes, reading))


def scheduled(file: ModelFile, prediction: compute.Prediction) -> tuple[schedule.Interval, ...]:
    return schedule.schedule(Evaluation(file), prediction)


def compare_with_run(file: ModelFile, run: Run) -> RunComparison:
    return against_run.compare_with_run(Evaluation(file), run)


def density(file: ModelFile, changes: Any = None, reading: str | None = None, moved: Any = None) -> Any:
    return density_compute.density(Evaluation(file, changes, reading), moved)


def rho(file: ModelFile, alpha_bytes: Any, changes: Any = None, reading: str | None = None) -> Any:
    return density_compute.rho(Evaluation(file, changes, reading), alpha_bytes)


def layers(file: ModelFile) -> Any:
    return density_compute.layers(Evaluation(file))


def beside(file: ModelFile, found: measured.MeasuredDensity, alphas_bytes: Any = ()) -> Any:
    return measured.beside(Evaluation(file), found, alphas_bytes)

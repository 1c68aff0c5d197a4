"""`workbench predict`: what an application should take, before any of it runs on an FPGA."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from workbench.cli.output import DONE, as_json, print_diagnostics, print_json
from workbench.cli.predict_text import (
    bands_json,
    bands_text,
    density_json,
    density_text,
    errors_json,
    errors_text,
    exploration_json,
    exploration_text,
    influences_json,
    influences_text,
    measured_json,
    measured_text,
    prediction_json,
    prediction_text,
)
from workbench.formats.platform_file import load_platform
from workbench.formats.run_folder import open_run
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import Platform
from workbench.predict.calibrate import compare_with_run, take_over
from workbench.predict.density import DensityModelFile, density, load_density
from workbench.predict.errors import errors
from workbench.predict.explore import bands, explore
from workbench.predict.formulas import ModelFile, Spread
from workbench.predict.library import find_model, list_models
from workbench.predict.measured_density import beside, bundled_kernel, measure
from workbench.predict.ratss import RatssModelFile, load_ratss, predict
from workbench.predict.sensitivity import sensitivity
from workbench.predict.solve import solve
from workbench.predict.space import make_space, number, parse_axis
from workbench.session.plugins import load_plugins

F = TypeVar("F", bound=ModelFile)
Loader = Callable[[Path, Mapping[str, Platform]], tuple[F | None, tuple[Diagnostic, ...]]]


def bundled_platforms() -> dict[str, Platform]:
    """The platform templates of the loaded plugins, by name."""
    found: dict[str, Platform] = {}
    for support in load_plugins().platforms.values():
        platform, problems = load_platform(support.template)
        print_diagnostics(problems)
        if platform is not None:
            found[platform.name] = platform
    return found


def _load(load: Loader[F], name: str, kind: str) -> F:
    file, problems = load(find_model(name, kind), bundled_platforms())
    if file is None:
        raise WorkbenchError(*problems)
    print_diagnostics(problems)
    return file


def run_ratss(arguments: argparse.Namespace) -> int:
    file = _load(load_ratss, arguments.model, "ratss")
    if arguments.run_folder:
        return _against_run(file, arguments)
    if arguments.take_over:
        raise WorkbenchError(Diagnostic("--take-over needs a run to take over from", "Give --run RUN too."))
    if _explored(file, arguments, "speedup"):
        return DONE
    prediction = predict(file, reading=arguments.reading)
    rows = errors(file, arguments.reading)
    if arguments.json:
        print_json({**prediction_json(prediction), "errors": errors_json(rows), "diagnostics": []})
    else:
        print(prediction_text(prediction))
        if rows:
            print()
            print(errors_text(rows))
    return DONE


def run_density(arguments: argparse.Namespace) -> int:
    file = _load(load_density, arguments.model, "density")
    if arguments.kernel:
        return _measured(file, arguments)
    if _explored(file, arguments, "limit_ops_per_s"):
        return DONE
    result = density(file, reading=arguments.reading)
    if arguments.json:
        print_json({**density_json(result), "operation": file.model.operation, "diagnostics": []})
    else:
        print(density_text(result, file.model.operation))
    return DONE


def _measured(file: DensityModelFile, arguments: argparse.Namespace) -> int:
    kernel = Path(arguments.kernel)
    if not kernel.is_file() and bundled_kernel(arguments.kernel).is_file():
        kernel = bundled_kernel(arguments.kernel)
    measured = measure(kernel, shlex.split(arguments.kernel_args))
    rows = beside(file, measured, reading=arguments.reading)
    if arguments.json:
        print_json(measured_json(measured, rows))
    else:
        print(measured_text(measured, rows))
    return DONE


def _explored(file: ModelFile, arguments: argparse.Namespace, target_output: str) -> bool:
    """Answer --solve, --sensitivity, or a sweep. False where none is asked for."""
    spreads = _spreads(file, arguments.spread)
    option = "--speedup" if target_output == "speedup" else "--rate"
    if (arguments.solve is None) != (arguments.target is None):
        raise WorkbenchError(Diagnostic(f"--solve and {option} go together", f"Write --solve NAME {option} X."))
    if arguments.solve is not None:
        solution = solve(file, arguments.solve, arguments.target, target_output, reading=arguments.reading)
        if arguments.json:
            print_json({"name": solution.name, "value": solution.value, target_output: solution.target})
        else:
            print(f"{solution.name} = {solution.value:.6g} gives a {target_output} of {solution.target:g}")
        return True
    if arguments.sensitivity:
        rows = sensitivity(
            file, arguments.output, arguments.reading, spreads, arguments.uncertain or 4096, arguments.seed
        )
        if arguments.json:
            print_json(influences_json(rows))
        else:
            print(influences_text(rows))
        return True
    if not arguments.sweep and not arguments.uncertain:
        return False
    _sweep(file, arguments, spreads)
    return True


def _sweep(file: ModelFile, arguments: argparse.Namespace, spreads: dict[str, Spread]) -> None:
    axes: dict[str, np.ndarray] = {}
    for text in arguments.sweep:
        name, values = parse_axis(text, file)
        if name in axes:
            raise WorkbenchError(Diagnostic(f"'{name}' is swept twice", "Give all its values in one --sweep."))
        axes[name] = values
    space = make_space(file, axes, arguments.uncertain, spreads, arguments.seed)
    found = explore(
        file, space, arguments.output, arguments.against, arguments.reading,
        scheduler=arguments.scheduler, progress=_progress if space.points > 10_000_000 else None,
    )  # fmt: skip
    drawn = None
    if axes and arguments.uncertain and space.points <= 10_000_000:
        drawn = bands(file, space, found.output, arguments.reading)
    if arguments.json:
        document = exploration_json(file, found, space, arguments.reading)
        print_json(document | ({"bands": bands_json(drawn, space)} if drawn else {}))
    else:
        print(exploration_text(file, found, space, arguments.reading))
        if drawn:
            print()
            print(bands_text(drawn, space))


def _progress(share: float) -> None:
    print(f"{share:.0%}", file=sys.stderr)


def _spreads(file: ModelFile, texts: Iterable[str]) -> dict[str, Spread]:
    found = {}
    for text in texts:
        name, equals, given = text.partition("=")
        low, colon, high = given.partition(":")
        if not equals or not colon:
            raise WorkbenchError(Diagnostic(f"'{text}' is no spread", "Write NAME=LOW:HIGH."))
        value = float(np.asarray(file.at({name.strip(): 0.0}, None)[name.strip()]))
        unit = file.model.inputs[name.strip()].unit if name.strip() in file.model.inputs else ""
        found[name.strip()] = Spread(value, number(low, unit, text), number(high, unit, text))
    return found


def _against_run(file: RatssModelFile, arguments: argparse.Namespace) -> int:
    if arguments.take_over and file.marked.file in {str(entry.path) for entry in list_models()}:
        hint = f"Copy {file.marked.file} beside your project, and name the copy."
        raise WorkbenchError(Diagnostic("a bundled model is not changed", hint))
    run, problems = open_run(arguments.run_folder)
    print_diagnostics(problems)
    comparison = compare_with_run(file, run, arguments.reading)
    if arguments.take_over:
        take_over(Path(file.marked.file or ""), file, comparison)
    if arguments.json:
        document = {"errors": errors_json(comparison.rows), "inputs": dict(comparison.inputs)}
        print_json(document | {"taken_over": arguments.take_over, "diagnostics": as_json(comparison.diagnostics)})
    else:
        print_diagnostics(comparison.diagnostics)
        print(errors_text(comparison.rows))
        if arguments.take_over:
            print(f"measurements written into {file.marked.file}")
    return DONE

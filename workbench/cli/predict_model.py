"""The model that `workbench predict` is asked of: a file, or what is made of a run, a project's host or a kernel."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.api import ModelKind
from workbench.api.job import Job
from workbench.api.source.files import is_file
from workbench.cli.asking import ask_trust
from workbench.cli.opened import Opened
from workbench.cli.output import print_diagnostics
from workbench.cli.progress import progress
from workbench.formats.platform_file import load_platform
from workbench.formats.project_file import load_project
from workbench.formats.run_folder import open_run
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.platform import Platform
from workbench.model.text import capitalised
from workbench.predict.formulas import ModelFile
from workbench.predict.kinds import load_model, parse_model
from workbench.predict.library import find_model
from workbench.session.open.project_path import PROJECT_SUFFIX
from workbench.session.program.files import write_atomically
from workbench.session.program.plugins import Plugins


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


def given_model(
    arguments: argparse.Namespace, kind: ModelKind, workbench: Opened
) -> tuple[ModelFile, tuple[Diagnostic, ...]]:
    """The model that is asked of, and what there is to say of it. WorkbenchError where it cannot be computed."""
    path, text, doubts = _made(arguments, kind, workbench)
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
    return file, problems


def _made(
    arguments: argparse.Namespace, kind: ModelKind, workbench: Opened
) -> tuple[Path, str | None, Sequence[Diagnostic]]:
    """Where the model is, its document if it is made of something else, and what makes that doubtful."""
    ways = {
        "--from RUN": arguments.from_run if kind.of_run else None,
        "--project PROJECT": arguments.project if kind.of_host else None,
    }
    given: list[tuple[str, Path]] = [(name, way) for name, way in ways.items() if way]
    offered = [name for name, makes in (("--from RUN", kind.of_run), ("--project PROJECT", kind.of_host)) if makes]
    words = {"--from RUN": "a run", "--project PROJECT": "a project"}
    if arguments.model and given:
        message = f"a model and {words[given[0][0]]} cannot be combined"
        raise WorkbenchError(Diagnostic(message, f"Give a model, or {' or '.join(offered)}."))
    if not arguments.model and len(given) != 1:
        message = "a run and a project cannot be combined" if given else "there is no model"
        raise WorkbenchError(Diagnostic(message, f"Give a model, or {' or '.join(offered)}."))
    if kind.of_host and arguments.region and not arguments.project:
        raise WorkbenchError(Diagnostic("--region is a part of a project's host", "Give --project PROJECT too."))
    out: Path | None = arguments.out if offered else None
    if not given:
        if out:
            message = f"--out writes a model that is generated from {' or '.join(words[name] for name in offered)}"
            raise WorkbenchError(Diagnostic(message, f"Give {' or '.join(offered)} too."))
        return find_model(arguments.model, kind), None, ()
    name, path = given[0]
    if out and out.exists():
        raise WorkbenchError(Diagnostic("this file already exists", "Give another name.", file=str(out)))
    text, doubts = _of_run(kind, path) if name == "--from RUN" else (_of_host(kind, arguments, workbench), ())
    if out:
        write_atomically(out, text)
    return path, text, doubts


def _of_run(kind: ModelKind, run: Path) -> tuple[str, Sequence[Diagnostic]]:
    """The document of a model that is calibrated from a run, and what makes it doubtful."""
    assert kind.of_run is not None
    opened, of_run = open_run(run)
    print_diagnostics(of_run)
    return kind.of_run(opened)


def _of_host(kind: ModelKind, arguments: argparse.Namespace, workbench: Opened) -> str:
    """The document of a model that is measured of a project's host."""
    from workbench.session.make.host_model import hottest, measured_model
    from workbench.session.open.opening import open_workspace

    workspace = open_workspace(arguments.project, workbench.plugins)
    print_diagnostics(workspace.diagnostics)
    region = arguments.region or ""
    if not region:
        place = hottest(workspace)
        region = place.region
        why = f"{capitalised(place.why)}."
        print_diagnostics([Diagnostic(f"measured: {region}", why, Severity.NOTE)])
    ask_trust(workspace)
    with progress() as watch:
        return measured_model(workspace, kind, region, Job(watch))


def _only_of_begun(kind: ModelKind, arguments: argparse.Namespace) -> None:
    """WorkbenchError for an option of files that models are made of, where a model is given."""
    if kind.begun is None:
        return
    for name in kind.begun.options:
        if getattr(arguments, name) not in (None, []):
            message = f"--{name.replace('_', '-')} goes with a file {' or '.join(f'*{s}' for s in kind.begun.suffixes)}"
            raise WorkbenchError(Diagnostic(message, "The model gives it: change it there."))

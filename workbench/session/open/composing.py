"""Applications whose sources are generated from a section of the project. Generated sources are kept in the cache."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import Composed, Composer, Composition
from workbench.api.kept import ensure
from workbench.api.source.lines import read_source
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors
from workbench.system.cache import cache_dir
from workbench.system.files import real, sha256

if TYPE_CHECKING:
    from workbench.api.job import Job
    from workbench.model.application import Project
    from workbench.model.platform import Platform

_CHECK = "Check blocks"


def composed(
    project: Project, platform: Platform, path: Path, composers: Mapping[str, Composer]
) -> tuple[Project, tuple[Composed, ...]]:
    """The project with the sources generated from its sections after its own, and these sources. WorkbenchError with
    their faults."""
    parts = []
    for composer in _of(project, composers):
        sources = replace(composer.compose(composition(project, platform, path)), name=composer.name)
        parts.append(sources)
        project = _with(project, sources, _written(sources.texts), path.parent)
    return project, tuple(parts)


def drafted(path: Path, platform: Platform) -> Composition:
    """The composition of a project from its current file, or from typed text. Raises WorkbenchError."""
    from workbench.formats.project_file import load_project  # with the schemas

    project, problems = load_project(path)
    if project is None:
        raise WorkbenchError(*problems)
    return composition(project, platform, path)


def faults(path: Path, platform: Platform, composers: Mapping[str, Composer]) -> tuple[Diagnostic, ...]:
    """The faults of a project's sections, with the current files or typed texts. Nothing is written."""
    try:
        draft = drafted(path, platform)
        for composer in _of(draft.project, composers):
            composer.compose(draft)
    except WorkbenchError as error:
        return error.diagnostics
    return ()


def check_steps(composed_sources: Sequence[Composed]) -> tuple[str, ...]:
    """The job's steps before generated sources are built."""
    return (_CHECK,) if any(one.check for one in composed_sources) else ()


def check(composed_sources: Sequence[Composed], job: Job) -> None:
    """Report errors that running parts of the generated sources finds; the project must be trusted. WorkbenchError if
    it cannot be built."""
    for name in check_steps(composed_sources):
        with job.step(name):
            diagnostics = []
            for one in composed_sources:
                for diagnostic in one.check(job) if one.check else ():
                    job.report(diagnostic)
                    diagnostics.append(diagnostic)
            if has_errors(diagnostics):
                raise WorkbenchError(*diagnostics)


def _of(project: Project, composers: Mapping[str, Composer]) -> list[Composer]:
    return [composer for name, composer in composers.items() if getattr(project, name, None) is not None]


def composition(project: Project, platform: Platform, path: Path) -> Composition:
    """A project in the form that composers take."""
    marked, _ = read_marked(read_source(path).decode("utf-8", "replace"), str(path))

    def place(keys: tuple[str | int, ...]) -> tuple[int, int]:
        if marked is None:
            return 1, 1
        at = marked.diagnostic(keys, "")
        return at.line or 1, at.column or 1

    return Composition(path, project, platform, place)


def made_folder() -> Path:
    """The folder of all generated sources."""
    return cache_dir() / "composed"


def _written(texts: Mapping[str, str]) -> Path:
    """A folder with these files: the same one for the same texts."""
    folder = made_folder() / sha256(json.dumps(sorted(texts.items())).encode())[:32]
    for name, text in texts.items():
        ensure(folder / name, text.encode())
    return folder


def _with(project: Project, sources: Composed, folder: Path, root: Path) -> Project:
    def placed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(os.path.relpath(folder / name, root) for name in names)

    host, hardware = project.host, project.hardware
    folders = (folder, *sources.outside)
    hdl = placed(sources.hdl)
    library = (name for name in hdl if any(real(root / name).is_relative_to(real(one)) for one in folders))
    update: dict[str, object] = {
        "host": host.model_copy(
            update={
                "sources": (*host.sources, *placed(sources.host)),
                "include_dirs": (*host.include_dirs, *map(str, (*sources.include_dirs, root))),
            }
        ),
        "hardware": hardware.model_copy(
            update={
                "sources": (*hardware.sources, *hdl),
                "cards": sources.cards or hardware.cards,
                "library": (*hardware.library, *library),
                "names": {**hardware.names, **sources.names},
            }
        ),
        "outside": (*project.outside, *map(str, folders)),
    }
    if sources.cores:
        update["simulation"] = project.simulation.model_copy(update={"cores": sources.cores})
    return project.model_copy(update=update)

"""Opens a project: reads its documents and resolves what they name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import PlatformSupport
from workbench.api.source.flags import absolute
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, unknown_name
from workbench.session.open.hdl_language import language_of
from workbench.session.open.own_api import own_support, with_header
from workbench.session.open.project_path import find_project
from workbench.session.open.workspace import Workspace, at_keys, named_item
from workbench.session.program.plugins import Plugins

if TYPE_CHECKING:  # the documents' schemas are imported by the first project
    from workbench.model.application import HardwareSources, Project
    from workbench.model.platform import Platform


def open_workspace(
    path: Path, plugins: Plugins, *, faulty: bool = False, platform_name: str = "",
    edge_depths: Mapping[str, int] | None = None,
) -> Workspace:  # fmt: skip
    """Open a project file (or a folder with only one). Raises WorkbenchError with every problem found. With `faulty`, a
    project whose sources cannot be composed is opened without them, for fixing. `platform_name` replaces the project's
    platform, `edge_depths` the depths of a streaming application's edges, by label.

    Only reads; nothing of the project is run.
    """
    from workbench.formats.platform_file import load_platform
    from workbench.formats.project_file import load_project
    from workbench.session.open.apis import with_apis, with_ranks
    from workbench.session.open.composing import composed
    from workbench.session.open.top_names import with_own_names

    path = Path(os.path.realpath(find_project(path)))
    project, problems = load_project(path)
    if project is None:
        raise WorkbenchError(*problems)
    if platform_name:
        project = project.model_copy(update={"platform": platform_name})
    if edge_depths and project.streaming is not None:
        streaming = project.streaming.model_copy(update={"depths": {**project.streaming.depths, **edge_depths}})
        project = project.model_copy(update={"streaming": streaming})
    platform_path = _find_platform(project, path, plugins)
    platform, more = load_platform(platform_path, plugins.port_kinds)
    problems = (*problems, *more)
    if platform is None:
        raise WorkbenchError(*problems)
    if project.host.queues:
        queues = (*platform.host.queues, *project.host.queues)
        platform = platform.model_copy(update={"host": platform.host.model_copy(update={"queues": queues})})
    designs = project.hardware.designs() if project.hardware.fpgas else ()
    project, lists, wrong = _with_expanded_sources(project, path.parent)
    project, commands, more = _with_source_flags(project, path)
    problems = (*problems, *wrong, *more)
    try:
        project, generated = composed(project, platform, path, plugins.composers)
        parts = tuple(path.parent / name for one in generated for name in one.parts)
        faults: tuple[Diagnostic, ...] = ()
    except WorkbenchError as error:
        if not faulty or project.streaming is None:
            raise
        parts, generated = tuple(path.parent / name for name in project.streaming.sources), ()
        faults = error.diagnostics
    language = language_of(project.hardware, plugins.hdl_languages)
    project = project.model_copy(update={"hardware": project.hardware.model_copy(update={"language": language})})
    support = own_support(platform, platform_path, plugins.platforms, project, path.parent)
    folders = (*project.host.include_dirs, *(os.path.dirname(source) for source in project.host.sources))
    support = with_header(support, platform, platform_path, (path.parent / folder for folder in folders))

    def load_api(api: PlatformSupport) -> Platform:
        loaded, wrong = load_platform(api.template, plugins.port_kinds)
        if loaded is None:
            raise WorkbenchError(*wrong)
        return loaded

    platform, support = with_apis(
        platform, support, project, plugins.platforms, load_api, lambda keys, problem: at_keys(path, keys, problem)
    )
    if project.target.name not in plugins.targets:  # only running needs it
        unknown = unknown_name("target", project.target.name, plugins.targets, path)
        problems = (*problems, at_keys(path, ("target", "name"), replace(unknown, severity=Severity.WARNING)))
    workspace = Workspace(
        path=path,
        root=path.parent,
        project=project,
        platform=with_own_names(platform, project.hardware.signals, path),
        platform_path=platform_path,
        support=support,
        host_language=named_item(
            "host language", project.host.language, plugins.host_languages, path, "host", "language"
        ),
        hdl_language=named_item("hardware language", language, plugins.hdl_languages, path, "hardware", "language"),
        targets=plugins.targets,
        port_kinds=plugins.port_kinds,
        composers=plugins.composers,
        composed=generated,
        diagnostics=problems,
        parts=parts,
        commands=(*commands, *lists),
        faults=faults,
    )
    workspace = _with_designs(workspace, designs, platform, plugins) if designs else workspace
    return with_ranks(workspace, project.host.ranks)


def _with_designs(
    workspace: Workspace, hardware: Sequence[HardwareSources], platform: Platform, plugins: Plugins
) -> Workspace:
    """The workspace with the design of each FPGA; `hardware` is the project's, `platform` the template's."""
    from workbench.session.open.file_lists import with_lists
    from workbench.session.open.links import check_networks, ends_at, with_ends
    from workbench.session.open.top_names import with_own_names

    path, root, project = workspace.path, workspace.root, workspace.project
    check_networks(project.hardware, platform, lambda keys, problem: at_keys(path, keys, problem))
    by_design: dict[str, Workspace] = {}
    designs, lists, problems = [], [*workspace.commands], [*workspace.diagnostics]
    for number, as_written in enumerate(hardware):
        design, read, wrong = with_lists(as_written, root, project.outside)
        ends = ends_at(project.hardware, project.hardware.fpgas[number].name)
        sides = [(end.side, end.signals) for end in ends]
        if (text := f"{design.model_dump_json()} {sides}") not in by_design:
            lists, problems = [*lists, *read], [*problems, *wrong]
            keys = ("hardware", "fpgas", number)
            language = language_of(design, plugins.hdl_languages)
            design = design.model_copy(update={"language": language})
            own_platform = with_own_names(platform, design.signals, path, (*keys, "signals"))
            design, own_platform = with_ends(design, own_platform, ends, plugins.port_kinds)
            by_design[text] = replace(
                workspace.with_hardware(design),
                platform=own_platform,
                ends=ends,
                hdl_language=named_item("hardware language", language, plugins.hdl_languages, path, *keys, "language"),
            )
        designs.append(by_design[text])
    return replace(
        workspace, own_designs=tuple(designs), commands=tuple(lists), diagnostics=tuple(dict.fromkeys(problems))
    )


def _with_expanded_sources(project: Project, root: Path) -> tuple[Project, tuple[Path, ...], tuple[Diagnostic, ...]]:
    """The project with every source named, patterns and file lists resolved; the lists; their problems.

    The files are those that were checked.
    """
    from workbench.api.source.files import expand_sources
    from workbench.session.open.file_lists import with_lists

    host = tuple(os.path.relpath(path, root) for path in expand_sources(root, project.host.sources))
    hardware, lists, problems = with_lists(project.hardware, root, project.outside)
    update = {"host": project.host.model_copy(update={"sources": host}), "hardware": hardware}
    return project.model_copy(update=update), lists, problems


def _with_source_flags(project: Project, path: Path) -> tuple[Project, tuple[Path, ...], tuple[Diagnostic, ...]]:
    """The project with its own build's flags for each source, and the file that lists them."""
    from workbench.session.open.compile_commands import find_commands, flags_of_sources

    host, root, own_flags = project.host, path.parent, project.host.source_flags
    unknown = [
        at_keys(path, ("host", "source_flags", name), replace(unknown, severity=Severity.WARNING))
        for name in sorted(own_flags.keys() - set(host.sources))
        for unknown in (unknown_name("host source", name, host.sources, path),)
    ]
    commands = find_commands(root, host)
    listed, problems = flags_of_sources(commands, root, host) if commands else ({}, [])
    merged_flags = {
        name: (*listed.get(name, ()), *absolute(own_flags.get(name, ()), root)) for name in (*listed, *own_flags)
    }
    host = host.model_copy(update={"source_flags": merged_flags})
    return project.model_copy(update={"host": host}), (commands,) if commands else (), (*unknown, *problems)


def find_template(name: str, folder: Path, platforms: Mapping[str, PlatformSupport]) -> Path | Diagnostic:
    """The file of a platform, which is named by its template or by a file in the project's folder; else that there is
    none."""
    if support := platforms.get(name):
        return support.template
    beside = folder / name
    if os.path.isfile(beside):
        return beside
    unknown = unknown_name("platform template", name, platforms)
    hint = f"{unknown.hint} The path of a template works too, such as platform: my_card.yaml beside this file."
    return replace(unknown, hint=hint)


def _find_platform(project: Project, path: Path, plugins: Plugins) -> Path:
    found = find_template(project.platform, path.parent, plugins.platforms)
    if isinstance(found, Diagnostic):
        raise WorkbenchError(at_keys(path, ("platform",), replace(found, file=str(path))))
    return found

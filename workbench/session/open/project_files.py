"""The files of a project that users read and edit."""

from pathlib import Path, PurePath

from workbench.session.open.workspace import Workspace


def project_files(workspace: Workspace) -> tuple[Path, ...]:
    """The host sources, hardware sources and documents, each once."""
    from workbench.api.source.files import expand_sources

    sources = expand_sources(workspace.root, workspace.project.host.sources)
    return tuple(dict.fromkeys((*sources, *workspace.hdl_files, *workspace.documents)))


def file_named(workspace: Workspace, name: str) -> Path | None:
    """The project's file for a path in a tool's message, which may name it or a copy of it. None if it is not a file of
    the project."""
    named_path, files = PurePath(name), project_files(workspace)
    exact = next((path for path in files if path == workspace.root / named_path), None)
    alike = [path for path in files if path.name == named_path.name]
    return exact or max(alike, key=lambda path: _shared(path, named_path), default=None)


def _shared(path: PurePath, other: PurePath) -> int:
    """The number of equal last parts of two paths."""
    same = (one == two for one, two in zip(reversed(path.parts), reversed(other.parts), strict=False))
    return next((number for number, is_same in enumerate(same) if not is_same), len(path.parts))

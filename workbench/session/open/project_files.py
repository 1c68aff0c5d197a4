"""The files of a project that a person reads and edits."""

from pathlib import Path, PurePath

from workbench.session.open.workspace import Workspace


def project_files(workspace: Workspace) -> tuple[Path, ...]:
    """Host sources, hardware sources and documents, each once."""
    from workbench.api.source.files import expand_sources

    sources = expand_sources(workspace.root, workspace.project.host.sources)
    return tuple(dict.fromkeys((*sources, *workspace.hdl_files, *workspace.documents)))


def file_named(workspace: Workspace, name: str) -> Path | None:
    """The project's file that a tool's message names, as a path from anywhere: its own, or that of a copy. None where
    no file of the project is meant."""
    said, files = PurePath(name), project_files(workspace)
    whole = next((path for path in files if path == workspace.root / said), None)
    alike = [path for path in files if path.name == said.name]
    return whole or max(alike, key=lambda path: _shared(path, said), default=None)


def _shared(path: PurePath, other: PurePath) -> int:
    """How many of the last parts are the same."""
    same = (one == two for one, two in zip(reversed(path.parts), reversed(other.parts), strict=False))
    return next((number for number, is_same in enumerate(same) if not is_same), len(path.parts))

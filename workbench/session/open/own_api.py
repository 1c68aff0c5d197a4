"""Chooses the host API that a project is built against: its own, its template's, a plugin's, or a header generated from
entries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import PlatformSupport
from workbench.api.kept import ensure
from workbench.model.diagnostic import Diagnostic, WorkbenchError, unknown_name
from workbench.system.cache import cache_dir
from workbench.system.files import sha256

if TYPE_CHECKING:
    from workbench.model.application import Project
    from workbench.model.platform import Platform


def own_support(
    platform: Platform,
    template: Path,
    platforms: Mapping[str, PlatformSupport],
    project: Project | None = None,
    root: Path | None = None,
) -> PlatformSupport | None:
    """The named implementation: by the project in `root`, by the template, by the template's `api`, or by its name
    among the plugins' `platforms`; None without any.

    WorkbenchError if the named one does not exist.
    """
    candidates = [(project.api_dir, project.api_sources, root)] if project and root else []
    candidates.append((platform.host.api_dir, platform.host.api_sources, template.parent))
    for folder, sources, base in candidates:
        if folder or sources:
            paths = [base / name for name in (*sources, *((folder,) if folder else ()))]
            missing = [Diagnostic(f"there is no '{path.name}' to build the API from", file=str(path))
                       for path in paths if not os.path.exists(path)]  # fmt: skip
            if missing:
                raise WorkbenchError(*missing)
            directory = base / folder if folder else None
            return PlatformSupport(platform.name, template, directory, tuple(base / name for name in sources))
    shared = platform.host.api
    if shared and shared not in platforms:
        raise WorkbenchError(unknown_name("platform template with an API", shared, platforms, template))
    support = platforms.get(shared or platform.name)
    return replace(support, name=platform.name, template=template) if support else None


def with_header(
    support: PlatformSupport | None, platform: Platform, template: Path, folders: Iterable[Path]
) -> PlatformSupport | None:
    """The support with a header for its API: its own, the user's in one of the `folders`, or one generated from the
    template's entries in the cache."""
    from workbench.api.c_header import header_names, header_text  # here, since schemas are long to import
    from workbench.model.prototypes import callees

    names = header_names(platform.host)
    support = support or (PlatformSupport(platform.name, template) if platform.host.entries else None)
    if support is None or support.api_dir or support.api_sources or callees(platform.host.entries)[1]:
        return support
    if any(os.path.isfile(folder / name) for folder in folders for name in names):
        return support
    text = header_text(platform.host)
    place = cache_dir() / "api" / sha256(text.encode())[:32]
    for name in names:
        ensure(place / name, text.encode())
    return replace(support, api_dir=place)

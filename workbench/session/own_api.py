"""The host API that a project is built against on the simulated card: its own, its template's, a plugin's, or made."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import PlatformSupport
from workbench.model.diagnostic import Diagnostic, WorkbenchError

if TYPE_CHECKING:
    from workbench.model.application import Project
    from workbench.model.platform import Platform

_SYSTEM = Path("/usr/include")


def own_support(
    platform: Platform,
    template: Path,
    plugin: PlatformSupport | None,
    project: Project | None = None,
    root: Path | None = None,
) -> PlatformSupport | None:
    """The implementation that is named: by the project in `root`, by the template, or by a plugin; None without any.

    WorkbenchError where a file that is named is not there.
    """
    named = [(project.api_dir, project.api_sources, root)] if project and root else []
    named.append((platform.host.api_dir, platform.host.api_sources, template.parent))
    for folder, sources, base in named:
        if folder or sources:
            paths = [base / name for name in (*sources, *((folder,) if folder else ()))]
            missing = [Diagnostic(f"there is no '{path.name}', which the API is to be built of", file=str(path))
                       for path in paths if not path.exists()]  # fmt: skip
            if missing:
                raise WorkbenchError(*missing)
            directory = base / folder if folder else None
            return PlatformSupport(platform.name, template, directory, tuple(base / name for name in sources))
    return plugin


def made_support(platform: Platform, template: Path, folders: Iterable[Path]) -> PlatformSupport | None:
    """The API made of the template's entries, in the cache. The header is the user's where one of the `folders` has it.
    None where the template says too little: `workbench.run.shim.shim_lacks` tells what."""
    from workbench.folders import cache_dir
    from workbench.run.compile import digest
    from workbench.run.shim import shim_header, shim_lacks, shim_source

    if shim_lacks(platform) or not platform.host.entries:
        return None
    names = list(_headers(platform))
    header = next((path for folder in folders for name in names if (path := folder / name).is_file()), None)
    text = shim_header(platform)
    place = cache_dir() / "api" / digest([text, shim_source(platform, header or Path("api.h")), *names])
    made = [place / "include" / name for name in names or ["api.h"]]
    files = {place / "api.c": shim_source(platform, header or made[0])}
    if header is None:
        files |= dict.fromkeys(made, text)
    for path, content in files.items():
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.{os.getpid()}")
            part.write_text(content, encoding="utf-8")
            os.replace(part, path)
    return PlatformSupport(platform.name, template, None if header else place / "include", (place / "api.c",))


def _headers(platform: Platform) -> Iterator[str]:
    """The files that the template's include lines name, but for the system's own."""
    for line in platform.host.include_lines:
        name = re.sub(r'^\s*#\s*include\s*|["<>]', "", line).strip()
        if name and not (_SYSTEM / name).is_file() and not os.path.isabs(name) and ".." not in name:
            yield name

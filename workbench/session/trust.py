"""Building and running a project runs its code: asked once, remembered by the project file's path."""

from __future__ import annotations

from pathlib import Path

from workbench.session import store


def is_trusted(project: Path) -> bool:
    return str(project.resolve()) in store.load("trusted", [])


def trust(project: Path) -> None:
    known = store.load("trusted", [])
    store.save("trusted", sorted({*known, str(project.resolve())}))

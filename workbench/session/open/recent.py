"""The recently opened projects, newest first."""

from pathlib import Path

from workbench.system import store
from workbench.system.files import real

KEPT = 8


def recent() -> tuple[Path, ...]:
    return tuple(Path(p) for p in store.load("recent", []) if Path(p).exists())


def remember(project: Path) -> None:
    path = str(real(project))
    store.save("recent", [path, *(p for p in store.load("recent", []) if p != path)][:KEPT])


def clear() -> None:
    store.save("recent", [])

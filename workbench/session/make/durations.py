"""The durations of the steps of a project's last runs, for the remaining time of the next run."""

from collections.abc import Mapping
from pathlib import Path

from workbench.system import store
from workbench.system.files import real

KEPT = 50


def remembered(project: Path, way: str) -> Mapping[str, float]:
    """The seconds of each step in the last complete run of this kind ("trace", "plain", ...)."""
    durations: Mapping[str, Mapping[str, float]] = store.load("durations", {})
    return durations.get(_key(project, way), {})


def remember(project: Path, way: str, durations_s: Mapping[str, float]) -> None:
    others = {key: kept for key, kept in store.load("durations", {}).items() if key != _key(project, way)}
    kept = {**others, _key(project, way): dict(durations_s)}
    store.save("durations", dict(list(kept.items())[-KEPT:]))


def _key(project: Path, way: str) -> str:
    return f"{way} {real(project)}"

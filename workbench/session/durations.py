"""How long the steps of a project's runs took the last time, so that the next one can say how long is left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from workbench.session import store

KEPT = 50


def remembered(project: Path, way: str) -> Mapping[str, float]:
    """Seconds by step, of the last run that came to its end in this way ("trace", "plain", ...)."""
    found = store.load("durations", {})
    steps = found.get(_key(project, way), {}) if isinstance(found, dict) else {}
    if not isinstance(steps, dict):
        return {}
    return {name: float(seconds) for name, seconds in steps.items() if isinstance(seconds, int | float)}


def remember(project: Path, way: str, durations_s: Mapping[str, float]) -> None:
    found = store.load("durations", {})
    others = (
        {key: value for key, value in found.items() if key != _key(project, way)} if isinstance(found, dict) else {}
    )
    kept = {**others, _key(project, way): dict(durations_s)}
    store.save("durations", dict(list(kept.items())[-KEPT:]))


def _key(project: Path, way: str) -> str:
    return f"{way} {project.resolve()}"

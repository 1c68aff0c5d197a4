"""Findings set aside by the user, kept for each project by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.system import store

if TYPE_CHECKING:
    from workbench.model.run import Run

_NAME = "set_aside"


def load_aside(run: Run) -> frozenset[str]:
    return frozenset(store.load(_NAME, {}).get(_project(run), ()))


def save_aside(run: Run, findings: frozenset[str]) -> None:
    store.save(_NAME, {**store.load(_NAME, {}), _project(run): sorted(findings)})


def _project(run: Run) -> str:
    return run.manifest.project or run.manifest.name

"""The names of runs, blocks and ranges in the window."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.model.text import time_text

if TYPE_CHECKING:
    from workbench.model.run import Run


def folder_title(folder: Path) -> str:
    """`runs/run-14` is Run 14; any other folder keeps its name."""
    head, dash, number = folder.name.rpartition("-")
    return f"Run {number}" if dash and head == "run" and number.isdigit() else folder.name


def run_title(run: Run) -> str:
    return folder_title(run.path) if run.path else run.manifest.name


def run_detail(run: Run) -> str:
    """The project's name and the settings: `2-D PDF, original, CORES 20`."""
    settings = [f"{name} {value}" for name, value in run.manifest.settings.items()]
    return ", ".join(part for part in (run.manifest.name, *settings) if part)


def range_title(time_range: tuple[int, int] | None) -> str:
    if time_range is None:
        return "Whole run"
    from workbench.model.run import PS_PER_S

    first, last = (time_text(ps / PS_PER_S, 6) for ps in time_range)
    return f"{first} to {last}"


@lru_cache(maxsize=4096)
def file_path(root: Path | None, file: str) -> Path:
    """The file's path, cached for the many blocks of a file."""
    return Path(file) if root is None else root / file

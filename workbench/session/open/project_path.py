"""Finds the project that a path means, without reading a document or importing a schema."""

import os
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError

PROJECT_SUFFIX = ".workbench.yaml"


def find_project(path: Path) -> Path:
    """The project file of a path: itself, or the only one in a folder."""
    if os.path.isdir(path):
        projects = sorted(path.glob("*" + PROJECT_SUFFIX))
        if len(projects) == 1:
            return projects[0]
        hint = ", ".join(p.name for p in projects) if projects else f"A project file ends in {PROJECT_SUFFIX}."
        problem = "holds several projects: name one" if projects else "holds no project"
        raise WorkbenchError(Diagnostic(f"the folder {problem}", hint, file=str(path)))
    return path

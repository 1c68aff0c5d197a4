"""Which project a path means. Reads no document: what only looks for one imports no schema."""

import os
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError

PROJECT_SUFFIX = ".workbench.yaml"


def find_project(path: Path) -> Path:
    """The project file meant by a path: itself, or the only one in a folder."""
    if os.path.isdir(path):
        projects = sorted(path.glob("*" + PROJECT_SUFFIX))
        if len(projects) == 1:
            return projects[0]
        hint = ", ".join(p.name for p in projects) if projects else f"A project file ends in {PROJECT_SUFFIX}."
        problem = "holds several projects: name one" if projects else "holds no project"
        raise WorkbenchError(Diagnostic(f"the folder {problem}", hint, file=str(path)))
    return path

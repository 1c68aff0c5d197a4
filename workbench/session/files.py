"""Writing what a person asked for: whole or not at all, in a folder that is made where it is not there."""

from __future__ import annotations

from pathlib import Path

from workbench.files import write_files
from workbench.model.diagnostic import Diagnostic, WorkbenchError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file by replacing it at once. WorkbenchError where it cannot be written; the old file then stays."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "Choose another place."
        raise WorkbenchError(Diagnostic(f"cannot write: {error.strerror or error}", hint, file=str(path))) from None
    write_files({path: content.encode("utf-8") if isinstance(content, str) else content})

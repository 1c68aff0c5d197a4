"""Writing what a person asked for: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from workbench.model.diagnostic import Diagnostic, WorkbenchError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file by replacing it at once. WorkbenchError where it cannot be written; the old file then stays."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
            temporary = file.name
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise WorkbenchError(
            Diagnostic(
                f"cannot write: {error.strerror or error}", "Choose another place, or free some room.", file=str(path)
            )
        ) from None

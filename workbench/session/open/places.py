"""Normalises file names: sources by their path below the project, diagnostics by their whole path."""

import os
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from workbench.model.diagnostic import Diagnostic

T = TypeVar("T")


def placed(value: T, root: Path) -> T:
    """The same data with every field `file` normalised.

    Below `root` a source has its relative path, so that runs and projects can move; a diagnostic has the whole path, so
    that it can be opened from anywhere.
    """
    result: T = _placed(value, os.path.realpath(root))
    return result


def _placed(value: Any, root: str) -> Any:
    if isinstance(value, tuple):
        items = tuple(_placed(item, root) for item in value)
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if not is_dataclass(value) or isinstance(value, type):
        return value
    is_diagnostic = isinstance(value, Diagnostic)
    changes: dict[str, Any] = {}
    for field in fields(value):
        old = getattr(value, field.name)
        new = _path(old, root, is_diagnostic) if field.name == "file" and old else _placed(old, root)
        if new is not old:
            changes[field.name] = new
    return replace(value, **changes) if changes else value


def _path(file: str, root: str, whole: bool) -> str:
    absolute = os.path.normpath(os.path.join(root, file))
    if whole:
        return absolute
    real = os.path.realpath(absolute)
    return os.path.relpath(real, root) if real.startswith(root + os.sep) else absolute

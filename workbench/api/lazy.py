"""Names that a module offers of others, each loaded when it is first asked for."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^    from (\S+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


def sources(file: str) -> Mapping[str, str]:
    """The names that a module imports under `if TYPE_CHECKING`, each with the module that defines it."""
    imports = _IMPORT.findall(Path(file).read_text("utf-8"))
    return {name: module for module, many, one in imports for name in re.findall(r"\w+", many or one)}


def loads(module: str, file: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module: loads what it imports under `if TYPE_CHECKING`."""
    known = cache(lambda: sources(file))

    def load(name: str) -> Any:
        if name.startswith("__") or name not in known():
            raise AttributeError(f"{module} has no '{name}'")
        value = getattr(import_module(known()[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return load

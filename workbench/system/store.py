"""What is remembered between sessions: trusted projects, recent ones, preferences. One small JSON file each."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.files import read_regular, replace_file
from workbench.system.folders import config_dir

Holds = Callable[[Any], bool]


def _list_of(inner: Holds) -> Holds:
    return lambda value: isinstance(value, list) and all(inner(item) for item in value)


def _by_name(inner: Holds) -> Holds:
    return lambda value: isinstance(value, dict) and all(inner(item) for item in value.values())


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any, most: float = float("inf")) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < most


def _pixels(value: Any) -> bool:
    return isinstance(value, int) and _number(value, 1 << 16)


_THEMES = ("light", "dark", "light-contrast", "dark-contrast", "system")
#: What each file holds; one that holds anything else counts as damaged. Plain functions: the window reads these as it
#: starts, before any library of schemas is needed.
SHAPES: dict[str, Holds] = {
    "recent": _list_of(_text),
    "used": _list_of(_text),
    "trusted": _by_name(lambda value: value == "own" or _by_name(_text)(value)),
    "window": lambda value: isinstance(value, dict) and value.get("theme", "light") in _THEMES,
    "layout": _by_name(_by_name(_pixels)),
    "set_aside": _by_name(_list_of(_text)),
    "pinned_rows": _by_name(_list_of(_text)),
    "durations": _by_name(_by_name(_number)),
}


def load(name: str, default: Any) -> Any:
    """The stored value, or `default` where there is none or the file is damaged or holds something else."""
    try:
        value = json.loads(read_regular(config_dir() / f"{name}.json"))
        return value if SHAPES[name](value) else default
    except (OSError, ValueError, RecursionError):
        return default


def save(name: str, value: Any) -> None:
    """Store a value atomically. A folder that cannot be written is no reason to stop: the value is then forgotten."""
    with suppress(OSError):
        write_json(config_dir() / f"{name}.json", value)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file at once or not at all, for its owner's eyes. Raises OSError where that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps(value, indent=1).encode(), 0o600)


def preference(name: str, default: str) -> str:
    """One of its user's preferences."""
    return str(load("window", {}).get(name, default))


def set_preference(name: str, value: str) -> None:
    save("window", {**load("window", {}), name: value})


def change_preference(name: str, value: str | None) -> None:
    """Store a preference, or none, as its user asks. WorkbenchError where it cannot be written."""
    others = {key: kept for key, kept in load("window", {}).items() if key != name}
    file = config_dir() / "window.json"
    try:
        write_json(file, others if value is None else {**others, name: value})
    except OSError as error:
        hint = "Free some space, or let RCW_PREFERENCES name a folder that can be written."
        raise WorkbenchError(
            Diagnostic(f"the setting is not stored: {error.strerror or error}", hint, file=str(file))
        ) from None

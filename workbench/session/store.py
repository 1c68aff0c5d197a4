"""What is remembered between sessions: trusted projects, recent ones, preferences. One small JSON file each."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError


def _of_known_theme(preferences: dict[str, Any]) -> dict[str, Any]:
    if preferences.get("theme", "light") not in ("light", "dark", "system"):
        raise ValueError("there is no such theme")
    return preferences


#: What each file holds; one that holds anything else counts as damaged.
SHAPES: dict[str, TypeAdapter[Any]] = {
    "recent": TypeAdapter(list[str]),
    "trusted": TypeAdapter(dict[str, Literal["own"] | dict[str, str]]),
    "window": TypeAdapter(Annotated[dict[str, Any], AfterValidator(_of_known_theme)]),
    "layout": TypeAdapter(dict[str, dict[str, Annotated[int, Field(ge=0, lt=1 << 16)]]]),
    "set_aside": TypeAdapter(dict[str, list[str]]),
    "durations": TypeAdapter(dict[str, dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]]),
}


def config_dir() -> Path:
    """Where preferences live: `$RCW_PREFERENCES`, or the XDG configuration folder."""
    if chosen := os.environ.get("RCW_PREFERENCES"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "rc-workbench"


def state_dir() -> Path:
    """Where lies what a session leaves: `state` below `$RCW_PREFERENCES`, or the system's folder for such."""
    if chosen := os.environ.get("RCW_PREFERENCES"):
        return Path(chosen) / "state"
    import platformdirs  # a few milliseconds: only where something is left

    return platformdirs.user_state_path("rc-workbench", appauthor=False)


def load(name: str, default: Any) -> Any:
    """The stored value, or `default` where there is none or the file is damaged or holds something else."""
    try:
        return SHAPES[name].validate_python(json.loads((config_dir() / f"{name}.json").read_text("utf-8")))
    except (OSError, ValueError, RecursionError, ValidationError):
        return default


def save(name: str, value: Any) -> None:
    """Store a value atomically. A folder that cannot be written is no reason to stop: the value is then forgotten."""
    with suppress(OSError):
        write_json(config_dir() / f"{name}.json", value)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file at once or not at all, for its owner's eyes. Raises OSError where that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        json.dump(value, file, indent=1)
    os.replace(file.name, path)

"""What the loaded plugins bring, for code that has no `Plugins` at hand: what looks for ports inside designs, or asks
how a file's text is written."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from workbench.api.faults import BUILT_IN, GROUP

_brought: dict[str, tuple[Any, ...]] = {}


def set_brought(gathered: Mapping[str, Mapping[str, Any]]) -> None:
    """Say what the loaded plugins bring: by the kind of thing (`port_kinds`), and by name."""
    _brought.clear()
    _brought.update({kind: tuple(things.values()) for kind, things in gathered.items()})


def brought(kind: str) -> tuple[Any, ...]:
    """What the plugins that were loaded last bring of a kind, else the built-in ones."""
    if kind not in _brought:
        points = [point for point in entry_points(group=GROUP) if point.value.startswith(BUILT_IN)]
        hooks = (getattr(point.load(), f"workbench_{kind}", tuple) for point in points)
        _brought[kind] = tuple(thing for hook in hooks for thing in hook())
    return _brought[kind]

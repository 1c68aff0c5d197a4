"""What is imported when it is first used, so that a plugin that is found, and not used, costs next to nothing."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Later:
    """A plugin's function by its place, "package.module:name", which is imported when it is first called."""

    place: str

    def load(self) -> Any:
        module, _, name = self.place.partition(":")
        return getattr(import_module(module), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.load()(*arguments, **named)

"""Commands of `workbench` that a plugin brings, and what they are given of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

    from workbench.api.descriptors import Composition
    from workbench.api.metrics import Measured, Metrics


class Workbench(Protocol):
    """The workbench as a command sees it."""

    @property
    def metrics(self) -> Metrics:
        """Every metric that rules may name, by name."""
        ...

    def open_run(self, path: Path) -> Measured:
        """A run folder. What is wrong with it goes to stderr; WorkbenchError where it is none at all."""
        ...

    def open_project(self, path: Path) -> Composition:
        """A project with its platform. What is wrong with it goes to stderr; WorkbenchError where it is none at all."""
        ...

    def print_json(self, document: object) -> None:
        """One JSON document on stdout, as every command with `--json` answers."""
        ...


@dataclass(frozen=True)
class Command:
    """A command by its name and its line in the list of commands.

    `add` gives its parser the arguments; where it has actions, each sets its own `run`. `run` does it, and returns the
    exit code: 0 done, 1 what was asked for failed, 2 bad input. A WorkbenchError that it raises is told as any
    command's, with exit code 2. A log is kept of one that is `logged`: that works for long, or on much.
    """

    name: str
    title: str
    add: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, Any], int] | None = None
    logged: bool = False

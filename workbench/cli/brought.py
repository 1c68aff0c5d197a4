"""Commands that plugins bring."""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

from workbench.api import ModelKind
from workbench.api.commands import Command
from workbench.api.metrics import Measured, Metrics
from workbench.cli.output import loaded_plugins, print_diagnostics, print_json
from workbench.session.plugins import Plugins


def add_brought(commands: Any, known: Container[str]) -> None:
    """Add the plugins' commands to the parsers there are; one with the name of the workbench's own is left out."""
    plugins = loaded_plugins()
    opened = _Opened(plugins)
    for command in plugins.commands.values():
        if command.name not in known:
            parser = commands.add_parser(command.name, help=command.title)
            command.add(parser)
            parser.set_defaults(run=_runner(command, opened))


def brought_kinds() -> Iterable[ModelKind]:
    """Kinds of models that plugins bring."""
    return loaded_plugins().model_kinds.values()


def _runner(command: Command, opened: _Opened) -> Any:
    def run(arguments: argparse.Namespace) -> int:
        return command.run(arguments, opened)

    return run


class _Opened:
    """What `workbench.api.commands.Workbench` promises."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    @property
    def metrics(self) -> Metrics:
        return self._plugins.metrics

    def open_run(self, path: Path) -> Measured:
        from workbench.session.exchange import measured_run

        measured, problems = measured_run(path, self._plugins)
        print_diagnostics(problems)
        return measured

    def print_json(self, document: object) -> None:
        print_json(document)

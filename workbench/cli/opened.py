"""What commands are given of the workbench."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import loaded_plugins, print_diagnostics, print_json

if TYPE_CHECKING:
    from workbench.api import Composition
    from workbench.api.metrics import Measured, Metrics
    from workbench.session.program.plugins import Plugins


class Opened:
    """What `workbench.api.commands.Workbench` promises, and for the workbench's own commands the plugins."""

    @cached_property
    def plugins(self) -> Plugins:
        return loaded_plugins()

    @property
    def metrics(self) -> Metrics:
        return self.plugins.metrics

    def open_run(self, path: Path) -> Measured:
        from workbench.session.keep.exchange import measured_run

        measured, problems = measured_run(path, self.plugins)
        print_diagnostics(problems)
        return measured

    def open_project(self, path: Path) -> Composition:
        from workbench.session.open.composing import composition
        from workbench.session.open.opening import open_workspace

        workspace = open_workspace(path, self.plugins)
        print_diagnostics(workspace.diagnostics)
        return composition(workspace.project, workspace.platform, workspace.path)

    def print_json(self, document: object) -> None:
        print_json(document)

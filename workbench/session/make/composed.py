"""The composers' reports on a run: tables of their own, and the place where a failed run stopped."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from workbench.api import Composed, Job
from workbench.formats.run_folder import RunWriter
from workbench.model.diagnostic import Diagnostic, WorkbenchError, unknown_name
from workbench.model.run import Manifest, RunStatus
from workbench.model.run_tables import Table
from workbench.session.make.tree import DESCRIPTION, Tree
from workbench.session.program.plugins import Plugins


def stopped(composed: Sequence[Composed], raw: Path, run: Manifest) -> list[Diagnostic]:
    """The place where a failed or cancelled run stopped."""
    return [diagnostic for one in composed for diagnostic in one.stopped(raw, run)]


def composed_tables(composed: Sequence[Composed], raw: Path, run: Manifest) -> dict[str, Table]:
    return {name: table for one in composed for name, table in one.tables(raw, run).items()}


def keep_composed(composed: Sequence[Composed], writer: RunWriter, job: Job) -> None:
    """Report where a cancelled run stopped, and add that and the tables to the folder."""
    manifest = replace(writer.manifest, status=RunStatus.CANCELLED)
    with suppress(WorkbenchError):  # such as a full disk: the run is cancelled in any case
        where = stopped(composed, writer.raw, manifest)
        for diagnostic in where:
            job.report(diagnostic)
        writer.describe(replace(writer.manifest, diagnostics=(*writer.manifest.diagnostics, *where)))
        writer.keep(composed_tables(composed, writer.raw, manifest))


def restored_composed(tree: Tree, plugins: Plugins) -> list[Composed]:
    """What a tree's application was composed of, as far as its records are read by it."""
    for name in tree.composed:
        if name not in plugins.composers:
            raise WorkbenchError(unknown_name("composer", name, plugins.composers, tree.path))
    try:
        return [plugins.composers[name].restored(kept) for name, kept in tree.composed.items()]
    except (ValueError, KeyError, TypeError):
        file = str(tree.path / DESCRIPTION)
        raise WorkbenchError(Diagnostic("this description is damaged", "Instrument again.", file=file)) from None

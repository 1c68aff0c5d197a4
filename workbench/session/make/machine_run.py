"""Turns the records of a run on a real machine, possibly of several ranks, into the run's outcome."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.api import HdlBuild, HdlLanguage, HostBuild, Job, Outcome, Task
from workbench.formats.run_folder import RunWriter
from workbench.model.diagnostic import Diagnostic, Severity
from workbench.run.machine_trace import machine_trace
from workbench.run.rank_programs import units_of_ranks
from workbench.run.ranks import rank_folders, recorded
from workbench.run.sound import check_records
from workbench.run.tap_trace import TapTrace
from workbench.session.keep.rank_trees import of_programs, trees_of_ranks
from workbench.session.keep.run_end import clocks_of, measured_at
from workbench.session.make.tree import open_tree
from workbench.session.open.places import placed
from workbench.session.open.workspace import Workspace


def of_machine(
    task: Task, writer: RunWriter, languages: Sequence[HdlLanguage], outcome: Outcome
) -> tuple[Outcome, HdlBuild, TapTrace | None]:
    """The outcome from a real machine's records, possibly of several ranks: measured clocks and counters, all designs,
    and the trace."""
    tree = open_tree(task.build)
    ranks = rank_folders(writer.raw)
    for folder in recorded(ranks) or [writer.raw]:
        check_records(folder, tree.hdl, tree.id)
    trees = trees_of_ranks([tree], ranks, writer.raw)
    of_ranks = of_programs(trees)
    languages = [*languages[: len(tree.fpgas)]] * len(trees)
    outcome = measured_at(trees, task.host, writer.raw, writer.raw, languages, outcome)
    hdl = of_ranks.hdl if len(ranks) > 1 else task.hdl
    writer.describe(replace(writer.manifest, clocks=of_ranks.manifest.clocks))
    clocks = clocks_of(writer.manifest, outcome)
    words, asked = outcome.counter_words, task.trace
    taps, trace_notes = machine_trace(writer.raw, writer.part, task.host, hdl, clocks, words, asked=asked)
    return replace(outcome, diagnostics=(*outcome.diagnostics, *trace_notes)), hdl, taps


def as_recorded(host: HostBuild, workspace: Workspace, raw: Path, job: Job) -> HostBuild:
    """The host with the calls that its own build recorded."""
    units = placed(units_of_ranks(raw, recorded(rank_folders(raw))), workspace.root)
    if units is None:
        hint = "Does the program that host.program names call the platform, in sources below the project's folder?"
        job.report(Diagnostic("the program recorded no calls", hint, Severity.WARNING, str(workspace.path)))
        return host
    for one in units.missed:
        if one not in job.diagnostics:  # its compiler said so too
            job.report(one)
    return replace(host, blocks=(units.block,), sites=units.sites)

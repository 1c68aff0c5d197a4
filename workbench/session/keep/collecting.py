"""Makes run folders from the records of programs that were started elsewhere."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.api import Outcome
from workbench.api.host_units import Units, entries_of
from workbench.formats.platform_file import load_platform
from workbench.formats.run_folder import RunWriter, now
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors, unknown_name
from workbench.model.run import Run
from workbench.run.collect import Built
from workbench.run.machine_trace import machine_trace
from workbench.run.rank_programs import units_of_ranks
from workbench.run.ranks import rank_folders, recorded
from workbench.run.sound import check_records
from workbench.session.keep.rank_trees import host_of_ranks, of_programs, project_names, trees_of_ranks
from workbench.session.keep.run_end import clocks_of, collected, failures_marked, finished, measured_at
from workbench.session.make.composed import restored_composed
from workbench.session.make.pipeline import RunOptions, manifest_of
from workbench.session.make.tree import Tree, TreeFpga, open_tree
from workbench.session.open.opening import open_workspace
from workbench.session.open.places import placed
from workbench.session.open.project_path import PROJECT_SUFFIX
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import Plugins
from workbench.system.files import real


def collect_records(tree_paths: Path | Sequence[Path], records: Path, out: Path, plugins: Plugins) -> Run:
    """Write a run folder from the records of a program that was built from a tree on a real machine, or with
    `workbench cc` in a project: then the path is the project's, and the run is the host's alone. Ranks of several
    programs may be of several trees.

    WorkbenchError if the folders are not that, or do not belong together.
    """
    paths = [tree_paths] if isinstance(tree_paths, Path) else tree_paths
    if len(paths) == 1 and _is_project(paths[0]):
        workspace = open_workspace(paths[0], plugins)
        units, template = _told_units(workspace.root, records), workspace.platform_path
        trees, missed = [_compiled_apart(workspace, units)], [*units.missed]
    else:
        trees, missed = [open_tree(path) for path in paths], []
        template = trees[0].platform_path
    ranks = rank_folders(records)
    trees = trees_of_ranks(trees, ranks, records)
    of_ranks = of_programs(trees)
    platform, problems = load_platform(template, plugins.port_kinds)
    if platform is None:
        raise WorkbenchError(*problems)
    for tree in trees:
        for one in tree.fpgas:
            if one.language not in plugins.hdl_languages:
                raise WorkbenchError(unknown_name("hardware language", one.language, plugins.hdl_languages, tree.path))
    composed = restored_composed(trees[0], plugins)
    languages = [plugins.hdl_languages[one.language] for one in of_ranks.fpgas]
    for tree, folder in zip(trees, ranks or [records], strict=True):
        if folder.is_dir():
            check_records(folder, tree.hdl, tree.id)
    name = " + ".join(project_names(trees).values())
    described = replace(of_ranks.manifest, name=name, created=now(), blocks=(), sites=(), entries=())
    writer = RunWriter(real(out), described)
    with failures_marked(writer):
        shutil.copyfile(template, writer.path / "platform.yaml")
        damage, missed = [d for d in missed if has_errors([d])], [d for d in missed if not has_errors([d])]
        unread = (*damage, *_copied(records, writer.raw))
    try:
        with failures_marked(writer):
            outcome = measured_at(trees, None, writer.raw, records, languages, Outcome(exit=None, diagnostics=unread))
    except WorkbenchError:
        shutil.rmtree(writer.path, ignore_errors=True)  # these records do not form a run
        raise
    with failures_marked(writer):
        clocks = clocks_of(writer.manifest, outcome)
        host, hdl, words = host_of_ranks(trees, writer.raw), of_ranks.hdl, outcome.counter_words
        taps, trace_notes = machine_trace(writer.raw, writer.part, host, hdl, clocks, words)
        manifest = finished(writer.manifest, outcome, (*outcome.diagnostics, *missed, *trace_notes))
        manifest = replace(manifest, traced=taps is not None)
        own = {name: table for one in composed for name, table in one.tables(writer.raw, manifest).items()}
        return collected(writer, manifest, outcome, Built(host, hdl, languages, platform), taps, own)


def _is_project(path: Path) -> bool:
    return path.name.endswith(PROJECT_SUFFIX) or any(path.glob("*" + PROJECT_SUFFIX))


def _copied(records: Path, raw: Path) -> Iterator[Diagnostic]:
    """Copy a program's records, and report those that cannot be read or are not files. A folder or a device in a
    record's place becomes a folder of its name, and is reported later."""
    for record in sorted(records.iterdir()):
        if record.is_dir() and record.name.startswith("rank_"):
            (raw / record.name).mkdir(exist_ok=True)
            yield from _copied(record, raw / record.name)
            continue
        if not record.is_file():
            (raw / record.name).mkdir(exist_ok=True)
            continue
        try:
            shutil.copyfile(record, raw / record.name)
        except PermissionError as error:
            yield Diagnostic(f"this record cannot be read: {error.strerror}. Lost: all of it", file=str(record))


def _told_units(root: Path, records: Path) -> Units:
    """The units that a program compiled source by source reported at its start."""
    units = units_of_ranks(records, recorded(rank_folders(records)))
    if units is None:
        hint = "Run a program built by `workbench cc` with RCW_RAW set to this folder."
        raise WorkbenchError(Diagnostic("no program recorded its calls here", hint, file=str(records)))
    return placed(units, root)


def _compiled_apart(workspace: Workspace, units: Units) -> Tree:
    if workspace.platform.hardware is None:
        problem = Diagnostic("the template has no hardware section", "Add one.", file=str(workspace.platform_path))
        raise WorkbenchError(problem)
    manifest = manifest_of(workspace, RunOptions(), workspace.settings({}), False)
    entries = entries_of(workspace.platform)
    manifest = replace(manifest, blocks=(units.block,), sites=units.sites, entries=entries)
    return Tree(workspace.root, "", manifest, (TreeFpga("", workspace.project.hardware.language, 0, None),))

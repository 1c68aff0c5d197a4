"""Opens and analyses a run, with the platform it ran on and the rules of all plugins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.model.blocks import Side
from workbench.model.changes import Change, OtherPlatform
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, unknown_name
from workbench.session.program.plugins import Plugins

if TYPE_CHECKING:  # the analysis is imported by the first opened run
    from workbench.analysis import Analysis, KnowledgeBase
    from workbench.analysis.measured import MeasuredRun
    from workbench.api.job import Job
    from workbench.api.queues import RunQueues
    from workbench.model.platform import Platform
    from workbench.model.prediction import Bottleneck
    from workbench.model.run import Manifest, Run
    from workbench.replay.predict import Replayed
    from workbench.session.open.workspace import Workspace


@dataclass(frozen=True)
class OpenRun:
    run: Run
    analysis: Analysis
    platform: Platform | None
    knowledge: KnowledgeBase
    diagnostics: tuple[Diagnostic, ...]
    plugins: Plugins | None = None  # the rules that it was opened with

    def prepared(self, platforms: Mapping[str, Platform] | None = None) -> Replayed:
        """The run made ready for predictions."""
        return prepared(self.run, self.platform, self.plugins, platforms)


def prepared(
    run: Run, platform: Platform | None, plugins: Plugins | None, platforms: Mapping[str, Platform] | None = None
) -> Replayed:
    """The run prepared for predictions."""
    from workbench.replay.prepare import prepare

    queues = None
    with suppress(WorkbenchError):  # findings report damaged records of queues
        queues = queues_of(run, plugins) if plugins else None
    return prepare(run, platform, platforms, queues, host_times_ps(run))


#: The number of earlier runs of the same program to read, the newest.
_MOST_EQUAL = 8
#: Properties shared by runs of the same program.
_PROGRAM = attrgetter("sources", "settings", "parameters", "platform", "changes", "stdout_sha256", "cores.ranks")


def host_times_ps(run: Run) -> tuple[int, ...]:
    """The times of the host's own code, or on a real machine of the run, in earlier runs of the same program, if it was
    measured: runs beside this one with the same sources, settings, platform and output."""
    from workbench.formats.run_folder import MANIFEST, manifest_in, open_run
    from workbench.replay.host_noise import measured_ps

    mine = run.manifest
    if run.path is None or mine.deterministic:
        return ()
    times_ps = []
    for file in sorted(run.path.parent.glob(f"*/{MANIFEST}"), key=lambda one: -one.stat().st_mtime):
        with suppress(WorkbenchError):
            if file.parent == run.path or not _equal(manifest_in(file.parent), mine):
                continue
            times_ps.append(measured_ps(open_run(file.parent)[0]))
        if len(times_ps) == _MOST_EQUAL:
            break
    return tuple(times_ps)


def _equal(one: Manifest, other: Manifest) -> bool:
    """Whether two complete runs with measured host time are of the same program and did the same."""
    return (
        _PROGRAM(one) == _PROGRAM(other)
        and one.created < other.created
        and one.status == other.status
        and one.instrumented
        and not (one.deterministic)
    )


def queues_of(run: Run, plugins: Plugins) -> RunQueues | None:
    """The edges of a run's streaming application; None if it has none."""
    from workbench.api.queues import HasQueues

    answers = (one.queues(run) for one in plugins.queries.values() if isinstance(one, HasQueues))
    return next((queues for queues in answers if queues is not None), None)


def open_knowledge(plugins: Plugins, project: Path | None = None) -> tuple[KnowledgeBase, tuple[Diagnostic, ...]]:
    """The merged rules and reasons of all plugins and of the rule files that a project names."""
    from workbench.analysis import load_knowledge
    from workbench.session.open.rule_files import rule_files

    paths = [file.path for file in plugins.rules.values()]
    paths += rule_files(project) if project else ()
    knowledge, problems = load_knowledge(paths, plugins.metrics.values())
    return replace(knowledge, sources=tuple(plugins.findings.values())), problems


def platform_of_run(run: Run, plugins: Plugins) -> tuple[Platform | None, tuple[Diagnostic, ...]]:
    """The platform at the time of the run (kept in its folder), or the template of that name."""
    kept_template = run.path / "platform.yaml" if run.path else None
    support = plugins.platforms.get(run.manifest.platform)
    path = kept_template if kept_template and kept_template.is_file() else support.template if support else None
    if path is None and not run.manifest.platform:
        return None, ()  # made by another program
    if path is None:
        return None, (
            Diagnostic(
                f"the platform '{run.manifest.platform}' of this run is not known here",
                "Rules that need its transfer times report nothing.",
                severity=Severity.WARNING,
                file=str(run.path) if run.path else None,
            ),
        )
    from workbench.formats.platform_file import load_platform

    return load_platform(path)


def platforms_named(changes: Iterable[Change], plugins: Plugins) -> dict[str, Platform]:
    """The platforms that changes name, by template or by file. Raises WorkbenchError if one does not exist."""
    from workbench.formats.platform_file import load_platform

    platforms: dict[str, Platform] = {}
    for change in changes:
        if isinstance(change, OtherPlatform):
            support = plugins.platforms.get(change.platform)
            path = support.template if support else Path(change.platform)
            if not path.is_file():
                raise WorkbenchError(unknown_name("platform template", change.platform, plugins.platforms))
            platform, problems = load_platform(path)
            if platform is None:
                raise WorkbenchError(*problems)
            platforms[change.platform] = platform
    return platforms


def open_recorded(path: Path, plugins: Plugins) -> tuple[Run, Platform | None, tuple[Diagnostic, ...]]:
    """A run folder. Missing tables of an interrupted run are made first, and a run in progress gets those of its host's
    calls so far. Raises WorkbenchError if it is not a run; missing parts become diagnostics."""
    from workbench.formats.run_folder import open_run

    run, problems = open_run(path)
    platform, more = platform_of_run(run, plugins)
    if not run.complete and not run.tables:
        from workbench.formats.run_folder import RAW
        from workbench.model.run import RunStatus
        from workbench.run.so_far import with_calls_so_far
        from workbench.session.keep.interrupted import finish_interrupted

        try:
            if finish_interrupted(run, platform):
                run, problems = open_run(path)
            elif run.manifest.status is RunStatus.RUNNING:
                run = with_calls_so_far(run, path / RAW)
        except WorkbenchError as error:
            more = (*more, *error.diagnostics)
    return run, platform, (*problems, *more)


def open_result(path: Path, plugins: Plugins, threshold: float = 1.05, project: Path | None = None) -> OpenRun:
    """A run folder, opened and analysed with the rules of plugins and of a project (by default the run's own). Raises
    WorkbenchError if it is not a run; missing parts become diagnostics."""
    from workbench.analysis import analyse

    run, platform, problems = open_recorded(path, plugins)
    knowledge, rule_problems = open_knowledge(plugins, project or project_of(run))
    return OpenRun(
        run=run,
        analysis=analyse(run, platform, knowledge, threshold),
        platform=platform,
        knowledge=knowledge,
        diagnostics=(*problems, *rule_problems),
        plugins=plugins,
    )


def critical_path(opened: OpenRun, replayed: Replayed | None) -> tuple[Bottleneck, ...]:
    """The critical path of a replayed run, by block and state; empty if it does not reach the FPGA's blocks."""
    path = replayed.next_bottlenecks() if replayed else ()
    fpga_blocks = {block.id for block in opened.run.manifest.blocks if block.side is Side.FPGA}
    return path if fpga_blocks & {part.block for part in path} else ()


def measured_of(opened: OpenRun, replayed: Replayed | None) -> MeasuredRun:
    """The run in the form from which its findings were computed."""
    from workbench.analysis.measured import MeasuredRun

    knowledge, path = opened.knowledge, critical_path(opened, replayed)
    return MeasuredRun(opened.run, opened.platform, knowledge.metrics, opened.analysis.threshold, path)


def with_rules(opened: OpenRun, plugins: Plugins, project: Path | None, replayed: Replayed | None) -> OpenRun:
    """An open run, analysed again with the current rule files."""
    from workbench.analysis import analyse

    knowledge, problems = open_knowledge(plugins, project or project_of(opened.run))
    path, threshold = critical_path(opened, replayed), opened.analysis.threshold
    analysis = analyse(opened.run, opened.platform, knowledge, threshold, path)
    other_diagnostics = tuple(
        one for one in opened.diagnostics if one.file not in {rule.file for rule in opened.knowledge.rules}
    )
    return replace(opened, knowledge=knowledge, analysis=analysis, diagnostics=(*other_diagnostics, *problems))


def project_of(run: Run) -> Path | None:
    """The project of a run, if it is known."""
    return Path(run.manifest.project) if run.manifest.project else None


def predicted(opened: OpenRun, budget_s: float = math.inf, job: Job | None = None) -> tuple[OpenRun, Replayed]:
    """The run with predictions for its advice, and the run prepared for further ones; what was predicted before is not
    predicted again. Predictions take `budget_s` seconds of processor time at most, preparing the run not counted. The
    critical path decides who is late."""
    from workbench.analysis import analyse
    from workbench.analysis.predicting import predictions_of, with_predictions

    replayed, known = opened.prepared(), predictions_of(opened.analysis)
    analysis, path = opened.analysis, critical_path(opened, replayed)
    if path:
        analysis = analyse(opened.run, opened.platform, opened.knowledge, analysis.threshold, path)
    return replace(opened, analysis=with_predictions(analysis, replayed, job, budget_s, known)), replayed


def run_before(path: Path | None, folders: Sequence[Path]) -> Path | None:
    """The run to compare with, from `folders`, oldest first: the last complete run before it in the same folder; else
    the newest other complete run; else the newest other run."""
    mine = path.resolve() if path else None
    places = [folder.resolve() for folder in folders]
    at = places.index(mine) if mine in places else 0
    beside = [
        folder for folder, place in zip(folders[:at], places, strict=False) if mine and place.parent == mine.parent
    ]
    others = [folder for folder, place in zip(folders, places, strict=True) if place != mine]
    complete = (folder for folder in (*reversed(beside), *reversed(others)) if _is_complete(folder))
    return next(complete, others[-1] if others else None)


def _is_complete(folder: Path) -> bool:
    from workbench.formats.run_folder import manifest_in
    from workbench.model.run import RunStatus

    with suppress(WorkbenchError):
        return manifest_in(folder).status is RunStatus.COMPLETE
    return False


def newest_run(workspace: Workspace) -> Path | None:
    """The newest run of this project; its folder of runs may also hold those of another one."""
    from workbench.formats.run_folder import open_run

    for folder in reversed(workspace.run_folders()):
        with suppress(WorkbenchError):
            if open_run(folder)[0].manifest.project in ("", str(workspace.path)):
                return folder
    return None

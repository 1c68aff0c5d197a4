"""From an open project to a run folder: instrument, build, run, read out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.api import Composed, HdlBuild, HostBuild, Target, Task
from workbench.api.builds import simulated_by
from workbench.api.host_units import FIRST_STATES, entries_of, host_block, read_units
from workbench.api.instrument.board import board_lacks
from workbench.api.job import Job
from workbench.formats.run_folder import RunWriter, now
from workbench.model.application import Simulation
from workbench.model.cycles import faster_hz
from workbench.model.diagnostic import Cancelled, Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.run import PS_PER_S, Manifest, Run, RunClock, RunStatus, Table
from workbench.run.cards import on_fpgas
from workbench.run.collect import frequencies
from workbench.run.machine_trace import machine_trace
from workbench.run.tap_trace import TapTrace
from workbench.session import durations
from workbench.session.composing import check, check_steps
from workbench.session.files import claim_folder, seal_folder
from workbench.session.first_mark import without_marks
from workbench.session.kept_builds import keeping
from workbench.session.places import placed
from workbench.session.reading import instrumented, read
from workbench.session.run_end import cannot_write, clocks_of, collected, failures_marked, finished, mark, measured_at
from workbench.session.tree import complete_tree, open_tree, uncounted
from workbench.session.workspace import Value, Workspace
from workbench.system.files import real

_INSTRUMENT, _READ_OUT = "Instrument", "Read out counters"


def steps(target: Target, made: Sequence[Composed] = ()) -> tuple[str, ...]:
    """The steps of a run at a target, in order, with what sources were composed."""
    return (*check_steps(made), _INSTRUMENT, *target.steps, _READ_OUT)


@dataclass(frozen=True)
class RunOptions:
    """How to run: where to (a new folder below the project's `runs` when None), what to keep, and at which target (the
    project's when empty). `waves`: from when to when (s; 0: the end) the design's signals are written; None: as the
    project says."""

    out: Path | None = None
    plain: bool = False
    trace: bool = False
    deterministic: bool = False
    waves: tuple[float, float] | None = None
    target: str = ""
    settings: Mapping[str, Value] = field(default_factory=dict)


def instrument_workspace(
    workspace: Workspace, changes: Mapping[str, Value], out: Path, job: Job | None = None
) -> tuple[HostBuild, HdlBuild]:
    """Write instrumented copies of host and hardware below `out`; where the platform says how counters are read on the
    machine itself, all else that is built and run there goes along (`session/tree.py`). The user's files stay as they
    are.

    WorkbenchError where `out` holds anything but what was written there by an earlier call.
    """
    settings, out = workspace.settings(changes), real(out)
    if workspace.faults:
        raise WorkbenchError(*workspace.faults)
    claim_folder(out)
    try:
        host, hdl = _instrument(workspace, settings, out, job or Job())
        if lacking := [*board_lacks(workspace.platform), *_several_cards(workspace, "real machine")]:
            lacks = (_not_complete(lack, workspace.platform_path) for lack in lacking)
            host = replace(host, diagnostics=(*host.diagnostics, *lacks))
        else:
            complete_tree(workspace, settings, host, hdl, manifest_of(workspace, RunOptions(), settings, False), out)
            notes = uncounted(hdl, workspace.platform, workspace.project.hardware.watch)
            hdl = replace(hdl, diagnostics=(*hdl.diagnostics, *notes))
        seal_folder(out)
    except OSError as error:
        raise WorkbenchError(cannot_write(error, out)) from None
    return host, hdl


def _not_complete(lack: Diagnostic, template: Path) -> Diagnostic:
    whose = "" if lack.file else "the platform lacks something: "
    message = f"these copies cannot be run on a real machine: {whose}{lack.message}"
    return replace(lack, message=message, severity=Severity.NOTE, file=lack.file or str(template))


def _instrument(
    workspace: Workspace, settings: Mapping[str, Value], out: Path, job: Job, own_build: bool = False
) -> tuple[HostBuild, HdlBuild]:
    """With a build of the project's own, each host source is instrumented as it is compiled: the program tells of its
    calls itself."""
    root, platform, defines = workspace.root, workspace.platform, workspace.defines(settings)
    host = HostBuild((), blocks=(host_block(FIRST_STATES, None),), entries=entries_of(platform))
    if not own_build:
        host = instrumented(
            root,
            workspace.outside,
            workspace.host,
            workspace.host_scanner(settings, job),
            lambda part: workspace.host_language.instrument(root, part, platform, defines, out / "host", job),
            job,
            keeping(workspace.host_language, root, platform, defines, out / "host"),
        )
    builds = {
        id(one): _instrument_design(one, settings, out / "hdl" / (place[:-1] if workspace.designs else ""), job)
        for place, one in workspace.by_place.items()
    }
    hdl = on_fpgas([builds[id(one)] for one in workspace.each], workspace.project.hardware)
    return placed(host, root), hdl


def _instrument_design(workspace: Workspace, settings: Mapping[str, Value], out: Path, job: Job) -> HdlBuild:
    root, platform, language = workspace.root, workspace.platform, workspace.hdl_language
    parameters = workspace.parameters(settings)
    return workspace.instrument_hdl(
        settings,
        lambda part: language.instrument(root, part, platform, parameters, out, job),
        job,
        keeping(language, root, platform, parameters, out),
    )


def _plain(workspace: Workspace, settings: Mapping[str, Value]) -> HdlBuild:
    """The designs as they are."""

    def plain(one: Workspace) -> HdlBuild:
        parameters = one.parameters(settings)
        return read(lambda: one.hdl_language.plain(one.root, one.project.hardware, parameters), one.path)

    builds = {id(one): plain(one) for one in workspace.different}
    return on_fpgas([builds[id(one)] for one in workspace.each], workspace.project.hardware)


def run_workspace(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    """Make a run folder. Whatever happens, the folder says what it is: complete, failed, cancelled or incomplete.

    Raises Cancelled, and WorkbenchError when the project cannot be built or started; a program that was started and
    then failed (a crash, a limit) gives a run with status failed, with what was recorded until then.
    """
    target = workspace.target(options.target)
    _check(workspace, options, target)
    settings = workspace.settings(options.settings)
    out = real(options.out or workspace.next_run_folder())
    writer = RunWriter(out, manifest_of(workspace, options, settings, target.simulated))
    try:
        with failures_marked(writer):
            run = _run(workspace, options, target, settings, writer, job)
            if run.complete:
                durations.remember(workspace.path, _way(options, target), job.durations_s)
            return run
    except (Cancelled, KeyboardInterrupt):
        mark(writer, RunStatus.CANCELLED, "cancelled")
        raise


def _check(workspace: Workspace, options: RunOptions, target: Target) -> None:
    """WorkbenchError for what the target cannot do, before anything is written."""
    if workspace.faults:
        raise WorkbenchError(*workspace.faults)
    lacking = (*target.lacks(workspace.platform, workspace.support), *_not_measurable(workspace, options, target))
    if lacking:
        raise WorkbenchError(*(replace(lack, file=lack.file or str(workspace.platform_path)) for lack in lacking))


def _not_measurable(workspace: Workspace, options: RunOptions, target: Target) -> Iterator[Diagnostic]:
    if target.simulated:
        return
    yield from board_lacks(workspace.platform)
    yield from _several_cards(workspace, target.title)
    asked = "deterministic" if options.deterministic else "plain" if options.plain else "with waveforms"
    if options.deterministic or options.plain or options.waves:
        yield Diagnostic(
            f"a run on the {target.title} cannot be {asked}",
            "Run it with the counters only, or on the simulated card.",
            file=str(workspace.path),
        )


def _several_cards(workspace: Workspace, where: str) -> Iterator[Diagnostic]:
    if len(workspace.each) > 1:
        message = f"the counters of several cards cannot be read on the {where}"
        yield Diagnostic(message, "Run it with one card, or on the simulated card.", file=str(workspace.path))


def _way(options: RunOptions, target: Target) -> str:
    """The kind of run, by what changes how long it takes."""
    kind = "plain" if options.plain else "trace" if options.trace else "profile"
    return kind if target.name == "simulated" else f"{target.name} {kind}"


def manifest_of(workspace: Workspace, options: RunOptions, settings: Mapping[str, Value], simulated: bool) -> Manifest:
    hardware = workspace.platform.hardware
    simulation = workspace.project.simulation if simulated else Simulation()
    return Manifest(
        name=workspace.project.title or workspace.project.name,
        status=RunStatus.RUNNING,
        created=now(),
        project=str(workspace.path),
        platform=workspace.platform.name,
        simulated=simulated,
        instrumented=not options.plain,
        traced=options.trace and not options.plain,
        deterministic=options.deterministic,
        settings=settings,
        clocks=tuple(
            RunClock(
                clock.name,
                faster_hz(clock.frequency_hz, simulation.clock_ppm),
                clock.derived_from,
                drift_ppm_per_s=simulation.clock_drift_ppm_per_s,
                alignment=clock.alignment,
                uncertainty_ps=round(clock.alignment_uncertainty_s * PS_PER_S),
            )
            for clock in (hardware.clocks if hardware else ())
        ),
    )


def _run(
    workspace: Workspace,
    options: RunOptions,
    target: Target,
    settings: Mapping[str, Value],
    writer: RunWriter,
    job: Job,
) -> Run:
    project, platform, root = workspace.project, workspace.platform, workspace.root
    if options.waves:
        first_s, last_s = options.waves
        chosen = {"waves": True, "waves_from_s": first_s, "waves_to_s": last_s}
        project = project.model_copy(update={"simulation": project.simulation.model_copy(update=chosen)})
    build = writer.path / "build"
    trace = options.trace and not options.plain
    job.plan(steps(target, workspace.composed), durations.remembered(workspace.path, _way(options, target)))
    shutil.copyfile(workspace.platform_path, writer.path / "platform.yaml")
    check(workspace.composed, job)
    host: HostBuild | None = None
    with job.step(_INSTRUMENT):
        if options.plain:
            hdl = _plain(workspace, settings)
            for diagnostic in hdl.diagnostics:
                job.report(diagnostic)
        else:
            build.mkdir()
            host, hdl = _instrument(workspace, settings, build, job, own_build=bool(project.host.build))
            unmarked = () if project.streaming else without_marks(workspace, hdl, settings)  # its streams tell of it
            for diagnostic in (*host.diagnostics, *host.missed, *hdl.diagnostics, *hdl.missed, *unmarked):
                job.report(diagnostic)
            found = host.diagnostics + hdl.diagnostics
            if has_errors(found):
                raise WorkbenchError(*found)
        if not target.simulated and host:  # what else drives the design there, its own flow knows
            complete_tree(workspace, settings, host, hdl, writer.manifest, build)
        elif undriven := placed(tuple(undriven_of(workspace, hdl)), root):
            raise WorkbenchError(*undriven)
    if target.simulated:
        simulators = {id(one): simulated_by(one, project.simulation.simulator) for one in hdl.each}
        hdl = on_fpgas([simulators[id(one)] for one in hdl.each], project.hardware)
    if host:  # what records are numbered by, for whoever finds them
        blocks = (host.blocks[0], *hdl.blocks)
        known = replace(writer.manifest, blocks=blocks, entries=host.entries, sites=host.sites)
        writer.describe(replace(known, streams=hdl.streams, fifos=hdl.fifos))
    task = Task(
        project=project,
        platform=platform,
        support=workspace.support,
        root=root,
        host=host,
        hdl=hdl,
        settings=settings,
        parameters=workspace.parameters(settings),
        build=build,
        raw=writer.raw,
        deterministic=options.deterministic,
        trace=trace,
        path=workspace.path,
    )
    task = with_designs(task, workspace)
    built = target.build(task, job)
    taps: TapTrace | None = None
    if trace and host and target.simulated:
        clocks_hz = frequencies(hdl.blocks, writer.manifest.clocks)
        main = None if project.host.build else host.blocks[0]
        taps = TapTrace(writer.raw, writer.part, main, hdl.blocks, clocks_hz, writer.manifest.drift_ppm_per_s)
    try:
        with taps.following() if taps else nullcontext():
            outcome = target.run(task, built, job)
    except (Cancelled, KeyboardInterrupt):
        if host:
            _keep_composed(workspace, writer, job)
        raise
    if host and project.host.build:
        host = _as_told(host, workspace, writer.raw, job)
    if has_errors(outcome.diagnostics):
        manifest = replace(writer.manifest, time_ps=outcome.time_ps)
        told = [one for made in workspace.composed for one in made.stopped(writer.raw, manifest)]
        outcome = replace(outcome, diagnostics=(*told, *outcome.diagnostics))
    if not target.simulated:
        outcome = measured_at(open_tree(build), writer.raw, outcome, platform)
        clocks = clocks_of(writer.manifest, outcome)
        taps, told_of = machine_trace(writer.raw, writer.part, host, hdl, clocks, outcome.counter_words, asked=trace)
        outcome = replace(outcome, diagnostics=(*outcome.diagnostics, *told_of))
    for diagnostic in outcome.diagnostics:
        job.report(diagnostic)
    with job.step(_READ_OUT):
        manifest = replace(finished(writer.manifest, outcome, job.diagnostics), traced=taps is not None)
        (writer.path / "stdout.txt").write_text(outcome.stdout, encoding="utf-8")
        if host is None:
            return writer.finish(manifest, {})
        own = _composed_tables(workspace, writer.raw, manifest)
        return collected(
            writer, manifest, outcome, host, hdl, [one.hdl_language for one in workspace.each], platform, taps, own
        )


def undriven_of(workspace: Workspace, hdl: HdlBuild) -> Iterator[Diagnostic]:
    """Inputs of the FPGAs' designs that nothing drives."""
    told = {id(one): one.undriven(build.ports) for one, build in zip(workspace.each, hdl.each, strict=True)}
    yield from (problem for of_design in told.values() for problem in of_design)


def with_designs(task: Task, workspace: Workspace) -> Task:
    """The task with that of each FPGA, where these have designs of their own."""
    tasks = (
        replace(
            task,
            project=task.project.model_copy(update={"hardware": one.project.hardware}),
            platform=one.platform,
            parameters=one.parameters(task.settings),
            hdl=build,
        )
        for one, build in zip(workspace.designs, task.hdl.each, strict=bool(workspace.designs))
    )
    return replace(task, designs=tuple(tasks))


def _as_told(host: HostBuild, workspace: Workspace, raw: Path, job: Job) -> HostBuild:
    """The host, once the program has told of its calls."""
    units = placed(read_units(raw), workspace.root)
    if units is None:
        hint = "Does the program that host.program names call the platform, in sources below the project's folder?"
        job.report(Diagnostic("the program told of no calls", hint, Severity.WARNING, str(workspace.path)))
        return host
    for one in units.missed:
        if one not in job.diagnostics:  # its compiler said so too
            job.report(one)
    return replace(host, blocks=(units.block,), sites=units.sites)


def _keep_composed(workspace: Workspace, writer: RunWriter, job: Job) -> None:
    """What composers make of a cancelled run: said now, and kept for when its tables are made."""
    manifest = replace(writer.manifest, status=RunStatus.CANCELLED)
    with suppress(WorkbenchError):  # as with a full disk: cancelled it is all the same
        told = [one for made in workspace.composed for one in made.stopped(writer.raw, manifest)]
        for diagnostic in told:
            job.report(diagnostic)
        writer.describe(replace(writer.manifest, diagnostics=(*writer.manifest.diagnostics, *told)))
        writer.keep(_composed_tables(workspace, writer.raw, manifest))


def _composed_tables(workspace: Workspace, raw: Path, run: Manifest) -> dict[str, Table]:
    return {name: table for made in workspace.composed for name, table in made.tables(raw, run).items()}

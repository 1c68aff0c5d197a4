"""Runs an open project: instrument, build, run, read out, into a run folder."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.api import Composed, HdlBuild, HostBuild, Job, Target, Task
from workbench.api.builds import simulated_by
from workbench.api.host_probe import HostProbe
from workbench.api.instrument.board import board_lacks
from workbench.api.targets import TimingRule
from workbench.formats.run_folder import RunWriter, now
from workbench.model.changes import Change
from workbench.model.cycles import faster_hz
from workbench.model.diagnostic import Cancelled, Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.hardware import Clock
from workbench.model.run import PS_PER_S, Manifest, Run, RunClock, RunStatus
from workbench.model.simulation import Simulation
from workbench.run.cards import on_fpgas
from workbench.run.collect import Built, frequencies
from workbench.run.tap_trace import TapTrace
from workbench.session.keep.ledger import settle_open
from workbench.session.keep.run_end import (
    cannot_write,
    collected,
    failures_marked,
    finished,
    mark,
)
from workbench.session.make import durations
from workbench.session.make.agents import check_frame, switch_numbers, switched_agents
from workbench.session.make.compiler.linking import refuse_static
from workbench.session.make.composed import composed_tables, keep_composed, stopped
from workbench.session.make.instrumenting import (
    check_driven,
    check_names,
    check_varied,
    instrument,
    plain_designs,
    plain_host,
)
from workbench.session.make.machine_run import as_recorded, of_machine
from workbench.session.make.tree import complete_tree, in_own_clocks, uncounted
from workbench.session.mark.first_mark import without_marks
from workbench.session.open.apis import check_ranks, of_each_rank, with_ranks
from workbench.session.open.composing import check, check_steps
from workbench.session.open.workspace import Value, Workspace, once_each
from workbench.session.program.files import claim_folder, seal_folder
from workbench.system.files import real

_INSTRUMENT, _READ_OUT = "Instrument", "Read out counters"


def steps(target: Target, composed: Sequence[Composed] = ()) -> tuple[str, ...]:
    """The steps of a run at a target, in order, with the checks of composed sources."""
    return (*check_steps(composed), _INSTRUMENT, *target.steps, _READ_OUT)


@dataclass(frozen=True)
class RunOptions:
    """The options of a run. `out` is its folder (None: a new one below the project's `runs`); the target is the
    project's if empty. `waves` is the time range (s; 0: the end) in which the design's signals, or only its `ports`,
    are written; None: as the project says. `ranks` is the number of processes of the host program (0: as the project
    says). `settles` lets the run settle the ledger's open predictions; runs of a study do not. `rules` and `depths`
    (words, by FIFO) are those of `changes` that the run tries. `probe` measures the host. `frame` is the frame length
    of agents ("": as the statements say), and `only` lists the statements that they count (none: all)."""

    out: Path | None = None
    plain: bool = False
    trace: bool = False
    deterministic: bool = False
    waves: tuple[float, float] | None = None
    ports: bool = False
    target: str = ""
    ranks: int = 0
    settings: Mapping[str, Value] = field(default_factory=dict)
    settles: bool = True
    rules: tuple[TimingRule, ...] = ()
    depths: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    probe: HostProbe | None = None
    frame: str = ""
    only: tuple[str, ...] = ()


def instrument_workspace(
    workspace: Workspace, changes: Mapping[str, Value], out: Path, job: Job | None = None
) -> tuple[HostBuild, HdlBuild]:
    """Write instrumented copies of host and hardware below `out`. If the platform describes the counter read-out on a
    real machine, the rest of the application is added (`session/make/tree.py`). The user's files stay unchanged.

    WorkbenchError if `out` holds anything but the result of an earlier call.
    """
    settings, out = workspace.settings(changes), real(out)
    workspace = of_each_rank(workspace)
    if workspace.faults:
        raise WorkbenchError(*workspace.faults)
    if workspace.platform.host.exchanges_messages:
        refuse_static((*workspace.project.host.flags, *workspace.project.host.libraries), workspace.path)
    check_names(workspace, out)
    claim_folder(out)
    try:
        host, hdl = instrument(workspace, settings, out, job or Job())
        if lacking := board_lacks(workspace.platform, len(workspace.boards)):
            lacks = (_not_complete(lack, workspace.platform_path) for lack in lacking)
            host = replace(host, diagnostics=(*host.diagnostics, *lacks))
        else:
            hdl, manifest = in_own_clocks(hdl, manifest_of(workspace, RunOptions(), settings, False))
            complete_tree(workspace, settings, host, hdl, manifest, out)
            notes = uncounted(workspace, hdl)
            hdl = replace(hdl, diagnostics=(*hdl.diagnostics, *notes))
        seal_folder(out)
    except OSError as error:
        raise WorkbenchError(cannot_write(error, out)) from None
    return host, hdl


def _not_complete(lack: Diagnostic, template: Path) -> Diagnostic:
    whose = "" if lack.file else "the platform is incomplete: "
    message = f"these copies cannot be run on a real machine: {whose}{lack.message}"
    return replace(lack, message=message, severity=Severity.NOTE, file=lack.file or str(template))


def run_workspace(workspace: Workspace, options: RunOptions, job: Job) -> Run:
    """Make a run folder, which records its status in all cases: complete, failed, cancelled or incomplete.

    Raises Cancelled, and WorkbenchError if the project cannot be built or started. A program that fails after its start
    (a crash, a limit) gives a run with status failed and the records until then.
    """
    target = workspace.target(options.target)
    _check(workspace, options, target)
    if not target.simulated:
        workspace = of_each_rank(workspace, options.ranks)
    elif options.ranks:
        workspace = with_ranks(workspace, options.ranks)
    settings = workspace.settings(options.settings)
    writer = new_writer(workspace, options.out, manifest_of(workspace, options, settings, target.simulated))
    try:
        with failures_marked(writer):
            run = _run(workspace, options, target, settings, writer, job)
            if run.complete:
                durations.remember(workspace.path, _kind_of_run(options, target), job.durations_s)
                for note in settle_open(run) if options.settles else ():
                    job.report(note)
            return run
    except (Cancelled, KeyboardInterrupt):
        mark(writer, RunStatus.CANCELLED, "cancelled")
        raise


def new_writer(workspace: Workspace, out: Path | None, manifest: Manifest) -> RunWriter:
    """The writer of a run into a folder, or into the project's next free one."""
    while True:
        folder = real(out or workspace.next_run_folder())
        check_names(workspace, folder)
        try:
            return RunWriter(folder, manifest)
        except WorkbenchError:
            if out or real(workspace.next_run_folder()) == folder:
                raise


def _check(workspace: Workspace, options: RunOptions, target: Target) -> None:
    """Raise WorkbenchError for options that the target does not support, before anything is written."""
    if workspace.faults:
        raise WorkbenchError(*workspace.faults)
    check_ranks(workspace, options.ranks, target.simulated)
    check_frame(options.frame)
    lacking = (*target.lacks(workspace.platform, workspace.support), *_not_measurable(workspace, options, target))
    if lacking:
        raise WorkbenchError(*(replace(lack, file=lack.file or str(workspace.platform_path)) for lack in lacking))


def _not_measurable(workspace: Workspace, options: RunOptions, target: Target) -> Iterator[Diagnostic]:
    if options.plain and (options.frame or options.only):
        hint = "Run it instrumented, or leave out the length of frames and the statements."
        yield Diagnostic("a plain run has no agents to switch", hint, file=str(workspace.path))
    if target.simulated:
        return
    yield from board_lacks(workspace.platform, len(workspace.boards))
    option_text = "deterministic" if options.deterministic else "plain" if options.plain else "with waveforms"
    if options.deterministic or options.plain or options.waves:
        yield Diagnostic(
            f"a run on the {target.title} cannot be {option_text}",
            "Run it with the counters only, or on the simulated card.",
            file=str(workspace.path),
        )


def _kind_of_run(options: RunOptions, target: Target) -> str:
    """The kind of run, by what affects its duration."""
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
        sources=workspace.source_checksums(),
        simulated=simulated,
        instrumented=not options.plain,
        traced=options.trace and not options.plain,
        deterministic=options.deterministic,
        settings=settings,
        parameters={n: v for n, v in workspace.project.hardware.parameters.items() if n not in settings},
        changes=tuple(map(str, options.changes)),
        clocks=tuple(_clock_of(clock, simulation) for clock in (hardware.clocks if hardware else ())),
    )


def _clock_of(clock: Clock, simulation: Simulation) -> RunClock:
    return RunClock(
        clock.name,
        faster_hz(clock.frequency_hz, simulation.clock_ppm),
        clock.derived_from,
        drift_ppm_per_s=simulation.clock_drift_ppm_per_s,
        alignment=clock.alignment,
        uncertainty_ps=round(clock.alignment_uncertainty_s * PS_PER_S),
    )


def _run(
    workspace: Workspace,
    options: RunOptions,
    target: Target,
    settings: Mapping[str, Value],
    writer: RunWriter,
    job: Job,
) -> Run:
    job.plan(steps(target, workspace.composed), durations.remembered(workspace.path, _kind_of_run(options, target)))
    shutil.copyfile(workspace.platform_path, writer.path / "platform.yaml")
    check(workspace.composed, job)
    with job.step(_INSTRUMENT):
        host, hdl, switches = _builds(workspace, options, target, settings, writer, job)
    if host:  # the lists that records refer to, for later recovery
        blocks = (host.blocks[0], *hdl.blocks)
        known_manifest = replace(writer.manifest, blocks=blocks, entries=host.entries, sites=host.sites)
        writer.describe(replace(known_manifest, streams=hdl.streams, fifos=hdl.fifos))
    task = replace(
        task_of(_as_asked(workspace, options, writer.path), settings, hdl, writer.path / "build", writer.raw),
        host=host,
        deterministic=options.deterministic,
        trace=options.trace and not options.plain,
        rules=options.rules,
        depths=options.depths,
        probe=options.probe,
        switches=switches,
    )
    built = target.build(task, job)
    taps = _taps(task, writer) if target.simulated else None
    try:
        with taps.following() if taps else nullcontext():
            outcome = target.run(task, built, job)
    except (Cancelled, KeyboardInterrupt):
        if host:
            keep_composed(workspace.composed, writer, job)
        raise
    if options.probe and not outcome.failed:
        options.probe.take(writer.raw)
    if host and workspace.project.host.build:
        task = replace(task, host=as_recorded(host, workspace, writer.raw, job))
    if outcome.failed:
        manifest = replace(writer.manifest, time_ps=outcome.time_ps)
        where = stopped(workspace.composed, writer.raw, manifest)
        outcome = replace(outcome, diagnostics=(*where, *outcome.diagnostics))
    languages = [one.hdl_language for one in workspace.boards]
    if not target.simulated:
        outcome, hdl, taps = of_machine(task, writer, languages, outcome)
    for diagnostic in outcome.diagnostics:
        job.report(diagnostic)
    with job.step(_READ_OUT):
        manifest = replace(finished(writer.manifest, outcome, job.diagnostics), traced=taps is not None)
        (writer.path / "stdout.txt").write_text(outcome.stdout, encoding="utf-8")
        if task.host is None:
            return writer.finish(manifest, {})
        own = composed_tables(workspace.composed, writer.raw, manifest)
        languages *= len(hdl.each) // len(languages)  # of each rank
        return collected(writer, manifest, outcome, Built(task.host, hdl, languages, task.platform), taps, own)


def _builds(
    workspace: Workspace,
    options: RunOptions,
    target: Target,
    settings: Mapping[str, Value],
    writer: RunWriter,
    job: Job,
) -> tuple[HostBuild | None, HdlBuild, tuple[int, ...]]:
    """The target's builds of host and designs, instrumented or not, and the numbers that switch agents. WorkbenchError
    for errors in them."""
    project, build = workspace.project, writer.path / "build"
    simulator = project.simulation.simulator if target.simulated else ""
    host: HostBuild | None = None
    numbers: tuple[int, ...] = ()
    if options.plain:
        hdl = plain_designs(workspace, settings, simulator)
        messages = diagnostics = hdl.diagnostics
    else:
        build.mkdir()
        own_build = bool(project.host.build)
        host, hdl = instrument(workspace, settings, build, job, own_build, simulator, bool(options.depths))
        check_varied(options.depths, hdl, project)
        numbers = switch_numbers(hdl, workspace, options.frame, options.only)
        hdl = switched_agents(hdl, workspace, numbers)
        unmarked = () if project.streaming else without_marks(workspace, hdl, settings)  # its streams tell of it
        diagnostics = host.diagnostics + hdl.diagnostics
        messages = (*host.diagnostics, *host.missed, *hdl.diagnostics, *hdl.missed, *unmarked)
    for diagnostic in messages:
        job.report(diagnostic)
    if has_errors(diagnostics):
        raise WorkbenchError(*diagnostics)
    if not target.simulated and host:  # the board's own flow drives further inputs
        hdl, manifest = in_own_clocks(hdl, writer.manifest)
        writer.describe(manifest)
        complete_tree(workspace, settings, host, hdl, manifest, build)
    else:
        check_driven(workspace, hdl)
    if target.simulated:
        simulated = once_each(hdl.each, lambda one: simulated_by(one, project.simulation.simulator))
        hdl = on_fpgas(simulated, project.hardware)
        if hdl.simulation.made:
            derived_clocks = {
                clock.name: _clock_of(clock, project.simulation) for clock in hdl.simulation.made.values()
            }
            writer.describe(replace(writer.manifest, clocks=(*writer.manifest.clocks, *derived_clocks.values())))
    return host, hdl, numbers


def _as_asked(workspace: Workspace, options: RunOptions, out: Path) -> Workspace:
    """The project with the plain host for a plain run, and with the waveforms that the options request."""
    workspace = plain_host(workspace, out / "build" / "host") if options.plain else workspace
    if options.waves is None:
        return workspace
    waves = {"waves": True, "waves_from_s": options.waves[0], "waves_to_s": options.waves[1]}
    waves |= {"waves_ports": True} if options.ports else {}
    sections = {"simulation": workspace.project.simulation.model_copy(update=waves)}
    return replace(workspace, project=workspace.project.model_copy(update=sections))


def task_of(workspace: Workspace, settings: Mapping[str, Value], hdl: HdlBuild, build: Path, raw: Path) -> Task:
    """The task for a target: the project with its designs, and one task for each FPGA if they have their own."""
    task = Task(
        project=workspace.project,
        platform=workspace.platform,
        support=workspace.support,
        root=workspace.root,
        hdl=hdl,
        settings=settings,
        parameters=workspace.parameters(settings),
        build=build,
        raw=raw,
        path=workspace.path,
    )
    designs = (
        replace(
            task,
            project=task.project.model_copy(update={"hardware": one.project.hardware}),
            platform=one.platform,
            parameters=one.parameters(settings),
            hdl=design,
        )
        for one, design in zip(workspace.own_designs, hdl.each, strict=bool(workspace.own_designs))
    )
    return replace(task, designs=tuple(designs))


def _taps(task: Task, writer: RunWriter) -> TapTrace | None:
    """The writer of a traced run's trace during the simulation; None without a trace."""
    if not task.trace or task.host is None:
        return None
    manifest = writer.manifest
    main = None if task.project.host.build else task.host.blocks[0]
    clocks_hz = frequencies(task.hdl.blocks, manifest.clocks)
    return TapTrace(writer.raw, writer.part, main, task.hdl.blocks, clocks_hz, manifest.drift_ppm_per_s)

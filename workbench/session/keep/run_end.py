"""The end of a run: its records become tables, and its folder gets its final status."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from workbench.api import HdlLanguage, HostBuild, Outcome
from workbench.api.ports import memory_ports
from workbench.api.records import read_thread_ranks, read_thread_times
from workbench.api.virtual_time import TABLE, clock_problems, frames_of_table
from workbench.formats.run_folder import MANIFEST, RunWriter
from workbench.model.cycles import at_end_of
from workbench.model.diagnostic import Cancelled, Diagnostic, WorkbenchError, has_errors
from workbench.model.exits import exit_words
from workbench.model.platform import Platform
from workbench.model.run import Alignment, Cores, Manifest, Run, RunClock, RunStatus
from workbench.model.run_tables import Table
from workbench.run.collect import Built, collect
from workbench.run.measured import measured
from workbench.run.overhead import recording_overhead
from workbench.run.rank_programs import host_of_rank
from workbench.run.ranks import join_ranks, rank_folders
from workbench.run.sound import keep_sound
from workbench.run.tap_trace import TapTrace
from workbench.session.keep.rank_trees import of_programs
from workbench.session.make.tree import Tree
from workbench.traces.index import index_of_run

NO_TABLES: Mapping[str, Table] = {}


def mark(writer: RunWriter, status: RunStatus, reason: str) -> None:
    with suppress(WorkbenchError):  # with a full disk the folder rightly opens as incomplete
        writer.mark(status, reason)


@contextmanager
def failures_marked(writer: RunWriter) -> Iterator[None]:
    """Record an error of the run in its folder, and raise it as WorkbenchError, also errors of the system; if the
    folder itself disappeared, raise an error for that."""
    try:
        yield
    except Cancelled:
        raise
    except Exception as error:
        if not (writer.path / MANIFEST).is_file():
            raise WorkbenchError(_gone(writer.path)) from error
        if isinstance(error, WorkbenchError):
            mark(writer, RunStatus.FAILED, str(error))
        if not isinstance(error, OSError):
            raise
        mark(writer, RunStatus.FAILED, str(error))
        raise WorkbenchError(cannot_write(error, writer.path)) from None


def measured_at(
    of_ranks: Sequence[Tree], host: HostBuild | None, raw: Path, shown: Path, languages: Sequence[HdlLanguage],
    outcome: Outcome,
) -> Outcome:  # fmt: skip
    """The outcome with what the records in `raw` say, be it of several ranks, whose trees these are; what of them is
    damaged is named as it is called in `shown`. `host` is that of all ranks, if it is not the tree's; `languages` are
    those of all FPGAs."""
    losses, whole = list[Diagnostic](), of_programs(of_ranks)
    folders = rank_folders(raw)
    first = 0
    for number, tree in enumerate(of_ranks):
        path, name = (folders[number], shown / folders[number].name) if folders else (raw, shown)
        of_rank = languages[first : first + len(tree.fpgas)]
        first += len(tree.fpgas)
        if path.is_dir():
            own = (host or tree.host) if tree.id or not folders else host_of_rank(host or tree.host, path)
            losses += keep_sound(path, name, own, tree.hdl, of_rank, tree.manifest.clocks, tree.id)
    joined = join_ranks(raw, folders, [len(tree.fpgas) for tree in of_ranks]) if folders else None
    losses += joined.diagnostics if joined else ()
    outcome = measured(raw, outcome, whole.hdl, whole.manifest.clocks)
    if joined and len(folders) > 1:
        threads = read_thread_times(raw)
        most = max(Counter(read_thread_ranks(raw).values()).values())
        cores = Cores(most, ranks=len(folders))
        unsure = tuple(one + joined.unsure_ps for one in outcome.unsure_ps)
        outcome = replace(outcome, cores=cores, threads=threads, unsure_ps=unsure)
        outcome = replace(outcome, unrecorded_waits=joined.unrecorded_waits)
    return replace(outcome, diagnostics=(*losses, *outcome.diagnostics))


def collected(
    writer: RunWriter,
    manifest: Manifest,
    outcome: Outcome,
    built: Built,
    taps: TapTrace | None = None,
    own: Mapping[str, Table] = NO_TABLES,
) -> Run:
    """The last step of a run: its records as tables, together with `own`, and the lists that they refer to."""
    host, hdl, platform = built.host, built.hdl, built.platform
    records = collect(writer.raw, writer.part, outcome, built, manifest.clocks, taps)
    tables = {**records.tables, **own}
    manifest = replace(
        manifest,
        overhead=recording_overhead(writer.raw, outcome, deterministic=manifest.deterministic),
        blocks=records.blocks,
        entries=host.entries,
        sites=host.sites,
        resources=records.resources,
        messages=records.messages,
        streams=hdl.streams,
        fifos=hdl.fifos,
        memory_ports=memory_ports(platform.hardware, hdl.places) if platform.hardware else (),
        diagnostics=(*manifest.diagnostics, *records.diagnostics, *_of_clocks(tables, platform, manifest.clocks)),
    )
    run = writer.finish(manifest, tables)
    index_of_run(run)  # the pyramid of a large trace is stored, so that opening is fast
    return run


def _of_clocks(tables: Mapping[str, Table], platform: Platform, clocks: Sequence[RunClock]) -> Iterator[Diagnostic]:
    """Diagnostics on the FPGAs' clocks from the aligning messages. FPGAs with clocks of their own come one after the
    other."""
    if TABLE in tables and platform.hardware:
        for (_, number), frames in frames_of_table(tables[TABLE]).items():
            name = clocks[number].name
            template_hz = {one.name: one.frequency_hz for one in platform.hardware.clocks}
            of_fpga = (hz for one, hz in template_hz.items() if name == one or name.endswith((f":{one}", f".{one}")))
            yield from clock_problems(name, frames, next(of_fpga, platform.hardware.clock_hz))


def finished(manifest: Manifest, outcome: Outcome, diagnostics: Iterable[Diagnostic]) -> Manifest:
    errors = [d.sentences for d in outcome.diagnostics if has_errors([d])]
    if outcome.exit and not errors:
        errors = [exit_words(outcome.exit)]
    return replace(
        manifest,
        status=RunStatus.FAILED if errors else RunStatus.COMPLETE,
        reason="\n".join(errors),
        tools=outcome.tools,
        time_ps=outcome.time_ps,
        clocks=clocks_of(manifest, outcome),
        confined=outcome.confined,
        cores=outcome.cores,
        unrecorded_waits=outcome.unrecorded_waits,
        threads=outcome.threads,
        exit=outcome.exit,
        stdout_sha256=outcome.stdout_sha256,
        diagnostics=tuple(diagnostics),
    )


def clocks_of(manifest: Manifest, outcome: Outcome) -> tuple[RunClock, ...]:
    """The run's clocks with their measured frequencies."""
    return tuple(_clock(number, clock, manifest, outcome) for number, clock in enumerate(manifest.clocks))


def _clock(number: int, clock: RunClock, manifest: Manifest, outcome: Outcome) -> RunClock:
    """A clock of the run, with the platform's frequency or the measured one."""
    counted = outcome.clock_cycles[number : number + 1]
    cycles = counted[0] if counted else at_end_of(outcome.cycles, manifest.clock_hz, clock.frequency_hz)
    if not outcome.measured_hz:
        return replace(clock, cycles=cycles)
    return replace(
        clock,
        cycles=cycles,
        frequency_hz=outcome.measured_hz[number],
        alignment=Alignment.READ_OUT,
        start_ps=outcome.counted_from_ps[number],
        uncertainty_ps=outcome.unsure_ps[number],
    )


def _gone(path: Path) -> Diagnostic:
    return Diagnostic(
        "the folder of this run is gone: it was deleted, moved or renamed during the run",
        "Open the project where it is now, and run it again.",
        file=str(path),
    )


def cannot_write(error: OSError, path: Path) -> Diagnostic:
    return Diagnostic(
        f"cannot write: {error.strerror or error}",
        "Choose another folder, or free some room.",
        file=str(error.filename2 or error.filename or path),  # for a copy, its target
    )

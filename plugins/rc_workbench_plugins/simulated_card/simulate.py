"""Runs a host program against the simulated card: starts both, watches, and leaves no process behind."""

import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from rc_workbench_plugins.simulated_card.beside import ENDED, Said, readable
from rc_workbench_plugins.simulated_card.card import CardExecutable
from rc_workbench_plugins.simulated_card.config import card_config
from rc_workbench_plugins.simulated_card.pace import Pace, _progress, _progress_text, _running_thread
from rc_workbench_plugins.simulated_card.places import host_notes, with_source_lines
from rc_workbench_plugins.simulated_card.rules import USED, rule_notes
from workbench.api import (
    PS_PER_S,
    Diagnostic,
    HdlBuild,
    Job,
    Outcome,
    Platform,
    Severity,
    Task,
    WorkbenchError,
    bytes_text,
    counted,
    has_errors,
    listed,
    time_text,
)
from workbench.api.records import read_counters, read_end, read_thread_times, read_transfers, write_formats
from workbench.api.streams import stuck
from workbench.api.unstable import (
    Confinement,
    Cores,
    Simulation,
    Supervised,
    confine,
    cycle_start_ps,
    exit_words,
    faster_hz,
    period_ps,
    signal_words,
    times,
)

_RECORDS = (
    "host_end.txt", USED, "host_threads.txt", "host_names.txt", "host_ranks.txt", "host_waits.bin", "host_notes.txt",
    "card_end.txt", "counters.bin", "taps.bin", "dwell.bin", "transitions.bin", "firsts.bin", "transfers.bin",
    "streams.bin", "stream_waits.bin", "occupancy.bin", "memory_ports.bin",
    "stream_host.bin", "stream_card.bin", "stream_now.bin", "stream_now.txt", "stream_ended.txt",
)  # fmt: skip
_WAVES = "waves*.vcd"
_CRASHED = "To see where, build the host with -fsanitize=address in host.flags."
_KILLED = "Another program ended it, or the system ran out of memory."
CARD_FAILED = 113  # wbcard.h: WBCARD_EXIT_FAILED
_GRACE_S = 1.0  # for a card that has still something to write
_CARD_GRACE_S = 5.0
_RESET_CYCLES = 16  # resources/card/design.cpp
_LINES, _LOGGED = 20_000, 1000  # of a program's, each time that we look


def simulate(task: Task, card: CardExecutable, host_executable: Path, job: Job) -> Outcome:
    """Run the host against the card; records go to the task's `raw`. Both start in `root`, the project's folder, and
    are confined to it where the system allows that: what they write there is then in `files` and `card_files` beside
    `raw`.

    What goes wrong in the run (a crash, a limit, an exit code) is in the outcome's diagnostics. Raises Cancelled,
    and WorkbenchError where a process cannot be started.
    """
    project, platform, root, raw = task.project, task.platform, task.root, task.raw
    config = raw / "card_config.txt"
    try:
        raw.mkdir(parents=True, exist_ok=True)
        for old in (*(raw / name for name in _RECORDS), *raw.glob(_WAVES)):
            old.unlink(missing_ok=True)
        write_formats(raw)
        config.write_text(card_config(card.hdl, task, card.libraries))
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot write the run's records: {error.strerror}", file=str(raw))) from None
    ends = socket.socketpair()
    processes: list[_Process] = []
    shown = (raw.parent, host_executable.parent, card.path.parent, *readable(card.hdl))
    jails = [confine(root, raw.parent / name, [raw], shown) for name in ("card_files", "files")]
    if None in jails:
        job.log("Not confined: host and card can write and connect with your rights.")
    else:
        job.log("Confined: host and card have no network and write to the run folder only.")
    try:
        for name, command, end, jail in (
            ("card", [card.path], ends[0], jails[0]),
            ("host", [host_executable, *project.host.arguments], ends[1], jails[1]),
        ):
            traced = {"RCW_TRACE": "1"} if task.trace else {}
            traced |= {"RCW_AGENT": " ".join(map(str, task.switches))} if task.switches else {}
            environment = {**traced, "RCW_CARD_FD": str(end.fileno()), "RCW_CONFIG": str(config), "RCW_RAW": str(raw)}
            words = [str(word) for word in command]
            processes.append(_Process(name, words, environment, end.fileno(), root, jail))
        for end in ends:
            end.close()
        card_process, host_process = processes
        besides = [one.beside for one in card.hdl.each if one.beside and one.asks_beside]
        said = Said(besides, _reset_s(platform, project.simulation))
        card_process.hear = said.hear
        problem = _watch(host_process, card_process, project.simulation, raw, platform, job)
    finally:
        for end in ends:
            end.close()
        for process in processes:
            process.program.ask_to_end()
        last_s = time.monotonic() + _GRACE_S  # of both together: a signal to the workbench ends all within 2 s
        for process in reversed(processes):
            process.program.stop(max(0.0, last_s - time.monotonic()))
            process.log(job)
        written = [(jail.files, names) for jail in jails if jail and (names := jail.finish())]
    outcome = _outcome(host_process, card_process, problem, task, card.hdl, said)
    notes = [_written_note(folder, names, raw.parent) for folder, names in written]
    notes += _waves(raw, project.simulation)
    own = project.simulation
    return replace(
        outcome,
        cores=Cores(own.cores, own.slice_ps, own.call_ps, own.wake_ps, own.switch_ps, project.host.ranks),
        confined=None not in jails,
        diagnostics=(*outcome.diagnostics, *notes),
    )


def _written_note(folder: Path, names: Sequence[str], run: Path) -> Diagnostic:
    where = f"{folder.relative_to(run)} of the run folder"
    return Diagnostic(
        f"files that the run wrote to the project's folder are in {where}: {listed(names)}",
        "The project's own files are unchanged.",
        Severity.NOTE,
    )


def _waves(raw: Path, simulation: Simulation) -> list[Diagnostic]:
    """Keep the signals' files in the run's folder, beside its records, and tell of them."""
    files = []
    for path in sorted(raw.glob(_WAVES)):
        path.replace(raw.parent / path.name)
        files.append(path.name)
    if not files and simulation.waves:
        message = f"no signals were recorded: the run ended before {time_text(simulation.waves_from_s)}"
        return [Diagnostic(message, "Give an earlier simulation.waves_from_s.", Severity.WARNING)]
    if not files:
        return []
    text = f"the design's signals over virtual time are in the run folder: {listed(files)}"
    notes = [Diagnostic(text, "GTKWave, Surfer and other viewers open such files.", Severity.NOTE)]
    if full_ps := read_end(raw / "card_end.txt").get("waves_full"):
        text = (
            f"signals are recorded only until {time_text(int(full_ps) / PS_PER_S)}: their file had reached"
            f" simulation.waves_bytes ({bytes_text(simulation.waves_bytes)})"
        )
        notes.append(Diagnostic(text, "Record a shorter time, or raise simulation.waves_bytes.", Severity.WARNING))
    return notes


class _Process:
    """Host or card, under its supervisor and in its jail."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str], fd: int, cwd: Path,
                 jail: Confinement | None) -> None:  # fmt: skip
        self.name = name
        self.hear: Callable[[str], None] = lambda line: None  # each line that it prints
        self.jail = jail
        self.first_sizes: dict[Path, int] = {}  # of files that it has had open, without a jail
        self.grown: dict[Path, int] = {}  # by how many bytes, since
        self.executable = Path(command[0])
        self.cwd = cwd
        self.program = Supervised(
            [*(jail.prefix if jail else ()), *command], cwd=cwd, env=environment, pass_fds=(fd,)
        )  # fmt: skip

    @property
    def running(self) -> bool:
        return self.program.poll() is None

    @property
    def code(self) -> int:
        """The exit code, -N where signal N ended it."""
        code = self.program.returncode
        return self.jail.exit_of(code) if self.jail else code

    @property
    def last_line(self) -> str:
        return self.program.stderr.last_line

    def log(self, job: Job) -> None:
        for output in (self.program.stdout, self.program.stderr):
            for number, line in enumerate(islice(output.lines(), _LINES)):
                self.hear(line)
                if number < _LOGGED:
                    job.log(f"{self.name}: {line}")


def _watch(
    host: _Process, card: _Process, simulation: Simulation, raw: Path, platform: Platform, job: Job
) -> Diagnostic | None:
    """Wait until both have ended; why they had to be ended, if so. Raises Cancelled."""
    began, last_shown, wall_limit_s = time.monotonic(), 0.0, simulation.wall_limit_s
    card_alone_since: float | None = None
    host_alone_since: float | None = None
    pace = Pace(raw, platform, job)
    while host.running or card.running:
        time.sleep(0.01)
        now = time.monotonic()
        for process in (host, card):
            process.log(job)
        job.check()
        if now - last_shown > 0.25:
            last_shown = now
            pace.show(now)
            for process, who in ((host, "the host program"), (card, "the design")):
                if problem := _too_much(process, who, simulation.files_bytes, raw):
                    return problem
        if now - began > wall_limit_s:
            waiting = _progress(raw)[1]
            thread = _running_thread(raw)
            who = f"Thread {thread} of the host program" if thread else "The host program"
            where = f"{who} was in its own code." if waiting else "The card was simulating."
            host.program.stop(0.5)
            card.program.stop(3.0)
            activity = read_end(raw / "card_end.txt").get("activity", "")
            done = _progress_text(raw, platform)
            text = f"the run was ended after simulation.wall_limit_s ({wall_limit_s:g} s): {done}. {where}"
            return Diagnostic(text, activity or "Look for an endless loop, or raise the limit.")
        if not host.running:
            card_alone_since = card_alone_since or now
            if now - card_alone_since > _CARD_GRACE_S:
                return Diagnostic("the card process did not end after the host program, so the workbench ended it")
        elif not card.running:
            host_alone_since = host_alone_since or now
            if now - host_alone_since > 1.0 and card.code != 0:
                return None
    return None


def _too_much(process: _Process, who: str, most: int, raw: Path) -> Diagnostic | None:
    """A diagnostic if a program has written more to files than allowed: in its jail, or without one to files that it
    had open. Its records in `raw` do not count."""
    jail, sizes = process.jail, process.grown
    if jail is None:
        for path, size in process.program.written():
            if not path.is_relative_to(raw):
                sizes[path] = max(sizes.get(path, 0), size - process.first_sizes.setdefault(path, size))
    else:
        sizes = {}
        for path in jail.written():
            with suppress(OSError):  # it was deleted meanwhile
                sizes[path] = path.lstat().st_blocks * 512
    if sum(sizes.values()) <= most:
        return None
    largest = max(sizes, key=lambda path: sizes[path])
    where = largest.relative_to(jail.files) if jail else largest
    message = f"{who} wrote more than simulation.files_bytes ({bytes_text(most)}) to files, most of it to {where}"
    return Diagnostic(f"{message}: the run was ended", "Let it write less, or raise simulation.files_bytes.")


def _reset_s(platform: Platform, simulation: Simulation) -> float:
    """How long the resets are held before virtual time begins."""
    assert platform.hardware is not None
    if not any(clock.reset for clock in platform.hardware.clocks):
        return 0.0
    hz = faster_hz(platform.hardware.clock_hz, simulation.clock_ppm)
    return _RESET_CYCLES * cycle_start_ps(1, hz, simulation.clock_drift_ppm_per_s) / PS_PER_S


def _stuck(hdl: HdlBuild, words: Sequence[str], activity: str) -> Diagnostic:
    """The state of a card that waits: its number, the cycle, valid and ready of its streams."""
    cycle, valid, ready = int(words[1]), [bit == "1" for bit in words[2]], [bit == "1" for bit in words[3]]
    if words[0] == "all":  # FPGAs that links join
        return stuck(hdl.streams, hdl.fifos, valid, ready, cycle, activity)
    card = int(words[0])
    streams = sum(len(before.streams) for before in hdl.each[:card])
    fifos = sum(len(before.fifos) for before in hdl.each[:card])
    first = hdl.streams[streams : streams + len(hdl.each[card].streams)]
    mine = hdl.fifos[fifos : fifos + len(hdl.each[card].fifos)]
    return stuck(first, mine, valid, ready, cycle, activity)


def _outcome(
    host: _Process, card: _Process, problem: Diagnostic | None, task: Task, hdl: HdlBuild, heard: Said
) -> Outcome:
    raw, hardware, simulation = task.raw, task.platform.hardware, task.project.simulation
    assert hardware is not None
    host_end, card_end = read_end(raw / "host_end.txt"), read_end(raw / "card_end.txt")
    diagnostics = [problem] if problem else []
    code = host.code
    card_code = card.code
    failure = card_end.get("failure") or (card.last_line if card_code == 1 else "")
    if problem is None and (words := card_end.get("stuck")):
        diagnostics.append(_stuck(hdl, words.split(), card_end.get("activity", "")))
    elif problem is None and failure.endswith(ENDED) and (why := heard.failures()):
        diagnostics += why
    elif problem is None and failure:
        diagnostics.append(Diagnostic(failure, card_end.get("activity", "")))
    elif problem is None and card_code < 0:
        text = f"the card process crashed: {signal_words(-card_code)}"
        diagnostics.append(Diagnostic(text, "Its last output is in the log."))
    elif problem is None and code < 0:
        diagnostics.append(Diagnostic(exit_words(code), _KILLED if code == -signal.SIGKILL else _CRASHED))
    elif problem is None and code == CARD_FAILED:
        said = with_source_lines(host.last_line, host.executable, host.cwd)
        diagnostics.append(Diagnostic(said or "the simulated card failed"))
    elif problem is None and code != 0:
        needs = "" if task.project.host.arguments else "If it needs arguments, write them under host.arguments."
        said = f"It said: {host.last_line}" if host.last_line else needs
        diagnostics.append(Diagnostic(exit_words(code), said))
    diagnostics += heard.diagnostics()
    diagnostics += host_notes(raw, host.executable, host.cwd)
    transfers = read_transfers(raw)
    last_ps = int(transfers["end_ps"].max()) if len(transfers) else 0
    diagnostics += _card_warnings(card_end)
    diagnostics += rule_notes(raw, task.rules)
    clock_cycles = tuple(int(word) for word in card_end.get("cycles", str(_progress(raw)[0])).split())
    cycles = clock_cycles[0]
    clock_hz = faster_hz(hardware.clock_hz, simulation.clock_ppm)
    seen_ps = cycle_start_ps(cycles, clock_hz, simulation.clock_drift_ppm_per_s)
    unseen = int((int(host_end.get("time_ps", 0)) - seen_ps) / period_ps(clock_hz))
    if unseen > 1 and not has_errors(diagnostics):
        longer = counted(unseen, "cycle")
        text = f"the host program ran for {longer} after its last call; the design was not simulated then"
        hint = "The run assumes that every FPGA block stayed in its state in that time."
        diagnostics.append(Diagnostic(text, hint, Severity.NOTE))
    if (left := host.program.left) and host.jail is None:  # a jail ends with all in it, by and by itself too
        text = f"the host program left {counted(left, 'process', 'processes')} behind at its end"
        diagnostics.append(
            Diagnostic(text, "A run ends with its host program, so the workbench ended them.", Severity.WARNING)
        )
    return Outcome(
        exit=code,
        stdout=host.program.stdout.kept.decode(errors="replace"),
        stdout_sha256=host.program.stdout.hash.hexdigest(),
        time_ps=max(int(host_end.get("time_ps", last_ps)), seen_ps),
        host_ps=int(host_end.get("host_ps", int(transfers["host_ps"].sum()) if len(transfers) else 0)),
        clock_cycles=clock_cycles,
        counter_words=read_counters(raw),
        diagnostics=tuple(diagnostics),
        threads=read_thread_times(raw),
    )


def _card_warnings(card_end: dict[str, str]) -> list[Diagnostic]:
    warnings = []
    if conflicts := int(card_end.get("port_conflicts", "0")):
        text = f"words of several transfers needed the port in the same cycle and waited {counted(conflicts, 'cycle')}"
        warnings.append(Diagnostic(text, "Port times in the records do not include this waiting.", Severity.WARNING))
    if reads := int(card_end.get("counter_reads", "0")):
        text = f"the host read {times(reads)} from the range that hardware.read_out declares unused"
        hint = "The workbench's counters answered, not the design. Choose a range that the application does not use."
        warnings.append(Diagnostic(text, hint, Severity.WARNING))
    if warning := card_end.get("warning"):
        warnings.append(Diagnostic(f"the design warned: {warning}", "The log has every warning.", Severity.WARNING))
    return warnings

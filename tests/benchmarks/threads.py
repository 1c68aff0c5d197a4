"""Host threads on virtual cores, against times by hand: programs of a few threads on 1, 2 and 4 cores.

Prints a row for each program, its cores and the time that a sum by hand gives, with the time that it took on the
virtual clock; `again` counts the runs (100, while other programs keep the machine busy) that gave another time or
output, and `replayed` the calls that a replay of the run puts at another time. The exit code is 1 where a row differs,
a run was not like the first, or a replay was not like the run.
"""

import json
import os
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import PIPE, Popen

from command_line import command, show
from rc_workbench_plugins.ports.memory import MemoryPort
from rc_workbench_plugins.simulated_card.card import CardExecutable, build_card
from rc_workbench_plugins.simulated_card.config import card_config
from rc_workbench_plugins.simulated_card.host import build_host

from workbench.api import HdlBuild, PlatformSupport
from workbench.api.job import Job
from workbench.api.records import read_end, read_lines
from workbench.api.targets import Task
from workbench.model.application import HardwareSources, HostSources, Project, ReadOut
from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform, TransferPoint, TransferTable
from workbench.model.run import Cores
from workbench.replay.threads import Replay, StuckError, differences
from workbench.run.syncs import sync_tables

SOURCES = Path(__file__).parent / "thread_programs"
API = Path(__file__).parents[2] / "platform_templates" / "nallatech_h101"
PS_PER_US = 1_000_000
RUNS, QUICK_RUNS = 100, 5
WITH_CARD = "with_card.c"
LOAD = 3  # programs beside those that are measured
REPLY = bytes(48)  # the card's answer to the host's last message (link.h): all is well


@dataclass(frozen=True)
class Program:
    """`ends_us`: by the number of cores, when the program ends and, where given, when its threads do, by number.

    `says` is in the message that ends the run at that time; `prints` is the output, by the number of cores.
    """

    name: str
    ends_us: Mapping[int, float | tuple[float, ...]]
    arguments: tuple[int, ...] = ()
    settings: Mapping[str, int] = field(default_factory=dict)
    says: str = ""
    prints: Mapping[int, str] = field(default_factory=dict)
    source: str = "programs.c"


PROGRAMS = (
    Program("bounded_queue", {1: 18, 2: (14, 8, 4), 4: (13, 3, 7)}, (1,)),
    Program("bounded_queue", {1: 30, 4: 15}, (3,)),
    Program("contended_lock", {1: 90, 2: (65, 45, 55, 65), 4: (65, 45, 55, 65)}),
    Program("contended_lock", {4: 72}, settings={"wake_ps": PS_PER_US}),
    Program("pipeline", {1: 70, 2: 37, 4: 34}, (10, 4)),
    Program("pipeline", {1: 7000, 2: 3501, 4: 3004}, (1000, 3)),
    Program("barrier", {1: 15, 2: 10, 4: 8}),
    Program("sleeping", {1: (100, 60), 2: (100, 60), 4: (100, 60)}),
    Program("timed_wait", {1: 50, 2: 50, 4: 50}),
    Program("through_a_pipe", {1: (9, 6), 2: (8, 6), 4: (8, 6)}),
    Program("c11_threads", {1: 7, 2: 7, 4: 7}),
    Program("cancelled", {1: 5, 2: 5, 4: 5}),
    Program("exit_in_a_thread", {1: 6, 2: 6, 4: 6}),
    Program("main_ends_first", {1: 9, 2: 9, 4: 9}),
    Program("mutex_ring", {2: 3, 4: 3}, says="for one another's mutexes: the main thread waits for a mutex,"),
    Program("mutex_ring", {1: 3}),
    Program("lost_signal", {2: 1, 4: 1}, says="no thread of the host can go on: the main thread waits for a condition"),
    Program("lost_signal", {1: 1}),
    Program("lost_signal_watched", {2: 1, 4: 1}, says="go on: the main thread waits for a condition"),
    Program("watchers_end", {1: 10, 2: 10, 4: 10}),
    Program("read_write_lock", {1: 16, 2: 11, 4: 11}),
    Program("semaphores", {1: 9, 2: 7, 4: 7}),
    Program("done_once", {1: 7, 2: 6, 4: 5}),
    Program("spin_lock", {1: 10, 2: 10, 4: 10}),
    Program("broadcast", {1: 10, 2: 10, 4: 10}),
    Program("slices", {1: (47, 42, 47), 2: (25, 22, 25), 4: 20}, settings={"slice_ps": 5 * PS_PER_US}),
    Program("bound", {2: (20, 10, 20, 5), 4: (20, 10, 20, 5)}),
    Program("atomic_operators", {2: 10.002, 4: 10.002}),
    Program("printing", {1: 6, 2: 3, 4: 3}, prints={
        cores: "".join(f"thread {n}\n" for n in order) + f"{cores} processors\n"
        for cores, order in {1: (0, 1, 2), 2: (1, 0, 2), 4: (2, 1, 0)}.items()
    }),
    *(replace(program, source="programs.cpp") for program in (
        Program("future", {1: 9, 2: 7, 4: 7}),
        Program("atomic_wait", {1: 6, 2: 6, 4: 6}),
        Program("semaphore", {1: 11, 2: 8, 4: 8}),
        Program("latch", {1: 6, 2: 4, 4: 3}),
        Program("cpp_barrier", {1: 15, 4: 7}),
        Program("stopped", {1: 5, 2: 5, 4: 5}),
        Program("local_static", {1: 5, 2: 4, 4: 4}),
        Program("wait_for", {1: 30, 2: 30, 4: 30}),
        Program("shared", {1: 16, 2: 11, 4: 11}),
        Program("spin", {2: 10.002, 4: 10.002}),
        Program("spin", {1: 20.002}, settings={"slice_ps": 5 * PS_PER_US}),
        Program("spin_volatile", {2: 10.002, 4: 10.002}),
        Program("own_lock", {1: 10, 2: 10, 4: 10}),
        Program("lock_free_queue", {2: 31, 4: 31}),
        Program("streams", {4: 3}, prints={4: "thread 2\nended\nthread 1\nended\nthread 0\nended\n"}),
    )),
    *(replace(program, source=WITH_CARD) for program in (
        Program("double_buffer", {1: 260, 2: 230, 4: 230}),
        Program("shared_bus", {1: 310, 2: 310, 4: 310}),
        Program("poller", {1: (40, 40), 2: (20, 20), 4: (20, 20)}),
        Program("poller", {1: (31, 31)}, settings={"slice_ps": 5 * PS_PER_US}),
        Program("interrupt", {1: 28, 2: 28, 4: 28}, prints={1: "28000 ns\n", 2: "12000 ns\n", 4: "12000 ns\n"}),
    )),
)  # fmt: skip


@dataclass(frozen=True)
class Ran:
    """A run: its end and that of each thread by number (ps), its output, and the message that ended it."""

    end_ps: int
    thread_ends_ps: tuple[int, ...]
    output: str
    message: str


@dataclass(frozen=True)
class Built:
    """The programs of one source, and the card that they need, if any."""

    task: Task
    host: Path
    card: CardExecutable | None


def platform() -> Platform:
    direction = PortDirection(data_signal="wr_data", address_signal="addr", condition_hdl="wr_en")
    port = MemoryPort(
        write_enable="wr_en", read_enable="rd_en", incoming=direction,
        outgoing=direction.model_copy(update={"data_signal": "rd_data", "delay_cycles": 1}),
    )  # fmt: skip
    clock = Clock(name="clk", frequency_hz=100e6, reset="rst")
    hardware = Hardware(clocks=(clock,), ports=(port,), interrupt="irq")
    write = TransferTable(points=(TransferPoint(bytes=4, time_s=50e-6),))
    read = TransferTable(direction="receive", points=(TransferPoint(bytes=4, time_s=1e-6),), holds_core=True)
    return Platform(
        schema_version=1, name="card", hardware=hardware, transfer_tables={"write": write, "read_reg": read}
    )


def build(
    source: str,
    folder: Path,
    deterministic: bool = True,
    flags: Sequence[str] = (),
    root: Path = SOURCES,
    job: Job | None = None,
) -> Built:
    """The programs of one source, built as a project's host is; only the work that they say they do is counted.

    Where the build is not deterministic, the processor's time is measured instead.
    """
    flags = ("-O1", "-fno-sanitize-coverage=trace-pc", *(("-std=c++20",) if source.endswith("pp") else ()), *flags)
    host = HostSources(sources=(source,), flags=flags)
    hardware = HardwareSources(sources=("card.v",), top="card", read_out=ReadOut(first=100, last=103))
    project = Project(schema_version=1, name="threads", platform="card", host=host, hardware=hardware)
    support = PlatformSupport("card", Path("none.yaml"), API, (API / "fpga.c",))
    hdl = HdlBuild((SOURCES / "card.v",), "card", ())
    task = Task(project, platform(), root, hdl, folder, folder / "raw", support, deterministic=deterministic)
    return Built(task, build_host(task, job or Job()), build_card(task, Job()) if source == WITH_CARD else None)


def config(built: Built, program: Program, cores: int) -> str:
    """What host and card are told (simulate.py); without a card, what concerns the host."""
    project = built.task.project
    settings = project.simulation.model_copy(update={"cores": cores, **program.settings})
    if built.card:
        task = replace(built.task, project=project.model_copy(update={"simulation": settings}))
        return card_config(built.card.hdl, task, built.card.libraries)
    names = ("cores", "slice_ps", "call_ps", "wake_ps", "switch_ps", "basic_block_ps")
    return (
        "\n".join(
            [f"deterministic {int(built.task.deterministic)}", *(f"{name} {getattr(settings, name)}" for name in names)]
        )
        + "\n"
    )


def run(
    built: Built, program: Program, cores: int, folder: Path, skips_spins: bool = True, traced: bool = False
) -> Ran:
    """One run. Where there is no card, what it would say at the end is there from the start."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config").write_text(config(built, program, cores) + f"skips_spins {int(skips_spins)}\n")
    environment = {**os.environ, "RCW_CONFIG": str(folder / "config"), "RCW_RAW": str(folder)}
    environment |= {"RCW_TRACE": "1"} if traced else {}
    ours, theirs = socket.socketpair()
    with ours, theirs, ExitStack() as running:
        if built.card:
            running.enter_context(Popen([built.card.path], pass_fds=[ours.fileno()],
                                        env={**environment, "RCW_CARD_FD": str(ours.fileno())}))  # fmt: skip
        else:
            ours.send(REPLY)
            ours.shutdown(socket.SHUT_WR)  # a host that expects more is told at once
        command = [str(built.host), program.name, *map(str, program.arguments)]
        host = Popen(command, env={**environment, "RCW_CARD_FD": str(theirs.fileno())}, pass_fds=[theirs.fileno()],
                     stdout=PIPE, stderr=PIPE, text=True)  # fmt: skip
        if built.card:
            ours.close()  # the host's end is the card's
        theirs.close()
        running.enter_context(host)
        running.callback(host.kill)  # where it never ends
        output, errors = host.communicate(timeout=100)
    threads = sorted([int(word) for word in line.split()] for line in read_lines(folder / "host_threads.txt"))
    end_ps = int(read_end(folder / "host_end.txt").get("time_ps", -1))
    failed = host.returncode not in (0, 113)
    message = f"exit code {host.returncode}: {errors}" if failed else errors
    return Ran(end_ps, tuple(row[2] for row in threads), output, message)


def replayed(built: Built, program: Program, cores: int, folder: Path, ran: Ran) -> int:
    """How many calls of a traced run its replay puts at other times; -1 where it ends at another one."""
    syncs = sync_tables(folder)["syncs"]
    settings = built.task.project.simulation.model_copy(update=program.settings)
    times = Cores(cores, settings.slice_ps, settings.call_ps, settings.wake_ps, settings.switch_ps)
    try:
        again = Replay(syncs, times).times()
    except StuckError:
        return 0 if ran.message else -1
    return len(differences(syncs, again)) if again.end_ps == ran.end_ps else -1


def measure(built: Built, program: Program, cores: int, runs: int, folder: Path) -> list[dict[str, object]]:
    """The rows of one program on so many cores."""
    expected = program.ends_us[cores]
    ends_us = expected if isinstance(expected, tuple) else (expected,)
    first, *others = [run(built, program, cores, folder / str(n), traced=n == 0) for n in range(runs)]
    differing = replayed(built, program, cores, folder / "0", first)
    name = " ".join([program.name, *map(str, program.arguments), *(f"{k} {v}" for k, v in program.settings.items())])
    got_ps = (first.end_ps, *first.thread_ends_ps[1:])
    wrong = first.message if not program.says else "" if program.says in first.message else f"said: {first.message}"
    if program.prints and first.output != program.prints[cores]:
        wrong = f"printed {first.output!r}"
    return [
        {
            "program": name if not number else f"{name}, thread {number}",
            "cores": cores,
            "by_hand_ps": round(end_us * PS_PER_US),
            "got_ps": got_ps[number],
            "again": sum(other != first for other in others),
            "replayed": differing,
            "wrong": wrong,
        }
        for number, end_us in enumerate(ends_us)
    ]


def timed(quick: bool, as_json: bool) -> int:
    """The rows of thread_costs.py."""
    import thread_costs

    with tempfile.TemporaryDirectory() as name:
        rows = []
        for row in thread_costs.rows(sys.modules[__name__], Path(name), quick):
            rows.append(row)
            if not as_json:
                numbers = (
                    f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items() if k != "what"
                )
                print(f"{row['what']:20}" + "  ".join(numbers), flush=True)
    if as_json:
        print(json.dumps({"timed": rows}))
    return 0


def main(words: Sequence[str] | None = None) -> int:
    parser = command(__doc__, f"{QUICK_RUNS} runs of each instead of {RUNS}")
    parser.add_argument("--timed", action="store_true", help="what virtual cores cost, and measured threads, instead")
    parser.add_argument("--once", action="store_true", help="one run of each, on an otherwise idle machine")
    arguments = parser.parse_args(words)
    if arguments.timed:
        return timed(arguments.quick, arguments.json)
    runs = 1 if arguments.once else QUICK_RUNS if arguments.quick else RUNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = {source: build(source, folder / source) for source in sorted({p.source for p in PROGRAMS})}
        load = [Popen([sys.executable, "-c", "while True: pass"]) for _ in range(0 if arguments.once else LOAD)]
        try:
            cases = [(program, cores) for program in PROGRAMS for cores in program.ends_us]
            with ThreadPoolExecutor(max_workers=2) as pool:
                found = pool.map(
                    lambda n: measure(built[cases[n][0].source], *cases[n], runs, folder / str(n)), range(len(cases))
                )
                rows = [row for some in found for row in some]
        finally:
            for process in load:
                process.kill()
                process.wait()
    show({"rows": rows}, arguments.json)
    return int(
        any(row["by_hand_ps"] != row["got_ps"] or any(row[n] for n in ("again", "replayed", "wrong")) for row in rows)
    )


if __name__ == "__main__":
    sys.exit(main())

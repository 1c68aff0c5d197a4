"""A real machine as a target: the project's own commands build the instrumented tree, run it and fetch its records."""

from __future__ import annotations

import hashlib
import shlex
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api import Diagnostic, Outcome, Target, WorkbenchError, hookimpl

if TYPE_CHECKING:
    from workbench.api import Job, Platform, PlatformSupport, Task
    from workbench.api.unstable import ProcessResult

_BUILD, _RUN, _FETCH = "Build on the machine", "Run on the machine", "Fetch the records"


class Machine:
    """Each command is a line for `sh`, run in the project's folder. Variables tell it where things are: $RECAP_TREE,
    the instrumented tree, and $RCW_RAW, the empty folder in which the records have to be at the end; $RECAP_PROGRAM is
    what the project's own command built, where it has one, and is started here where no command says how, by what
    target.launch says; $RECAP_RANKS is how many processes (MPI). In a traced run $RCW_TRACE is 1, which lets the
    program record each of its calls, and $RCW_AGENT switches agents in the FPGA."""

    name = "machine"
    title = "real machine"
    simulated = False
    steps: Sequence[str] = (_BUILD, _RUN, _FETCH)

    def lacks(self, platform: Platform, support: PlatformSupport | None) -> tuple[Diagnostic, ...]:
        return ()  # what reads the counters out asks that of every target whose time is real

    def build(self, task: Task, job: Job) -> Path | None:
        """The program that the project's own command built."""
        project = task.project
        if not (project.target.run or project.host.build):
            raise WorkbenchError(
                Diagnostic(
                    "the project has no command that runs it on the machine",
                    "Write target: {name: machine, build: make -C board, run: board/host}.",
                )
            )
        with job.step(_BUILD):
            program = _built(task, job) if project.host.build else None
            _must(task, job, "build", project.target.build, program)
        return program

    def run(self, task: Task, built: Path | None, job: Job) -> Outcome:
        target = task.project.target
        with job.step(_RUN):
            words = shlex.join([str(built), *task.project.host.arguments])
            launch = target.launch or ("mpirun -n $RECAP_RANKS" if task.project.host.ranks > 1 else "exec")
            ran = _command(task, job, target.run or f"{launch} {words}", built, "host: ")
        with job.step(_FETCH):
            _must(task, job, "fetch", target.fetch, built)
        said = ran.stdout.encode()
        return Outcome(
            exit=_exit(ran.returncode),
            stdout=ran.stdout,
            stdout_sha256=hashlib.sha256(said).hexdigest(),
            diagnostics=tuple(_failed("run", ran) if ran.returncode else ()),
        )


def _built(task: Task, job: Job) -> Path:
    """The host by the project's own command, with the read-out of the monitors where the platform says how."""
    from workbench.api.compile_plan import CompilePlan
    from workbench.api.unstable import words_of_calls
    from workbench.api.users_build import build_as_the_user_does

    macros = tuple(f"-D{name}={value}" for name, value in {**task.project.host.defines, **task.settings}.items())
    board = task.build / "board"
    read_outs = sorted(map(str, board.glob("*.c")))
    reads = ("-DRCW_BOARD", f"-I{board}") if read_outs else ()
    of_ranks = sorted(map(str, (task.build / "runtime" / "host" / "ranks").glob("*.c")))
    plan = CompilePlan(
        project=str(task.path),
        root=str(task.root),
        mirror=str(task.build / "host_build" / "tree"),
        names=words_of_calls(task.platform.host),
        flags=(*macros, *reads),
        sources=(*read_outs, *of_ranks),
    )
    return build_as_the_user_does(task, plan, job).program


def _command(task: Task, job: Job, line: str, program: Path | None, prefix: str = "") -> ProcessResult:
    """Run a command of the project's; what it prints is logged line by line, with a prefix."""
    job.log(f"$ {line}")
    where = {"RECAP_TREE": str(task.build), "RCW_RAW": str(task.raw), **({"RCW_TRACE": "1"} if task.trace else {})}
    where["RECAP_RANKS"] = str(task.project.host.ranks)
    where |= {"RECAP_PROGRAM": str(program)} if program else {}
    where |= {"RCW_AGENT": " ".join(map(str, task.switches))} if task.switches else {}
    return job.run(["sh", "-c", line], cwd=task.root, env=where, on_output=lambda said: job.log(f"{prefix}{said}"))


def _must(task: Task, job: Job, name: str, line: str, program: Path | None) -> None:
    if line and (done := _command(task, job, line, program)).returncode:
        raise WorkbenchError(*_failed(name, done))


def _failed(name: str, done: ProcessResult) -> tuple[Diagnostic, ...]:
    said = [text for text in (done.stderr or done.stdout).strip().splitlines() if text.strip()]
    hint = f"Its last output: {said[-1].strip()}" if said else ""
    code = _exit(done.returncode)
    how = f"was ended by signal {-code}, {signal.strsignal(-code)}" if code < 0 else f"ended with exit code {code}"
    return (Diagnostic(f"the command target.{name} {how}", hint),)


def _exit(code: int) -> int:
    """A program's exit code, -N where signal N ended it, which a shell and ssh say as 128 + N."""
    return 128 - code if code - 128 in signal.valid_signals() else code


@hookimpl
def workbench_targets() -> Sequence[Target]:
    return [Machine()]

"""Runs compilers, several at once, and turns what they say into diagnostics at the user's lines."""

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import gettempdir

from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.text import counted, thousands
from workbench.system.cache import cache_dir
from workbench.system.process import ENGLISH, ProcessResult
from workbench.system.toolchain import Tool

_GCC_LINE = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>fatal error|error|warning): (?P<text>.*)$"
)
_LINKER_LINE = re.compile(
    r"^(?:\S*ld: )?(?P<file>[^:\n]+):(?P<line>\d+)?(?::?\(\.[^)]*\))?: (?P<text>undefined reference to .*)$"
)
_FULL = re.compile("No space left on device|Disk quota exceeded")
MOST_DIAGNOSTICS = 20
#: functions that a program calls which starts threads
STARTS_THREADS = re.compile(
    r"^(pthread_create|thrd_create|_ZNSt6thread15_M_start_thread.*|_ZN5boost6thread.*|_ZN3tbb.*)$"
)


def needed(tool: Tool | Diagnostic) -> Tool:
    """The tool, or WorkbenchError with how to install it."""
    if isinstance(tool, Diagnostic):
        raise WorkbenchError(tool)
    return tool


def run_all(commands: Sequence[Sequence[str | Path]], job: Job, *, cwd: Path, what: str) -> tuple[Diagnostic, ...]:
    """Run compiler commands, as many at once as there are processors. Returns their warnings.

    Raises WorkbenchError with the compiler's own errors, at their file and line, when one fails.
    """

    def one(command: Sequence[str | Path]) -> ProcessResult:
        return job.run(command, cwd=cwd, env=ENGLISH, on_line=lambda line: None)

    with ThreadPoolExecutor(max_workers=max(1, min(len(commands), os.cpu_count() or 1))) as pool:
        return compiler_warnings(pool.map(one, commands), job, what, len(commands))


def compiler_warnings(results: Iterable[ProcessResult], job: Job, what: str, count: int) -> tuple[Diagnostic, ...]:
    """The warnings of compilers that have ended; WorkbenchError with the errors of the first that failed."""
    warnings: list[Diagnostic] = []
    done = partial("{}: {} of {} done".format, what)
    job.progress(None, done(0, counted(count, "compiler call")))  # not what was compiled before
    for number, result in enumerate(results, 1):
        job.progress(None, done(thousands(number), counted(count, "compiler call")))
        messages = gcc_diagnostics(result.stderr)
        for line in result.stderr.splitlines():
            job.log(line)
        if result.returncode:
            text = f"{what} does not build: {last_words(result.stderr)}"
            errors = [d for d in messages if d.severity is Severity.ERROR][:MOST_DIAGNOSTICS]
            errors = [*no_room(result.stderr, what)] or errors
            raise WorkbenchError(*(errors or [Diagnostic(text, "See the log for the compiler's output.")]))
        warnings += [d for d in messages if d.severity is Severity.WARNING]
    return tuple(warnings[:MOST_DIAGNOSTICS])


def gcc_diagnostics(text: str) -> list[Diagnostic]:
    """gcc's and ld's messages; notes and the lines that quote source are left out."""
    diagnostics = []
    for line in text.splitlines():
        if match := _GCC_LINE.match(line):
            severity = Severity.WARNING if match["kind"] == "warning" else Severity.ERROR
            line_number, column = int(match["line"]), int(match["column"])
            diagnostics.append(Diagnostic(match["text"], "", severity, match["file"], line_number, column))
        elif match := _LINKER_LINE.match(line):
            number = int(match["line"]) if match["line"] else None
            hint = "Is the function's source file, or its library, missing from the project?"
            diagnostics.append(Diagnostic(match["text"], hint, file=match["file"], line=number))
    return diagnostics


def no_room(text: str, what: str) -> tuple[Diagnostic, ...]:
    """What to say where a tool's own words are that a disk is full, whichever source it was reading then."""
    if not (full := _FULL.search(text)):
        return ()
    hint = (
        f"Free some space where the run's folder, the cache ({cache_dir()}) and temporary files ({gettempdir()}) are."
    )
    return (Diagnostic(f"{what} cannot be built, as there is no room on a disk: {full[0]}", hint),)


def last_words(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "the compiler said nothing"


def digest(parts: Iterable[str | bytes]) -> str:
    """A hash of the parts, in order; where one ends and the next begins matters."""
    total = hashlib.sha256()
    for part in parts:
        data = os.fsencode(part)
        total.update(len(data).to_bytes(8, "little"))
        total.update(data)
    return total.hexdigest()[:32]

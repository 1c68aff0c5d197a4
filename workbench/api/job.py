"""Anything longer than 100 ms: steps with progress, a log, and a cancel that ends the child processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from workbench.model.diagnostic import Cancelled, Diagnostic, WorkbenchError
from workbench.system import interrupt
from workbench.system.process import ProcessResult, run_program

_TOLD_EVERY_S = 1.0


@dataclass(frozen=True)
class JobEvent:
    """What a job tells its watcher. `kind` is one of: plan, step, step_done, step_failed, progress, log, diagnostic.

    plan: `text` is the step names, one a line, `expected_s` how long those took the last time. progress: `fraction` is
    0 to 1, or None where the end is unknown.
    step_done and step_failed: `seconds` is how long the step took.
    """

    kind: str
    text: str = ""
    fraction: float | None = None
    seconds: float = 0.0
    diagnostic: Diagnostic | None = None
    expected_s: Mapping[str, float] = field(default_factory=dict)


class Job:
    """One running job. `watch` is called from the job's thread; `cancel` may be called from any thread."""

    def __init__(self, watch: Callable[[JobEvent], None] = lambda event: None) -> None:
        self._watch = watch
        self._cancel = threading.Event()
        self.diagnostics: list[Diagnostic] = []
        self.durations_s: dict[str, float] = {}  # of the steps that were done
        self._last = JobEvent("progress")
        self._own = threading.local()  # each thread's last progress

    @property
    def cancelled(self) -> bool:
        return self._cancel.is_set() or interrupt.asked.is_set()

    def cancel(self) -> None:
        self._cancel.set()

    def check(self) -> None:
        """Raise Cancelled if the job was cancelled, or a signal asked this process to end."""
        if self.cancelled:
            raise Cancelled

    def tell(self, event: JobEvent) -> None:
        """Pass on an event from elsewhere, such as a child process that does a part of the job."""
        self._watch(event)

    def within(self, limit_s: float) -> Job:
        """A job for a part of this one, which ends with it: after `limit_s` its `check` raises OutOfTime."""
        return _Part(self, limit_s)

    def redirect(self, watch: Callable[[JobEvent], None]) -> None:
        """From now on tell another watcher: in a child process, who hands it to the parent."""
        self._watch = watch

    def plan(self, steps: Sequence[str], expected_s: Mapping[str, float] | None = None) -> None:
        """Say which steps there will be, and how long each took the last time, where that is known."""
        self._watch(JobEvent("plan", "\n".join(steps), expected_s=expected_s or {}))

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        self.check()
        started = time.monotonic()
        self._last = JobEvent("progress")
        self._watch(JobEvent("step", name))
        try:
            yield
        except BaseException:
            self._watch(JobEvent("step_failed", name, seconds=time.monotonic() - started))
            raise
        self.durations_s[name] = time.monotonic() - started
        self._watch(JobEvent("step_done", name, seconds=self.durations_s[name]))

    def progress(self, fraction: float | None, text: str = "") -> None:
        self._last = self._own.last = JobEvent("progress", text, fraction=fraction)
        self._watch(self._last)

    def log(self, text: str) -> None:
        self._watch(JobEvent("log", text))

    def report(self, diagnostic: Diagnostic) -> None:
        self.diagnostics.append(diagnostic)
        self._watch(JobEvent("diagnostic", diagnostic.text(), diagnostic=diagnostic))

    def run(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        on_line: Callable[[str], None] | None = None,
        on_output: Callable[[str], None] | None = None,
        memory_bytes: int = 0,
    ) -> ProcessResult:
        """Run a program, with `env` added to this environment, and wait for it, watching for cancel. Each of its
        processes may map `memory_bytes`, where that is not 0.

        Its standard error goes to the log line by line (or to `on_line`), and `on_output` gets the lines of its
        standard output; of both outputs the first 16 MiB are returned. Meanwhile this thread's last progress is told
        again every second. A cancel or the time limit ends the program and everything that it started. Raises
        Cancelled; WorkbenchError when the command is not there or the limit passed.
        """
        self.check()
        reported_s = time.monotonic()

        def check() -> None:
            nonlocal reported_s
            self.check()
            if time.monotonic() - reported_s > _TOLD_EVERY_S:
                reported_s = time.monotonic()
                self._watch(getattr(self._own, "last", self._last))

        return run_program(
            command, cwd=cwd, env=env, timeout_s=timeout_s, on_line=on_line or self.log, on_output=on_output,
            check=check, memory_bytes=memory_bytes,
        )  # fmt: skip


class OutOfTime(WorkbenchError):
    """A part of a job took longer than it may."""


class _Part(Job):
    def __init__(self, whole: Job, limit_s: float) -> None:
        super().__init__(whole.tell)
        self._whole, self._limit_s, self._last_s = whole, limit_s, time.monotonic() + limit_s
        self.diagnostics = whole.diagnostics

    @property
    def cancelled(self) -> bool:
        return super().cancelled or self._whole.cancelled

    def check(self) -> None:
        super().check()
        if time.monotonic() > self._last_s:
            raise OutOfTime(Diagnostic(f"it took longer than {self._limit_s:g} s"))

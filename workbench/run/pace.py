"""The progress and remaining time of a job, from its steps' reports and the duration of the same steps the last
time."""

import time
from collections.abc import Callable, Mapping

from workbench.api.job import JobEvent
from workbench.model.text import duration_text

TOO_EARLY = 0.02  # below this share a step's own progress says nothing about its end


class Pace:
    """Follows the events of a job. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._expected: Mapping[str, float] = {}
        self._began = 0.0
        self._shown = 0.0  # the last time at which it was due
        self._share: float | None = None
        self.steps: tuple[str, ...] = ()
        self.done: tuple[str, ...] = ()
        self.step = ""  # the current step, or ""
        self.said = ""  # its last report

    def see(self, event: JobEvent) -> None:
        if event.kind == "plan":
            self.steps, self._expected = tuple(event.text.splitlines()), event.expected_s
        elif event.kind == "step":
            self.step, self.said, self._share = event.text, "", None
            self._began = self._shown = self._clock()
        elif event.kind == "progress":
            self._share, self.said = event.fraction, event.text
        elif event.kind in ("step_done", "step_failed"):
            self.done, self.step = (*self.done, event.text), ""

    @property
    def elapsed_s(self) -> float:
        """The time (s) since the current step began."""
        return self._clock() - self._began if self.step else 0.0

    def is_due(self, every_s: float) -> bool:
        """Whether `every_s` seconds have passed since the step began, or since this was last true."""
        if not self.step or self._clock() - self._shown < every_s:
            return False
        self._shown = self._clock()
        return True

    def step_left_s(self) -> float | None:
        """The remaining time (s) of the current step; None if nothing shows it, or if the step takes longer than last
        time."""
        elapsed_s = self.elapsed_s
        if self._share is not None:
            return elapsed_s * (1 - self._share) / self._share if self._share > TOO_EARLY else None
        expected_s = self._expected.get(self.step)
        return expected_s - elapsed_s if expected_s is not None and expected_s > elapsed_s else None

    def step_share(self) -> float | None:
        """The completed share of the current step, 0 to 1."""
        if self._share is not None:
            return self._share
        left_s, elapsed_s = self.step_left_s(), self.elapsed_s
        return None if left_s is None or not elapsed_s + left_s else elapsed_s / (elapsed_s + left_s)

    def left_s(self) -> float | None:
        """The remaining time (s) of the job; None if nothing shows it."""
        now_s = self.step_left_s() if self.step else 0.0
        to_come = [self._expected.get(name) for name in self.steps if name not in (*self.done, self.step)]
        if now_s is None or not self.steps or any(expected_s is None for expected_s in to_come):
            return None
        return now_s + sum(expected_s or 0.0 for expected_s in to_come)

    def left_text(self) -> str:
        """`about 12 s left`: of the job, or of the step if the job's end is unknown; "" if both are unknown or the job
        is done."""
        if not self.step and set(self.steps) <= set(self.done):
            return ""
        whole_s, step_s = self.left_s(), self.step_left_s() if self.step else None
        if whole_s is not None:
            return f"about {duration_text(whole_s)} left"
        return f"about {duration_text(step_s)} left in this step" if step_s is not None else ""

"""A job's progress on stderr: on a terminal one line that moves, with the time left; elsewhere plain lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from workbench.cli.output import visible
from workbench.run.job import JobEvent
from workbench.run.pace import Pace
from workbench.session import journal

Watch = Callable[[JobEvent], None]


@contextmanager
def progress(stream: TextIO | None = None) -> Iterator[Watch]:
    """What a job is to be watched by, as long as this lasts."""
    out = stream or sys.stderr
    if out.isatty():
        with _moving(out) as watch:
            yield watch
    else:
        yield lambda event: _print(event, out)


def _print(event: JobEvent, out: TextIO) -> None:
    if event.kind == "step":
        print(f"{event.text} ...", file=out)
    elif (line := _line(event)) is not None:
        print(line, file=out)


def _line(event: JobEvent) -> str | None:
    """What stays of an event on the terminal."""
    if event.kind in ("step_done", "step_failed"):
        failed = event.kind == "step_failed"
        line = f"{event.text}: failed after {event.seconds:.1f} s" if failed else f"{event.text}: {event.seconds:.1f} s"
        journal.note(line)
        return line
    return visible(event.text) if event.kind in ("log", "diagnostic") else None


@contextmanager
def _moving(out: TextIO) -> Iterator[Watch]:
    from rich.console import Console  # a twentieth of a second: only where a terminal shows it
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
    from rich.text import Text

    pace = Pace()

    class Facts(ProgressColumn):
        max_refresh = 0.2

        def render(self, task: Task) -> Text:
            facts = (f"{pace.elapsed_s:.0f} s", pace.left_text(), pace.said)
            return Text("  ".join(fact for fact in facts if fact), no_wrap=True, overflow="ellipsis")

    console = Console(file=out, highlight=False)
    bar = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(24), Facts(), console=console, transient=True
    )
    task = bar.add_task("", total=None)

    def watch(event: JobEvent) -> None:
        pace.see(event)
        if (line := _line(event)) is not None:
            bar.console.print(line, markup=False, emoji=False, soft_wrap=True)
        number = min(len(pace.done) + 1, len(pace.steps))
        place = f"{number}/{len(pace.steps)}  " if pace.steps else ""
        share = pace.step_share()
        bar.update(
            task, description=f"{place}{pace.step}", total=None if share is None else 1.0, completed=share or 0.0
        )

    with bar:
        yield watch

"""A job's progress on stderr: on a terminal one line that moves, with the time left; elsewhere plain lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TextIO

from workbench.api.job import JobEvent
from workbench.cli.output import visible
from workbench.run.pace import Pace
from workbench.session.program import journal

Watch = Callable[[JobEvent], None]

BAR_WIDTH = 24
REFRESHES_PER_S = 5
LINE_EVERY_S = 10.0  # where no line can move


@contextmanager
def progress(stream: TextIO | None = None) -> Iterator[Watch]:
    """What a job is to be watched by, as long as this lasts."""
    terminal: TextIO = getattr(sys.stderr, "terminal", sys.stderr)  # the line moves by what other texts must not hold
    out = stream or terminal
    if out.isatty():
        with _moving(out) as watch:
            yield watch
    else:
        yield partial(_print, out, Pace())


def _print(out: TextIO, pace: Pace, event: JobEvent) -> None:
    pace.see(event)
    if event.kind == "step":
        print(f"{event.text} ...", file=out)
    elif (line := _line(event)) is not None:
        print(line, file=out)
    elif event.kind == "progress" and pace.is_due(LINE_EVERY_S):
        facts = (visible(pace.said), f"{pace.elapsed_s:.0f} s so far", pace.left_text())
        print(f"{pace.step}: {', '.join(fact for fact in facts if fact)}", file=out)


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
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    pace = Pace()

    def drawn() -> Table:
        share = pace.step_share()
        number = min(len(pace.done) + 1, len(pace.steps))
        place = f"{number}/{len(pace.steps)}  {pace.step}" if pace.steps else pace.step
        facts = (f"{pace.elapsed_s:.0f} s", pace.left_text(), pace.said) if pace.step else ()
        line = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=1.0, completed=share or 0.0, width=BAR_WIDTH, pulse=share is None)
        line.add_row(place, bar, Text("   ".join(fact for fact in facts if fact), no_wrap=True, overflow="ellipsis"))
        return line

    def watch(event: JobEvent) -> None:
        pace.see(event)
        if (line := _line(event)) is not None:
            live.console.print(line, markup=False, emoji=False, soft_wrap=True)

    console = Console(file=out, highlight=False)
    with Live(get_renderable=drawn, console=console, transient=True, refresh_per_second=REFRESHES_PER_S) as live:
        yield watch
        live.refresh()

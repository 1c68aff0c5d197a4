"""What the status bar says, in words."""

from __future__ import annotations

from workbench import __version__
from workbench.gui.context import Context
from workbench.gui.naming import run_title
from workbench.model.diagnostic import Severity, has_errors
from workbench.model.text import time_text


def status_parts(context: Context, of_mode: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The parts from left, the mode's own last, and the sign before them: good, a severity's level or none."""
    parts: list[str] = []
    level = ""
    run = context.run
    if run is not None:
        title = run_title(run)
        shown = "shown until it ends" if context.running else run.manifest.status.value
        parts.append(f"{title} {shown}")
        parts.append(f"{time_text(run.time_s, 5)} {run.kind_of_time}")
        if not of_mode:
            from workbench.analysis.recording import recording_parts  # read where there is a run to speak of

            parts.append("profile and trace" if run.manifest.traced else "profile")
            parts += recording_parts(run.manifest)
            parts.append(f"{len(run.manifest.blocks)} blocks observed")
        level = "good" if run.complete else "medium"
    elif context.workspace is not None:
        parts.append("No run yet")
    if not context.trusted:
        parts.append("not trusted yet")
    parts += of_mode
    problems = context.problems()
    if problems:
        errors = has_errors(problems)
        level = "high" if errors else "medium" if level != "good" else level
        serious = [d for d in problems if d.severity is (Severity.ERROR if errors else Severity.WARNING)]
        word = "problem" if errors else "warning"
        parts.append(f"{len(serious)} {word}{'' if len(serious) == 1 else 's'}")
    if not parts:
        parts.append(f"RC Workbench {__version__}")
    return tuple(parts), level

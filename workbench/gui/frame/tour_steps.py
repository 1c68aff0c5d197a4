"""The tour's steps on the bundled application: text, place, and the condition that ends each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.frame.selection import SelectedFinding
from workbench.session.open.examples import EXAMPLES, Example
from workbench.session.program.keys import key_of, key_of_mode

if TYPE_CHECKING:
    from workbench.gui.frame.frame import ProjectWindow

#: The application of the tour, and what it becomes.
BEFORE, AFTER = EXAMPLES[0], EXAMPLES[1]


@dataclass(frozen=True)
class TourStep:
    """`text` has keys as `{run}`, by the names of commands, and `{analyse}` by those of modes. `is_done` says whether
    the window is where the step leads; it is given whether another line or file is shown than as the step began.
    `ringed` is the widget that it is about; `action` says the text of the button that does what has no key. `page` of
    the guide says more. `example` is the application that it speaks of: where that is not open, the step offers it."""

    title: str
    text: str
    is_done: Callable[[ProjectWindow, bool], bool]
    page: str
    ringed: Callable[[ProjectWindow], QWidget | None] = lambda window: None
    action: Callable[[ProjectWindow], str] = lambda window: ""
    act: Callable[[ProjectWindow], None] = lambda window: None
    example: Example | None = BEFORE

    def lacks(self, window: ProjectWindow) -> bool:
        """Whether it speaks of an application that is not open."""
        return self.example is not None and not _is_open(window, self.example)

    def words(self, window: ProjectWindow) -> str:
        """The text with the keys in force."""
        if self.lacks(window):
            return "This step is about the example, which is not open."
        modes = {name: key_of_mode(place) for place, name in enumerate(window.context.plugins.modes, 1)}
        return self.text.format_map(_Keys(modes))


class _Keys(dict[str, str]):
    def __missing__(self, command: str) -> str:
        return key_of(command) or "the menus"


def _is_open(window: ProjectWindow, example: Example) -> bool:
    workspace = window.context.workspace
    return workspace is not None and workspace.path.name == example.project


def _has_run(window: ProjectWindow, example: Example) -> bool:
    run = window.context.run
    return _is_open(window, example) and run is not None and run.complete


def _in_source(window: ProjectWindow, moved: bool) -> bool:
    return _in_mode(window, "source")


def _finding_selected(window: ProjectWindow, moved: bool) -> bool:
    return _in_mode(window, "analyse") and isinstance(window.context.navigation.selection, SelectedFinding)


def _in_mode(window: ProjectWindow, mode: str) -> bool:
    return window.has_content and window.context.navigation.mode == mode


def _tries(window: ProjectWindow) -> bool:
    details = getattr(window.modes.views.get("analyse"), "details", None)
    trying = getattr(details, "trying", None)
    return isinstance(trying, QWidget) and trying.isVisible()


def _beside(window: ProjectWindow, example: Example) -> Path | None:
    """A program of the example, where the other one is open and has it beside it."""
    workspace = window.context.workspace
    is_pair = _is_open(window, BEFORE) or _is_open(window, AFTER)
    other = workspace.path.with_name(example.project) if workspace and is_pair else None
    return other if other is not None and other.is_file() else None


def open_example(window: ProjectWindow, example: Example) -> None:
    """Open a program of the tour, from where it was copied before, or copied now."""
    if (there := _beside(window, example)) is not None:
        window.context.open_project(there)
    else:
        window.asking.copy_example(example, run=False)


def open_example_text(window: ProjectWindow, example: Example) -> str:
    which = "first" if example is BEFORE else "changed"
    return f"Open the {which} program" if _beside(window, example) else "Copy the example..."


def _new_project(window: ProjectWindow) -> None:
    window.asking.new_project()


def _details(window: ProjectWindow) -> QWidget:
    return window.panels.details_stack


def _side(window: ProjectWindow) -> QWidget:
    return window.panels.side_stack if _in_mode(window, "source") else window.rail.buttons["source"]


def _run_button(window: ProjectWindow) -> QWidget:
    return window.header.run_button


def _analyse_button(window: ProjectWindow) -> QWidget:
    return window.rail.buttons["analyse"]


def _to_source(window: ProjectWindow) -> QWidget:
    findings = getattr(window.modes.views.get("analyse"), "findings", None)
    below = getattr(findings, "show_best", None)
    in_sight = isinstance(below, QWidget) and not below.visibleRegion().isEmpty()
    return below if isinstance(below, QWidget) and in_sight else window.rail.buttons["source"]


def _compare_button(window: ProjectWindow) -> QWidget:
    banner = window.end_banner.compare
    return banner if banner.isVisible() else window.rail.buttons["compare"]


STEPS = (
    TourStep(
        "Open the example",
        "A C host and 20 Verilog cores estimate a probability density, slower than hoped.",
        lambda window, moved: _is_open(window, BEFORE), "projects.md",
        action=lambda window: open_example_text(window, BEFORE), act=lambda window: open_example(window, BEFORE),
        example=None,
    ),
    TourStep(
        "See what is marked",
        "In Source ({source}), click a file or a block in the list. Comments, #pragma recap, say what its calls and "
        "branches do.",
        lambda window, moved: _in_mode(window, "source") and moved, "marks.md", _side,
    ),
    TourStep(
        "Run it",
        "Press {run}. The workbench compiles the host and simulates the cores on one clock. You need no board.",
        lambda window, moved: _has_run(window, BEFORE), "runs.md", _run_button,
    ),
    TourStep(
        "Show the findings",
        "Press {analyse}. Findings say what takes time; the change that would gain most is first.",
        _finding_selected, "findings.md", _analyse_button,
    ),
    TourStep(
        "Try its change",
        "Read what to do about the finding at the right ({details} shows it, {next_finding} the next), and press "
        "{try_change}: the gain is predicted, nothing is edited.",
        lambda window, moved: _tries(window), "findings.md", _details,
    ),
    TourStep(
        "Go to the lines",
        "Press Go to source below the findings, or {source}: lines have their times beside them.",
        _in_source, "findings.md", _to_source,
    ),
    TourStep(
        "Make the change",
        "The example also contains the changed program: larger transfers, one status register, control in hardware.",
        lambda window, moved: _is_open(window, AFTER), "guide.md", action=lambda window: "Open the changed program",
        act=lambda window: open_example(window, AFTER),
    ),
    TourStep(
        "Run it again",
        "Press {run}. The changed program counts the same points.",
        lambda window, moved: _has_run(window, AFTER), "runs.md", _run_button, example=AFTER,
    ),
    TourStep(
        "Compare",
        "Press {compare_before} to see the measured speedup, and each call and state next to the previous run.",
        lambda window, moved: _in_mode(window, "compare"), "findings.md", _compare_button, example=AFTER,
    ),
    TourStep(
        "Now your own project",
        "You have seen all steps: mark, run, try, change, compare. {new_project} begins with a folder of your "
        "sources.",
        lambda window, moved: False, "guide.md", action=lambda window: "New from sources...",
        act=_new_project, example=None,
    ),
)  # fmt: skip

"""Opening and closing a project again and again leaves nothing behind. `window_walk.py` does it 200 times."""

from __future__ import annotations

from pathlib import Path

from driven.conftest import Open
from driven.walk import open_and_close


def test_opening_and_closing_leaves_no_widget_and_no_file_open(
    open_window: Open, project: Path, runs: tuple[Path, Path]
) -> None:
    driven = open_window(project, *runs)
    open_and_close(driven, 2, modes=True)
    before = driven.ask("held()")
    open_and_close(driven, 12)
    open_and_close(driven, 1, modes=True)
    after = driven.ask("held()")
    assert (after["widgets"], after["descriptors"]) == (before["widgets"], before["descriptors"])
    assert after["objects"] - before["objects"] < 13  # not one for each time

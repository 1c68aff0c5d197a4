"""Each mode in the real window: it comes by its key, and takes the focus."""

from __future__ import annotations

from pathlib import Path

import pytest
from driven.conftest import Open

from workbench.gui.context import MODES


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_comes_by_its_key(mode: str, open_window: Open, project: Path, runs: tuple[Path, Path]) -> None:
    driven = open_window(project, *runs)
    driven.key("ctrl+1" if mode != "source" else "ctrl+2")
    driven.wait(f"window.context.mode != {mode!r}")
    driven.key(f"ctrl+{MODES.index(mode) + 1}")
    driven.wait(f"window.context.mode == {mode!r} and window.modes.made[{mode!r}].isVisible()")
    driven.settle()

"""Opening and closing a project again and again leaves nothing behind. `window_walk.py` does it 200 times."""

from itertools import pairwise
from pathlib import Path

from driven.conftest import Open
from driven.walk import open_and_close


def test_opening_and_closing_leaves_no_widget_and_no_file_open(
    open_window: Open, project: Path, runs: tuple[Path, Path]
) -> None:
    driven = open_window(project, *runs)
    open_and_close(driven, 2, modes=True)
    held = [driven.ask("held()")]
    for _ in range(2):
        open_and_close(driven, 3)
        open_and_close(driven, 1, modes=True)
        held.append(driven.ask("held()"))
    # a leak grows each time; what is made once, and late, grows once
    for kind, least in (("widgets", 1), ("descriptors", 1), ("objects", 6)):
        growths = [after[kind] - before[kind] for before, after in pairwise(held)]
        assert min(growths) < least, (kind, growths)

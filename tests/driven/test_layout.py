"""The window's size: what gave way comes back, and every text can be read at every size, light and dark."""

from pathlib import Path

from driven.conftest import Open
from driven.walk import clipped, go_to, squeezed, toggle_panels

from workbench.gui.modes import MODES

CODE_SHARE = "window.modes.views['source'].editor.width() / window.width()"


def test_what_gave_way_to_a_small_window_comes_back(open_window: Open, project: Path, runs: tuple[Path, Path]) -> None:
    driven = open_window(project, *runs)
    driven.do("places = {}")
    for mode in MODES:
        go_to(driven, mode)
        driven.do(f"places[{mode!r}] = geometry()")
    driven.resize((1024, 700))
    for mode in MODES:
        go_to(driven, mode)
    driven.resize((1280, 800))
    driven.resize((1600, 1000))
    for mode in MODES:
        go_to(driven, mode)
        driven.wait(f"geometry() == places[{mode!r}]", f"{mode} laid out as before")


def test_every_text_can_be_read_at_every_size(open_window: Open, project: Path, runs: tuple[Path, Path]) -> None:
    driven = open_window(project, *runs)
    sizes = ((800, 500), (1024, 700), (1280, 800), (1600, 1000), (2560, 1440))
    for theme, some in (("light", sizes), ("dark", sizes[1::2])):
        driven.do(f"window.set_theme({theme!r})")
        for size in some:
            driven.resize(size)
            if theme == "light":  # code has 70 % of the width, with details too
                go_to(driven, "source")
                assert driven.ask(CODE_SHARE) >= 0.7, size
                driven.do("window.toggle_details()")
                driven.settle()
                assert driven.ask("window.panels.details_visible()")
                assert driven.ask(CODE_SHARE) >= (0.7 if size[0] >= 1024 else 0.6), size
                driven.do("window.toggle_details()")
            for mode in MODES:
                driven.do(f"window.context.navigation.set_mode({mode!r})")
                driven.settle()
                assert clipped(driven, mode) == [], f"{mode}, {size}, {theme}"
    toggle_panels(driven)
    for size in ((1024, 700), (1280, 800)):
        driven.resize(size)
        for mode in MODES:
            driven.do(f"window.context.navigation.set_mode({mode!r})")
            driven.settle()
            assert clipped(driven, mode) + squeezed(driven) == [], f"{mode}, {size}, with every panel"

"""The two drawings of docs/architecture.md, drawn from the code.

python tests/drawings.py           print them
python tests/drawings.py --write   put them into docs/architecture.md
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.analysis.analyse import analyse
from workbench.api.targets import Target
from workbench.run.collect import collect
from workbench.session.make.instrumenting import instrument
from workbench.session.make.pipeline import steps
from workbench.session.program.plugins import load_plugins

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
PLUGINS = ROOT / "plugins" / "rc_workbench_plugins"
WINDOW = ROOT / "workbench" / "api" / "window.py"  # what plugins import of the window: above the rooms
LOOP: tuple[Callable[..., Any], ...] = (instrument, Target.build, Target.run, collect, analyse)
_IMPORT = re.compile(r"^\s*(?:from|import) workbench\.(\w+)", re.MULTILINE)


def layers() -> list[list[str]]:
    """The rooms of each layer, from the highest down: import-linter's contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return [layer.replace("workbench.", "").split(" | ") for layer in contracts[0]["layers"]]


def imported(place: Path) -> set[str]:
    """The rooms of the workbench that a module, or the modules below a folder, import."""
    files = [place] if place.is_file() else [file for file in place.rglob("*.py") if file != WINDOW]
    return {room for file in files for room in _IMPORT.findall(file.read_text(encoding="utf-8"))}


def layers_drawing() -> str:
    """A box for each layer, with what its rooms import beside it."""
    order = [room for rooms in layers() for room in rooms]
    width = len("api.window") + 2
    rule = "─" * width
    lines = [f"┌{rule}┐   imports"]
    for n, rooms in enumerate(layers()):
        lines += [f"├{rule}┤"] if n else []
        lines += [_row(room, width, order, ROOT / "workbench" / room) for room in rooms]
    outside = [_row(name, width, order, place) for name, place in (("api.window", WINDOW), ("plugins", PLUGINS))]
    return "\n".join([*lines, f"╞{'═' * width}╡", *outside, f"└{rule}┘"])


def _row(name: str, width: int, order: Sequence[str], place: Path) -> str:
    used = imported(place) - {name}
    return f"│ {name:{width - 2}} │ ▶ {' '.join(room for room in order if room in used)}".rstrip(" ▶")


def loop_drawing(targets: Mapping[str, Target]) -> str:
    """A run's steps at each target, and the functions that take them."""
    lines = [" ▶ ".join([*steps(target), "Analyse"]) + f"   ({target.title})" for target in targets.values()]
    return "\n".join(["┌▶ " + "\n├▶ ".join(lines), "└─ change the sources, and again", "", *_taken_by(LOOP)])


def _taken_by(functions: Iterable[Callable[..., Any]]) -> list[str]:
    return [f"{f.__qualname__:13} {f.__module__.replace('.', '/')}.py" for f in functions]


def drawings() -> dict[str, str]:
    """The drawings by name, as they should be in the page now."""
    return {"layers": layers_drawing(), "loop": loop_drawing(load_plugins().targets)}


def drawn(page: str, new: Mapping[str, str]) -> str:
    """The page with each drawing in the fence below the comment that names it."""

    def fence(comment: re.Match[str]) -> str:
        return f"<!-- drawing: {comment[1]} -->\n```text\n{new[comment[1]]}\n```"

    return re.sub(r"<!-- drawing: (\w+) -->\n```text\n.*?```", fence, page, flags=re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.relative_to(ROOT)}")
    new = drawings()
    if parser.parse_args().write:
        PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8"), new), encoding="utf-8")
    else:
        print("\n\n".join(new.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

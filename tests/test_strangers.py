"""The route of a stranger's project, as `tests/benchmarks/strangers.py` walks it, and as the help page tells it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
import strangers  # type: ignore[import-not-found]

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "resources" / "examples" / "own_board"


def test_the_pages_commands_make_what_the_example_has(tmp_path: Path) -> None:
    """The page and the benchmark's row have the same commands; all but the last two are done here."""
    commands = strangers.route_of("cpp_class")["commands"]
    page = (ROOT / "resources" / "help" / "cpp_board.md").read_text()
    for command in commands:
        assert f"\n    workbench {command.removesuffix(' --json')}\n" in page
    folder = tmp_path / "own_board"
    strangers.begin("cpp_class", strangers.route_of("cpp_class"), folder)
    told = [strangers.done(command, folder) for command in commands[:3]]
    assert [one.returncode for one in told] == [0, 0, 0]
    for line in told[0].stdout.splitlines():
        assert f"\n    {line.rstrip()}\n" in page
    for name in ("board.yaml", "own_board.workbench.yaml"):
        assert (folder / name).read_text() == (EXAMPLE / name).read_text()

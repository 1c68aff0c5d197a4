"""What keeps the code readable, beside what ruff holds (pyproject.toml: C901)."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_LINES = 400


def test_no_file_of_the_program_has_too_many_lines() -> None:
    files = [path for room in ("workbench", "plugins") for path in (ROOT / room).rglob("*.py")]
    lines = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in files}
    assert len(lines) > 700
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}

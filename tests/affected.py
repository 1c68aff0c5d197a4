"""The test files nearest to what changed since main, for `make check`.

    python tests/affected.py [--most N]

Changed test files come first, then those that import a changed module, the ones with the fewest imports first: they are
about that module. At most N (12) are printed, and how many are left for `make test` is said on standard error.
"""

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def changed_files() -> list[str]:
    """Paths in the checkout that differ from the common ancestor with main, uncommitted and new ones too."""
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    return [*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")]


def module_name(path: str) -> str | None:
    """The name by which tests import a Python file; None for any other file."""
    parts = Path(path.removeprefix("plugins/").removeprefix("tests/")).with_suffix("").parts
    if not path.endswith(".py"):
        return None
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> set[str]:
    """Every module that a file imports, and every name `a.b` of `from a import b`, which may be one too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def nearest(changed: Iterable[str], tests: Sequence[Path]) -> list[Path]:
    changed = set(changed)
    modules = {name for path in changed if (name := module_name(path))}
    imports = {test: imported(test) for test in tests}
    own = [test for test in tests if test.relative_to(ROOT).as_posix() in changed]
    others = [test for test in tests if test not in own and imports[test] & modules]
    return own + sorted(others, key=lambda test: (len(imports[test]), test))


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=12)
    most = parser.parse_args().most
    found = nearest(changed_files(), sorted((ROOT / "tests").rglob("test_*.py")))
    if (left := len(found) - most) > 0:
        print(f"{left} more test files import what changed: `make test` runs them.", file=sys.stderr)
    print(*(path.relative_to(ROOT) for path in found[:most]), sep="\n")

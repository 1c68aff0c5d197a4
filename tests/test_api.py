"""What plugins may import is promised: no name disappears or changes without a new version, and each is explained."""

import ast
import copy
import json
import subprocess
import sys
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import workbench.api
from workbench.api.lazy import sources
from workbench.session.program.api_reference import HEADERS, MODULES, api_json, api_names, api_page, header_names
from workbench.session.program.c_declarations import declarations

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "tests" / "data" / "api.json"
GUESTS = [*(ROOT / "plugins" / "example_plugin").rglob("*.py"), *(ROOT / "resources" / "plugin").glob("*.py")]


def broken(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What of the promise `before` does not hold `after`. A class may gain members and bases, a protocol may not."""
    problems = []
    for module, names in before["names"].items():
        for name, lines in names.items():
            now = after["names"].get(module, {}).get(name)
            if now is None:
                problems.append(f"{module}.{name} is gone")
                continue
            bases = lines[:1] if lines[0].startswith("class ") and now[0].startswith(lines[0].removesuffix(")")) else []
            problems += [f"{module}.{name}: '{line.strip()}' is gone" for line in lines if line not in (*now, *bases)]
            if "Protocol" in lines[0]:
                problems += [f"{module}.{name}: '{line.strip()}' is new" for line in now if line not in lines]
    return problems


def test_no_promised_name_disappears_or_changes_without_a_new_version() -> None:
    before, now = json.loads(RECORD.read_text()), api_json()
    if before["api_version"] == now["api_version"]:
        assert broken(before, now) == [], "raise API_VERSION in workbench/api/__init__.py"
    assert before == now, f"run: workbench plugins api --json > {RECORD.relative_to(ROOT)}"


@pytest.mark.parametrize(
    ("name", "line", "other", "why"),
    [
        ("Diagnostic", "    message: str", "", "'message: str' is gone"),
        ("Diagnostic", "    line: int | None = None", "    line: int", "'line: int | None = None' is gone"),
        ("listed", None, "listed(names: Iterable[str]) -> str", "is gone"),
        ("Target", "", "    stop() -> None", "'stop() -> None' is new"),
        ("Diagnostic", "", "    code: str = ''", None),
    ],
)
def test_a_change_of_a_promised_name_is_noticed(name: str, line: str | None, other: str, why: str | None) -> None:
    before = api_json()
    after = copy.deepcopy(before)
    lines = after["names"]["workbench.api"][name]
    if line is None:
        lines[0] = other
    elif line:
        lines.remove(line)
    if line is not None and other:
        lines.append(other)
    problems = broken(before, after)
    assert problems == [] if why is None else why in problems[0]


def test_the_page_of_the_help_is_what_the_code_says() -> None:
    page = (Path(str(files("workbench.resources"))) / "help" / "plugin_api.md").read_text("utf-8")
    assert page == api_page(), "run: workbench plugins api > resources/help/plugin_api.md"


@pytest.mark.parametrize("module", MODULES)
def test_every_promised_name_is_there_and_explained(module: str) -> None:
    loaded = import_module(module)
    names = [name for group in api_names(module).values() for name in group]
    assert {name.name for name in names} == set(loaded.__all__) - {"API_VERSION"}
    assert [name.name for name in names if not name.about or getattr(loaded, name.name) is None] == []


def test_every_promised_declaration_of_a_header_is_there_and_explained() -> None:
    for header, (_, names) in HEADERS.items():
        found = header_names(header)
        assert sorted(one.name for one in found) == sorted(names.split())
        assert [one.name for one in found if not one.about] == []


def test_a_headers_declarations_have_no_bodies_and_keep_their_comments() -> None:
    header = """
#include <stdint.h>
/* A pair. */
typedef struct {
    int a; /* the first */
} pair;

// Adds { two }.
inline int sum(pair p) { if (p.a) { return 1; } return "}"[0]; }
struct Base : Other {
    explicit Base(int n) : n_{n, 0}, m(n) { go(); }
    int n() const { return n_[0]; }  // how many
};
"""
    pair, add, base = declarations(header)
    assert (pair.name, pair.about, pair.text) == (
        "pair",
        "A pair.",
        "typedef struct {\n    int a; /* the first */\n} pair;",
    )
    assert (add.name, add.about, add.text) == ("sum", "Adds { two }.", "inline int sum(pair p);")
    members = "    explicit Base(int n);\n    int n() const;  // how many\n"
    assert (base.name, base.text) == ("Base", "struct Base : Other {\n" + members + "};")


def test_a_plugin_in_the_sources_imports_promised_names_alone() -> None:
    promised = {name: set(import_module(name).__all__) for name in MODULES}
    for path in GUESTS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "workbench":
                assert {alias.name for alias in node.names} <= promised.get(node.module or "", set()), path


def test_importing_the_api_loads_none_of_what_it_offers() -> None:
    code = "import sys, workbench.api; print(sorted(m for m in sys.modules if m.startswith('workbench.')))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['workbench.api', 'workbench.api.lazy']"
    with pytest.raises(ImportError):
        from workbench.api import Nothing  # type: ignore[attr-defined]  # noqa: F401
    assert len(sources(workbench.api.__file__)) == len(workbench.api.__all__) - 1

"""How the window's files know each other."""

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

import workbench.gui

GUI = Path(workbench.gui.__file__).parent


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, also those that only its types need."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_no_file_of_the_window_needs_itself_by_way_of_others() -> None:
    files = {f"workbench.gui.{'.'.join(p.relative_to(GUI).with_suffix('').parts)}": p for p in GUI.rglob("*.py")}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    needs = nx.DiGraph((name, other) for name, path in files.items() for other in imported(path) if other in files)
    assert needs.has_edge("workbench.gui.frame.main_window", "workbench.gui.frame.frame")
    assert [sorted(circle) for circle in nx.strongly_connected_components(needs) if len(circle) > 1] == []

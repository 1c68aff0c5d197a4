"""Plugins: the built-ins use the public hooks only, a third party's is found, and a broken one stops nothing."""

from __future__ import annotations

import ast
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.api import hookspecs
from workbench.session.plugins import load_plugins

ROOT = Path(__file__).parent.parent
BUILT_IN = {"c", "nallatech", "recap_rules", "verilog"}


def test_every_built_in_loads_and_every_hook_is_used_by_one() -> None:
    loaded = {plugin.name: plugin for plugin in load_plugins().loaded}
    assert set(loaded) >= BUILT_IN
    assert not [plugin.error for plugin in loaded.values() if plugin.error]
    hooks = {name for name in vars(hookspecs) if name.startswith("workbench_")}
    assert {hook for name in BUILT_IN for hook in loaded[name].hooks} == hooks


def test_every_hook_is_documented_and_typed() -> None:
    for name, hook in vars(hookspecs).items():
        if name.startswith("workbench_"):
            assert inspect.getdoc(hook)
            assert "return" in hook.__annotations__


def test_built_ins_import_nothing_that_a_third_party_could_not() -> None:
    allowed = ("workbench.api", "workbench.model", "workbench.source", "workbench.formats", "workbench.instrument")
    for path in (ROOT / "plugins" / "rc_workbench_plugins").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            for name in names:
                if name.split(".")[0] == "workbench" and name not in (
                    "workbench.resources",
                    "workbench.platform_templates",
                ):
                    assert name.startswith(allowed), f"{path}: {name}"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example plugin, and one that fails as it is imported, installed into a folder of their own."""
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    source = shutil.copytree(ROOT / "plugins" / "example_plugin", tmp_path_factory.mktemp("source") / "plugin")
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, capture_output=True)
    info = target / "rcw_broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rcw-broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rc_workbench.plugins]\nbroken = rcw_broken\n")
    (target / "rcw_broken.py").write_text("raise RuntimeError('made to fail')\n")
    return target


def workbench(installed: Path, *arguments: str) -> dict[str, list[dict[str, object]]]:
    done = subprocess.run(
        [sys.executable, "-m", "workbench", *arguments, "--json"],
        env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    document: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return document


def test_a_third_partys_plugin_is_found_through_its_entry_point(installed: Path) -> None:
    plugins = {str(p["name"]): p for p in workbench(installed, "plugins")["plugins"]}
    assert plugins["example"]["error"] == ""
    assert plugins["example"]["hooks"] == ["workbench_platforms", "workbench_rules"]
    assert any(t["name"] == "example_card" for t in workbench(installed, "template", "list")["templates"])
    assert any(r["name"] == "example, opening takes long" for r in workbench(installed, "rules", "list")["rules"])


def test_a_broken_plugin_is_named_and_the_others_go_on(installed: Path) -> None:
    plugins = {str(p["name"]): p for p in workbench(installed, "plugins")["plugins"]}
    assert plugins["broken"]["error"] == "RuntimeError: made to fail"
    assert set(plugins) >= {*BUILT_IN, "example"}
    assert not any(plugins[name]["error"] for name in BUILT_IN)

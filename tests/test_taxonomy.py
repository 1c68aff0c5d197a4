"""The rules as a tree of bottlenecks, with what each found (ReCAP 2011, section 5 and Figure 7)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.analysis.taxonomy import taxonomy, with_children
from workbench.cli.main import main
from workbench.formats.run_folder import RunWriter
from workbench.model.run import Run
from workbench.session.keep.results import open_knowledge
from workbench.session.program.plugins import load_plugins

TOLD = {
    "communication": {
        "general communication", "inefficient transfer type or size", "nonoverlapped transfers", "control messages",
        "stalling (application)", "stalling (interface)",
    },
    "synchronization": {
        "late sender", "late receiver", "full buffer", "empty buffer", "polling", "acknowledge", "barrier",
        "contention",
    },
    "internal overhead": {
        "internal overhead", "initialization", "finalization", "update", "multiple initialization",
        "multiple finalization", "interrupt processing", "delay", "pipeline fill/drain", "pipeline flush/stall",
    },
    "imbalance": {"imbalance", "stage imbalance", "load imbalance"},
}  # fmt: skip


def test_all_27_bottlenecks_of_the_paper_are_there_in_their_categories() -> None:
    tree = taxonomy(open_knowledge(load_plugins())[0].rules, ())
    by_category: dict[str, set[str]] = {}
    for _, one in with_children(tree):
        by_category.setdefault(one.category, set()).add(one.name)
    assert sum(map(len, TOLD.values())) == 27
    assert all(names <= by_category[category] for category, names in TOLD.items())
    ours = {name for names in by_category.values() for name in names} - {
        name for names in TOLD.values() for name in names
    }
    assert ours == {"memory bound"}
    under = {one.name: {child.name for child in one.children} for _, one in with_children(tree) if one.children}
    assert under["general communication"] == TOLD["communication"] - {"general communication"}
    assert under["initialization"] == {"multiple initialization"}
    assert under["finalization"] == {"multiple finalization"}
    several = under["initialization"] | under["finalization"]
    assert under["internal overhead"] == TOLD["internal overhead"] - {"internal overhead"} - several


def test_the_command_shows_what_each_rule_found(
    six_cores: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    RunWriter(run, six_cores.manifest).finish(six_cores.manifest, six_cores.tables)
    assert main(["report", str(run), "--json"]) == 0
    findings = {one["id"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    assert main(["rules", "list", str(run), "--json"]) == 0
    found: dict[str, list[str]] = {}

    def walk(one: dict[str, object]) -> None:
        assert isinstance(one["findings"], list)
        assert isinstance(one["children"], list)
        found[str(one["name"])] = one["findings"]
        assert (one["gain"] is None) == (not one["findings"])
        for child in one["children"]:
            walk(child)

    for top in json.loads(capsys.readouterr().out)["taxonomy"]:
        walk(top)
    assert sorted(name for names in found.values() for name in names) == sorted(findings)
    assert all(findings[one]["rule"] == name for name, names in found.items() for one in names)
    assert main(["rules", "list", str(run)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 28
    assert sum("finding" in line for line in lines) == sum(map(bool, found.values())) > 0

"""Every rule of the knowledge base fires on its bottleneck, and is silent once it is fixed."""

from pathlib import Path

import pytest
from benchmarks import rules, rules_pairs, rules_records

from workbench.session.keep.results import open_knowledge
from workbench.session.program.plugins import load_plugins


def test_every_rule_fires_on_its_records_and_falls_silent() -> None:
    result = rules_records.measure()
    assert len(result["rules"]) >= 14
    assert result["fired"] == result["silent_on_mended"] == result["rules"]


def test_every_rule_of_the_paper_has_an_application_and_its_twin() -> None:
    known = {(one.name, one.side, one.scope) for one in open_knowledge(load_plugins())[0].rules}
    paired = [(pair.rule, pair.side, pair.scope) for pair in rules_pairs.PAIRS]
    assert len({rule for rule, _, _ in paired}) == 27
    assert sorted(paired) == sorted(key for key in known if key[0] != "memory bound")  # which is not the paper's
    assert all(pair.app != pair.twin for pair in rules_pairs.PAIRS)


def test_two_pairs_of_real_runs(tmp_path: Path) -> None:
    """A wait that goes, and a stage that becomes faster: predicted from the application, and made."""
    pairs = [pair for pair in rules_pairs.PAIRS if pair.rule in rules.QUICK]
    for row in rules.measure(pairs, tmp_path):
        assert rules.held(row), row
        assert row["first"], row
        assert row["predicted"] == pytest.approx(row["came"], rel=0.05)

"""Platforms side by side: the layers that ship, what they let an algorithm reach, and by a measured density."""

from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from answers import document_of
from predicting import DENSITY, load_named
from rc_workbench_plugins import density
from rc_workbench_plugins.density.compared import compared, compared_table, platforms
from rc_workbench_plugins.density.measured import MeasuredDensity

from workbench.cli.main import main
from workbench.formats.platform_file import load_platform
from workbench.model.diagnostic import WorkbenchError
from workbench.model.platform import Platform
from workbench.pictures.platforms import platforms_plot
from workbench.predict.formulas import Evaluation

BUNDLED = {support.name: support.template for support in density.workbench_platforms()}


def read(path: Path) -> Platform:
    platform, problems = load_platform(path)
    assert problems == ()
    assert platform is not None
    return platform


@pytest.fixture(scope="module")
def all_platforms() -> dict[str, Platform]:
    src6 = Path(str(files("workbench.platform_templates"))) / "src6_map.yaml"
    return {platform.name: platform for platform in map(read, (src6, *BUNDLED.values()))}


def values(name: str, all_platforms: dict[str, Platform]) -> Evaluation:
    return Evaluation(load_named("density", name, all_platforms))


@pytest.mark.parametrize("name", BUNDLED)
def test_every_number_of_a_layer_has_its_source(name: str) -> None:
    platform, text = read(BUNDLED[name]), BUNDLED[name].read_text()
    assert platform.name == name
    assert platform.memories
    for memory in platform.memories:
        assert memory.bytes
        assert memory.bandwidth_bytes_per_s
        sources = [word.strip(",;()") for word in memory.note.split()]
        assert memory.estimated or any(f"\n#   {word}:" in text for word in sources), memory.name


def test_dot_product_is_bound_by_the_slowest_link(all_platforms: dict[str, Platform]) -> None:
    rows = compared(values("dot_product", all_platforms), ["alveo_u280", "epyc_9654"])
    assert [row.name for row in rows] == ["epyc_9654", "alveo_u280", "src6_map"]
    assert [row.limit_ops_per_s for row in rows] == pytest.approx([460.8e9 / 8, 15.75e9 / 8, 1.4e9 / 8], rel=1e-3)
    assert rows[1].binding == "DDR4, from the host"
    assert [row.own for row in rows] == [False, False, True]


def test_matrix_multiply_by_hand(all_platforms: dict[str, Platform]) -> None:
    (u250,) = (row for row in compared(values("matrix_multiply", all_platforms), ["alveo_u250"]) if not row.own)
    on_chip = 2688 * 4096 + 1280 * 32768
    assert u250.binding == "Block RAM and UltraRAM, from DDR4"
    assert u250.limit_ops_per_s == pytest.approx(np.sqrt(on_chip) / 8**1.5 * 77e9)


def test_the_models_own_layers_are_as_it_has_them(all_platforms: dict[str, Platform]) -> None:
    six_banks = Evaluation(load_named("density", "matrix_multiply", all_platforms), {}, "six banks")
    (own,) = compared(six_banks, ["src6_map"])
    assert own.bounds[1].ops_per_s_without_latency == pytest.approx(303e9, rel=2e-3)


def test_an_estimate_is_labelled_in_each_result(
    all_platforms: dict[str, Platform], capsys: pytest.CaptureFixture[str]
) -> None:
    of = values("dot_product", all_platforms)
    rows = compared(of, ["alveo_u55c"])
    assert "Block RAM, from UltraRAM (estimate)" in [row.attribute for row in compared_table(of, rows).rows]
    plot = platforms_plot(rows)
    assert "(estimate)" in plot.say(0, 0)
    assert "binds" in plot.say(0, 2)
    document = document_of(capsys, ["predict", "density", "dot_product", "--platform", "alveo_u55c", "--json"])
    (u55c,) = (row for row in document["platforms"] if row["name"] == "alveo_u55c")
    assert [layer["estimated"] for layer in u55c["layers"]] == [True, False, False]


def test_platforms_are_ranked_for_a_measured_density(all_platforms: dict[str, Platform]) -> None:
    """A kernel without reuse is bound as the dot product, whatever the model's own density says."""
    once = MeasuredDensity(1000, 2000, 4, 2000, np.array([], np.int64), np.array([], np.int64))
    of = values("matrix_multiply", all_platforms)
    rows = compared(of, ["all"], once)
    assert rows[0].name == "epyc_9654"
    assert {row.name for row in rows} == {"src6_map", *platforms(of)}
    assert rows[-1].limit_ops_per_s == pytest.approx(1.4e9 / 8, rel=1e-3)
    assert all(a.limit_ops_per_s >= b.limit_ops_per_s for a, b in pairwise(rows))


def test_what_cannot_be_compared_is_answered(
    all_platforms: dict[str, Platform], capsys: pytest.CaptureFixture[str]
) -> None:
    of = values("dot_product", all_platforms)
    with pytest.raises(WorkbenchError, match="Did you mean 'alveo_u280'"):
        compared(of, ["all", "alveo_u28"])
    bare = Platform(schema_version=1, name="bare")
    other = Evaluation(load_named("density", "dot_product", {**all_platforms, "bare": bare}))
    with pytest.raises(WorkbenchError, match="'bare' has no memory layers"):
        compared(other, ["bare"])
    assert main(["predict", "density", "dot_product", "--platform", "a100", "--sensitivity"]) == 2
    assert "cannot be combined" in capsys.readouterr().err
    assert DENSITY.layers is not None

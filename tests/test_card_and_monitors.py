"""The card and the monitors count the same cycles: taps, dwell histograms and read-out of one instrumented run."""

import shutil
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from rc_workbench_plugins.ports import workbench_port_kinds
from rc_workbench_plugins.simulated_card.card import build_card
from rc_workbench_plugins.simulated_card.host import build_host
from rc_workbench_plugins.simulated_card.simulate import simulate
from rc_workbench_plugins.verilog import workbench_hdl_languages

from workbench.api import HdlBuild, PlatformSupport
from workbench.api.instrument.readout import of_taps
from workbench.api.job import Job
from workbench.api.records import read_dwell, read_taps
from workbench.api.targets import Outcome, Task
from workbench.formats.platform_file import load_platform
from workbench.formats.project_file import load_project
from workbench.model.run_tables import Table

TINY = Path(__file__).parent / "data" / "tiny"
API = Path(__file__).parents[1] / "platform_templates" / "nallatech_h101"
LANGUAGE = workbench_hdl_languages()[0]
KINDS = {kind.name: kind for kind in workbench_port_kinds()}
PARAMETERS = {"DELAY": "4"}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Task, Path]:
    root = tmp_path_factory.mktemp("tiny") / "project"
    shutil.copytree(TINY, root)
    project, _ = load_project(root / "tiny.workbench.yaml")
    platform, _ = load_platform(Path(str(files("workbench.platform_templates").joinpath("nallatech_h101.yaml"))), KINDS)
    assert project is not None
    assert platform is not None
    support = PlatformSupport("nallatech", Path("none.yaml"), API, (API / "fpga.c",))
    task = Task(
        project, platform, root, HdlBuild((), "", ()), root.parent / "build", root.parent / "raw", support,
        settings={"ROUNDS": 3}, parameters=PARAMETERS, deterministic=True,
    )  # fmt: skip
    return task, build_host(task, Job())


def run(
    workshop: tuple[Task, Path], hdl: HdlBuild, out: Path, *, trace: bool, hardware_counters: bool = False
) -> Outcome:
    task, host = workshop
    simulation = task.project.simulation.model_copy(update={"hardware_counters": hardware_counters})
    project = task.project.model_copy(update={"simulation": simulation})
    this = replace(task, project=project, hdl=hdl, build=out / "build", raw=out / "raw", trace=trace)
    return simulate(this, build_card(this, Job()), host, Job())


def same(counted: dict[str, Table], other: dict[str, Table]) -> bool:
    """Whether both have the same tables, row for row."""
    return counted.keys() == other.keys() and all(
        np.array_equal(column, other[name][key]) for name, table in counted.items() for key, column in table.items()
    )


def test_every_cycle_is_counted_once_by_monitors_taps_and_histograms(
    workshop: tuple[Task, Path], tmp_path: Path
) -> None:
    task, _ = workshop
    hdl = LANGUAGE.instrument(task.root, task.project.hardware, task.platform, PARAMETERS, tmp_path / "hdl")
    outcome = run(workshop, hdl, tmp_path, trace=True, hardware_counters=True)
    assert (outcome.exit, outcome.diagnostics) == (0, ())
    assert outcome.counter_words is not None
    tables = LANGUAGE.decode(hdl, outcome.counter_words)
    assert same(tables, of_taps(hdl, tmp_path / "raw", ["clk"]))
    counted = tables["state_time"]
    without = run(workshop, hdl, tmp_path / "without", trace=False)
    assert without.counter_words is None
    assert replace(without, counter_words=None) == replace(outcome, counter_words=None)
    assert same(tables, of_taps(hdl, tmp_path / "without" / "raw", ["clk"]))
    dwell, taps = read_dwell(tmp_path / "raw"), read_taps(tmp_path / "raw")
    for block, (_, width) in enumerate(hdl.simulation.taps):
        mine = counted["block"] == block
        assert counted["cycles"][mine].sum() == outcome.cycles
        if not width:
            continue
        changes = taps[taps["block"] == block]
        lengths = np.diff(np.append(changes["cycle"], outcome.cycles))
        assert changes["cycle"][0] == 0
        for state, cycles, visits in zip(*(counted[k][mine] for k in ("state", "cycles", "visits")), strict=True):
            stays = dwell[(dwell["block"] == block) & (dwell["state"] == state)]
            assert (stays["cycles"].sum(), stays["count"].sum()) == (cycles, visits)
            assert lengths[changes["state"] == state].sum() == cycles


def test_instrumenting_changes_neither_results_nor_time(workshop: tuple[Task, Path], tmp_path: Path) -> None:
    task, _ = workshop
    hdl = LANGUAGE.instrument(task.root, task.project.hardware, task.platform, PARAMETERS, tmp_path / "hdl")
    plain = HdlBuild(tuple(sorted((task.root / "hdl").glob("*.v"))), task.project.hardware.top, ())
    bare = run(workshop, plain, tmp_path / "plain", trace=False)
    observed = run(workshop, hdl, tmp_path / "observed", trace=False)
    assert bare.counter_words is None
    assert (bare.stdout, bare.time_ps, bare.cycles) == (observed.stdout, observed.time_ps, observed.cycles)
    assert bare.stdout == f"{sum(range(48))}\n"
    transfers = [(tmp_path / kind / "raw" / "transfers.bin").read_bytes() for kind in ("plain", "observed")]
    assert transfers[0] == transfers[1]

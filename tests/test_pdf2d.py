"""The bundled 2-D PDF application: its RTL against NumPy, its pragmas, and what a run on the simulated card shows."""

import itertools
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import pdf2d_platforms
from tools import NEEDS_GHDL

from workbench.analysis.compare import compare
from workbench.api.job import Job
from workbench.model.blocks import Side
from workbench.model.pragma import CPU
from workbench.model.run import RunStatus
from workbench.model.scan import HdlBlock
from workbench.model.targets import resolve_target
from workbench.session.keep.results import OpenRun, open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import Plugins, load_plugins

FORMS = {"original": EXAMPLES[0], "optimised": EXAMPLES[1]}

#: Points at a bin's centre, as many as a batch has; far corners; halves that round up.
CORNER_HOST = """
#include "fpga.h"
#include <stdio.h>
#include "points.h"
int main(void)
{
    static uint32_t bins[64];
    fpga_t *fpga = fpgaOpen(0);
    for (int batch = 0; batch < BATCHES; batch++) {
        uint32_t core = batch % CORES * 0x400;
        for (int i = 0; i < 64; i++)
            bins[i] = 0;
        fpgaWrite(fpga, bins, core + 0x200, 64);
        fpgaWrite(fpga, points[batch], core, 512);
        fpgaWriteReg(fpga, core + 0x300, 1);
        while (!fpgaReadReg(fpga, core + 0x300))
            ;
        fpgaWriteReg(fpga, core + 0x300, 0);
        fpgaRead(fpga, bins, core + 0x200, 64);
        for (int i = 0; i < 64; i++)
            printf("%u ", bins[i]);
    }
    fpgaClose(fpga);
    return 0;
}
"""


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pdf2d")
    return {form: copy_example(example, folder) for form, example in FORMS.items()}


@pytest.fixture(scope="module")
def reference(projects: dict[str, Path]) -> dict[str, Any]:
    return runpy.run_path(str(projects["original"].parent / "reference.py"))


def run(workspace: Workspace, out: Path, settings: Mapping[str, int], *, plain: bool = False) -> str:
    """Run in deterministic mode; the run folder is `out`. What the host printed."""
    options = RunOptions(out=out, plain=plain, deterministic=True, settings=settings)
    result = run_workspace(workspace, options, Job(lambda event: None))
    assert (result.manifest.status, result.manifest.exit) == (RunStatus.COMPLETE, 0)
    return (out / "stdout.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def full(
    projects: dict[str, Path], plugins: Plugins, reference: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, OpenRun]:
    """Both forms as they ship, on 20 cores, instrumented."""
    results = {}
    for form, project in projects.items():
        out = tmp_path_factory.mktemp("runs") / form
        assert run(open_workspace(project, plugins), out, {}) == reference["expected_output"]()
        results[form] = open_result(out, plugins)
    return results


def test_reference_by_hand(reference: dict[str, Any]) -> None:
    bins = reference["batch_bins"]
    centre = np.array([256])
    assert bins(centre, centre, 8)[4, 4] == 256  # h^2 = 0.5
    assert bins(centre, centre, 8).sum() == 256  # the neighbours' windows end before it
    # 100 off along x: 131072 - 10000 = 121072, in 512ths 236.47; 16 off: 130816, which is 255.5 and rounded up
    assert bins(centre + 100, centre, 8)[4, 4] == 236
    assert bins(centre + 16, centre, 8)[4, 4] == 256
    assert bins(np.repeat(centre + 16, 512), np.repeat(centre, 512), 8)[4, 4] == 512 * 256  # each is rounded


def test_reference_estimates_the_density(reference: dict[str, Any]) -> None:
    """The points are a pyramid over the square from -4 to 4: its density at the centres, smoothed by the window."""
    lines = reference["expected_output"]().splitlines()[2:]
    found = [float(line.split()[-1]) for line in lines]
    centres = np.arange(-3.5, 4)
    expected = ((1 - np.abs(centres) / 4) / 4) ** 2
    assert found == pytest.approx(expected, abs=0.002)


def test_same_bits_where_all_points_are_in_one_bin_and_at_the_far_corners(
    projects: dict[str, Path], plugins: Plugins, reference: dict[str, Any], tmp_path: Path
) -> None:
    random = np.random.default_rng(1)
    limits = np.array([-32768, -2049, -2048, -1, 0, 2047, 2048, 32767])
    x = np.concatenate([np.full(512, 256), random.choice(limits, 512), random.integers(-2600, 2600, 1024)])
    y = np.concatenate([np.full(512, -1792), random.choice(limits, 512), random.integers(-2600, 2600, 1024)])
    words = ((y & 0xFFFF) << 16 | (x & 0xFFFF)).reshape(-1, 512)
    project = tmp_path / "corner" / "corner.workbench.yaml"
    source = projects["original"]
    for path in source.parent.glob("hdl/**/*.v"):
        copy = project.parent / path.relative_to(source.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    project.write_text(source.read_text().replace("host/original.c", "host/corner.c"))
    (project.parent / "host").mkdir()
    (project.parent / "host" / "corner.c").write_text(CORNER_HOST)
    rows = ",\n".join("{" + ",".join(f"{word}u" for word in row) + "}" for row in words.tolist())
    text = f"enum {{ BATCHES = {len(words)} }};\nstatic const uint32_t points[BATCHES][512] = {{\n{rows}}};\n"
    (project.parent / "host" / "points.h").write_text(text)
    printed = run(open_workspace(project, plugins), tmp_path / "run", {"CORES": 2}, plain=True)
    expected = [reference["batch_bins"](x[i : i + 512], y[i : i + 512], 8).ravel() for i in range(0, 2048, 512)]
    assert np.array_equal(np.array(printed.split(), dtype=int), np.concatenate(expected))
    assert max(map(np.max, expected)) == 512 * 256


@pytest.mark.parametrize(("form", "points", "bins"), [("original", 5 * 512, 8), ("optimised", 3 * 8192, 2)])
def test_same_bits_plain_on_few_cores(
    form: str,
    points: int,
    bins: int,
    projects: dict[str, Path],
    plugins: Plugins,
    reference: dict[str, Any],
    tmp_path: Path,
) -> None:
    """An odd number of batches on two cores: some cores get fewer points than others. Few bins have large sums."""
    settings = {"CORES": 2, "POINTS": points, "BINS": bins}
    printed = run(open_workspace(projects[form], plugins), tmp_path / "run", settings, plain=True)
    assert printed == reference["expected_output"](points, bins)


def test_both_forms_print_the_same_bits(full: dict[str, OpenRun]) -> None:
    """Batches of 512 and of 8192 points: Compare says so."""
    one, other = full["original"], full["optimised"]
    assert compare(one.analysis, other.analysis, (one.run, other.run)).same_output is True


def every_table(project: Path, plugins: Plugins, out: Path) -> tuple[object, object]:
    """What a run has: output, cycles, time and each block's states; and all of its tables."""
    printed = run(open_workspace(project, plugins), out, {"CORES": 2, "BINS": 2, "POINTS": 3 * 512})
    result = open_result(out, plugins)
    states = [
        [(state.state.name, state.cycles, state.visits) for state in block.states] for block in result.analysis.blocks
    ]
    assert len(states) == 4
    found = (printed, result.run.manifest.cycles, result.run.time_s, states)
    return found, {name: dict(columns) for name, columns in result.run.tables.items()}


@pytest.fixture(scope="module")
def in_verilog(
    projects: dict[str, Path], plugins: Plugins, tmp_path_factory: pytest.TempPathFactory
) -> tuple[object, object]:
    return every_table(projects["original"], plugins, tmp_path_factory.mktemp("verilog") / "run")


CORE_IN_VERILOG = """
    component PDF2D_Core is  -- a name of VHDL's has no case, and `one : entity work.pdf2d_core` would be unsigned
        generic (BITS : positive);
        port (
            clk, rst, write : in std_logic; write_address : in std_logic_vector(9 downto 0);
            write_data : in std_logic_vector(31 downto 0); read : in std_logic;
            read_address : in std_logic_vector(7 downto 0); done : out std_logic;
            sum : out std_logic_vector(47 downto 0)
        );
    end component;
"""


def mixed(projects: dict[str, Path], name: str, *sources: str) -> Path:
    """The original form of these sources, which no word says the languages of."""
    project = projects["original"].with_name(f"{name}.workbench.yaml")
    text = projects["original"].read_text("utf-8")
    project.write_text(text.replace("hdl/kernel.v, hdl/original/*.v", ", ".join(sources)), "utf-8")
    return project


@NEEDS_GHDL
@pytest.mark.parametrize("design", ["vhdl", "ghdl", "vhdl_over_verilog", "verilog_over_vhdl"])
def test_in_any_language_it_is_the_same_run_to_the_cycle(
    design: str, projects: dict[str, Path], plugins: Plugins, in_verilog: tuple[object, object], tmp_path: Path
) -> None:
    """Every block's state times, visits and transitions, every call and all else that the run has tables of."""
    project = projects["original"].with_name("vhdl.workbench.yaml")
    kernels = ("hdl/kernel.v", "hdl/kernel.vhd")
    if design == "ghdl":  # its own simulator
        text = project.read_text("utf-8").replace("simulation:\n", "simulation:\n  simulator: ghdl\n")
        project = project.with_name("ghdl.workbench.yaml")
        project.write_text(text, "utf-8")
    elif design == "vhdl_over_verilog":
        top = (project.parent / "hdl/original/pdf2d_top.vhd").read_text("utf-8")
        top = top.replace("rtl of pdf2d_top is", f"rtl of pdf2d_top is{CORE_IN_VERILOG}")
        top = top.replace("entity work.pdf2d_core", "PDF2D_Core").replace("sum => sums(i)", "unsigned(sum) => sums(i)")
        (project.parent / "hdl/over_verilog.vhd").write_text(top, "utf-8")
        project = mixed(projects, design, *kernels, "hdl/original/core.v", "hdl/over_verilog.vhd")
    elif design == "verilog_over_vhdl":
        project = mixed(projects, design, *kernels, "hdl/original/core.vhd", "hdl/original/pdf2d_top.v")
    found, tables = every_table(project, plugins, tmp_path / "run")
    assert found == in_verilog[0]
    np.testing.assert_equal(tables, in_verilog[1])


def test_goals_at_20_cores(full: dict[str, OpenRun]) -> None:
    assert full["original"].run.time_s / full["optimised"].run.time_s > 5
    rules = {(finding.rule, finding.where.split(":")[0]) for finding in full["original"].analysis.findings}
    assert {("control messages", "host.main"), ("inefficient transfer type or size", "host.main")} <= rules
    assert not rules & {("polling", "host.main"), ("late sender", "host.main")}  # each poll finds its core ready
    assert any(rule == "late sender" and "core[" in where for rule, where in rules)  # the CPU is late


@pytest.mark.parametrize("form", FORMS)
def test_every_cycle_of_every_block_is_in_a_state(form: str, full: dict[str, OpenRun]) -> None:
    run_, analysis = full[form].run, full[form].analysis
    cores = [block for block in analysis.blocks if block.block.id.startswith("pdf2d_top.core[")]
    assert len(cores) == 20
    work = 0
    for block in analysis.blocks:
        if block.block.side is Side.FPGA:
            assert sum(state.cycles for state in block.states) == run_.manifest.cycles
    for core in cores:
        (compute,) = (state for state in core.states if state.state.name == "compute")
        work += compute.cycles
        assert compute.cycles == 64 * compute.visits
    assert work == 163_840 * 64


@pytest.mark.parametrize("form", FORMS)
def test_pragmas_are_complete_and_agree(form: str, projects: dict[str, Path], plugins: Plugins) -> None:
    scan = open_workspace(projects[form], plugins).scan()
    assert scan.diagnostics == ()
    assert all(call.pragmas for call in scan.host.calls)
    ends: dict[str, set[str]] = {"host": set(), "hdl": set()}
    placed = [("host", p) for call in scan.host.calls for p in call.pragmas]
    placed += [("hdl", p) for block in scan.hdl.blocks for p in block.pragmas if CPU in p.pragma.targets]
    for side, p in placed:
        ends[side] |= set(p.pragma.messages)
    assert ends["host"] == ends["hdl"]
    unmarked = {(block.id, branch) for block in scan.hdl.blocks for branch in unmarked_leaves(block)}
    # the memory's write enable: the state machine marks that cycle
    assert unmarked <= {("pdf2d_core.ctrl", "to_buffer")}


def unmarked_leaves(block: HdlBlock) -> set[str]:
    """Branches that hold no others and have no pragma; a reset's need none, since nothing is counted in reset."""
    pairs = itertools.zip_longest(block.branches, block.branches[1:])
    leaves = [a for a, b in pairs if b is None or b.line > a.end_line or a.end_line == a.line]
    return {branch.label for branch in leaves if not branch.pragmas and branch.label != "rst"}


@pytest.mark.parametrize("form", FORMS)
def test_every_target_names_a_block_of_the_run(form: str, full: dict[str, OpenRun]) -> None:
    blocks = full[form].run.manifest.blocks
    for block in blocks:
        for state in block.states:
            for target in state.targets:
                assert resolve_target(target, blocks, block), f"{block.id} {state.name}: {target}"


@pytest.mark.parametrize("version", pdf2d_platforms.VERSIONS[2:], ids=lambda version: version.platform)
def test_ports_to_other_platforms_have_their_calls_and_cores(
    version: pdf2d_platforms.Version, plugins: Plugins, tmp_path: Path
) -> None:
    """That they print the same is for `pdf2d_platforms.py`."""
    workspace = open_workspace(pdf2d_platforms.project_of(version, tmp_path), plugins)
    assert pdf2d_platforms.estimated(workspace.platform)
    scan = workspace.scan()
    assert (workspace.diagnostics, scan.diagnostics) == ((), ())
    marked = {"openFpga", "writePoints", "waitBins", "readBins", "closeFpga"}
    assert marked <= {one.pragma.name for call in scan.host.calls for one in call.pragmas}

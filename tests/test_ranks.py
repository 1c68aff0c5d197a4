"""A run of several MPI ranks, each with an FPGA of its own, as one run: its blocks, its replay, and what is refused."""

import re
import runpy
from pathlib import Path

import pytest

from workbench.api.job import Job
from workbench.model.changes import read_change
from workbench.model.diagnostic import WorkbenchError
from workbench.session.change.confirm import confirm
from workbench.session.keep.results import open_recorded, open_result, prepared
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.apis import check_ranks
from workbench.session.open.examples import EXAMPLES, copy_example
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.plugins import Plugins, load_plugins

POINTS = 2 * 16384


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


@pytest.fixture(scope="module")
def workspace(plugins: Plugins, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    example = next(one for one in EXAMPLES if one.project == "ranks.workbench.yaml")
    return open_workspace(copy_example(example, tmp_path_factory.mktemp("ranks")), plugins)


@pytest.fixture(scope="module")
def run_folder(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    options = RunOptions(
        tmp_path_factory.mktemp("run") / "run", trace=True, deterministic=True, ranks=2,
        settings={"CORES": 2, "POINTS": POINTS},
    )  # fmt: skip
    return run_workspace(workspace, options, Job()).path or Path()


def test_ranks_are_one_run_of_blocks_that_are_replicas(
    workspace: Workspace, run_folder: Path, plugins: Plugins
) -> None:
    opened = open_result(run_folder, plugins)
    run, manifest = opened.run, opened.run.manifest
    assert (run.complete, manifest.cores.ranks) == (True, 2)
    reference = runpy.run_path(str(workspace.root / "reference.py"))
    assert (run_folder / "stdout.txt").read_text() == reference["expected_output"](POINTS, 8)
    ids = [block.id for block in manifest.blocks]
    assert ids[:2] == ["host.rank[0].main", "host.rank[1].main"]
    assert {"rank[0].pdf2d_top.port", "rank[1].pdf2d_top.port"} < set(ids)
    groups = {block.id: block.group for block in manifest.blocks}
    assert groups["host.rank[1].main"] == "host.rank[*].main"
    assert groups["rank[1].pdf2d_top.core[0].ctrl"] == "rank[*].pdf2d_top.core[*].ctrl"
    assert [name for name in manifest.resources if "PCI-X" in name] == ["rank[0].PCI-X bus", "rank[1].PCI-X bus"]

    # what one rank's host exchanges with an FPGA is with its own
    for edge in opened.analysis.graph.edges:
        ends = {end.removeprefix("host.").partition(".")[0] for end in (edge.source, edge.target) if "rank[" in end}
        assert len(ends - {"rank[*]"}) <= 1, edge
    states = {state.name: state for state in manifest.blocks[0].states}
    assert (states["MPI_Scatter"].category, states["MPI_Scatter"].reasons) == ("wait_recv", ("barrier",))
    found = {finding.rule for finding in opened.analysis.findings}
    assert "barrier" in found


def test_replay_follows_messages_between_ranks(workspace: Workspace, run_folder: Path, plugins: Plugins) -> None:
    run, platform, _ = open_recorded(run_folder, plugins)
    replayed = prepared(run, platform, plugins)
    assert (replayed.exact, replayed.why, replayed.modelled_ps) == (True, "", run.manifest.time_ps)
    path = {row.block.id if hasattr(row.block, "id") else str(row.block) for row in replayed.next_bottlenecks(())}
    assert any(block.startswith("rank[1]") for block in path)

    # rank 0 makes the points for all: when it is slower, so are the others
    change = read_change("host block=host.rank[0].main state=* factor=3")
    predicted = replayed.predict([change])
    confirmed = confirm(workspace, run, [change], Job(), plugins)
    assert predicted.time_s == pytest.approx(confirmed.time_s, rel=2e-3)
    assert confirmed.time_s > run.time_s * 1.01

    site = next(site for site in run.manifest.sites if site.callee == "MPI_Scatter")
    refused = replayed.predict([read_change(f"calls calls={site.file}:{site.line} factor=0")])
    assert refused.speedup is None
    assert "messages with other ranks" in refused.why


def test_what_cannot_be_run_as_ranks_is_said(workspace: Workspace) -> None:
    with pytest.raises(WorkbenchError, match="65 ranks of 1 FPGA each cannot be run"):
        check_ranks(workspace, 65)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("apis: [mpi]", "apis: [mpy]", "there is no template 'mpy'"),
        ("apis: [mpi]", "apis: [xd1000]", "'xd1000' is the template of a board"),
        ("network: Gigabit Ethernet", "network: Gigabit", "has no network 'Gigabit'"),
    ],
)
def test_what_is_named_wrongly_is_said_at_its_line(
    workspace: Workspace, plugins: Plugins, before: str, after: str, expected: str
) -> None:
    text = workspace.path.read_text()
    wrong = workspace.path.with_name("wrong.workbench.yaml")
    wrong.write_text(text.replace(before, after))
    try:
        with pytest.raises(WorkbenchError) as raised:
            open_workspace(wrong, plugins)
    finally:
        wrong.unlink()
    (problem,) = raised.value.diagnostics
    assert expected in problem.message
    assert problem.line == next(n for n, line in enumerate(text.splitlines(), 1) if before in line)


def test_calls_that_the_simulated_card_lacks_are_said_as_the_project_opens(workspace: Workspace) -> None:
    """The header refuses the same ones."""
    header = (Path(__file__).parents[1] / "platform_templates/mpi/mpi.h").read_text()
    lacks = workspace.platform.host.lacks
    assert set(re.findall(r"^RCW_NO_MPI(?:_OF)?\((\w+),", header, re.MULTILINE)) == set(lacks)
    source = workspace.root / workspace.project.host.sources[0]
    before = source.read_text()
    call = 'puts("MPI_Pack()"), MPI_Cart_create(0, 0, 0, 0, 0, c);'
    more = f"void more(MPI_Comm *c)\n{{\n    /* MPI_Pack(0) */\n    {call}\n}}\n#if 0\nint x = MPI_Pack();\n#endif\n"
    source.write_text(before + more)
    try:
        scanned = workspace.scan({}, Job())
    finally:
        source.write_text(before)
    (said,) = [one for one in scanned.diagnostics if "simulated card" in one.message]
    assert said.message == "the simulated card does not have MPI_Cart_create: use MPI_Comm_split"
    assert (said.file, said.line) == (str(source), before.count("\n") + 4)

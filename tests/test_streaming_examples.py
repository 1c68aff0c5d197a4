"""The streaming applications that come along print what a plain sequential program does."""

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest
from rc_workbench_plugins.streaming.agents.division import agents_of, counted_by
from rc_workbench_plugins.streaming.composer import read_topology
from rc_workbench_plugins.streaming.query.resolve import read_query
from rc_workbench_plugins.streaming.queues import queues

from workbench.api import Composition
from workbench.api.job import Job
from workbench.api.stream_events import events_of
from workbench.model.diagnostic import WorkbenchError
from workbench.model.run import Run
from workbench.replay.fronts import EdgeReplay
from workbench.replay.prepare import prepare
from workbench.session.keep.results import open_result
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

SCRIPT = Path(__file__).parent / "benchmarks" / "streaming_apps.py"
EXAMPLES = sorted(path.name for path in SCRIPT.parents[2].glob("resources/examples/*/*.workbench.yaml"))


@pytest.fixture(scope="module")
def apps() -> ModuleType:
    spec = importlib.util.spec_from_file_location("streaming_apps", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(path: Path, trace: bool = False) -> Run:
    options = RunOptions(out=path.parent / "run", trace=trace, plain=not trace, deterministic=True)
    return run_workspace(open_workspace(path, load_plugins()), options, Job())


def test_laplace_with_the_random_numbers_made_in_the_fpga(apps: ModuleType, tmp_path: Path) -> None:
    deployment = apps.Deployment("laplace", "Two", ("mt",), lines=apps.CHUNKS)
    made = run(deployment.project(tmp_path, [("grid = 16", "grid = 6"), ("walks = 8", "walks = 4")]))
    assert (made.path / "stdout.txt").read_text() == apps.reference("laplace").printed(2, 6, 4)


def test_the_search_for_similar_sequences_finds_its_seeds_in_the_fpga(apps: ModuleType, tmp_path: Path) -> None:
    deployment = apps.Deployment("blastn", "Silence", apps.STAGES, cores=8)
    made = run(deployment.project(tmp_path, [("bases = 6000", "bases = 2000")]), trace=True)
    program = apps.reference("blastn")
    assert program.printed(2000).count("\n") > 20
    assert (made.path / "stdout.txt").read_text() == program.printed(2000)
    events = events_of(made.tables)
    assert events
    for name, messages in zip(("words", "hits"), program.messages(2000, 3, 100), strict=True):
        sent = events.edges[f"Silence.{name}"].values
        assert sent is not None
        assert sent.tolist() == messages
    replayed = prepare(made, open_result(tmp_path / "run", load_plugins()).platform)
    assert (replayed.exact, replayed.off, replayed.why) == (True, 0, "")


def test_two_fpgas_and_two_threads_find_alignments_with_gaps(apps: ModuleType, tmp_path: Path) -> None:
    """Fig. 6.16: stages 1 and 2 in two FPGAs, which share the queues of queries and of results; one pipeline has its
    stage 2b in its FPGA, the other on cores, by two threads: these may send the end of a pass before its last match."""
    (deployment,) = (one for one in apps.DEPLOYMENTS if one.top == "TwoFpgas" and len(one.on_fpga) == 3)
    assert deployment.on_fpga == ("first: card", "second: other", "second2b: other")
    deployment = replace(deployment, lines="  threads: {stage3: 2, first2b: 2}\n")
    smaller = [("queries = 16", "queries = 4"), ("bases = 3000", "bases = 1500"), ("work = 20000", "work = 1000")]
    made = run(deployment.project(tmp_path, smaller), trace=True)
    program = apps.reference("blastn")
    wanted = program.stages(4, 1500)
    assert "best 4" in str(wanted)
    assert made.path
    assert sorted((made.path / "stdout.txt").read_text().splitlines()) == wanted
    events = events_of(made.tables)
    assert events
    assert {name: pool.threads for name, pool in events.pools.items()} == {
        "TwoFpgas.readdb": 2, "TwoFpgas.first2b": 2, "TwoFpgas.enqueue": 2, "TwoFpgas.stage3": 2,
    }  # fmt: skip
    assert len(events.edges["TwoFpgas.vqA"].pop_ps) + len(events.edges["TwoFpgas.vqB"].pop_ps) == 4 * 1500
    near, far = program.stage_2(4, 1500)
    for names, messages in ((("matches1", "matches2"), near), (("vqC", "vqD"), far)):
        both = [values for name in names if (values := events.edges[f"TwoFpgas.{name}"].values) is not None]
        assert all(len(values) > 3 for values in both), "each of the two stages 2b has work"
        assert sorted(np.concatenate(both).tolist()) == sorted(messages)
    query = read_query("measure rate at first2b.y\nmeasure rate at second2b.y", events.topology)
    counting = counted_by(agents_of(query, events.topology, 100e6), events.topology)
    assert [counting[one] for one in query.measures] == ["processor", "other"]
    edges, result = queues(made), open_result(made.path, load_plugins())
    assert edges
    replay = EdgeReplay(made, edges, result.platform)
    assert replay.time_ps({}) == pytest.approx(replay.run_ps, rel=1e-4), "interrupts come amid transfers to their cards"
    (warned,) = (one for one in result.analysis.diagnostics if "overtake" in one.message)
    assert "2 threads of first2b send there in any order, and enqueue acts on" in warned.message
    assert warned.file == str(tmp_path / "tried.workbench.yaml")
    assert "first2b: 2" in (tmp_path / "tried.workbench.yaml").read_text().splitlines()[(warned.line or 0) - 1]


@pytest.mark.parametrize("top", ["MM1In", "MD1In"])
def test_as_many_elements_wait_as_queueing_theory_says(top: str, apps: ModuleType) -> None:
    program = apps.reference("queues")
    mean, half = program.waiting(top)
    assert mean == pytest.approx(program.theory(top), abs=half)
    assert half < mean / 4


@pytest.mark.parametrize(("top", "walks", "splits"), [("Two", 2, 1), ("Four", 4, 3), ("Eight", 8, 7)])
def test_the_trees_of_fig_6_1_and_6_2(top: str, walks: int, splits: int, apps: ModuleType, tmp_path: Path) -> None:
    workspace = open_workspace(apps.Deployment("laplace", top).project(tmp_path), load_plugins())
    place = lambda keys: (1, 1)  # noqa: E731
    found = read_topology(Composition(workspace.path, workspace.project, workspace.platform, place))
    kinds = [block.kind.name for block in found.blocks]
    assert (kinds.count("Walk"), kinds.count("Split"), kinds.count("Avg")) == (walks, splits, splits)
    assert len(list(found.paths(found.find("e1")[0], found.find("e4")[0]))) == walks


def test_temperatures_are_drawn_from_blue_to_red(tmp_path: Path) -> None:
    """Fig. 6.3, of what `laplace` prints."""
    script = SCRIPT.parents[2] / "resources" / "examples" / "laplace" / "surface.py"
    printed, drawn = tmp_path / "stdout.txt", tmp_path / "surface.svg"
    printed.write_text(" 50.000   0.000\n100.000  25.000\n")
    subprocess.run([sys.executable, script, printed, drawn], check=True)
    points = [(one.get("x"), one.get("y"), one.get("fill")) for one in ElementTree.parse(drawn).getroot()]
    assert points == [("0", "0", "#800080"), ("16", "0", "#0000ff"), ("0", "16", "#ff0000"), ("16", "16", "#4000bf")]
    printed.write_text("1 2\n3\n")
    done = subprocess.run([sys.executable, script, printed, drawn], capture_output=True, text=True, check=False)
    assert "no grid of temperatures" in done.stderr


@pytest.mark.parametrize("project", EXAMPLES)
def test_every_example_opens(project: str) -> None:
    (path,) = SCRIPT.parents[2].glob(f"resources/examples/*/{project}")
    try:
        workspace = open_workspace(path, load_plugins())
    except WorkbenchError as error:
        pytest.fail(str(error))
    assert workspace.diagnostics == ()

"""From records to a run folder: what a language's plugin adds to the tables is kept."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.api import HdlBuild, HostBuild
from workbench.api.targets import Outcome
from workbench.formats.run_folder import RunWriter, open_run
from workbench.model.read_out import Access, Act, ReadOutPlan
from workbench.model.run_tables import Table
from workbench.run.collect import Built, collect
from workbench.testing.runs import synthetic_platform, synthetic_run

END_PS = 1_000_000
DRAINS = {"block": [1, 0], "transfers": [7, 9]}
ACCESS = Access(Act.READ, 0)


class Streams:
    """A language whose monitors count what passes streams, in a table of its own."""

    name, suffixes = "drains", (".st",)

    def decode(self, build: HdlBuild, words: np.ndarray) -> dict[str, Table]:
        return {"drains": {name: np.array(column) for name, column in DRAINS.items()}}


def test_a_language_s_own_table_is_in_the_run_with_the_run_s_blocks(tmp_path: Path) -> None:
    made = synthetic_run(cores=1, rounds=1).manifest
    host = HostBuild((), blocks=made.blocks[:1], sites=made.sites, entries=made.entries)
    plan = ReadOutPlan(1, 0, 0, ACCESS, ACCESS, ACCESS, (ACCESS,))
    hdl = HdlBuild((), "top", made.blocks[1:3], read_out=plan)
    writer = RunWriter(tmp_path / "run")
    outcome = Outcome(0, "", "", END_PS, 0, (), np.zeros(1, np.uint32), ())
    found = collect(writer.raw, writer.part, outcome, Built(host, hdl, [Streams()], synthetic_platform()), made.clocks)
    manifest = replace(made, blocks=found.blocks, resources=found.resources, messages=found.messages, time_ps=END_PS)
    assert [problem.message.partition(":")[0] for problem in found.diagnostics] == ["no call was recorded"]
    writer.finish(manifest, found.tables)
    run, problems = open_run(writer.path)
    assert problems == ()
    assert {name: column.tolist() for name, column in run.tables["drains"].items()} == {
        "block": [block + len(host.blocks) for block in DRAINS["block"]],
        "transfers": DRAINS["transfers"],
    }
    assert run.tables["state_time"]["time_ps"].sum() == END_PS  # the host's

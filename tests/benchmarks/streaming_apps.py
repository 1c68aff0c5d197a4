"""The streaming applications that come along, each deployed in several ways, beside plain sequential programs.

    python tests/benchmarks/streaming_apps.py [--json] [--quick] [APPLICATION...]

`rows` [{application, top, cores, on_fpga, time_s, same}]: the run's virtual time, and whether it prints what the
sequential program does; `stuck` where no block can go on, as the search without messages should. Traced runs of
`queues` also have `waiting`, the mean occupancy of the queue, beside the sequential program's without a bus (with half
the width of its 95 % interval) and queueing theory's; on cores it `agrees` where it lies within that interval. Those of
`blastn` for Table 6.3 have the `buffer` in messages, the `interval` that Li's rules give for it, and the `dummies` that
stage 1a sent, where all messages of stages 1a and 1b are the sequential program's. Those of all stages have how many
`queries_wait` to be compared and `results_wait` for a thread of stage 3; their results come in any order. --quick: each
application once.
"""

import importlib.util
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import command
from rc_workbench_plugins.streaming.composer import read_topology
from rc_workbench_plugins.streaming.dummies import dummy_intervals
from rc_workbench_plugins.streaming.query.evaluate import evaluate
from rc_workbench_plugins.streaming.query.resolve import read_query

from workbench.api.job import Job
from workbench.api.stream_events import Events, events_of
from workbench.session.make.pipeline import RunOptions, run_workspace
from workbench.session.open.composing import composition
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"
CHUNKS = "  blocks: {Split: {cpp: [split.hpp], unit: {cpp: SplitByChunk}}}\n"


@dataclass(frozen=True)
class Deployment:
    """An example with another top, blocks on the FPGA, cores, further lines of its section, changes to its X file, and
    what the sequential program is asked for. `seen` makes columns of a traced run's events."""

    example: str
    top: str
    on_fpga: tuple[str, ...] = ()
    cores: int = 12
    lines: str = ""
    changes: tuple[tuple[str, str], ...] = ()
    expected: Callable[[Any], str] = lambda reference: str(reference.printed())
    seen: Callable[[Events, Any], dict[str, object]] | None = None
    algorithm: int = 0  #: of `blastn`, whose interval is then computed
    source: str = ""  #: a second X file
    in_any_order: bool = False  #: lines come as threads are ready

    def project(self, folder: Path, changes: Sequence[tuple[str, str]] = ()) -> Path:
        """A copy of the example's folder, with its X file changed so."""
        shutil.copytree(EXAMPLES / self.example, folder, dirs_exist_ok=True)
        first = f"{self.example}.x"
        topology = folder / (self.source or first)
        text = topology.read_text()
        for old, new in (*self.changes, *changes):
            assert old in text
            text = text.replace(old, new)
        topology.write_text(text)
        path = folder / "tried.workbench.yaml"
        self._write(path, first)
        if self.algorithm > 1:
            of_words = interval(path, self.algorithm)
            topology.write_text(text.replace("interval = 100", f"interval = {of_words}"))
        return path

    def _write(self, path: Path, first: str) -> None:
        on_fpga = (one if ":" in one else f"{one}: card" for one in self.on_fpga)
        mapping = "".join(f"    {one}\n" for one in on_fpga)
        sources = ", ".join(filter(None, (first, self.source)))
        path.write_text(
            f"schema_version: 1\nname: tried\nplatform: nallatech_h101\nstreaming:\n  sources: [{sources}]\n"
            f"  top: {self.top}\n{self.lines}"
            + (f"  mapping:\n{mapping}" if mapping else "")
            + f"simulation: {{cores: {self.cores}}}\n"
        )


def interval(project: Path, algorithm: int) -> int:
    """That of dummy messages on the edge of the words, by Li's rules: algorithm 2's are passed on, algorithm 3 has one
    in each stage."""
    workspace = open_workspace(project, load_plugins())
    topology = read_topology(composition(workspace.project, workspace.platform, workspace.path))
    (words,) = (one for one in dummy_intervals(topology) or () if one.edge.label.endswith(".words"))
    assert words.passed_on is not None
    return words.passed_on if algorithm == 2 else words.each


def reference(example: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"{example}_reference", EXAMPLES / example / "reference.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _laplace(blocks: int) -> Callable[[Any], str]:
    return lambda program: str(program.printed(blocks))


def _queue(top: str, *on_fpga: str) -> Deployment:
    def seen(events: Events, program: Any) -> dict[str, object]:
        (answer,), _ = evaluate(read_query("measure mean occupancy at q", events.topology), events)
        (mean, half), value = program.waiting(top), answer.frames[0].value
        row = {"waiting": value, "sequential": mean, "within": half, "theory": program.theory(top)}
        return row if on_fpga else row | {"agrees": value is not None and abs(value - mean) <= half}

    return Deployment(
        "queues", top, on_fpga, 8, "  bulk_elements: 32\n",
        expected=lambda program: str(program.printed(top)), seen=seen,
    )  # fmt: skip


BASES = 20_000


def _search(top: str, algorithm: int, buffer: int, *on_fpga: str) -> Deployment:
    """With the intervals that Li's rules give for what the database's edge holds."""

    def seen(events: Events, program: Any) -> dict[str, object]:
        of_words = buffer if algorithm == 2 else buffer // 2  # what `interval` must have found
        wanted = dict(zip(("words", "hits"), program.messages(BASES, algorithm, of_words), strict=True))
        sent = {name: events.edges[f"{top}.{name}"].values for name in wanted}
        assert all(sent[name] is not None and sent[name].tolist() == wanted[name] for name in wanted)
        dummies = sum(message >> 63 for message in wanted["words"])
        return {"buffer": buffer, "interval": of_words, "dummies": dummies}

    changes = (("bases = 6000", f"bases = {BASES}"), ("depth=256", f"depth={buffer}"))
    return Deployment(
        "blastn", top, on_fpga, 8, changes=changes,
        expected=lambda program: str(program.printed(BASES)), seen=seen, algorithm=algorithm,
    )  # fmt: skip


def _stages(top: str, threads: int, *on_fpga: str, queries: int = 16, bases: int = 3000) -> Deployment:
    """All stages of the search, with threads of stage 3, and how many queries and results wait on average."""

    def seen(events: Events, program: Any) -> dict[str, object]:
        asked = {"queries": "queries_wait", "results": "results_wait"}
        query = read_query("\n".join(f"measure mean occupancy at {name}" for name in asked), events.topology)
        results, _ = evaluate(query, events)
        assert all(_sent(events, n) == sorted(sent) for n, sent in enumerate(program.stage_2(queries, bases)))
        return {name: one.frames[0].value for name, one in zip(asked.values(), results, strict=True)}

    return Deployment(
        "blastn", top, on_fpga, 16, f"  threads: {{stage3: {threads}}}\n", source="stages.x", in_any_order=True,
        expected=lambda program: "\n".join(program.stages(queries, bases)), seen=seen,
    )  # fmt: skip


def _sent(events: Events, out: int) -> list[int]:
    """All messages into the blocks of stage 2b (`out` 0) or out of them (1), sorted."""
    of_stage = (edge for edge in events.edges.values() if (edge.edge.sink, edge.edge.source)[out].block.endswith("2b"))
    return sorted(message for edge in of_stage for message in ([] if edge.values is None else edge.values.tolist()))


STAGES = ("stage1a", "stage1b")
ALGORITHMS = {"Each": 1, "Interval": 2, "Silence": 3}
DEPLOYMENTS = (
    Deployment("laplace", "Two", expected=_laplace(2)),
    Deployment("laplace", "Two", lines=CHUNKS, expected=_laplace(2)),
    Deployment("laplace", "Two", lines=CHUNKS, cores=2, expected=_laplace(2)),
    Deployment("laplace", "Two", lines=CHUNKS, cores=1, expected=_laplace(2)),
    Deployment("laplace", "Four", lines=CHUNKS, expected=_laplace(4)),
    Deployment("laplace", "Eight", lines=CHUNKS, expected=_laplace(8)),
    Deployment("laplace", "Eight", ("mt",), lines=CHUNKS + "  bulk_elements: 4096\n", expected=_laplace(8)),
    *(Deployment("blastn", top, cores=8) for top in ALGORITHMS),
    Deployment("blastn", "Deadlock", cores=8, expected=lambda program: ""),
    *(Deployment("blastn", top, STAGES, cores=8) for top in ALGORITHMS),
    *(_search(top, algorithm, buffer) for top, algorithm in ALGORITHMS.items() for buffer in (32, 256, 2048)),
    *(_stages("Search", threads) for threads in (1, 2, 4)),
    _stages("Small", 2, queries=48, bases=1000),
    _stages("Search", 2, "first: card"),
    _stages("Search", 2, "first: card", "stage2b: card"),
    _stages("TwoFpgas", 4, "first: card", "second: other", "second2b: other"),
    _stages("TwoFpgas", 4, "first: card", "second: other", "first2b: card", "second2b: other"),
    *(_queue(top) for top in ("MM1In", "MD1In", "CorrelatedIn")),
    *(_queue(law + way, "w") for way in ("In", "Out") for law in ("MM1", "MD1", "Correlated")),
)
QUICK = (DEPLOYMENTS[1], DEPLOYMENTS[13], DEPLOYMENTS[-6])


def measured(deployment: Deployment, folder: Path) -> dict[str, object]:
    path, program = deployment.project(folder), reference(deployment.example)
    options = RunOptions(out=folder / "run", trace=deployment.seen is not None, deterministic=True)
    run = run_workspace(open_workspace(path, load_plugins()), options, Job())
    printed = (folder / "run" / "stdout.txt").read_text()
    row: dict[str, object] = {
        "application": deployment.example,
        "top": deployment.top,
        "split": "by chunk" if deployment.lines.startswith(CHUNKS) else "",
        "threads": deployment.lines.strip() if "threads" in deployment.lines else "",
        "cores": deployment.cores,
        "on_fpga": list(deployment.on_fpga),
        "time_s": run.manifest.time_ps / 1e12,
        "stuck": "no thread of the host can go on" in run.manifest.reason,
        "same": _lines(printed, deployment) == _lines(deployment.expected(program), deployment),
    }
    if deployment.seen:
        events = events_of(run.tables)
        assert events
        row |= deployment.seen(events, program)
    return row


def _lines(printed: str, deployment: Deployment) -> list[str]:
    lines = printed.splitlines()
    return sorted(lines) if deployment.in_any_order else lines


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("application", nargs="*")
    arguments = parser.parse_args()
    rows = []
    for deployment in QUICK if arguments.quick else DEPLOYMENTS:
        if arguments.application and deployment.example not in arguments.application:
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(deployment, Path(folder)))
        if not arguments.json:
            print(
                *(f"{name} {value}" for name, value in rows[-1].items() if value not in ("", [])), sep=", ", flush=True
            )
    if arguments.json:
        print(json.dumps({"rows": rows}, indent=1))
    return 0 if all(row["same"] and row.get("agrees", True) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

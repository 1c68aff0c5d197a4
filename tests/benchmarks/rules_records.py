"""Which rules of the knowledge base fire on made records of their bottleneck, and are silent on those once it is fixed.

Real runs: `rules.py`. For every rule: a run that has the bottleneck, and the same run fixed. Prints the rules, those
that fired, and those that were silent on the fixed form. The exit code is 1 where one of them does not hold.
"""

import sys
from dataclasses import replace
from pathlib import Path

from command_line import command, show

sys.path.insert(0, str(Path(__file__).parents[1]))

from rc_workbench_plugins.recap_rules import workbench_rules
from rc_workbench_plugins.recap_rules.metrics import METRICS
from small_runs import Calls, Spent, small_run, with_state

from workbench.analysis import KnowledgeBase, analyse, load_knowledge
from workbench.api.tables import table_of
from workbench.model.memory import MemoryPort
from workbench.model.platform import Platform
from workbench.model.pragma import Category
from workbench.model.run import Run
from workbench.model.streams import Fifo, Stream
from workbench.testing.runs import synthetic_platform

OVERHEAD, SEND, RECV, WORK = Category.OVERHEAD, Category.SEND, Category.RECV, Category.WORK
WAIT_SEND, WAIT_RECV = Category.WAIT_SEND, Category.WAIT_RECV
Case = tuple[Run, Run]

#: Fixed, the state still takes 2 % of the run: below the threshold of 1.05.
LITTLE = 0.02
COMPUTE = Spent("compute", WORK, 0.3)


def host_case(state: Spent, fixed: Spent | None = None) -> Case:
    """The host in `state` for most of the run; fixed, hardly, or in `fixed` instead."""
    fpga = {"top.p": [COMPUTE]}
    after = [fixed] if fixed else list(with_state([state], state.name, LITTLE))
    return small_run(1.0, [state], fpga), small_run(1.0, after, fpga)


def fpga_case(state: Spent) -> Case:
    """Three replicas in `state` for most of the run, and fixed; the host waits for them all the while."""
    host = [Spent("wait", WAIT_RECV, 0.9, ("late_sender",), "top.core", "d")]

    def run(time_s: float) -> Run:
        cores = {f"top.core[{n}].p": [COMPUTE, *with_state([state], state.name, time_s)] for n in range(3)}
        return small_run(1.0, host, cores)

    return run(state.time_s), run(LITTLE)


def fifo_case(full: bool) -> Case:
    """A FIFO that is full, or empty, for most of the run, as who takes from it is slower, or who gives to it."""
    streams = (
        Stream("top.a.out", "top.a", "top.fifo", "stream", 32, "clk", "a.valid", "fifo.in_ready"),
        Stream("top.fifo.out", "top.fifo", "top.b", "stream", 32, "clk", "fifo.out_valid", "b.ready"),
    )

    def run(share: float) -> Run:
        bare = small_run(1.0, fpga={"top.p": [COMPUTE]})
        cycles = bare.manifest.clocks[0].cycles
        waits = round(share * cycles)
        source, sink = (0, waits) if full else (waits, 0)
        counts = [(number, cycles - waits, source, sink, 0) for number in range(2)]
        tables = {
            "streams": table_of("streams", counts),
            "occupancy": table_of("occupancy", [(0, 1, cycles - waits), (0, 16 if full else 0, waits)]),
        }
        manifest = replace(bare.manifest, streams=streams, fifos=(Fifo("top.fifo", "fifo", 0, 1, 16),))
        return replace(bare, manifest=manifest, tables={**bare.tables, **tables})

    return run(0.5), run(LITTLE)


def memory_case() -> Case:
    """A port into memory that waits for most of the run, or hardly at all."""
    port = MemoryPort("mover", "axi_master", "ddr", "clk", 32, 400e6)

    def run(share: float) -> Run:
        bare = small_run(1.0, fpga={"top.p": [COMPUTE]})
        cycles = bare.manifest.clocks[0].cycles
        waits = round(share * cycles)
        row = (0, 100, 0, 6400, 0, 1600, waits, 0, cycles - 1600 - waits, waits, 90, 1, 9, 16_000_000)
        tables = {**bare.tables, "memory_ports": table_of("memory_ports", [row])}
        return replace(bare, manifest=replace(bare.manifest, memory_ports=(port,)), tables=tables)

    return run(0.5), run(LITTLE)


def imbalance_cases() -> dict[tuple[str, str, str], Case]:
    """The host beside the FPGA, stages of a pipeline, and replicas: uneven, and even."""
    wait = Spent("wait", WAIT_RECV, 0.6, ("late_sender",), "top.core", "d")

    def beside(host_s: float, fpga_s: float) -> Run:
        return small_run(1.0, [replace(wait, time_s=1 - host_s)], {"top.core.p": [replace(COMPUTE, time_s=fpga_s)]})

    def pipeline(first_s: float, second_s: float) -> Run:
        take = Spent("take", WAIT_RECV, 1 - second_s, ("late_sender",), "top.core", "x")
        later = {"top.sum.p": [replace(COMPUTE, time_s=second_s), take]}
        return small_run(
            1.0, [replace(wait, target="top.sum")], {"top.core.p": [replace(COMPUTE, time_s=first_s)]} | later
        )

    def side_by_side(*times_s: float) -> Run:
        return small_run(1.0, [wait], {f"top.core[{n}].p": [replace(COMPUTE, time_s=s)] for n, s in enumerate(times_s)})

    return {
        ("imbalance", "any", "block"): (beside(0.4, 0.9), beside(0.6, 0.62)),
        ("stage imbalance", "fpga", "block"): (pipeline(0.95, 0.3), pipeline(0.6, 0.62)),
        ("load imbalance", "fpga", "block"): (side_by_side(0.9, 0.3, 0.3), side_by_side(0.5, 0.52, 0.48)),
    }


def with_overlap(platform: Platform) -> Platform:
    """The same, with writes that return at once, of which several under way take half as long."""
    own = platform.transfer_tables["write"]
    points = tuple(point.model_copy(update={"time_s": point.time_s / 2}) for point in own.points)
    several = own.model_copy(update={"points": points})
    early = platform.host.entries[0].model_copy(
        update={"transfer": "several", "asynchronous": True, "subtype": "early"}
    )
    host = platform.host.model_copy(update={"entries": (*platform.host.entries, early)})
    tables = {**platform.transfer_tables, "several": several}
    return platform.model_copy(update={"host": host, "transfer_tables": tables})


def cases() -> dict[tuple[str, str, str], Case]:
    """A case for each rule, by name, side and scope as the knowledge base has them."""
    small = Calls(2000, 2000 * 2048, transfer="write")
    large = Calls(31, 31 * 131072, transfer="write")
    quick = 31 * 131072 / 360e6
    transfers = Spent("write", SEND, 2000 * 13.94e-6, ("data",), "top.p", "x", calls=small)
    total = 0.06
    sizes = (
        small_run(total, [transfers], {"top.p": [Spent("compute", WORK, 0.01)]}),
        small_run(total, [Spent("write", SEND, quick, ("data",), "top.p", "x", calls=large)],
                  {"top.p": [Spent("compute", WORK, 0.01)]}),
    )  # fmt: skip

    def poll(runs: int) -> Spent:
        calls = Calls(90, 360, "fpgaReadReg", "receive", "read", runs=runs)
        return Spent("poll", WAIT_RECV, 0.5, ("late_sender",), "top.p", "d", calls=calls)

    def loads(kind: str, count: int) -> Spent:
        return Spent("load", OVERHEAD, 0.4, ("initialize",), calls=Calls(count, 0, f"fpga_{kind}", kind))

    def host_and_fpga(name: str, category: Category, reason: str) -> dict[tuple[str, str, str], Case]:
        return {(name, "any", "block"): fpga_case(Spent("it", category, 0.5, (reason,), "$CPU", "m"))}

    found: dict[tuple[str, str, str], Case] = {
        ("general communication", "host", "block"): host_case(Spent("write", SEND, 0.6, ("data",), "top.p", "x")),
        ("general communication", "fpga", "block"): fpga_case(Spent("move", RECV, 0.5, ("data",), "top.d", "x")),
        ("inefficient transfer type or size", "host", "block, call"): sizes,
        ("nonoverlapped transfers", "host", "block"): host_case(
            Spent(
                "write", SEND, 0.5, ("data",), "top.p", "x", calls=Calls(1000, 131072000, transfer="write", runs=200)
            ),
            Spent(
                "write", SEND, 0.2, ("data",), "top.p", "x", calls=Calls(1000, 131072000, transfer="several", runs=200)
            ),
        ),
        ("control messages", "host", "block, call"): host_case(Spent("start", SEND, 0.5, ("ctrl",), "top.p", "s")),
        ("control messages", "fpga", "block"): fpga_case(Spent("take", RECV, 0.5, ("ctrl",), "$CPU", "s")),
        ("late sender", "host", "block"): host_case(Spent("wait", WAIT_RECV, 0.5, ("late_sender",), "top.p", "d")),
        ("late sender", "fpga", "block"): fpga_case(Spent("wait", WAIT_RECV, 0.5, ("late_sender",), "$CPU", "x")),
        ("polling", "host", "block, call"): host_case(poll(9), poll(60)),
        ("internal overhead", "any", "block"): fpga_case(Spent("keep", OVERHEAD, 0.5)),
        ("internal overhead", "fpga", "application"): (
            small_run(1.0, [Spent("s", SEND, 0.1)], {"top.p": [COMPUTE, Spent("w", WAIT_RECV, 0.7)]}),
            small_run(
                1.0, [Spent("s", SEND, 0.1)], {"top.p": [Spent("compute", WORK, 0.98), Spent("w", WAIT_RECV, 0.02)]}
            ),
        ),
        ("full buffer", "fpga", "fifo"): fifo_case(full=True),
        ("empty buffer", "fpga", "fifo"): fifo_case(full=False),
        ("memory bound", "fpga", "memory_port"): memory_case(),
        ("multiple initialization", "host", "block"): host_case(loads("configure", 3), loads("configure", 1)),
        ("multiple finalization", "host", "block"): host_case(loads("release", 3), loads("release", 1)),
    }
    found |= imbalance_cases()
    for name, category, reason in (
        ("stalling (application)", SEND, "stall_application"),
        ("stalling (interface)", RECV, "stall_interface"),
        ("late receiver", WAIT_SEND, "late_receiver"),
        ("full buffer", WAIT_SEND, "buffer_full"),
        ("empty buffer", WAIT_RECV, "buffer_empty"),
        ("acknowledge", WAIT_RECV, "ack"),
        ("barrier", WAIT_RECV, "barrier"),
        ("contention", WAIT_SEND, "contention"),
        ("initialization", OVERHEAD, "initialize"),
        ("finalization", OVERHEAD, "finalize"),
        ("update", OVERHEAD, "update"),
        ("interrupt processing", OVERHEAD, "interrupt"),
        ("delay", OVERHEAD, "delay"),
        ("pipeline fill/drain", OVERHEAD, "pipeline_fill_drain"),
        ("pipeline flush/stall", OVERHEAD, "pipeline_flush_stall"),
    ):
        found |= host_and_fpga(name, category, reason)
    return found


def fires(knowledge: KnowledgeBase, run: Run, platform: Platform, name: str, scope: str) -> bool:
    return any(f.rule == name and f.scope in scope.split(", ") for f in analyse(run, platform, knowledge).findings)


def measure() -> dict[str, list[str]]:
    knowledge, problems = load_knowledge([file.path for file in workbench_rules()], METRICS)
    if problems:
        raise SystemExit("\n".join(problem.text() for problem in problems))
    known = cases()
    result: dict[str, list[str]] = {"rules": [], "fired": [], "silent_on_mended": []}
    for rule in knowledge.rules:
        label = f"{rule.name} ({rule.side}, {rule.scope})"
        result["rules"].append(label)
        case = known.get((rule.name, rule.side, rule.scope))
        if case is None:
            continue
        only = replace(knowledge, rules=(rule,))
        platform = (
            with_overlap(synthetic_platform()) if rule.name == "nonoverlapped transfers" else synthetic_platform()
        )
        if fires(only, case[0], platform, rule.name, rule.scope):
            result["fired"].append(label)
        if not fires(only, case[1], platform, rule.name, rule.scope):
            result["silent_on_mended"].append(label)
    return result


def main() -> int:
    arguments = command(__doc__, "the same: all of it is quick").parse_args()
    result = measure()
    show(result, arguments.json)
    return 0 if len(result["fired"]) == len(result["silent_on_mended"]) == len(result["rules"]) else 1


if __name__ == "__main__":
    sys.exit(main())

"""How fast replay is: graphs of 10^5 to 10^7 nodes, and a traced run of 650,000 intervals made ready.

    python tests/benchmarks/replay_speed.py [--json] [--quick]

Graphs are a host that calls, blocks of the FPGA in between, and a poll in a hundred nodes. The run is one of 20 blocks
that take words in turn from a first one, by messages. `sweep_s` is one replay, `bytes` what the graph's arrays take;
`prepare_s` is reading the trace, finding causes and the first replay.
"""

import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command, show

sys.path.insert(0, str(Path(__file__).parent))

from workbench.model.blocks import Block, Side, State
from workbench.model.platform import Platform
from workbench.model.pragma import Category
from workbench.model.run import Entry, Manifest, Run, RunClock, RunStatus, Site
from workbench.replay.engine import PLAIN, TRANSFER, Graph
from workbench.replay.prepare import prepare

GOALS_S = {10**5: 0.002, 10**6: 0.02, 10**7: 0.2}
PERIOD_PS = 10_000


def graph(nodes: int) -> Graph:
    """A host that calls every other node, and the FPGA's answers: two causes a node."""
    number = np.arange(nodes)
    host = number % 2 == 0
    previous, before = np.maximum(number - 2, 0), np.maximum(number - 1, 0)
    cause = np.stack([previous, before], axis=1).reshape(-1).astype(np.int32)[2:]
    lag = np.where(np.repeat(host, 2)[2:], 2000, 1).astype(np.int64)
    return Graph(
        np.append([0, 0], 2 * np.arange(1, nodes)).astype(np.int64),
        cause,
        lag,
        np.where(host, 16_000_000, 400).astype(np.int64),
        np.where(host, TRANSFER, PLAIN).astype(np.uint8),
        (~host).astype(np.uint8),
        np.where(host, 0, -1).astype(np.int32),
        [Fraction(PERIOD_PS)],
        1,
    )


def traced_run(rounds: int, cores: int = 20) -> Run:
    """A distributor that gives words in turn to cores, each of which works on one; 5 intervals a word."""
    states = {
        "give": (State(0, "unclassified"), State(1, "wait", Category.WAIT_SEND, (), ("top.core[*]",), ("x",)),
                 State(2, "send", Category.SEND, (), ("top.core[*]",), ("x",))),
        "core": (State(0, "unclassified"), State(1, "idle", Category.WAIT_RECV, (), ("top.give",), ("x",)),
                 State(2, "take", Category.RECV, (), ("top.give",), ("x",)), State(3, "work", Category.WORK)),
    }  # fmt: skip
    gap, work = 7, 7 * cores + 30
    starts, kinds = [], []
    sent = np.zeros(rounds * cores, np.int64)
    free = np.zeros(cores, np.int64)
    now = 0
    for n in range(rounds * cores):
        core = n % cores
        now = max(now + gap, int(free[core]) + 1)
        sent[n] = now
        free[core] = now + work
    give_states = np.tile([1, 2], len(sent))
    give = np.stack([np.append(0, sent[:-1] + 1), sent], axis=1).reshape(-1)
    starts.append(give)
    kinds.append(give_states)
    for core in range(cores):
        mine = sent[core::cores] + 1
        starts.append(np.append(0, np.stack([mine, mine + 1, mine + work - 1], axis=1).reshape(-1)))
        kinds.append(np.append(1, np.tile([2, 3, 1], len(mine))))
    end = int(sent[-1]) + work + 10
    blocks = [Block("host.main", Side.HOST, "host", "program", "host.main", (State(0, "unclassified"),
                    State(1, "work", Category.WORK), State(2, "wait", Category.OVERHEAD)))]  # fmt: skip
    blocks.append(Block("top.give", Side.FPGA, "top", "always", "top.give", states["give"], clock="clk"))
    blocks += [Block(f"top.core[{n}].run", Side.FPGA, f"top.core[{n}]", "always", "top.core[*].run", states["core"],
                     clock="clk") for n in range(cores)]  # fmt: skip
    time_ps = end * PERIOD_PS
    starts.insert(0, np.zeros(1, np.int64))
    kinds.insert(0, np.ones(1, np.int64))
    calls: dict[str, Any] = {name: np.full(1, -1, np.int64) for name in (
        "address", "bytes", "grant_ps", "port_first_ps", "port_last_ps", "message", "resource", "card", "call_ps",
        "end_ps")}  # fmt: skip
    zeros = ("site", "block", "entry", "t0_ps", "host_ps", "value", "value_bytes", "parts")
    calls |= {name: np.zeros(1, np.int64) for name in zeros}
    calls |= {"state": np.full(1, 2), "t1_ps": np.full(1, time_ps, np.int64)}
    manifest = Manifest(
        "speed", RunStatus.COMPLETE, "", clocks=(RunClock("clk", 1e12 / PERIOD_PS, cycles=end),), time_ps=time_ps,
        blocks=tuple(blocks), entries=(Entry("run", "", "other", ""),), sites=(Site("main.c", 1, 1, "run", "run", 0),),
    )  # fmt: skip
    counts = np.array([len(one) for one in starts])
    tables = {
        "calls": calls,
        "intervals": {
            "start_ps": np.concatenate(starts).astype(np.int64) * PERIOD_PS,
            "state": np.concatenate(kinds).astype(np.uint32),
        },
        "interval_offsets": {"offset": np.append(0, np.cumsum(counts))},
    }
    return Run(None, manifest, tables)


def measure(quick: bool) -> list[dict[str, Any]]:
    rows = []
    for nodes, goal_s in GOALS_S.items():
        if quick and nodes > 10**6:
            continue
        one = graph(nodes)
        one.sweep()
        begin = time.perf_counter()
        one.sweep()
        took = time.perf_counter() - begin
        arrays = (one.cause_first, one.cause, one.lag, one.work, one.kind, one.domain, one.extra, one.begin, one.end)
        rows.append({"what": f"{nodes} nodes", "sweep_s": took, "goal_s": goal_s,
                     "bytes": sum(a.nbytes for a in arrays) + 4 * nodes})  # fmt: skip
    run = traced_run(1300 if quick else 6500)
    intervals = len(run.tables["intervals"]["start_ps"])
    begin = time.perf_counter()
    replayed = prepare(run, _platform())
    took = time.perf_counter() - begin
    rows.append({"what": f"{intervals} intervals", "prepare_s": took, "goal_s": intervals / 650_000,
                 "exact": replayed.exact, "why": replayed.why, "unknown": list(replayed.unknown)})  # fmt: skip
    return rows


def _platform() -> Platform | None:
    return None


def main() -> int:
    arguments = command(__doc__).parse_args()
    rows = measure(arguments.quick)
    show({"rows": rows}, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())

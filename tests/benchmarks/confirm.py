"""Whether a re-run under rules takes what the changed program takes.

    python tests/benchmarks/confirm.py [--json] [--quick] [--only TEXT]

Each row is an application of `bounds_apps`, changes of the catalogue, and a twin in which they were really made. Both
run on the simulated card with counted host time. `confirmed` is the speedup of the re-run (`workbench whatif
--confirm`), `measured` that of the twin, `error_pct` how far the re-run's time is off the twin's, and `seconds` how
long the re-run took. `answer` tells whether it gave the application's own answer: the exit code is 1 where it did not.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import command, show

sys.path.insert(0, str(Path(__file__).parent))
from bounds import Bench, Program

from workbench.api.job import Job
from workbench.model.changes import read_change
from workbench.session.change.confirm import AnswerStatus, confirm, open_project_of
from workbench.session.program.plugins import load_plugins

QUICK = 3


@dataclass(frozen=True)
class Pair:
    """An application, the changes, and the program in which they were made."""

    application: str
    base: Program
    changes: tuple[str, ...]
    twin: Program


def pairs() -> list[Pair]:
    polls = Program("block", settings={"CYCLES": 200})
    near = Program("block", settings={"CYCLES": 197, "EFFORT": 40})
    busy = Program("block", settings={"CYCLES": 400, "EFFORT": 600})
    small = Program("small", settings={"EFFORT": 600, "CYCLES": 200})
    slow = Program("block", settings={"CYCLES": 100, "EFFORT": 3000})
    late = Program("block", settings={"CYCLES": 1000})
    both = Program("double", settings={"CYCLES": 400, "EFFORT": 600})
    registers, readback = Program("registers"), Program("readback")
    cores = Program("cores", "cores", {"CORES": 2, "CYCLES": 600})
    host = "host block=host.main state=work factor="
    return [
        Pair("polling filter", polls, ("interrupt calls=poll",), polls.but("irq")),
        Pair("small writes", small, ("unite calls=put count=16",), small.but("block")),
        Pair("host that prepares long", slow, (f"{host}0.1",), slow.but(EFFORT=300)),
        Pair("polling filter, other phase", near, ("interrupt calls=poll",), near.but("irq")),
        Pair("results a register at a time", readback, ("unite calls=get count=64", "retype calls=get table=read"),
             readback.but("readblock")),
        Pair("cipher, a register at a time", registers,
             ("unite calls=put count=4", "retype calls=put table=write", "unite calls=get count=4",
              "retype calls=get table=read"), registers.but("blocks")),
        Pair("small writes", small, ("unite calls=put count=16", "interrupt calls=poll"), small.but("irq")),
        Pair("host and FPGA in turn", busy, (f"{host}0.5",), busy.but(EFFORT=300)),
        Pair("host and FPGA in turn", busy, (f"{host}0.5", "interrupt calls=poll"), busy.but("irq", EFFORT=300)),
        Pair("two buffers", both, ("asynchronous calls=put buffers=2",), both.but("async")),
        Pair("two buffers", both, ("interrupt calls=poll",), both.but("doubleirq")),
        Pair("four mebibytes at once", Program("big", "sink"), ("split calls=put count=32",), Program("split", "sink")),
        Pair("a faster clock", late, ("clock clock=clk frequency_hz=200e6",), late.but(clock_mhz=200)),
        Pair("cores", cores, ("replicas 'group=unit_top.units[*].unit.worker' count=4",), cores.but(CORES=4)),
    ]  # fmt: skip


def measure(wanted: Sequence[Pair]) -> list[dict[str, Any]]:
    plugins, rows = load_plugins(), []
    with tempfile.TemporaryDirectory(prefix="confirm-") as folder:
        bench = Bench(Path(folder))
        for pair in wanted:
            base, twin = bench.run(pair.base).run, bench.run(pair.twin).run
            workspace = open_project_of(base, plugins)
            began_s = time.monotonic()
            found = confirm(workspace, base, [read_change(text) for text in pair.changes], Job(), plugins)
            rows.append({
                "application": pair.application,
                "changes": list(pair.changes),
                "confirmed": found.speedup,
                "measured": base.time_s / twin.time_s,
                "error_pct": 100 * (found.time_s / twin.time_s - 1) if found.time_s else None,
                "answer": found.answer.value,
                "why": found.why,
                "seconds": time.monotonic() - began_s,
            })  # fmt: skip
            print(f"{len(rows)} of {len(wanted)}: {pair.application}", file=sys.stderr)
    return rows


def main() -> int:
    parser = command(__doc__, f"the first {QUICK} rows only")
    parser.add_argument("--only", default="", metavar="TEXT", help="applications whose name holds this")
    arguments = parser.parse_args()
    wanted = [pair for pair in pairs() if arguments.only in pair.application]
    rows = measure(wanted[: QUICK if arguments.quick else None])
    show({"rows": rows}, arguments.json)
    return 0 if all(row["answer"] == AnswerStatus.SAME for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

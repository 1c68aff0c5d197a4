"""Assertions and branches of a design, in Verilog and in VHDL: as the simulated card counts them, as the counters in
the design do, and as a waveform of the same run gives them. Exits with 1 where two differ.

    python tests/benchmarks/assertions.py [--json] [--quick]

`--quick` compares Verilog alone, as the card counts it.
"""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from sequence_oracle import Seq, verdicts
from test_waves import at_edges, rising, signals_of

from workbench.analysis.analyse import analyse
from workbench.analysis.knowledge import KnowledgeBase
from workbench.api.results import Analysis
from workbench.cli.main import main
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import load_plugins

DATA = Path(__file__).parents[1] / "data"
SUFFIXES = {"Verilog": ".v", "VHDL": ".vhd"}
_SIGNALS = ("rst", "left", "head", "tail", "since", "wr_en", "rd_en", "addr")
#: The branches of each decision in the order of the source, but for those that a reset takes.
Counts = dict[str, int | None]


def application(folder: Path, suffix: str, counters: bool = False) -> Path:
    """The tiny application below a folder, with assertions, in the language whose files end so; with its `counters`
    simulated too."""
    project = Path(shutil.copytree(DATA / "tiny", folder / "tiny"))
    for old in (project / "hdl").iterdir():
        old.unlink()
    shutil.copy(DATA / "assertions" / f"tiny_top{suffix}", project / "hdl")
    path = project / "tiny.workbench.yaml"
    text = path.read_text().replace("hdl/*.v", f"hdl/*{suffix}").replace("DELAY: 4", "DELAY: 124")
    path.write_text(text.replace("simulation:\n", "simulation:\n  hardware_counters: true\n") if counters else text)
    return project


def counted(project: Path, out: Path, *options: str) -> Analysis:
    """A run's assertions and branches."""
    asked = ("--deterministic", "--assertions", "--branches", "--out", str(out), *options)
    with redirect_stdout(sys.stderr):
        assert main(["run", str(project), *asked]) == 0
    return analysed(out)


def analysed(out: Path) -> Analysis:
    return analyse(open_result(out, load_plugins()).run, None, KnowledgeBase())


def of_run(analysis: Analysis) -> Counts:
    """How often each assertion held and failed, in which cycle it failed first, and how often each branch was taken,
    those of a decision by its number in the source."""
    found: Counts = {}
    for one in sorted(analysis.assertions, key=lambda one: one.name):
        found |= {f"{one.name} held": one.held, f"{one.name} failed": one.failed, f"{one.name} first": one.first_cycle}
    for number, decision in enumerate(sorted(analysis.decisions, key=lambda one: one.line), 1):
        found |= {f"decision {number}, branch {n}": arm.count for n, arm in enumerate(decision.arms, 1)}
    return found


def cycles_of(out: Path) -> list[dict[str, int]]:
    """What the signals were in each cycle out of reset, by a run's waveform."""
    (path,) = out.rglob("*.vcd")
    signals = {name.rpartition(".")[2]: of for name, of in signals_of(path).items() if name.count(".") < 2}
    edges = rising(signals["clk"])
    columns = {name: list(at_edges(signals[name], [edge - 1 for edge in edges])) for name in _SIGNALS}
    cycles = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [cycle for cycle in cycles if not cycle["rst"]]


def of_waveform(cycles: list[dict[str, int]], vhdl: bool) -> Counts:
    """The same as `of_run`, computed from the signals. The VHDL has two decisions more than the Verilog."""
    asked: dict[str, list[bool | None]] = {"free": [], "one_left": [], "quiet": [], "steps": []}
    words = [c["wr_en"] and c["addr"] < 256 for c in cycles]
    empty = [c["head"] == c["tail"] for c in cycles]
    left = [c["left"] for c in cycles]
    for n in range(len(cycles)):
        asked["free"].append(left[n] < 100 if n > 1 and words[n - 2] else None)
        asked["steps"].append(left[n] > 0 if n and left[n - 1] > 1 else None)
        asked["quiet"].append(not (cycles[n]["wr_en"] and cycles[n]["rd_en"]))
        starts = not left[n] and not empty[n]
        asked["one_left"].append((cycles[n]["tail"] - cycles[n]["head"]) % 64 < 2 if starts else None)
    before = [cycles[max(n - 1, 0)] for n in range(len(cycles))]
    started = [bool(left[n]) and not before[n]["left"] for n in range(len(cycles))]
    was = [not empty[n] or before[n]["head"] != before[n]["tail"] for n in range(len(cycles))]
    same = [left[n] > 1 and c["head"] == before[n]["head"] for n, c in enumerate(cycles)]
    steady = [left[n] == before[n]["left"] - 1 for n in range(len(cycles))]
    last = [left[n] in (0, 124) for n in range(len(cycles))]
    wrote = [bool(c["wr_en"]) for c in cycles]
    once, within = ("then", ("is", 0), ("times", ("is", 1), 2, 2)), ("then", ("times", ("any",), 1, 3), ("is", 2))
    asked["bursts"] = _verdicts(once, within, wrote, [not one for one in wrote], [one > 2 for one in left])
    asked["begun"] = _verdicts(("is", 0), ("then", ("is", 1), ("is", 2)), started, was, [one > 99 for one in left])
    until = ("then", ("times", ("is", 1), 0, None), ("is", 2))
    asked["counts"] = _verdicts(("is", 0), ("then", ("any",), until), same, steady, last)
    lanes = []
    for bit in (0, 1):
        odd = [one and bool(c["addr"] >> bit & 1) for one, c in zip(wrote, cycles, strict=True)]
        lanes.append(_verdicts(("is", 0), ("then", ("any",), ("is", 1)), odd, [not one for one in wrote]))
    asked["resets"] = [bool(c["head"] & 1) if c["left"] == 3 else None for c in cycles]
    asked["tame"] = [None if c["left"] == 3 else not c["since"] & 3 or c["left"] < 100 for c in cycles]
    found: Counts = {}
    firsts = [lane.index(False) for lane in lanes if False in lane]
    counts = {word: sum(lane.count(holds) for lane in lanes) for word, holds in (("held", True), ("failed", False))}
    found |= {f"even {word}": count for word, count in counts.items()} | {"even first": min(firsts, default=None)}
    for name, results in asked.items():
        first = results.index(False) if False in results else None
        found |= {f"{name} held": results.count(True), f"{name} failed": results.count(False), f"{name} first": first}
    adder = Counter("add" if n else "fetch" if not e else "idle" for n, e in zip(left, empty, strict=True))
    reads = [n for n, c in enumerate(cycles) if c["rd_en"] and not words[n]]
    status = [n for n in reads if cycles[n]["addr"] == 256]
    done = sum(empty[n] and not left[n] for n in status)
    port = (sum(words), len(reads), len(cycles) - sum(words) - len(reads))
    step = (adder["add"], adder["fetch"], adder["idle"])
    decisions = [port, step, step]
    if vhdl:
        decisions = [step, port, (len(status), len(reads) - len(status)), (done, len(status) - done), step]
    for number, arms in enumerate(decisions, 1):
        found |= {f"decision {number}, branch {n}": count for n, count in enumerate(arms, 1)}
    return found


def _verdicts(trigger: Seq, then: Seq, *conditions: list[bool]) -> list[bool | None]:
    """Whether a property over up to three conditions held or failed in each cycle."""
    columns = [*conditions, *([False] * len(conditions[0]) for _ in range(3 - len(conditions)))]
    cycles = list(zip(*columns, strict=True))
    return [{"held": True, "failed": False}.get(one) for one in verdicts(trigger, then, cycles)]


def compared(folder: Path, quick: bool = False) -> Iterator[tuple[str, Mapping[str, Counts]]]:
    """By language what a waveform of a run gives, and what the card, and the counters in the design, count."""
    for name, suffix in [*SUFFIXES.items()][: 1 if quick else None]:
        here = folder / name
        project = application(here / "card", suffix)
        runs = {"card": of_run(counted(project, here / "seen", "--waves"))}
        runs = {"waveform": of_waveform(cycles_of(here / "seen"), suffix == ".vhd"), **runs}
        if not quick:
            runs["counters"] = of_run(counted(application(here / "words", suffix, True), here / "read"))
        yield name, runs


def _lines(found: Iterable[tuple[str, Mapping[str, Counts]]]) -> Iterator[str]:
    for language, runs in found:
        yield f"{language:26}" + "".join(f"{name:>12}" for name in runs)
        for row in next(iter(runs.values())):
            yield f"  {row:24}" + "".join(f"{'-' if (n := one.get(row)) is None else n:>12}" for one in runs.values())


def run() -> int:
    options = command(__doc__, "Verilog alone, as the card counts it").parse_args()
    with TemporaryDirectory() as folder:
        found = list(compared(Path(folder), options.quick))
    print(json.dumps(dict(found), indent=1) if options.json else "\n".join(_lines(found)))
    return int(any(one != runs["waveform"] for _, runs in found for one in runs.values()))


if __name__ == "__main__":
    sys.exit(run())

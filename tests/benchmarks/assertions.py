"""Assertions and branches of a design, in Verilog and in VHDL: as the simulated card counts them, as the counters in
the design do, as they do on a board that is a simulation, and as a waveform of a run gives them. Exits with 1 where
two differ.

    python tests/benchmarks/assertions.py [--json] [--quick] [--area]

`--quick` compares Verilog alone, as the card counts it. `--area` gives the cells of a Lattice ECP5 that each assertion
and each decision of that design takes, by yosys.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from rtl_simulator import make_board
from sequence_oracle import Seq, open_since, verdicts
from test_waves import at_edges, rising, signals_of

from workbench.analysis.analyse import analyse
from workbench.analysis.knowledge import KnowledgeBase
from workbench.api.job import Job
from workbench.api.results import Analysis
from workbench.cli.main import main
from workbench.session.keep.collecting import collect_records
from workbench.session.keep.results import open_result
from workbench.session.make.pipeline import instrument_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.program.plugins import load_plugins

DATA = Path(__file__).parents[1] / "data"
SUFFIXES = {"Verilog": ".v", "VHDL": ".vhd"}
_SIGNALS = ("rst", "left", "head", "tail", "since", "wr_en", "rd_en", "addr")
_ASKED = "  assertions: true\n  branches: true\n"
#: What words make count, however fast they come: assertions, and branches by the language of their decisions.
_OF_WORDS = ("begun", "bursts", "counts", "even", "resets", "steps")
_BRANCHES_OF_WORDS = {
    ".v": ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2)),
    ".vhd": ((1, 1), (1, 2), (2, 1), (3, 2), (4, 1), (5, 1), (5, 2)),
}
_STRONG = ("never", "served", "rests", "soon", "falls", "crosses")
_OTHERS = ("free", "steps", "quiet", "bursts", "begun", "counts", "even", "resets", "tame", "one_left")
_ASSERTION = re.compile(r"(\w+): assert (?:property )?\(.*?;(?=\n)", re.DOTALL)
_CELLS = ("LUT4", "TRELLIS_FF", "DP16KD")
#: Strong assertions, which keep the cycle since which they are open: with these the card simulates the counters.
STRONG = {
    ".v": """
    wrote: assert property (@(posedge clk) not (wr_en && addr < 32'h100));
    never: assert property (@(posedge clk) disable iff (rst) wr_en && addr < 32'h100 |-> s_eventually &sum);
    served: assert property (@(posedge clk) disable iff (rst) wr_en && addr < 32'h100 |-> strong(##[1:$] left != 0));
    rests: assert property (@(posedge clk) disable iff (rst) left == 1 |=> left == 0 s_until left != 0);
    soon: assert property (@(posedge clk) disable iff (rst) rd_en |-> s_eventually [1:200] left > 99);
    property counts_down;
        logic [7:0] was;
        @(posedge clk) disable iff (rst) (left > 0, was = left) |-> ##[1:2] left == was - 8'd2;
    endproperty
    falls: assert property (counts_down);
    crosses: assert property (@(negedge clk) disable iff (rst) left > 0 && left < 4 ##1 1 |=> @(posedge clk) left != 1);
endmodule""",
    ".vhd": """
    -- psl wrote : assert never (wr_en = '1' and unsigned(addr) < 256);
    -- psl never : assert always ((wr_en = '1' and unsigned(addr) < 256) ->
    --    eventually! (sum = x"ffffffff")) abort rst = '1';
    -- psl served : assert always {wr_en = '1' and unsigned(addr) < 256} |=> {[*]; left /= 0}! abort rst = '1';
    -- psl rests : assert always (left = 1 -> next (left = 0 until! left /= 0)) abort rst = '1';
    -- psl soon : assert always (rd_en = '1' -> next_e![1 to 200] (left > 99)) abort rst = '1';
end architecture;""",
}
#: The branches of each decision in the order of the source, but for those that a reset takes.
Counts = dict[str, int | None]


def application(folder: Path, suffix: str, counters: bool = False, strong: bool = False) -> Path:
    """The tiny application below a folder, with assertions, in the language whose files end so; with its `counters`
    simulated too; with `strong` assertions among them."""
    project = Path(shutil.copytree(DATA / "tiny", folder / "tiny"))
    for old in (project / "hdl").iterdir():
        old.unlink()
    source = (DATA / "assertions" / f"tiny_top{suffix}").read_text()
    end = "endmodule" if suffix == ".v" else "end architecture;"
    (project / "hdl" / f"tiny_top{suffix}").write_text(source.replace(end, STRONG[suffix]) if strong else source)
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


def on_board(folder: Path, suffix: str) -> Counts:
    """What a board that is a simulation counts of words, as far as it has nothing to do with how fast they come."""
    project = application(folder, suffix, strong=True) / "tiny.workbench.yaml"
    project.write_text(project.read_text().replace("hardware:\n", f"hardware:\n{_ASKED}"))
    tree, build, raw = (folder / name for name in ("tree", "build", "raw"))
    build.mkdir()
    raw.mkdir()
    instrument_workspace(open_workspace(project, load_plugins()), {}, tree)
    subprocess.run(make_board(tree, "WORD_CYCLES=20", "READ_CYCLES=0"), cwd=build, capture_output=True, check=True)
    environment = {**os.environ, "RCW_RAW": str(raw)}
    subprocess.run([build / "host"], cwd=tree / "hdl", env=environment, stdout=sys.stderr, check=True)
    collect_records(tree, raw, folder / "run", load_plugins())
    return of_run(analysed(folder / "run"))


def of_words(counts: Counts, suffix: str) -> Counts:
    names = {f"decision {decision}, branch {branch}" for decision, branch in _BRANCHES_OF_WORDS[suffix]}
    names |= {name for name in counts if name.startswith(_OF_WORDS) and not name.endswith(("first", "since"))}
    return {name: counts[name] for name in names}


def of_strong(counts: Counts) -> Counts:
    return {name: count for name, count in counts.items() if name.startswith(_STRONG)}


def analysed(out: Path) -> Analysis:
    return analyse(open_result(out, load_plugins()).run, None, KnowledgeBase())


def of_run(analysis: Analysis) -> Counts:
    """How often each assertion held and failed, in which cycle it failed first, and how often each branch was taken,
    those of a decision by its number in the source."""
    found: Counts = {}
    for one in sorted(analysis.assertions, key=lambda one: one.name):
        found |= {f"{one.name} held": one.held, f"{one.name} failed": one.failed, f"{one.name} first": one.first_cycle}
        found |= {f"{one.name} since": one.open_cycle} if one.name in _STRONG else {}
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
    asked["bursts"] = _verdicts(
        once, within, list(map(bool, words)), [not one for one in wrote], [one > 2 for one in left]
    )
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


def of_strong_waveform(cycles: list[dict[str, int]], vhdl: bool) -> Counts:
    """The same of the strong ones: what is open at the end has failed once more. One in Verilog has a variable, one two
    clocks: what was the case at the falling edge is asked at the rising edge of that very cycle."""
    found: Counts = {}
    left = [c["left"] for c in cycles]
    words = [bool(c["wr_en"]) and c["addr"] < 256 for c in cycles]
    later = ("then", ("times", ("any",), 1, None), ("is", 1))
    seen, full, busy = ([test(n) for n in left] for test in (lambda n: n == 0, lambda n: n > 99, lambda n: n != 0))
    rests = ("then", ("any",), ("then", ("times", ("is", 1), 0, None), ("is", 2)))
    soon = ("then", ("times", ("any",), 1, 200), ("is", 1))
    for name, then, *conditions in (
        ("never", later, words, [False] * len(left)), ("served", later, words, busy),
        ("rests", rests, [n == 1 for n in left], seen, busy), ("soon", soon, [bool(c["rd_en"]) for c in cycles], full),
    ):  # fmt: skip
        results = _verdicts(("is", 0), then, *conditions)
        since = open_since(("is", 0), then, _columns(*conditions))
        since = None if name == "rests" and since == len(left) - 1 else since
        failed, first = results.count(False) + (since is not None), results.index(False) if False in results else None
        found |= {f"{name} held": results.count(True), f"{name} failed": failed, f"{name} first": first}
        found |= {f"{name} since": since}
    if not vhdl:
        falls = [left[n] == left[n - 2] - 2 for n in range(2, len(left)) if left[n - 2] > 0]
        first = next((n for n in range(2, len(left)) if left[n - 2] > 0 and left[n] != left[n - 2] - 2), None)
        found |= {"falls held": sum(falls), "falls failed": len(falls) - sum(falls), "falls first": first}
        lasts = [(n, left[n] != 1) for n in range(1, len(left)) if 1 <= left[n - 1] <= 3]
        first = next((n for n, held in lasts if not held), None)
        found |= {"crosses held": sum(held for _, held in lasts), "crosses first": first}
        found |= {"crosses failed": sum(not held for _, held in lasts), "crosses since": None, "falls since": None}
    return found


def _columns(*conditions: list[bool]) -> list[tuple[bool, ...]]:
    return list(zip(*conditions, *([False] * len(conditions[0]) for _ in range(3 - len(conditions))), strict=True))


def _verdicts(trigger: Seq, then: Seq, *conditions: list[bool]) -> list[bool | None]:
    """Whether a property over up to three conditions held or failed in each cycle."""
    return [{"held": True, "failed": False}.get(one) for one in verdicts(trigger, then, _columns(*conditions))]


def compared(folder: Path, quick: bool = False) -> Iterator[tuple[str, Mapping[str, Counts]]]:
    """By language what a waveform of a run gives, and what the card, and the counters in the design, count."""
    for name, suffix in [*SUFFIXES.items()][: 1 if quick else None]:
        here = folder / name
        project = application(here / "card", suffix)
        runs = {"card": of_run(counted(project, here / "seen", "--waves"))}
        runs = {"waveform": of_waveform(cycles_of(here / "seen"), suffix == ".vhd"), **runs}
        if not quick:
            runs["counters"] = of_run(counted(application(here / "words", suffix, True), here / "read"))
            runs["board"] = of_words(on_board(here / "board", suffix), suffix)
        yield name, runs
        strong = of_run(counted(application(here / "strong", suffix, strong=True), here / "open", "--waves"))
        yield f"{name}, strong", {
            "waveform": of_strong_waveform(cycles_of(here / "open"), suffix == ".vhd"), "card": of_strong(strong)
        }  # fmt: skip


def _lines(found: Iterable[tuple[str, Mapping[str, Counts]]]) -> Iterator[str]:
    for language, runs in found:
        yield f"{language:26}" + "".join(f"{name:>12}" for name in runs)
        for row in next(iter(runs.values())):
            yield f"  {row:24}" + "".join(f"{'-' if (n := one.get(row)) is None else n:>12}" for one in runs.values())


def run() -> int:
    parser = command(__doc__, "Verilog alone, as the card counts it")
    parser.add_argument("--area", action="store_true")
    options = parser.parse_args()
    if options.area:
        print("\n".join(areas()))
        return 0
    with TemporaryDirectory() as folder:
        found = list(compared(Path(folder), options.quick))
    print(json.dumps(dict(found), indent=1) if options.json else "\n".join(_lines(found)))
    return int(any(n != runs["waveform"][row] for _, runs in found for one in runs.values() for row, n in one.items()))


def areas() -> Iterator[str]:
    """The cells of the design with nothing watched, and of what its assertions, strong ones, one with a variable, one
    on two clocks, and its decisions add."""
    with TemporaryDirectory() as scratch:
        project = application(Path(scratch), ".v", strong=True)
        workspace = open_workspace(project / "tiny.workbench.yaml", load_plugins())
        hardware, settings = workspace.project.hardware, workspace.parameters(workspace.settings())
        source, before = workspace.root / "hdl" / "tiny_top.v", dict[str, int]()
        text = source.read_text()
        for name, kept in (
            ("observed alone", ()), ("assertions", _OTHERS), ("strong", _STRONG[:4]), ("variable", ("falls",)),
            ("two clocks", ("crosses",)), ("branches", ()),
        ):  # fmt: skip
            chosen = hardware if not before else hardware.model_copy(
                update={"branches" if name == "branches" else "assertions": True}
            )  # fmt: skip
            source.write_text(_ASSERTION.sub(lambda one, kept=kept: one[0] if one[1] in kept else ";", text))
            out = Path(scratch) / name.partition(" ")[0]
            language = workspace.hdl_language
            build = language.instrument(workspace.root, chosen, workspace.platform, settings, out, Job())
            sources = " ".join(map(str, build.files.board_sources or build.sources))
            script = f"read_verilog -sv {sources}; synth_ecp5 -top {build.top}; tee -o {scratch}/area stat"
            subprocess.run(["yosys", "-q", "-p", script], check=True)
            table = (Path(scratch) / "area").read_text()
            cells = {one: int(n) for one, n in re.findall(r"(\w+)\s+(\d+)$", table, re.MULTILINE)}
            counters = [block for block in build.blocks if block.kind in ("assert", "branch") and len(block.states) > 1]
            each = f" for {len(counters)}" if before else ""
            yield f"{name + each:<20}" + ", ".join(f"{cells.get(one, 0) - before.get(one, 0)} {one}" for one in _CELLS)
            before = before or cells


if __name__ == "__main__":
    sys.exit(run())

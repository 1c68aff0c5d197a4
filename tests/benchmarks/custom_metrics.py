"""Metrics of one's own in hardware, each kind in Verilog and in VHDL: as the simulated card counts them, and as a
waveform of the same run gives them. Exits with 1 where two differ.

    python tests/benchmarks/custom_metrics.py [--json] [--quick] [--area]

`--quick` compares Verilog alone. `--area` gives the cells of a Lattice ECP5 that summing one signal takes beside its
counter, by yosys.
"""

import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from command_line import command

sys.path.insert(0, str(Path(__file__).parents[1]))

from test_waves import at_edges, rising, signals_of

from workbench.analysis.custom import custom_values
from workbench.analysis.measured import MeasuredRun
from workbench.api.instrument.probes import SumWords
from workbench.cli.main import main
from workbench.model.custom import ValueType
from workbench.session.keep.results import open_result
from workbench.session.program.plugins import load_plugins

DATA = Path(__file__).parents[1] / "data"
LANGUAGES = {"verilog": ".v", "vhdl": ".vhd"}
_CELLS = ("LUT4", "CCU2C", "TRELLIS_FF", "MULT18X18D")
_SIGNALS = ("rst", "empty", "left", "held", "below", "wr_en", "addr", "wr_data")


def application(folder: Path, suffix: str) -> Path:
    """The tiny application below a folder, with metrics, in the language whose files end so."""
    project = Path(shutil.copytree(DATA / "tiny", folder / "tiny"))
    for old in (project / "hdl").iterdir():
        old.unlink()
    shutil.copy(DATA / "metrics" / f"tiny_top{suffix}", project / "hdl")
    text = (project / "tiny.workbench.yaml").read_text()
    (project / "tiny.workbench.yaml").write_text(
        text.replace("hdl/*.v", f"hdl/*{suffix}").replace("DELAY: 4", "DELAY: 124")
    )
    return project


def counted(project: Path, out: Path, *options: str) -> dict[str, float]:
    """What expressions may read of a run's metrics."""
    with redirect_stdout(sys.stderr):
        assert main(["run", str(project), "--deterministic", "--out", str(out), *options]) == 0
    return custom_values(MeasuredRun(open_result(out, load_plugins()).run).custom)


def of_waveform(out: Path) -> dict[str, float]:
    """The same values of what the signals were in each cycle out of reset."""
    (path,) = out.rglob("*.vcd")
    signals = {name.removeprefix("tiny_top."): of for name, of in signals_of(path).items()}
    edges = rising(signals["clk"])
    before = [edge - 1 for edge in edges]  # what an edge finds
    columns = {name: list(at_edges(signals[name], before)) for name in _SIGNALS}
    cycles = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return dict(_values([cycle for cycle in cycles if not cycle["rst"]]))


def _values(cycles: list[Mapping[str, int]]) -> Iterator[tuple[str, float]]:
    starved = [c["empty"] and c["left"] == 0 for c in cycles]
    yield "custom.starved", sum(starved)
    yield "custom.starved.share", sum(starved) / len(cycles)
    yield "custom.starved.times", sum(now and not was for was, now in zip([False, *starved], starved, strict=False))
    bins = Counter(sum(c["held"] >= bound for bound in (1, 2, 3)) for c in cycles)
    yield "custom.depth", len(cycles)
    for number, name in enumerate(("below_1", "from_1", "from_2", "from_3")):
        yield f"custom.depth.{name}", bins[number]
    writes = [c for c in cycles if c["wr_en"] and c["addr"] < 0x100]
    words = [c["wr_data"] for c in writes]
    far = [(c["wr_data"] ^ -(c["wr_data"] & 1) & 0xFFFFFFFF) << 32 | c["addr"] for c in writes]
    for name, value in (
        ("taken", sum(words)), ("written", sum(words) / len(words)), ("spread", _deviation(words)),
        ("reach", sum(far)), ("around", _deviation(far)), ("farthest", max(far)),
    ):  # fmt: skip
        yield f"custom.{name}", value
        yield f"custom.{name}.count", len(words)
    upper = sum(value >> 63 for value in far)
    yield "custom.halves", len(far)
    yield f"custom.halves.below_{1 << 63}", len(far) - upper
    yield f"custom.halves.from_{1 << 63}", upper
    below = [c["below"] - (c["below"] >> 7 << 8) for c in cycles]
    yield "custom.least", min(below)
    yield "custom.least.count", len(cycles)
    yield "custom.deepest", (min(below) << 32) + 1
    yield "custom.deepest.count", len(cycles)
    busy = [value for value, c in zip(below, cycles, strict=True) if not c["empty"]]
    yield "custom.most", max(busy)
    yield "custom.most.count", len(busy)
    open_, happened, missed = 0, 0, 0
    for c in cycles:
        if open_ and c["wr_en"]:
            happened, open_ = happened + 1, 0
        elif open_:
            missed, open_ = missed + (open_ == 1), open_ - 1
        if c["left"] == 4:
            open_ = 60
    yield "custom.started", happened
    yield "custom.started.missed", missed
    of = Counter((bool(c["empty"]), c["left"] == 0) for c in cycles)
    first, second, both, neither = (of[key] for key in ((True, False), (False, True), (True, True), (False, False)))
    a, b = first + both, second + both
    spread = a * b * (len(cycles) - a) * (len(cycles) - b)
    yield "custom.together", (both * neither - first * second) / math.sqrt(spread)
    yield from zip((f"custom.together.{n}" for n in ("first", "second", "both", "neither")),
                   (first, second, both, neither), strict=True)  # fmt: skip


def _deviation(values: Sequence[int]) -> float:
    count, total = len(values), sum(values)
    return math.sqrt(Fraction(sum(value * value for value in values), count) - Fraction(total, count) ** 2)


def same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether two have the same values; times are no metric of a waveform's."""
    names = {name for name in (*one, *other) if not name.endswith(".time")}
    return all(math.isclose(one.get(name, math.nan), other.get(name, math.nan), rel_tol=1e-9) for name in names)


def compared(folder: Path, languages: Iterable[str]) -> dict[str, dict[str, float]]:
    """The values of a waveform of the run in Verilog, and as the card counts them in each language."""
    found: dict[str, dict[str, float]] = {}
    for language in languages:
        suffix = LANGUAGES[language]
        below = folder / language
        below.mkdir()
        waves = ("--waves",) if language == "verilog" else ()
        found[language] = counted(application(below, suffix), below / "run", *waves)
        if waves:
            found["waveform"] = of_waveform(below / "run")
    return found


def table(found: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    columns = sorted(found, key=("waveform", *LANGUAGES).index)
    yield f"{'metric':<28}" + "".join(f"{name:>14}" for name in columns)
    for name in found["waveform"]:
        yield f"{name.removeprefix('custom.'):<28}" + "".join(f"{found[one][name]:>14.6g}" for one in columns)


def areas() -> Iterator[str]:
    """The cells of what sums a signal, with and without its squares."""
    folder = Path(str(files("workbench.resources"))) / "hdl"
    with TemporaryDirectory() as scratch:
        average = (folder / "agent" / "agent_average.v").read_text().replace("agent_", "recap_")
        (Path(scratch) / "recap_average.v").write_text(average)
        for bits, squares in ((bits, squares) for bits in (8, 32, 64) for squares in (0, 1)):
            words = SumWords.of(ValueType(bits))
            sizes = {"BITS": bits, "IS_SIGNED": 0, "SUM": words.sum, "EXTREMES": words.extreme}
            sizes["SQUARES"] = squares * words.squares
            script = (
                f"read_verilog {folder / 'recap_value.v'} recap_average.v; "
                f"chparam {' '.join(f'-set {name} {size}' for name, size in sizes.items())} recap_value; "
                "synth_ecp5 -top recap_value; tee -o area stat"
            )
            subprocess.run(["yosys", "-q", "-p", script], cwd=scratch, check=True)
            cells = dict(re.findall(r"(\w+)\s+(\d+)$", (Path(scratch) / "area").read_text(), re.MULTILINE))
            name = f"{bits} bits, {'deviation' if squares else 'sum, min, max, mean'}"
            yield f"{name:<30}" + ", ".join(f"{cells.get(one, 0)} {one}" for one in _CELLS)


if __name__ == "__main__":
    parser = command(__doc__, "Verilog alone")
    parser.add_argument("--area", action="store_true")
    asked = parser.parse_args()
    if asked.area:
        print("\n".join(areas()))
        sys.exit()
    with TemporaryDirectory() as scratch:
        result = compared(Path(scratch), ("verilog",) if asked.quick else LANGUAGES)
    print(json.dumps(result, indent=1) if asked.json else "\n".join(table(result)))
    sys.exit(not all(same(result["waveform"], values) for values in result.values()))

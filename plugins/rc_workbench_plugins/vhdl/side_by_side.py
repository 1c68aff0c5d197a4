"""Designs in VHDL, simulated by GHDL itself under inputs that are drawn at random."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, zip_longest
from pathlib import Path

from rc_workbench_plugins.vhdl.bench import NAME, PIN, ROW, STIMULI, Bench, bench_of
from rc_workbench_plugins.vhdl.elaborate import dialect
from rc_workbench_plugins.vhdl.sides import files_of, texts_of, top_of, units_in
from rc_workbench_plugins.vhdl.stimuli import BIT, Element, Pins, rows_a_cycle, stimuli
from rc_workbench_plugins.vhdl.syntax import plain
from workbench.api import Diagnostic, Job, WorkbenchError, count_text, counted
from workbench.api.compile import last_words
from workbench.api.equivalence import Comparison, HdlSide, Limits
from workbench.api.unstable import duration_text, read_only, thousands
from workbench.hdl.equivalence.simulation import Simulated
from workbench.hdl.ghdl import ghdl

_MOST_BYTES = 12 << 20  # of what is told, where 16 MiB are kept
_FEW, _ROUNDS = 200, 4
_SHOWN_S = 0.25  # between two looks at how far it is
_PIN = re.compile(rf"^{PIN} (\S+)((?: \S+)*)$", re.MULTILINE)
_ROW = re.compile(rf"^{ROW} (\S*)$", re.MULTILINE)
_PART = re.compile(r"[^\s:]*\bf(\d+)_\d+\.vhd\b")
_ENDED = re.compile(
    r"^(?:\S*ghdl\S*:error: (?!simulation|compilation)"
    r"|(?P<place>[^\s:]+:\d+):\d+:(?:@\S+:\((?:assertion|report) failure\):|(?!@|warning|note)(?:error:)?) ?)"
    r"(?P<text>.*)$",
    re.MULTILINE,
)
_WARNED = re.compile(r"^\S+:@(\d+)(\w+):\(assertion warning\): (\S+\.\S+: .*)$", re.MULTILINE)
_NS = {"ns": 1, "us": 1000, "ms": 1_000_000}
_FOREIGN = re.compile(rb"\bforeign\b", re.IGNORECASE)


@dataclass(frozen=True)
class Outputs:
    """What a bench reports: the pins, the outputs of each row, and why it ended before the last row, if it did. `said`
    is what VHDL's packages warn of, and in which nanosecond (row)."""

    pins: Pins
    rows: list[str]
    why: str
    said: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Simulation:
    """A side, in a bench without the ports that are `cut`. `root` is where files are that it reads; with `zeros`
    what has no value as it begins has these. With `asserts` VHDL's packages warn."""

    side: HdlSide
    root: Path
    folder: Path
    cut: tuple[str, ...] = ()
    zeros: bool = False
    asserts: bool = False

    @cached_property
    def bench(self) -> Bench:
        """WorkbenchError where no bench can be made."""
        if any(_FOREIGN.search(file.data) for file in files_of(self.side)):
            raise WorkbenchError(
                Diagnostic("it has an attribute 'foreign', by which code of other languages is loaded")
            )
        return bench_of(top_of(self.side), units_in(self.side), self.cut)

    def run(self, rows: Sequence[str], limits: Limits, job: Job, rows_a_cycle: int = 1) -> Outputs:
        """Without network and without writing anything, where the system allows it. WorkbenchError where it takes
        twice as long as it may."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        library = top_of(self.side).library
        words: list[str] = []
        for text in sorted(texts_of(self.side, self.zeros), key=lambda one: one.library == library):
            words += [f"--work={text.library}", *text.write(self.folder)]
        given, bench = self.folder / STIMULI, self.folder / "bench.vhd"
        given.write_text("".join(f"{row}\n" for row in rows), encoding="ascii")
        bench.write_text(self.bench.text.replace(STIMULI, str(given)), encoding="latin-1")
        values = [f"-g{plain(name)}={value}" for name, value in self.side.parameters.items()]
        tool = [str(ghdl().path), "-c", *dialect(self.side.vhdl_standard), *words, f"--work={library}", str(bench)]
        quiet = [] if self.asserts else ["--ieee-asserts=disable"]
        done = job.run(
            [*read_only(), *tool, "-r", NAME, *values, *quiet, f"--stop-time={len(rows) + 1}ns"],
            cwd=self.root,
            on_line=lambda line: None, timeout_s=2 * limits.simulate_s + 60, memory_bytes=limits.memory_bytes,
            on_output=_Shown(job, len(rows) // rows_a_cycle, rows_a_cycle).see,
        )  # fmt: skip
        pins = {name: tuple(map(_element, laid.split())) for name, laid in _PIN.findall(done.stdout)}
        rows_read = _ROW.findall(done.stdout)
        why = "" if len(rows_read) == len(rows) and len(pins) else _why(self._named(done.stderr + done.stdout))
        warned = ((int(at) * _NS.get(unit, 0), text) for at, unit, text in _WARNED.findall(done.stderr + done.stdout))
        return Outputs(pins, rows_read, why, tuple(warned) if self.asserts else ())

    def _named(self, said: str) -> str:
        """With the sources' names in place of those of their parts."""
        return _PART.sub(lambda part: self.side.sources[int(part[1])].name, said)


class _Shown:
    """How far a simulation of so many cycles is, as its job's progress."""

    def __init__(self, job: Job, cycles: int, rows_a_cycle: int) -> None:
        self._job, self._cycles, self._rows_a_cycle = job, cycles, rows_a_cycle
        self._rows = 0
        self._began_s = self._shown_s = time.monotonic()
        job.progress(None, f"GHDL simulates the VHDL: {counted(cycles, 'cycle')}" if cycles else "GHDL reads the VHDL")

    def see(self, line: str) -> None:
        self._rows += line.startswith(ROW)
        now_s, cycles = time.monotonic(), self._rows // self._rows_a_cycle
        if cycles and now_s - self._shown_s > _SHOWN_S:
            self._shown_s = now_s
            a_second = cycles / (now_s - self._began_s)
            left = duration_text((self._cycles - cycles) / a_second)
            self._job.progress(
                None,
                f"GHDL simulates the VHDL: cycle {thousands(cycles)} of {thousands(self._cycles)}, "
                f"{count_text(a_second)} cycles/s, about {left} more",
            )


@dataclass(frozen=True)
class Drawn:
    """What can be drawn for a design: its pins, its inputs among them, clocks, resets (and whether low means reset),
    and how many cycles a round may have."""

    pins: Pins
    inputs: tuple[str, ...]
    clocks: tuple[str, ...]
    resets: Mapping[str, bool]
    most: int

    @classmethod
    def of(cls, said: Simulation, compared: Comparison, limits: Limits, job: Job) -> Drawn:
        """By what a few cycles take. WorkbenchError where GHDL cannot simulate the design."""
        began_s = time.monotonic()
        laid = said.run((), limits, job)
        begins_s = time.monotonic() - began_s
        if laid.why:
            raise WorkbenchError(Diagnostic(f"GHDL cannot simulate it: {laid.why}"))
        clocks = tuple(plain(name) for name in compared.clocks)
        resets = {plain(name): low for name, low in compared.resets}
        drawn = cls(laid.pins, said.bench.inputs, clocks, resets, _FEW)
        (few, *_) = drawn.rounds(limits, 1)
        said.run(few, limits, job, drawn.rows)
        few_s = max(time.monotonic() - began_s - 2 * begins_s, begins_s / 10)
        width = drawn.parts(said.bench.outputs)[-1][2] if said.bench.outputs else 1
        of_memory = _MOST_BYTES // (width + len(ROW) + 2) // drawn.rows
        most = max(1, min(of_memory, max(_FEW, int(_FEW * limits.simulate_s / 2 / few_s))))
        return replace(drawn, most=most)

    def rounds(self, limits: Limits, count: int = _ROUNDS) -> Iterator[list[str]]:
        """Rows for one simulation after another, as long as there is time: some designs end themselves early."""
        began_s = time.monotonic()
        inputs = {name: self.pins[name] for name in self.inputs}
        for seed in range(count):
            if seed and time.monotonic() - began_s > limits.simulate_s / 2:
                return
            yield stimuli(inputs, self.clocks, self.resets, min(limits.cycles, self.most), seed)

    @property
    def rows(self) -> int:
        """How many a cycle has."""
        return rows_a_cycle(self.clocks)

    def parts(self, names: Sequence[str]) -> list[tuple[str, int, int]]:
        """Where each of some pins begins and ends in a row of them."""
        widths = [sum(bits for _, _, bits in self.pins[name]) for name in names]
        ends = list(accumulate(widths))
        return [(name, end - width, end) for name, width, end in zip(names, widths, ends, strict=True)]


def simulate(root: Path, compared: Comparison, folder: Path, limits: Limits, job: Job) -> Simulated:
    """Let both run. WorkbenchError where GHDL cannot."""
    said = Simulation(compared.original, root, folder / "said")
    copy = Simulation(compared.made, root, folder / "made", compared.added)
    job.progress(None, "random inputs")
    drawn = Drawn.of(said, compared, limits, job)
    done, why = 0, ""
    for rows in drawn.rounds(limits):
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(one.run, rows, limits, job, drawn.rows) for one in (said, copy)]
            first, second = (one.result() for one in running)
        if second.why and not second.rows and first.rows:
            raise WorkbenchError(Diagnostic(f"GHDL cannot simulate the generated Verilog: {second.why}"))
        for number, (one, other) in enumerate(zip_longest(first.rows, second.rows, fillvalue="")):
            if one != other:
                cycle = done + number // drawn.rows
                parts = drawn.parts(said.bench.outputs) if one and other else ()
                signals = [f"{name} ({other[a:b]}, was {one[a:b]})" for name, a, b in parts if one[a:b] != other[a:b]]
                ends = f"where it ends ({second.why if one else first.why})"
                return Simulated(cycle + 1, tuple(signals) or (ends,), said.bench.left)
        done += len(first.rows) // drawn.rows
        why = first.why
        if done >= limits.cycles:
            break
    if not done:
        raise WorkbenchError(Diagnostic(f"the simulation ended in its first cycle: {why}"))
    return Simulated(done, (), said.bench.left)


def _element(word: str) -> Element:
    if word == "b":
        return BIT
    low, high, bits = map(int, word.split(":"))
    return low, high, bits


def _why(said: str) -> str:
    """The reason, from GHDL's output, why a simulation ended."""
    if ended := _ENDED.search(said):
        return f"{ended['place']}: {ended['text']}" if ended["place"] else ended["text"]
    return last_words(said).rpartition("ghdl-mcode: ")[2]

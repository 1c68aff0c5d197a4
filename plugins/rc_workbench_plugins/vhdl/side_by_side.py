"""Designs in VHDL, simulated by GHDL itself under inputs that are drawn at random."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.equivalence.simulation import Simulated
from rc_workbench_plugins.vhdl.bench import NAME, PIN, ROW, STIMULI, Bench, bench_of
from rc_workbench_plugins.vhdl.elaborate import DIALECT
from rc_workbench_plugins.vhdl.ghdl import ghdl
from rc_workbench_plugins.vhdl.sides import files_of, texts_of, top_of, units_in
from rc_workbench_plugins.vhdl.syntax import plain
from workbench.api.compile import last_words
from workbench.api.equivalence import Comparison, HdlSide, Limits
from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.confine import read_only

ROWS_A_CYCLE = 3  # other inputs, and the two halves of the first clock
_MOST_BYTES = 12 << 20  # of what is told, where 16 MiB are kept
_FEW, _SEEDS = 200, 4
_PIN = re.compile(rf"^{PIN} (\S+)((?: \S+)*)$", re.MULTILINE)
_ROW = re.compile(rf"^{ROW} (\S*)$", re.MULTILINE)
_ENDED = re.compile(
    r"^\S*?(?:f\d+_\d+|bench)\.vhd:\d+:\d+:(?!warning|note)(?:@\S+:\((?:assertion|report) (?:error|failure)\):)?"
    r"(?:error:)? ?(?!@)(.*)$", re.MULTILINE,
)  # fmt: skip
_FOREIGN = re.compile(rb"\bforeign\b", re.IGNORECASE)
_BIT = (0, 1, 1)
Element = tuple[int, int, int]  # the least and the highest value, and the bits


Pins = Mapping[str, tuple[Element, ...]]


@dataclass(frozen=True)
class Told:
    """What a bench told: the pins, the outputs of each row, and why it ended before the last row, if it did."""

    pins: Pins
    rows: list[str]
    why: str


@dataclass(frozen=True)
class Simulation:
    """A side, in a bench without the ports that are `cut`. `root` is where files are that it reads."""

    side: HdlSide
    root: Path
    folder: Path
    cut: tuple[str, ...] = ()

    @cached_property
    def bench(self) -> Bench:
        """WorkbenchError where no bench can be made."""
        if any(_FOREIGN.search(file.data) for file in files_of(self.side)):
            raise WorkbenchError(
                Diagnostic("it has an attribute 'foreign', by which code of other languages is loaded")
            )
        return bench_of(top_of(self.side), units_in(self.side), self.cut)

    def run(self, rows: Sequence[str], limits: Limits, job: Job) -> Told:
        """Without network and without writing anything, where the system allows it. WorkbenchError where it takes
        twice as long as it may."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        library = top_of(self.side).library
        words: list[str] = []
        for text in sorted(texts_of(self.side), key=lambda one: one.library == library):
            words += [f"--work={text.library}", *text.write(self.folder)]
        stimuli, bench = self.folder / STIMULI, self.folder / "bench.vhd"
        stimuli.write_text("".join(f"{row}\n" for row in rows), encoding="ascii")
        bench.write_text(self.bench.text.replace(STIMULI, str(stimuli)), encoding="latin-1")
        values = [f"-g{plain(name)}={value}" for name, value in self.side.parameters.items()]
        tool = [str(ghdl().path), "-c", *DIALECT, *words, f"--work={library}", str(bench)]
        done = job.run(
            [*read_only(), *tool, "-r", NAME, *values, "--ieee-asserts=disable"], cwd=self.root,
            on_line=lambda line: None, timeout_s=2 * limits.simulate_s + 60, memory_bytes=limits.memory_bytes,
        )  # fmt: skip
        pins = {name: tuple(map(_element, laid.split())) for name, laid in _PIN.findall(done.stdout)}
        found = _ROW.findall(done.stdout)
        why = "" if len(found) == len(rows) and len(pins) else _why(done.stderr + done.stdout)
        return Told(pins, found, why)


def simulate(root: Path, compared: Comparison, folder: Path, limits: Limits, job: Job) -> Simulated:
    """Let both run. WorkbenchError where GHDL cannot."""
    said = Simulation(compared.original, root, folder / "said")
    made = Simulation(compared.made, root, folder / "made", compared.added)
    job.progress(None, "random inputs")
    began_s = time.monotonic()
    laid = said.run((), limits, job)
    begins_s = time.monotonic() - began_s
    if laid.why:
        raise WorkbenchError(Diagnostic(f"GHDL cannot simulate it: {laid.why}"))
    inputs = {name: laid.pins[name] for name in said.bench.inputs}
    clocks = [plain(name) for name in compared.clocks]
    resets = {plain(name): low for name, low in compared.resets}
    done, why = 0, ""
    for seed in range(_SEEDS):
        few = stimuli(inputs, clocks, resets, _FEW, seed)
        began_s = time.monotonic()
        said.run(few, limits, job)
        few_s = max(time.monotonic() - began_s - begins_s, begins_s / 10)
        width = sum(bits for name in said.bench.outputs for _, _, bits in laid.pins[name]) + len(ROW) + 2
        most = (
            limits.cycles - done,
            int(_FEW * limits.simulate_s / 2 / _SEEDS / few_s),
            _MOST_BYTES // width // ROWS_A_CYCLE,
        )
        rows = stimuli(inputs, clocks, resets, max(_FEW, min(most)), seed)
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(one.run, rows, limits, job) for one in (said, made)]
            first, second = (one.result() for one in running)
        if second.why and not second.rows and first.rows:
            raise WorkbenchError(Diagnostic(f"GHDL cannot simulate what was made of it: {second.why}"))
        for number, (one, other) in enumerate(zip_longest(first.rows, second.rows)):
            if one != other:
                cycle = done + number // ROWS_A_CYCLE
                differing = tuple(_differing(laid.pins, said.bench.outputs, one or "", other or ""))
                ends = f"where it ends ({(first if one is None else second).why})"
                return Simulated(cycle + 1, differing or (ends,), said.bench.left)
        done += len(first.rows) // ROWS_A_CYCLE
        why = first.why
        if done >= limits.cycles:
            break
    if not done:
        raise WorkbenchError(Diagnostic(f"the simulation ended at once: {why}"))
    return Simulated(done, (), said.bench.left)


def stimuli(inputs: Pins, clocks: Sequence[str], resets: Mapping[str, bool], cycles: int, seed: int) -> list[str]:
    """Rows of the inputs' characters: other values, then the two halves of the first clock's cycle, in which others
    have an edge by chance. In `resets` is whether low means reset."""
    draw = np.random.default_rng(seed)
    resetting = np.zeros(cycles, bool)
    resetting[:8] = True
    for begin in np.flatnonzero(draw.random(cycles) < 0.001):
        resetting[begin : begin + draw.integers(1, 6)] = True
    edges = {name: draw.random(2 * cycles) < (1 if name == clocks[0] else 0.67) for name in clocks}
    columns: list[NDArray[np.uint8]] = []
    for name, elements in inputs.items():
        if name in edges:
            level = np.concatenate(([0], np.cumsum(edges[name]) % 2)).astype(np.uint8)[: 2 * cycles + 1]
            column = np.stack([level[:-1:2], level[1::2], level[2::2]], axis=1).reshape(-1, 1)
        elif name in resets:
            column = np.repeat(resetting != resets[name], ROWS_A_CYCLE).astype(np.uint8).reshape(-1, 1)
        else:
            column = np.repeat(_drawn(elements, cycles, draw), ROWS_A_CYCLE, axis=0)
        columns.append(column)
    table = np.concatenate([np.empty((cycles * ROWS_A_CYCLE, 0), np.uint8), *columns], axis=1) + ord("0")
    return [row.tobytes().decode() for row in table]


def _drawn(elements: Sequence[Element], cycles: int, draw: np.random.Generator) -> NDArray[np.uint8]:
    """Characters of one input over the cycles: for a while at random, held, none, all, small or seldom: what is random
    all the time seldom gets far into a design."""
    bits = sum(width for _, _, width in elements)
    found = np.zeros((cycles, bits), np.uint8)
    at = 0
    while at < cycles:
        end = min(cycles, at + int(draw.geometric(1 / 64 if at & 4096 else 1 / 8)))
        part = draw.integers(0, 2, (end - at, bits), np.uint8)
        manner = draw.integers(6)
        if manner == 1 and at:
            part[:] = found[at - 1]
        elif manner == 2:
            part[:] = 0
        elif manner == 3:
            part[:] = 1
        elif manner == 4:
            part[:, :-3] = 0
        elif manner == 5:
            part[draw.random(end - at) >= 1 / 16] = 0
        found[at:end] = part
        at = end
    place = 0
    for low, high, width in elements:
        if (low, high, width) != _BIT:
            found[:, place : place + width] = _within(found[:, place : place + width], low, high)
        place += width
    return found


def _within(bits: NDArray[np.uint8], low: int, high: int) -> NDArray[np.uint8]:
    """Numbers as bits, brought into their range."""
    width = bits.shape[1]
    weights = 1 << np.arange(width - 1, -1, -1, dtype=np.int64)
    numbers = low + (bits @ weights) % (high - low + 1)
    return ((numbers[:, None] & weights) != 0).astype(np.uint8)


def _element(word: str) -> Element:
    if word == "b":
        return _BIT
    low, high, bits = map(int, word.split(":"))
    return low, high, bits


def _differing(pins: Pins, outputs: Sequence[str], one: str, other: str) -> Iterator[str]:
    """The outputs of which two rows tell different values."""
    at = 0
    for name in outputs:
        end = at + sum(width for _, _, width in pins[name])
        if one and other and one[at:end] != other[at:end]:
            yield f"{name} ({other[at:end]}, was {one[at:end]})"
        at = end


def _why(said: str) -> str:
    """Why a simulation ended, in what GHDL said."""
    found = next((text for text in _ENDED.findall(said)), "")
    return found or last_words(said).rpartition("ghdl-mcode: ")[2]

"""Whether the Verilog that the card runs does what the VHDL says: the VHDL in GHDL's own simulator, and the Verilog in
Verilator, under the same inputs at random. GHDL 2.0 writes some designs wrongly (github.com/ghdl/ghdl#2013 is one).

A bit is compared where both know it: in VHDL it is neither 'U' nor 'X' nor '-', in Verilog the same whatever registers
without a value begin with (in VHDL zeros: `begun`). This runs the user's code: it is for runs, which are trusted.
"""

import json
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.vhdl import begun, bench, side_by_side
from rc_workbench_plugins.vhdl.bench import STIMULI
from rc_workbench_plugins.vhdl.side_by_side import Drawn, Simulation
from rc_workbench_plugins.vhdl.sides import files_of, top_of, units_in
from rc_workbench_plugins.vhdl.suspects import left_open, written_wrongly
from rc_workbench_plugins.vhdl.syntax import plain, without_comments
from rc_workbench_plugins.vhdl.vendors import stands_for_clocks
from workbench.api import Diagnostic, HdlBuild, Job, Severity, WorkbenchError, counted
from workbench.api.compile import digest, last_words, needed
from workbench.api.equivalence import Comparison, Limits
from workbench.api.instrument.wrapper import STATE_PORT
from workbench.api.job import OutOfTime
from workbench.api.kept import contents, kept_text
from workbench.api.unstable import cache_dir, find_verilator, read_only, thousands
from workbench.hdl.equivalence.models import compiled, verilated, write_ports
from workbench.hdl.ghdl import ghdl
from workbench.hdl.verilog.design import shown_path

LIMITS = Limits(cycles=2000, simulate_s=10.0)
LIMIT_S = 120.0  # for all of a comparison
_PORT = re.compile(r"(input|output|inout) +(?:(?:wire|reg) +)?(?:\[(\d+):0\] )?(\w+)")
_BEGINS = 16  # cycles, the first of them in reset, before which nothing is compared
_READS = re.compile(r"\bfile\b", re.IGNORECASE)
_BITS = {ord(char): {"0": 0, "L": 0, "1": 1, "H": 1}.get(char, 2) for char in map(chr, range(128))}
_WRONG = (
    "The run stops, since it would not show what your VHDL does. `simulation: {simulator: ghdl}` in the project "
    "runs the VHDL itself, slower; a newer GHDL may be right; `simulation: {check_vhdl: false}` runs without this "
    "check."
)
_PLL = "as values that pass between a PLL's clocks may: GHDL simulates their edges after those of the PLL's input"
_OPEN = "The run goes on: an FPGA does what is synthesised. The VHDL leaves the behaviour open: see the next message."
_LATE = (
    "The run goes on with GHDL's synthesis. In the project, `simulation: {check_vhdl: false}` leaves out the "
    "comparison, and `simulation: {simulator: ghdl}` runs the VHDL itself."
)
_MEANT = "Unknown bits and empty vectors exist in simulations only: give the operand a value, or a bit."


@dataclass(frozen=True)
class Difference:
    """`cycles` were compared. In cycle `cycle` the output `pin` is `is_now` in the Verilog in place of `was`; or `why`
    says why nothing, or no more, was compared; it was `late` where that is the time that it took. `said` is what VHDL's
    own packages say of the inputs just then."""

    cycles: int
    pin: str = ""
    cycle: int = 0
    was: str = ""
    is_now: str = ""
    why: str = ""
    late: bool = False
    said: Sequence[str] = ()


def check(build: HdlBuild, root: Path, job: Job) -> None:
    """Compare the simulated Verilog with the VHDL, once for each design, and each entity that Verilog instantiates.
    Raises WorkbenchError if they differ; if they cannot be compared, the job reports it."""
    for compared in build.checks.translated:
        _check(compared, root, job)


def _check(compared: Comparison, root: Path, job: Job) -> None:
    job.progress(None, "comparing GHDL's synthesis with the VHDL")
    difference = _kept(compared, root, job)
    top = compared.original.top
    if difference.pin and any(stands_for_clocks(unit.name, unit.file) for unit in units_in(compared.original)):
        difference = Difference(difference.cycle, why=f"then '{difference.pin}' differed, {_PLL}")
    if difference.pin:
        unit = top_of(compared.original)
        line = next((one.line for one in unit.ports if plain(one.name) == difference.pin), unit.line)
        file = shown_path(root, unit.file.path)
        differs = (
            f"in cycle {thousands(difference.cycle)} of a random comparison, '{difference.pin}' is "
            f"{difference.is_now}, but {difference.was} in the VHDL"
        )
        said = [
            Diagnostic(f"in that cycle, the VHDL's packages report: {one}", _MEANT, Severity.WARNING)
            for one in difference.said
        ]
        reasons = (*left_open(compared.original, root), *(one for one in said if "metavalue" in one.message))
        if reasons:
            message = f"GHDL's synthesis of '{top}' differs from a simulation of the VHDL: {differs}"
            for one in (Diagnostic(message, _OPEN, Severity.WARNING, file, line), *reasons):
                job.report(one)
            return
        message = f"GHDL's synthesis of '{top}' is wrong: {differs}"
        wrong = Diagnostic(message, _WRONG, file=file, line=line)
        raise WorkbenchError(wrong, *said, *written_wrongly(compared.original, root))
    if difference.why and difference.cycles < LIMITS.cycles // 10:
        cycles = counted(difference.cycles, "cycle")
        message = f"GHDL's synthesis of '{top}' was compared with the VHDL in {cycles}: {difference.why}"
        hint = _LATE if difference.late else "After these cycles, the card relies on GHDL's synthesis alone."
        job.report(Diagnostic(message, hint, Severity.WARNING if difference.late else Severity.NOTE))
    else:
        job.log(f"GHDL's synthesis matched the VHDL in {counted(difference.cycles, 'random cycle')}")


def _kept(compared: Comparison, root: Path, job: Job) -> Difference:
    texts = [without_comments(file.data.decode("latin-1")) for file in files_of(compared.original)]
    if any(map(_READS.search, texts)):
        return _compared_anew(compared, root, job)
    makers = [Path(str(one.__file__)) for one in (begun, bench, side_by_side)] + [Path(__file__)]
    asked = [ghdl().version, needed(find_verilator()).version, compared.original.top, repr(compared.original.libraries)]
    asked += [compared.original.vhdl_standard, repr(sorted(compared.original.parameters.items()))]
    asked += [repr(compared.clocks), repr(compared.resets), str(LIMIT_S)]
    tokens = (" ".join(text.split()) for text in texts)
    key = digest([*asked, *tokens, *contents([*compared.made.sources, *makers])])
    place = cache_dir() / "ghdl" / key / "compared.json"
    return Difference(**json.loads(kept_text(place, lambda: json.dumps(vars(_compared_anew(compared, root, job))))))


def _compared_anew(compared: Comparison, root: Path, job: Job) -> Difference:
    with TemporaryDirectory(prefix="recap-check-") as name:
        try:
            return _compared(compared, root, Path(name), job.within(LIMIT_S))
        except OutOfTime as error:
            return Difference(0, why=error.diagnostics[0].message, late=True)
        except WorkbenchError as error:
            return Difference(0, why=error.diagnostics[0].message)


def _compared(compared: Comparison, root: Path, folder: Path, job: Job) -> Difference:
    said = Simulation(compared.original, root, folder / "said", zeros=True)
    models = folder / "models"
    models.mkdir()
    with ThreadPoolExecutor(1) as pool:
        built = pool.submit(_built, compared, models, job)
        try:
            drawn = Drawn.of(said, compared, LIMITS, job)
        except OutOfTime:
            raise
        except WorkbenchError:  # as where names of a type's values are not seen where a signal is declared
            said = replace(said, zeros=False)
            drawn = Drawn.of(said, compared, LIMITS, job)
        if said.bench.left:
            raise WorkbenchError(Diagnostic(f"its port '{said.bench.left[0]}' is bidirectional"))
        if inner := sorted(set(drawn.clocks) - set(drawn.inputs)):
            raise WorkbenchError(Diagnostic(f"its clock '{inner[0]}' is not a port of its own"))
        program, *widths = built.result()
    wanted = [drawn.parts(names)[-1][2] if names else 0 for names in (said.bench.inputs, said.bench.outputs)]
    if wanted != widths:  # as where a range is null, of which GHDL makes a bit
        raise WorkbenchError(
            Diagnostic(f"its ports have {counted(sum(wanted), 'bit')}, but {sum(widths)} are synthesised")
        )
    done, known, why = 0, False, ""
    for rows in drawn.rounds(LIMITS):
        try:
            ran = said.run(rows, LIMITS, job, drawn.rows)
            followed = _followed(program, rows[: len(ran.rows)], models, job)
        except OutOfTime as error:
            if not done:
                raise
            return Difference(done, why=error.diagnostics[0].message, late=True)
        why, both = ran.why, min(len(ran.rows), len(followed))
        if not both:
            continue
        one, other = _table(ran.rows[:both]), _table(followed[:both])
        seen = (one < 2) & (other < 2)
        seen[: _BEGINS * drawn.rows] = False
        for _, start, end in drawn.parts(said.bench.outputs):  # who chooses by open bits has definite ones too
            seen[:, start:end] &= seen[:, start:end].all(axis=1, keepdims=True)
        known |= bool(seen.any())
        wrong = np.argwhere(seen & (one != other))
        if len(wrong):
            row, place = map(int, wrong[0])
            name, start, end = next(part for part in drawn.parts(said.bench.outputs) if part[1] <= place < part[2])
            cycle = done + row // drawn.rows
            again = replace(said, asserts=True).run(rows[: row + 1], LIMITS, job)
            return Difference(
                cycle + 1, name, cycle, ran.rows[row][start:end], followed[row][start:end],
                said=tuple(dict.fromkeys(text for ns, text in again.said if ns > row - 2 * drawn.rows)),
            )  # fmt: skip
        done += both // drawn.rows
        if done >= LIMITS.cycles:
            break
    return Difference(done, why=why if done < LIMITS.cycles else "" if known else "all of its outputs stay unknown")


def _table(rows: Sequence[str]) -> NDArray[np.uint8]:
    """Rows of characters as bits; 2 where one is neither."""
    text = "".join(rows).translate(_BITS).encode("latin-1")
    return np.frombuffer(text, np.uint8).reshape(len(rows), -1)


def _built(compared: Comparison, folder: Path, job: Job) -> tuple[Path, int, int]:
    """A program that follows rows, and how many characters its inputs are, and its outputs."""
    side = compared.made
    members = {port.name: port.member for port in verilated("Vmade", side, folder, job, x_values="unique")}
    inputs: list[str] = []
    outputs: list[str] = []
    at = output_bits = 0
    for way, name, bits in _header(side.sources[0].read_text(encoding="utf-8"), side.top):
        if way == "input":
            inputs.append(f"({members[name]}, {bits}, {at})")
            at += bits
        elif way == "output" and name != STATE_PORT:
            outputs.append(f"({members[name]}, {bits})")
            output_bits += bits
    write_ports(folder, {"INPUT": inputs, "OUTPUT": outputs})
    return compiled("follow.cpp", ("Vmade",), folder, job, level="-O0"), at, output_bits


def _header(verilog: str, top: str) -> Iterator[tuple[str, str, int]]:
    """The ports of GHDL's last module, in the entity's order: the fields of a record each by itself."""
    head = verilog.rpartition(f"module {top}\n")[2].partition(");")[0]
    for way, high, name in _PORT.findall(head):
        yield way, name, int(high or 0) + 1


def _followed(program: Path, rows: Sequence[str], folder: Path, job: Job) -> list[str]:
    stimuli = folder / STIMULI
    stimuli.write_text("".join(f"{row}\n" for row in rows), encoding="ascii")
    done = job.run(
        [*read_only(), program, stimuli], cwd=folder, timeout_s=2 * LIMITS.simulate_s + 60,
        memory_bytes=LIMITS.memory_bytes,
    )  # fmt: skip
    if done.returncode:
        raise WorkbenchError(Diagnostic(f"the simulation ended with {done.returncode}: {last_words(done.stderr)}"))
    return done.stdout.split("\n")[:-1]

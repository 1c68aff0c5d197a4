"""Proves each module of an instrumented design equal to the original; simulates modules without a proof."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.api import HdlBuild
from workbench.api.compile import needed
from workbench.api.equivalence import Comparison, How, Limits, Proof, Verdict
from workbench.api.job import Job
from workbench.hdl.equivalence.simulation import Simulated, simulate
from workbench.hdl.equivalence.yosys import CannotRead, ModuleResult, prove_modules
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.model.text import counted
from workbench.system.toolchain import find_yosys


def prove(build: HdlBuild, root: Path, limits: Limits, job: Job, module: str = "") -> Proof:
    """`proof_of` a design in Verilog."""
    return proof_of(build, root, limits, job, module, lambda compared, folder, job: compared, simulate)


def proof_of(
    build: HdlBuild,
    root: Path,
    limits: Limits,
    job: Job,
    module: str,
    read: Callable[[Comparison, Path, Job], Comparison],
    side_by_side: Callable[[Comparison, Path, Limits, Job], Simulated],
) -> Proof:
    """Whether each module of an instrumented design, or one of them, behaves as before. `root` is where the design's
    data lie. `read` makes what yosys is given of what is compared, in a folder; CannotRead where that cannot be. Raises
    Cancelled; WorkbenchError where yosys is missing, or the module."""
    compared, yosys = build.checks.compared, needed(find_yosys())
    if compared is None:
        raise WorkbenchError(Diagnostic("this design cannot be compared with its instrumented copy"))
    with tempfile.TemporaryDirectory(prefix="recap-prove-") as name:
        folder = Path(name)
        for data in build.files.data:  # which the design names as from the project's folder
            (folder / data).parent.mkdir(parents=True, exist_ok=True)
            (folder / data).symlink_to(root / data)
        with job.step("Prove"):
            try:
                modules = prove_modules(read(compared, folder, job), yosys, folder, limits, job, module)
            except CannotRead as error:
                modules = [ModuleResult(module or compared.original.top, error.why)]
        with job.step("Simulate"):
            if not limits.cycles or all(one.proved for one in modules):
                job.log("Nothing has to be simulated.")
                return Proof(tuple(map(_not_simulated, modules)))
            try:
                simulated = side_by_side(compared, folder, limits, job)
            except WorkbenchError as error:
                return Proof(tuple(map(_not_simulated, modules)), error.diagnostics)
        return Proof(tuple(_verdict(one, simulated) for one in modules), tuple(_not_compared(simulated)))


def _verdict(module: ModuleResult, simulated: Simulated) -> Verdict:
    cycles = simulated.cycles
    if module.proved:
        return Verdict(module.title, How.PROVED)
    if simulated.signals:
        return Verdict(module.title, How.DIFFERS, module.why, cycles, cycles - 1, simulated.signals)
    if module.signals:
        why = f"{counted(cycles, 'cycle')} of random input reached no state that shows it"
        return Verdict(module.title, How.DIFFERS, why, cycles, None, module.signals)
    return Verdict(module.title, How.SIMULATED, module.why, cycles)


def _not_simulated(module: ModuleResult) -> Verdict:
    if module.proved:
        return Verdict(module.title, How.PROVED)
    how = How.DIFFERS if module.signals else How.UNKNOWN
    return Verdict(module.title, how, module.why, signals=module.signals)


def _not_compared(simulated: Simulated) -> Iterator[Diagnostic]:
    if simulated.not_compared:
        message = f"ports for both ways were neither driven nor compared: {', '.join(simulated.not_compared)}"
        yield Diagnostic(message, "", Severity.NOTE)

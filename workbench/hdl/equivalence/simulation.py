"""Simulates two designs under the same random inputs, for modules without a proof."""

from dataclasses import dataclass
from pathlib import Path

from workbench.api.compile import last_words
from workbench.api.equivalence import Comparison, Limits
from workbench.api.job import Job
from workbench.hdl.equivalence.models import compiled, verilated, write_ports
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.confine import read_only


@dataclass(frozen=True)
class Simulated:
    """`cycles` were simulated; in the last of them the `signals` differ, if there are any. `not_compared` are ports
    that were neither driven nor compared."""

    cycles: int
    signals: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()


def simulate(compared: Comparison, folder: Path, limits: Limits, job: Job) -> Simulated:
    """Build both and let them run, without network and without writing anything where the system allows it.
    WorkbenchError where Verilator cannot build them."""
    models = folder / "models"
    models.mkdir()
    ports = verilated("Vgold", compared.original, models, job)
    verilated("Vgate", compared.made, models, job)
    given = {port.member for port in ports}
    clocks = [name for name in compared.clocks if name in given]
    resets = {name: low for name, low in compared.resets if name in given and name not in clocks}
    free = [port for port in ports if port.way == "IN" and port.member not in {*clocks, *resets}]
    listed = {
        "CLOCK": [f"({name})" for name in clocks],
        "RESET": [f"({name}, {str(low).lower()})" for name, low in resets.items()],
        "INPUT": [f"({port.member}, {port.bits})" for port in free],
        "OUTPUT": [f"({port.member}, {port.bits})" for port in ports if port.way == "OUT"],
    }
    write_ports(models, listed)
    program = compiled("side_by_side.cpp", ("Vgold", "Vgate"), models, job, defines=[f"RCW_INPUTS={len(free)}"])
    job.progress(None, "random inputs")
    done = job.run(
        [*read_only(), program, str(limits.cycles), str(limits.simulate_s)], cwd=folder,
        timeout_s=2 * limits.simulate_s + 60, memory_bytes=limits.memory_bytes,
    )  # fmt: skip
    lines = [line.split(" ") for line in done.stdout.splitlines()]
    cycles = next((int(words[1]) for words in lines if words[0] == "cycles"), None)
    if done.returncode or cycles is None:
        said = last_words(done.stderr or done.stdout)
        raise WorkbenchError(Diagnostic(f"the simulation ended with {done.returncode}: {said}"))
    signals = tuple(f"{words[2]} ({words[4]}, was {words[3]})" for words in lines if words[0] == "differs")
    return Simulated(cycles, signals, tuple(port.name for port in ports if port.way == "INOUT"))

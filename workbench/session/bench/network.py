"""Measures a network between ranks in LogGP terms, with the program `resources/bench/network.c`, on a machine by its
mpirun or on the simulated card; and writes it into a template (RATSS 2011, 4.3.2)."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from workbench.api.job import Job
from workbench.formats.units import written
from workbench.formats.yaml_edit import insert_item, set_value
from workbench.model.application import SCHEMA_VERSION
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.platform import Platform
from workbench.session.bench.bench_project import quiet_design, unused_addresses
from workbench.session.open.project_path import PROJECT_SUFFIX
from workbench.session.program.files import write_atomically

SOURCE, PROGRAM = "network.c", "network"
COLLECTIVES = ("barrier", "broadcast", "scatter", "gather", "reduce", "all-gather", "all-to-all")


@dataclass(frozen=True)
class NetworkTimes:
    """LogGP parameters in seconds (`gap_per_byte_s` and `reduction_per_byte_s` for a byte); `collectives` are (name,
    bytes, seconds) of all `ranks`. `lost` are parameters that measurement noise made negative, which are set to 0.
    `messages` are (bytes, measured seconds, modelled seconds) of a message in one direction."""

    ranks: int
    latency_s: float
    overhead_s: float
    gap_s: float
    gap_per_byte_s: float
    reduction_per_byte_s: float
    collectives: tuple[tuple[str, int, float], ...]
    lost: tuple[str, ...] = ()
    messages: tuple[tuple[int, float, float], ...] = ()

    @property
    def fit_error(self) -> float:
        """The largest relative error of the modelled message times."""
        return max((abs(by_parameters / s - 1) for _, s, by_parameters in self.messages if s > 0), default=0.0)


def measured_network(text: str) -> NetworkTimes:
    """The parameters printed by the program. WorkbenchError if a line is missing.

    o is what sending and receiving a short message take, on average; the gap of a size is what each further message of
    a row adds; g is that of a short one, G the slope of the gap between two long ones. L is what is left of a short
    message's way. The reduction is what a reduce takes longer than a broadcast of the same bytes, by byte and round.
    """
    lines = [words for line in text.splitlines() if len(words := line.split()) == 3]
    try:
        seconds_of = {(name, int(size)): float(seconds) for name, size, seconds in lines}
        ranks, row = (next(size for name, size in seconds_of if name == key_name) for key_name in ("ranks", "row"))
        sizes = sorted(size for name, size in seconds_of if name == "ping")
        gaps = {size: (seconds_of["train", size] - seconds_of["one", size]) / (row - 1) for size in sizes}
        short, *_, long, longer = sizes
        overhead_s = (seconds_of["send", short] + seconds_of["receive", short]) / 2
        per_byte_s = (gaps[longer] - gaps[long]) / (longer - long)
        latency_s = seconds_of["ping", short] - 2 * overhead_s - per_byte_s * short
        rounds = (ranks - 1).bit_length()
        adding_s = (seconds_of["reduce", long] - seconds_of["broadcast", long]) / (rounds * long)
    except (KeyError, ValueError, StopIteration, ZeroDivisionError):
        hint = "Its output is above or in the log. It must finish, with at least two ranks."
        raise WorkbenchError(
            Diagnostic("the program that measures the network did not print its times", hint)
        ) from None
    measured_s = {"L": latency_s, "o": overhead_s, "g": gaps[short], "G": per_byte_s, "gamma": adding_s}
    lost = tuple(name for name, value in measured_s.items() if value < 0)
    latency_s, overhead_s, gap_s, per_byte_s, adding_s = (max(value, 0.0) for value in measured_s.values())
    collectives = tuple((name, size, s) for (name, size), s in seconds_of.items() if name in COLLECTIVES)
    messages = tuple((size, seconds_of["ping", size], 2 * overhead_s + latency_s + per_byte_s * size) for size in sizes)
    return NetworkTimes(ranks, latency_s, overhead_s, gap_s, per_byte_s, adding_s, collectives, lost, messages)


def measure_by_mpirun(mpirun: str, mpicc: str, folder: Path, repeats: int, job: Job) -> str:
    """Build the program with the machine's MPI compiler and run it with its command for ranks; returns its output."""
    write_atomically(folder / SOURCE, _source())
    build: list[str | Path] = [
        *shlex.split(mpicc),
        "-O2",
        f"-DREPEATS={repeats}",
        "-o",
        folder / PROGRAM,
        folder / SOURCE,
    ]
    with job.step("Build on the machine"):
        _output_of(job, build, folder, "the MPI compiler", "Name it: --mpicc COMMAND.")
    with job.step("Run on the machine"):
        return _output_of(job, [*shlex.split(mpirun), folder / PROGRAM], folder, "mpirun", "Name it: --mpirun COMMAND.")


def _output_of(job: Job, command: Sequence[str | Path], folder: Path, what: str, hint: str) -> str:
    ran = job.run([str(word) for word in command], cwd=folder, on_output=job.log)
    if ran.returncode:
        error_lines = (ran.stderr or ran.stdout).strip().splitlines()
        last = f" Its last output: {error_lines[-1]}" if error_lines else ""
        raise WorkbenchError(Diagnostic(f"{what} ended with exit code {ran.returncode}", hint + last))
    return ran.stdout


def network_project(template: Path, platform: Platform, network: str, ranks: int, repeats: int) -> Mapping[str, str]:
    """The files of a project that runs the program on the simulated card over one of the template's networks, the
    project file first. WorkbenchError if the template has no port, or not this network."""
    if platform.hardware is None:
        hint = "Name the machine's command that starts ranks: --mpirun 'mpirun -n 4'."
        raise WorkbenchError(Diagnostic("this template has no hardware port to simulate", hint, file=str(template)))
    first, last, _ = unused_addresses(platform.hardware)
    lines = [
        "# Generated: the program that measures a network, over one of the template's.",
        f"schema_version: {SCHEMA_VERSION}",
        "name: network",
        f"platform: {json.dumps(str(template))}",
        "apis: [mpi]",
        "host:",
        f"  sources: [{SOURCE}]",
        f"  defines: {{REPEATS: {repeats}, SLEEPS_LATE: 0}}",
        f"  ranks: {ranks}",
        f"  network: {json.dumps(network, ensure_ascii=False)}",
        "hardware:",
        "  sources: [quiet.v]",
        "  top: quiet",
        f"  read_out: {{first: {first}, last: {last}}}",
        "simulation:",
        "  basic_block_ps: 1",
    ]
    texts = {f"network{PROJECT_SUFFIX}": "\n".join([*lines, ""]), SOURCE: _source()}
    return {**texts, "quiet.v": quiet_design(platform.hardware)}


def with_network(text: str, platform: Platform, name: str, times: NetworkTimes, how: str) -> str:
    """The template's text with the measured network, in place of the one with its name, or after the others."""
    names = [network.name for network in platform.networks]
    at = ("networks", names.index(name)) if name in names else ("networks",)
    values = {
        "latency_s": times.latency_s, "overhead_s": times.overhead_s, "gap_s": times.gap_s,
        "gap_per_byte_s": times.gap_per_byte_s, "reduction_per_byte_s": times.reduction_per_byte_s,
    }  # fmt: skip
    entry = {"name": name, **{key: written(float(f"{s:.6g}"), "s") for key, s in values.items()}, "source": how}
    if name in names:
        for key, value in entry.items():
            text = set_value(text, (*at, key), value)
        return text
    return insert_item(text, at, len(names), entry) if names else set_value(text, at, [entry])


def _source() -> str:
    return files("workbench.resources").joinpath("bench", SOURCE).read_text("utf-8")

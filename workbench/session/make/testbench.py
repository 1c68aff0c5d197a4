"""A testbench that replays the inputs of a design's ports from a run's waveforms, and compares the outputs."""

import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from workbench.api.job import Job
from workbench.api.source.files import expand_sources
from workbench.api.testbench import HasPortTypes
from workbench.formats.run_folder import open_run
from workbench.formats.vcd import VcdSignals, moments, read_scope
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.hardware import Clock
from workbench.model.run import Run
from workbench.model.scan import HdlPort
from workbench.model.text import counted, listed
from workbench.session.change.confirm import open_project_of
from workbench.session.keep.wave_moment import wave_files
from workbench.session.make.bench_text import DRIVEN, STIMULI, Bench, bits
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace
from workbench.session.program.files import claim_folder, seal_folder
from workbench.session.program.plugins import Plugins
from workbench.system.toolchain import Tool, find_ghdl, find_verilator, verilator_environment

RESET_CYCLES = 16  # as many as the card holds its resets (resources/card/design.cpp)
_COMPILED = "-O0 -std=c++20 -fcoroutines"  # as delays in Verilog become
_HALF_PS = 5000  # of a cycle in reset
_DIFFERENCE = re.compile(r"first difference: cycle (\d+): (\w+) is ('h|b)(\w+), the run had (?:'h|b)(\w+)")


@dataclass(frozen=True)
class Written:
    """A written testbench: its folder, its contents, and its design."""

    folder: Path
    bench: Bench
    workspace: Workspace


@dataclass(frozen=True)
class Difference:
    """The first different output: the cycle of the first clock, from 0, the port, the recorded and the actual value,
    both in the named base."""

    cycle: int
    port: str
    actual: str
    expected: str
    base: str


def write_testbench(
    path: Path, out: Path, plugins: Plugins, job: Job, project: Path | None = None, fpga: str = ""
) -> Written:
    """Write the testbench of a run's design, or of another `project` with the same ports, into the folder `out`; with
    several FPGAs, of the named one.

    WorkbenchError if the run's signals were not written from its start on, or the design cannot be replayed.
    """
    run, _ = open_run(path)
    files = _recorded(run)
    workspace = open_workspace(project, plugins) if project is not None else open_project_of(run, plugins)
    number = _fpga_number(fpga, workspace, len(files), run)
    waves, workspace = files[number], workspace.boards[number % len(workspace.boards)]
    job.progress(0.1, "reading the design")
    bench, clocks = _bench(workspace, run, job)
    ports = (*bench.clocks, *bench.inputs, *bench.outputs)
    masks = [replace(port, name=f"{DRIVEN}{port.name}") for port in bench.outputs if port.direction == "inout"]
    signals = read_scope(waves, bench.top, [port.name for port in ports], [mask.name for mask in masks])
    bench = replace(bench, driven=tuple(mask for mask in masks if mask.name.lower() in signals.codes))
    claim_folder(out)
    try:
        job.progress(0.3, "writing the traffic at the ports")
        with (out / STIMULI).open("w", encoding="ascii") as file:
            rows = _rows(bench, clocks, signals)
            file.writelines(_lines(bench, _rising(rows) if len(bench.clocks) == 1 else rows))
        (out / f"{bench.name}{bench.suffix}").write_text(bench.text(), encoding="utf-8")
        script = out / "run.sh"
        script.write_text(_script(workspace, bench), encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot write the testbench: {error.strerror}", file=str(out))) from None
    finally:
        seal_folder(out)
    return Written(out, bench, workspace)


def _recorded(run: Run) -> list[Path]:
    """The waveform file of each FPGA."""
    if waves := wave_files(run.path):
        return waves
    problem = "this run did not record the traffic at the design's ports"
    raise WorkbenchError(Diagnostic(problem, "Run it again with --ports.", file=str(run.path or "")))


def _fpga_number(fpga: str, workspace: Workspace, count: int, run: Run) -> int:
    """The number of the named FPGA among the `count` of a run. WorkbenchError if it does not exist, or if there are
    several and none is named."""
    hardware = workspace.project.hardware
    names = [place.rstrip(":.") for place in hardware.of_ranks(run.manifest.cores.ranks).places][:count]
    if not fpga and count == 1:
        return 0
    if fpga in names:
        return names.index(fpga)
    several = f"{counted(count, 'FPGA')}: a testbench is for one of them"
    problem = f"this run has no FPGA '{fpga}'" if fpga else f"this run has {several}"
    hint = f"Write --fpga NAME. There are {listed(names)}." if count > 1 else "Leave --fpga out."
    raise WorkbenchError(Diagnostic(problem, hint, file=str(run.path or "")))


def _bench(workspace: Workspace, run: Run, job: Job) -> tuple[Bench, tuple[Clock, ...]]:
    """The testbench, and the clocks of its top in their order."""
    hardware, board, language = workspace.project.hardware, workspace.platform.hardware, workspace.hdl_language
    settings = {name: value for name, value in run.manifest.settings.items() if name in workspace.project.settings}
    values = workspace.settings(settings)
    parameters = workspace.parameters(values)
    ports = workspace.hdl_scanner(values, job)(hardware).ports
    pins = {clock.pin.lower(): clock for clock in board.clocks} if board is not None else {}
    input_ports = [port for port in ports if port.direction == "input"]
    clocks = tuple(port for port in input_ports if port.name.lower() in pins)
    inputs = tuple(port for port in input_ports if port not in clocks)
    outputs = tuple(port for port in ports if port.direction != "input")  # nothing else drives an inout on the card
    if not clocks or not outputs:
        raise WorkbenchError(Diagnostic(f"the top '{hardware.top}' has no clock of the platform's, or no output"))
    types = None
    if isinstance(language, HasPortTypes):
        types = language.port_types(workspace.root, hardware, parameters)
    values_of_top = hardware.values(parameters)
    bench = Bench(hardware.top, clocks, inputs, outputs, values_of_top, types, hardware.vhdl_standard)
    return bench, tuple(pins[port.name.lower()] for port in clocks)


@dataclass(frozen=True)
class _Row:
    """The port values for a period that ends when the clocks become `edges`; if `check`, outputs are compared then."""

    length_ps: int
    check: bool
    inputs: int
    outputs: int
    edges: int


def _rows(bench: Bench, clocks: Sequence[Clock], signals: VcdSignals) -> Iterator[_Row]:
    """The rows: the card's reset, then the run's, one for each moment at which a clock changes."""
    all_moments = moments(signals)
    start_ps, values = next(all_moments, (0, {}))
    if start_ps:
        hint = "Run it again with --ports and without --from."
        message = "the run's signals were not written from its start"
        raise WorkbenchError(Diagnostic(message, hint, file=str(signals.path)))
    values = dict.fromkeys(signals.codes, 0) | values
    resets = {
        clock.reset.lower(): int(not clock.reset_hdl.strip().startswith(("!", "~"))) for clock in clocks if clock.reset
    }
    every, none = (1 << len(bench.clocks)) - 1, 0
    if resets:
        in_reset = values | {name: level for name, level in resets.items() if name in values}
        for number in range(RESET_CYCLES):
            yield _row(bench, _HALF_PS, False, in_reset, every)
            if number < RESET_CYCLES - 1:
                yield _row(bench, _HALF_PS, False, in_reset, none)
    level, since_ps = _packed(bench.clocks, values), start_ps - (2 if resets else 0)
    for at_ps, changed in all_moments:
        later = {**values, **changed}
        edges = _packed(bench.clocks, later)
        if edges != level:
            yield _row(bench, at_ps - since_ps, bool(edges & ~level), values, edges)
            level, since_ps = edges, at_ps
        values = later
    yield _row(bench, _HALF_PS, True, values, level or every)  # the values after the last edge


def _row(bench: Bench, length_ps: int, check: bool, values: Mapping[str, int], edges: int) -> _Row:
    return _Row(length_ps, check, _packed(bench.inputs, values), _packed(bench.seen, values), edges)


def _rising(rows: Iterable[_Row]) -> Iterator[_Row]:
    """The rows of a single clock joined to whole cycles, each of which ends with a rising edge."""
    low_ps = 0
    for row in rows:
        if row.edges:
            yield replace(row, length_ps=low_ps + row.length_ps)
        low_ps = 0 if row.edges else row.length_ps


def _lines(bench: Bench, rows: Iterable[_Row]) -> Iterator[str]:
    """The rows as text; equal consecutive rows are one line with their count."""
    digits = [max(-(-bits(ports) // 4), 1) for ports in (bench.inputs, bench.seen, bench.clocks)]
    for row, same in groupby(rows):
        values = (f"{value:0{n}x}" for value, n in zip((row.inputs, row.outputs, row.edges), digits, strict=True))
        yield f"{sum(1 for _ in same)} {row.length_ps} {int(row.check)} {' '.join(values)}\n"


def _packed(ports: Sequence[HdlPort], values: Mapping[str, int]) -> int:
    packed = 0
    for port in ports:
        packed = packed << port.bits | values[port.name.lower()] & (1 << port.bits) - 1
    return packed


def _files(workspace: Workspace) -> list[Path]:
    return [path.resolve() for path in expand_sources(workspace.root, workspace.project.hardware.sources)]


def _verilog_options(workspace: Workspace) -> list[str]:
    hardware = workspace.project.hardware
    folders = [f"-I{(workspace.root / name).resolve()}" for name in hardware.include_dirs]
    return [*folders, *(f"-D{name}={value}" for name, value in hardware.defines.items()), *map(str, _files(workspace))]


def _ghdl_steps(workspace: Workspace, bench: Bench) -> Iterator[list[str]]:
    """The arguments of each `ghdl` command, in order."""
    hardware = workspace.project.hardware
    standard = f"--std={'93c' if hardware.vhdl_standard == '93' else '08'}"
    of_library = {path.resolve(): name for name, patterns in hardware.libraries.items()
                  for path in expand_sources(workspace.root, patterns)}  # fmt: skip
    for path in _files(workspace):
        yield ["-i", standard, "-frelaxed", f"--work={of_library.get(path, 'work')}", str(path)]
    yield ["-i", standard, f"{bench.name}{bench.suffix}"]
    yield ["-m", standard, "-frelaxed", "-P.", bench.name]
    yield ["-r", standard, bench.name, "--ieee-asserts=disable-at-0"]


def _script(workspace: Workspace, bench: Bench) -> str:
    lines = [
        "#!/bin/sh",
        f"# Compiles and runs {bench.name}{bench.suffix}; ends with an error where an output is not as it was.",
        "set -e",
        'cd "$(dirname "$0")"',
    ]
    if bench.types is not None:
        lines += [shlex.join(["ghdl", *words]) for words in _ghdl_steps(workspace, bench)]
        return "\n".join([*lines, ""])
    words = shlex.join([*_verilog_options(workspace), f"{bench.name}{bench.suffix}"])
    lines += [
        "if command -v verilator > /dev/null; then",
        f"    verilator --binary --timing --no-assert -Wno-fatal --top-module {bench.name} -o replay {words}",
        "    obj_dir/replay",
        "else",
        f"    iverilog -g2012 -gno-assertions -s {bench.name} -o replay.vvp {words}",
        "    vvp -n replay.vvp",
        "fi",
    ]
    return "\n".join([*lines, ""])


def run_testbench(written: Written, job: Job) -> Difference | None:
    """Compile and run a testbench with GHDL or Verilator; returns the first difference, None if there is none.

    WorkbenchError if it does not compile, or does not run to its end.
    """
    job.progress(0.6, "compiling and running the testbench")
    try:
        text = _ghdl_output(written, job) if written.bench.types is not None else _said_by_verilator(written, job)
    finally:
        seal_folder(written.folder)
    if match := _DIFFERENCE.search(text):
        binary = match[3] == "b"
        if binary and set(match[4] + match[5]) <= {"0", "1"}:  # hexadecimal if all bits are known
            actual, expected = (f"{int(match[n], 2):x}" for n in (4, 5))
            return Difference(int(match[1]), match[2], actual, expected, "hexadecimal")
        return Difference(int(match[1]), match[2], match[4], match[5], "binary" if binary else "hexadecimal")
    if "all outputs match the run" not in text:
        raise WorkbenchError(Diagnostic(f"the testbench did not run: {_last(text)}", file=str(written.folder)))
    return None


def _first_error(text: str) -> str:
    return next((line for line in text.splitlines() if "rror" in line), _last(text))


def _last(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "it printed nothing")


def _ghdl_output(written: Written, job: Job) -> str:
    tool = _installed(find_ghdl())
    output = ""
    for words in _ghdl_steps(written.workspace, written.bench):
        result = job.run([tool.path, *words], cwd=written.folder, on_line=_quiet)
        output = result.stdout + result.stderr
        if result.returncode and words[0] != "-r":
            raise WorkbenchError(Diagnostic(f"GHDL does not compile the testbench: {_first_error(output)}"))
    return output


def _said_by_verilator(written: Written, job: Job) -> str:
    tool = _installed(find_verilator())
    bench = f"{written.bench.name}{written.bench.suffix}"
    options = [
        "--binary",
        "--timing",
        "--no-assert",
        "-Wno-fatal",
        "-O3",
        "-CFLAGS",
        _COMPILED,
        "--top-module",
        written.bench.name,
    ]
    words = [*options, "-o", "replay", *_verilog_options(written.workspace), bench]
    built = job.run([tool.path, *words], cwd=written.folder, env=verilator_environment(tool), on_line=_quiet)
    if built.returncode:
        raise WorkbenchError(Diagnostic(f"Verilator does not compile the testbench: {_first_error(built.stderr)}"))
    result = job.run([written.folder / "obj_dir" / "replay"], cwd=written.folder, on_line=_quiet)
    return result.stdout + result.stderr


def _quiet(line: str) -> None:
    """Ignore a line of a tool's output, which is read at the end."""


def _installed(tool: Tool | Diagnostic) -> Tool:
    if isinstance(tool, Diagnostic):
        raise WorkbenchError(tool)
    return tool

"""rho of a project's own host code: its loads and operations while it runs on the simulated card, with no mark in it.

clang compiles the host's sources; between its steps the recorder's calls are put in (`host_ir.py`). Elements are words
of four bytes. What the region writes first, and then reads, is a result of its own and no input.
"""

import platform
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from rc_workbench_plugins.density.host_ir import kept_whole, recorded
from rc_workbench_plugins.density.measured import MeasuredDensity, read_distances
from workbench.api import Diagnostic, WorkbenchError, counted, percent_text
from workbench.api.compile import digest, needed
from workbench.api.host_probe import HostRegion, MeasuredHost
from workbench.api.kept import contents
from workbench.api.unstable import ProcessResult, clang_command, find_clang

_KERNELS = Path(__file__).parent / "kernels"
_OLDEST_CLANG = 15  # whose IR knows one kind of pointer alone
_RECORDS = "rho.txt"
#: Options of the project's that matter here, with a value of their own or in the same word.
_WITH_VALUE = {"-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-D", "-U", "-x", "-MF"}
_KEPT = re.compile(r"-(I|isystem|iquote|idirafter|D|U|std=|MD|fdebug-prefix-map=|ffile-prefix-map=|pthread|m\w)")
_READ = (
    *("-gline-tables-only", "-ffp-contract=off", "-fPIC", "-w"),
    *("-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"),
)
_OPTIMISED = ("-O1", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops")
#: How much denser a larger store has to be for a line of its own in the model.
_STEP = 1.02


class HostDensity:
    """What `workbench.api.host_probe.HostProbe` promises. WorkbenchError where there is no clang of use."""

    sources: Sequence[Path] = (_KERNELS / "rho_host.c",)

    def __init__(self, region: HostRegion) -> None:
        clang = needed(find_clang())
        version = re.search(r"clang version (\d+)", clang.version)
        if version and int(version[1]) < _OLDEST_CLANG:
            hint = f"Version {_OLDEST_CLANG} or later measures a host's density; `pip install ziglang` brings one."
            raise WorkbenchError(Diagnostic(f"this clang is too old: {clang.version}", hint))
        # one inside the package ziglang lies apart from its headers
        headers = clang.path.parent / "lib" / "include" if clang.path.name == "zig" else None
        self._clang = [*clang_command(clang), f"--target={platform.machine()}-linux-gnu"]
        self._headers = ["-idirafter", str(headers)] if headers else []
        self._region = region
        own = (Path(__file__), Path(__file__).with_name("host_ir.py"))
        self.made_by = (digest([clang.version, repr(region), *contents(list(own))]),)
        self.measured: tuple[MeasuredDensity, int] | None = None

    def compile(self, command: Sequence[str], run: Callable[[Sequence[str | Path]], ProcessResult]) -> ProcessResult:
        options, source, target = _parts(command[1:])
        first, last = Path(target).with_suffix(".read.ll"), Path(target).with_suffix(".ll")
        result = run([*self._clang, "-O1", *options, *self._headers, *_READ, source, "-o", first])
        if result.returncode:
            return result
        _rewrite(first, kept_whole, self._region)
        optimised = run([*self._clang, *_OPTIMISED, "-S", "-emit-llvm", first, "-o", last])
        if optimised.returncode:
            return optimised
        _rewrite(last, recorded, self._region)
        assembled = run([*self._clang, "-fPIC", "-c", last, "-o", target])
        return assembled if assembled.returncode else result

    def take(self, records: Path) -> None:
        file, text = records / _RECORDS, self._region.text
        head, _, distances = file.read_text(encoding="utf-8").partition("\n") if file.is_file() else ("", "", "")
        numbers = [int(word) for word in head.split()] if head else []
        if len(numbers) != 6:
            hint = "The host must end by `exit` or by returning from main."
            raise WorkbenchError(Diagnostic("the host wrote no record of its reads", hint))
        entered, operations, reads, results_read, _, word_bytes = numbers
        if entered < 0:
            raise WorkbenchError(Diagnostic("not enough memory to measure the density", "Measure a smaller problem."))
        if not entered:
            hint = "Name a function or lines that run: `--region NAME`, `FILE:LINE` or `FILE:FIRST-LAST`."
            raise WorkbenchError(Diagnostic(f"{text} did not run", hint))
        measured = read_distances(distances, operations, reads, word_bytes)
        if measured is None or not measured.first_reads:
            raise WorkbenchError(Diagnostic(f"{text} reads no data", "Choose a larger region."))
        if not operations:
            hint = "Choose a region that computes: operations are arithmetic and comparisons of data."
            raise WorkbenchError(Diagnostic(f"{text} does no operations on data", hint))
        self.measured = measured, results_read

    def model(self, of: MeasuredHost) -> str:
        assert self.measured is not None
        measured, results_read = self.measured
        results = f", and {percent_text(results_read / (results_read + measured.reads))} of all reads read results"
        whole_bytes = measured.first_reads * measured.element_bytes
        head = [
            "schema_version: 1",
            f"name: {of.name}",
            f'title: "{of.title}"',
            *([f"platform: {of.platform}"] if of.platform else []),
            "description: >-",
            f"  {self._region.text}, measured as it ran on the simulated card:",
            f"  {counted(measured.operations, 'operation')}, {counted(measured.reads, 'read')} of input words"
            f"{results if results_read else ''}.",
            "  Operations are arithmetic and comparisons of data; those on addresses and loop counters do not count.",
            f"element_bytes: {measured.element_bytes}",
            f"operations: {measured.operations}",
            f"problem_bytes: {whole_bytes}",
            "",
            "measured:",
        ]
        rows = (f"  - {{store_bytes: {store}, ops_per_byte: {rho:.5g}}}" for store, rho in steps(measured))
        return "\n".join([*head, *rows]) + "\n"


def steps(measured: MeasuredDensity) -> Iterator[tuple[int, float]]:
    """The sizes of store from which on the density is higher by more than 2 % each, and the last one, in bytes."""
    stores = np.concatenate([[1], measured.distances]) * measured.element_bytes
    before, values = 0.0, measured.rho(stores.astype(np.float64))
    for number, (store, value) in enumerate(zip(stores.tolist(), values.tolist(), strict=True)):
        if value > before * _STEP or (number == len(stores) - 1 and value > before):
            before = value
            yield int(store), float(value)


def _parts(words: Sequence[str]) -> tuple[list[str], str, str]:
    """The options that matter here of a compiler's command, its source and its target."""
    options: list[str] = []
    source = target = ""
    rest = iter(words)
    for word in rest:
        if word == "-o":
            target = next(rest)
        elif word == "-c":
            source = next(rest)
        elif word in _WITH_VALUE:
            options += [word, next(rest)]
        elif _KEPT.match(word):
            options.append(word)
    return options, source, target


def _rewrite(file: Path, change: Callable[[str, HostRegion], str], region: HostRegion) -> None:
    file.write_text(change(file.read_text(encoding="utf-8"), region), encoding="utf-8")

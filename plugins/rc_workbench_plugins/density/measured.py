"""Computational density measured from real code: the trace of a C kernel's loads, and what a store of any size misses.

The kernel marks its inputs and its region (`kernels/rho.h`). It is compiled with gcc's `-fsanitize=thread`,
whose calls at every load are answered by a small recorder instead of the race detector; so there is nothing to install.
The recorder keeps the LRU stack distances of the inputs' elements, and rho(alpha) = operations / (misses x element
size) follows for every alpha from the one run.

What that compares with the analytical rho: the formalism fills the store with alpha bytes of operands, does all it can
with them, and fills it again. An LRU store of alpha bytes does just that for a kernel that works in blocks of alpha
bytes. For other orders the curve says how much of the density the order gives away, or gains where results held
outside the store (which the formalism leaves out) let operands be used longer.
"""

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.density.compute import Model, rho
from workbench.api import Diagnostic, Job, Values, WorkbenchError, near
from workbench.api.compile import needed
from workbench.api.predictions import DensityPoint
from workbench.api.source.files import is_file
from workbench.api.unstable import find_compiler

_FOLDER = Path(__file__).parent / "kernels"
#: The files that answer calls put into code, beside the kernels: of a kernel, and of a host.
_RECORDERS = ("rho_trace", "rho_host")
#: A compiler's line: file, line, what.
_PLACE = re.compile(r"(.+?):([0-9]+):(?:[0-9]+:)? (?:fatal )?error: (.*)")


@dataclass(frozen=True, eq=False)
class MeasuredDensity:
    """A kernel's reads by LRU stack distance. `distances` (elements, ascending, without first reads) and `counts` are
    1-D; `first_reads` are the elements read at all."""

    operations: int
    reads: int
    element_bytes: int
    first_reads: int
    distances: NDArray[np.int64]
    counts: NDArray[np.int64]

    def misses(self, alpha_bytes: Values) -> NDArray[np.int64]:
        """How many elements a store of `alpha_bytes` loads: the first reads, and those from farther than it holds."""
        behind = np.concatenate([[0], np.cumsum(self.counts)])
        held = np.searchsorted(self.distances, np.floor(np.asarray(alpha_bytes) / self.element_bytes), side="right")
        return np.asarray(self.first_reads + behind[-1] - behind[held], dtype=np.int64)

    def rho(self, alpha_bytes: Values) -> NDArray[np.float64]:
        """Operations per loaded byte with a store of `alpha_bytes`."""
        loaded_bytes = self.misses(alpha_bytes).astype(np.float64) * self.element_bytes
        return np.asarray(self.operations / loaded_bytes, dtype=np.float64)


def beside(values: Model, measured: MeasuredDensity, alphas_bytes: Sequence[float] = ()) -> tuple[DensityPoint, ...]:
    """The measured curve beside the model's, at `alphas_bytes` or at a spread of sizes up to the whole problem.

    The model is held at the measured Z/M where the store takes every element that was read (Steffen, section 3).
    """
    whole_bytes = measured.first_reads * measured.element_bytes
    least = 2.0 * measured.element_bytes
    alphas = np.asarray(alphas_bytes if len(alphas_bytes) else np.geomspace(least, max(2 * whole_bytes, least), 33))
    model = np.broadcast_to(np.asarray(rho(values, alphas), dtype=np.float64), alphas.shape)
    most = measured.operations / whole_bytes if whole_bytes else np.inf
    held = np.where(alphas >= whole_bytes, most, np.minimum(model, most))
    return tuple(
        DensityPoint(
            float(a), float(measured_rho), float(wanted), float((measured_rho / wanted - 1) * 100) if wanted else np.nan
        )
        for a, measured_rho, wanted in zip(alphas, measured.rho(alphas), held, strict=True)
    )


def bundled_kernel(name: str) -> Path:
    """The file of a kernel that comes with the workbench, "matrix_multiply"."""
    return _FOLDER / f"{name}.c"


def find_kernel(name_or_path: str) -> Path:
    """The file of a kernel: a path, or the name of one that comes with the workbench. WorkbenchError otherwise."""
    if is_file(path := Path(name_or_path)):
        return path
    names = sorted(kernel.stem for kernel in _FOLDER.glob("*.c") if kernel.stem not in _RECORDERS)
    if name_or_path in names:
        return bundled_kernel(name_or_path)
    hint = near(name_or_path, names, "Name a C file or a bundled kernel")
    raise WorkbenchError(Diagnostic(f"there is no kernel '{name_or_path[:80]}'", hint))


def measure(
    kernel: Path, arguments: Sequence[str] = (), flags: Sequence[str] = (), timeout_s: float = 600.0,
    job: Job | None = None,
) -> MeasuredDensity:  # fmt: skip
    """Compile a marked C kernel, run it with `arguments`, and read its stack distances.

    The kernel runs as it is: only measure code that you would run. Raises WorkbenchError where there is no gcc, or the
    kernel does not compile, fails, or marks nothing.
    """
    job = job or Job()
    compiler = needed(find_compiler("c"))
    given, kernel = str(kernel), kernel.absolute()  # it is compiled in a folder of its own
    if not is_file(kernel):
        raise WorkbenchError(Diagnostic("this kernel file does not exist", "Name a C file.", file=given))
    with tempfile.TemporaryDirectory(prefix="rho-") as name:
        folder = Path(name)
        common = [str(compiler.path), "-O1", "-g", "-I", str(_FOLDER)]
        # -fno-builtin: what the C library copies is not seen, so copying stays in the kernel
        traced = ["-fsanitize=thread", "-DRHO_TRACE", "-fno-builtin", *flags, "-c", str(kernel), "-o", "kernel.o"]
        _run(job, [*common, *traced], folder, given, "it does not compile", timeout_s)
        recorder = str(_FOLDER / f"{_RECORDERS[0]}.c")
        _run(job, [*common, "-c", recorder, "-o", "trace.o"], folder, recorder, "it does not compile", timeout_s)
        linked = ["kernel.o", "trace.o", "-lm", "-o", "kernel"]
        _run(job, [*common, *linked], folder, given, "it does not link", timeout_s)
        out = folder / "distances.txt"
        _run(job, [str(folder / "kernel"), *arguments], folder, given, "the kernel failed", timeout_s, RHO_OUT=str(out))
        text = out.read_text(encoding="utf-8", errors="replace") if out.exists() else ""
    begins = _line_of(kernel, "rho_begin")
    if not text:
        hint = "Include rho.h, and call rho_input, rho_begin and rho_end around the loops."
        raise WorkbenchError(Diagnostic("the kernel marks no region", hint, file=given, line=begins or 1))
    measured = _read(text)
    if measured is None:
        hint = "Do not write to the file named in RHO_OUT."
        raise WorkbenchError(Diagnostic("the kernel's record cannot be read", hint, file=given, line=begins))
    if not measured.first_reads:
        hint = "Pass the arrays that the loops read to rho_input before rho_begin."
        message = "the kernel reads none of its inputs between rho_begin and rho_end"
        raise WorkbenchError(Diagnostic(message, hint, file=given, line=begins))
    if not measured.operations:
        hint = "Pass the number of operations of the region to rho_end."
        message = "the kernel counts no operations"
        raise WorkbenchError(Diagnostic(message, hint, file=given, line=_line_of(kernel, "rho_end")))
    return measured


def _line_of(source: Path, word: str) -> int | None:
    """The line that a word stands on first."""
    lines = source.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((number for number, line in enumerate(lines, 1) if word in line), None)


def _run(job: Job, command: Sequence[str], folder: Path, file: str, what: str, timeout_s: float, **more: str) -> None:
    """Run a command with `more` in its environment. If it fails, its messages on `file` become diagnostics."""
    try:
        done = job.run(command, cwd=folder, env=more, timeout_s=timeout_s)
    except WorkbenchError as error:
        hint = "Measure a smaller problem."
        raise WorkbenchError(
            *(Diagnostic(f"{what}: {d.message}", hint, file=file) for d in error.diagnostics)
        ) from None
    if done.returncode:
        said = done.stderr.splitlines() or [f"exit {done.returncode}"]
        place = next(
            (match for line in said if (match := _PLACE.match(line)) and Path(match[1]).name == Path(file).name), None
        )
        line = int(place[2]) if place else None
        first = place[3] if place else "\n".join(said[:5])
        raise WorkbenchError(Diagnostic(f"{what}: {first}", "Fix it, and measure again.", file=file, line=line))


def _read(text: str) -> MeasuredDensity | None:
    """The recorder's file; None where it is not what the recorder writes."""
    head, _, distances = text.partition("\n")
    try:
        operations, reads, _, element_bytes = (int(part) for part in head.split())
    except ValueError:
        return None
    return read_distances(distances, operations, reads, element_bytes)


def read_distances(text: str, operations: int, reads: int, element_bytes: int) -> MeasuredDensity | None:
    """A recorder's lines "distance count"; None where they are not what a recorder writes."""
    try:
        pairs = np.array([[int(part) for part in line.split()] for line in text.splitlines()], dtype=np.int64)
        pairs = pairs.reshape(-1, 2)
    except (ValueError, OverflowError):
        return None
    first = pairs[:, 0] == 0
    rest = pairs[~first]
    return MeasuredDensity(operations, reads, element_bytes, int(pairs[first, 1].sum()), rest[:, 0], rest[:, 1])

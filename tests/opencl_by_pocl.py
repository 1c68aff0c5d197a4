"""The same launch by pocl, another implementation of OpenCL, whose results and counts tests compare with."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BUILT = tempfile.TemporaryDirectory(prefix="pocl-")  # which both would keep in the person's own cache
os.environ |= {"PYOPENCL_NO_CACHE": "1", "POCL_CACHE_DIR": _BUILT.name}


_PROBE = """
import pyopencl as cl
platform = next(platform for platform in cl.get_platforms() if "Portable" in platform.name)
program = "kernel void probe(global long *a) { a[get_global_id(0)] += 1; }"
cl.Program(cl.Context(platform.get_devices()[:1]), program).build()
"""


def _knows_this_processor() -> bool:
    """Whether pocl, as it comes, compiles for this machine's processor."""
    return subprocess.run([sys.executable, "-c", _PROBE], capture_output=True).returncode == 0


def _for_any_processor(folder: Path) -> None:
    """Have pocl compile for a processor that it does not know.

    The LLVM in its wheel calls a processor that is newer than itself "generic", a name that the clang in the same wheel
    refuses. In a copy of the library one of the names that clang knows, "nehalem", is replaced by it, and the built-ins
    of every processor are those of SSE 4.1.
    """
    package, data = (Path(str(find_spec(name).origin)).parent for name in ("pyopencl", "pocl_binary_distribution"))
    (library,) = (package / ".libs").glob("libpocl-*.so")
    code = library.read_bytes()
    assert code.count(b"\0nehalem\0") == 1, "another version of pocl: is its clang still older than this processor?"
    copy = folder / "pyopencl" / ".libs" / library.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(code.replace(b"\0nehalem\0", b"\0generic\0"))
    copy.chmod(0o755)
    copied = folder / "pocl_binary_distribution" / ".libs"
    shared = copied / "share" / "pocl"
    shared.mkdir(parents=True)
    for path in (data / ".libs").glob("*.so*"):
        (copied / path.name).symlink_to(path)
    for path in (data / ".libs" / "share" / "pocl").iterdir():
        known = re.sub(r"-(avx\w*|ssse3|sse2)\.bc$", "-sse41.bc", str(path))
        (shared / path.name).symlink_to(known)
    (folder / "pocl.icd").write_text(str(copy))
    os.environ["OCL_ICD_VENDORS"] = str(folder / "pocl.icd")


if not _knows_this_processor():
    _for_any_processor(Path(_BUILT.name) / "pocl")
import pyopencl as cl  # noqa: E402


@cache
def _queue() -> Any:
    platform = next(platform for platform in cl.get_platforms() if "Portable" in platform.name)
    return cl.CommandQueue(cl.Context(platform.get_devices()[:1]))


@cache
def _program(source: str, defines: tuple[tuple[str, str], ...]) -> Any:
    options = ["-cl-std=CL1.2", *(f"-D{name}={value}" for name, value in defines)]
    text = "#pragma OPENCL FP_CONTRACT OFF\n#line 1\n" + source
    return cl.Program(_queue().context, text).build(options)


def by_pocl(
    source: str, kernel: str, global_size: tuple[int, ...], local_size: tuple[int, ...],
    arguments: Mapping[str, object], defines: Mapping[str, str] | None = None,
) -> dict[str, NDArray[Any]]:  # fmt: skip
    """What the buffers hold after a launch; `arguments` are in the kernel's order: arrays, NumPy numbers, and
    `cl.LocalMemory`."""
    queue = _queue()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    given = {
        name: cl.Buffer(queue.context, flags, hostbuf=value) if isinstance(value, np.ndarray) and value.ndim else value
        for name, value in arguments.items()
    }
    program = _program(source, tuple(sorted((defines or {}).items())))
    getattr(program, kernel)(queue, global_size, local_size, *given.values())
    after = {name: np.empty_like(arguments[name]) for name in given if isinstance(given[name], cl.Buffer)}
    for name, array in after.items():
        cl.enqueue_copy(queue, array, given[name])
    queue.finish()
    return after

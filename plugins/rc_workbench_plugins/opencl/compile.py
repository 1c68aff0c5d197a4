"""OpenCL C to kernels: clang makes bitcode, llvmlite inlines and simplifies it, read_ir.py reads what is left."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rc_workbench_plugins.opencl.kernel import Kernel
from rc_workbench_plugins.opencl.read_ir import is_kernel, kernels
from workbench.api import Diagnostic, Job, Severity, WorkbenchError, near
from workbench.api.compile import gcc_diagnostics, last_words, needed
from workbench.api.source.files import is_file
from workbench.api.unstable import clang_command, find_clang

if TYPE_CHECKING:
    from llvmlite.binding import ModuleRef

_TYPES = Path(__file__).with_name("base.h")
#: debug information of lines alone: of more, older clangs write what newer LLVMs no longer take
OPTIONS = (
    *("-x", "cl", "-cl-no-stdinc", "-target", "spir64-unknown-unknown", "-include", str(_TYPES)),
    *("-Xclang", "-fdeclare-opencl-builtins", "-D__opencl_c_named_address_space_builtins=1"),
    *("-O1", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names", "-cl-kernel-arg-info"),
    *("-gline-tables-only", "-ffp-contract=off", "-fno-caret-diagnostics", "-fno-color-diagnostics"),
    "-fno-crash-diagnostics",
    *("-Wno-unknown-attributes", "-Wno-unknown-pragmas", "-Wno-ignored-attributes", "-c", "-emit-llvm"),
)
_TIMEOUT_S, _MEMORY_BYTES = 60.0, 4 << 30  # a few macros can ask for any amount of both
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(((?:[^()]|\([^()]*\))*)\)\)")
_ASKED = re.compile(r"([A-Za-z_]\w*)\s*(?:\(([^()]*)\))?")
_ENDED = re.compile(r"LLVM ERROR: (.*)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Compiled:
    """A file's kernels, in its order, what the compiler warned of, the files included, and why others cannot be read,
    by their names."""

    kernels: tuple[Kernel, ...]
    warnings: tuple[Diagnostic, ...] = ()
    headers: tuple[Path, ...] = ()
    unread: Mapping[str, WorkbenchError] = field(default_factory=dict)

    def kernel(self, name: str = "") -> Kernel:
        """The kernel of a name, or the only one. WorkbenchError where there is none such."""
        by_name = {kernel.name: kernel for kernel in self.kernels}
        names = [*by_name, *self.unread]
        name = names[0] if not name and len(names) == 1 else name
        if name in self.unread:
            raise self.unread[name]
        if name in by_name:
            return by_name[name]
        message = f"there is no kernel '{name}'" if name else f"the file has {len(names)} kernels"
        raise WorkbenchError(Diagnostic(message, near(name, names, "Name one of them"), file=self.kernels[0].file))


def compile_file(
    source: Path, defines: Mapping[str, str] | None = None, standard: str = "CL1.2", job: Job | None = None,
    include: Sequence[Path] = (),
) -> Compiled:  # fmt: skip
    """The kernels of a .cl file, compiled with `defines` in place, as macros, and headers from `include` too.

    WorkbenchError with the compiler's own errors at their lines, or with what this machine lacks.
    """
    if not is_file(source):
        raise WorkbenchError(Diagnostic("there is no such kernel file", "Name a .cl file.", file=str(source)))
    command = clang_command(needed(find_clang()))
    if importlib.util.find_spec("llvmlite") is None:
        hint = "Install it with `pip install 'rc-workbench[opencl]'`."
        raise WorkbenchError(Diagnostic("llvmlite is not installed: it reads the LLVM IR that clang writes", hint))
    given = [f"-D{name}={value}" for name, value in (defines or {}).items()]
    given += [f"-I{folder.absolute()}" for folder in include]
    with tempfile.TemporaryDirectory(prefix="opencl-") as folder:
        out = Path(folder) / "kernel.bc"
        needs = ["-MD", "-MF", str(out.with_suffix(".d"))]
        said, bitcode = _compile(
            [*command, *OPTIONS, f"-cl-std={standard}", *given, *needs], source.absolute(), out, job
        )
        headers = _headers(out.with_suffix(".d"), source.absolute())
    texts = source.read_text(encoding="utf-8", errors="replace")
    compiled = _read(bitcode, source.absolute(), texts)
    read = tuple(kernel for kernel in compiled.values() if isinstance(kernel, Kernel))
    unread = {name: error for name, error in compiled.items() if isinstance(error, WorkbenchError)}
    if unread and not read:
        raise WorkbenchError(*(d for error in unread.values() for d in error.diagnostics))
    if not read:
        hint = "A kernel is a function that begins with `__kernel void`."
        raise WorkbenchError(Diagnostic("the file has no kernel", hint, file=str(source), line=1))
    return Compiled(read, tuple(d for d in said if d.severity is Severity.WARNING), headers, unread)


def _headers(rule: Path, source: Path) -> tuple[Path, ...]:
    """The files besides the source that a rule for make, as compilers write one, names as needed."""
    needed = rule.read_text(encoding="utf-8", errors="replace").partition(":")[2].replace("\\\n", " ")
    names = (name.replace("\\ ", " ") for name in re.split(r"(?<!\\)\s+", needed) if name)
    return tuple(path for name in names if (path := source.parent / name) not in (source, _TYPES))


def _compile(command: Sequence[str], source: Path, out: Path, job: Job | None) -> tuple[list[Diagnostic], bytes]:
    """What clang says of a file, and the bitcode that it makes."""
    done = (job or Job()).run(
        [*command, str(source), "-o", str(out)],
        cwd=source.parent, timeout_s=_TIMEOUT_S, memory_bytes=_MEMORY_BYTES, on_line=lambda line: None,
    )  # fmt: skip
    said = gcc_diagnostics(done.stderr)
    if done.returncode:
        errors = [d for d in said if d.severity is Severity.ERROR]
        ended = _ENDED.search(done.stderr)
        words = ended[1] if ended else last_words(done.stderr)
        hint = f"It may map {_MEMORY_BYTES >> 30} GiB: does a macro repeat itself?" if "memory" in words else ""
        failed = Diagnostic(f"the kernel does not compile: {words}", hint, file=str(source))
        raise WorkbenchError(*(errors or [failed]))
    return said, out.read_bytes()


def _read(bitcode: bytes, source: Path, text: str) -> dict[str, Kernel | WorkbenchError]:
    from llvmlite import binding  # only where a kernel is read

    try:
        module = binding.parse_bitcode(bitcode)
    except RuntimeError as error:
        hint = "Install the clang that fits it with `pip install ziglang`, and take the newer one off the PATH."
        message = f"llvmlite cannot read what clang wrote: {str(error).strip()}"
        raise WorkbenchError(Diagnostic(message, hint, file=str(source))) from None
    _simplify(module)
    return dict(kernels(module, source, lambda name: _attributes(name, text)))


def _simplify(module: ModuleRef) -> None:
    """Every function into its kernels, variables into values, and loops with their test at the end: one block per loop
    where the source has one (Wang 2016, Fig. 5)."""
    from llvmlite import binding

    binding.initialize_native_target()
    for function in module.functions:
        if not function.is_declaration and not is_kernel(function):
            function.add_function_attribute("alwaysinline")
    machine = binding.Target.from_default_triple().create_target_machine()
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=0))
    passes = binding.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_loop_rotate_pass()
    passes.add_loop_simplify_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_instruction_namer_pass()
    passes.run(module, builder)


def kernel_head(kernel: str, text: str) -> re.Match[str] | None:
    """The head of a kernel in a text without comments, up to its first parenthesis: attributes may be `before` the word
    kernel, or `asked` after it."""
    before = rf"(?P<before>(?:{_ATTRIBUTE.pattern}\s*)*)"
    return re.search(rf"{before}\b(?:__)?kernel\b(?P<asked>[^;{{}}]*?)\b{re.escape(kernel)}\s*\(", text)


def _attributes(kernel: str, text: str) -> dict[str, tuple[int, ...]]:
    """What a kernel's `__attribute__`s ask, also those that clang does not know: before `kernel` and after it."""
    text = _COMMENT.sub(" ", text)
    match = kernel_head(kernel, text)
    asked: dict[str, tuple[int, ...]] = {}
    for attribute in _ATTRIBUTE.finditer(match[0] if match else ""):
        for name, numbers in _ASKED.findall(attribute[1]):
            asked[name] = tuple(int(n) for n in numbers.split(",") if n.strip().isdigit())
    return asked

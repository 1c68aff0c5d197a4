"""How much OpenCL of other people's can be read and run: every kernel of a folder of .cl.

    python tests/benchmarks/opencl_corpus.py DIR [-D NAME=VALUE ...] [-I FOLDER ...] [--group KERNEL=16x16 ...]
        [--json] [--quick]

Each file is compiled and each kernel's hierarchy built. Then the kernel is launched on made-up data (numbers are 16 or
1.5, buffers hold small random numbers; groups of 64, 16 x 16 or 4 x 4 x 4, as the kernel asks or as --group says what
it is written for) by the interpreter,
and, with a counter at the beginning of each loop's body, by pocl in a process of its own.

- `files`, `compiled`; `kernels`, `hierarchies`: those that could be read and taken apart;
- `ran`: kernels that the interpreter ran to their end on such data; `stopped`: those that it told an error of, and
  where (an index outside of a made-up buffer, as a rule);
- `compared`: of those that ran, those that pocl built and ran too; `trips_equal`: those with the same number of rounds
  of every loop by the line that it begins on; `outputs_equal`: whose buffers are equal too, floats to a last place;
- `outputs_race`: kernels that differ then, but not when a single group is launched: on such data the groups overwrite
  each other's results; `outputs_differ`: those that differ still;
- `differ`: where a loop's rounds differ, the line and both numbers; `crashes`: tracebacks, of which there must be none;
- `failed`: files that could not be read, each with its line.

A loop that simplifying dissolved (it always goes round once, or does nothing) is not compared, nor one that comes out
of a macro: `dissolved`, `in_macros` count them. --quick takes ten files.
"""

import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from command_line import command, show
from numpy.typing import NDArray
from rc_workbench_plugins.opencl import compile as compiling
from rc_workbench_plugins.opencl.hierarchy import hierarchy
from rc_workbench_plugins.opencl.interpret import Ran, run
from rc_workbench_plugins.opencl.kernel import Argument, Kernel, Kind, Loop, Space, walk
from rc_workbench_plugins.opencl.launch import dtype_of
from rc_workbench_plugins.opencl.ndrange import NDRange

from workbench.api.job import Job
from workbench.model.diagnostic import Cancelled, WorkbenchError

ELEMENTS = 1 << 16
LOCAL_BYTES = 16 << 10
SECONDS = 60.0
SIZES = {1: ((256,), (64,)), 2: ((32, 32), (16, 16)), 3: ((8, 8, 8), (4, 4, 4))}
COUNTS = "rcw_counts"
#: what is no code here: comments, what is another language's, directives, texts
SILENT = re.compile(
    r'^[ \t]*#ifdef __cplusplus.*?^[ \t]*#endif|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*|"(?:[^"\\\n]|\\.)*"',
    re.DOTALL | re.MULTILINE,
)


@dataclass
class Result:
    files: int = 0
    compiled: int = 0
    kernels: int = 0
    hierarchies: int = 0
    ran: int = 0
    compared: int = 0
    trips_equal: int = 0
    outputs_equal: int = 0
    loops: int = 0
    dissolved: int = 0
    in_macros: int = 0
    stopped: list[dict[str, str]] = field(default_factory=list)
    differ: list[dict[str, object]] = field(default_factory=list)
    outputs_race: list[dict[str, str]] = field(default_factory=list)
    outputs_differ: list[dict[str, str]] = field(default_factory=list)
    not_compared: list[dict[str, str]] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)
    crashes: list[dict[str, str]] = field(default_factory=list)


class Patient(Job):
    """A job that is given up after a while."""

    def __init__(self) -> None:
        super().__init__()
        self._until = time.monotonic() + SECONDS

    def check(self) -> None:
        if time.monotonic() > self._until:
            raise Cancelled


def made_up(kernel: Kernel, text: str, groups: Mapping[str, str]) -> tuple[NDRange, dict[str, Any]]:
    """A launch of a kernel that nobody described."""
    body = text[text.find(kernel.name) :]
    dimensions = 1 + max([int(n) for n in re.findall(r"get_(?:global|local|group)_id\s*\(\s*([12])\s*\)", body)] or [0])
    size, local = SIZES[dimensions]
    asked = tuple(int(n) for n in groups[kernel.name].split("x")) if kernel.name in groups else ()
    if asked := asked or kernel.attributes.get("reqd_work_group_size", ())[:dimensions]:
        local = asked
        size = tuple(4 * n for n in local)
    random = np.random.default_rng(1)
    return NDRange(size, local), {a.name: made_up_argument(a, random) for a in kernel.arguments}


def made_up_argument(argument: Argument, random: np.random.Generator) -> Any:
    if argument.type.space is Space.LOCAL:
        return LOCAL_BYTES
    if argument.by_value:
        numbers = ((at, np.dtype(f"{'f' if kind.kind is Kind.FLOAT else 'i'}{kind.bytes}"))
                   for at, kind in argument.fields)  # fmt: skip
        held = bytearray(argument.element_bytes)
        for at, element in numbers:
            held[at : at + element.itemsize] = element.type(1.5 if element.kind == "f" else 16).tobytes()
        return np.frombuffer(bytes(held), f"V{len(held)}")[0]
    try:
        element, lanes = dtype_of(argument)
    except WorkbenchError:  # a structure
        return random.integers(0, 4, ELEMENTS * max(argument.element_bytes, 1) // 4, np.int32)
    if argument.type.kind is not Kind.POINTER:
        value = element.type(1.5 if element.kind == "f" else 16)
        return value if lanes == 1 else np.full(lanes, value)
    if element.kind == "f":
        return random.uniform(0.5, 2, ELEMENTS * lanes).astype(element)
    return random.integers(0, 16, ELEMENTS * lanes).astype(element)


def instrumented(source: str) -> tuple[str, list[int], int]:
    """The source with a counter at the beginning of each loop's body, the line that each of those loops begins on, and
    how many loops stand in macros."""
    code = SILENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    inserts: list[tuple[int, str]] = []
    lines: list[int] = []
    tails: set[int] = set()  # the while of a do
    for found in re.finditer(r"\b(for|while|do)\b", code):
        if found.start() in tails:
            continue
        first = found.end() if found[1] == "do" else closed(code, code.index("(", found.end()))
        first += len(code[first:]) - len(code[first:].lstrip())
        last = ends(code, first)
        if found[1] == "do":
            tails.add(code.index("while", last))
        count = f"atomic_inc({COUNTS} + {len(lines)});"
        lines.append(code.count("\n", 0, found.start()) + 1)
        if code[first] == "{":
            inserts.append((first + 1, count))
        else:
            inserts += [(first, "{ " + count + " "), (last, " }")]
    for at, is_call in functions(code):
        argument = COUNTS if is_call else f"volatile __global uint *{COUNTS}"
        end = closed(code, at) - 1
        inserts.append((end, f", {argument}" if code[at + 1 : end].strip() not in ("", "void") else argument))
    made = source
    for place, what in sorted(inserts, key=lambda pair: pair[0], reverse=True):
        made = made[:place] + what + made[place:]
    directives = "\n".join(found[0] for found in SILENT.finditer(source) if found[0].startswith("#"))
    return made, lines, len(re.findall(r"\b(?:for|while)\s*\(", directives))


def functions(code: str) -> Iterator[tuple[int, bool]]:
    """The source's own functions: the place of the opening bracket, and whether that is a call."""
    depth, own = 0, set()
    for found in re.finditer(r"[{}]|\b([A-Za-z_]\w*)\s*\(", code):
        if found[1] is None:
            depth += 1 if found[0] == "{" else -1
        elif depth == 0 and found[1] != "__attribute__":
            behind = code[closed(code, found.end() - 1) :].lstrip()
            if behind[:1] in ("{", ";"):
                own.add(found[1])
                yield found.end() - 1, False
        elif depth and found[1] in own:
            yield found.end() - 1, True


def closed(code: str, at: int) -> int:
    """The place behind the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] in "({[") - (code[place] in ")}]")
        if not depth:
            return place + 1
    raise ValueError("a bracket is not closed")


def ends(code: str, at: int) -> int:
    """The place behind the statement that begins at a place."""
    at += len(code[at:]) - len(code[at:].lstrip())
    if code[at] == "{":
        return closed(code, at)
    word = re.match(r"\b(for|while|switch|if|do)\b", code[at:])
    if word is None:
        place = at
        while code[place] != ";":
            place = closed(code, place) if code[place] in "({[" else place + 1
        return place + 1
    if word[1] == "do":
        return code.index(";", ends(code, at + 2)) + 1
    end = ends(code, closed(code, code.index("(", at)))
    if word[1] == "if" and (other := re.match(r"\s*else\b", code[end:])):
        return ends(code, end + other.end())
    return end


def by_pocl(
    text: str, folder: str, kernel: str, size: NDRange, arguments: list[Any], counters: int, options: list[str]
) -> tuple[list[NDArray[Any] | None], NDArray[np.uint32]]:
    """The buffers after pocl's run, and the counters."""
    import pyopencl as cl

    try:
        return _by_pocl(cl, text, folder, kernel, size, arguments, counters, options)
    except cl.Error as error:  # which cannot be sent to another process
        raise RuntimeError(str(error).replace("\n", " ")) from None


def _by_pocl(
    cl: Any, text: str, folder: str, kernel: str, size: NDRange, arguments: list[Any], counters: int, options: list[str]
) -> tuple[list[NDArray[Any] | None], NDArray[np.uint32]]:
    platform = next(p for p in cl.get_platforms() if "Portable" in p.name)
    queue = cl.CommandQueue(cl.Context(platform.get_devices()[:1]))
    text = "#pragma OPENCL FP_CONTRACT OFF\n" + text
    program = cl.Program(queue.context, text).build(["-cl-std=CL1.2", f"-I{folder}", *options])
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    counts = np.zeros(max(counters, 1), np.uint32)
    given: list[Any] = []
    for value in [*arguments, counts]:
        if isinstance(value, tuple):  # local memory
            given.append(cl.LocalMemory(value[0]))
        elif (isinstance(value, np.ndarray) and len(value) > 16) or value is counts:
            given.append(cl.Buffer(queue.context, flags, hostbuf=value))
        else:
            given.append(value)
    getattr(program, kernel)(queue, size.global_size, size.local_size, *given)
    after: list[NDArray[Any] | None] = []
    for value, buffer in zip([*arguments, counts], given, strict=True):
        if isinstance(buffer, cl.Buffer):
            array = np.empty_like(value)
            cl.enqueue_copy(queue, array, buffer)
            after.append(array)
        else:
            after.append(None)
    queue.finish()
    *buffers, counted = after
    assert counted is not None
    return buffers, counted


def alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Integers the same, floats to a last place."""
    if a.dtype.kind != "f":
        return bool((a == b).all())
    spacing = np.maximum(np.spacing(np.abs(a)), np.spacing(np.abs(b)))
    return bool(((np.abs(a - b) <= spacing) | (a == b) | (np.isnan(a) & np.isnan(b))).all())


def compare(kernel: Kernel, ran: Ran, counted: Sequence[int], lines: Sequence[int], result: Result, where: str) -> bool:
    """Whether every loop went round as often."""
    ours: Counter[int] = Counter()
    known = set()
    for node in walk(hierarchy(kernel)):
        if isinstance(node, Loop):
            known.add(node.lines[0])
            ours[node.lines[0]] += ran.profile.loops[node.id].iterations
    theirs: Counter[int] = Counter()
    for line, count in zip(lines, counted, strict=False):
        theirs[line] += int(count)
    equal = True
    for line, count in theirs.items():
        if line not in known:
            result.dissolved += count > 0
            continue
        result.loops += 1
        if ours[line] != count:
            equal = False
            result.differ.append({"kernel": where, "line": line, "ours": ours[line], "pocl": count})
    return equal


class Apart:
    """Calls in another process, in a fresh one after each that died."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self._pool = self._pool or ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        try:
            return self._pool.submit(function, *arguments).result(timeout=300)
        except BrokenProcessPool:
            self._pool = None
            raise


@dataclass(frozen=True)
class Given:
    """Macros that files lack, folders with headers, and groups that kernels are written for, by their names."""

    defines: Mapping[str, str]
    include: Sequence[Path]
    groups: Mapping[str, str]


def check(file: Path, folder: Path, given: Given, apart: Apart, result: Result) -> None:
    """One file's kernels."""
    name = str(file.relative_to(folder))
    try:
        try:
            compiled, given = compiling.compile_file(file), Given({}, (), given.groups)
        except WorkbenchError:
            compiled = compiling.compile_file(file, given.defines, include=given.include)
    except WorkbenchError as error:
        result.failed.append({"file": name, "why": error.diagnostics[0].text()[-300:]})
        return
    result.compiled += 1
    for unread, why in compiled.unread.items():
        result.kernels += 1
        result.failed.append({"file": f"{name}: {unread}", "why": why.diagnostics[0].text()[-300:]})
    source = Path(compiled.kernels[0].file)
    text = source.read_text(errors="replace")
    marked, lines, in_macros = instrumented(text)
    result.in_macros += in_macros
    for kernel in compiled.kernels:
        where = f"{name}: {kernel.name}"
        result.kernels += 1
        try:
            hierarchy(kernel)
            result.hierarchies += 1
            unlike = beside_pocl(kernel, text, marked, lines, given, apart, result, where)
            if unlike:
                again = beside_pocl(kernel, text, marked, lines, given, apart, Result(), where, one_group=True)
                where_to = result.outputs_differ if again else result.outputs_race
                where_to.append({"kernel": where, "buffers": ", ".join(unlike)})
        except WorkbenchError as error:
            result.stopped.append({"kernel": where, "why": error.diagnostics[0].text()[-300:]})
        except Cancelled:
            result.stopped.append({"kernel": where, "why": f"given up after {SECONDS:g} s"})


def beside_pocl(
    kernel: Kernel, text: str, marked: str, lines: Sequence[int], asked: Given, apart: Apart, result: Result,
    where: str, one_group: bool = False,
) -> list[str]:  # fmt: skip
    """The buffers that the interpreter's run leaves unlike pocl's."""
    size, arguments = made_up(kernel, text, asked.groups)
    size = NDRange(size.local_size, size.local_size) if one_group else size
    ran = run(kernel, size, arguments, job=Patient())
    result.ran += 1
    local = {a.name for a in kernel.arguments if a.type.space is Space.LOCAL}
    given = [(value,) if name in local else value for name, value in arguments.items()]
    options = [f"-D{name}={value}" for name, value in asked.defines.items()]
    options += [f"-I{folder.absolute()}" for folder in asked.include]
    folder = str(Path(kernel.file).parent)
    try:
        buffers, counted = apart.run(by_pocl, marked, folder, kernel.name, size, given, len(lines), options)
    except BrokenProcessPool:
        result.not_compared.append({"kernel": where, "why": "pocl's process died"})
        return []
    except Exception as error:  # whatever another program says of another's kernel
        result.not_compared.append({"kernel": where, "why": f"{type(error).__name__}: {error}"[:300]})
        return []
    result.compared += 1
    result.trips_equal += compare(kernel, ran, counted.tolist(), lines, result, where)
    unlike = [n for n, b in zip(arguments, buffers, strict=True) if b is not None and not alike(ran.buffers[n], b)]
    result.outputs_equal += not unlike
    return unlike


def main(argv: Sequence[str] | None = None) -> int:
    parser = command(__doc__, "ten files")
    parser.add_argument("folder", type=Path)
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="FOLDER", type=Path)
    parser.add_argument("--group", dest="groups", action="append", default=[], metavar="KERNEL=16x16")
    given = parser.parse_args(argv)
    folder = given.folder.absolute()
    files = sorted(folder.rglob("*.cl"), key=lambda file: (file.stat().st_size, file))
    defines, groups = (dict(pair.partition("=")[::2] for pair in pairs) for pairs in (given.defines, given.groups))
    asked, result, apart = Given(defines, given.include, groups), Result(), Apart()
    for file in files[:10] if given.quick else files:
        result.files += 1
        try:
            check(file, folder, asked, apart, result)
        except Exception:
            result.crashes.append({"file": str(file), "why": traceback.format_exc(limit=-3)})
        print(f"{result.files}/{len(files)} {file.name}", file=sys.stderr)
    show(asdict(result), given.json)
    return 1 if result.crashes or result.differ else 0


if __name__ == "__main__":
    sys.exit(main())

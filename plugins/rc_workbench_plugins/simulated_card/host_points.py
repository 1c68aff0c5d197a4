"""Where the program's atomic and volatile accesses become points in virtual time (`resources/card/atomics.c`)."""

import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.api import Diagnostic
from workbench.api.compile import digest
from workbench.api.kept import contents
from workbench.api.objects import ObjectFile, Run
from workbench.api.unstable import ProcessResult

#: each access to memory becomes a call, also the plain ones, which tell whether a thread that waits in a loop does
#: anything else. Where time is measured that would cost too much, and with these sanitizers it cannot be had.
EVERY_ACCESS = (
    "-fsanitize=thread", "--param=tsan-distinguish-volatile=1", "--param=tsan-instrument-func-entry-exit=0",
    "-U__SANITIZE_THREAD__", "-Wno-tsan",
)  # fmt: skip
_NOT_WITH = re.compile(r"-fsanitize=.*\b(address|hwaddress|leak)\b")
#: the compiler's assembly with what each instruction stands for (RTL) before it, and no data below the stack's pointer
AS_ASSEMBLY = ("-dP", "-mno-red-zone", "-fno-lto", "-S")
_INSTRUCTION = ("#(insn", "#(jump_insn", "#(call_insn")
#: in RTL, memory that is volatile, as that of every atomic operation is; or a call to one of 16 bytes
_ACCESS = re.compile(r'\(mem/v\S* \((?!scratch)|symbol_ref:DI \("__atomic_')
_OF_THE_COMPILER = re.compile(r"UNSPEC_(SP_|PROBE_STACK)")  # a stack's guard
_POINT = "\tcall\trcw_access\n"


def compile_with_points(
    objects: Sequence[ObjectFile], counted: bool, compiled: Callable[..., tuple[Diagnostic, ...]]
) -> tuple[Diagnostic, ...]:
    """Make object files by `compiled` (`compile_objects`) with a point before every such access; warnings.

    Where the work is `counted` every access to memory is seen, unless a sanitizer of the program's own forbids it.
    """
    flags = [word for one in objects for word in one.flags]
    if sees_every_access(counted, flags):
        return compiled([replace(one, flags=(*one.flags, *EVERY_ACCESS)) for one in objects])
    by_this = digest(contents([Path(__file__)]))
    assembled = [replace(one, flags=(*one.flags, *AS_ASSEMBLY), made_by=(by_this,)) for one in objects]
    return compiled(assembled, through=_pointed)


def sees_every_access(counted: bool, flags: Iterable[str]) -> bool:
    return (counted and not any(map(_NOT_WITH.match, flags))) or platform.machine() != "x86_64"


def point_file(name: str) -> None:
    """Put points into a file of assembly."""
    text = Path(name)
    with text.open(encoding="utf-8", errors="surrogateescape") as lines:
        pointed = list(with_points(lines))
    text.write_text("".join(pointed), encoding="utf-8", errors="surrogateescape")


def _pointed(command: Sequence[str], run: Run) -> ProcessResult:
    """Compile by way of the assembly."""
    tool, *words, target = command
    text = Path(target).with_suffix(".s")
    result = run([tool, *(word for word in words if word != "-c"), str(text)])
    if result.returncode:
        return result
    point_file(str(text))
    assembled = run([tool, "-c", str(text), "-o", target])
    return assembled if assembled.returncode else result


def with_points(assembly: Iterable[str]) -> Iterator[str]:
    """gcc's assembly (`-dP`) with a call before each instruction that accesses atomic or volatile memory.

    The called function keeps every register, so that the instructions stay as they are.
    """
    statement = ""
    for line in assembly:
        of_rtl = line.startswith("#") and not line.startswith(("#APP", "#NO_APP"))
        if of_rtl and not line.startswith("#("):
            statement += line
            continue
        if statement.startswith(_INSTRUCTION) and _ACCESS.search(statement) and not _OF_THE_COMPILER.search(statement):
            yield _POINT
        statement = line if of_rtl else ""
        if not of_rtl:
            yield line


if __name__ == "__main__":  # as a filter of a build of the project's own
    point_file(sys.argv[1])

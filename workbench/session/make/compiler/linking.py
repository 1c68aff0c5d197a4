"""Link commands of a compiler: adds the recorder, and the libraries that a host build's plan requires."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from workbench.api.compile import digest
from workbench.api.compile_plan import Compiled, CompilePlan
from workbench.api.kept import contents, keep, kept_whole
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.session.make.compiler.command import STDIN, CompilerCommand
from workbench.system.cache import cache_dir
from workbench.system.process import ProcessResult, become, run_program
from workbench.system.toolchain import Tool

RECORDER = Path(str(files("workbench.resources"))) / "host"
#: for libraries loaded at run time; zig only knows the second
_EXPORTS, _EXPORTS_ALL = "-Wl,--export-dynamic-symbol=rcw_*", "-rdynamic"


def refuse_static(words: Sequence[str], project: Path | None = None) -> None:
    """Raise WorkbenchError if a build of an MPI program links libc or libgomp statically: functions of the recorder
    have the names of theirs, and call them as those of the next library. `project` is the file that has the `words`."""
    for word in words:
        if word == "-static" or word.endswith("libgomp.a"):
            message = f"{word}: waits of a rank's threads are recorded only where libc and libgomp are shared libraries"
            hint = "Leave it out. The flag -fopenmp links the shared libgomp, as library gomp does."
            raise WorkbenchError(Diagnostic(message, hint, file=str(project) if project else None))


def linked(tool: Tool, command: CompilerCommand, words: Sequence[str], plan: CompilePlan | None) -> ProcessResult:
    """Run a command that links, or compiles nothing that is recorded. A library leaves the recorder to the program."""
    program = command.links and not command.shared
    left_out = set(_not_here(tool, command)) if plan and plan.stand_ins and command.links else set()
    all_words: list[str | Path] = [word for word in words if word not in left_out]
    if program:
        added = [*plan.link, *(str(path) for path in plan.objects.values() if path.exists())] if plan else []
        all_words += ["-x", "none"] if command.value("-x") else []
        if any(option[0].startswith("-lmpi") for option in command.options):  # before MPI's own library
            refuse_static(words)
            added += ["-Wl,--whole-archive", str(_recorder(command, tool, of_ranks=True)), "-Wl,--no-whole-archive"]
            added += ["-ldl"]  # which has dlsym before glibc 2.34
        all_words += [*added, _EXPORTS, _recorder(command, tool), "-pthread"]
    if not plan and any(one.name == STDIN for one in command.inputs):
        become([tool.path, *all_words])  # the compiler reads this program's standard input
    linking = run_program([tool.path, *all_words], errors="replace" if plan else "surrogateescape")
    if linking.returncode and "--export-dynamic-symbol" in linking.stderr:
        linking = run_program([tool.path, *(_EXPORTS_ALL if word == _EXPORTS else word for word in all_words)])
    if left_out:
        print(f"left out, since this machine does not have them: {' '.join(sorted(left_out))}", file=sys.stderr)
    if plan:
        target = os.path.abspath(command.value("-o") or "a.out")
        plan.add(Compiled(target, os.getcwd(), linking.stderr, program=program and not linking.returncode))
    return linking


def print_output(result: ProcessResult) -> int:
    """The exit code of a compiler, after printing its output."""
    for stream, text in ((sys.stdout, result.stdout), (sys.stderr, result.stderr)):
        terminal = getattr(stream, "terminal", stream)  # raw output, with the compiler's colours and source bytes
        terminal.flush()
        terminal.buffer.write(text.encode(errors="surrogateescape"))
        terminal.buffer.flush()
    return result.returncode if result.returncode >= 0 else 128 - result.returncode


def _not_here(tool: Tool, command: CompilerCommand) -> Iterator[str]:
    """The libraries in a command that this machine lacks."""
    names = [one.name for one in command.inputs]
    folders = [path for option in command.options if option[0].startswith("-L") for path in (_value(option),)]
    for option in command.options:
        if option[0].startswith("-l") and not option[0].startswith("-l:"):
            files = [f"lib{_value(option)}.{kind}" for kind in ("so", "a")]
            if not any(os.path.exists(os.path.join(folder, name)) for folder in folders for name in files) and all(
                run_program([tool.path, f"-print-file-name={name}"]).stdout.strip() == name for name in files
            ):
                yield from option
    yield from (name for name in names if name.endswith((".a", ".so")) and not os.path.exists(name))


def _value(option: tuple[str, ...]) -> str:
    return option[0][2:] or (option[1] if len(option) > 1 else "")


def _recorder(command: CompilerCommand, tool: Tool, of_ranks: bool = False) -> Path:
    """The recorder as an archive, which is linked if something calls it; for an MPI program, the recorder of ranks."""
    flags = ["-O2", "-g", "-fPIC", "-w", *(f for f in command.flags if f in ("-m32", "-m64", "-mx32"))]
    if of_ranks:  # mpi.h
        flags += [os.path.abspath(word) if word[0] != "-" else word
                  for option in command.options if option[0].startswith("-I") for word in option]  # fmt: skip
    sources = sorted((RECORDER / "ranks" if of_ranks else RECORDER).glob("*.c"))
    stamp = contents([*sources, *sorted(RECORDER.rglob("*.h"))])
    kept_archive = cache_dir() / "library" / digest([tool.version, *flags, *stamp]) / "librecap.a"
    if kept_whole(kept_archive.parent):
        return kept_archive
    with tempfile.TemporaryDirectory() as name:
        objects = [Path(name) / f"{source.stem}.o" for source in sources]
        for source, target in zip(sources, objects, strict=True):
            _must([tool.path, *flags, "-x", "c", "-c", source, "-o", target])
        archive = Path(name) / kept_archive.name
        _must(["ar", "rcs", archive, *objects])
        keep(archive, kept_archive.parent)
    if not kept_archive.is_file():
        raise WorkbenchError(Diagnostic("the recorder cannot be kept in the cache", file=str(kept_archive)))
    return kept_archive


def _must(command: Sequence[str | Path]) -> None:
    if (ran := run_program(command)).returncode:
        raise WorkbenchError(Diagnostic(f"the recorder does not build: {ran.stderr.strip()}"))

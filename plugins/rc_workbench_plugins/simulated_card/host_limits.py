"""Limits of virtual cores that a program's build shows; `libc/told.c` of the card reports the others."""

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files as resource_files
from pathlib import Path

from workbench.api import Diagnostic, Project, Severity, WorkbenchError
from workbench.api.unstable import run_program

_READS_TIME = re.compile(r"\t(rdtscp?)\b")
_MACHINE_CODE = (b"\x0f\x31", b"\x0f\x01\xf9")  # of x86: rdtsc, rdtscp
#: Of `objdump -hw`: a section of machine code, its size in bytes, and where in the file it begins.
_SECTION = re.compile(r"^ *\d+ (?P<name>\S+) +(?P<size>\w+) +\w+ +\w+ +(?P<begin>\w+) .*\bCODE\b", re.M)
_LINE = re.compile(r"(?P<file>\S.*):(?P<line>\d+)(?: \(.*\))?$")


def not_simulated(project: Project) -> Iterator[Diagnostic]:
    """What a project asks of the compiler that virtual cores cannot keep."""
    single = (flag for flags in project.host.source_flags.values() for flag in flags)
    for flag in dict.fromkeys((*project.host.flags, *single, *project.host.libraries)):
        if flag == "-fopenmp" or flag.startswith("-fopenmp=") or flag in ("gomp", "-lgomp"):
            yield Diagnostic(
                f"host: {flag}: the virtual clock does not see how OpenMP's threads wait for each other",
                "Build without it, or start the threads with pthreads, C11 or std::thread.",
            )
        elif flag == "-static":
            yield Diagnostic(
                f"host: {flag}: the virtual clock needs a shared C library",
                "Build without that for the simulated card.",
            )
        elif flag == "-fsanitize=thread":
            yield Diagnostic(
                f"host: {flag}: on the simulated card one thread runs at a time, and the sanitizer would find nothing",
                "Use it in a build of your own.",
            )


def reads_of_real_time(objects: Sequence[Path], root: Path) -> Iterator[Diagnostic]:
    """Where the program reads the processor's own counter, of which the virtual clock knows nothing: not the recorder,
    whose functions stand within it."""
    recorder = Path(str(resource_files("workbench.resources"))) / "host"
    try:
        text = "".join(map(_disassembled, objects))
    except WorkbenchError:
        return
    places: list[tuple[Path, int]] = []
    reads = set()
    for line in text.splitlines():
        if match := _LINE.match(line.removeprefix("inlined by ")):
            place = Path(match["file"]), int(match["line"])
            places = [*places, place] if line.startswith("inlined by ") else [place]
        elif (match := _READS_TIME.search(line)) and not (places and places[0][0].is_relative_to(recorder)):
            file, number = next((place for place in places if place[0].is_relative_to(root)), (None, None))
            reads.add((match[1], str(file.relative_to(root)) if file else None, number))
    for instruction, file_name, number in sorted(reads, key=str):
        yield Diagnostic(
            f"{instruction} reads the processor's own counter, which counts real time: runs differ",
            "clock_gettime and std::chrono return virtual time.",
            Severity.WARNING, file_name, number,
        )  # fmt: skip


def _disassembled(path: Path) -> str:
    """The sections of an object file that hold such an instruction's bytes, with the lines of their source: those of
    all sections take seconds."""
    data = path.read_bytes()
    if not any(code in data for code in _MACHINE_CODE):
        return ""
    sections = []
    for match in _SECTION.finditer(run_program(["objdump", "-hw", path]).stdout):
        begin = int(match["begin"], 16)
        held = data[begin : begin + int(match["size"], 16)]
        sections += ["-j", match["name"]] if any(code in held for code in _MACHINE_CODE) else []
    command = ["objdump", "-dl", "--inlines", "--no-show-raw-insn", *sections, path]
    return run_program(command).stdout if sections else ""

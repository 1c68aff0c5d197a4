"""Compiles RTL to C++ with Verilator, with errors at the user's lines, and the C++ options that all models share."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from workbench.api.builds import HdlBuild
from workbench.api.compile import last_words, no_room
from workbench.api.equivalence import HdlSide
from workbench.api.job import Job
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError
from workbench.system.toolchain import VERILATOR_SOUND, Tool, verilator_environment

VERILATOR_OPTIONS = (
    "--cc", "-O3", "--no-timing", "-Wno-fatal", "--no-decoration", *VERILATOR_SOUND,
    "--output-split-cfuncs", "1000",  # halves the compiler's time, and the model is no slower
    "-UVERILATOR", "-Uverilator",  # what is simulated is what was read, and becomes hardware
    "-DRECAP_SIMULATED_CARD",  # what a run records is in the program's own parts, beside what becomes hardware
)  # fmt: skip
#: Verilator's own code, and how it and the models are compiled.
RUNTIME = ("verilated.cpp", "verilated_threads.cpp")
MODEL_FLAGS = (
    "-std=gnu++17", "-pthread", "-w", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TRACE=0", "-DVERILATOR=1",
)  # fmt: skip
HEADERS = "standard.h"
_MESSAGE = re.compile(
    r"^%(?P<kind>Error|Warning)(?:-(?P<code>\w+))?: (?:(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): )?(?P<text>.*)$"
)
_UNKNOWN_PARAMETERS = re.compile(r"Parameters from the command line were not found in the design: (?P<names>.*)")
_UNEXPECTED = re.compile(r"syntax error, unexpected (\w+)")
#: Keywords of SystemVerilog that Verilog designs use as names.
_LATER_KEYWORDS = {
    "bins", "bit", "byte", "checker", "class", "context", "cover", "cross", "do", "export", "extends", "final",
    "global", "import", "inside", "int", "interface", "local", "logic", "matches", "new", "null", "package", "packed",
    "priority", "program", "property", "protected", "pure", "rand", "ref", "return", "sequence", "static", "string",
    "strong", "struct", "this", "type", "union", "unique", "var", "virtual", "void", "weak", "with", "within",
}  # fmt: skip
_MEMBER = re.compile(
    r"^\s*(?:VL_OUT\w*\(&?(?=\w+,)|(?:[CSIQ]Data(?:/\*[\d:]*\*/)?|VlWide<.*>(?:/\*[\d:]*\*/)?|VlUnpacked<.*>)\s+)(\w+)[;,]",
    re.M,
)
# What is kept of a signal between two parts of an edge.
_SHADOW = re.compile(r"__V[a-z][A-Za-z0-9]*__(?P<of>\w+?)(?:__v\d+)?")
# What a model keeps beside its own members, what it asks the world, and what it calls in C.
_ELSEWHERE = re.compile(r"\bVl(?!Unpacked\b|Wide\b|TriggerVec\b)[A-Z]\w*|std::string")
_OUTSIDE = re.compile(
    r"\bVL_(?:\w*RAND|DIST_|F(?:CLOSE|ERROR|FLUSH|GETS|OPEN|READ|SCANF|SEEK|TELL|WRITEF)|CVT_I_FP|READMEM|WRITEMEM"
    r"|SYSTEM|STACKTRACE|TESTPLUSARGS|VALUEPLUSARGS|TIMEFORMAT)"
)
_DPI = re.compile(r"^extern .*?(\w+)\(", re.M)
_OWN_DPI = {"rcw_queue", "rcw_fail", "recap_depth_of"}
_PLACE = re.compile(r'(?P<call>\bVL_(?:FATAL|STOP)_MT)\("(?P<file>[^"\n]+)", (?P<line>\d+)')
_INSTANCE = re.compile(r"^\s*Vcard_\w+\s+(TOP__\w+);", re.M)
_PORT = re.compile(
    r"^\s*VL_(?P<way>IN|OUT|INOUT)\w*\((?:\(&?(?P<array>\w+)\)(?:\[\d+\])+|&?(?P<plain>\w+)),(?P<msb>\d+),(?P<lsb>\d+)",
    re.M,
)


def verilate(
    tool: Tool, design: HdlSide, out: Path, job: Job, *, prefix: str = "Vcard", x_values: str = "fast",
    options: Sequence[str] = (), timeout_s: float | None = None,
) -> None:  # fmt: skip
    """Write the design as C++ classes, whose names begin with `prefix`, into `out`. Files are included from the
    design's folders, not from where the person happens to be. `x_values` is what is put for values that are not known.

    Parameters that the top module does not have are left out. Raises WorkbenchError where Verilator refuses the design,
    or takes longer than `timeout_s`.
    """
    given = design.parameters
    while True:
        command: list[str | Path] = [
            tool.path, *VERILATOR_OPTIONS, *options, "--prefix", prefix,
            "--x-assign", x_values, "--x-initial", x_values,
            "--top-module", design.top, "--Mdir", os.path.abspath(out),
            *(f"-I{os.path.abspath(folder)}" for folder in design.include_dirs),
            *(f"-D{name}={value}" for name, value in design.defines.items()),
            *(f"-G{name}={hdl_value(value)}" for name, value in given.items()),
            *(os.path.abspath(source) for source in design.sources),
        ]  # fmt: skip
        result = job.run(
            command, cwd=out, env=verilator_environment(tool), on_line=lambda line: None, timeout_s=timeout_s
        )
        if result.returncode == 0:
            for line in result.stderr.splitlines():
                job.log(line)
            return
        unknown = _UNKNOWN_PARAMETERS.search(result.stderr)
        names = set(re.findall(r"\w+", unknown["names"])) if unknown else set()
        if not names & given.keys():
            raise WorkbenchError(*read_errors(result.stderr))
        given = {name: value for name, value in given.items() if name not in names}


def hdl_value(value: str) -> str:
    """A parameter's value as Verilog: numbers as they are, anything else as a string."""
    return value if re.fullmatch(r"-?\d+(\.\d+)?|\d*'[sS]?[bodhBODH][0-9a-fA-F_]+", value) else f'"{value}"'


@dataclass(frozen=True)
class ModelPort:
    """A port of a Verilated top: `way` is "IN", "OUT" or "INOUT", `bits` those of one element where it is an array.
    `interrupt` and other words that mean something to some compiler are called otherwise as the model's `member`."""

    way: str
    member: str
    bits: int
    array: bool

    @property
    def name(self) -> str:
        return self.member.removeprefix("__SYM__")


def model_ports(out: Path, prefix: str) -> list[ModelPort]:
    """The ports of the model's top, in their order."""
    ports = _PORT.finditer((out / f"{prefix}.h").read_text(encoding="utf-8"))
    return [
        ModelPort(m["way"], m["array"] or m["plain"], int(m["msb"]) - int(m["lsb"]) + 1, m["array"] is not None)
        for m in ports
    ]


def top_ports(out: Path) -> dict[str, tuple[str, int, str]]:
    """Plain ports of the Verilated card's top: name -> ("IN" or "OUT", width, the model's member)."""
    return {port.name: (port.way, port.bits, port.member) for port in model_ports(out, "Vcard") if not port.array}


def harness_dir() -> Path:
    """Where the card's C and C++ sources are."""
    return Path(str(files("workbench.resources"))) / "card"


def compile_headers(compiler: Tool, flags: Sequence[str | Path], folder: Path) -> list[str | Path]:
    """The command that compiles what every unit of a model includes first (`-include folder/HEADERS`): most of the time
    that a small model takes. It does for units of the same `flags`, among them the level of optimisation."""
    copy = shutil.copy(harness_dir() / HEADERS, folder)
    return [compiler.path, *flags, "-x", "c++-header", copy, "-o", f"{copy}.gch"]


def system_include(include: Path) -> list[str]:
    """The compiler option for Verilator's headers."""
    return ["-isystem", str(include), "-isystem", str(include / "vltstd")]


def idle_state(out: Path, hdl: HdlBuild) -> list[str]:
    """The model's state on which no stream depends, as members of `Vcard__Syms`: the monitors', and signals that the
    build names. What the names do not tell counts as needed."""
    own, user = f"{hdl.top}__DOT__recap_", f"{hdl.top}__DOT__recap_user__DOT__"
    idle = {user + _encoded(path) for path in hdl.simulation.idle} | {
        path for path in hdl.simulation.idle if "." not in path
    }
    members = _MEMBER.findall((out / "Vcard___024root.h").read_text())
    of = {name: shadow["of"] if (shadow := _SHADOW.fullmatch(name)) else name for name in members}
    members_idle = [
        f"TOP.{name}" for name, one in of.items() if one in idle or (one.startswith(own) and not one.startswith(user))
    ]
    instances = _INSTANCE.findall((out / "Vcard__Syms.h").read_text())
    ours = (f"TOP__{hdl.top}__recap_monitor", f"TOP__{hdl.top}__recap_port")
    return members_idle + [name for name in instances if name.startswith(ours)]


def lead_out_places(out: Path) -> list[str]:
    """Put numbers in the places of the lines at which the model may fail, and give those (`file:line`) in their order:
    so that where a comment moves lines, nothing has to be compiled. The first number is 1."""
    places: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        places.append(f"{match['file']}:{match['line']}")
        return f'{match["call"]}("", {len(places)}'

    for path in sorted(out.glob("Vcard*.cpp")):
        text = path.read_text()
        if (changed := _PLACE.sub(numbered, text)) != text:
            path.write_text(changed)
    return places


def remembers_all(out: Path) -> bool:
    """Whether the model's next cycle depends on nothing but its inputs and what stands in `Vcard__Syms` itself: no
    random numbers, files or arguments, nothing kept elsewhere in memory (queues, strings, objects), no functions in C
    but ours. Its time stands still. What it prints, the card sees."""
    headers = "".join(path.read_text() for path in out.glob("Vcard_*.h") if path.name != "Vcard__Syms.h")
    fast = (path.read_text() for path in out.glob("Vcard_*.cpp") if not path.name.endswith("__Slow.cpp"))
    imported = set(_DPI.findall(headers))
    return not (_ELSEWHERE.search(headers) or imported - _OWN_DPI or any(map(_OUTSIDE.search, fast)))


def _encoded(path: str) -> str:
    """A hierarchical name as Verilator's C++ has it."""
    return re.sub(r"\[(-?\d+)\]", r"__BRA__\1__KET__", path).replace(".", "__DOT__")


def read_errors(text: str) -> list[Diagnostic]:
    """Verilator's errors as diagnostics, with file and line."""
    if full := no_room(text, "the card"):
        return [*full]
    errors = []
    for line in text.splitlines():
        match = _MESSAGE.match(line)
        if not match or match["kind"] == "Warning" or match["text"].startswith(("Exiting due to", "Command Failed")):
            continue
        number = int(match["line"]) if match["line"] else None
        column = int(match["column"]) if match["column"] else None
        errors.append(
            Diagnostic(
                match["text"].strip(),
                _hint(match["code"], match["text"]),
                Severity.ERROR,
                match["file"],
                number,
                column,
            )
        )
    return errors[:20] or [Diagnostic(f"Verilator cannot read the design: {last_words(text)}")]


def _hint(code: str | None, text: str) -> str:
    if (word := _UNEXPECTED.search(text)) and word[1] in _LATER_KEYWORDS:
        return f"'{word[1]}' is a keyword of SystemVerilog, which reads all sources: use another name."
    if code in ("NEEDTIMINGOPT", "NOTIMING"):
        return "Delays and waits are for test benches: the simulated card runs synthesisable designs only."
    if code == "MODMISSING":
        return "Is the module's source file missing from the project's hardware sources?"
    return ""

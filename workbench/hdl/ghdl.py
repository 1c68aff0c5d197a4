"""Runs GHDL, confined, to translate a VHDL design to Verilog; fixes or refuses known errors of GHDL."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from workbench.api.kept import kept_text
from workbench.hdl import ghdl_fixes
from workbench.hdl.ghdl_fixes import fixed
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.cache import cache_dir
from workbench.system.confine import reads_only
from workbench.system.files import SOURCE_LIMIT, read_regular, sha256
from workbench.system.process import ProcessResult, run_program
from workbench.system.toolchain import Tool, find_ghdl

LIMIT_S = 60.0
MEMORY_BYTES = 4 << 30
_MESSAGE = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+):(?:(?P<kind>error|warning|note):)? ?(?P<text>.*)$")
_UNASSIGNED = re.compile(
    r'^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+):warning: no assignment for .* of signal "(?P<signal>.*)"\n'
    r"(?P<declared>.*)$", re.MULTILINE,
)  # fmt: skip
_SAID = re.compile(r"\((?:assertion|report) (?:note|warning)\)")  # by the design
_BUG = "GHDL Bug occurred"
_CANNOT = re.compile(
    r"^\w+: cannot handle IIR_KIND_(?P<what>\w+) \((?P<file>.+):(?P<line>\d+):(?P<column>\d+)\)", re.MULTILINE
)
#: What GHDL's synthesis says of right VHDL too.
_LIMITS = re.compile(r"direction mismatch in slice|\bunhandled\b|not (?:yet )?(?:supported|handled|implemented)")
OF_GHDL = "This may be correct VHDL: GHDL's synthesis has limits here, which a newer one may not have."
VARYING_SLICE = "cannot extract same variable part for dynamic slice"
_CYCLES = "No time passes in hardware but by a clock: count its cycles."
_BEFORE = (
    "Keep the value of the cycle before in a signal of its own, and compare the two; of a clock ask `rising_edge(clk)`."
)
#: What GHDL says of what it cannot synthesise, and how to write that so that it can.
_REWRITES = {
    VARYING_SLICE: "Compute the lower bound of the slice once: with a variable "
    "`at`, write `at := ...; v(at + 31 downto at) <= x;`.",
    "left and right bounds of a slice must be either constant or dynamic": "Write a slice of varying length as a loop: "
    "`for i in v'range loop if i <= high then v(i) <= x(i); end if; end loop;`.",
    "loop condition must be static": "Write a loop over a constant range that is left: "
    "`for i in 0 to 255 loop exit when v <= 3; v := v - 3; end loop;`.",
    "limits of range are not constant": "Let the loop run over a constant range: "
    "`for i in 0 to 7 loop if i <= n then v := v + i; end if; end loop;`.",
    "wait statement not allowed": "Wait once, `wait until rising_edge(clk);`, and make the steps states: "
    "`case state is when first => q <= a; state <= second; when second => ...`.",
    "expect wait condition": _CYCLES,
    "NOW_FUNCTION": _CYCLES,
    "FLOATING": "Use fixed point in place of `real`: `signed` with a scale, or `ieee.fixed_pkg`.",
    "protected type": "Use a signal, or a variable of one process, in place of a protected type.",
    "access type": "Use an array and an index in place of `access` and `new`, and `report` in place of a `line`.",
    'implicit procedure "write"': "Write messages by `report`.",
    "non-constant exponentiation": "Write powers of two as `shift_left(to_unsigned(1, 8), n)`, "
    "others as a constant array.",
    "event attribute": _BEFORE,
    "signal attribute": _BEFORE,
    "external signal name": "Bring the signal out through ports.",
    "multiple assignments": "Assign it in one place: `s <= a when own = '1' else b;`.",
}
_FOLLOWS = re.compile(r"mismatching vector length; got (\d+, expect 0|0, expect \d+)$")  # after the first of these
_OF_MAP = "synth-vhdl_expr.adb:645"
_CRASH = "This is a fault of GHDL, not of the VHDL. A newer GHDL may accept it."
_CALL_IN_MAP = (
    "GHDL 2.0 crashes at some functions that are called in a port map: assign the value to a signal of the "
    "architecture, and map that. Else it is a fault that a newer GHDL may not have."
)
_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
_QUOTED = re.compile(r'"([^"\n]+)"')
_FILE = re.compile(r"^(?!\s*--(?!.*\*/)).*\bfile\b", re.IGNORECASE)  # not in a line that is a comment
_MADE_BY = sha256(Path(ghdl_fixes.__file__).read_bytes())[:16]  # what is kept is made by that
_KEEP = "Install bubblewrap, which keeps GHDL from writing, or remove the word 'file'."
_GENERICS = (
    "Generics are given as integers, strings, the bits of a vector as a string, and `true` and `false` as strings."
)


@dataclass(frozen=True)
class Design:
    """An entity and the files that it is in, with their paths; `generics` are NAME=VALUE. Names of files that it reads
    itself are relative to `folder`. `libraries` has each file's, where they are not all of one; the entity's is the
    last's."""

    files: tuple[str, ...]
    unit: str
    generics: tuple[str, ...] = ()
    folder: Path | None = None
    libraries: tuple[str, ...] = ()
    dialect: tuple[str, ...] = ("--std=08",)

    @property
    def words(self) -> list[str]:
        """The files as arguments for GHDL."""
        if not self.libraries:
            return list(self.files)
        pairs = zip(self.libraries, self.files, strict=True)
        return [word for library, file in pairs for word in (f"--work={library}", file)]


def synthesised(design: Design, run: Callable[..., ProcessResult] = run_program) -> str:
    """Verilog of the entity, its last module, and of what it is made of.

    WorkbenchError with GHDL's errors at their lines, or without a place where there is none.
    """
    return fixed(netlist(design, "verilog", run), partial(netlist, design, run=run))


def netlist(design: Design, language: str, run: Callable[..., ProcessResult] = run_program) -> str:
    """What GHDL writes of a synthesised design, in "verilog", in "vhdl" or as its "raw" netlist. WorkbenchError."""
    files, bound = design.files, [f"-g{generic}" for generic in design.generics]
    tool = [str(ghdl().path), "--synth", *design.dialect, f"--out={language}"]
    seen = [*dict.fromkeys(Path(file).absolute().parent for file in files), *filter(None, [design.folder])]
    command = [*tool, *bound, *design.words, "-e", design.unit]
    with TemporaryDirectory() as place:
        confined = _confined(files, *seen, instead=dict(_texts_ended(design, seen, Path(place))))
        result = run([*confined, *command], cwd=design.folder, timeout_s=LIMIT_S, memory_bytes=MEMORY_BYTES)
    problems = list(_lost(result.stderr)) if not result.returncode else _errors(result.stderr, design.unit)
    if problems:
        raise WorkbenchError(*problems)
    return result.stdout


def ghdl() -> Tool:
    """WorkbenchError where there is none."""
    tool = find_ghdl()
    if isinstance(tool, Diagnostic):
        raise WorkbenchError(tool)
    return tool


def renamed(text: str, mark: str) -> str:
    """With a mark after the names of all modules, so that another design's may be the same."""
    for name in _MODULE.findall(text):
        text = re.sub(rf"\b{re.escape(name)}\b", f"{name}_{mark}", text)
    return text


def contents_of(design: Design) -> list[str]:
    """WorkbenchError, without a place, where a file cannot be read."""
    try:
        return [read_regular(Path(file), SOURCE_LIMIT).decode("latin-1") for file in design.files]
    except OSError as error:
        raise WorkbenchError(Diagnostic(f"cannot read '{error.filename}': {error.strerror}")) from None


def kept(design: Design, make: Callable[[Design], str]) -> str:
    """What is made of a design. It takes seconds, so it is kept; but for what reads files."""
    contents = contents_of(design)
    if any(_FILE.search(line) for text in contents for line in text.splitlines()):
        return make(design)
    settings = [design.unit, design.generics, design.libraries, design.dialect]
    called = getattr(make, "func", make).__name__
    key = json.dumps([ghdl().version, called, _MADE_BY, contents, *settings])
    return kept_text(cache_dir() / "ghdl" / sha256(key.encode())[:32] / "verilog", lambda: make(design))


def _texts_ended(design: Design, seen: Iterable[Path], place: Path) -> Iterator[tuple[Path, Path]]:
    """The files that a design names, below the folders that are `seen`, and that lack a newline at their end, which
    GHDL's synthesis refuses; and of each a copy, in a folder `place`, that has it."""
    names = {name for text in contents_of(design) for name in _QUOTED.findall(text)}
    for number, name in enumerate(sorted(names)):
        with suppress(OSError, ValueError):
            file = ((design.folder or Path()) / name).resolve()
            data = read_regular(file, SOURCE_LIMIT) if any(map(file.is_relative_to, seen)) else b""
            if data and not data.endswith(b"\n"):
                (place / str(number)).write_bytes(data + b"\n")
                yield file, place / str(number)


def _confined(files: Sequence[str], *folders: Path, instead: Mapping[Path, Path]) -> tuple[str, ...]:
    """What keeps GHDL from writing, and from reading but in these folders: it opens files that a design declares,
    already to synthesise it. WorkbenchError where nothing on this system does, for designs that declare some."""
    if prefix := reads_only(ghdl().path, *folders, instead=instead):
        return prefix
    problems = [
        Diagnostic("this design declares a file, which GHDL would open with your rights", _KEEP, file=file, line=line)
        for file in files
        for line, text in enumerate(Path(file).read_text("latin-1").splitlines(), 1)
        if _FILE.search(text)
    ]
    if problems:
        raise WorkbenchError(*problems)
    return ()


def _rewrite(message: str) -> str:
    """How to write what GHDL refuses; empty where that is not known."""
    return next((how for said, how in _REWRITES.items() if said in message), "")


def _errors(said: str, unit: str) -> list[Diagnostic]:
    errors = [
        Diagnostic(
            match["text"],
            _rewrite(match["text"]) or (OF_GHDL if _LIMITS.search(match["text"]) else ""),
            file=match["file"],
            line=int(match["line"]),
            column=int(match["column"]),
        )
        for line in said.splitlines()
        if (match := _MESSAGE.match(line)) and match["kind"] not in ("warning", "note")
        if not _SAID.match(match["text"])
    ]
    if errors:
        return [one for one in errors if not _FOLLOWS.match(one.message)][:20] or errors[:1]
    if cannot := _CANNOT.search(said):
        what = cannot["what"].lower().replace("_", " ")
        message = f"GHDL cannot synthesise this yet: {'a package within another unit' if 'package' in what else what}"
        line, column = int(cannot["line"]), int(cannot["column"])
        return [Diagnostic(message, _rewrite(message) or OF_GHDL, file=cannot["file"], line=line, column=column)]
    if _BUG in said:
        raised = next(iter(re.findall(r"^Exception (\S+)", said, re.MULTILINE)), "without a reason")
        message = f"GHDL itself crashed ({raised}) as it synthesised '{unit}'"
        return [Diagnostic(message, _CALL_IN_MAP if _OF_MAP in said else _CRASH)]
    last = (said.strip().splitlines() or ["it ended without a word"])[-1].rpartition("ghdl-mcode: ")[2]
    return [Diagnostic(f"GHDL cannot synthesise '{unit}': {last}", _GENERICS if "generic" in last else "")]


def _lost(said: str) -> Iterator[Diagnostic]:
    """Signals that begin with a value and are assigned in part: GHDL forgets what the rest begins with."""
    for match in _UNASSIGNED.finditer(said):
        if ":=" in match["declared"]:
            message = f"GHDL loses the value of the part of '{match['signal']}' that is never assigned"
            hint = "Assign all of it, or make the rest a constant."
            yield Diagnostic(message, hint, file=match["file"], line=int(match["line"]), column=int(match["column"]))

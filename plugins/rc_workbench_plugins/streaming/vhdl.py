"""A hardware block in VHDL as Verilog: GHDL's synthesis writes it, with the block's configuration bound."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from rc_workbench_plugins.streaming.topology import At, Implementation, Value
from rc_workbench_plugins.streaming.x_language import problem
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.system.confine import read_only
from workbench.system.files import sha256
from workbench.system.process import run_program

_LIMIT_S = 60.0
_MESSAGE = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+):(?:(?P<kind>error|warning):)? ?(?P<text>.*)$")
_UNASSIGNED = re.compile(
    r'^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+):warning: no assignment for .* of signal "(?P<signal>.*)"\n'
    r"(?P<declared>.*)$", re.MULTILINE,
)  # fmt: skip
_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
#: what GHDL before 3.0 writes of a constant of more than 32 bits, in Verilog as in VHDL
_WIDE = re.compile(r'"([01XZ]{33,})"')
_CASE = re.compile(r"(    case \(\w+\)\n(?:      \d+'b[01]+: (\w+) <= .*\n)+)    endcase")
_OTHERS = re.compile(r"^  with \w+ select (\w+) <=\n(?:    .* when \"[01]+\",\n)+    (.*) when others;", re.MULTILINE)
_FILE = re.compile(r"^(?!\s*--(?!.*\*/)).*\bfile\b", re.IGNORECASE)  # not in a line that is a comment
_KEEP = "Install bubblewrap, within which it cannot write, or take the word away."


def as_verilog(implementation: Implementation, config: Mapping[str, Value], root: Path) -> tuple[str, str]:
    """Verilog of the entity with these generics, and its module's name, which no other configuration's has.

    WorkbenchError with GHDL's errors at the user's lines, or where GHDL is not installed.
    """
    files = tuple(str(root / file) for file in implementation.files)
    try:
        stamps = tuple(Path(file).stat().st_mtime_ns for file in files)
    except OSError as error:
        message = f"cannot read '{error.filename}': {error.strerror}"
        raise WorkbenchError(problem(implementation.at, message)) from None
    generics = tuple(f"-g{name}={_generic(value)}" for name, value in config.items())
    text = _synthesised(files, stamps, implementation.unit.lower(), generics, implementation.at)
    mark = sha256("\n".join((*files, *generics)).encode())[:8]
    names = {name: f"{name}_{mark}" for name in _MODULE.findall(text)}
    for name, own in names.items():  # another configuration's parts have the same names
        text = re.sub(rf"\b{re.escape(name)}\b", own, text)
    return text, names[implementation.unit.lower()]


@lru_cache(maxsize=64)
def _synthesised(files: tuple[str, ...], stamps: tuple[int, ...], unit: str, generics: tuple[str, ...], at: At) -> str:
    return synthesised(files, unit, generics, at)


def synthesised(files: Sequence[str], unit: str, generics: Sequence[str], at: At) -> str:
    """Verilog of the entity `unit` and of what it is made of. WorkbenchError with GHDL's errors at their lines."""
    ghdl = shutil.which("ghdl")
    if ghdl is None:
        raise WorkbenchError(
            problem(at, "blocks in VHDL need GHDL, which is not installed", "Debian: apt-get install ghdl-mcode")
        )

    def written(language: str) -> str:
        command = [*_kept(files), ghdl, "--synth", "--std=08", f"--out={language}", *generics, *files, "-e", unit]
        result = run_program(command, timeout_s=_LIMIT_S, memory_bytes=4 << 30)
        if result.returncode:
            found = [_diagnostic(match) for line in result.stderr.splitlines() if (match := _MESSAGE.match(line))]
            said = result.stderr.strip().splitlines()[-1:] or ["it ended without a word"]
            raise WorkbenchError(*(found[:20] or [problem(at, f"GHDL cannot synthesise '{unit}': {said[0]}")]))
        if lost := list(_lost(result.stderr)):
            raise WorkbenchError(*lost)
        return result.stdout

    text = _WIDE.sub(lambda digits: _literal(digits[1]), written("verilog"))
    return _with_defaults(text, written("vhdl")) if _CASE.search(text) else text


def as_one(texts: Mapping[str, str], unit: str) -> str:
    """Verilog of a design of ours, given by its files' names."""
    with TemporaryDirectory() as folder:
        for name, text in texts.items():
            Path(folder, name).write_text(text, "utf-8")
        return synthesised([str(Path(folder, name)) for name in texts], unit, (), At(unit, 1, 1))


def _kept(files: Sequence[str]) -> tuple[str, ...]:
    """What keeps GHDL from writing: it opens files that a design declares, already to synthesise it. WorkbenchError
    where nothing on this system does, for designs that declare some."""
    if prefix := read_only():
        return prefix
    found = [
        Diagnostic("this design declares a file, which GHDL would open with your rights", _KEEP, file=file, line=line)
        for file in files
        for line, text in enumerate(Path(file).read_text("latin-1").splitlines(), 1)
        if _FILE.search(text)
    ]
    if found:
        raise WorkbenchError(*found)
    return ()


def _lost(said: str) -> Iterator[Diagnostic]:
    """Signals that begin with a value and are assigned in part: GHDL forgets what the rest begins with."""
    for match in _UNASSIGNED.finditer(said):
        if ":=" in match["declared"]:
            message = f"GHDL loses the value of what is never assigned of '{match['signal']}'"
            hint = "Assign all of it, or make a constant of what stays."
            yield Diagnostic(message, hint, file=match["file"], line=int(match["line"]), column=int(match["column"]))


def _with_defaults(verilog: str, vhdl: str) -> str:
    """GHDL before 3.0 leaves `others` out of the Verilog it writes, not of the VHDL (github.com/ghdl/ghdl#2041)."""
    others = {target: value.removeprefix("wrap_") for target, value in _OTHERS.findall(vhdl)}

    def mended(case: re.Match[str]) -> str:
        value = others[case[2]]
        default = _literal(value[1:-1]) if value[0] in "'\"" else value
        return f"{case[1]}      default: {case[2]} <= {default};\n    endcase"

    return _CASE.sub(mended, verilog)


def _literal(digits: str) -> str:
    return f"{len(digits)}'b{re.sub('[^01Z]', 'x', digits)}"


def _diagnostic(match: re.Match[str]) -> Diagnostic:
    return Diagnostic(match["text"], file=match["file"], line=int(match["line"]), column=int(match["column"]))


def _generic(value: Value) -> str:
    return value if isinstance(value, str) else repr(value)

"""Where a value that no source gives is used, and what build files say of it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.model.diagnostic import Diagnostic
from workbench.model.text import listed

_BUILD_FILE = re.compile(
    r"(gnu)?makefile|cmakelists\.txt|compile_commands\.json|.*\.(mk|mak|cmake|sh|bash|bat|tcl|f|args|pro)", re.I
)
_NUMBER = r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)"


@dataclass(frozen=True)
class BuildValue:
    """A number that a build file defines a name as, and the place, as `file:line`."""

    value: int | float
    place: str


def build_values(root: Path, files: Iterable[str], names: Sequence[str]) -> dict[str, tuple[BuildValue, ...]]:
    """The different values that the build files among `files` define names as (`-DNAME=4`, `+define+NAME=4`, in Tcl
    `verilog_define NAME=4`), each with its first place."""
    found: dict[str, dict[int | float, BuildValue]] = {}
    if not names:
        return {}
    defined = re.compile(
        rf"(?:-D\s*|\+define\+(?:\w+=\w+\+)*|verilog_define\b.*?\b)({'|'.join(names)})\s*=\s*({_NUMBER})[uUlL]*(?![\w.])"
    )
    for file in files:
        if _BUILD_FILE.fullmatch(Path(file).name):
            for number, line in enumerate(_text(root, file).splitlines(), 1):
                for name, text in defined.findall(line):
                    value = float(text) if "." in text else int(text, 16 if "x" in text.lower() else 10)
                    found.setdefault(name, {}).setdefault(value, BuildValue(value, f"{file}:{number}"))
    return {name: tuple(values.values()) for name, values in found.items()}


def unknown_reason(name: str, used: str, values: Sequence[BuildValue]) -> str:
    """Why a value is unknown, and where to look for it; `used` is the place that uses it, as `file:line`, or ""."""
    where = f"used in {used}" if used else "used"
    if values:
        values_text = listed([f"{one.value} ({one.place})" for one in values], 3)
        return f"{where}; build files give different values: {values_text}"
    return f"{where}; no file here gives its value: look for -D{name}= in your build, or for the missing header"


def given_reason(one: BuildValue) -> str:
    """Why a value is taken that one build file gives."""
    return f"defined in {one.place}"


def place_of(root: Path, problem: Diagnostic) -> str:
    """A problem's place as `file:line`, its file relative to `root`."""
    if not problem.file or not problem.line:
        return ""
    path = Path(problem.file)
    return f"{path.relative_to(root) if path.is_relative_to(root) else path}:{problem.line}"


def first_macro_uses(root: Path, files: Iterable[str], names: Iterable[str]) -> Mapping[str, str]:
    """The first place that uses each Verilog macro, as `file:line`."""
    lines = [(file, number, line) for file in files for number, line in enumerate(_text(root, file).splitlines(), 1)]
    uses = {name: re.compile(rf"`{name}\b") for name in names}
    found = {n: next((f"{f}:{at}" for f, at, line in lines if use.search(line)), "") for n, use in uses.items()}
    return {name: place for name, place in found.items() if place}


def _text(root: Path, file: str) -> str:
    try:
        return (root / file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

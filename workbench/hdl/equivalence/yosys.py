"""Proves by yosys that an instrumented module behaves as the original.

Each module is taken by itself. Its instances are cut open (`expose -evert`): what goes into them is compared, what
comes out of them is an input; so are its registers (`-evert-dff`), with data, clock and reset compared and the state an
input. What is left are two functions without state. Where they are built alike they are the same (`opt_merge`), and
that is nearly always so; a solver looks at the rest (`equiv_simple`). Initial values, and what memories hold and how
their ports are clocked, are compared as text. By induction over the cycles, and over the hierarchy, all is then equal.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from workbench.api.compile import last_words
from workbench.api.equivalence import Comparison, HdlSide, Limits
from workbench.api.job import Job
from workbench.model.diagnostic import WorkbenchError, unknown_name
from workbench.system.toolchain import Tool

_ELABORATE_S = 600.0
_ABOVE = "recap_above"  # a module above the top, which gives it the project's parameters
_MODULE = re.compile(r"^module (\S+)$")
_PARAMETER = re.compile(r"^  parameter \\(\S+) (.+)$")
_CONNECTED = re.compile(r"^    connect \\([ABY]) (.*)$", re.M)
_NO_PARTNER = re.compile(r"[Cc]an't match (?:gold|gate) port `(\S+?)'")
_PORT_NUMBER = re.compile(r"\b(input|output|inout) \d+ ")
_UNNAMED = re.compile(r"(?<=\s)(?:\$unnamed_block\$\d+\.)+")  # what is declared in a block without a name
_NUMBERED = re.compile(r"(?<=\$unnamed_block\$)\d+(?=\.)")
_MODULES = re.compile(r"^(?=module )", re.MULTILINE)
_PARTS = {"d": "", "c": "'s clock", "r": "'s reset", "v": "'s reset value"}


@dataclass(frozen=True)
class ModuleResult:
    """The result for a module: proved if `signals` and `why` are empty. `signals` are those that differ in a state;
    `why` is the reason for an unknown result."""

    title: str
    why: str = ""
    signals: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        return not self.signals and not self.why


class CannotRead(Exception):
    """yosys does not read a side; `why` says what of."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class Yosys:
    """yosys as it is called for one comparison, in a folder of its own."""

    tool: Tool
    folder: Path
    limits: Limits
    job: Job

    def run(self, name: str, script: str, timeout_s: float) -> str:
        """'' or the complaint."""
        (self.folder / f"{name}.ys").write_text(script, encoding="utf-8")
        try:
            done = self.job.run(
                [self.tool.path, "-q", "-Q", "-T", f"{name}.ys"], cwd=self.folder, timeout_s=timeout_s,
                on_line=lambda line: None, memory_bytes=self.limits.memory_bytes,
            )  # fmt: skip
        except WorkbenchError:
            return f"stopped after {timeout_s:g} s"
        if done.returncode == 0:
            return ""
        if done.returncode < 0 or "bad_alloc" in done.stderr:
            return f"it needs more than {self.limits.memory_bytes >> 20} MiB of memory"
        return last_words(done.stderr).removeprefix("ERROR: ")


def prove_modules(
    compared: Comparison, tool: Tool, folder: Path, limits: Limits, job: Job, module: str = ""
) -> list[ModuleResult]:
    """What is known of each module, the top first, or of those of one name. CannotRead where yosys cannot read the
    design; WorkbenchError where it has no module of that name."""

    def plain(name: str) -> str:
        return (compared.units.get(name) or _plain(name)).partition(" (")[0]

    yosys = Yosys(tool, folder, limits, job)
    shown = _elaborated(yosys, "gold", compared.original, hidden=compared.hidden)
    shown |= {name: compared.units[name] for name in shown if name in compared.units}
    there = _elaborated(yosys, "gate", compared.made, compared.added, compared.renamed, compared.hidden)
    tops = {_named(compared.original.top): _named(compared.made.top)}
    wanted = (name for name in shown if module in ("", plain(name)))
    names = sorted(wanted, key=lambda one: (one not in tops, shown[one]))
    if not names:
        known = sorted({plain(name) for name in shown})
        raise WorkbenchError(unknown_name("module", module, known))
    both = [name for name in names if tops.get(name, name) in there]
    _split(yosys, "gold", both)
    _split(yosys, "gate", [tops.get(name, name) for name in both])
    done = 0

    def prove(number: int, name: str) -> ModuleResult:
        nonlocal done
        job.progress(done / len(both), shown[name])
        signals, why = _prove(yosys, number)
        done += 1
        return ModuleResult(shown[name], why, signals)

    with ThreadPoolExecutor(2) as pool:
        outcomes = dict(zip(both, pool.map(prove, range(len(both)), both), strict=True))
    return [outcomes.get(name) or ModuleResult(shown[name], "it no longer exists") for name in names]


def _elaborated(
    yosys: Yosys, side: str, design: HdlSide, added: Sequence[str] = (), renamed: Sequence[tuple[str, str]] = (),
    hidden: str = "",
) -> dict[str, str]:  # fmt: skip
    """Read a side into `SIDE.il`. Its modules, with how each is shown."""
    # Names of files are not always words of yosys's scripts.
    folder = yosys.folder / side
    folder.mkdir()
    links: dict[str, Path] = {}
    searched = dict.fromkeys([*design.include_dirs, *(source.parent for source in design.sources)])
    for kind, paths in (("i", searched), ("s", design.sources)):
        for number, path in enumerate(paths):
            name = f"{side}/{kind}{number}{path.suffix if kind == 's' else ''}"
            (yosys.folder / name).symlink_to(path)
            links[name] = path
    sources = [name for name in links if name.startswith(f"{side}/s")]
    flags = [f"-I{name}" for name in links if name not in sources]
    given = ", ".join(f".{name}({_value(value)})" for name, value in design.parameters.items())
    defines = folder / "defines.vh"
    defines.write_text("".join(f"`define {name} {value}\n" for name, value in design.defines.items()), encoding="utf-8")
    top = [f"hierarchy -check -top {design.top}"]
    if given:  # an instance's parameters have a sign as those in a source do, which `chparam` drops
        (folder / "above.v").write_text(
            f"module {_ABOVE}; {design.top} #({given}) top(); endmodule\n", encoding="utf-8"
        )
        sources.append(f"{side}/above.v")
        top = [f"hierarchy -check -top {_ABOVE}", f"delete {_ABOVE}", "hierarchy -auto-top"]
    script = [
        f"read_verilog -sv {' '.join(flags)} {side}/defines.vh {' '.join(sources)}",
        *top,
        f"rename -top {design.top}",
        "proc -norom",  # a case would be a memory on one side alone: copies assign their states in it too
        *(f"delete -port */{port}" for port in added),
        *([f"rename -hide */w:{hidden}*"] if hidden else []),
        f"write_rtlil {side}.il",
    ]
    if complaint := yosys.run(side, "\n".join(script), _ELABORATE_S):
        for name in sorted(links, key=len, reverse=True):
            complaint = complaint.replace(name, links[name].name)
        raise CannotRead(f"yosys cannot read it: {complaint}")
    file = yosys.folder / f"{side}.il"
    text = file.read_text(encoding="utf-8", errors="replace")
    if original := dict(renamed):
        text = re.sub("|".join(map(re.escape, original)), lambda shown: original[shown[0]], text)
    text = "".join(map(_renumbered, _MODULES.split(text)))
    file.write_text(_UNNAMED.sub(r"\\\g<0>", text), encoding="utf-8")  # yosys shows only names that begin with \
    return dict(_modules(file))


def _renumbered(module: str) -> str:
    """A module in which blocks without a name are numbered from 0 on: yosys goes on from those that it read before."""
    numbers = sorted({int(number) for number in _NUMBERED.findall(module)})
    return _NUMBERED.sub(lambda number: str(numbers.index(int(number[0]))), module) if numbers else module


def _value(value: str) -> str:
    return value if re.fullmatch(r"-?[0-9']\S*", value) else f'"{value}"'


def _modules(path: Path) -> Iterator[tuple[str, str]]:
    """The modules of a file, except those without a body, with their parameters."""
    name, parameters, empty, box = "", "", True, False
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if match := _MODULE.match(line):
                name, parameters, empty = match[1], "", True
            elif line.startswith(("attribute \\blackbox 1", "attribute \\whitebox 1")):
                box = True
            elif match := _PARAMETER.match(line):
                parameters += f"{', ' if parameters else ''}{match[1]}={_constant(match[2])}"
            elif line.startswith("end") and name:
                if not box and not empty:
                    yield name, _plain(name) + (f" ({parameters})" if parameters and name.startswith("$") else "")
                name, box = "", False
            elif line.startswith(("  cell ", "  connect ", "  wire ", "  memory ")):
                empty = False


def _constant(text: str) -> str:
    """A parameter's value, as a number where it is written in bits."""
    bits = re.fullmatch(r"\d+'([01]+)", text)
    return str(int(bits[1], 2)) if bits else text


def _named(name: str) -> str:
    return f"\\{name}"


def _plain(name: str) -> str:
    """A module's name as in the sources: `core` of `$paramod\\core\\BITS=s32'11`."""
    hashed = re.fullmatch(r"\$paramod\$[0-9a-f]+\\(.*)", name)
    return hashed[1] if hashed else name.removeprefix("$paramod").split("\\")[1] if "\\" in name else name


def _split(yosys: Yosys, side: str, names: Sequence[str]) -> None:
    """Write each module by itself, cut open, and what has to be the same word by word."""
    script = [f"read_rtlil {side}.il", "design -save all", "blackbox =*", "design -save ports"]
    for number, name in enumerate(names):
        script += [
            "design -load ports",
            f"design -copy-from all {name}",
            f"memory_collect {name}",
            f"opt_clean -purge {name}",
            f"tee -q -o {number}_{side}.txt dump -n {name}/w:* {name}/a:init %i {name}/t:$mem* %u",
            f"expose -evert -evert-dff -dff {name}",
            f"rename {name} {side}",
            f"opt_clean -purge {side}",
            f"delete =* {side} %d",
            f"write_rtlil {number}_{side}.il",
        ]
    if complaint := yosys.run(f"split_{side}", "\n".join(script), _ELABORATE_S):
        raise CannotRead(f"yosys cannot take it apart: {complaint}")


def _prove(yosys: Yosys, number: int) -> tuple[tuple[str, ...], str]:
    """The signals that differ, or why nothing is known."""
    texts = [sorted(_text(yosys.folder / f"{number}_{side}.txt")) for side in ("gold", "gate")]
    if texts[0] != texts[1]:
        different = sorted({line[0] for line in set(texts[0]) ^ set(texts[1])})
        return tuple(f"what {name} begins with, or is made of" for name in different), ""
    script = [
        *(f"read_rtlil {number}_{side}.il" for side in ("gold", "gate")),
        "equiv_make gold gate both", "hierarchy -top both",
        "opt_clean both", "opt_merge both", "opt_clean both",
        "equiv_simple -undef both",
        f"tee -q -o {number}.txt dump both/t:$equiv",
    ]  # fmt: skip
    if complaint := yosys.run(f"prove_{number}", "\n".join(script), yosys.limits.prove_s):
        if unpaired := _NO_PARTNER.search(complaint):
            return (_signal(unpaired[1]),), ""
        return (), f"yosys does not prove it: {complaint}"
    text = (yosys.folder / f"{number}.txt").read_text(encoding="utf-8", errors="replace")
    pairs = (dict(_CONNECTED.findall(cell)) for cell in text.split("\n  end\n"))
    return tuple(dict.fromkeys(_both(pair) for pair in pairs if pair and pair["A"] != pair["B"])), ""


def _both(pair: Mapping[str, str]) -> str:
    """The signal that the two sides of an $equiv cell are, and what it is in place of what."""
    whole, was, is_now = (_signal(pair[one]) for one in "YAB")
    return whole if whole in (was, is_now) or was == is_now else f"{whole} ({is_now} in place of {was})"


def _text(path: Path) -> Iterator[tuple[str, ...]]:
    """What has an initial value, and what memories are made of, each with its name in front."""
    name, before = "", []
    for line in map(str.strip, path.read_text(encoding="utf-8", errors="replace").splitlines()):
        if line.startswith("attribute \\init"):
            before.append(line)
        elif line.startswith("wire "):
            yield _word(line), _PORT_NUMBER.sub("", line).rpartition(" ")[0], *before
            before = []
        elif line.startswith("cell "):
            name = _word(line)
        elif line.startswith("parameter ") and not line.startswith("parameter \\MEMID"):
            yield name, line


def _word(line: str) -> str:
    """The text for a line of RTLIL; it leaves out names from yosys and from places in a file."""
    name = line.rpartition(" ")[2]
    return name.removeprefix("\\") if name.startswith("\\") else "something without a name"


def _signal(name: str) -> str:
    """A signal by its name in the source; a part of a register in words."""
    plain = _UNNAMED.sub("", " " + re.sub(r"_(gold|gate)$", "", name.split(" ")[0].lstrip("\\"))).strip()
    whole, dot, part = plain.rpartition(".")
    return f"{whole}{_PARTS[part]}" if dot and part in _PARTS else plain

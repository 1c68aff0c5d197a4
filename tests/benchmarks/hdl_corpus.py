"""How much real HDL can be observed: every clocked block of a folder of HDL marked, instrumented and checked.

    python tests/benchmarks/hdl_corpus.py DIR [--json] [--quick] [--parse] [--only WORD] [--cycles N] [--seconds S]
        [--jobs N]

Works on copies. Each branch that a pragma can be put before gets one; each module with clocked blocks then becomes a
design of its own, with its ports brought out beside a memory-style port, and is instrumented.

- `files`, `parsed`: files, and those without an error of syntax, with every folder of DIR to include from, and the
  files of DIR that define what they use of macros; `unread` says what is wrong with the others. A file that only others
  include is a part of those, and `lacking` need an include or a macro that no file of DIR has: neither counts;
- `blocks`, `instrumented`: clocked blocks, and those observed in at least one of the designs;
- `modules`: designs that an independent tool (Verilator) elaborates as they are; `unreadable_plain`: those that it does
  not; `elaborated`: those of `modules` that it elaborates as well once instrumented;
- `benches`: modules whose clock is made within, as in test benches;
- `proved`, `simulated`: those in which the module is proved to behave as before (`workbench prove`), or was simulated
  beside the original for N cycles where it cannot be; `equivalent` is both;
- `refused`: designs that are not instrumented, with what is told; `failed`: what else went wrong, and where.

--quick takes the ten smallest files. --cycles 0 simulates nothing: what is not proved is then told as failed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyslang
from pyslang import parsing, syntax
from rc_workbench_plugins.ports.memory import MemoryPort
from rc_workbench_plugins.verilog import VerilogLanguage
from rc_workbench_plugins.verilog.design import read_design
from rc_workbench_plugins.verilog.top import read_top

from workbench.api import HdlBuild
from workbench.api.compile import needed
from workbench.api.equivalence import How, Limits
from workbench.api.job import Job
from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import WorkbenchError, has_errors
from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform
from workbench.model.scan import HdlBlock
from workbench.session.reader_child import ReaderEnded, in_child
from workbench.system.toolchain import Tool, find_verilator, find_yosys, verilator_environment

READ_OUT = ReadOut(first=0, last=15)
PORT = MemoryPort(
    address_bits=16,
    incoming=PortDirection(data_signal="rcb_wr_data", address_signal="rcb_addr", condition_hdl="rcb_wr_en"),
    outgoing=PortDirection(
        data_signal="rcb_rd_data", address_signal="rcb_addr", condition_hdl="rcb_rd_en", delay_cycles=1
    ),
)
HARDWARE = Hardware(clocks=(Clock(name="rcb_clk", frequency_hz=100e6, reset="rcb_rst"),), ports=(PORT,))
PLATFORM = Platform(schema_version=2, name="corpus", hardware=HARDWARE)
UNIT = re.compile(r"^\s*(?:module|package|interface)\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE)
MODULE = re.compile(r"^\s*module\s+(\w+)", re.MULTILINE)


DEFINE = re.compile(r"^\s*`define\s+(\w+)", re.MULTILINE)
MACRO = re.compile(r"unknown macro or compiler directive '`(\w+)'")
INCLUDE = re.compile(r'^\s*`include\s+"([^"]+)"', re.MULTILINE)
SUFFIXES = (".v", ".sv")
ELABORATE_S = 120.0


@dataclass
class Result:
    files: int = 0
    parsed: int = 0
    blocks: int = 0
    instrumented: int = 0
    modules: int = 0
    elaborated: int = 0
    equivalent: int = 0
    proved: int = 0
    simulated: int = 0
    lacking: list[dict[str, str]] = field(default_factory=list)
    benches: list[dict[str, str]] = field(default_factory=list)
    unread: list[dict[str, str]] = field(default_factory=list)
    unreadable_plain: list[dict[str, str]] = field(default_factory=list)
    refused: list[dict[str, str]] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)


@dataclass
class Tried:
    """What came of one design: `what` is the field of the result that it counts for, or is listed in."""

    file: str
    module: str
    what: str
    why: str = ""
    observed: tuple[str, ...] = ()


class Corpus:
    """The marked copies, and which file defines which module."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self.names = list(names)
        self.texts = {name: (folder / name).read_text(errors="replace") for name in self.names}
        self.include_dirs = tuple(sorted(self._include_dirs()))
        self.defines: dict[str, list[str]] = {}
        for name in self.names:
            for module in UNIT.findall(self.texts[name]):
                self.defines.setdefault(module, []).append(name)
        words = {name: set(re.findall(r"\w+", text)) for name, text in self.texts.items()}
        self.uses = {name: words[name] & self.defines.keys() for name in self.names}
        included = {Path(path).name for text in self.texts.values() for path in INCLUDE.findall(text)}
        self.fragments = {name for name in self.names if Path(name).name in included}
        self.fragments -= {name for name in self.names if MODULE.search(self.texts[name])}
        self.macros: dict[str, list[str]] = {}
        for name in self.names:
            for macro in DEFINE.findall(self.texts[name]):
                self.macros.setdefault(macro, []).append(name)

    def _include_dirs(self) -> set[str]:
        """The files' folders, and those from which a file of DIR is included by a path."""
        found = {str(Path(name).parent) for name in self.names}
        headers = [path.relative_to(self.folder) for path in self.folder.rglob("*.*h") if path.is_file()]
        texts = [*self.texts.values(), *((self.folder / path).read_text(errors="replace") for path in headers)]
        wanted = {Path(path).parts for text in texts for path in INCLUDE.findall(text)}
        for path in (*headers, *map(Path, self.names)):
            found |= {str(Path(*path.parts[: -len(parts)])) for parts in wanted if path.parts[-len(parts) :] == parts}
        return found

    def sources(self, name: str) -> tuple[str, ...]:
        """A file and all that define what it uses: of several, the nearest."""
        needed_files, waiting = {name: None}, [name]
        while waiting:
            user = waiting.pop()
            for word in sorted(self.uses[user]):
                there = self.defines[word]
                if not any(other in needed_files for other in there):
                    other = max(there, key=lambda one: (len(common(one, user)), -len(one)))
                    needed_files[other] = None
                    waiting.append(other)
        return tuple(needed_files)

    def hardware(self, sources: Sequence[str], top: str, include_dirs: Sequence[str] | None = None) -> HardwareSources:
        folders = self.include_dirs if include_dirs is None else tuple(include_dirs)
        return HardwareSources(sources=tuple(sources), top=top, include_dirs=folders, read_out=READ_OUT)

    def nearest_first(self, name: str) -> tuple[str, ...]:
        """Folders to include from, those that share most of the way with a file's first."""
        return tuple(sorted(self.include_dirs, key=lambda one: (-len(common(one, name)), len(one))))


def common(one: str, other: str) -> list[str]:
    """The folders that two paths begin with."""
    pairs = zip(Path(one).parts, Path(other).parts, strict=False)
    return [a for a, b in pairs if a == b]


def mark(corpus: Corpus, name: str, blocks: Sequence[HdlBlock]) -> None:
    """Write a pragma before every branch of a file that can have one."""
    path = corpus.folder / name
    lines = path.read_bytes().split(b"\n")
    places = {b.pragma_line: b.indent for block in blocks for b in block.branches if b.pragma_line}
    for number, (line, indent) in enumerate(sorted(places.items(), reverse=True)):
        lines.insert(line - 1, b" " * (indent - 1) + f"//pragma recap b{number} work()".encode())
    path.write_bytes(b"\n".join(lines))


def shell(folder: Path, hardware: HardwareSources, module: str, clock: str) -> tuple[str, tuple[str, ...]]:
    """A top level with a memory-style port around a module, whose clock is the port's; '' where its clock is no input.
    The sources that it reaches, with what stands in for vendors' primitives."""
    design = read_design(folder, hardware, {})
    if design.top is None or has_errors(design.diagnostics):
        raise WorkbenchError(*(one for one in design.diagnostics if has_errors([one])))
    reached = tuple(map(str, design.needed))
    every = read_top(design.top, module).ports
    if not any(port.name == clock and port.direction == "input" for port in every):
        return "", reached
    ports = [port for port in every if port.name != clock]
    outside = "".join(f", {port.direction} {port.type} p_{port.name}{port.unpacked}" for port in ports)
    inside = "".join(f", .{port.name}(p_{port.name})" for port in ports)
    text = (
        "module rcb_top(input wire rcb_clk, rcb_rst, rcb_wr_en, rcb_rd_en, input wire [15:0] rcb_addr,\n"
        f"  input wire [31:0] rcb_wr_data, output wire [31:0] rcb_rd_data{outside});\n"
        f"  assign rcb_rd_data = rcb_addr;\n  {module} dut(.{clock}(rcb_clk){inside});\nendmodule\n"
    )
    return text, reached


def elaborated(tool: Tool, sources: Sequence[Path | str], includes: Sequence[Path | str], folder: Path) -> str:
    """'' or Verilator's complaint about a design."""
    command = [tool.path, "--lint-only", "-Wno-lint", "-Wno-fatal", "--no-timing", "--top-module", "rcb_top",
               *(f"-I{path}" for path in includes), *sources]  # fmt: skip
    try:
        done = subprocess.run(command, cwd=folder, env=verilator_environment(tool), capture_output=True, text=True,
                              timeout=ELABORATE_S)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"gave up after {ELABORATE_S:g} s"
    errors = [line for line in done.stderr.splitlines() if line.startswith("%Error")]
    return "" if done.returncode == 0 else (errors or done.stderr.strip().splitlines() or ["no word"])[0]


def clocks(blocks: Sequence[HdlBlock], module: str) -> Iterator[str]:
    names = [block.clock for block in blocks if block.component == module and re.fullmatch(r"\w+", block.clock)]
    yield from sorted(set(names), key=lambda name: -names.count(name))


def try_module(corpus: Corpus, limits: Limits, task: tuple[str, str, str]) -> Tried:
    """One module of a file as a design, on one of its clocks."""
    name, module, clock = task
    tried = partial(Tried, name, module)
    verilator = needed(find_verilator())
    with tempfile.TemporaryDirectory(prefix="corpus-") as scratch:
        top = Path(scratch) / "rcb_top.sv"
        sources, includes = corpus.sources(name), corpus.nearest_first(name)
        try:
            hardware = corpus.hardware(sources, module, includes)
            text, reached = in_child(partial(shell, corpus.folder, hardware, module, clock), 60.0)
        except (WorkbenchError, ReaderEnded) as error:
            return tried("unreadable_plain", str(error))
        if not text:
            return tried("benches", "its clock is none of its inputs")
        top.write_text(text)
        hardware = corpus.hardware((*sources, str(top)), "rcb_top", includes)
        if complaint := elaborated(verilator, (*reached, str(top)), includes, corpus.folder):
            return tried("unreadable_plain", complaint)
        made = Path(scratch) / "observed"
        try:
            build: HdlBuild = in_child(
                lambda: VerilogLanguage().instrument(corpus.folder, hardware, PLATFORM, {}, made), 120.0
            )
        except WorkbenchError as error:
            return tried("refused", " ".join(one.text() for one in error.diagnostics if has_errors([one])))
        except ReaderEnded as error:
            return tried("failed", f"instrument: {error.why}")
        observed = tuple(f"{b.file}:{b.line}" for b in build.blocks if len(b.states) > 1)
        tried = partial(tried, observed=observed)
        if complaint := elaborated(verilator, build.sources, build.include_dirs, corpus.folder):
            return tried("failed", f"elaborates as it is, not instrumented: {complaint}")
        proof = VerilogLanguage().prove(build, corpus.folder, limits, Job(), module)
        problems = "; ".join(one.message for one in proof.diagnostics)
        for one in proof.verdicts:
            if not one.holds:
                differs = f"differs in {', '.join(one.signals)}" if one.how is How.DIFFERS else "not known"
                return tried("failed", f"{one.module}: {differs}: {one.why} {problems}")
        if all(one.how is How.PROVED for one in proof.verdicts):
            return tried("proved")
        return tried("simulated", proof.verdicts[0].why)


def try_all(root: Path, folder: Path, arguments: argparse.Namespace) -> Result:
    paths = sorted(
        (p for p in root.rglob("*") if p.suffix in SUFFIXES and p.is_file() and ".git" not in p.parts),
        key=lambda p: p.stat().st_size,
    )
    shutil.copytree(root, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"), symlinks=True,
                    ignore_dangling_symlinks=True)  # fmt: skip
    corpus = Corpus(folder, [str(path.relative_to(root)) for path in paths])
    names = [name for name in (corpus.names[:10] if arguments.quick else corpus.names) if arguments.only in name]
    result = Result()
    for name in names:
        if name not in corpus.fragments:
            count_file(result, corpus, name)
    if arguments.parse:
        return result
    found = dict(clocked(corpus, result))
    for name, blocks in found.items():
        mark(corpus, name, blocks)
    result.blocks = sum(len(found[name]) for name in names if name in found)
    tasks = [
        (name, module, clock)
        for name in names
        for module in dict.fromkeys(block.component for block in found.get(name, ()))
        for clock in list(clocks(found[name], module))[:1]
    ]
    observed: set[str] = set()
    limits = Limits(prove_s=arguments.seconds, cycles=arguments.cycles, simulate_s=20)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for number, tried in enumerate(pool.map(partial(try_module, corpus, limits), tasks), 1):
            print(f"{number}/{len(tasks)} {tried.module}: {tried.what} {tried.why[:150]}", file=sys.stderr)
            count(result, tried)
            observed.update(tried.observed)
    result.instrumented = len(observed)
    return result


def count_file(result: Result, corpus: Corpus, name: str) -> None:
    try:
        wrong, lacks = in_child(partial(syntax_errors, corpus, name), 60.0)
    except ReaderEnded as error:
        wrong, lacks = error.why, ""
    if lacks:
        result.lacking.append({"file": name, "why": lacks})
        return
    result.files += 1
    if wrong:
        result.unread.append({"file": name, "why": wrong})
    else:
        result.parsed += 1


def clocked(corpus: Corpus, result: Result) -> Iterator[tuple[str, tuple[HdlBlock, ...]]]:
    """The clocked blocks of each file."""
    for name in corpus.names:
        modules = MODULE.findall(corpus.texts[name])
        hardware = corpus.hardware((name,), modules[0] if modules else "", corpus.nearest_first(name))
        try:
            scan = in_child(partial(VerilogLanguage().scan, corpus.folder, hardware, PLATFORM, {}), 60.0)
        except ReaderEnded as error:
            result.failed.append({"file": name, "why": f"scan: {error.why}"})
            continue
        yield name, tuple(block for block in scan.blocks if block.file == name)


def syntax_errors(corpus: Corpus, name: str) -> tuple[str, str]:
    """The first error of a file's syntax, and what it needs that no file has; both may be ''."""
    before: dict[str, None] = {}
    while True:
        manager, options = pyslang.SourceManager(), parsing.PreprocessorOptions()
        options.additionalIncludePaths = [str(corpus.folder / one) for one in corpus.nearest_first(name)]
        files = [str(corpus.folder / one) for one in (*before, name)]
        tree = syntax.SyntaxTree.fromFiles(files, manager, pyslang.Bag([options]))
        errors = [one for one in tree.diagnostics if one.isError()]
        engine = pyslang.DiagnosticEngine(manager)
        macros = [said[1] for one in errors if (said := MACRO.search(engine.formatMessage(one)))]
        found = {one for macro in macros for one in corpus.macros.get(macro, ())[:1]} - {*before, name}
        if not found:
            break
        before.update(dict.fromkeys(sorted(found)))
    if absent := [one for one in errors if "CouldNotOpenInclude" in str(one.code)]:
        return "", engine.formatMessage(absent[0])
    if unknown := [macro for macro in macros if macro not in corpus.macros]:
        return "", f"the macro {unknown[0]}"
    if not errors:
        return "", ""
    line = manager.getLineNumber(manager.getFullyExpandedLoc(errors[0].location))
    return f"line {line}: {engine.formatMessage(errors[0])}", ""


def count(result: Result, tried: Tried) -> None:
    if tried.what not in ("unreadable_plain", "benches"):
        result.modules += 1
    if tried.what in ("proved", "simulated") or (tried.what == "failed" and "elaborates as it is" not in tried.why):
        result.elaborated += 1
    if tried.what in ("proved", "simulated"):
        setattr(result, tried.what, getattr(result, tried.what) + 1)
        result.equivalent += 1
    else:
        why = " ".join(f"{tried.module}: {tried.why}".split())[:300]
        getattr(result, tried.what).append({"file": tried.file, "why": why})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cycles", type=int, default=2000, help="of what is not proved")
    parser.add_argument("--seconds", type=float, default=60, help="at most, to prove a design")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", metavar="WORD", help="files whose path holds this")
    parser.add_argument("--parse", action="store_true", help="read the files, and no more")
    arguments = parser.parse_args()
    needed(find_yosys())
    with tempfile.TemporaryDirectory() as folder:
        result = try_all(arguments.folder.resolve(), Path(folder), arguments)
    shown: dict[str, Any] = vars(result)
    if arguments.json:
        print(json.dumps(shown, indent=2))
        return
    for key, value in shown.items():
        print(f"{key}: {value if isinstance(value, int) else len(value)}")
        for row in value if isinstance(value, list) else ():
            print(f"    {row['file']}: {row['why']}")


if __name__ == "__main__":
    main()

"""How much real HDL can be observed: every clocked block of a folder of Verilog marked, instrumented and checked.

    python tests/benchmarks/hdl_corpus.py DIR [--json] [--quick]

Works on copies. Each branch that a pragma can be put before gets one; each module with clocked blocks then becomes a
design of its own, with its ports brought out beside a memory-style port, and is instrumented.

- `files`, `parsed`: files, and those that slang reads without an error, with every folder of DIR to include from;
- `blocks`, `instrumented`: clocked always blocks, and those observed in at least one of the designs;
- `modules`, `elaborated`, `equivalent`: designs tried; those that yosys reads, checks and elaborates once instrumented;
  and those of which it proves that the user's part is what it was, apart from the states;
- `unreadable_plain`: designs that yosys does not read even as they are; `failed`: what else went wrong, and where.

--quick takes the ten smallest files. A proof is given up after a minute.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rc_workbench_plugins.ports.memory import MemoryPort
from rc_workbench_plugins.verilog import VerilogLanguage
from rc_workbench_plugins.verilog.design import read_design
from rc_workbench_plugins.verilog.top import read_top

from workbench.model.application import HardwareSources, ReadOut
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors
from workbench.model.hardware import Clock, Hardware, PortDirection
from workbench.model.platform import Platform
from workbench.model.scan import HdlBlock
from workbench.system.toolchain import find_yosys

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
MODULE = re.compile(r"^\s*module\s+(\w+)", re.MULTILINE)


@dataclass
class Result:
    files: int = 0
    parsed: int = 0
    blocks: set[str] = field(default_factory=set)
    instrumented: set[str] = field(default_factory=set)
    modules: int = 0
    elaborated: int = 0
    equivalent: int = 0
    unreadable_plain: list[str] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)

    def fail(self, file: str, why: str) -> None:
        self.failed.append({"file": file, "why": why.strip().replace("\n", " ")[:300]})


class Corpus:
    """The marked copies, and which file defines which module."""

    def __init__(self, folder: Path, paths: Sequence[Path], root: Path) -> None:
        self.folder = folder
        self.include_dirs = tuple(sorted({str(path.parent.relative_to(root)) for path in paths}))
        self.names = [str(path.relative_to(root)) for path in paths]
        self.texts = {name: (folder / name).read_text(errors="replace") for name in self.names}
        self.defines = {module: name for name in self.names for module in MODULE.findall(self.texts[name])}
        self.uses = {
            name: {self.defines[word] for word in set(re.findall(r"\w+", text)) & self.defines.keys()}
            for name, text in self.texts.items()
        }

    def sources(self, name: str) -> tuple[str, ...]:
        """A file and all that define what it uses."""
        needed, waiting = {name: None}, [name]
        while waiting:
            for other in sorted(self.uses[waiting.pop()]):
                if other not in needed:
                    needed[other] = None
                    waiting.append(other)
        return tuple(needed)

    def hardware(self, sources: Sequence[str], top: str) -> HardwareSources:
        return HardwareSources(sources=tuple(sources), top=top, include_dirs=self.include_dirs, read_out=READ_OUT)


def mark(corpus: Corpus, name: str, blocks: Sequence[HdlBlock]) -> None:
    """Write a pragma before every branch of a file that can have one."""
    path = corpus.folder / name
    lines = path.read_bytes().split(b"\n")
    places = {b.pragma_line: b.indent for block in blocks for b in block.branches if b.pragma_line}
    for number, (line, indent) in enumerate(sorted(places.items(), reverse=True)):
        lines.insert(line - 1, b" " * (indent - 1) + f"//pragma recap b{number} work()".encode())
    path.write_bytes(b"\n".join(lines))


def shell(corpus: Corpus, sources: Sequence[str], module: str, clock: str) -> str:
    """A top level with a memory-style port around a module; the module's clock is the port's."""
    design = read_design(corpus.folder, corpus.hardware(sources, module), {})
    if design.top is None or has_errors(design.diagnostics):
        raise WorkbenchError(*design.diagnostics)
    ports = [port for port in read_top(design.top, module).ports if port.name != clock]
    outside = "".join(f", {port.direction} {port.type} p_{port.name}{port.unpacked}" for port in ports)
    inside = "".join(f", .{port.name}(p_{port.name})" for port in ports)
    return (
        "module rcb_top(input wire rcb_clk, rcb_rst, rcb_wr_en, rcb_rd_en, input wire [15:0] rcb_addr,\n"
        f"  input wire [31:0] rcb_wr_data, output wire [31:0] rcb_rd_data{outside});\n"
        f"  assign rcb_rd_data = rcb_addr;\n  {module} dut(.{clock}(rcb_clk){inside});\nendmodule\n"
    )


def yosys(program: Path, script: str, folder: Path) -> str:
    """'' or yosys's complaint."""
    try:
        done = subprocess.run([program, "-q", "-p", script], cwd=folder, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "gave up after 60 s"
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def read_script(corpus: Corpus, sources: Sequence[Path | str], top: str, includes: Sequence[Path | str]) -> str:
    flags = " ".join(f"-I{path}" for path in includes)
    return f"read_verilog -sv {flags} {' '.join(map(str, sources))}; hierarchy -check -top {top}; proc; flatten"


def clocks(blocks: Sequence[HdlBlock], module: str) -> Iterator[str]:
    names = [block.clock for block in blocks if block.component == module and re.fullmatch(r"\w+", block.clock)]
    yield from sorted(set(names), key=lambda name: -names.count(name))


def try_module(corpus: Corpus, program: Path, name: str, module: str, clock: str, result: Result) -> None:
    result.modules += 1
    sources = corpus.sources(name)
    top = corpus.folder / "rcb_top.v"
    top.write_text(shell(corpus, sources, module, clock))
    hardware = corpus.hardware((*sources, top.name), "rcb_top")
    build = VerilogLanguage().instrument(corpus.folder, hardware, PLATFORM, {}, corpus.folder / "observed")
    for block in build.blocks:
        if len(block.states) > 1:
            result.instrumented.add(f"{block.file}:{block.line}")
    plain = read_script(corpus, hardware.sources, "rcb_top", corpus.include_dirs)
    observed = read_script(corpus, build.sources, "rcb_top", build.include_dirs)
    if complaint := yosys(program, plain, corpus.folder):
        result.unreadable_plain.append(f"{name}: {module}: {complaint}"[:200])
        return
    if complaint := yosys(program, f"{observed}; check -assert", corpus.folder):
        result.fail(name, f"{module}: {complaint}")
        return
    result.elaborated += 1
    inner = observed.replace("-top rcb_top", "-top rcb_top__recap_user")
    tidy = "memory -nomap; async2sync; opt_clean"
    proof = (
        f"{plain}; {tidy}; rename rcb_top gold; design -stash gold; {inner}; delete -port "
        f"rcb_top__recap_user/recap_state; {tidy}; rename rcb_top__recap_user gate; design -stash gate; "
        "design -copy-from gold gold; design -copy-from gate gate; equiv_make gold gate both; hierarchy -top both; "
        "equiv_struct both; equiv_simple -undef both; equiv_induct -undef both; equiv_status -assert both"
    )
    if complaint := yosys(program, proof, corpus.folder):
        result.fail(name, f"{module}: not proved equivalent: {complaint}")
    else:
        result.equivalent += 1


def try_all(root: Path, folder: Path, program: Path, quick: bool) -> Result:
    paths = sorted((p for p in root.rglob("*") if p.suffix in (".v", ".sv")), key=lambda p: p.stat().st_size)
    shutil.copytree(root, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    corpus = Corpus(folder, paths, root)
    result = Result()
    names = corpus.names[:10] if quick else corpus.names
    language = VerilogLanguage()
    clocked: dict[str, tuple[HdlBlock, ...]] = {}
    for name in corpus.names:
        modules = MODULE.findall(corpus.texts[name])
        scan = language.scan(folder, corpus.hardware((name,), modules[0] if modules else ""), PLATFORM, {})
        clocked[name] = tuple(block for block in scan.blocks if block.file == name)
        mark(corpus, name, clocked[name])
        if name in names:
            result.files += 1
            wrong = [d for d in scan.diagnostics if d.line and not re.match("unknown (module|package)", d.message)]
            if not has_errors(wrong):
                result.parsed += 1
            else:
                result.fail(name, next(d.text() for d in wrong if has_errors([d])))
            result.blocks |= {f"{name}:{block.id}" for block in clocked[name]}
    for name in names:
        for module in dict.fromkeys(block.component for block in clocked[name]):
            for clock in clocks(clocked[name], module):
                try:
                    try_module(corpus, program, name, module, clock, result)
                except WorkbenchError as error:
                    result.fail(name, f"{module}: {error}")
                break
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    program = find_yosys()
    if isinstance(program, Diagnostic):
        sys.exit(program.text())
    with tempfile.TemporaryDirectory() as folder:
        result = try_all(arguments.folder.resolve(), Path(folder), program.path, arguments.quick)
    shown: dict[str, Any] = {**vars(result), "blocks": len(result.blocks), "instrumented": len(result.instrumented)}
    if arguments.json:
        print(json.dumps(shown, indent=2))
        return
    for key, value in shown.items():
        print(f"{key}: {value if isinstance(value, int) else len(value)}")
        for row in value if isinstance(value, list) else ():
            print(f"    {row['file']}: {row['why']}" if isinstance(row, dict) else f"    {row}")


if __name__ == "__main__":
    main()

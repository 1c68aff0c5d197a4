"""How much real VHDL is observed without a change: every entity with clocked processes marked, instrumented and proved.

    python tests/benchmarks/vhdl_proofs.py DIR... [--json] [--only WORD] [--first N] [--cycles N] [--seconds S]
        [--jobs N]

Works on copies. Each branch that a pragma can be put before gets one; each entity with clocked processes then becomes a
design of its own, with its generics' defaults (or 8, or true), its ports brought out beside a memory-style port, and is
instrumented.

- `entities`: those that GHDL elaborates as they are; `alone`: those that it does not, as without values for generics;
- `instrumented`: those that GHDL takes as copies too; `blocks`, `observed`: their clocked processes after elaboration;
- `proved`, `simulated`: those that are proved to be as before (`workbench prove`), or were simulated by GHDL beside the
  original for N cycles, with why they are not proved; `checked`: those whose synthesis also was held against the VHDL
  before a run, and did what it says; `wrong`: those in which GHDL's synthesis does another thing;
- `refused`: designs that are not instrumented, with what is told; `failed`: what else went wrong.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hdl_corpus import PLATFORM, READ_OUT
from rc_workbench_plugins.vhdl import VhdlLanguage
from rc_workbench_plugins.vhdl.checked import check
from rc_workbench_plugins.vhdl.design import read_units
from rc_workbench_plugins.vhdl.language import read
from rc_workbench_plugins.vhdl.libraries import WORK
from rc_workbench_plugins.vhdl.syntax import child, plain, read_file, text_of
from rc_workbench_plugins.vhdl.units import Declared, Unit, units_of
from vhdl_corpus import blocks_of, pragmas_put, vhdl_files

from workbench.api.equivalence import How, Limits
from workbench.api.job import Job, JobEvent
from workbench.model.application import HardwareSources
from workbench.model.diagnostic import WorkbenchError, has_errors
from workbench.session.reader_child import ReaderEnded, in_child

SHELL = """\
{context}
library ieee; use ieee.std_logic_1164.all;
entity rcb_top is
    {generics}
    port (rcb_clk, rcb_rst, rcb_wr_en, rcb_rd_en : in std_logic; rcb_addr : in std_logic_vector(15 downto 0);
        rcb_wr_data : in std_logic_vector(31 downto 0); rcb_rd_data : out std_logic_vector(31 downto 0){ports});
end entity;
architecture around of rcb_top is
begin
    rcb_rd_data <= x"0000" & rcb_addr;
    dut : entity work.{name}{generic_map} port map ({port_map});
end architecture;
"""


@dataclass
class Tried:
    """What came of one entity: `what` is the word that it counts for."""

    entity: str
    what: str
    why: str = ""
    blocks: int = 0
    observed: int = 0
    checked: str = ""


def shell(unit: Unit, clock: str) -> str:
    """A top with a memory-style port around an entity, whose clock is the port's."""
    interface = unit.interface
    assert interface is not None
    ports = [port for port in interface.ports if plain(port.name) != plain(clock)]
    modes = (f"; {port.name} : {port.mode or 'in'} {port.type}" for port in ports)
    generics = ", ".join(f"{one.name} => {one.name}" for one in interface.generics)
    own = (f", {port.name} => {port.name}" for port in ports)
    return SHELL.format(
        context=unit.file.data[unit.start : unit.node.start_byte].decode("latin-1"), name=unit.name,
        generics=text_of(child(child(unit.node, "entity_head"), "generic_clause")), ports="".join(modes),
        generic_map=f" generic map ({generics})" if generics else "",
        port_map=f"{clock} => rcb_clk{''.join(own)}",
    )  # fmt: skip


@cache
def libraries(folder: Path) -> dict[str, list[str]]:
    """The files of each library other than `work`, as the sources call it."""
    found: dict[str, list[str]] = {}
    for file in read_units([path for path in vhdl_files(folder) if not path.name.startswith("rcb_top_")], {})[0]:
        if file.library != WORK and file.path.is_relative_to(folder):
            found.setdefault(file.library, []).append(str(file.path))
    return found


def entities(folder: Path) -> Iterator[tuple[Path, str, str, str]]:
    """Entities with clocked processes of their own: their file, name, clock and library."""
    of = {file: library for library, files in libraries(folder).items() for file in files}
    for path in vhdl_files(folder):
        try:
            clocks: dict[str, Counter[str]] = {}
            for block in blocks_of(path):
                clocks.setdefault(plain(block.module), Counter())[block.clock] += 1
            for unit in units_of(read_file(path, "work", 0)):
                own = clocks.get(plain(unit.name), Counter()) if unit.kind == "entity" and unit.interface else Counter()
                inputs = {plain(p.name) for p in unit.interface.ports if p.mode in ("", "in")} if unit.interface else ()
                clock = next((name for name, _ in own.most_common() if plain(name) in inputs), "")
                if clock:
                    yield path, unit.name, clock, of.get(str(path), WORK)
        except Exception as error:  # a defect, to be told with its file
            print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)


def try_entity(folder: Path, limits: Limits, task: tuple[Path, str, str, str]) -> Tried:
    """One entity as a design."""
    path, name, clock, library = task
    own = libraries(folder)
    tried = partial(Tried, name)
    with TemporaryDirectory(prefix="proofs-") as scratch:
        unit = next(u for u in units_of(read_file(path, "work", 0)) if u.kind == "entity" and u.name == name)
        top = path.with_name(f"rcb_top_{name}.vhd")
        top.write_text(shell(unit, clock), encoding="latin-1")
        others = [str(one) for one in vhdl_files(folder) if not one.name.startswith("rcb_top_")]
        given = {one.name: value for one in unit.interface.generics if (value := _value(one))} if unit.interface else {}
        hardware = HardwareSources(
            sources=(*others, str(top)),
            top="rcb_top",
            read_out=READ_OUT,
            parameters=dict[str, Any](given),
            libraries={one: (*files, *([str(top)] if one == library else [])) for one, files in own.items()},
        )
        try:
            found = in_child(partial(_alone, folder, hardware), 120.0)
            if found:
                return tried("alone", found)
            made = Path(scratch) / "made"
            build = in_child(lambda: VhdlLanguage().instrument(folder, hardware, PLATFORM, {}, made), 240.0)
        except WorkbenchError as error:
            return tried("refused", " ".join(one.text() for one in error.diagnostics if has_errors([one])))
        except ReaderEnded as error:
            return tried("failed", f"instrument: {error.why}")
        except Exception as error:  # a defect, to be told
            return tried("failed", f"instrument: {type(error).__name__}: {error}")
        finally:
            top.rename(Path(scratch) / top.name)
        (Path(scratch) / top.name).rename(top)
        try:
            observed = sum(len(block.states) > 1 for block in build.blocks)
            tried = partial(tried, blocks=len(build.blocks), observed=observed)
            proof = VhdlLanguage().prove(build, folder, limits, Job())
            problems = "; ".join(one.message for one in proof.diagnostics)
            for one in proof.verdicts:
                if not one.holds:
                    differs = f"differs in {', '.join(one.signals)}" if one.how is How.DIFFERS else "not known"
                    return tried("failed", f"{one.module}: {differs}: {one.why} {problems}")
            checked = _checked(build, folder)
            if all(one.how is How.PROVED for one in proof.verdicts):
                return tried("proved", checked=checked)
            why = next(one.why for one in proof.verdicts if one.how is not How.PROVED)
            return tried("simulated", why, checked=checked)
        except Exception as error:  # a defect, to be told
            return tried("failed", f"{type(error).__name__}: {error}")
        finally:
            top.unlink()


def _value(generic: Declared) -> str:
    """What a generic without a default is given."""
    if generic.default:
        return ""
    name = generic.type.lower().partition(" ")[0]
    return {"boolean": "true", "integer": "8", "natural": "8", "positive": "8"}.get(name, "")


def _alone(folder: Path, hardware: HardwareSources) -> str:
    """What keeps a design from being elaborated as it is."""
    found = read(folder, hardware, PLATFORM, {}, Job())
    wrong = [one for one in found.design.diagnostics if has_errors([one])]
    return "" if found.top is not None and not wrong else " ".join(one.text() for one in wrong) or "no top"


def _checked(build: Any, folder: Path) -> str:
    told: list[JobEvent] = []
    try:
        check(build, folder, Job(told.append))
    except WorkbenchError as error:
        return f"wrong: {error.diagnostics[0].message}"
    notes = [event.diagnostic.message for event in told if event.diagnostic is not None]
    return f"not: {notes[0]}" if notes else "equal"


def look(root: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    shutil.copytree(root, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"), symlinks=True,
                    ignore_dangling_symlinks=True)  # fmt: skip
    for path in vhdl_files(folder):
        try:
            path.write_bytes(pragmas_put(path, blocks_of(path)))
        except Exception as error:  # a defect, to be told with its file
            print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
    tasks = [task for task in entities(folder) if options.only in str(task[0])][: options.first]
    limits = Limits(prove_s=options.seconds, cycles=options.cycles, simulate_s=20)
    counts: Counter[str] = Counter()
    told: dict[str, list[str]] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for number, tried in enumerate(pool.map(partial(try_entity, folder, limits), tasks), 1):
            why = " ".join(tried.why.replace(str(folder), "").split())[:200]
            print(
                f"{number}/{len(tasks)} {tried.entity}: {tried.what} {tried.checked} {why}", file=sys.stderr, flush=True
            )
            counts[tried.what] += 1
            counts["entities"] += tried.what != "alone"
            counts["instrumented"] += tried.blocks > 0 or tried.what in ("proved", "simulated")
            counts["blocks"] += tried.blocks
            counts["observed"] += tried.observed
            counts["checked"] += tried.checked == "equal"
            counts["wrong"] += tried.checked.startswith("wrong")
            if tried.what != "proved":
                told.setdefault(tried.what, []).append(f"{tried.entity}: {why}")
            if tried.checked not in ("", "equal"):
                told.setdefault("checked", []).append(f"{tried.entity}: {tried.checked}")
    return {"folder": root.name, **counts, "told": told}


NAMES = (
    "alone", "entities", "refused", "instrumented", "blocks", "observed", "proved", "simulated", "failed", "checked",
    "wrong",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD", help="files whose path holds this")
    parser.add_argument("--first", type=int, default=None, metavar="N", help="so many entities")
    parser.add_argument("--cycles", type=int, default=2000, help="of what is not proved")
    parser.add_argument("--seconds", type=float, default=60, help="at most, to prove an entity")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    results: Sequence[dict[str, Any]] = []
    for root in options.folders:
        with TemporaryDirectory() as folder:
            results = [*results, look(root.resolve(), Path(folder).resolve(), options)]
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{'folder':16}" + "".join(f"{name:>13}" for name in NAMES))
    for result in results:
        print(f"{result['folder']:16}" + "".join(f"{result.get(name, 0):>13}" for name in NAMES))
        for what, lines in result["told"].items():
            for line in lines:
                print(f"    {what}: {line}")


if __name__ == "__main__":
    main()

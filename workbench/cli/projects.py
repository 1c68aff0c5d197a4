"""`workbench scan`, `instrument` and `run`."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from workbench.analysis.finding_words import shortfall_words
from workbench.api.instrument.port_finder import FoundPort, find_ports
from workbench.api.job import Job
from workbench.cli.asking import ask_trust
from workbench.cli.ended import Ended, ended_of
from workbench.cli.opened import Opened
from workbench.cli.output import DONE, FAILED, as_json, call_json, print_diagnostics, print_json
from workbench.cli.progress import progress
from workbench.cli.runs import moment_ps
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.run import PS_PER_S, Run
from workbench.model.scan import HdlBlock, HdlScan
from workbench.model.streams import Fifo, Stream
from workbench.model.text import counted, table, time_text
from workbench.session.keep.collecting import collect_records
from workbench.session.make.agents import agent_switches
from workbench.session.make.pipeline import RunOptions, instrument_workspace, run_workspace
from workbench.session.open.opening import open_workspace
from workbench.session.open.workspace import Workspace, parse_settings
from workbench.session.program.plugins import Plugins

OVERHEAD = ("host_pct", "virtual_pct", "taken_off_pct", "unsure_pct")


def _open(arguments: argparse.Namespace, plugins: Plugins) -> Workspace:
    workspace = open_workspace(arguments.project, plugins)
    print_diagnostics(workspace.diagnostics)
    return workspace


def run_definition(arguments: argparse.Namespace, workbench: Opened) -> int:
    """The JSON document's `definition` is null where no name is there, or none that is known; exit code 1 then."""
    file, *place = arguments.place.rsplit(":", 2)
    if len(place) != 2 or not all(number.isdecimal() and int(number) for number in place):
        raise WorkbenchError(Diagnostic(f"'{arguments.place}' is not a place", "Write for example host/main.c:12:5."))
    workspace = _open(arguments, workbench.plugins)
    with progress() as watch:
        definition = workspace.definition(Path(file), int(place[0]), int(place[1]), Job(watch))
    if arguments.json:
        print_json({"definition": asdict(definition) if definition else None})
    elif definition:
        print(f"{definition.file}:{definition.line}:{definition.column}: {definition.what} {definition.name}")
    else:
        print(f"{arguments.place}: no definition found", file=sys.stderr)
    return DONE if definition else FAILED


def run_scan(arguments: argparse.Namespace, workbench: Opened) -> int:
    workspace = _open(arguments, workbench.plugins)
    with progress() as watch:
        scan = workspace.scan(parse_settings(arguments.changes), Job(watch))
    problems = workspace.diagnostics + scan.diagnostics
    tops = [top.project.hardware.top for top in workspace.boards]
    ports = [
        (place, top, port)
        for (place, hdl), top in zip(scan.hdl.each, tops, strict=False)
        for port in find_ports(hdl.ports, workspace.port_kinds.values(), [clock for clock, _ in hdl.clocks]).ports
    ]
    if arguments.json:
        print_json(
            {
                "calls": [call_json(call) for call in scan.host.calls],
                "blocks": [_block_json(block, scan.hdl) for block in scan.hdl.blocks],
                "ports": [_port_json(port, place) for place, _, port in ports],
                "edges": [_edge_json(scan.hdl.streams, number) for number in range(len(scan.hdl.streams))],
                "fifos": [_fifo_json(scan.hdl.streams, fifo) for fifo in scan.hdl.fifos],
                "diagnostics": as_json(problems),
            }
        )
    else:
        print_diagnostics(scan.diagnostics)
        rows = [(f"{c.file}:{c.line}", c.callee, c.kind, ", ".join(p.pragma.name for p in c.pragmas) or "no pragma")
                for c in scan.host.calls]  # fmt: skip
        rows += [(f"{b.file}:{b.line}", " ".join([b.id, *_in_fpgas(b, scan.hdl)]),
                  f"{counted(len(b.branches), 'branch', 'branches')}, {counted(len(b.instances), 'instance')}",
                  counted(len(b.pragmas), "pragma") if not b.why_not else b.why_not)
                 for b in scan.hdl.blocks]  # fmt: skip
        rows += [(f"{place}{top}: {port.name or 'no prefix'}", f"{port.title} {port.side}",
                  counted(len(port.names), "signal"), f"on {port.clock}" if port.clock else "")
                 for place, top, port in ports]  # fmt: skip
        rows += [(edge.id, f"{edge.source or 'outside'} to {edge.target or 'outside'}",
                  f"stream, {counted(edge.bits, 'bit')}", f"on {edge.clock}" if edge.clock else "on a derived clock")
                 for edge in scan.hdl.streams]  # fmt: skip
        rows += [(fifo.id, f"FIFO {fifo.module}", counted(fifo.depth, "word") if fifo.depth else "unknown depth", "")
                 for fifo in scan.hdl.fifos]  # fmt: skip
        print(table(rows))
    return FAILED if has_errors(problems) else DONE


def _edge_json(streams: Sequence[Stream], number: int) -> dict[str, object]:
    stream = streams[number]
    waits = [{"signal": w.signal, "held_by": w.held_by, "of": streams[w.other].id} for w in stream.waits]
    return {**asdict(stream), "waits": waits}


def _fifo_json(streams: Sequence[Stream], fifo: Fifo) -> dict[str, object]:
    return {**asdict(fifo), "input": streams[fifo.input].id, "output": streams[fifo.output].id}


def _in_fpgas(block: HdlBlock, hdl: HdlScan) -> list[str]:
    return [f"in {', '.join(fpgas)}"] if (fpgas := hdl.fpgas_with(block)) else []


def _block_json(block: HdlBlock, hdl: HdlScan) -> dict[str, object]:
    return {
        "id": block.id,
        "fpgas": list(hdl.fpgas_with(block)),
        "component": block.component,
        "kind": block.kind,
        "file": block.file,
        "line": block.line,
        "clock": block.clock,
        "edge": block.edge,
        "branches": [{"line": branch.line, "kind": branch.kind} for branch in block.branches],
        "pragmas": [
            {"name": p.pragma.name, "category": p.pragma.category.value, "line": p.line} for p in block.pragmas
        ],
        "instances": list(block.instances),
    }


def _port_json(port: FoundPort, place: str) -> dict[str, object]:
    return {
        "fpga": place.rstrip(":"),
        "style": port.style,
        "kind": port.kind,
        "prefix": port.name,
        "side": port.side,
        "count": port.count,
        "clock": port.clock,
        "signals": dict(port.signals),
        "payload": list(port.payload),
        "ask": list(port.ask),
    }


def _counted(arguments: argparse.Namespace, workbench: Opened) -> Workspace:
    """The project with what its counters are asked to watch."""
    workspace = _open(arguments, workbench.plugins).watching(arguments.blocks)
    return workspace.counting(arguments.assertions, arguments.branches)


def run_instrument(arguments: argparse.Namespace, workbench: Opened) -> int:
    workspace = _counted(arguments, workbench)
    with progress() as watch:
        host, hdl = instrument_workspace(workspace, parse_settings(arguments.changes), arguments.out, Job(watch))
    missed = host.missed + hdl.missed
    problems = workspace.diagnostics + host.diagnostics + hdl.diagnostics
    plan = hdl.read_out
    states = sum(len(block.states) for block in hdl.blocks)
    counts = (counted(len(host.sites), "call site"), counted(len(hdl.blocks), "block"), counted(states, "state"))
    document = {
        "sites": len(host.sites),
        "missed": as_json(missed),
        "blocks": len(hdl.blocks),
        "states": states,
        "read_out": {"first": plan.first, "last": plan.last} if plan else None,
        "diagnostics": as_json(problems),
    }
    if arguments.json:
        print_json(document)
    else:
        print_diagnostics(problems + missed)
        print(f"{', '.join(counts)}: {arguments.out}")
    return FAILED if has_errors(problems) else DONE


def run_agent(arguments: argparse.Namespace, workbench: Opened) -> int:
    """Prints what $RCW_AGENT has to be."""
    numbers = agent_switches(arguments.tree, workbench.plugins, arguments.frame, arguments.only)
    value = " ".join(map(str, numbers))
    if arguments.json:
        print_json({"RCW_AGENT": value})
    else:
        print(f"RCW_AGENT='{value}'")
    return DONE


def run_run(arguments: argparse.Namespace, workbench: Opened) -> int:
    workspace = _counted(arguments, workbench)
    if arguments.blocks and workspace.target(arguments.target).simulated:
        hint = "Leave --blocks out; it is for runs on a real machine."
        print_diagnostics([Diagnostic("the simulated card sees all blocks", hint, Severity.NOTE)])
    ask_trust(workspace)
    options = RunOptions(
        out=arguments.out,
        plain=arguments.plain,
        trace=arguments.trace,
        deterministic=arguments.deterministic,
        waves=_waves(arguments),
        ports=arguments.ports,
        target=arguments.target,
        ranks=arguments.ranks or 0,
        settings=parse_settings(arguments.changes),
        frame=arguments.frame,
        only=tuple(arguments.only),
    )
    with progress() as watch:
        run = run_workspace(workspace, options, Job(watch))
    ended = ended_of(run, workspace, workbench.plugins) if arguments.best else None
    return _tell(run, workspace.target(options.target).title, arguments.json, ended)


def _waves(arguments: argparse.Namespace) -> tuple[float, float] | None:
    """From when to when signals are asked for. WorkbenchError for a moment that is none."""
    if not arguments.waves and not arguments.ports:
        if arguments.first or arguments.last:
            raise WorkbenchError(Diagnostic("--from and --to limit when signals are written", "Add --waves."))
        return None
    first = moment_ps("--from", arguments.first) / PS_PER_S if arguments.first else 0.0
    return first, moment_ps("--to", arguments.last) / PS_PER_S if arguments.last else 0.0


def run_collect(arguments: argparse.Namespace, workbench: Opened) -> int:
    run = collect_records(arguments.tree, arguments.records, arguments.out, workbench.plugins)
    print_diagnostics(() if arguments.json else run.manifest.diagnostics)
    return _tell(run, "real machine", arguments.json)


def _tell(run: Run, where: str, json: bool, ended: Ended | None = None) -> int:
    manifest = run.manifest
    if json:
        print_json(
            {
                "run": str(run.path),
                "status": manifest.status.value,
                "time_s": manifest.time_ps / PS_PER_S,
                "exit": manifest.exit,
                "confined": manifest.confined,
                "stdout_sha256": manifest.stdout_sha256,
                "overhead": {name: manifest.overhead.get(name) for name in OVERHEAD},
                "diagnostics": as_json(manifest.diagnostics),
                **(ended.document if ended else {}),
            }
        )
    else:
        confined = (", confined" if manifest.confined else ", not confined") if manifest.simulated else ""
        if said := shortfall_words(manifest):
            print(said)
        took = f"{time_text(run.time_s, 6)} {run.kind_of_time}"
        print(f"{run.path}: {manifest.status.value}, {took} ({where}{confined})")
        for line in ended.lines if ended else ():
            print(line)
    return DONE if run.complete else FAILED

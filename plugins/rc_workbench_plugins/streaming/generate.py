"""Host program and design made of a topology (`resources/streaming` has their run-time and templates)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rc_workbench_plugins.streaming.agents.attached import collectors, instance_of_agent, parts_of_agent
from rc_workbench_plugins.streaming.agents.division import NO_AGENTS, Agents
from rc_workbench_plugins.streaming.cores import thread_names
from rc_workbench_plugins.streaming.edge_queues import arrival, depths
from rc_workbench_plugins.streaming.instances import identifier, instance
from rc_workbench_plugins.streaming.modules import Module, read_module
from rc_workbench_plugins.streaming.x_language import problem
from workbench.api import CallKind, Composition, Diagnostic, Platform, WorkbenchError, parse_prototype
from workbench.api.source import suffixes
from workbench.api.unstable import (
    CARD,
    MAIN,
    STREAM_TOP,
    At,
    Implementation,
    MappedTo,
    StreamBlock,
    StreamEdge,
    Streaming,
    Topology,
    Value,
    Way,
    handles,
)
from workbench.hdl.ghdl import Design

RESOURCES = Path(str(files("workbench.resources"))) / "streaming"
_CPP = {
    **{f"{sign}{bits}": f"{'u' if sign == 'unsigned' else ''}int{bits}_t"
       for sign in ("unsigned", "signed") for bits in (8, 16, 32, 64)},
    "float32": "float", "float64": "double",
}  # fmt: skip
_WINDOW_WORDS = 0x10000
_MOST_CROSSING = 240


@dataclass(frozen=True)
class Generated:
    """The generated sources: `texts` by the name of their file. `host` and `hdl` are compiled; they name these, and
    files elsewhere with their whole path. `synthesised` are designs in VHDL, each with where it is named; `names` are
    the application's and its edges', by instance."""

    texts: Mapping[str, str]
    host: tuple[str, ...]
    hdl: tuple[str, ...]
    synthesised: Mapping[Design, At]
    names: Mapping[str, str]


def generated(
    topology: Topology, section: Streaming, composition: Composition, agents: Agents = NO_AGENTS
) -> Generated:
    """The sources, with those of the run's agents. WorkbenchError for blocks that cannot be joined, and a platform that
    cannot carry the streams."""
    platform, root = composition.platform, composition.root
    on_cores = tuple(b for b in topology.blocks if topology.place(b.name) is MappedTo.CORE)
    on_fpga = tuple(b for b in topology.blocks if topology.place(b.name) is MappedTo.FPGA)
    edges = [_edge(topology, section, number, edge) for number, edge in enumerate(topology.edges)]
    parts = _parts(topology, edges, agents)
    if not on_cores:
        hint = "The host program consists of blocks on cores: map a block that begins or ends the streams to a core."
        raise WorkbenchError(problem(topology.blocks[0].at, "no block is on a processor core", hint))
    crossing = [part for part in parts if part["way"]]
    lacking = list(_lacking(topology, section, composition, crossing))
    if lacking:
        raise WorkbenchError(*lacking)
    modules = [(b, read_module(_made_of(topology, b), b.config, root)) for b in on_fpga]
    counting = dict[str, str]()
    for agent in agents.fpgas.values():
        counting |= agent.verilog
    texts = {
        MAIN: _main(topology, section, on_cores, edges, crossing, root, agents),
        CARD: _card(topology, platform, bool(crossing)),
        f"{STREAM_TOP}.v": _top(topology, section, platform, modules, parts, agents),
        **{f"{module.name}.v": module.translated for _, module in modules if module.translated},
        **counting,
    }
    of_cores = dict.fromkeys(file for block in on_cores for file in _made_of(topology, block).files)
    of_fpga = dict.fromkeys(file for _, module in modules for file in module.files(root))
    host = (*(str(root / file) for file in of_cores if not _is_header(file)), MAIN, CARD)
    library = (str(RESOURCES / name) for name in ("stream_fifo.v", "stream_port.v"))
    synthesised = {module.made_of: module.implementation.at for _, module in modules if module.made_of}
    edges_here = [part for part in parts if "edge" in part]
    names = {"": topology.name} | {part["net"]: part["called"] for part in edges_here}
    names |= {f"{part['net']}_from_host": "" for part in edges_here if part["way"] == "in"}
    return Generated(texts, host, (*of_fpga, *library, *counting, f"{STREAM_TOP}.v"), synthesised, names)


def _made_of(topology: Topology, block: StreamBlock) -> Implementation:
    implementation = topology.implementation(block)
    assert implementation is not None
    return implementation


def _is_header(file: str) -> bool:
    return Path(file).suffix in suffixes.C_HEADERS


def _edge(topology: Topology, section: Streaming, number: int, edge: StreamEdge) -> dict[str, Any]:
    """The values of an edge for the templates."""
    depth, on_fpga = depths(topology, edge, section)
    return {
        "number": number, "edge": edge, "label": edge.label, "text": edge.text, "type": edge.type,
        "net": _net(number, edge), "cpp": _CPP[edge.type], "bits": 8 * edge.width_bytes,
        "signed": int(edge.type.startswith("signed")), "depth": depth, "depth_on_fpga": on_fpga,
        "on_cores": topology.crosses(edge) or not topology.fpga(edge.source.block), "threads": _threads(topology, edge),
        "words": -(-edge.width_bytes // 4),
    }  # fmt: skip


def _threads(topology: Topology, edge: StreamEdge) -> str:
    """Further arguments of an edge's queue on cores: how many threads push and pop."""
    ends = [topology.block_by_name[end.block] for end in (edge.source, edge.sink)]
    counts = [1 if topology.fpga(block.name) else block.threads for block in ends]
    return f", {counts[0]}, {counts[1]}" if max(counts) > 1 else ""


def _net(number: int, edge: StreamEdge) -> str:
    return f"e{number}_{identifier(edge.label.rpartition('.')[2])}"


def _parts(topology: Topology, edges: list[dict[str, Any]], agents: Agents) -> list[dict[str, Any]]:
    """The queues on FPGAs, card after card: an edge's own, with its `way` over the bus (empty: it stays on its card).
    One from FPGA to FPGA has two, joined by the processor's. Their windows follow one another; those into FPGAs and
    those out of them are numbered each for themselves, those of agents after the others of their card."""
    parts = []
    for edge in edges:
        source, sink = (topology.fpga(end.block) for end in (edge["edge"].source, edge["edge"].sink))
        queue = {**edge, "queue": edge["net"], "depth": edge["depth_on_fpga"], "called": edge["label"]}
        if source:
            parts.append({**queue, "way": "" if source == sink else "out", "card": topology.fpgas.index(source)})
        if sink and sink != source:
            number = arrival(topology, edge["number"]) if source else edge["number"]
            net = _net(number, edge["edge"])
            called = f"{edge['label']} (arriving)" if source else edge["label"]
            card = topology.fpgas.index(sink)
            parts.append({**queue, "number": number, "net": net, "way": "in", "card": card, "called": called})
    parts += [part for card in agents.fpgas for part in parts_of_agent(card)]
    parts.sort(key=lambda part: part["card"])
    counts = {"in": 0, "out": 0}
    for part in parts:
        part["reset"] = f"reset_{part['card']}" if len(topology.fpgas) > 1 and "edge" in part else "stream_reset"
        if part["way"]:
            part["window"] = 1 + sum(counts.values())
            part["index"] = counts[part["way"]]
            counts[part["way"]] += 1
    return parts


def _lacking(
    topology: Topology, section: Streaming, composition: Composition, crossing: list[dict[str, Any]]
) -> Iterator[Diagnostic]:
    platform = composition.platform
    name, moves, opened = f"the platform '{platform.name}'", platform.host.transfers, _opened(platform)

    def lacks(message: str, hint: str = "", *keys: str) -> Diagnostic:
        return problem(At(str(composition.path), *composition.place(keys or ("platform",))), message, hint)

    if why := _no_port(platform):
        yield lacks(f"{name} cannot carry streams: {why}", "Choose nallatech_h101 or a similar template.")
        return
    if not crossing:
        return
    if not (moves.send_c and moves.receive_c and moves.data_type in ("uint32_t", "unsigned", "unsigned int")):
        hint = "Write the calls that move `words` words of the array `data` to and from `address`."
        yield lacks(f"{name} has no calls that move 32-bit words (host.transfers)", hint)
    elif opened is None:
        yield lacks(f"{name} has no call of kind acquire that returns the handle of host.transfers")
    elif len(topology.fpgas) > 1 and not opened.chooses:
        hint = f"Write that parameter as the entry's `fpga`; or map all blocks to one FPGA, '{topology.fpgas[0]}'."
        yield lacks(f"{name} has no call of kind acquire with a parameter that says which card it opens", hint)
    for edge in crossing:
        if section.bulk_elements * edge["words"] > _WINDOW_WORDS:
            message = f"{section.bulk_elements} elements of '{edge['label']}' are too many for one transfer"
            hint = f"Write bulk_elements: {_WINDOW_WORDS // edge['words']} or less."
            yield lacks(message, hint, "streaming", "bulk_elements")
    ends = [part["edge"] for part in crossing if "edge" in part]
    if len(ends) > _MOST_CROSSING:
        message = f"edges cross between processor and FPGAs {len(ends)} times"
        yield problem(ends[_MOST_CROSSING].at, message, f"At most {_MOST_CROSSING} can. Map more blocks to one side.")


def _no_port(platform: Platform) -> str:
    """Why streams cannot go through a platform's first port; empty where they can."""
    if not platform.hardware or not platform.hardware.ports:
        return "its template has no port (hardware.ports); it serves predictions only"
    port: Any = platform.hardware.ports[0]
    if port.kind != "memory":
        return f"its first port, '{port.name}', is of kind {port.kind}, not memory"
    if port.word_bits != 32:
        return f"words of its first port, '{port.name}', have {port.word_bits} bits, not 32"
    return ""


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(RESOURCES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip


def _rendered(template: str, known: Mapping[str, Any]) -> str:
    return _environment().get_template(template).render(known)


def _main(
    topology: Topology, section: Streaming, blocks: tuple[StreamBlock, ...], edges: list[dict[str, Any]],
    crossing: list[dict[str, Any]], root: Path, agents: Agents,
) -> str:  # fmt: skip
    of_label = {edge["label"]: edge for edge in edges}
    cores = {resource.name: number for number, resource in enumerate(topology.cores)}
    shown: list[dict[str, Any]] = []
    headers: dict[str, None] = {}
    for number, block in enumerate(blocks):
        implementation = _made_of(topology, block)
        headers.update(dict.fromkeys(str(root / file) for file in implementation.files if _is_header(file)))
        joined = [
            f"{(edge.sink if way is Way.IN else edge.source).port}.join({of_label[edge.label]['net']})"
            for way in Way for edge in topology.edges_of(block.name, way)
        ]  # fmt: skip
        given = [f"{name} = {_cpp_value(value)}" for name, value in block.config.items()]
        shown.append(
            {
                "name": block.name, "thread": topology.within(block.name), "net": f"b{number}",
                "unit": implementation.unit, "lines": [*joined, *given],
                "core": cores.get(topology.mapping[block.name]),
                "ports": [port.name for port in block.kind.ports], "file": block.at.file or "stream_main.cpp",
                "line": block.at.line or 1, "threads": block.threads,
            }
        )  # fmt: skip
    known = {
        "name": topology.name, "cards": _cards(topology, crossing), "headers": list(headers),
        "edges": [edge for edge in edges if edge["on_cores"]], "edge_count": len(edges), "blocks": shown,
        "threads": [
            {"block": block, "number": number, "net": f"{block['net']}_{number}", "called": name}
            for block in shown
            for number, name in enumerate(thread_names(block["thread"], block["threads"]))
        ],
        "bulk": section.bulk_elements,
        "flush_us": max(1, round(section.flush_us)), "here": '1 "stream_main.cpp"',
        "plan": agents.host.plan if agents.host else "", "collectors": collectors(crossing, agents.fpgas),
        "titles": topology.titles,
        "agent_core": len(cores) or -1,
    }  # fmt: skip
    return _rendered("stream_main.cpp.j2", known)


def _cards(topology: Topology, crossing: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The FPGAs with the ends of edges that cross to and from them; one is not called by its name."""
    cards = []
    for number, fpga in enumerate(topology.fpgas if crossing else ()):
        ins, outs = (
            [p for p in crossing if "edge" in p and (p["card"], p["way"]) == (number, way)] for way in ("in", "out")
        )
        for into in ins:
            reached = topology.reached(into["edge"].sink.block, stay=fpga)
            into["reaches"] = [place for place, out in enumerate(outs) if out["edge"].source.block in reached]
        cards.append({"number": number, "net": f"card{number}", "ins": ins, "outs": outs,
                      "first_out": outs[0]["index"] if outs else 0,
                      "title": topology.titles[number]})  # fmt: skip
    return cards


def _cpp_value(value: Value) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


class _Opened(NamedTuple):
    """A handle's type and name, and the call that makes it for the card whose number is `card`, if it `chooses` one."""

    kind: str
    handle: str
    call: str
    chooses: bool


def _opened(platform: Platform) -> _Opened | None:
    kept = handles(platform.host)
    for entry in platform.host.entries:
        prototype = parse_prototype(entry.prototype)
        if entry.kind is CallKind.ACQUIRE and prototype:
            for name, kind in kept.items():
                if prototype.returns.replace(" ", "") == kind.replace(" ", ""):
                    names = [parameter for _, parameter in prototype.parameters]
                    given = ", ".join("card" if parameter == entry.fpga else "0" for parameter in names)
                    return _Opened(kind, name, f"{prototype.name}({given})", entry.fpga in names)
    return None


def _called(platform: Platform, kind: CallKind, handle: str) -> str:
    """A call of that kind that takes nothing but the handle; empty where the platform has none."""
    for entry in platform.host.entries:
        prototype = parse_prototype(entry.prototype)
        if entry.kind is kind and prototype and [name for _, name in prototype.parameters] == [handle]:
            return f"{prototype.name}({handle});"
    return ""


def _card(topology: Topology, platform: Platform, crossing: bool) -> str:
    kind, handle, call, _ = _opened(platform) or _Opened("", "", "", False)
    transfers, interrupt = platform.host.transfers, platform.hardware.interrupt if platform.hardware else ""
    wait = _called(platform, CallKind.INTERRUPT, handle) if interrupt else ""
    known = {
        "name": topology.name, "include_lines": platform.host.include_lines, "cards": len(topology.fpgas) * crossing,
        "kind": f"{kind}{'' if kind.endswith('*') else ' '}", "handle": handle, "opened": call,
        "unit": _unit(platform),
        "send": re.sub(r"\bdata\b", "(uint32_t *)data", transfers.send_c), "receive": transfers.receive_c,
        "wait": wait, "closed": _called(platform, CallKind.RELEASE, handle),
    }  # fmt: skip
    return _rendered("stream_card.c.j2", known)


def _unit(platform: Platform) -> int:
    """Steps of an address from a word to the next."""
    assert platform.hardware is not None
    port: Any = platform.hardware.ports[0]
    return int(port.word_bits // 8 // port.address_unit_bytes)


def _top(
    topology: Topology, section: Streaming, platform: Platform, modules: list[tuple[StreamBlock, Module]],
    parts: list[dict[str, Any]], agents: Agents,
) -> str:  # fmt: skip
    hardware = platform.hardware
    assert hardware is not None
    port: Any = hardware.ports[0]
    clock = hardware.clock_of(port)
    addresses = dict.fromkeys((port.incoming.address_signal, port.outgoing.address_signal))
    known = {
        "name": topology.name, "top": STREAM_TOP, "address_bits": port.address_bits,
        "signals": {
            "clock": clock.pin, "reset": clock.reset, "write": port.write_enable, "read": port.read_enable,
            "addresses": list(addresses), "written": port.incoming.data_signal, "answer": port.outgoing.data_signal,
            "interrupt": hardware.interrupt,
        },
        "reset": clock.reset_hdl or clock.reset, "shift": f" / {_unit(platform)}" if _unit(platform) > 1 else "",
        "delay": port.outgoing.delay_cycles, "edges": parts, "cards": len(topology.fpgas),
        "blocks": [*(instance(number, *of_block, parts, clock.pin) for number, of_block in enumerate(modules)),
                   *(instance_of_agent(card, agent, parts, clock.pin) for card, agent in agents.fpgas.items())],
        "agents": [{"card": card, "report": f"agent{card}_report"} for card in agents.fpgas],
        "bulk": section.bulk_elements, "flush_cycles": max(1, round(section.flush_us * 1e-6 * clock.frequency_hz)),
    }  # fmt: skip
    return _rendered("stream_top.v.j2", known)

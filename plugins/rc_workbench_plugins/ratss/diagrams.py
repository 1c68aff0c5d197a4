"""A RATSS model drawn: what goes where in each stage (Figs. 4, 8, 9), and nodes and networks (Figs. 1, 5, 7)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from rc_workbench_plugins.ratss.compute import Model, Prediction
from rc_workbench_plugins.ratss.model import EXCHANGES, Stage, Transaction
from rc_workbench_plugins.ratss.words import stage_words
from workbench.api import bytes_text, frequency_text, time_text
from workbench.api.model_diagrams import Diagram, DiagramLink, DiagramNode
from workbench.api.models import FieldPath
from workbench.api.unstable import OF_NODES, Network, nodes_described, prefixed, significant

_RETURNING = ("gather", "reduce")


@dataclass(frozen=True)
class _Move:
    """A transaction, its place in the document, and what it comes to."""

    move: Transaction
    at: FieldPath
    bytes: float
    time_s: float

    @property
    def returns(self) -> bool:
        return self.move.returns or self.move.kind in _RETURNING

    @property
    def name(self) -> str:
        kind, name = self.move.kind, self.move.name
        return name if kind in ("io", name) or kind in name.split() else f"{name} ({kind})"

    @property
    def amount(self) -> str:
        much = bytes_text(round(self.bytes)) if self.bytes else ""
        return ", ".join(filter(None, (much, time_text(self.time_s))))

    def link(self, source: str, target: str) -> DiagramLink:
        return DiagramLink(source, target, self.name, self.amount, self.time_s, self.at)


def diagrams(values: Model, prediction: Prediction) -> dict[str, Diagram]:
    """By the name of their page."""
    return {"Stages": _stages(values, prediction), "Platform": _platform(values)}


def _stages(values: Model, prediction: Prediction) -> Diagram:
    stages, nodes, links = values.model.stages, list[DiagramNode](), list[DiagramLink]()
    longest_s = max((float(part_s) for part_s in prediction.parts.values()), default=0.0)
    for number, stage in enumerate(stages):
        count, moves = _count(values, number, stage), _moves(values, prediction, number, stage)
        computing = _compute_nodes(values, prediction, number, stage, longest_s)
        figure = time_text(float(prediction.stage_s[stage.name]))
        split = values.model.system == "NNUS" and count > 1 and any(m.move.kind != "io" for m in moves)
        for back in (False, True):
            made, joined = _way(f"{number}.{back}", moves, back, count if values.model.system == "NNUS" else 1, split,
                                [node.id for node in computing])  # fmt: skip
            words = f"{'end of ' if back else ''}{stage_words(stage.name)}"
            first = replace(made[0], figure="" if back else figure, words=words)
            if joined or not back:
                nodes += [first, *made[1:]]
            links += joined
        nodes += computing
    links += _orders(stages, {node.id for node in nodes})
    way = "pipelined" if values.model.pipelined else "one after another"
    note = "times once an iteration" if len(stages) == 1 else f"{len(stages)} stages, {way}"
    return Diagram("Stages", note, tuple(nodes), tuple(links))


def _orders(stages: Sequence[Stage], drawn: Collection[str]) -> Iterable[DiagramLink]:
    """From the end of each stage to the beginning of those that come after it."""
    numbers = {stage.name: number for number, stage in enumerate(stages)}
    for number, stage in enumerate(stages):
        for n, needed in enumerate(stage.after):
            before = numbers[needed]
            end = next(name for name in (f"{before}.True.root", f"{before}.False.root") if name in drawn)
            yield DiagramLink(end, f"{number}.False.root", "then", field=("stages", number, "after", n))


def _way(
    key: str, moves: Sequence[_Move], back: bool, count: int, split: bool, computing: Sequence[str]
) -> tuple[list[DiagramNode], list[DiagramLink]]:
    """From the microprocessor to the nodes that compute, or `back`: where networks are `split`, collectives go between
    microprocessors, and input and output from each of these to its FPGA."""
    several = "microprocessor" if count == 1 else f"microprocessor × {count}"
    exchanged = "; ".join(f"{m.name}, {m.amount}" for m in moves if m.move.kind in EXCHANGES) if not back else ""
    at: FieldPath = ("stages", int(key.partition(".")[0]))
    root = DiagramNode(f"{key}.root", "microprocessor" if split else several, icon="terminal", field=at)
    stops = [root, DiagramNode(f"{key}.each", several, icon="terminal", field=at)] if split else [root]
    stops[-1] = replace(stops[-1], second=exchanged)
    way = [m for m in moves if m.returns is back and m.move.kind not in EXCHANGES]
    links = list[DiagramLink]()
    if back and not way:
        return stops, links
    for hop, (near, far) in enumerate(pairwise([*([stop.id] for stop in stops), computing])):
        here = [m for m in way if not split or (m.move.kind == "io") == (hop == 1)]
        for source, target in product(near, far):
            ends = (target, source) if back else (source, target)
            links += [m.link(*ends) for m in here] or [DiagramLink(*ends, "")]
    return stops, links


def _moves(values: Model, prediction: Prediction, number: int, stage: Stage) -> list[_Move]:
    found = []
    for n, move in enumerate(stage.transactions):
        at: FieldPath = ("stages", number, "transactions", n)
        size, time_s = float(np.max(values.of(*at, "bytes"))), float(prediction.parts[stage.name, move.name])
        found.append(_Move(move, at, size, time_s))
    return found


def _count(values: Model, number: int, stage: Stage) -> int:
    """How many nodes take part in a stage: in the transaction of the most."""
    of = (values.of("stages", number, "transactions", n, "nodes") for n in range(len(stage.transactions)))
    return round(max((float(np.max(nodes)) for nodes in of), default=1.0))


def _compute_nodes(
    values: Model, prediction: Prediction, number: int, stage: Stage, longest_s: float
) -> list[DiagramNode]:
    nodes, count = [], _count(values, number, stage)
    for n, node in enumerate(stage.nodes):
        at: FieldPath = ("stages", number, "nodes", n)
        elements, each, rate, clock = (
            float(np.max(values.of(*at, field)))
            for field in ("elements", "ops_per_element", "ops_per_cycle", "clock_hz")
        )
        spent_s = float(prediction.parts[stage.name, node.name])
        title = f"{node.name} × {count}" if count > 1 else node.name
        words = prefixed(elements * each, " operations")
        second = f"{significant(rate)} a cycle, {frequency_text(clock)}"
        strong = spent_s == longest_s
        nodes.append(DiagramNode(f"{number}.{n}", title, time_text(spent_s), words, second, "cpu", strong, at))
    return nodes or [DiagramNode(f"{number}.0", f"node × {count}" if count > 1 else "node", icon="cpu")]


def _platform(values: Model) -> Diagram:
    model, platform = values.model, values.platform
    count = max((_count(values, n, stage) for n, stage in enumerate(model.stages)), default=1)
    several = f" × {count}" if count > 1 else ""
    split, networks = model.system == "NNUS", {one.name: one for one in (platform.networks if platform else ())}
    networks |= {
        one.name: Network(**{name: float(np.max(values.of("networks", n, name))) for name in OF_NODES}, name=one.name)
        for n, one in enumerate(model.networks)
    }
    unlike = {one.name: nodes_described(one) for one in networks.values()}
    unlike |= {one.name: nodes_described(one) for one in model.networks}

    def ends_of(name: str) -> str:
        return f"{unlike[name]} unlike nodes" if unlike.get(name) else _latency(networks.get(name))

    device = platform.device.name if platform else ""
    clocks = [
        float(np.max(values.of("stages", i, "nodes", n, "clock_hz")))
        for i, stage in enumerate(model.stages)
        for n in range(len(stage.nodes))
    ]
    clock = frequency_text(max(clocks)) if clocks else ""
    cpu, title = platform.cpu if platform else "", f"microprocessor{several if split else ''}"
    own = {one.name: ("networks", n) for n, one in enumerate(model.networks)}
    host = DiagramNode("cpu", title, words=cpu, icon="terminal")
    fpga = DiagramNode("fpga", f"FPGA{several}", clock, second=device, icon="cpu")
    shared = dict[str, DiagramNode]()
    links = dict[tuple[str, str, str], DiagramLink]()
    for move in (move for stage in model.stages for move in stage.transactions):
        name = move.network or move.table or "bus"
        if move.kind == "io" or (name == "bus" and not split):
            ends = ("fpga", "cpu") if move.returns or move.kind in _RETURNING else ("cpu", "fpga")
            links[(*ends, name)] = DiagramLink(*ends, name, _rate(networks.get(name)))
            continue
        place: FieldPath = own.get(name, ())
        rate = _rate(networks.get(name))
        shared[name] = DiagramNode(name, name, rate, second=ends_of(name), icon="workflow", field=place)
        for ends in _on_network(name, split):
            links[(*ends, "")] = DiagramLink(*ends, "")
    for name, place in own.items():
        unused = DiagramNode(name, name, _rate(networks[name]), second=ends_of(name), icon="workflow", field=place)
        shared.setdefault(name, unused)
    about = "nonuniform nodes, uniform system" if split else "uniform nodes, nonuniform system"
    nodes = (*shared.values(), host, fpga) if split else (host, *shared.values(), fpga)
    return Diagram("Platform", f"{model.system}: {about}", nodes, tuple(links.values()))


def _on_network(name: str, split: bool) -> Iterable[tuple[str, str]]:
    """What is joined to a network that all nodes share: the microprocessors, or these and the FPGAs."""
    both = (("cpu", name), (name, "cpu"))
    return both if split else (*both, (name, "fpga"), ("fpga", name))


def _rate(network: Network | None) -> str:
    return prefixed(1 / network.gap_per_byte_s, "B/s") if network and network.gap_per_byte_s else ""


def _latency(network: Network | None) -> str:
    return f"latency {time_text(network.latency_s)}" if network and network.latency_s else ""

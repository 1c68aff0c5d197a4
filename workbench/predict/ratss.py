"""RATSS models computed: from a document to times, for single values or whole arrays of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np

from workbench.formats.documents import Schema, read_text
from workbench.formats.yaml_marks import Marked, check, near, read_marked
from workbench.model.diagnostic import Diagnostic, has_errors
from workbench.model.platform import Network, Platform
from workbench.predict import ratss_equations as eq
from workbench.predict.formulas import Evaluation, Formula, ModelFile, compile_formula, formulas_of, read_inputs
from workbench.predict.formulas import Path as FieldPath
from workbench.predict.ratss_equations import Quantity
from workbench.predict.ratss_model import RatssModel, Transaction

SCHEMA = Schema(title="RATSS model", model=RatssModel)


@dataclass(frozen=True)
class RatssModelFile(ModelFile):
    """A checked RATSS model, ready to be computed."""

    model: RatssModel


@dataclass(frozen=True)
class Prediction:
    """What a model comes to. `parts` maps (stage, node or transaction) to its time in seconds, once per iteration;
    `comp_s` and `comm_s` (once an iteration), `stage_s` (all `iterations`) are by stage; all may be arrays."""

    parts: Mapping[tuple[str, str], Quantity]
    comp_s: Mapping[str, Quantity]
    comm_s: Mapping[str, Quantity]
    stage_s: Mapping[str, Quantity]
    iterations: Mapping[str, Quantity]
    total_s: Quantity
    speedup: Quantity | None
    resources: Mapping[str, Quantity]


def load_ratss(path: Path, platforms: Mapping[str, Platform]) -> tuple[RatssModelFile | None, tuple[Diagnostic, ...]]:
    """Read a model file. None, with diagnostics naming the fields, where it cannot be computed."""
    text, problems = read_text(path, SCHEMA.title)
    return (None, problems) if text is None else parse_ratss(text, str(path), platforms)


def parse_ratss(
    text: str, file: str | None, platforms: Mapping[str, Platform]
) -> tuple[RatssModelFile | None, tuple[Diagnostic, ...]]:
    """Like `load_ratss`, from a text."""
    marked, problems = read_marked(text, file)
    if marked is None:
        return None, problems
    model, problems = check(RatssModel, marked)
    if model is None:
        return None, problems
    found = [*problems, *_structure(model, marked, platforms)]
    inputs, spreads = read_inputs(model, marked, found)
    formulas = {path: compile_formula(formula, path, inputs, marked, found) for path, formula in _all_formulas(model)}
    if has_errors(found):
        return None, tuple(found)
    return RatssModelFile(model, marked, inputs, spreads, formulas, platforms.get(model.platform)), tuple(found)


def predict(
    file: RatssModelFile, changes: Mapping[str, Quantity] | None = None, reading: str | None = None
) -> Prediction:
    """Compute the model at its inputs, with `changes` (numbers or broadcastable arrays) laid over.

    `reading` is one of the model's readings. Raises WorkbenchError naming an unknown input or reading, or the field
    that has no sensible value.
    """
    values = _Values(file, file.at(changes or {}, reading), reading)
    parts: dict[tuple[str, str], Quantity] = {}
    comp: dict[str, Quantity] = {}
    comm: dict[str, Quantity] = {}
    stages: dict[str, Quantity] = {}
    rounds: dict[str, Quantity] = {}
    for index, stage in enumerate(file.model.stages):
        at: FieldPath = ("stages", index)
        nodes = [_node_s(values, (*at, "nodes", i)) for i in range(len(stage.nodes))]
        moves = [values.move_s(move, (*at, "transactions", i)) for i, move in enumerate(stage.transactions)]
        for node, node_s in zip(stage.nodes, nodes, strict=True):
            parts[stage.name, node.name] = node_s
        for move, (delay_s, rest_s) in zip(stage.transactions, moves, strict=True):
            parts[stage.name, move.name] = delay_s + rest_s
        micro_s, before_s, after_s, configuration_s, rounds[stage.name] = (
            values.of((*at, field))
            for field in ("microprocessor_s", "preprocessing_s", "postprocessing_s", "configuration_s", "iterations")
        )
        comp[stage.name] = eq.t_comp(nodes, micro_s, before_s, after_s)
        comm[stage.name] = (
            eq.t_comm_nonblocking([delay for delay, _ in moves], [rest for _, rest in moves])
            if stage.nonblocking
            else eq.t_comm([parts[stage.name, move.name] for move in stage.transactions])
        )
        stages[stage.name] = eq.t_stage(
            comp[stage.name], comm[stage.name], rounds[stage.name], configuration_s, stage.overlapped
        )
    total_s = eq.t_application(list(stages.values()), values.of(("iterations",)), file.model.pipelined)
    baseline = None if file.model.baseline_s is None else values.of(("baseline_s",))
    return Prediction(
        parts=parts,
        comp_s=comp,
        comm_s=comm,
        stage_s=stages,
        iterations=rounds,
        total_s=total_s,
        speedup=None if baseline is None else baseline / total_s,
        resources={name: values.of(("resources", name)) for name in file.model.resources},
    )


class _Values(Evaluation):
    """A model's fields at some inputs. Equal transactions are computed once, like equal formulas."""

    def __init__(self, file: RatssModelFile, inputs: Mapping[str, Quantity], reading: str | None) -> None:
        super().__init__(file, inputs)
        self.platform, self._reading = file.platform, reading
        self._moves: dict[tuple[object, ...], tuple[Quantity, ...]] = {}

    def corrected(self, at: FieldPath, duration_s: Quantity) -> Quantity:
        correction = self.of((*at, "correction"))
        return duration_s if isinstance(correction, float) and correction == 1.0 else duration_s * correction

    def move_s(self, move: Transaction, at: FieldPath) -> tuple[Quantity, ...]:
        key = tuple(value for field, value in move if field != "name")
        if key not in self._moves:
            self._moves[key] = tuple(self.corrected(at, part_s) for part_s in _move_s(self, move, at))
        return self._moves[key]

    def reading(self, move: Transaction) -> str:
        return self._reading if self._reading in ("literal", "fitted") else move.reading


def _node_s(values: _Values, at: FieldPath) -> Quantity:
    fields = ("pipeline_cycles", "elements", "ops_per_element", "clock_hz", "ops_per_cycle")
    return values.corrected(at, eq.t_fpga(*(values.of((*at, field)) for field in fields)))


def _move_s(values: _Values, move: Transaction, at: FieldPath) -> tuple[Quantity, Quantity]:
    """A transaction's delay, and the rest of its time."""
    network = _network(values.platform, move)

    def of(field: str) -> Quantity:
        return float(getattr(network, field)) if getattr(move, field) is None else values.of((*at, field))

    nodes, size = values.of((*at, "nodes")), values.of((*at, "bytes"))
    if move.table:
        assert values.platform is not None
        points = values.platform.transfer_tables[move.table].points
        transfers = values.of((*at, "transfers"))
        return 0.0, nodes * transfers * _interpolated(size / transfers, [(p.bytes, p.time_s) for p in points])
    latency_s, overhead_s = of("latency_s"), of("overhead_s")
    if move.rate_bytes_per_s is not None:
        efficiency = 1.0 if move.efficiency is None else values.of((*at, "efficiency"))
        gap = eq.io_gap(values.of((*at, "rate_bytes_per_s")), efficiency)
    else:
        gap = of("gap_per_byte_s")
    if move.kind == "io":
        delay_s = eq.t_bus(latency_s + overhead_s, 0.0, gap, values.of((*at, "transfers")))
        return delay_s, eq.t_io(0.0, nodes, size, gap)
    if move.serial:
        whole = (
            eq.t_snap_gather(nodes, size, latency_s, gap, move.overlapped)
            if move.kind == "gather"
            else eq.t_snap(nodes, size, latency_s, gap)
        )
        return latency_s, whole - latency_s
    rounds = np.log2(nodes)
    if move.kind in ("scatter", "gather"):
        delay_s = rounds * latency_s + 2 * overhead_s
        return delay_s, eq.t_scatter(nodes, size, latency_s, overhead_s, gap) - delay_s
    delay_s = rounds * (latency_s + 2 * overhead_s)
    if move.kind == "broadcast":
        return delay_s, rounds * gap * size
    per_element = values.of((*at, "bytes_per_element"))
    fitted = values.reading(move) == "fitted"
    if move.reduction_s is not None:  # as the model's own reading counts it, per element or per byte
        gamma = values.of((*at, "reduction_s"))
    else:
        gamma = network.reduction_per_byte_s * (per_element if fitted else 1.0)
    if not fitted:
        return delay_s, eq.t_reduce(nodes, size, latency_s, overhead_s, gap, gamma) - delay_s
    whole = eq.t_reduce_fitted(nodes, size, latency_s, overhead_s, gap, gamma, of("gap_s"), per_element)
    return delay_s, whole - delay_s


def _network(platform: Platform | None, move: Transaction) -> Network:
    networks = platform.networks if platform else ()
    return next((n for n in networks if n.name == move.network), Network(name=""))


def _interpolated(size_bytes: Quantity, points: list[tuple[int, float]]) -> Quantity:
    """Time of one transfer from a table, by the rule of `workbench.model.transfer_time`, elementwise."""
    sizes, times = (np.array(column, dtype=np.float64) for column in zip(*points, strict=True))
    beyond = times[-1] * np.asarray(size_bytes) / sizes[-1]
    inside = np.interp(size_bytes, sizes, times)
    return np.where(np.asarray(size_bytes) > sizes[-1], beyond, inside)


def _all_formulas(model: RatssModel) -> Iterator[tuple[FieldPath, Formula]]:
    yield ("iterations",), model.iterations
    if model.baseline_s is not None:
        yield ("baseline_s",), model.baseline_s
    for name, formula in model.resources.items():
        yield ("resources", name), formula
    for index, stage in enumerate(model.stages):
        at: FieldPath = ("stages", index)
        yield from formulas_of(stage, at, ("name",))
        for i, node in enumerate(stage.nodes):
            yield from formulas_of(node, (*at, "nodes", i), ("name",))
        for i, move in enumerate(stage.transactions):
            yield from formulas_of(move, (*at, "transactions", i), ("name", "kind", "network", "table", "reading"))


def _structure(model: RatssModel, marked: Marked, platforms: Mapping[str, Platform]) -> Iterator[Diagnostic]:
    """Names that must exist, names that must differ, and no cycle among the stages."""
    platform = platforms.get(model.platform)
    if model.platform and platform is None:
        yield marked.diagnostic(
            ("platform",), f"there is no platform template '{model.platform}'", near(model.platform, platforms, "")
        )
        return
    names = [stage.name for stage in model.stages]
    graph: nx.DiGraph[str] = nx.DiGraph()
    for index, stage in enumerate(model.stages):
        if names.index(stage.name) != index:
            yield marked.diagnostic(("stages", index, "name"), f"two stages are called '{stage.name}'", "Rename one.")
        for i, needed in enumerate(stage.after):
            if needed not in names:
                yield marked.diagnostic(
                    ("stages", index, "after", i), f"there is no stage '{needed}'", near(needed, names, "")
                )
            graph.add_edge(needed, stage.name)
        for i, move in enumerate(stage.transactions):
            at: FieldPath = ("stages", index, "transactions", i)
            networks = [n.name for n in platform.networks] if platform else []
            if move.network and move.network not in networks:
                hint = near(move.network, networks, "The model names no platform." if not platform else "")
                yield marked.diagnostic((*at, "network"), f"there is no network '{move.network}'", hint)
            tables = platform.transfer_tables if platform else {}
            if move.table and move.table not in tables:
                hint = near(move.table, tables, "The model names no platform." if not platform else "")
                yield marked.diagnostic((*at, "table"), f"there is no transfer table '{move.table}'", hint)
    for cycle in nx.simple_cycles(graph):
        index = names.index(cycle[0]) if cycle[0] in names else 0
        yield marked.diagnostic(
            ("stages", index, "after"),
            f"these stages wait for one another: {' -> '.join([*cycle, cycle[0]])}",
            "Break the cycle.",
        )
        return

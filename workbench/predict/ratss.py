"""RATSS models computed: from a document to times, for single values or whole arrays of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.formats.documents import Schema, check_document, read_text
from workbench.formats.yaml_marks import read_marked
from workbench.model.diagnostic import Diagnostic, Severity, WorkbenchError, has_errors
from workbench.model.platform import Network, Platform
from workbench.model.transfer_time import transfer_s
from workbench.predict import ratss_equations as eq
from workbench.predict.formulas import (
    Evaluation,
    ModelFile,
    asked_of_inputs,
    compile_formula,
    formulas_of,
    wrong_points,
)
from workbench.predict.inputs import Path as FieldPath
from workbench.predict.inputs import read_inputs
from workbench.predict.ratss_check import structure
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
    model, problems = check_document(SCHEMA, marked)
    if model is None:
        return None, problems
    found = [*problems, *structure(model, marked, platforms)]
    inputs = read_inputs(model, marked, asked_of_inputs(model), found)
    formulas = {
        path: compile_formula(formula, path, allowed, model.inputs, marked, found)
        for path, formula, allowed in formulas_of(model)
    }
    read = RatssModelFile(
        model, marked, inputs.values, inputs.domains, inputs.spreads, formulas, platforms.get(model.platform)
    )
    if not has_errors(found):
        measured = [(("measured", n, "inputs"), entry.inputs) for n, entry in enumerate(model.measured)]
        found.extend(wrong_points(read, measured))
    return (None if has_errors(found) else read), tuple(found)


def predict(
    file: RatssModelFile, changes: Mapping[str, Quantity] | None = None, reading: str | None = None
) -> Prediction:
    """Compute the model at its inputs, with `changes` (numbers or broadcastable arrays) laid over.

    `reading` is one of the model's readings. Raises WorkbenchError naming an unknown input or reading, or the field
    that has no sensible value.
    """
    with np.errstate(all="ignore"):  # what overflows is told below
        return _predict(file, changes, reading)


def _predict(file: RatssModelFile, changes: Mapping[str, Quantity] | None, reading: str | None) -> Prediction:
    values = _Values(file, file.at(changes or {}, reading), reading)
    parts: dict[tuple[str, str], Quantity] = {}
    comp: dict[str, Quantity] = {}
    comm: dict[str, Quantity] = {}
    stages: dict[str, Quantity] = {}
    repeated: dict[str, Quantity] = {}
    for index, stage in enumerate(file.model.stages):
        at: FieldPath = ("stages", index)
        nodes = [_node_s(values, (*at, "nodes", i)) for i in range(len(stage.nodes))]
        moves = [values.move_s(move, (*at, "transactions", i)) for i, move in enumerate(stage.transactions)]
        for node, node_s in zip(stage.nodes, nodes, strict=True):
            parts[stage.name, node.name] = node_s
        for move, (delay_s, rest_s) in zip(stage.transactions, moves, strict=True):
            parts[stage.name, move.name] = delay_s + rest_s
        micro_s, before_s, after_s, configuration_s, repeated[stage.name] = (
            values.of((*at, field))
            for field in ("microprocessor_s", "preprocessing_s", "postprocessing_s", "configuration_s", "iterations")
        )
        comp[stage.name] = eq.t_comp(nodes, micro_s, before_s, after_s)
        comm[stage.name] = (
            eq.t_comm_nonblocking([delay for delay, _ in moves], [rest for _, rest in moves])
            if stage.nonblocking
            else eq.t_comm([delay_s + rest_s for delay_s, rest_s in moves])
        )
        stages[stage.name] = eq.t_stage(
            comp[stage.name], comm[stage.name], repeated[stage.name], configuration_s, stage.overlapped
        )
    total_s = eq.t_application(list(stages.values()), values.of(("iterations",)), file.model.pipelined)
    baseline = None if file.model.baseline_s is None else values.of(("baseline_s",))
    if not np.max(total_s) < np.inf:
        raise WorkbenchError(_too_long(file, parts))
    speedup = None if baseline is None else baseline / total_s
    if speedup is not None and not np.max(speedup) < np.inf:
        hint = "Give it nodes or transactions that take time."
        raise WorkbenchError(file.marked.diagnostic(("baseline_s",), "the model takes no time to compare with", hint))
    return Prediction(
        parts=parts,
        comp_s=comp,
        comm_s=comm,
        stage_s=stages,
        iterations=repeated,
        total_s=total_s,
        speedup=speedup,
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
        transfers = values.of((*at, "transfers"))
        return 0.0, nodes * transfers * transfer_s(values.platform.transfer_tables[move.table], size / transfers)
    latency_s, overhead_s = of("latency_s"), of("overhead_s")
    if move.rate_bytes_per_s is not None:
        efficiency = 1.0 if move.efficiency is None else values.of((*at, "efficiency"))
        gap = eq.io_gap(values.of((*at, "rate_bytes_per_s")), efficiency)
    else:
        gap = of("gap_per_byte_s")
    if move.kind == "io":
        delay_s = eq.t_bus(latency_s + overhead_s, 0.0, gap, values.of((*at, "transfers")))
        return delay_s, eq.t_io(0.0, nodes, size, gap)
    literal = values.reading(move) == "literal"
    additions_s = _additions_s(values, move, at, network, literal) if move.kind == "reduce" else 0.0
    if move.serial:
        whole = (
            eq.t_snap_gather(nodes, size, latency_s, gap, move.overlapped)
            if move.kind == "gather"
            else eq.t_snap(nodes, size, latency_s, gap, additions_s)
        )
        return latency_s, whole - latency_s
    if move.kind in ("scatter", "gather"):
        delay_s = eq.t_scatter(nodes, 0.0, latency_s, overhead_s, 0.0)
        return delay_s, eq.t_scatter(nodes, size, latency_s, overhead_s, gap) - delay_s
    delay_s = eq.t_broadcast(nodes, 0.0, latency_s, overhead_s, 0.0)
    if move.kind == "broadcast":
        return delay_s, eq.t_broadcast(nodes, size, latency_s, overhead_s, gap) - delay_s
    short_gap_s = 0.0 if literal else of("gap_s")
    return delay_s, eq.t_reduce(nodes, size, latency_s, overhead_s, gap, additions_s, short_gap_s) - delay_s


def _additions_s(values: _Values, move: Transaction, at: FieldPath, network: Network, literal: bool) -> Quantity:
    """gamma k: gamma is one addition of an element, the model's own or the network's."""
    size, element = values.of((*at, "bytes")), values.of((*at, "bytes_per_element"))
    own = move.reduction_s is not None
    addition_s = values.of((*at, "reduction_s")) if own else network.reduction_per_byte_s * element
    return eq.additions(size, addition_s, element, literal)


def _too_long(file: RatssModelFile, parts: Mapping[tuple[str, str], Quantity]) -> Diagnostic:
    """Which part's time is beyond all numbers."""
    found = next((key for key, part_s in parts.items() if not np.max(part_s) < np.inf), None)
    hint = "Its numbers are too large, or too small, to compute with."
    for index, stage in enumerate(file.model.stages):
        nodes, moves = [node.name for node in stage.nodes], [move.name for move in stage.transactions]
        for field, names in (("nodes", nodes), ("transactions", moves)):
            if found and found[0] == stage.name and found[1] in names:
                at = ("stages", index, field, names.index(found[1]))
                return file.marked.diagnostic(at, f"the time of '{found[1]}' is not a finite number", hint)
    return file.marked.diagnostic(("iterations",), "the model's time is not a finite number", hint)


def in_tree(move: Transaction) -> bool:
    """Whether a transaction is a collective in a binomial tree."""
    return move.kind != "io" and not move.serial and not move.table


def tree_notes(
    file: RatssModelFile, changes: Mapping[str, Quantity] | None = None, reading: str | None = None
) -> tuple[Diagnostic, ...]:
    """A note where collectives go in a tree of nodes that are no power of two: which reading of log2(P) was used."""
    inputs = file.at(changes or {}, reading)
    uneven: list[tuple[FieldPath, str, float]] = []
    for index, stage in enumerate(file.model.stages):
        for n, move in enumerate(stage.transactions):
            at: FieldPath = ("stages", index, "transactions", n, "nodes")
            if in_tree(move):
                nodes = np.ravel(file.value(at, inputs))
                uneven += [(at, move.name, float(p)) for p in nodes[np.log2(nodes) % 1 != 0][:1]]
    if not uneven:
        return ()
    first, _, count = uneven[0]
    names = ", ".join(dict.fromkeys(name for _, name, _ in uneven))
    message = f"{names}: {count:g} nodes are no power of two, counted as {eq.rounds(count):g} whole rounds"
    hint = "Eqs. 19 and 20 assume a power of two; log2(P) is taken as the next whole number."
    return (file.marked.diagnostic(first, message, hint, Severity.NOTE),)


def _network(platform: Platform | None, move: Transaction) -> Network:
    networks = platform.networks if platform else ()
    return next((n for n in networks if n.name == move.network), Network(name=""))

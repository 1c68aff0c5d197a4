"""RATSS models computed: from a document to times, for single values or whole arrays of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np

from workbench.formats.documents import Schema, read_text
from workbench.formats.units import UnitError, quantity
from workbench.formats.yaml_marks import Marked, check, near, read_marked
from workbench.model.diagnostic import Diagnostic, WorkbenchError, has_errors
from workbench.model.platform import Network, Platform
from workbench.predict import ratss_equations as eq
from workbench.predict.formulas import Compiled, Formula, compile_formula, smallest
from workbench.predict.formulas import Path as FieldPath
from workbench.predict.ratss_equations import Quantity
from workbench.predict.ratss_model import ComputeNode, RatssModel, Stage, Transaction

SCHEMA = Schema(title="RATSS model", model=RatssModel)

#: Fields that must be above zero; no field can be below it.
_POSITIVE = {"clock_hz", "ops_per_cycle", "rate_bytes_per_s", "efficiency", "bytes_per_element", "nodes", "transfers"}


@dataclass(frozen=True)
class RatssModelFile:
    """A checked model with its formulas compiled; `marked` knows where each field stands."""

    model: RatssModel
    marked: Marked
    inputs: Mapping[str, float]
    formulas: Mapping[FieldPath, Compiled]
    platform: Platform | None

    def value(self, path: FieldPath, inputs: Mapping[str, Quantity]) -> Quantity:
        """One field at some inputs. WorkbenchError naming it where it is negative, not a number or infinite."""
        result = self.formulas[path].value(inputs)
        least = smallest(result)
        field = str(path[-1])
        if not np.isfinite(least) or not np.all(np.isfinite(result)):
            hint = "Does its formula divide by zero?"
            raise WorkbenchError(self.marked.diagnostic(path, f"{_dotted(path)} is not a finite number", hint))
        if field in _POSITIVE and least <= 0:
            raise WorkbenchError(self.marked.diagnostic(path, f"{_dotted(path)} is {least:g}", "It must be above 0."))
        if least < 0:
            raise WorkbenchError(
                self.marked.diagnostic(path, f"{_dotted(path)} is {least:g}", "It cannot be negative.")
            )
        return result


@dataclass(frozen=True)
class Prediction:
    """What a model comes to. `parts` maps (stage, node or transaction) to its time in seconds, once per iteration;
    `comp_s`, `comm_s` and `stage_s` are by stage; all may be arrays."""

    parts: Mapping[tuple[str, str], Quantity]
    comp_s: Mapping[str, Quantity]
    comm_s: Mapping[str, Quantity]
    stage_s: Mapping[str, Quantity]
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
    inputs = _inputs(model, marked, found)
    found.extend(
        marked.diagnostic(
            ("readings", reading, name), f"the model has no input '{name}'", near(name, inputs, ""), key=True
        )
        for reading, given in model.readings.items()
        for name in given
        if name not in inputs
    )
    formulas = {path: compile_formula(formula, path, inputs, marked, found) for path, formula in _all_formulas(model)}
    if has_errors(found):
        return None, tuple(found)
    return RatssModelFile(model, marked, inputs, formulas, platforms.get(model.platform)), tuple(found)


def predict(
    file: RatssModelFile, changes: Mapping[str, Quantity] | None = None, reading: str | None = None
) -> Prediction:
    """Compute the model at its inputs, with `changes` (numbers or broadcastable arrays) laid over.

    `reading` is one of the model's readings. Raises WorkbenchError naming an unknown input or reading, or the field
    that has no sensible value.
    """
    values = _Values(file, {**file.inputs, **_of_reading(file, reading), **_known(file, changes or {})}, reading)
    parts: dict[tuple[str, str], Quantity] = {}
    comp: dict[str, Quantity] = {}
    comm: dict[str, Quantity] = {}
    stages: dict[str, Quantity] = {}
    for index, stage in enumerate(file.model.stages):
        at: FieldPath = ("stages", index)
        nodes = [_node_s(values, (*at, "nodes", i)) for i in range(len(stage.nodes))]
        moves = [values.move_s(move, (*at, "transactions", i)) for i, move in enumerate(stage.transactions)]
        for node, node_s in zip(stage.nodes, nodes, strict=True):
            parts[stage.name, node.name] = node_s
        for move, (delay_s, rest_s) in zip(stage.transactions, moves, strict=True):
            parts[stage.name, move.name] = delay_s + rest_s
        micro_s, before_s, after_s, configuration_s, iterations = (
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
            comp[stage.name], comm[stage.name], iterations, configuration_s, stage.overlapped
        )
    total_s = eq.t_application(list(stages.values()), values.of(("iterations",)), file.model.pipelined)
    baseline = None if file.model.baseline_s is None else values.of(("baseline_s",))
    return Prediction(
        parts=parts,
        comp_s=comp,
        comm_s=comm,
        stage_s=stages,
        total_s=total_s,
        speedup=None if baseline is None else baseline / total_s,
        resources={name: values.of(("resources", name)) for name in file.model.resources},
    )


def _known(file: RatssModelFile, changes: Mapping[str, Quantity]) -> Mapping[str, Quantity]:
    for name in changes:
        if name not in file.inputs:
            hint = near(name, file.inputs, f"The model's inputs: {', '.join(file.inputs) or 'none'}.")
            raise WorkbenchError(Diagnostic(f"the model has no input '{name}'", hint, file=file.marked.file))
    return changes


def _of_reading(file: RatssModelFile, reading: str | None) -> Mapping[str, float]:
    if reading is None:
        return {}
    readings = file.model.readings
    if reading not in readings:
        hint = near(reading, readings, f"The model's readings: {', '.join(readings) or 'none'}.")
        raise WorkbenchError(Diagnostic(f"the model has no reading '{reading}'", hint, file=file.marked.file))
    return readings[reading]


class _Values:
    """A model's fields at some inputs. Equal formulas and equal transactions are computed once."""

    def __init__(self, file: RatssModelFile, inputs: Mapping[str, Quantity], reading: str | None) -> None:
        self.file, self._inputs, self._reading = file, inputs, reading
        self._fields: dict[tuple[str, bool], Quantity] = {}
        self._moves: dict[tuple[object, ...], tuple[Quantity, Quantity]] = {}

    def of(self, path: FieldPath) -> Quantity:
        expression = self.file.formulas[path].expression
        if expression is None:
            return self.file.value(path, self._inputs)
        key = (expression.text, path[-1] in _POSITIVE)
        if key not in self._fields:
            self._fields[key] = self.file.value(path, self._inputs)
        return self._fields[key]

    def move_s(self, move: Transaction, at: FieldPath) -> tuple[Quantity, Quantity]:
        key = tuple(value for field, value in move if field != "name")
        if key not in self._moves:
            self._moves[key] = _move_s(self, move, at)
        return self._moves[key]

    def reading(self, move: Transaction) -> str:
        return self._reading if self._reading in ("literal", "fitted") else move.reading


def _node_s(values: _Values, at: FieldPath) -> Quantity:
    fields = ("pipeline_cycles", "elements", "ops_per_element", "clock_hz", "ops_per_cycle")
    return eq.t_fpga(*(values.of((*at, field)) for field in fields))


def _move_s(values: _Values, move: Transaction, at: FieldPath) -> tuple[Quantity, Quantity]:
    """A transaction's delay, and the rest of its time."""
    network = _network(values.file, move)

    def of(field: str) -> Quantity:
        return float(getattr(network, field)) if getattr(move, field) is None else values.of((*at, field))

    nodes, size = values.of((*at, "nodes")), values.of((*at, "bytes"))
    if move.table:
        assert values.file.platform is not None
        points = values.file.platform.transfer_tables[move.table].points
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


def _network(file: RatssModelFile, move: Transaction) -> Network:
    networks = file.platform.networks if file.platform else ()
    return next((n for n in networks if n.name == move.network), Network(name=""))


def _interpolated(size_bytes: Quantity, points: list[tuple[int, float]]) -> Quantity:
    """Time of one transfer from a table, by the rule of `workbench.model.transfer_time`, elementwise."""
    sizes, times = (np.array(column, dtype=np.float64) for column in zip(*points, strict=True))
    beyond = times[-1] * np.asarray(size_bytes) / sizes[-1]
    inside = np.interp(size_bytes, sizes, times)
    return np.where(np.asarray(size_bytes) > sizes[-1], beyond, inside)


def _inputs(model: RatssModel, marked: Marked, found: list[Diagnostic]) -> dict[str, float]:
    values = {}
    for name, given in model.inputs.items():
        if not name.isidentifier():
            found.append(marked.diagnostic(("inputs", name), f"'{name}' is no name for an input", key=True))
        values[name] = in_unit(given.value, given.unit, ("inputs", name, "value"), marked, found)
        for field in ("low", "high", "deviation"):
            if (bound := getattr(given, field)) is not None:
                in_unit(bound, given.unit, ("inputs", name, field), marked, found)
    return values


def in_unit(value: float | str, unit: str, path: FieldPath, marked: Marked, found: list[Diagnostic]) -> float:
    """A number of an input in its unit; nan, with a diagnostic, where it is none."""
    if not isinstance(value, str):
        return float(value)
    try:
        return quantity(value, unit) if unit else float(value)
    except UnitError as error:
        found.append(marked.diagnostic(path, error.message, error.hint))
    except KeyError:
        found.append(
            marked.diagnostic((*path[:-1], "unit"), f"there is no unit '{unit}' here", "Write s, Hz, B, B/s or s/B.")
        )
    except ValueError:
        found.append(marked.diagnostic(path, f"'{value}' is no number", "Give the input a `unit`, or write a number."))
    return np.nan


def _all_formulas(model: RatssModel) -> Iterator[tuple[FieldPath, Formula]]:
    yield ("iterations",), model.iterations
    if model.baseline_s is not None:
        yield ("baseline_s",), model.baseline_s
    for name, formula in model.resources.items():
        yield ("resources", name), formula
    for index, stage in enumerate(model.stages):
        at: FieldPath = ("stages", index)
        yield from _formulas_of(stage, at)
        for i, node in enumerate(stage.nodes):
            yield from _formulas_of(node, (*at, "nodes", i))
        for i, move in enumerate(stage.transactions):
            yield from _formulas_of(move, (*at, "transactions", i))


_NOT_FORMULAS = {"name", "kind", "network", "table", "reading"}


def _formulas_of(part: Stage | ComputeNode | Transaction, at: FieldPath) -> Iterator[tuple[FieldPath, Formula]]:
    for field, value in part:
        if field not in _NOT_FORMULAS and isinstance(value, int | float | str) and not isinstance(value, bool):
            yield (*at, field), value


def _structure(model: RatssModel, marked: Marked, platforms: Mapping[str, Platform]) -> Iterator[Diagnostic]:
    """Names that must exist, names that must differ, and no cycle among the stages."""
    platform = platforms.get(model.platform)
    if model.platform and platform is None:
        yield marked.diagnostic(
            ("platform",), f"there is no platform template '{model.platform}'", near(model.platform, platforms, "")
        )
        return
    names = [stage.name for stage in model.stages]
    graph = nx.DiGraph()
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


def _dotted(path: FieldPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")

"""Tables of a RATSS model as the paper prints them: attributes down, values for each node count across."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from rc_workbench_plugins.ratss.compute import Model, Prediction, doubles, predict
from rc_workbench_plugins.ratss.equations import rounds
from rc_workbench_plugins.ratss.model import RatssModel
from rc_workbench_plugins.ratss.power import DYNAMIC, HOST, NETWORK, STATIC, estimated
from workbench.api import Row, Values, time_text
from workbench.api.models import FieldPath, point_text
from workbench.api.predictions import PaperTable
from workbench.api.unstable import prefixed, significant, value_text

Points = Sequence[Mapping[str, Values]]
Places = Sequence[Model]


def points_of(values: Model) -> Points:
    """The columns: the point chosen, else the inputs that measurements were made at, or the model's own."""
    if values.changes:
        return (values.changes,)
    points: list[Mapping[str, Values]] = []
    for measured in values.model.measured:
        if measured.inputs not in points:
            points.append(measured.inputs)
    return points or [{}]


def model_tables(values: Model) -> tuple[PaperTable, ...]:
    """The application's table, that of its nodes, that of its networks."""
    points = points_of(values)
    columns = tuple(point_text(values.model, p) for p in points)
    places = [values.at(p) for p in points]
    predictions = [predict(place) for place in places]
    return (
        _application(values.model, columns, predictions),
        _nodes(places, columns, predictions),
        _transactions(places, columns, predictions),
    )


def _row(
    attribute: str, values: Sequence[float], text: Callable[[float], str] = time_text, strong: bool = False
) -> Row:
    return Row(attribute, "", tuple(text(float(v)) for v in values), strong)


def _application(model: RatssModel, columns: tuple[str, ...], predictions: Sequence[Prediction]) -> PaperTable:
    rows: list[Row] = []
    for stage in model.stages:
        name = stage.name
        rows.append(_row(f"{name}: iterations", [float(p.iterations[name]) for p in predictions], value_text))
        rows += [_row(f"computation {n.name}", [float(p.parts[name, n.name]) for p in predictions])
                 for n in stage.nodes]  # fmt: skip
        rows.append(_row("t_comp", [float(p.comp_s[name]) for p in predictions], strong=True))
        rows += [_row(f"communication {m.name}", [float(p.parts[name, m.name]) for p in predictions])
                 for m in stage.transactions]  # fmt: skip
        rows.append(_row("t_comm", [float(p.comm_s[name]) for p in predictions], strong=True))
        rows.append(_row(f"t_stage, {'overlapped' if stage.overlapped else 'serial'}",
                         [float(p.stage_s[name]) for p in predictions], strong=True))  # fmt: skip
    rows.append(_row("t_application", [float(p.total_s) for p in predictions], strong=True))
    speedups = [p.speedup for p in predictions]
    if None not in speedups:
        rows.append(_row("speedup", [float(s) for s in speedups if s is not None], significant, strong=True))
    return PaperTable("Application", "Eqs. 11 to 17, each stage's times once an iteration", columns, tuple(rows))


def energy_table(values: Model) -> PaperTable:
    """Energy by what takes it, and average power, where a model has a power model."""
    points = points_of(values)
    spent = [energy for p in points if (energy := predict(values.at(p)).energy)]
    rows = [
        Row(name, "", tuple(prefixed(float(one.parts_j[name]), "J") for one in spent), tip=_source(values.model, name))
        for name in spent[0].parts_j
    ]
    rows.append(Row("energy of the application", "", tuple(prefixed(float(one.total_j), "J") for one in spent), True))
    rows.append(Row("energy of an iteration", "", tuple(prefixed(float(one.per_iteration_j), "J") for one in spent)))
    rows.append(Row("average power", "", tuple(prefixed(float(one.power_w), "W") for one in spent), strong=True))
    columns = tuple(point_text(values.model, p) for p in points)
    kinds = "static, dynamic, hosts and network" + ("; estimates" if estimated(values.model) else "")
    return PaperTable("Power", kinds, columns, tuple(rows))


def _source(model: RatssModel, part: str) -> str:
    """Where the numbers of a part come from."""
    fields = {
        STATIC: ("static_w",),
        DYNAMIC: ("kernels", "kernel_cycle_j", "utilisation"),
        HOST: ("host_idle_w", "host_busy_w"),
        NETWORK: ("network_idle_w", "network_busy_w"),
    }[part]
    sources = model.power.sources if model.power else {}
    return "; ".join(f"{field}: {sources[field]}" for field in fields if field in sources)


def _attributes(places: Places, at: FieldPath, fields: Mapping[str, tuple[str, str]]) -> list[Row]:
    return [
        _row(title, [float(place.of(*at, field)) for place in places], partial(value_text, unit=unit))
        for field, (title, unit) in fields.items()
        if places[0].gives(*at, field)
    ]


NODE_FIELDS = {
    "pipeline_cycles": ("PL, pipeline latency, cycles", ""),
    "ops_per_cycle": ("R, throughput, operations a cycle", ""),
    "clock_hz": ("F, clock", "Hz"),
    "elements": ("N, elements", ""),
    "ops_per_element": ("N, operations an element", ""),
}
MOVE_FIELDS = {
    "nodes": ("P, nodes", ""),
    "bytes": ("k, message", "B"),
    "rate_bytes_per_s": ("R, rate", "B/s"),
    "efficiency": ("efficiency", ""),
}


def _nodes(places: Places, columns: tuple[str, ...], predictions: Sequence[Prediction]) -> PaperTable:
    rows: list[Row] = []
    for index, stage in enumerate(places[0].model.stages):
        for n, node in enumerate(stage.nodes):
            rows.append(Row(f"{stage.name}: {node.name}", "", tuple("" for _ in places), strong=True))
            rows += _attributes(places, ("stages", index, "nodes", n), NODE_FIELDS)
            rows.append(_row("t_fpga", [float(p.parts[stage.name, node.name]) for p in predictions], strong=True))
    return PaperTable("Node attributes", "Eqs. 3 and 4", columns, tuple(rows))


def _transactions(places: Places, columns: tuple[str, ...], predictions: Sequence[Prediction]) -> PaperTable:
    rows: list[Row] = []
    for index, stage in enumerate(places[0].model.stages):
        for n, move in enumerate(stage.transactions):
            via = move.network or (f"table {move.table}" if move.table else "")
            rows.append(Row(f"{move.name}: {move.kind}", via, tuple("" for _ in places), strong=True))
            at = ("stages", index, "transactions", n)
            rows += _attributes(places, at, MOVE_FIELDS)
            if doubles(move):
                whole = [float(rounds(place.of(*at, "nodes"))) for place in places]
                rows.append(_row("log2 P, the next whole number", whole, value_text))
            rows.append(_row("t", [float(p.parts[stage.name, move.name]) for p in predictions], strong=True))
    return PaperTable("Network attributes", "Eqs. 5 to 10, 18 to 20, 26, 27; LogGP", columns, tuple(rows))

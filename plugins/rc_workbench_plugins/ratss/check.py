"""Checks of a RATSS model beyond its schema: names exist and differ, and all costs are given."""

from rc_workbench_plugins.ratss.model import EXCHANGES, NetworkPart, Power, RatssModel, StageMeasurement, Transaction
from rc_workbench_plugins.ratss.power import POWER
from workbench.api import Completed, ModelReading, Severity, near
from workbench.api.models import FieldPath, told_twice
from workbench.api.unstable import Network, unequal_lists

Reading = ModelReading[RatssModel]

#: What every model comes to, by name.
OUTPUTS = ("total_s", "speedup", POWER, "energy_j", "energy_per_iteration_j")
#: Fields of a transaction that every kind reads.
_COMMON = {"name", "kind", "nodes", "returns", "measured_in", "correction"}
_GAP = {"bytes", "network", "rate_bytes_per_s", "efficiency", "gap_per_byte_s"}
_ADDITIONS = {"reduction_s", "bytes_per_element", "reading"}


def check(reading: Reading) -> Completed:
    """Tell everything that is wrong with a model's parts; its numbers and formulas are checked elsewhere."""
    model = reading.model
    if not model.stages:
        reading.tell(("stages",), "the model has no stages", "Write one: - {name: first, nodes: [...]}.")
    elif reading.platform is not None or not model.platform:
        _structure(reading, model)
    measured = [(("measured", n, "inputs"), entry.inputs) for n, entry in enumerate(model.measured)]
    return Completed(model, points=measured)


def _structure(reading: Reading, model: RatssModel) -> None:
    names = [stage.name for stage in model.stages]
    told_twice(reading, names, [("stages", i, "name") for i in range(len(names))], "stages")
    networks = [network.name for network in model.networks]
    told_twice(reading, networks, [("networks", i, "name") for i in range(len(networks))], "networks")
    for number, network in enumerate(model.networks):
        if (wrong := unequal_lists(network)) is not None:
            hint = "Give o and g one number for each node. Give L and G a row for each node, with a number for each."
            reading.tell(("networks", number, wrong[0]), wrong[1], hint, key=True)
    for field in model.power.sources if model.power else ():
        if field not in Power.model_fields:
            hint = near(field, [name for name in Power.model_fields if name != "sources"], "Fields are")
            reading.tell(("power", "sources", field), f"power has no field '{field}'", hint, key=True)
    for index, stage in enumerate(model.stages):
        at: FieldPath = ("stages", index)
        nodes = [(*at, "nodes", i) for i in range(len(stage.nodes))]
        moves = [(*at, "transactions", i) for i in range(len(stage.transactions))]
        parts = [*(node.name for node in stage.nodes), *(move.name for move in stage.transactions)]
        told_twice(reading, parts, [(*path, "name") for path in (*nodes, *moves)], "parts of the stage")
        for move, path in zip(stage.transactions, moves, strict=True):
            _transaction(reading, move, path)
        for i, needed in enumerate(stage.after):
            if needed not in names:
                hint = near(needed, names, "Stages are")
                reading.tell((*at, "after", i), f"there is no stage '{needed}'", hint)
    if len(set(names)) == len(names):
        _cycle(reading, names)
    for name, formula in model.resources.items():
        _resource(reading, name, str(formula))
    for index, entry in enumerate(model.measured):
        _measured(reading, entry, ("measured", index), names)


def _resource(reading: Reading, name: str, formula: str) -> None:
    """A resource stands among the model's outputs and inputs: its name must not be another's there."""
    if name in OUTPUTS or name.startswith(("comp_s.", "comm_s.")):
        hint = "Choose another name."
        reading.tell(("resources", name), f"'{name}' is an output of every model", hint, key=True)
    elif name in reading.model.inputs and formula.strip() != name:
        hint = f"Choose another name, or write `{name}: {name}`."
        message = f"the resource '{name}' has the name of an input, but another formula"
        reading.tell(("resources", name), message, hint, key=True)


def _cycle(reading: Reading, names: list[str]) -> None:
    model = reading.model
    if not any(stage.after for stage in model.stages):
        return
    import networkx as nx  # here, since it is long to import

    graph: nx.DiGraph[str] = nx.DiGraph((needed, stage.name) for stage in model.stages for needed in stage.after)
    for cycle in nx.simple_cycles(graph):
        index = names.index(cycle[0]) if cycle[0] in names else 0
        message = f"these stages wait for one another: {' -> '.join([*cycle, cycle[0]])}"
        reading.tell(("stages", index, "after"), message, "Break the cycle.")
        return


def _transaction(reading: Reading, move: Transaction, at: FieldPath) -> None:
    platform = reading.platform
    networks: dict[str, Network | NetworkPart] = {one.name: one for one in platform.networks} if platform else {}
    networks |= {one.name: one for one in reading.model.networks}
    tables = platform.transfer_tables if platform else {}
    none = "" if platform else "Name a platform, or give the model `networks`."
    if move.kind != "barrier" and "bytes" not in move.model_fields_set:
        reading.tell(at, f"the {move.kind} '{move.name}' has no `bytes`", "Give each node's message: bytes: 4096.")
    if move.network and move.network not in networks:
        hint = near(move.network, networks, "Networks are") or none
        reading.tell((*at, "network"), f"there is no network '{move.network}'", hint)
    elif move.table and move.kind in EXCHANGES:
        hint = "A transfer table has one direction only. Name a `network`, or give `latency_s` and `gap_per_byte_s`."
        reading.tell((*at, "table"), f"{_a(move.kind)} cannot take its time from a transfer table", hint)
    elif move.table and move.table not in tables:
        hint = near(move.table, tables, "The platform's transfer tables") or none
        reading.tell((*at, "table"), f"there is no transfer table '{move.table}'", hint)
    elif move.kind == "barrier":
        if not move.network and move.latency_s is None:
            hint = "Name a `network` of the platform, or give `latency_s` and `overhead_s`."
            reading.tell(at, f"the barrier '{move.name}' has no time", hint)
    elif move.efficiency is not None and move.rate_bytes_per_s is None and not move.table:
        hint = "Give `rate_bytes_per_s` too: the gap is 1 / (rate x efficiency)."
        reading.tell((*at, "efficiency"), "an efficiency without a rate has no effect", hint)
    elif not move.table and move.rate_bytes_per_s is None and move.gap_per_byte_s is None:
        if not move.network:
            hint = f"Name a `network`{' of the platform' if networks else ''}, or give `gap_per_byte_s`"
            hint += " or `rate_bytes_per_s`." if move.kind != "io" else ", `rate_bytes_per_s` or a `table`."
            reading.tell(at, f"the {move.kind} '{move.name}' has no time", hint)
        elif not _has_gap(networks[move.network]):
            message = f"the network '{move.network}' has no time per byte"
            hint = "Give this transaction `gap_per_byte_s` or `rate_bytes_per_s`, or give the network `gap_per_byte_s`."
            reading.tell((*at, "network"), message, hint)
    _unread(reading, move, at)
    network = networks.get(move.network)
    if move.kind == "reduce" and not move.table and move.reduction_s is None and not (
        network and network.reduction_per_byte_s
    ):  # fmt: skip
        message = f"the reduce '{move.name}' counts no time for additions"
        reading.tell(at, message, "Give `reduction_s`, the time of one addition.", Severity.WARNING)


def _has_gap(network: Network | NetworkPart) -> bool:
    return bool(network.gap_per_byte_s or network.gaps_per_byte_s)


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aio' else 'a'} {kind}"


def _unread(reading: Reading, move: Transaction, at: FieldPath) -> None:
    """Fields that are given and that the time does not depend on."""
    if move.table:
        form, read = "a transfer table", {"bytes", "table", "transfers"}
    elif move.kind == "io":
        form, read = "an io transaction", {*_GAP, "latency_s", "overhead_s", "transfers"}
    elif move.kind == "barrier":
        form, read = "a barrier", {"network", "serial", "latency_s", *(() if move.serial else ("overhead_s",))}
    elif move.serial:
        form, read = f"a serial {move.kind}", {*_GAP, "serial", "latency_s"}
        read |= {"overlapped"} if move.kind == "gather" else _ADDITIONS if move.kind == "reduce" else set()
    elif move.kind in EXCHANGES:
        form, read = _a(move.kind), {*_GAP, "latency_s", "overhead_s", "capacity"}
    else:
        form, read = f"a {move.kind} in a tree", {*_GAP, "latency_s", "overhead_s", "capacity"}
        read |= {*_ADDITIONS, "gap_s"} if move.kind == "reduce" else set()
    defaults = type(move).model_fields
    for field in sorted(move.model_fields_set - _COMMON - read):
        if getattr(move, field) != defaults[field].default:
            message = f"{field} has no effect for {form}"
            reading.tell((*at, field), message, "Leave it out.", Severity.WARNING, key=True)


def _measured(reading: Reading, entry: StageMeasurement, at: FieldPath, names: list[str]) -> None:
    if entry.stage and entry.stage not in names:
        hint = near(entry.stage, names, "Stages are")
        reading.tell((*at, "stage"), f"there is no stage '{entry.stage}'", hint)
    if entry.speedup is not None and (entry.stage or reading.model.baseline_s is None):
        hint = "Only the application has a speedup." if entry.stage else "Give the model `baseline_s`."
        message = "there is no prediction to compare this speedup with"
        reading.tell((*at, "speedup"), message, hint, Severity.WARNING)
    if all(getattr(entry, field) is None for field in ("comp_s", "comm_s", "total_s", "speedup")):
        hint = "Give `comp_s`, `comm_s`, `total_s` or `speedup`."
        reading.tell(at, "this measurement has no value", hint, Severity.WARNING)

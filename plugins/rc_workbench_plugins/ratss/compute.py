"""RATSS models computed: from a model's values to times, for single values or whole arrays of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rc_workbench_plugins.ratss import equations as eq
from rc_workbench_plugins.ratss.model import EXCHANGES, NetworkPart, RatssModel, Transaction
from rc_workbench_plugins.ratss.power import POWER, Energy, energy, estimated
from rc_workbench_plugins.ratss.unlike import Nodes, Numbers, t_collective
from workbench.api import Diagnostic, ModelValues, Severity, Values, WorkbenchError
from workbench.api.models import FieldPath
from workbench.api.unstable import BY_PAIRS, OF_NODES, Network, nodes_described, transfer_s

Model = ModelValues[RatssModel]


@dataclass(frozen=True)
class Prediction:
    """What a model comes to. `parts` maps (stage, node or transaction) to its time in seconds, once per iteration;
    `comp_s` and `comm_s` (once an iteration), `stage_s` (all `iterations`) are by stage; all may be arrays."""

    parts: Mapping[tuple[str, str], Values]
    comp_s: Mapping[str, Values]
    comm_s: Mapping[str, Values]
    stage_s: Mapping[str, Values]
    iterations: Mapping[str, Values]
    total_s: Values
    speedup: Values | None
    resources: Mapping[str, Values]
    energy: Energy | None = None


def outputs(values: Model) -> Mapping[str, Values]:
    """total_s, speedup where there is a baseline, power and energy where there is a power model, the resources,
    comp_s.STAGE, comm_s.STAGE."""
    prediction = predict(values)
    named: dict[str, Values] = {"total_s": prediction.total_s}
    if prediction.speedup is not None:
        named["speedup"] = prediction.speedup
    if spent := prediction.energy:
        named |= {POWER: spent.power_w, "energy_j": spent.total_j, "energy_per_iteration_j": spent.per_iteration_j}
    named |= prediction.resources
    named |= {f"comp_s.{stage}": value for stage, value in prediction.comp_s.items()}
    return named | {f"comm_s.{stage}": value for stage, value in prediction.comm_s.items()}


def predict(values: Model) -> Prediction:
    """Compute the model. Raises WorkbenchError naming the field that has no sensible value."""
    with np.errstate(all="ignore"):  # what overflows is told below
        return _predict(values)


def _predict(values: Model) -> Prediction:
    model, of = values.model, values.of
    parts: dict[tuple[str, str], Values] = {}
    comp: dict[str, Values] = {}
    comm: dict[str, Values] = {}
    stages: dict[str, Values] = {}
    repeated: dict[str, Values] = {}
    alike: dict[tuple[object, ...], tuple[Values, ...]] = {}  # equal transactions are computed once
    for index, stage in enumerate(model.stages):
        at: FieldPath = ("stages", index)
        nodes = [_node_s(values, (*at, "nodes", i)) for i in range(len(stage.nodes))]
        moves: list[tuple[Values, ...]] = []
        for i, move in enumerate(stage.transactions):
            key = tuple(value for field, value in move if field != "name")
            if key not in alike:
                path = (*at, "transactions", i)
                alike[key] = tuple(_corrected(values, path, part_s) for part_s in _move_s(values, move, path))
            moves.append(alike[key])
        for node, node_s in zip(stage.nodes, nodes, strict=True):
            parts[stage.name, node.name] = node_s
        for move, (delay_s, rest_s) in zip(stage.transactions, moves, strict=True):
            parts[stage.name, move.name] = delay_s + rest_s
        micro_s, before_s, after_s, configuration_s, repeated[stage.name] = (
            of(*at, field)
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
    total_s = eq.t_application(list(stages.values()), of("iterations"), model.pipelined)
    baseline = None if model.baseline_s is None else of("baseline_s")
    if not np.max(total_s) < np.inf:
        raise WorkbenchError(_too_long(values, parts))
    speedup = None if baseline is None else baseline / total_s
    if speedup is not None and not np.max(speedup) < np.inf:
        hint = "Give the model nodes or transactions that take time."
        raise WorkbenchError(
            values.problem(("baseline_s",), "the predicted time is 0, so the speedup is infinite", hint)
        )
    return Prediction(
        parts=parts,
        comp_s=comp,
        comm_s=comm,
        stage_s=stages,
        iterations=repeated,
        total_s=total_s,
        speedup=speedup,
        resources={name: of("resources", name) for name in model.resources},
        energy=energy(values, parts, comm, repeated, total_s),
    )


def _corrected(values: Model, at: FieldPath, duration_s: Values) -> Values:
    correction = values.of(*at, "correction")
    return duration_s if isinstance(correction, float) and correction == 1.0 else duration_s * correction


def _node_s(values: Model, at: FieldPath) -> Values:
    fields = ("pipeline_cycles", "elements", "ops_per_element", "clock_hz", "ops_per_cycle")
    return _corrected(values, at, eq.t_fpga(*(values.of(*at, field) for field in fields)))


def _move_s(values: Model, move: Transaction, at: FieldPath) -> tuple[Values, Values]:
    """A transaction's delay, and the rest of its time."""
    of_network = network_of(values, move)

    def of(field: str) -> Values:
        return of_network(field) if getattr(move, field) is None else values.of(*at, field)

    nodes, size = values.of(*at, "nodes"), values.of(*at, "bytes")
    if move.table:
        assert values.platform is not None
        transfers = values.of(*at, "transfers")
        return 0.0, nodes * transfers * transfer_s(values.platform.transfer_tables[move.table], size / transfers)
    latency_s, overhead_s = of("latency_s"), of("overhead_s")
    if move.rate_bytes_per_s is not None:
        efficiency = 1.0 if move.efficiency is None else values.of(*at, "efficiency")
        gap = eq.io_gap(values.of(*at, "rate_bytes_per_s"), efficiency)
    else:
        gap = of("gap_per_byte_s")
    if move.kind == "io":
        delay_s = eq.t_bus(latency_s + overhead_s, 0.0, gap, values.of(*at, "transfers"))
        return delay_s, eq.t_io(0.0, nodes, size, gap)
    if not move.serial and nodes_described(_named(values, move)[1]):
        return _unlike_s(values, move, at)
    if move.kind in EXCHANGES:
        delay_s, rest_s = _exchange_s(move, nodes, size, latency_s, overhead_s, gap)
        if (capacity := capacity_of(values, move, at)) is not None and move.kind != "barrier":
            rest_s = rest_s + eq.t_exchange_contention(nodes, size, gap, capacity)
        return delay_s, rest_s
    reading = values.reading if values.reading in ("literal", "fitted") else move.reading
    literal = reading == "literal"
    additions_s = _additions_s(values, move, at, of_network, literal) if move.kind == "reduce" else 0.0
    if move.serial:
        whole = (
            eq.t_snap_gather(nodes, size, latency_s, gap, move.overlapped)
            if move.kind == "gather"
            else eq.t_snap(nodes, size, latency_s, gap, additions_s)
        )
        return latency_s, whole - latency_s
    shrinking, capacity = move.kind in ("scatter", "gather"), capacity_of(values, move, at)
    more_s = 0.0 if capacity is None else eq.t_tree_contention(nodes, size, gap, capacity, shrinking)
    if shrinking:
        delay_s = eq.t_scatter(nodes, 0.0, latency_s, overhead_s, 0.0)
        return delay_s, eq.t_scatter(nodes, size, latency_s, overhead_s, gap) - delay_s + more_s
    delay_s = eq.t_broadcast(nodes, 0.0, latency_s, overhead_s, 0.0)
    if move.kind == "broadcast":
        return delay_s, eq.t_broadcast(nodes, size, latency_s, overhead_s, gap) - delay_s + more_s
    short_gap_s = 0.0 if literal else of("gap_s")
    whole_s = eq.t_reduce(nodes, size, latency_s, overhead_s, gap, additions_s, short_gap_s)
    return delay_s, whole_s - delay_s + more_s


def _unlike_s(values: Model, move: Transaction, at: FieldPath) -> tuple[Values, Values]:
    """The delay of a collective between unlike nodes, and the rest of its time. What the transaction says itself holds
    for all of them."""
    number, network = _named(values, move)
    described = nodes_described(network) or 0
    nodes, size = values.of(*at, "nodes"), values.of(*at, "bytes")
    if (most := float(np.max(nodes))) > described:
        message = f"the network '{network.name}' describes {described} nodes, but {most:g} take part"
        hint = "Describe each node " + ("in the template." if number is None else "in the model's network.")
        raise WorkbenchError(values.problem((*at, "nodes"), message, hint))
    of_network = network_of(values, move)
    of_nodes = []
    for name, several in OF_NODES.items():
        shape = (described, described) if several in BY_PAIRS else (described,)
        if getattr(move, name) is not None:
            one = values.of(*at, name)
        elif name == "gap_per_byte_s" and move.rate_bytes_per_s is not None:
            efficiency = 1.0 if move.efficiency is None else values.of(*at, "efficiency")
            one = eq.io_gap(values.of(*at, "rate_bytes_per_s"), efficiency)
        elif rows := getattr(network, several):
            of_nodes.append(_of_nodes(values, number, several, rows))
            continue
        else:
            one = of_network(name)
        of_nodes.append(
            np.broadcast_to(np.reshape(one, (*np.shape(one), *(1 for _ in shape))), (*np.shape(one), *shape))
        )
    literal = (values.reading if values.reading in ("literal", "fitted") else move.reading) == "literal"
    additions_s = _additions_s(values, move, at, of_network, literal) if move.kind == "reduce" else 0.0
    capacity = capacity_of(values, move, at) if move.kind != "barrier" else None

    def seconds(count: float, k: float, addition_s: float, room: float, *parts: Numbers, short_gap: bool) -> float:
        shared_by = None if capacity is None else room
        return t_collective(move.kind, int(count), k, Nodes(*parts), addition_s, short_gap, shared_by)

    time_of = np.vectorize(
        seconds, otypes=[float], excluded={"short_gap"}, signature="(),(),(),(),(n),(n),(n,n),(n,n)->()"
    )
    room = 1.0 if capacity is None else capacity
    delay_s = time_of(nodes, 0.0, 0.0, room, *of_nodes, short_gap=False)
    return delay_s, time_of(nodes, size, additions_s, room, *of_nodes, short_gap=not literal) - delay_s


def _of_nodes(values: Model, number: int | None, field: str, rows: Sequence[object]) -> Numbers:
    """A vector or matrix of a network, the platform's or the model's own of this `number`; the axes of a sweep come
    first."""
    if number is None:
        return np.asarray(rows, float)
    shape = np.shape(np.asarray(rows, object))
    every = np.broadcast_arrays(*(values.of("networks", number, field, *place) for place in np.ndindex(shape)))
    return np.stack(every, -1).reshape(*every[0].shape, *shape)


def _exchange_s(
    move: Transaction, nodes: Values, size: Values, latency_s: Values, overhead_s: Values, gap: Values
) -> tuple[Values, Values]:
    """The delay of a collective without a root, and the rest of its time. A barrier has no rest."""
    if move.kind == "barrier":
        whole = eq.t_serial_barrier(nodes, latency_s) if move.serial else eq.t_barrier(nodes, latency_s, overhead_s)
        return whole, 0.0
    if move.serial:
        delay_s = eq.t_serial_exchange(nodes, 0.0, latency_s, 0.0)
        return delay_s, eq.t_serial_exchange(nodes, size, latency_s, gap) - delay_s
    time_of = eq.t_all_gather if move.kind == "all-gather" else eq.t_all_to_all
    delay_s = time_of(nodes, 0.0, latency_s, overhead_s, 0.0)
    return delay_s, time_of(nodes, size, latency_s, overhead_s, gap) - delay_s


def _additions_s(
    values: Model, move: Transaction, at: FieldPath, of_network: Callable[[str], Values], literal: bool
) -> Values:
    """gamma k: gamma is one addition of an element, the model's own or the network's."""
    size, element = values.of(*at, "bytes"), values.of(*at, "bytes_per_element")
    own = move.reduction_s is not None
    addition_s = values.of(*at, "reduction_s") if own else of_network("reduction_per_byte_s") * element
    return eq.additions(size, addition_s, element, literal)


def _too_long(values: Model, parts: Mapping[tuple[str, str], Values]) -> Diagnostic:
    """Which part's time is beyond all numbers."""
    part = next((key for key, part_s in parts.items() if not np.max(part_s) < np.inf), None)
    hint = "Its numbers are too large or too small to compute with."
    for index, stage in enumerate(values.model.stages):
        nodes, moves = [node.name for node in stage.nodes], [move.name for move in stage.transactions]
        for field, names in (("nodes", nodes), ("transactions", moves)):
            if part and part[0] == stage.name and part[1] in names:
                at = ("stages", index, field, names.index(part[1]))
                return values.problem(at, f"the time of '{part[1]}' is not a finite number", hint)
    return values.problem(("iterations",), "the model's time is not a finite number", hint)


def in_tree(move: Transaction) -> bool:
    """Whether a transaction is a collective in a binomial tree."""
    return move.kind not in ("io", *EXCHANGES) and not move.serial and not move.table


def doubles(move: Transaction) -> bool:
    """Whether a transaction takes log2(P) rounds, each reaching twice as many nodes as the one before."""
    return in_tree(move) or (move.kind in ("all-gather", "barrier") and not move.serial)


def notes(values: Model) -> Sequence[Diagnostic]:
    """Notes where collectives go in a tree of nodes that are no power of two (which reading of log2(P) was used), and
    where power rests on estimates."""
    return (*_uneven_notes(values), *_power_notes(values))


def _power_notes(values: Model) -> Sequence[Diagnostic]:
    if not (fields := estimated(values.model)):
        return ()
    message = f"power and energy are estimates, by {', '.join(fields)}"
    hint = "`power.sources` says what each estimate is based on."
    return (values.problem(("power", "sources"), message, hint, Severity.NOTE),)


def _uneven_notes(values: Model) -> Sequence[Diagnostic]:
    uneven: list[tuple[FieldPath, str, float]] = []
    for index, stage in enumerate(values.model.stages):
        for n, move in enumerate(stage.transactions):
            at: FieldPath = ("stages", index, "transactions", n, "nodes")
            if in_tree(move):
                nodes = np.ravel(values.of(*at))
                uneven += [(at, move.name, float(p)) for p in nodes[np.log2(nodes) % 1 != 0][:1]]
    if not uneven:
        return ()
    first, _, count = uneven[0]
    names = ", ".join(dict.fromkeys(name for _, name, _ in uneven))
    message = f"{names}: {count:g} nodes are not a power of two; counted as {eq.rounds(count):g} whole rounds"
    hint = "Eqs. 19 and 20 assume a power of two; log2(P) is rounded up to a whole number."
    return (values.problem(first, message, hint, Severity.NOTE),)


def _named(values: Model, move: Transaction) -> tuple[int | None, Network | NetworkPart]:
    """The network that a transaction goes over, with its number where it is the model's own; an empty one of none."""
    for number, own in enumerate(values.model.networks):
        if own.name == move.network:
            return number, own
    networks = values.platform.networks if values.platform else ()
    return None, next((one for one in networks if one.name == move.network), Network(name=""))


def network_of(values: Model, move: Transaction) -> Callable[[str], Values]:
    """What gives a number of the network that a transaction goes over: the model's own, else the platform's; 0 of
    none."""
    number, network = _named(values, move)
    if number is not None:
        return partial(values.of, "networks", number)
    return lambda field: float(getattr(network, field))


def capacity_of(values: Model, move: Transaction, at: FieldPath) -> Values | None:
    """How many messages share the network of a transaction without waiting; None for any number."""
    if move.capacity is not None:
        return values.of(*at, "capacity")
    number, network = _named(values, move)
    if number is not None:
        return values.of("networks", number, "capacity") if values.gives("networks", number, "capacity") else None
    return network.capacity if isinstance(network, Network) else None

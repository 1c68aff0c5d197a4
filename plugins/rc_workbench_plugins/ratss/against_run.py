"""Closing the loop: a prediction beside an instrumented run, part by part, and the run's measurements taken over.

A model's nodes and transactions say in `measured_in` which states of a run are theirs. Transactions are timed by the
host's states, nodes by the FPGA's (the mean over replicas of a block, since they work side by side).

Waiting and polling are results of a run, never inputs of a model: how long they take depends on the other side. So a
part that a run also waits in is held against its own share alone (of polls, as many as the model has transfers), and
takes no correction from it.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from rc_workbench_plugins.ratss.compute import Model, Prediction, predict
from rc_workbench_plugins.ratss.errors import error_row
from rc_workbench_plugins.ratss.model import RatssModel
from workbench.api import PS_PER_S, Block, Diagnostic, Run, Severity, Side, Table, WorkbenchError
from workbench.api.models import FieldPath
from workbench.api.predictions import ErrorRow, RunComparison
from workbench.api.unstable import WAITS

#: The reason of states that ask until something is ready.
POLL = "poll"
#: Kinds of calls that return when something has happened, not when something was moved.
_BLOCKING = {"wait", "interrupt"}


def compare_with_run(values: Model, run: Run) -> RunComparison:
    """Predict at the run's settings and hold the parts against its states.

    WorkbenchError where the run has no times of states (it was not instrumented) or the model names none.
    """
    inputs = {
        name: float(value)
        for name, value in run.manifest.settings.items()
        if name in values.inputs and isinstance(value, int | float)
    }
    values = values.at(inputs)
    prediction = predict(values)
    parts = list(_parts(values.model))
    if not any(names for _, _, names in parts):
        hint = "Give nodes and transactions `measured_in`: names of states or calls of a run."
        raise WorkbenchError(values.problem(("stages",), "the model names no states of a run that measure it", hint))
    if "state_time" not in run.tables:
        where = str(run.path) if run.path else None
        hint = "Run the application instrumented."
        raise WorkbenchError(Diagnostic("this run has no state times", hint, file=where))
    rows: list[ErrorRow] = []
    problems: list[Diagnostic] = []
    corrections: dict[FieldPath, float] = {}
    measured_of: dict[tuple[str, str], float] = {}
    for path, (stage, part), names in parts:
        if not names:
            continue
        missing = [name for name in names if not _holders(run, name)]
        for name in missing:
            message = f"the run has no state '{name}'"
            problems.append(values.problem((*path, "measured_in"), message, "", Severity.WARNING))
        if len(missing) == len(names):
            continue
        own_s, waiting_s = _own_and_waiting_s(run, names, _calls(values, prediction, path, stage))
        if own_s is None:
            message = f"the run waits in {', '.join(names)}, so '{part}' itself was not measured"
            hint = "Waiting is a result of a run, not an input of the model. Name states that move data or work."
            problems.append(values.problem((*path, "measured_in"), message, hint, Severity.NOTE))
            continue
        measured_of[stage, part] = own_s
        predicted = float(prediction.parts[stage, part] * prediction.iterations[stage])
        rows.append(error_row(stage, part, predicted, own_s, inputs, run.manifest.name, waiting_s))
        if predicted > 0 and own_s > 0 and not waiting_s:
            old = float(values.of(*path, "correction"))
            corrections[*path, "correction"] = old * own_s / predicted
    rows += _sums(values.model, prediction, measured_of, inputs, run.manifest.name)
    rows.append(error_row("", "total_s", float(prediction.total_s), run.time_s, inputs, run.manifest.name))
    measured, at = _measured(values, inputs, rows, run.manifest.name)
    return RunComparison(tuple(rows), inputs, corrections, tuple(problems), run.manifest.name, measured, at)


def _measured(
    values: Model, inputs: Mapping[str, float], rows: Iterable[ErrorRow], run_name: str
) -> tuple[dict[str, object], int | None]:
    """The document's entry of a run, and where it has one of the same run at the same inputs."""
    held = {(row.stage, row.quantity): row.measured for row in rows}
    stage = values.model.stages[0].name if len(values.model.stages) == 1 else ""
    entry: dict[str, object] = {"inputs": dict(inputs)} if inputs else {}
    for quantity in ("comp_s", "comm_s"):
        if (stage, quantity) in held:
            entry[quantity] = float(f"{held[stage, quantity]:.9g}")
    entry |= {"total_s": float(f"{held['', 'total_s']:.9g}"), "source": f"run {run_name}"}
    same = [
        n
        for n, known in enumerate(values.model.measured)
        if (dict(known.inputs), known.stage, known.source) == (dict(inputs), "", entry["source"])
    ]
    if not same:
        return entry, None
    return {key: value for key, value in entry.items() if key not in ("inputs", "source")}, same[-1]


def state_s(run: Run, name: str) -> float:
    """The time a run spent in a state: the host's in all, the FPGA's as the mean over the blocks that have it."""
    holders = _holders(run, name)
    table = run.tables["state_time"]
    total_ps = sum(
        int(np.sum(table["time_ps"][(table["block"] == block) & (table["state"] == state)])) for block, state in holders
    )
    blocks = [run.manifest.blocks[block] for block, _ in holders]
    return total_ps / PS_PER_S / (len(blocks) if any(block.side is Side.FPGA for block in blocks) else 1)


def _own_and_waiting_s(run: Run, names: Iterable[str], calls: float) -> tuple[float | None, float]:
    """The time that a part itself took in its states, and the time that the run waited there.

    Where the host polls, the part's own are as many of the polls as it has `calls`. The own time is None where waiting
    cannot be told from it: in a call that blocks, or a block that waits.
    """
    own_s, waiting_s = 0.0, 0.0
    for name in names:
        time_s, holders = state_s(run, name), _holders(run, name)
        states = [run.manifest.blocks[block].states[state] for block, state in holders]
        host_calls, kinds = _calls_of(run, holders)
        polls = any(POLL in state.reasons for state in states) or (host_calls > calls and _asks_again(run, holders))
        if polls or kinds & _BLOCKING or any(state.category in WAITS for state in states):
            if not host_calls or kinds & _BLOCKING or (host_calls <= calls and not polls):
                return None, time_s
            share = min(1.0, calls / host_calls)
            waiting_s += time_s * (1 - share)
            time_s *= share
        own_s += time_s
    return own_s, waiting_s


def _calls_of(run: Run, holders: Iterable[tuple[int, int]]) -> tuple[int, set[str]]:
    """How many calls the run made in some states, and of what kinds."""
    table = run.tables.get("call_stats")
    if table is None:
        return 0, set()
    within = _within(table, holders)
    kinds = {run.manifest.entries[entry].kind for entry in table["entry"][within]}
    return int(table["count"][within].sum()), kinds


def _asks_again(run: Run, holders: Iterable[tuple[int, int]]) -> bool:
    """Whether the host asks for the same word twice in a row in these states, be it called polling or not."""
    table = run.tables.get("calls")
    if table is None:
        return False
    for block in {block for block, _ in holders}:
        mine = np.flatnonzero(table["block"] == block)
        here, following = mine[:-1], mine[1:]
        same = (table["site"][here] == table["site"][following]) & (
            table["address"][here] == table["address"][following]
        )
        asked = _within(table, holders)[here] & same
        if any(run.manifest.entries[entry].kind == "receive" for entry in np.unique(table["entry"][here[asked]])):
            return True
    return False


def _within(table: Table, holders: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which rows of a table are of some blocks' states."""
    within = np.zeros(len(table["block"]), dtype=bool)
    for block, state in holders:
        within |= (table["block"] == block) & (table["state"] == state)
    return within


def _calls(values: Model, prediction: Prediction, path: FieldPath, stage: str) -> float:
    """How many calls a transaction is in a whole run, by the model; 0 for a node."""
    if "nodes" in path:
        return 0.0
    transfers, nodes = (float(values.of(*path, field)) for field in ("transfers", "nodes"))
    return transfers * nodes * float(prediction.iterations[stage])


def _holders(run: Run, name: str) -> list[tuple[int, int]]:
    """Which blocks' states a name means: those of the host, or else the FPGA's. "GROUP/STATE" picks a block's."""
    group, _, wanted = name.rpartition("/")

    def of(block: Block) -> bool:
        return not group or group in (block.group, block.id)

    holders = [
        (index, state.index)
        for index, block in enumerate(run.manifest.blocks)
        for state in block.states
        if state.name == wanted and of(block)
    ]
    host = [pair for pair in holders if run.manifest.blocks[pair[0]].side is Side.HOST]
    return host or holders


def _parts(model: RatssModel) -> Iterator[tuple[FieldPath, tuple[str, str], tuple[str, ...]]]:
    for index, stage in enumerate(model.stages):
        for i, node in enumerate(stage.nodes):
            yield ("stages", index, "nodes", i), (stage.name, node.name), node.measured_in
        for i, move in enumerate(stage.transactions):
            yield ("stages", index, "transactions", i), (stage.name, move.name), move.measured_in


def _sums(
    model: RatssModel,
    prediction: Prediction,
    measured: Mapping[tuple[str, str], float],
    inputs: Mapping[str, float],
    source: str,
) -> Iterator[ErrorRow]:
    """A stage's computation and communication, where every part of it was measured."""
    for stage in model.stages:
        rounds = float(prediction.iterations[stage.name])
        nodes = [measured.get((stage.name, node.name)) for node in stage.nodes]
        moves = [measured.get((stage.name, move.name)) for move in stage.transactions]
        if nodes and None not in nodes:
            comp_s = max(s for s in nodes if s is not None)
            yield error_row(stage.name, "comp_s", float(prediction.comp_s[stage.name]) * rounds, comp_s, inputs, source)
        if moves and None not in moves:
            comm_s = sum(s for s in moves if s is not None)
            yield error_row(stage.name, "comm_s", float(prediction.comm_s[stage.name]) * rounds, comm_s, inputs, source)

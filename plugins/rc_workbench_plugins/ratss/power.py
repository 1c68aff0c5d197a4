"""Power and energy of a RATSS model: static and dynamic of the FPGAs, the hosts and the network, beside the time.

    E = P (T (W_static + W_host + W_net) + t_host W_host,busy + t_net W_net,busy) + sum of P n u E_cycle F t_node

P nodes, T the application's time. A node's n kernels take E_cycle each clock cycle at full utilisation u while the node
computes: the dynamic power of CMOS, in proportion to clock and activity (C V^2 f, voltage within E_cycle). The paper
leaves power to future work (section 6); this model is ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rc_workbench_plugins.ratss import equations as eq
from rc_workbench_plugins.ratss.model import RatssModel
from workbench.api import ModelValues, Values

#: The average power among the outputs.
POWER = "power_w"
STATIC, DYNAMIC, HOST, NETWORK = "FPGA, static", "FPGA, dynamic", "host", "network"


@dataclass(frozen=True)
class Energy:
    """Joules of the whole application by what takes them, and of one of its iterations; the average power in watts."""

    parts_j: Mapping[str, Values]
    total_j: Values
    per_iteration_j: Values
    power_w: Values


def estimated(model: RatssModel) -> tuple[str, ...]:
    """The fields of a model's power whose source says that they are estimates."""
    sources = model.power.sources if model.power else {}
    return tuple(field for field, source in sources.items() if source.casefold().startswith("estimate"))


def energy(
    values: ModelValues[RatssModel], parts_s: Mapping[tuple[str, str], Values], comm_s: Mapping[str, Values],
    repeated: Mapping[str, Values], total_s: Values,
) -> Energy | None:  # fmt: skip
    """What a prediction takes; None where the document has no power. `parts_s` are times of one iteration of their
    stage, `comm_s` those of a stage's communication, `repeated` the stages' iterations."""
    if values.model.power is None:
        return None

    def of(field: str) -> Values:
        return values.of("power", field)

    nodes, iterations = of("nodes"), values.of("iterations")
    cycle_j = of("kernels") * of("utilisation") * of("kernel_cycle_j")
    cycles: Values = 0.0  # of the nodes of all stages, in all iterations
    host_s: Values = 0.0
    network_s: Values = 0.0
    for index, stage in enumerate(values.model.stages):
        times = iterations * repeated[stage.name]
        for n, node in enumerate(stage.nodes):
            clock_hz = values.of("stages", index, "nodes", n, "clock_hz")
            cycles = cycles + times * parts_s[stage.name, node.name] * clock_hz
        own_s = [values.of("stages", index, f"{field}_s") for field in ("preprocessing", "postprocessing")]
        own_s.append(values.of("stages", index, "microprocessor_s"))
        host_s = host_s + times * (eq.total(own_s) + comm_s[stage.name])
        over = [parts_s[stage.name, move.name] for move in stage.transactions if move.kind != "io"]
        network_s = network_s + times * eq.total(over)
    parts_j = {
        STATIC: nodes * of("static_w") * total_s,
        DYNAMIC: nodes * cycle_j * cycles,
        HOST: nodes * (of("host_idle_w") * total_s + of("host_busy_w") * host_s),
        NETWORK: nodes * (of("network_idle_w") * total_s + of("network_busy_w") * network_s),
    }
    total_j = eq.total(list(parts_j.values()))
    return Energy(parts_j, total_j, total_j / iterations, np.divide(total_j, total_s))

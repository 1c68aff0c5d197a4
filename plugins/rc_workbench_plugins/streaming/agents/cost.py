"""What counting costs a run: the agents' threads on their core, and what they move over the bus."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from rc_workbench_plugins.streaming.cores import called
from workbench.api import Manifest, count_text, percent_text
from workbench.api.records import WAIT, read_thread_names, read_thread_times, read_transfers


@dataclass(frozen=True)
class Cost:
    """The cost of an agent: shares of the run's time, and what its thread moved over the bus."""

    agent: str
    core_share: float
    bus_share: float
    transfers: int
    bytes: int

    def words(self) -> str:
        bus = f", and {percent_text(self.bus_share)} of the bus in {count_text(self.transfers)} transfers"
        said = f"the {self.agent}'s agent took {percent_text(self.core_share)} of a core"
        return said + bus * bool(self.transfers)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def costs(agents: Sequence[str], raw: Path, run: Manifest) -> Iterator[Cost]:
    """Costs of the run's agents, recognised by their threads' names; none if the run has no threads."""
    names, times, whole_ps = read_thread_names(raw), read_thread_times(raw), max(run.time_ps, 1)
    thread, kind, size, grant_ps, end_ps = read_transfers(raw).columns("thread", "kind", "bytes", "grant_ps", "end_ps")
    for agent in agents:
        name = called("agent" if agent == "processor" else f"agent_{agent}")
        number = next((number for number, one in names.items() if one == name), -1)
        if 0 <= number < len(times):
            mine = (thread == number) & (kind != WAIT)
            on_bus_ps = int(np.sum(end_ps[mine] - grant_ps[mine]))
            work = times[number].work_ps / whole_ps
            yield Cost(agent, work, on_bus_ps / whole_ps, int(mine.sum()), int(size[mine].sum()))

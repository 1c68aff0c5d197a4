"""What the agent of an FPGA left in a run's raw folder (`layout.py` says what stands there)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rc_workbench_plugins.streaming.agents.layout import STAMPS, TIMES, WORDS, HardwareAgent
from rc_workbench_plugins.streaming.agents.packets import Words, times_told
from workbench.api.records import read_records
from workbench.api.virtual_time import Triples


def words_sent(raw: Path, number: int = 0) -> Words:
    """All words of FPGA `number`; none where it has no agent."""
    file = raw / WORDS.format(number)
    return np.fromfile(file, "<u4") if file.is_file() else np.empty(0, np.uint32)


def triples(agent: HardwareAgent, raw: Path, number: int = 0) -> tuple[Triples, ...]:
    """(t_P1, t_F2, t_P3) of each of the agent's clocks: ps of the host's clock, cycles since reset, ps. Of a question
    whose answer was not read any more there is none."""
    stamps = read_records(raw / TIMES.format(number), STAMPS)
    told = times_told(agent, words_sent(raw, number))
    found = []
    for clock in range(len(agent.clocks)):
        cycles = np.array([time.cycle for time in told if time.clock == clock], np.int64)
        asked = stamps[: len(cycles)]
        found.append(Triples(asked["t_p1_ps"], cycles[: len(asked)], asked["t_p3_ps"]))
    return tuple(found)

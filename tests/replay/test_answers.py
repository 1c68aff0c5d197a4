"""Which event each poll is for, where there are several that fit."""

from types import SimpleNamespace

import numpy as np

from workbench.replay.answers import _begun_there, _fit
from workbench.replay.events import STAY, Events


def events(*times: int) -> Events:
    """Events at these times; the n-th is stay n + 1."""
    count = np.arange(len(times))
    return Events(STAY, np.array(times), count + 1, np.full(len(times), -1))


def test_where_there_is_an_event_for_each_poll_the_nth_is_for_the_nth():
    never, seen = np.array([-1, -1, -1]), np.array([30, 60, 90])
    (sources,), lag, latest, _ = _fit([events(10, 20, 25)], never, seen)  # the next are done before the host asks
    assert (sources.tolist(), lag, latest) == ([1, 2, 3], 0, 20)
    (sources,), *_ = _fit([events(10, 20, 50, 80)], never, seen)  # else the last before each
    assert sources.tolist() == [2, 3, 4]
    assert _fit([events(10, 40, 95)], never, seen) is None  # the third came too late
    assert _fit([events(10, 20)], never, seen) is None


def test_replicas_are_asked_in_the_order_of_their_addresses():
    """Three replicas, whose stretches 0, 1 and 2 were begun by operations at these addresses."""
    ops = {"address": np.array([0x800, 0x000, 0x400])}
    all_events = SimpleNamespace(host=SimpleNamespace(ops=ops), fpga=SimpleNamespace(stretch_of=np.arange(3)))
    given = [Events(STAY, np.array([10]), np.array([n + 1]), np.array([-1])) for n in range(3)]
    status = np.array([0x300, 0x700, 0xB00])
    by_number, by_start = np.full(3, -1), np.array([0, 1, 2])
    assert _begun_there(all_events, by_start, given, 0x400, np.array([0x400])) == [False, False, True]  # itself
    assert _begun_there(all_events, by_start, given, 0x300, status) == [False, True, False]
    assert _begun_there(all_events, by_number, given, 0x300, status) == [True, False, False]
    assert _begun_there(all_events, by_start, given, 0x300, status[:2]) == [False] * 3

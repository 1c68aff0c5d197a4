"""Which event each poll is for, where there are several that fit."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from workbench.replay.answers import AwaitedEvents, _begun_there, _fit, _starts, begun_earlier
from workbench.replay.critical import _call_starts
from workbench.replay.events import STAY, WORD, Events
from workbench.replay.host import ASK, ASYNC, AWAIT, IRQ, MOVE, OPS, OTHER, _waits_for_design


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


def test_what_is_opaque_may_begin_with_any_word_since_an_answer_before():
    """Two batches of three words each, of which the host waits for the last: the words come at cycles 10 to 12 and 40
    to 42, the answers at 20 and 50. As the FPGA may work on the first word while the others come, it may take 10."""
    ops = np.zeros(4, OPS)
    ops["kind"], ops["row"], ops["table"] = [MOVE, ASK, MOVE, ASK], range(4), 0
    ops["failed"], ops["seen"] = [-1, 18, -1, 48], [-1, 20, -1, 50]
    words = Events(WORD, np.array([10, 11, 12, 40, 41, 42]), np.repeat([0, 2], 3), np.array([4, 8, -1] * 2))
    all_events = SimpleNamespace(
        host=SimpleNamespace(ops=ops, clock_of_table=[0]), cards=np.zeros(4, int), words=lambda *_: words,
        run=SimpleNamespace(manifest=SimpleNamespace(entries=[SimpleNamespace(kind="send")]),
                            tables={"calls": {"entry": np.zeros(4, int)}}),
    )  # fmt: skip
    last = {1: AwaitedEvents(WORD, (0,), -1, 7, 8, True), 3: AwaitedEvents(WORD, (2,), -1, 7, 8, True)}
    first = {1: AwaitedEvents(WORD, (0,), 4, 9, 10, True), 3: AwaitedEvents(WORD, (2,), 4, 9, 10, True)}
    assert begun_earlier(all_events, last, back=1) == first
    assert begun_earlier(all_events, last, back=2) == {**first, 3: AwaitedEvents(WORD, (0,), 4, 39, 40, True)}
    assert begun_earlier(all_events, first, back=1) == {}
    known = {1: AwaitedEvents(STAY, (5,), -1, 7, 8)}
    assert begun_earlier(all_events, known, back=1) == {}


def test_a_wait_longer_than_the_transfers_under_way_is_for_the_design():
    ops = np.zeros(4, OPS)
    ops["kind"] = ASYNC, AWAIT, AWAIT, AWAIT
    ops["begin_ps"], ops["end_ps"] = (0, 5, 20, 60), (1, 10, 50, 60)
    ops["grant_ps"][0], ops["work_ps"][0] = 0, 10
    _waits_for_design(ops)
    assert ops["kind"].tolist() == [ASYNC, AWAIT, IRQ, AWAIT]


def test_a_wait_for_a_kernel_counts_from_the_call_that_starts_it():
    """Two rounds: data, a start, a wait. The run has no words of the start; a call before the first round is none."""
    ops = np.zeros(7, OPS)
    ops["kind"], ops["row"], ops["site"] = [OTHER, MOVE, OTHER, IRQ, MOVE, OTHER, IRQ], range(7), [3, 0, 1, 2, 0, 1, 2]
    ops["end_ps"] = [1000, 5000, 6000, 9000, 14000, 15000, 19000]
    kinds = ["send", "other", "wait"]
    all_events = SimpleNamespace(
        host=SimpleNamespace(ops=ops), periods_ps=[Fraction(1000)],
        run=SimpleNamespace(manifest=SimpleNamespace(entries=[SimpleNamespace(kind=kind) for kind in kinds]),
                            tables={"calls": {"entry": np.array([1, 0, 1, 2, 0, 1, 2])}}),
    )  # fmt: skip
    (starts,) = _starts(all_events, np.array([3, 6]), 0)
    assert (starts.time.tolist(), starts.source.tolist()) == ([6, 15], [2, 5])
    all_events.run.manifest.entries[2].kind = "interrupt"
    assert not [*_starts(all_events, np.array([3, 6]), 0)]


def test_a_wait_for_the_design_is_on_the_path_from_where_the_hosts_own_code_ends():
    ops = np.zeros(2, OPS)
    ops["kind"], ops["own_ps"] = (IRQ, MOVE), 30
    program = SimpleNamespace(ops=ops, delay_ps=np.array([5, 0]))
    assert _call_starts(program, 0, now=100, begin=900, after_call=True) == 135
    assert _call_starts(program, 0, now=100, begin=110, after_call=True) == 110
    assert _call_starts(program, 0, now=800, begin=900, after_call=False) == 800, "the design decided when it went on"
    assert _call_starts(program, 1, now=100, begin=900, after_call=True) == 900, "a transfer's delay is the host's"

"""Ends of passes that threads of a block may send before elements of their pass: known from a traced run's events."""

from collections.abc import Sequence

import numpy as np
import pytest
from rc_workbench_plugins.streaming.overtaking import Overtaking, overtaking
from rc_workbench_plugins.streaming.x_language import Declared, read_x

from workbench.api.stream_events import EdgeEvents, Events, Pool
from workbench.model.diagnostic import WorkbenchError
from workbench.model.topology import End, StreamEdge

END = 1 << 63  # as in BLASTN's messages
ENDS = (END, END | 1)
#: When an element is taken and sent (ns), by which thread, and what it is: a pass of two, another one.
SENT = [(0, 10, 0, 7), (1, 30, 1, 8), (40, 41, 0, END), (42, 50, 1, 9), (43, 60, 0, 5), (70, 71, 1, END | 1)]
LATE = [(0, 10, 0, 7), (1, 60, 1, 8), (40, 41, 0, END), (42, 50, 0, 9), (61, 65, 1, 5), (70, 71, 0, END | 1)]


def edge(name: str, ends: str, times: list[tuple[int, int]], values: list[int], **by: list[int]) -> EdgeEvents:
    source, sink = (End(f"App.{end}", port) for end, port in zip(ends.split(), "yx", strict=True))
    pushes, pops = 1000 * np.array(times, np.int64).reshape(-1, 2).T
    threads = {which: np.array(numbers) for which, numbers in by.items()}
    named = StreamEdge(f"App.{name}", source, sink, "unsigned64")
    return EdgeEvents(named, pushes, pops, np.array(values, np.uint64), **threads)


def found(
    sent: list[tuple[int, int, int, int]], threads: int = 2, acts: Sequence[int] = ENDS, ways: int = 1,
    any_order: str = "",
) -> list[Overtaking]:  # fmt: skip
    """A block of threads, which share an input or have one each, and a reader that gives something only after elements
    that it `acts` on."""
    by_way = [[one for one in sent if ways == 1 or one[2] == way] for way in range(ways)]
    inputs = [
        edge(f"in{way}", f"split{way} work", [(taken, taken) for taken, *_ in some], [value for *_, value in some],
             pop_by=[thread if threads > 1 else 0 for _, _, thread, _ in some])
        for way, some in enumerate(by_way)
    ]  # fmt: skip
    order = sorted(sent, key=lambda one: one[1])
    out = edge("out", "work read", [(at, at + 1) for _, at, _, _ in order], [value for *_, value in order],
               push_by=[thread if threads > 1 else 0 for _, _, thread, _ in order])  # fmt: skip
    acted = [at + 2 for _, at, _, value in order if value in acts]
    done = edge("done", "read end", [(at, at) for at in acted], [0] * len(acted))
    edges = {one.edge.label: one for one in (*inputs, out, done)}
    pools = {"App.work": Pool(threads, 0, 0)} if threads > 1 else {}
    return list(overtaking(Events("App", edges, 10**9, pools=pools), [any_order]))


def test_an_end_may_overtake_what_other_threads_of_its_block_have_not_sent() -> None:
    (one,) = found(SENT)
    assert (one.block, one.edge.edge.label, one.reader) == ("App.work", "App.out", "App.read")
    assert (one.ends, one.late, one.margin_ps) == (2, 0, 11_000), "the first end came 11 ns after element 8"
    (one,) = found(LATE)
    assert (one.ends, one.late, one.margin_ps) == (2, 1, None), "element 8 came after the end of its pass"


def test_one_thread_and_a_reader_that_does_not_wait_for_ends_keep_what_they_mean() -> None:
    assert found(SENT, threads=1) == []
    assert found(SENT, acts=(5, 7, 8, 9, *ENDS)) == [], "the reader gives something for each element"
    assert found(SENT, acts=()) == [], "it never gives anything"
    assert found(LATE, acts=(9, END | 1)) == [], "it acts on elements that no bit distinguishes, as one that counts"
    assert found(SENT, any_order="App.out") == [], "the application says so"


def test_where_each_thread_has_a_way_of_its_own_a_way_without_ends_is_reported() -> None:
    """A split and its join by a block of several threads. Ends of each way follow that way's elements."""
    assert found(SENT, ways=2) == [], "both ways have ends"
    (one,) = found(LATE, ways=2)
    assert one.late == 1, "the second way has none: its elements come after the ends of the first"


def test_an_edge_says_that_its_reader_takes_any_order() -> None:
    declared = Declared()
    text = "block A {{ B b; C c; {}: b.y -> c.x ({}); }}"
    read_x(text.format("in", "depth=4, any_order=1"), "a.x", declared)
    assert [(one.depth, one.any_order) for one in declared.definitions[0].edges] == [(4, True)]
    with pytest.raises(WorkbenchError, match="any_order is 2") as raised:
        read_x(text.format("in", "any_order=2"), "a.x", Declared())
    assert "(any_order=1)" in str(raised.value)

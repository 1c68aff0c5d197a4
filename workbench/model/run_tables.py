"""The tables of a run: their columns and types, what a row of each is, and what each column holds.

A table is a dict of equally long numpy columns. Aggregates and traces are separate tables, and any table may be absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.model.syncs import SyncKind, SyncResult, numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_AMOUNT = 1 << 52  # that a table may hold, so that sums of thousands are exact: 75 minutes, in picoseconds

#: A table of a run: its columns by name, of equal length.
Table = Mapping[str, "NDArray[Any]"]
#: A structured numpy array: a row is an element, and a column is a field. Of a sum of two fields of an
#: `NDArray[np.void]`, which may hold anything, mypy takes seconds to find the type.
RowArray: TypeAlias = Any

#: Tables and their columns, with the type of each as numpy writes it; an unsigned one may be stored in fewer bytes.
#: Any table may be absent, and a plugin may add some of its own.
TABLES: dict[str, dict[str, str]] = {
    "state_time": {"block": "i4", "state": "i4", "time_ps": "i8", "cycles": "i8", "visits": "i8"},
    "transitions": {"block": "i4", "from_state": "i4", "to_state": "i4", "count": "i8"},
    "dwell": {"block": "i4", "state": "i4", "log2_cycles": "i4", "count": "i8", "cycles": "i8"},
    "metric_sums": {
        "block": "i4",
        "sum": "f8",
        "least": "i8",
        "largest": "i8",
        "squares": "f8",
        "sum_rest": "i8",
        "squares_rest": "f8",
        "signed": "u1",
    },
    "first_cycles": {"block": "i4", "state": "i4", "cycle": "i8"},
    "open_since": {"block": "i4", "cycle": "i8"},
    "call_stats": {
        "site": "i4",
        "block": "i4",
        "state": "i4",
        "entry": "i4",
        "count": "i8",
        "bytes": "i8",
        "time_ps": "i8",
        "min_bytes_per_s": "f8",
        "max_bytes_per_s": "f8",
        "runs": "i8",
        "min_run": "i8",
        "max_run": "i8",
    },
    "calls": {
        "site": "i4",
        "block": "i4",
        "state": "i4",
        "entry": "i4",
        "t0_ps": "i8",
        "t1_ps": "i8",
        "bytes": "i8",
        "address": "i8",
        "host_ps": "i8",
        "grant_ps": "i8",
        "port_first_ps": "i8",
        "port_last_ps": "i8",
        "resource": "i4",
        "message": "i4",
        "card": "i4",
        "parts": "i4",
        "call_ps": "i8",
        "end_ps": "i8",
        "value": "u8",
        "value_bytes": "u1",
    },
    "syncs": {
        "block": "i4",
        "kind": "u1",
        "object": "i4",
        "argument": "i8",
        "result": "u1",
        "t0_ps": "i8",
        "t1_ps": "i8",
        "woken_ps": "i8",
        "own_ps": "i8",
        "woken_by": "i4",
    },
    "call_order": {"block": "i4", "site": "i4", "state": "i4", "repeat": "i8", "body": "i4", "host_ps": "i8"},
    "streams": {"stream": "i4", "transfers": "i8", "source_stalls": "i8", "sink_stalls": "i8", "idle": "i8"},
    "stream_transfers": {"stream": "i4", "cycle": "i8", "early": "i4"},
    "stream_waits": {"stream": "i4", "wait": "i4", "cycles": "i8"},
    "occupancy": {"fifo": "i4", "words": "i4", "cycles": "i8"},
    "memory_ports": {
        "memory_port": "i4",
        "reads": "i8",
        "writes": "i8",
        "read_bytes": "i8",
        "written_bytes": "i8",
        "moving": "i8",
        "waiting": "i8",
        "held": "i8",
        "idle": "i8",
        "latency_cycles": "i8",
        "row_hits": "i8",
        "row_opened": "i8",
        "row_conflicts": "i8",
        "bus_ps": "i8",
    },
    "intervals": {"start_ps": "i8", "state": "u4"},
    "interval_offsets": {"offset": "i8"},
    "virtual_time": {
        "card": "i4",
        "clock": "i4",
        "first_cycle": "i8",
        "last_cycle": "i8",
        "rate_ps": "f8",
        "offset_ps": "f8",
        "lower_ps": "f8",
        "upper_ps": "f8",
        "uncertainty_ps": "i8",
        "messages": "i8",
        "crossed_ps": "f8",
    },
}

#: Columns that earlier runs do not have, and what then is in them.
LATER_COLUMNS: dict[str, dict[str, int]] = {
    "call_order": {"block": -1, "host_ps": -1},
    "metric_sums": {"sum_rest": 0, "squares_rest": 0, "signed": 1},
    "calls": {"card": -1, "parts": 0, "call_ps": -1, "end_ps": -1, "value": 0, "value_bytes": 0},
}

#: What a row of each table is.
ROWS = {
    "state_time": "a state of a block, host and FPGA alike",
    "transitions": "a pair of states of a block that follow one another",
    "dwell": "how often a state lasted between 2**log2_cycles and 2**(log2_cycles + 1) - 1 cycles",
    "metric_sums": "a metric that sums a signal; where no cycle was counted it has no least and no largest value",
    "first_cycles": "an assertion that failed: in which cycle of its clock it did first, from 0",
    "open_since": "a strong assertion that was open at the end of the run: in which cycle its oldest check began",
    "call_stats": "the calls of one site while its block was in one state",
    "calls": "a call, in order",
    "syncs": "on virtual cores (without a trace at most a million rows): a call of a thread that others may depend on, "
    "thread by thread in order",
    "call_order": "the calls' order as loops, thread by thread: a loop, or a call, in pre-order",
    "streams": "a stream, in cycles of its clock",
    "stream_transfers": "traced runs: a transfer of a stream, each stream's in order; those of a FIFO's input are its "
    "pushes, those of its output its pops",
    "stream_waits": "how long a stream stalled while another held it, through logic alone",
    "occupancy": "how long a FIFO held so many words; none of what gave more than it took",
    "memory_ports": "a port by which the design asks the card's memory, in cycles of its clock",
    "intervals": "traced runs, in chunks: in chunk c block b is in state[i] from start_ps[i] until its next interval "
    "begins, for offset[c * blocks + b] <= i < offset[c * blocks + b + 1] of interval_offsets; the last interval of a "
    "block ends at the run's end",
    "interval_offsets": "a block in a chunk, and one row more: where its intervals there begin",
    "virtual_time": "a frame of a clock of the FPGA's, fitted to messages that both clocks stamped: its cycle c begins "
    "at rate_ps * c + offset_ps on the host's clock (Lancaster 2011, section 4.6)",
}

#: What the columns hold, in whichever table. -1 means none.
COLUMNS = {
    "block": "index of the manifest's blocks; -1 in call_order of earlier runs: all threads together",
    "state": "index of the block's states; for host calls, of the host block that the call was in",
    "from_state": "index of the block's states",
    "to_state": "index of the block's states",
    "site": "index of the manifest's sites; -1 in call_order: a loop",
    "entry": "index of the manifest's entries",
    "resource": "index of the manifest's resources: the bus that it went over",
    "message": "index of the manifest's messages",
    "time_ps": "time in all",
    "cycles": "FPGA cycles in all; 0 on the host",
    "stream": "index of the manifest's streams",
    "fifo": "index of the manifest's FIFOs",
    "wait": "index of the stream's waits",
    "words": "words held",
    "transfers": "cycles in which it was offered and taken",
    "source_stalls": "cycles in which the receiver was ready, and it was not offered",
    "sink_stalls": "cycles in which it was offered, and not taken",
    "idle": "cycles in which it was neither; of a memory port, in which nothing was asked for",
    "cycle": "in which cycle of its clock, from 0",
    "early": "for how many cycles it had been offered before it would be taken; below 0: for how many it would have "
    "been taken before it was offered",
    "memory_port": "index of the manifest's memory_ports",
    "reads": "bursts read",
    "writes": "bursts written",
    "read_bytes": "bytes read",
    "written_bytes": "bytes written",
    "moving": "cycles in which a word passed",
    "waiting": "cycles without a word in which a request was still unanswered",
    "held": "cycles without a word in which the design did not take or give one that it had requested or announced",
    "latency_cycles": "cycles from each burst's request to its last answer",
    "row_hits": "accesses that found their row open",
    "row_opened": "accesses that had to open their row",
    "row_conflicts": "accesses that had to close another row before",
    "bus_ps": "time in which it had a bus of the memory's",
    "visits": "how often the state was entered",
    "count": "how many",
    "log2_cycles": "binary logarithm of the cycles that it lasted, rounded down",
    "bytes": "bytes moved",
    "sum": "of the signal's values, over the cycles that count",
    "least": "the least of them",
    "largest": "the largest of them",
    "squares": "the sum of their squares; 0 where no deviation needs it",
    "sum_rest": "what the exact sum is more",
    "squares_rest": "what the exact sum of squares is more",
    "signed": "1: its values are signed; 0: those from 2**63 on are stored as negative numbers",
    "min_bytes_per_s": "the slowest call's rate",
    "max_bytes_per_s": "the fastest call's rate",
    "runs": "how many times calls of this site followed one another without another call between",
    "min_run": "the least calls in such a row",
    "max_run": "the most calls in such a row",
    "t0_ps": "when the call began",
    "t1_ps": "when it ended",
    "address": "address on the FPGA",
    "host_ps": "time of the host's own code before it; in call_order, before all calls of the row, in all rounds",
    "grant_ps": "when it got the bus",
    "port_first_ps": "when its first word passed the FPGA's port",
    "port_last_ps": "when its last word passed the FPGA's port",
    "parts": "transfers and waits of the card's that it is made of",
    "call_ps": "when the first of its parts was asked for",
    "end_ps": "when the last of its parts was through, which of an asynchronous one may be after the call",
    "value": "what it read: the bytes of its receives, the first one lowest; 0 where there is none",
    "value_bytes": "how many bytes of `value` it read; 0: none, or more than 8",
    "kind": f"what the call does: {numbered(SyncKind)}",
    "object": "number of the mutex, condition, semaphore or the like, in order of first use",
    "argument": "of create, join and cancel the other thread, of a wait for a condition the mutex, of a barrier how "
    "many meet, of take and post the semaphore's value before, of futex wake how many at most, of bind the core, of "
    "pipe how often it waited, of card, card held and interrupt which of the thread's transfers and waits it is; -1: "
    "none",
    "result": f"how it ended: {numbered(SyncResult)}; of card, timed out where its table's time was the end, and done "
    "where the card said so",
    "woken_ps": "when what it waited for came, before waking up and waiting for a core; -1: it did not wait",
    "own_ps": "the thread's own time on a core since its call before",
    "woken_by": "row of the call that woke it",
    "repeat": "how often, for loops and single calls alike",
    "body": "rows that follow and belong to the loop; 0 for a call",
    "start_ps": "when the state was entered",
    "offset": "index of the first row in intervals of the block in the chunk",
    "card": "number of the card, from 0",
    "clock": "index of the manifest's clocks",
    "first_cycle": "the frame's first cycle",
    "last_cycle": "the first cycle after it",
    "rate_ps": "how long a cycle lasts",
    "offset_ps": "when cycle 0 would have started, at that rate",
    "lower_ps": "the least offset that the messages allow at that rate",
    "upper_ps": "the largest",
    "uncertainty_ps": "how far a time in the frame may be off at most",
    "messages": "how many there were",
    "crossed_ps": "by how much the least offset is above the largest; 0 where a clock of one rate is possible",
}

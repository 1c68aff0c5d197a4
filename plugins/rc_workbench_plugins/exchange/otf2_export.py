"""A traced run as an OTF2 archive (Open Trace Format 2, score-p.org), which Vampir, Scalasca and others read.

A folder with the anchor file `traces.otf2`. A process for each rank of the host and an accelerator for each FPGA; in
them a location for each block, and one for a host thread's calls. A state or a call is a region with its source line.
Messages between the host and the FPGA, and between ranks, are point-to-point messages among all locations; their
lengths are not known there (0). Times are whole picoseconds.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rc_workbench_plugins.exchange.needs import library, require_trace
from workbench.api import Block, Category, Measured, Run, Side
from workbench.api.unstable import call_messages, fpga_of, rank_messages, rank_of

PS_PER_S = 1_000_000_000_000
#: What comes first at one moment: a message is received in the region that ends, and sent in the one that begins.
_RECEIVE, _LEAVE, _ENTER, _SEND = range(4)
_ROLES = {
    Category.WORK: "FUNCTION", Category.OVERHEAD: "ARTIFICIAL", Category.SEND: "DATA_TRANSFER",
    Category.RECV: "DATA_TRANSFER", Category.WAIT_SEND: "THREAD_WAIT", Category.WAIT_RECV: "THREAD_WAIT",
}  # fmt: skip
#: When, in which order at one moment, and what.
_Event = tuple[int, int, Any]


def write_otf2(measured: Measured, folder: Path) -> None:
    """WorkbenchError for a run without trace, or where the package otf2 is not installed."""
    require_trace(measured)
    otf2 = library("otf2", "OTF2")
    with otf2.writer.open(str(folder), timer_resolution=PS_PER_S) as archive:
        _Archive(measured, otf2, archive).write()


class _Archive:
    def __init__(self, measured: Measured, otf2: Any, archive: Any) -> None:
        self._measured, self._otf2, self._archive = measured, otf2, archive
        self._known = archive.definitions
        self._events: dict[Any, list[_Event]] = {}  # by location
        self._groups: dict[str, Any] = {}
        self._root = self._known.system_tree_node("run", class_name="machine")

    def write(self) -> None:
        run = self._measured.run
        called = set(run.tables["calls"]["block"].tolist()) if "calls" in run.tables else set()
        blocks = [self._location(block, block.id) for block in run.manifest.blocks]
        calls = {number: self._location(run.manifest.blocks[number], f"{run.manifest.blocks[number].id} calls")
                 for number in sorted(called)}  # fmt: skip
        for number, block in enumerate(run.manifest.blocks):
            self._states(number, block, blocks[number])
        self._calls(run, calls)
        self._messages(run, blocks, calls)
        for location, events in self._events.items():
            writer = self._archive.event_writer_from_location(location)
            for _, _, event in sorted(events, key=lambda one: one[:2]):
                writer(event)

    def _location(self, block: Block, name: str) -> Any:
        """A thread of a rank's process, or a stream of an FPGA's accelerator."""
        otf2, host = self._otf2, block.side is Side.HOST
        place = (rank_of(block.id) if host else fpga_of(block.id)).strip(".:")
        title = " ".join(filter(None, ("host" if host else "FPGA", place)))
        if title not in self._groups:
            kind = otf2.LocationGroupType.PROCESS if host else otf2.LocationGroupType.ACCELERATOR
            parent = self._known.system_tree_node(title, class_name="node", parent=self._root)
            self._groups[title] = self._known.location_group(title, location_group_type=kind, system_tree_parent=parent)
        kind = otf2.LocationType.CPU_THREAD if host else otf2.LocationType.ACCELERATOR_STREAM
        location = self._known.location(name, type=kind, group=self._groups[title])
        self._events[location] = []
        return location

    def _region(self, name: str, of: str, role: str, file: str, line: int) -> Any:
        return self._known.region(
            name, canonical_name=f"{of}.{name}", description=of, region_role=getattr(self._otf2.RegionRole, role),
            paradigm=self._otf2.Paradigm.USER, source_file=file, begin_line_number=line, end_line_number=line,
        )  # fmt: skip

    def _stay(self, location: Any, begin_ps: int, end_ps: int, region: Any) -> None:
        """One region at a time, so that at one moment the one before is left first."""
        events = self._otf2.events
        self._events[location] += [
            (begin_ps, _ENTER, events.Enter(begin_ps, region)),
            (end_ps, _LEAVE if end_ps > begin_ps else _ENTER, events.Leave(end_ps, region)),
        ]

    def _states(self, number: int, block: Block, location: Any) -> None:
        of = block.group or block.id
        regions = {
            state.index: self._region(state.name, of, _ROLES[state.category] if state.category else "UNKNOWN",
                                      state.file or "", state.line or 0)
            for state in block.states
        }  # fmt: skip
        for edges, indexes in self._measured.pieces(number):
            for begin, end, index in zip(edges[:-1].tolist(), edges[1:].tolist(), indexes.tolist(), strict=True):
                self._stay(location, begin, end, regions[index])

    def _calls(self, run: Run, locations: dict[int, Any]) -> None:
        if not locations:
            return
        sites = [
            self._region(site.label or site.callee, site.callee, "FUNCTION", site.file, site.line)
            for site in run.manifest.sites
        ]
        columns = (run.tables["calls"][name].tolist() for name in ("block", "t0_ps", "t1_ps", "site"))
        for block, begin, end, site in zip(*columns, strict=True):
            self._stay(locations[block], begin, end, sites[site])

    def _messages(self, run: Run, blocks: list[Any], calls: dict[int, Any]) -> None:
        otf2 = self._otf2
        every = list(self._events)
        rank = {location: number for number, location in enumerate(every)}
        kinds, mpi = otf2.GroupType, otf2.Paradigm.MPI
        self._known.group("locations", group_type=kinds.COMM_LOCATIONS, paradigm=mpi, members=every)
        members = self._known.group("all", group_type=kinds.COMM_GROUP, paradigm=mpi, members=every)
        comm = self._known.comm("all", group=members)
        for source, sent_ps, target, arrived_ps in _ends(run, blocks, calls):
            send = otf2.events.MpiSend(sent_ps, rank[target], comm, 0, 0)
            receive = otf2.events.MpiRecv(arrived_ps, rank[source], comm, 0, 0)
            self._events[source].append((sent_ps, _SEND, send))
            self._events[target].append((arrived_ps, _RECEIVE, receive))


def _ends(run: Run, blocks: list[Any], calls: dict[int, Any]) -> Iterator[tuple[Any, int, Any, int]]:
    """Location and time of where each message was sent, and of where it arrived."""
    for message in call_messages(run):
        ends = calls.get(message.source, blocks[message.source]), calls.get(message.target, blocks[message.target])
        source = ends[0] if message.by_host else blocks[message.source]
        target = blocks[message.target] if message.by_host else ends[1]
        yield source, message.sent_ps, target, message.arrived_ps
    for message in rank_messages(run):
        yield blocks[message.source], message.sent_ps, blocks[message.target], message.arrived_ps

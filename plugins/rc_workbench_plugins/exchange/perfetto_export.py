"""A traced run in Perfetto's own format (protobuf, docs/reference/trace-packet-proto of perfetto.dev).

A process for the host and one for the FPGA, a track for each block and one for a host thread's calls, a slice for each
stretch. A flow leads from a call to where its message arrived in the FPGA, or from there to the call that received it.
Perfetto counts whole nanoseconds: edges are rounded down, so that a shorter stretch may have no length.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

from rc_workbench_plugins.exchange.needs import library, require_trace
from workbench.api import Measured, Run
from workbench.api.unstable import call_messages

PS_PER_NS = 1000
_SEQUENCE = 1
_CALLS = 1 << 32  # added to the uuid of a host thread's track for that of its calls


def write_perfetto(measured: Measured, file: BinaryIO) -> None:
    """WorkbenchError for a run without trace, or where the package perfetto is not installed."""
    require_trace(measured)
    proto = library("perfetto.protos.perfetto.trace.perfetto_trace_pb2", "Perfetto's format")
    builder = library("perfetto.trace_builder.proto_builder", "Perfetto's format").StreamingTraceProtoBuilder(file)
    for packet in _packets(measured, proto):
        builder.write_packet(packet)


def _packets(measured: Measured, proto: Any) -> Iterator[Any]:
    run = measured.run
    names = sorted(
        {state.name for block in run.manifest.blocks for state in block.states}
        | {site.label or site.callee for site in run.manifest.sites}
        | {"message sent", "message arrived"}
    )
    kinds = sorted({_kind(state) for block in run.manifest.blocks for state in block.states} | {"call", "message"})
    name_of, kind_of = ({text: number for number, text in enumerate(texts, 1)} for texts in (names, kinds))
    first = _packet(proto, 0)
    first.sequence_flags = proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    for text, number in name_of.items():
        first.interned_data.event_names.add(iid=number, name=text)
    for text, number in kind_of.items():
        first.interned_data.event_categories.add(iid=number, name=text)
    yield first
    yield from _tracks(run, proto)

    def event(time_ps: int, track: int, kind: int, name: str = "", category: str = "") -> Any:
        packet = _packet(proto, time_ps)
        packet.sequence_flags = proto.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        packet.track_event.track_uuid, packet.track_event.type = track, kind
        if name:
            packet.track_event.name_iid = name_of[name]
            packet.track_event.category_iids.append(kind_of[category])
        return packet

    kinds_of_event = proto.TrackEvent
    for number, block in enumerate(run.manifest.blocks):
        states = {state.index: (state.name, _kind(state)) for state in block.states}
        for edges, indexes in measured.pieces(number):
            for begin, end, index in zip(edges[:-1].tolist(), edges[1:].tolist(), indexes.tolist(), strict=True):
                yield event(begin, _track(number), kinds_of_event.TYPE_SLICE_BEGIN, *states[index])
                yield event(end, _track(number), kinds_of_event.TYPE_SLICE_END)
    yield from _calls(run, event, kinds_of_event)


def _calls(run: Run, event: Any, kinds: Any) -> Iterator[Any]:
    """A slice for each call, and a flow for each message."""
    calls = run.tables.get("calls")
    if calls is None:
        return
    sites = [site.label or site.callee for site in run.manifest.sites]
    columns = (calls[name].tolist() for name in ("block", "t0_ps", "t1_ps", "site"))
    for block, begin, end, site in zip(*columns, strict=True):
        yield event(begin, _track(block) + _CALLS, kinds.TYPE_SLICE_BEGIN, sites[site], "call")
        yield event(end, _track(block) + _CALLS, kinds.TYPE_SLICE_END)
    for number, message in enumerate(call_messages(run), 1):
        source, target = _track(message.source), _track(message.target)
        source += _CALLS if message.by_host else 0
        target += 0 if message.by_host else _CALLS
        sent = event(message.sent_ps, source, kinds.TYPE_INSTANT, "message sent", "message")
        sent.track_event.flow_ids.append(number)
        arrived = event(message.arrived_ps, target, kinds.TYPE_INSTANT, "message arrived", "message")
        arrived.track_event.terminating_flow_ids.append(number)
        yield sent
        yield arrived


def _tracks(run: Run, proto: Any) -> Iterator[Any]:
    sides = {"host": 1, "fpga": 2}
    for name, process in sides.items():
        packet = _packet(proto, 0)
        packet.track_descriptor.uuid = process
        packet.track_descriptor.process.pid = process
        packet.track_descriptor.process.process_name = name
        yield packet
    called = set(run.tables["calls"]["block"].tolist()) if "calls" in run.tables else set()
    for number, block in enumerate(run.manifest.blocks):
        for uuid, name in ((_track(number) + _CALLS, f"{block.id} calls"), (_track(number), block.id)):
            if uuid >= _CALLS and number not in called:
                continue
            packet = _packet(proto, 0)
            packet.track_descriptor.uuid = uuid
            packet.track_descriptor.parent_uuid = sides[block.side.value]
            packet.track_descriptor.name = name
            yield packet


def _packet(proto: Any, time_ps: int) -> Any:
    return proto.TracePacket(timestamp=time_ps // PS_PER_NS, trusted_packet_sequence_id=_SEQUENCE)


def _track(block: int) -> int:
    return 10 + block


def _kind(state: Any) -> str:
    return state.category.value if state.category else "unclassified"

"""A kind of port of which a plugin gives its table alone: names, form, activity, idle drive, driver and monitors."""

from dataclasses import replace

from workbench.api import PortKind
from workbench.api.instrument.port_finder import find_ports, port_entry
from workbench.api.port_styles import Handshake, PortStyle, words
from workbench.api.ports import Activity
from workbench.model.read_out import ReadOut
from workbench.model.scan import HdlPort
from workbench.session.edit.port_entries import new_port, read_port

TABLE = PortStyle(
    "baton",
    "Baton",
    (
        *words("offer"),
        *words("token", bits="word"),
        *words("taken", initiator=False),
        *words("end"),
        *words("colour", bits=3),
    ),
    (frozenset({"offer", "token", "taken"}),),
    sides=("in", "out"),
    handshakes=(Handshake("offer", "taken", data=("token",), last="end"),),
)
KINDS = {
    kind.name: kind
    for kind in (
        PortKind.of_table("baton_in", "Batons into the design", TABLE),
        PortKind.of_table("baton_out", "Batons out of the design", TABLE, initiator=True),
    )
}
INTO, OUT = (kind.port() for kind in KINDS.values())


def test_signals_are_those_of_the_table_seen_from_the_design() -> None:
    port = INTO.model_validate({"name": "host", "prefix": "b_", "word_bits": 64})
    signals = {signal.name: (signal.direction, signal.bits, signal.optional) for signal in port.signals().values()}
    assert signals == {
        "b_offer": ("input", 1, False), "b_token": ("input", 64, False), "b_taken": ("output", 1, False),
        "b_end": ("input", 1, True), "b_colour": ("input", 3, True),
    }  # fmt: skip
    assert [p.message for p in INTO.model_validate({"names": {"ofer": "x"}}).problems()] == [
        "a port of kind baton_in has no signal 'ofer'"
    ]


def test_it_is_found_by_its_names_and_a_new_one_is_valid() -> None:
    bits = {"offer": 1, "token": 32, "taken": 1}
    top = [HdlPort(f"go_{name}", "input" if name == "taken" else "output", bits[name]) for name in bits]
    (found,) = find_ports(top, KINDS.values()).ports
    assert (found.kind, found.name, found.side) == ("baton_out", "go", "out")
    assert port_entry(found, KINDS, top) == {"name": "go", "kind": "baton_out", "prefix": "go_"}
    for kind, schema in ("baton_in", INTO), ("baton_out", OUT):
        (entry,) = new_port(KINDS, kind, [])
        assert read_port(schema, entry) is not None


def test_activity_idle_drive_driver_and_monitors_come_of_its_channel() -> None:
    into, out = INTO.model_validate({"prefix": "i_"}), OUT.model_validate({"name": "back", "prefix": "o_"})
    bits = {signal.name: signal.bits or 1 for port in (into, out) for signal in port.signals().values()}
    assert into.activity(bits) == Activity("i_offer & i_taken", "1'b0", "i_offer & ~i_taken")
    assert out.activity(bits) == Activity("o_offer & o_taken", "o_offer & ~o_taken", "1'b0")
    assert list(into.quiet("clk")) == ["assign i_taken = 1;"]
    assert list(out.quiet("clk")) == ["assign o_offer = 1;", "assign o_token = 0;"]
    assert (into.driver, out.driver) == ("StreamInPort", "StreamOutPort")
    assert not [*into.undrivable(), *out.undrivable()]
    front = into.stream_monitor(out, bits)
    assert front is not None
    assert "o_colour" not in front.taken  # what an answer says nothing in goes past
    assert front.connections["user_out_last"] == "recap_user_o_end"
    assert out.monitor(ReadOut(first=0, last=15), bits) is None


def test_a_table_whose_channel_is_driven_low_has_signals_and_no_driver() -> None:
    low = replace(TABLE, handshakes=(replace(TABLE.handshakes[0], ready_low=True),))
    port = PortKind.of_table("low", "Low", low).port().model_validate({"kind": "low"})
    assert [problem.message for problem in port.undrivable()] == ["ports of kind low cannot be simulated"]

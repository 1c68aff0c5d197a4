"""Concurrent assertions in SystemVerilog on two clocks (IEEE 1800, clause 16.13): `@(posedge a) S |=> @(posedge b) P`.

Registers on the first clock follow the sequence and count its matches in a Gray code, of which one bit changes at a
time. The second clock takes the count over in one register: where it is another than at the tick before, S has matched
since, and P begins. A match at the very time of a tick is seen at the next one, as the strictly later tick is meant.
"""

from workbench.api.instrument.checker import as_verilog, checker
from workbench.hdl.verilog.sequence_reader import SequenceReader
from workbench.hdl.watched import ClockedRegister
from workbench.model.properties import Temporal
from workbench.model.sequences import Sequence, weak

#: Bits of the count: a match is lost where 1,024 of them, or a multiple, come between two ticks.
_BITS = 10
MATCHED_AT_ONCE = (
    "it changes its clock behind |->: where both clocks tick at once no register sees it. Write |=>, which takes the"
    " strictly later tick"
)


def crossing(reader: SequenceReader, sequence: Sequence, given_up: str) -> tuple[tuple[ClockedRegister, ...], str]:
    """What is kept to see on another clock that a sequence on the clock of `reader` has matched, and an expression over
    that, which holds behind the first tick that is strictly later. `given_up` is the condition of `disable iff`, or ''.
    Raises Unwatched, and TooLarge."""
    checks, conditions = reader.variables.resolved(Temporal(((weak(sequence), None),)), reader.conditions)
    made, name, (edge, clock) = checker(checks), f"recap_from_{reader.name}", reader.clock
    when, due = f"{name}_when", f"{name}_due"
    names = {"c": when, "s": due}
    asked = ", ".join(f"({condition}) ? 1'b1 : 1'b0" for condition in reversed(conditions))
    registers = max(len(made.next), 1)
    following = ", ".join(as_verilog(text, names) for text in reversed(made.next or ["0"]))
    none = f"({given_up})" if given_up else "1'b0"
    sets = " ".join(one.sets for one in reader.kept)
    of_first = (
        f"wire [{len(conditions) - 1}:0] {when} = {{{asked}}}; reg [{registers - 1}:0] {due} = 0;"
        f" reg [{_BITS - 1}:0] {name}_count = 0, {name}_gray = 0;"
        f" wire [{_BITS - 1}:0] {name}_more = {name}_count + 1'b1;"
        f" always @({edge} {clock}) begin {sets} {due} <= {none} ? {registers}'d0 : {{{following}}};"
        f" if ({as_verilog(made.failed, names)} && !{none}) begin"
        f" {name}_count <= {name}_more; {name}_gray <= {name}_more ^ ({name}_more >> 1); end end"
    )
    of_second = f"reg [{_BITS - 1}:0] {name}_now = 0, {name}_before = 0;"
    taken = f"{name}_now <= {name}_gray; {name}_before <= {name}_now;"
    kept = (
        *(ClockedRegister(one.declared, "") for one in reader.kept),
        ClockedRegister(of_first, ""),
        ClockedRegister(of_second, taken),
    )
    return kept, f"{name}_now != {name}_before"

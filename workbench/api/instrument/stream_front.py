"""The monitors' place in a pair of streams, one into the design and one out of it: what ReCAP 2011 (section 3.1)
suggests where transfers have no addresses, a marker among the words, escaped in the application's own.

Eight words of the stream into the design are reserved (`Marks`). One of them that stands by itself is the monitors'
and never reaches the design. The application's own data may hold them: the host then says before a transfer that so
many words are data, whatever they are. What the monitors answer comes in the stream out of the design, behind a marker
and a number that the host chose for this one question, so that it is told from what the design sent before.

All else passes combinationally: no word of the design's is a cycle later. Where the design tells where its packets
begin and end (Avalon-ST) the answer is a packet of its own, between two of these.
"""

from collections.abc import Mapping

from workbench.api import MonitorFront, Signal
from workbench.api.ports import USER_WIRE
from workbench.api.unstable import WATCH, Access, Act, Marks

_SETTLE_CYCLES = 4  # from selecting a word to giving it: the counter has to come out of its memory

#: The roles that an answer has something to say in; others go past.
_OUTWARD = ("tdata", "tvalid", "tready", "tlast", "tkeep", "tstrb", "startofpacket", "empty")


def stream_front(
    come: Mapping[str, Signal], go: Mapping[str, Signal], bits: Mapping[str, int], word_bits: int, answer_port: str
) -> MonitorFront:
    """`come` and `go` are the signals of the two streams by their roles, `bits` the widths of those signals that the
    design has. The design's words can be held: `go` has a tready."""
    marks = Marks.of(word_bits)
    inward = {f"in_{r[1:]}": come[r].name for r in ("tdata", "tvalid", "tready") if come[r].name in bits}
    outward = {f"out_{r.removeprefix('t')}": go[r].name for r in go if r in _OUTWARD and go[r].name in bits}
    held = {port: name for port, name in (inward | outward).items() if port != "in_data"}
    run, freeze, clear = (Access(Act.WRITE, 0, marks.base + one) for one in (marks.RUN, marks.FREEZE, marks.CLEAR))
    return MonitorFront(
        text=_text(marks, {port: bits[name] for port, name in (inward | outward).items()}),
        connections={**inward, **outward, **{f"user_{port}": USER_WIRE + name for port, name in held.items()}},
        taken=tuple(held.values()),
        freeze=freeze,
        run=run,
        clear=clear,
        each=(),
        watch=lambda number: _watch(marks, number),
        marks=marks,
        answer_port=answer_port,
    )


def _watch(marks: Marks, number: int) -> tuple[Access, ...]:
    """With two marks behind it, which may be lost where the stream cannot be held while it acts."""
    argument = (number >> at & ((1 << marks.word_bits) - 1) for at in range(0, 64, min(64, marks.word_bits)))
    after = (marks.base + marks.FREEZE,) * 2
    return tuple(Access(Act.WRITE, 0, word) for word in (marks.base + marks.WATCH, *argument, *after))


#: When an answer may begin: a word of the design's that is offered stays until it is taken, a packet until its end.
_BETWEEN = {
    False: ("    wire between = ~(user_out_valid & ~out_ready);",),
    True: (
        "    reg amid = 0;  // a packet of the design's",
        "    wire between = user_out_valid ? user_out_ready & user_out_last : ~amid;",
        "    always @(posedge clock) amid <= ~reset & (user_out_valid & user_out_ready ? ~user_out_last : amid);",
    ),
}


def _text(marks: Marks, bits: Mapping[str, int]) -> str:
    """`bits` are the widths of the module's ports to the outer side."""
    word, in_ready = marks.word_bits, "in_ready" in bits
    packets = {"out_startofpacket", "out_last"} <= bits.keys()
    lines = [
        "module recap_port (",
        "    input wire clock, input wire reset,",
        "    input wire [31:0] word, input wire frozen, input wire clearing, input wire answered,",
        "    output wire write_control, output wire write_select, output wire [31:0] write_data,",
        f"    input wire in_valid, input wire [{word - 1}:0] in_data, output wire user_in_valid,",
        *(["    output wire in_ready, input wire user_in_ready,"] if in_ready else []),
        *(
            f"    output wire [{bits[port] - 1}:0] {port}, input wire [{bits[port] - 1}:0] user_{port},"
            for port in ("out_data", "out_last", "out_keep", "out_strb", "out_startofpacket", "out_empty")
            if port in bits
        ),
        "    output wire out_valid, input wire user_out_valid, input wire out_ready, output wire user_out_ready",
        ");",
        "    reg literal = 0;  // so many words as the argument says are the application's",
        "    reg [2:0] purpose = 0;  // what the argument is for",
        "    reg asked = 0, answering = 0;",
        "    reg [1:0] choose = 0;  // a word is selected, then the block of that place chosen",
        "    reg [63:0] argument = 0;",
        f"    reg [{(marks.argument_words).bit_length() - 1}:0] missing = 0;  // words of the argument still to come",
        f"    wire marked = in_data[{word - 1}:3] == {word - 3}'h{marks.base >> 3:x};",
        "    wire own = ~(literal & argument[31:0] != 0) & (marked | missing != 0);",
        "    wire busy = asked | answering | (|choose) | ~answered;",
        "    wire take = in_valid & own & ~busy;",
        "    wire mark = take & missing == 0;",
        "    wire [2:0] which = in_data[2:0];",
        "    assign user_in_valid = in_valid & ~own;",
        *(["    assign in_ready = own ? ~busy : user_in_ready;"] if in_ready else []),
        f"    wire passes = user_in_valid{' & user_in_ready' if in_ready else ''};",
        f"    assign write_control = choose[1] & answered | (mark & (which <= 3'd{marks.CLEAR}));",
        "    // The answer: the mark, the question's number, the words.",
        "    reg told_mark = 0, told_number = 0, select = 0;",
        f"    reg [{(marks.parts).bit_length() - 1}:0] part = 0;",
        f"    reg [{(_SETTLE_CYCLES).bit_length() - 1}:0] settle = 0;",
        "    reg [31:0] index = 0;",
        "    assign write_select = select | choose[0];",
        f"    assign write_data = choose[1] ? 32'd{WATCH} : write_control ? {{30'd0, which[1:0]}} :",
        "        choose[0] ? argument[31:0] : index;",
        "    wire there = ~told_number | (settle == 0 & ~select & answered);",
        "    wire goes = answering & there & out_ready;",
        f"    wire ends = part == {marks.parts - 1};",
        "    wire last_part = told_number & ends & (argument[31:0] == 32'd1);",
        "    wire [31:0] value = told_number ? word : argument[63:32];",
        f"    wire [{max(word, 32) - 1}:0] piece = value >> (part * {word});"
        if word < 32
        else f"    wire [{max(word, 32) - 1}:0] piece = value;",
        f"    wire [{word - 1}:0] answer = told_mark ? piece[{word - 1}:0] : {word}'h{marks.base + marks.READ:x};",
        "    assign out_valid = answering ? there : user_out_valid;",
        "    assign out_data = answering ? answer : user_out_data;",
        "    assign user_out_ready = ~answering & out_ready;",
        *(["    assign out_last = answering ? last_part : user_out_last;"] if "out_last" in bits else []),
        *(
            f"    assign {port} = answering ? {in_answer} : user_{port};"
            for port, in_answer in (
                *((port, f"{{{bits.get(port)}{{1'b1}}}}") for port in ("out_keep", "out_strb")),
                ("out_startofpacket", "~told_mark"),
                ("out_empty", f"{bits.get('out_empty')}'d0"),
            )
            if port in bits
        ),
        *_BETWEEN[packets],
        "    always @(posedge clock) begin",
        "        choose <= choose[1] & ~answered ? choose : {choose[0], 1'b0};",
        f"        if (mark & (which == 3'd{marks.WATCH} | which == 3'd{marks.DATA} | which == 3'd{marks.READ})) begin",
        f"            missing <= {marks.argument_words};",
        "            purpose <= which;",
        "        end",
        "        else if (take & missing != 0) begin",
        f"            argument <= {_shifted(word)};",
        "            missing <= missing - 1;",
        "            if (missing == 1) begin",
        f"                literal <= purpose == 3'd{marks.DATA};",
        f"                asked <= purpose == 3'd{marks.READ};",
        f"                choose[0] <= purpose == 3'd{marks.WATCH};",
        "            end",
        "        end",
        "        if (literal & argument[31:0] == 0) literal <= 0;",
        "        else if (literal & passes) argument[31:0] <= argument[31:0] - 1;",
        "        if (asked & answered & between) begin",
        "            asked <= 0;",
        "            answering <= argument[31:0] != 0;",
        "            told_mark <= 0;",
        "            told_number <= 0;",
        "            part <= 0;",
        "            index <= 0;",
        "        end",
        "        select <= 0;",
        f"        if (select) settle <= {_SETTLE_CYCLES};",
        "        else if (settle != 0) settle <= settle - 1;",
        "        if (goes) begin",
        "            told_mark <= 1;",
        "            part <= told_mark & ~ends ? part + 1 : 0;",
        "            if (told_mark & ends) begin",
        "                told_number <= 1;",
        "                select <= 1;",
        "                if (told_number) begin",
        "                    index <= index + 1;",
        "                    argument[31:0] <= argument[31:0] - 1;",
        "                    answering <= ~last_part;",
        "                    select <= ~last_part;",
        "                end",
        "            end",
        "        end",
        "        if (reset) begin",
        "            literal <= 0;",
        "            missing <= 0;",
        "            asked <= 0;",
        "            answering <= 0;",
        "        end",
        "    end",
        "endmodule",
        "",
    ]
    return "\n".join(lines)


def _shifted(word_bits: int) -> str:
    """The argument with the next word of it."""
    return "in_data[63:0]" if word_bits >= 64 else f"{{in_data, argument[63:{word_bits}]}}"

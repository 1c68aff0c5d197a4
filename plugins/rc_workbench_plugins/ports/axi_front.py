"""The monitors' place behind an AXI port: only its read channels are touched, and reads act.

An own read is taken only while none of the design's is open, and holds the read address back until it is answered;
all else passes combinationally, so that the design's timing stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.api.ports import USER_WIRE, MonitorFront, Signal
from workbench.model.diagnostic import Diagnostic, WorkbenchError
from workbench.model.read_out import Access, Act, ReadOut

_SETTLE_CYCLES = 4  # from one word to the next: the counter has to come out of its memory
_TAKEN = ("arvalid", "arready", "rvalid", "rdata", "rresp", "rlast", "rid")
_FREEZE, _RUN, _CLEAR, _NEXT = range(4)  # what reading the first, second, third and fourth word does


def axi_front(
    signals: Mapping[str, Signal],
    bits: Mapping[str, int],
    read_out: ReadOut,
    word_bits: int,
    address_bits: int,
    stride: int,
) -> MonitorFront:
    """`bits` are widths of the roles that the design has signals for; `stride` is a word in the port's addresses."""
    base = _base(read_out, word_bits, min(address_bits, bits["araddr"]), stride)
    roles = [role for role in _TAKEN if role in bits and (role != "rid" or "arid" in bits)]
    names = {role: signals[role].name for role in (*roles, "araddr", "rready")}
    if "rid" in names:
        names["arid"] = signals["arid"].name
    connections = dict(names)
    connections |= {f"user_{role}": USER_WIRE + signals[role].name for role in roles}
    at = [Access(Act.READ, base + word * stride) for word in range(4)]
    return MonitorFront(
        text=_text({role: bits[role] for role in names}, base, word_bits, stride),
        connections=connections,
        taken=tuple(signals[role].name for role in roles),
        freeze=at[_FREEZE],
        run=at[_RUN],
        clear=at[_CLEAR],
        each=(Access(Act.READ, at[_NEXT].address, settle_cycles=_SETTLE_CYCLES),),
    )


def _base(read_out: ReadOut, word_bits: int, address_bits: int, stride: int) -> int:
    problems = []
    base = -(-read_out.first // (4 * stride)) * 4 * stride
    if base + 4 * stride - 1 > read_out.last:
        message = f"the read_out range {read_out.first}..{read_out.last} is too small for the monitor's four registers"
        hint = f"Declare {4 * stride} addresses from a multiple of that on, which the application leaves unused."
        problems.append(Diagnostic(message, hint))
    if read_out.last >= 1 << address_bits:
        message = f"the read_out range ends at {read_out.last}, past the port's {address_bits} address bits"
        problems.append(Diagnostic(message, f"The last address there is {(1 << address_bits) - 1}."))
    if word_bits < 32:
        message = f"counters are read out in words of 32 bits, and the port's words have {word_bits}"
        problems.append(Diagnostic(message, "Use a port of 32 bits or more."))
    if problems:
        raise WorkbenchError(*problems)
    return base


def _text(bits: Mapping[str, int], base: int, word_bits: int, stride: int) -> str:
    address_bits, low = bits["araddr"], (stride - 1).bit_length()
    last = "user_rlast" if "rlast" in bits else "1'b1"
    lines = [
        "module recap_port (",
        "    input wire clock, input wire reset,",
        "    input wire [31:0] word, input wire frozen, input wire clearing,",
        "    output wire write_control, output wire write_select, output wire [31:0] write_data,",
        f"    input wire arvalid, input wire [{address_bits - 1}:0] araddr, output wire arready,",
        "    output wire user_arvalid, input wire user_arready,",
        "    input wire user_rvalid, output wire rvalid, input wire rready,",
        f"    input wire [{word_bits - 1}:0] user_rdata, output wire [{word_bits - 1}:0] rdata",
    ]
    if "rresp" in bits:
        lines.append("    , input wire [1:0] user_rresp, output wire [1:0] rresp")
    if "rlast" in bits:
        lines.append("    , input wire user_rlast, output wire rlast")
    if "arid" in bits:
        asked, told = (f"[{bits[role] - 1}:0]" for role in ("arid", "rid"))
        lines.append(f"    , input wire {asked} arid, input wire {told} user_rid, output wire {told} rid")
    lines += [
        ");",
        "    reg answering = 0;",
        "    reg [15:0] open = 0, index = 0;  // reads of the design's not yet answered; the word that is selected",
        "    reg [31:0] answer = 0;",
        f"    wire own = araddr[{address_bits - 1}:{low + 2}] == {address_bits - low - 2}'h{base >> (low + 2):x};",
        f"    wire [1:0] which = araddr[{low + 1}:{low}];" if low else "    wire [1:0] which = araddr[1:0];",
        "    wire accept = arvalid & own & ~answering & (open == 0);",
        "    assign user_arvalid = arvalid & ~own & ~answering;",
        "    wire opens = user_arvalid & user_arready;",
        f"    wire closes = user_rvalid & rready & ~answering & {last};",
        "    assign arready = own ? ~answering & (open == 0) : user_arready & ~answering;",
        "    assign rvalid = answering | user_rvalid;",
        f"    assign rdata = answering ? {{{word_bits // 32}{{answer}}}} : user_rdata;",
        f"    assign write_control = accept & (which != 2'd{_NEXT});",
        f"    assign write_select = accept & (which == 2'd{_NEXT});",
        f"    assign write_data = which == 2'd{_FREEZE} ? 32'd1 : which == 2'd{_RUN} ? 32'd0 :",
        f"        which == 2'd{_CLEAR} ? 32'd2 : {{16'd0, index + 16'd1}};",
    ]
    if "rresp" in bits:
        lines.append("    assign rresp = answering ? 2'd0 : user_rresp;")
    if "rlast" in bits:
        lines.append("    assign rlast = answering | user_rlast;")
    if "arid" in bits:
        lines += [
            f"    reg {told} id = 0;",
            "    always @(posedge clock) if (accept) id <= arid;",
            "    assign rid = answering ? id : user_rid;",
        ]
    return "\n".join(
        [
            *lines,
            "    always @(posedge clock) begin",
            "        if (accept) answering <= 1;",
            "        else if (rready) answering <= 0;",
            f"        if (accept) answer <= which == 2'd{_NEXT} ? word : {{30'd0, clearing, frozen}};",
            "        if (write_control) index <= 0;",
            "        else if (write_select) index <= index + 1;",
            "        open <= open + {15'd0, opens} - {15'd0, closes};",
            "        if (reset) begin",
            "            answering <= 0;",
            "            open <= 0;",
            "        end",
            "    end",
            "endmodule",
            "",
        ]
    )

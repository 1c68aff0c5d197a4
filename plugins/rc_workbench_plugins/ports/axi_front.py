"""The monitors' place behind an AXI port: only its read channels are touched, and reads act.

Registers, a word of the port each: the first three freeze, run and clear, and give the status; the fourth gives the
selected word's next part, and selects what follows. Where there is room for eight, the next two put a bit at the end of
the number of that part, and the seventh lets the counter to which that belongs watch the block of that place.

An own read is taken only while none of the design's is open, and holds the read address back until it is answered;
all else passes combinationally, so that the design's timing stays as it is.
"""

from collections.abc import Mapping

from rc_workbench_plugins.ports.memory_front import parts_of, past_hint
from workbench.api import MonitorFront, Signal, WorkbenchError
from workbench.api.ports import USER_WIRE
from workbench.api.unstable import WATCH, Access, Act, OfProject, ReadOut

_SETTLE_CYCLES = 4  # from one word to the next: the counter has to come out of its memory
_TAKEN = ("arvalid", "arready", "rvalid", "rdata", "rresp", "rlast", "rid")
_FREEZE, _RUN, _CLEAR, _NEXT, _ZERO, _ONE, _WATCH = range(7)  # what reading the first word does, the second, ...


def axi_front(
    signals: Mapping[str, Signal],
    bits: Mapping[str, int],
    read_out: ReadOut,
    word_bits: int,
    address_bits: int,
    stride: int,
) -> MonitorFront:
    """`bits` are widths of the roles that the design has signals for; `stride` is a word in the port's addresses."""
    base, registers = _place(read_out, min(address_bits, bits["araddr"]), stride)
    parts = parts_of(word_bits)
    roles = [role for role in _TAKEN if role in bits and (role != "rid" or "arid" in bits)]
    names = {role: signals[role].name for role in (*roles, "araddr", "rready")}
    if "rid" in names:
        names["arid"] = signals["arid"].name
    connections = dict(names)
    connections |= {f"user_{role}": USER_WIRE + signals[role].name for role in roles}
    at = [Access(Act.READ, base + word * stride) for word in range(registers)]

    def watch(number: int) -> tuple[Access, ...]:
        return (at[_FREEZE], *(at[_ONE if bit == "1" else _ZERO] for bit in f"{number * parts:b}"), at[_WATCH])

    return MonitorFront(
        text=_text({role: bits[role] for role in names}, base, registers, word_bits, stride),
        connections=connections,
        taken=tuple(signals[role].name for role in roles),
        freeze=at[_FREEZE],
        run=at[_RUN],
        clear=at[_CLEAR],
        each=(Access(Act.READ, at[_NEXT].address, settle_cycles=_SETTLE_CYCLES),),
        watch=watch if registers > _WATCH else None,
        parts=parts,
    )


def _place(read_out: ReadOut, address_bits: int, stride: int) -> tuple[int, int]:
    """The first register's address, and how many there are."""
    problems = []
    eight, four = ((-(-read_out.first // (n * stride)) * n * stride, n) for n in (8, 4))
    base, registers = eight if eight[0] + 8 * stride - 1 <= read_out.last else four
    if base + registers * stride - 1 > read_out.last:
        message = f"the read_out range {read_out.first}..{read_out.last} is too small for the monitor's four registers"
        whole = 4 * stride
        hint = f"Declare {whole} addresses that the application does not use; the first must be a multiple of {whole}."
        problems.append(OfProject(message, hint, keys=("hardware", "read_out")))
    if read_out.last >= 1 << address_bits:
        message = f"the read_out range ends at {read_out.last}, past the port's {address_bits} address bits"
        problems.append(OfProject(message, past_hint(address_bits), keys=("hardware", "read_out")))
    if problems:
        raise WorkbenchError(*problems)
    return base, registers


def _text(bits: Mapping[str, int], base: int, registers: int, word_bits: int, stride: int) -> str:
    address_bits, low = bits["araddr"], (stride - 1).bit_length()
    high = low + (registers - 1).bit_length()  # the address bits from here on tell whether it is the monitors'
    shift = (parts_of(word_bits) - 1).bit_length()
    piece = f"word >> (index[{shift - 1}:0] * {word_bits})" if shift else "word"
    answered = f"{{{word_bits // 32}{{answer}}}}" if word_bits >= 32 else f"answer[{word_bits - 1}:0]"
    several = registers > _WATCH
    last = "user_rlast" if "rlast" in bits else "1'b1"
    lines = [
        "module recap_port (",
        "    input wire clock, input wire reset,",
        "    input wire [31:0] word, input wire frozen, input wire clearing, input wire answered,",
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
        asked, returned = (f"[{bits[role] - 1}:0]" for role in ("arid", "rid"))
        lines.append(f"    , input wire {asked} arid, input wire {returned} user_rid, output wire {returned} rid")
    lines += [
        ");",
        "    reg answering = 0;",
        "    reg [15:0] open = 0;  // reads of the design's not yet answered",
        "    reg [31:0] answer = 0, index = 0;  // the number of the part that is selected",
        f"    wire own = araddr[{address_bits - 1}:{high}] == {address_bits - high}'h{base >> high:x};",
        f"    wire [{high - low - 1}:0] which = araddr[{high - 1}:{low}];",
        "    wire free = ~answering & (open == 0) & answered;",
        "    wire accept = arvalid & own & free;",
        "    assign user_arvalid = arvalid & ~own & ~answering;",
        "    wire opens = user_arvalid & user_arready;",
        f"    wire closes = user_rvalid & rready & ~answering & {last};",
        "    assign arready = own ? free : user_arready & ~answering;",
        "    assign rvalid = answering | user_rvalid;",
        f"    assign rdata = answering ? {answered} : user_rdata;",
        f"    wire control = which < {_NEXT}{f' | which == {_WATCH}' if several else ''};",
        "    assign write_control = accept & control;",
        "    assign write_select = accept & ~control;",
        f"    wire [31:0] next = which == {_NEXT} ? index + 32'd1 : {{index[30:0], which == {_ONE}}};"
        if several
        else "    wire [31:0] next = index + 32'd1;",
        f"    assign write_data = which == {_FREEZE} ? 32'd1 : which == {_RUN} ? 32'd0 : which == {_CLEAR} ? 32'd2 :",
        f"        {f'which == {_WATCH} ? 32{chr(39)}d{WATCH} : ' if several else ''}next >> {shift};",
    ]
    if "rresp" in bits:
        lines.append("    assign rresp = answering ? 2'd0 : user_rresp;")
    if "rlast" in bits:
        lines.append("    assign rlast = answering | user_rlast;")
    if "arid" in bits:
        lines += [
            f"    reg {returned} id = 0;",
            "    always @(posedge clock) if (accept) id <= arid;",
            "    assign rid = answering ? id : user_rid;",
        ]
    return "\n".join(
        [
            *lines,
            "    always @(posedge clock) begin",
            "        if (accept) answering <= 1;",
            "        else if (rready) answering <= 0;",
            f"        if (accept) answer <= which == {_NEXT} ? {piece} : {{30'd0, clearing, frozen}};",
            "        if (write_control) index <= 0;",
            "        else if (write_select) index <= next;",
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

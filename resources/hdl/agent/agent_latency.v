// How many cycles elements spend between two places that they pass in order. Those for which there is no room in the
// memory of times are counted instead when they come out; elements that went in after them wait, unmeasured, until all
// of them are out.
module agent_latency #(
    parameter ROOM_BITS = 6
) (
    input  wire clock,
    input  wire reset,
    input  wire enters,            // in this cycle an element goes in,
    input  wire leaves,            // and one comes out
    input  wire [31:0] cycle,
    output reg  sample,         // a cycle later: one came out, after so many cycles
    output wire [31:0] cycles,
    output reg  lost            // one came out whose time was not kept
);
    (* no_rw_check *) reg [31:0] times [0:(1<<ROOM_BITS)-1];
    reg [ROOM_BITS:0] stored;
    reg [ROOM_BITS-1:0] next_in, next_out;
    reg [31:0] unknown, began, ended;
    reg at_once;

    wire through = enters & leaves & stored == 0 & unknown == 0;
    wire kept = enters & ~through & unknown == 0 & ~stored[ROOM_BITS];
    wire known = leaves & stored != 0;
    wire missed = leaves & stored == 0 & unknown != 0;

    always @(posedge clock) begin
        if (kept) times[next_in] <= cycle;
        began <= times[next_out];
    end
    always @(posedge clock) begin
        ended <= cycle;
        at_once <= through;
        sample <= ~reset & (known | through);
        lost <= ~reset & missed;
        if (reset) begin
            stored <= 0;
            next_in <= 0;
            next_out <= 0;
            unknown <= 0;
        end else begin
            stored <= stored + kept - known;
            if (kept) next_in <= next_in + 1'b1;
            if (known) next_out <= next_out + 1'b1;
            unknown <= unknown + {31'd0, enters & ~through & ~kept} - missed;
        end
    end
    assign cycles = at_once ? 32'd0 : ended - began;
endmodule

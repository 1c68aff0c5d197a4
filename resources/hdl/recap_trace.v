// The changes of every block's state, each with the counted cycle in which it came: small buffers at the blocks, which take
// bursts, and one collector, which takes a word in every cycle from one of them in turn and keeps the first that come
// (the memory hierarchy of ReCAP 2011, section 4.4).
//
// A record is 64 bits: 63 the states before it are not known since some were lost, 62 to 50 the block, 49 to 40 the state,
// 39 to 0 the cycle, counted from 1. A change for which a buffer has no room is lost, and counted; what the block does then
// is recorded as soon as there is room, changed or not. What comes
// when the store is full is dropped, and counted.
module recap_trace_buffer #(
    parameter BLOCK = 0,
    parameter STATE_BITS = 2,
    parameter DEPTH_BITS = 4
) (
    input  wire clock,
    input  wire clear,
    input  wire [STATE_BITS-1:0] state,    // of the cycle before
    input  wire counting,                  // that cycle counts
    input  wire first,                     // and the one before it did not
    input  wire [39:0] cycle,              // its number
    input  wire take,
    output wire there,                     // something to take next
    output wire [63:0] record,             // where it is taken, 0 elsewhere
    output wire [31:0] lost                // how many changes were, and in bit 31 whether what it does now is not recorded
);
    localparam WIDTH = 41 + STATE_BITS;
    localparam [12:0] NUMBER = BLOCK;
    (* ram_style = "distributed" *) reg [WIDTH-1:0] words [0:(1 << DEPTH_BITS)-1];
    reg [DEPTH_BITS:0] head, tail;
    reg [STATE_BITS-1:0] last;
    reg behind;
    reg [30:0] gone;

    initial begin
        gone = 0;
        head = 0;
        tail = 0;
        last = 0;
        behind = 0;
    end

    wire [DEPTH_BITS:0] held = tail - head;
    wire full = held[DEPTH_BITS];
    wire changed = counting & (first | state != last);
    wire put = (changed | (counting & behind)) & ~full;
    wire [WIDTH-1:0] word = words[head[DEPTH_BITS-1:0]];
    wire [9:0] shown = {{(10 - STATE_BITS){1'b0}}, word[40 +: STATE_BITS]};
    assign lost = {behind, gone};
    assign there = held > {{DEPTH_BITS{1'b0}}, take};
    assign record = take ? {word[WIDTH-1], NUMBER, shown, word[39:0]} : 64'd0;

    always @(posedge clock) begin
        if (counting) last <= state;
        if (put) words[tail[DEPTH_BITS-1:0]] <= {behind, state, cycle};
        if (clear) begin
            head <= 0;
            tail <= 0;
            behind <= 0;
            gone <= 0;
        end else begin
            if (put) begin
                tail <= tail + 1'b1;
                behind <= 0;
            end else if (changed) begin
                behind <= 1;
                if (~&gone) gone <= gone + 1'b1;
            end
            if (take) head <= head + 1'b1;
        end
    end
endmodule

module recap_trace_collector #(
    parameter BUFFERS = 2,
    parameter STORE_BITS = 9
) (
    input  wire clock,
    input  wire clear,
    input  wire [BUFFERS-1:0] there,
    output reg  [BUFFERS-1:0] take,        // one of them, or none
    input  wire [63:0] record,             // of that
    input  wire [STORE_BITS:0] entry,      // {record, half}
    output wire [31:0] word,               // of what was asked for in the cycle before
    output reg  [STORE_BITS:0] stored,     // how many records there are
    output reg  [31:0] dropped             // how many came later, when the store was full
);
    (* ram_style = "block", no_rw_check *) reg [63:0] store [0:(1 << STORE_BITS)-1];
    reg [63:0] coming, shown;
    reg comes, half;
    reg [BUFFERS-1:0] later;               // those after the one that was taken from last

    initial begin
        take = 0;
        stored = 0;
        comes = 0;
        later = 0;
        dropped = 0;
    end

    wire [BUFFERS-1:0] turn = |(there & later) ? there & later : there;
    wire [BUFFERS-1:0] next = turn & (~turn + 1'b1);
    wire full = stored[STORE_BITS];
    assign word = half ? shown[63:32] : shown[31:0];

    always @(posedge clock) begin
        take <= clear ? {BUFFERS{1'b0}} : next;
        if (|next) later <= ~(next | (next - 1'b1));
        coming <= record;
        comes <= |take & ~clear;
        if (clear) begin
            stored <= 0;
            dropped <= 0;
        end else if (comes) begin
            if (~full) stored <= stored + 1'b1;
            else if (~&dropped) dropped <= dropped + 1'b1;
        end
    end

    always @(posedge clock) begin
        if (comes & ~full) store[stored[STORE_BITS-1:0]] <= coming;
        shown <= store[entry[STORE_BITS:1]];
        half <= entry[0];
    end
endmodule

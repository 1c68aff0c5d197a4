// Of one measure: over a frame, how many cycles were collected, how many events, the sum, least and largest of their
// values. What was held when the frame ended is shifted out, 32 bits at a time, through all monitors of a group in
// turn. With KEEP it goes on over frames' ends: what is held is of all of them.
module agent_average #(
    parameter VALUE_BITS = 1,
    parameter COLLECTED = 0,   // words, each 0 or 1
    parameter COUNT = 1,
    parameter SUM = 0,         // words, more than its values have bits
    parameter EXTREMES = 0,    // words of the least and of the largest value: 0, 1 or 2 each
    parameter IS_SIGNED = 0,
    parameter WORDS = 1,                 // of all these
    parameter KEEP = 0
) (
    input  wire clock,
    input  wire reset,
    input  wire collects,                 // this cycle is
    input  wire sample,                   // an event, in a cycle that is collected
    input  wire [VALUE_BITS-1:0] value,
    input  wire frame_end,                // this cycle is the frame's last
    input  wire shift,
    input  wire [31:0] chain_in,
    output wire [31:0] chain_out,
    output reg  [32*WORDS-1:0] held
);
    wire [32*WORDS-1:0] next;
    wire anew = reset | (frame_end & KEEP == 0);
    wire [32*WORDS+31:0] chain = {chain_in, held};
    assign chain_out = held[31:0];

    generate
        if (COLLECTED != 0) begin : of_cycles
            reg [31:0] cycles;
            wire [31:0] now = cycles + {31'd0, collects};
            assign next[31:0] = now;
            always @(posedge clock) cycles <= anew ? 32'd0 : now;
        end
        if (COUNT != 0) begin : of_events
            reg [31:0] count;
            wire [31:0] now = count + {31'd0, sample};
            assign next[32*COLLECTED +: 32] = now;
            always @(posedge clock) count <= anew ? 32'd0 : now;
        end
        if (SUM != 0) begin : of_values
            reg [32*SUM-1:0] sum;
            initial sum = 0;
            wire top = IS_SIGNED & value[VALUE_BITS-1];
            wire [32*SUM-1:0] now = sum + (sample ? {{(32 * SUM - VALUE_BITS){top}}, value} : {(32 * SUM){1'b0}});
            assign next[32*(COLLECTED+COUNT) +: 32*SUM] = now;
            always @(posedge clock) sum <= anew ? {(32 * SUM){1'b0}} : now;
        end
        if (EXTREMES != 0) begin : of_extremes
            localparam BITS = 32 * EXTREMES;
            reg [VALUE_BITS-1:0] least, largest;
            reg any;
            initial any = 0;
            wire [VALUE_BITS-1:0] turned = value ^ (IS_SIGNED << (VALUE_BITS - 1)); // in the order of unsigned numbers
            wire [VALUE_BITS-1:0] least_now = sample & (~any | turned < least) ? turned : least;
            wire [VALUE_BITS-1:0] largest_now = sample & (~any | turned > largest) ? turned : largest;
            assign next[32*(COLLECTED+COUNT+SUM) +: BITS] = {{(BITS - VALUE_BITS){1'b0}}, least_now};
            assign next[32*(COLLECTED+COUNT+SUM)+BITS +: BITS] = {{(BITS - VALUE_BITS){1'b0}}, largest_now};
            always @(posedge clock) begin
                any <= ~anew & (any | sample);
                least <= least_now;
                largest <= largest_now;
            end
        end
    endgenerate

    always @(posedge clock)
        if (reset) held <= 0;
        else if (frame_end) held <= next;
        else if (shift) held <= chain[32*WORDS+31:32];
endmodule
